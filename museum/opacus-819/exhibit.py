"""A linear layer, trained with `make_private` on Poisson samples with a rate that is public.

`make_private` divides the noisy sum by int(records × rate): by 12 of 120 records, by 11 of 119. So the noise of these
neighbours differs by a factor of 12/11. The accountant's ε is of all noisy gradients, 2,000 numbers here. Where no
record has a gradient, they are noise alone, and their sum of squares tells the neighbours apart: δ at the claimed
ε = 9.25 is above 0.8 and not 10^-5. Where a record is replaced, the length is public, and nothing is wrong.
"""

import secrets

import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader
from torch.utils.data import TensorDataset

from subnormal import Claim

RECORDS, RATE, CLIP, MULTIPLIER, STEPS, DELTA = 120, 0.1, 1.0, 1.1, 200, 1e-5

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
    "non_finite": False,
}


def function(dataset, steps):
    torch.manual_seed(secrets.randbits(31))
    net = torch.nn.Linear(4, 2)
    private, optimizer, batches = PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=DPDataLoader(dataset, sample_rate=RATE),
        noise_multiplier=MULTIPLIER,
        max_grad_norm=CLIP,
        poisson_sampling=False,
    )
    done = 0
    while True:
        for x, y in batches:
            if done == steps:
                return net
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(private(x), y).backward()
            optimizer.step()
            done += 1
