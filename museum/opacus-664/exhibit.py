"""A linear layer, trained with ghost clipping as the documentation shows.

The expected size of a batch and the sample rate are public: that `make_private` takes them from the data is a flaw of
its own (opacus-571). Features are kept within ±1000, so that no square of a norm overflows. The repaired release makes
a loss that does both backward passes; before it, users called them.
"""

import secrets

import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader
from opacus.utils import fast_gradient_clipping_utils
from torch.utils.data import TensorDataset

from subnormal import Claim

RECORDS, RATE, EXPECTED, CLIP, MULTIPLIER, STEPS, DELTA = 120, 0.1, 12, 0.1, 1.1, 200, 1e-5
MAKES_LOSS = hasattr(fast_gradient_clipping_utils, "DPLossFastGradientClipping")

features = torch.randn(RECORDS, 4, generator=torch.Generator().manual_seed(3))
data = TensorDataset(features, (features.sum(dim=1) > 0).long())
accountant = RDPAccountant()
for _ in range(STEPS):
    accountant.step(noise_multiplier=MULTIPLIER, sample_rate=RATE)
training = {
    "clip": CLIP,
    "noise_multiplier": MULTIPLIER,
    "steps": STEPS,
    "sample_rate": RATE,
    "claim": Claim(accountant.get_epsilon(DELTA), DELTA),
    "step_size": 1 / EXPECTED,
}


def function(dataset, steps):
    torch.manual_seed(secrets.randbits(31))
    net = torch.nn.Linear(4, 2)
    private, optimizer, *loss, _ = PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=DPDataLoader(dataset, sample_rate=RATE),
        noise_multiplier=MULTIPLIER,
        max_grad_norm=CLIP,
        grad_sample_mode="ghost",
        poisson_sampling=False,
        **({"criterion": torch.nn.CrossEntropyLoss()} if MAKES_LOSS else {"clipping": "ghost"}),
    )
    optimizer.expected_batch_size = EXPECTED
    done = 0
    while True:
        for x, y in DPDataLoader(dataset, sample_rate=RATE):
            if done == steps:
                return net
            optimizer.zero_grad()
            x = torch.nan_to_num(x).clamp(-1e3, 1e3)
            if MAKES_LOSS:
                loss[0](private(x), y).backward()
            else:
                losses = torch.nn.functional.cross_entropy(private(x), y, reduction="none")
                fast_gradient_clipping_utils.double_backward(private, optimizer, losses)
            optimizer.step()
            done += 1
