"""A linear layer, trained on all records by steps with a closure, as PyTorch Lightning makes them.

The size of a batch is public: that `make_private` takes it from the data is a flaw of its own (opacus-571).
"""

import secrets

import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant
from torch.utils.data import DataLoader, TensorDataset

from subnormal import Claim

RECORDS, CLIP, MULTIPLIER, STEPS, DELTA = 120, 1.0, 1.1, 10, 1e-5

features = torch.randn(RECORDS, 4, generator=torch.Generator().manual_seed(3))
data = TensorDataset(features, (features.sum(dim=1) > 0).long())
accountant = RDPAccountant()
for _ in range(STEPS):
    accountant.step(noise_multiplier=MULTIPLIER, sample_rate=1.0)
training = {
    "clip": CLIP,
    "noise_multiplier": MULTIPLIER,
    "steps": STEPS,
    "sampler": "full",
    "claim": Claim(accountant.get_epsilon(DELTA), DELTA),
    "step_size": 1 / RECORDS,
    "non_finite": False,
}


def function(dataset, steps):
    torch.manual_seed(secrets.randbits(31))
    net = torch.nn.Linear(4, 2)
    private, optimizer, _ = PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=DataLoader(dataset, batch_size=len(dataset)),
        noise_multiplier=MULTIPLIER,
        max_grad_norm=CLIP,
        poisson_sampling=False,
    )
    optimizer.expected_batch_size = RECORDS
    for _ in range(steps):
        x, y = dataset[:]

        def closure(x=x, y=y):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(private(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
    return net
