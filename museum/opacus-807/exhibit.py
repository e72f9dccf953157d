"""A linear layer, trained on all records with adaptive clipping, with the ε that the engine says after the last step.

The clipping norm stays where it starts. The size of a batch is public: that `make_private` takes it from the data is a
flaw of its own (opacus-571).
"""

import secrets

import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

from subnormal import Claim

RECORDS, CLIP, MULTIPLIER, STEPS, DELTA = 120, 1.0, 1.5, 10, 1e-5


def train(dataset, steps):
    """Return the trained layer, and the engine."""
    torch.manual_seed(secrets.randbits(31))
    net, engine = torch.nn.Linear(4, 2), PrivacyEngine()
    private, optimizer, _ = engine.make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
        data_loader=DataLoader(dataset, batch_size=len(dataset)),
        noise_multiplier=MULTIPLIER,
        max_grad_norm=CLIP,
        clipping="adaptive",
        target_unclipped_quantile=0.5,
        clipbound_learning_rate=0.0,
        max_clipbound=2.0,
        min_clipbound=0.5,
        unclipped_num_std=1.0,
        poisson_sampling=False,
    )
    optimizer.expected_batch_size = RECORDS
    for _ in range(steps):
        x, y = dataset[:]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(private(x), y).backward()
        optimizer.step()
    return net, engine


def function(dataset, steps):
    return train(dataset, steps)[0]


features = torch.randn(RECORDS, 4, generator=torch.Generator().manual_seed(3))
data = TensorDataset(features, (features.sum(dim=1) > 0).long())
training = {
    "clip": CLIP,
    "noise_multiplier": MULTIPLIER,
    "steps": STEPS,
    "sampler": "full",
    "claim": Claim(train(data, STEPS)[1].get_epsilon(DELTA), DELTA),
    "non_finite": False,
}
