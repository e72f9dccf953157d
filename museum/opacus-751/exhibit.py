"""A linear layer on sequences, trained with ghost clipping as the documentation shows.

The expected size of a batch and the sample rate are public: that `make_private` takes them from the data is a flaw of
its own (opacus-571).
"""

import secrets

import torch
from opacus import PrivacyEngine
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader
from torch.utils.data import TensorDataset

from subnormal import Claim

RECORDS, TOKENS, RATE, EXPECTED, CLIP, MULTIPLIER, STEPS, DELTA = 120, 6, 0.1, 12, 0.05, 1.1, 200, 1e-5

sequences = torch.randn(RECORDS, TOKENS, 4, generator=torch.Generator().manual_seed(3))
data = TensorDataset(sequences, (sequences.sum(dim=(1, 2)) > 0).long())
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


class Network(torch.nn.Module):
    """Scores of a sequence: the mean over its tokens."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(torch.nan_to_num(x).clamp(-1e3, 1e3)).mean(dim=1)


def function(dataset, steps):
    torch.manual_seed(secrets.randbits(31))
    net = Network()
    private, optimizer, loss, _ = PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        criterion=torch.nn.CrossEntropyLoss(),
        data_loader=DPDataLoader(dataset, sample_rate=RATE),
        noise_multiplier=MULTIPLIER,
        max_grad_norm=CLIP,
        grad_sample_mode="ghost",
        poisson_sampling=False,
    )
    optimizer.expected_batch_size = EXPECTED
    done = 0
    while True:
        for x, y in DPDataLoader(dataset, sample_rate=RATE):
            if done == steps:
                return net
            optimizer.zero_grad()
            loss(private(x), y).backward()
            optimizer.step()
            done += 1
