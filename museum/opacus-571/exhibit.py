"""A linear layer, trained with `make_private` as the documentation shows."""

import secrets

import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant
from torch.utils.data import DataLoader, TensorDataset

from subnormal import Claim

RECORDS, EXPECTED, CLIP, MULTIPLIER, STEPS, DELTA = 120, 12, 1.0, 1.1, 200, 1e-5

features = torch.randn(RECORDS, 4, generator=torch.Generator().manual_seed(3))
data = TensorDataset(features, (features.sum(dim=1) > 0).long())
accountant = RDPAccountant()
for _ in range(STEPS):
    accountant.step(noise_multiplier=MULTIPLIER, sample_rate=EXPECTED / RECORDS)
training = {
    "clip": CLIP,
    "noise_multiplier": MULTIPLIER,
    "steps": STEPS,
    "sample_rate": EXPECTED / RECORDS,
    "claim": Claim(accountant.get_epsilon(DELTA), DELTA),
    "step_size": 1 / EXPECTED,
    "non_finite": False,
}


def function(dataset, steps):
    torch.manual_seed(secrets.randbits(31))
    net = torch.nn.Linear(4, 2)
    private, optimizer, batches = PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=DataLoader(dataset, batch_size=EXPECTED),
        noise_multiplier=MULTIPLIER,
        max_grad_norm=CLIP,
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
