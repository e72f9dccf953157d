"""Public flaws of released versions of Opacus, each in the loop that its documentation shows.

#751 (https://github.com/pytorch/opacus/pull/751, public since 2025-04-09): with ghost clipping, the norm of the
gradient of a bias of a linear layer on sequences is not that of the gradient, so that records move the sum by more than
C. In 1.5 to 1.5.3, repaired in 1.5.4.

#571 (https://github.com/meta-pytorch/opacus/issues/571, public since 2023-03-03, open): `make_private` takes the sample
rate and the expected size of a batch from the length of the data, which add-or-remove keeps secret.
"""

from __future__ import annotations

import secrets
from typing import Any

import opacus
import torch
from opacus import PrivacyEngine
from opacus.data_loader import DPDataLoader
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.training.setting import EXPECTED, MULTIPLIER, RATE, RECORDS, Case

SMALL = 0.05  # a clipping norm below the gradients of usual records
STEP_SIZE = 1 / EXPECTED
TOKENS = 6


def data() -> TensorDataset:
    """Return sequences of features, and a label for each."""
    generator = torch.Generator().manual_seed(3)
    sequences = torch.randn(RECORDS, TOKENS, 4, generator=generator)
    return TensorDataset(sequences, (sequences.sum(dim=(1, 2)) > 0).long())


class Network(torch.nn.Module):  # type: ignore[misc]
    """Scores of a sequence: the mean over its tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        return self.linear(torch.nan_to_num(x).clamp(-1e3, 1e3)).mean(dim=1)


def train(dataset: Any, steps: int, loader: Any, mode: str, expected: int | None) -> Any:
    """Train with `make_private`, as the documentation shows. expected: size of a batch; None: what it takes."""
    torch.manual_seed(secrets.randbits(31))
    net, criterion = Network(), torch.nn.CrossEntropyLoss()
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    private, optimizer, *rest = PrivacyEngine().make_private(
        module=net,
        optimizer=sgd,
        criterion=criterion,
        data_loader=loader,
        noise_multiplier=MULTIPLIER,
        max_grad_norm=SMALL,
        grad_sample_mode=mode,
        poisson_sampling=expected is None,
    )
    loss, batches = (rest[0] if mode == "ghost" else criterion), rest[-1]
    if expected is not None:
        optimizer.expected_batch_size = expected
    done = 0
    while True:
        for x, y in batches:
            if done == steps:
                return net
            optimizer.zero_grad()
            loss(private(x), y).backward()
            optimizer.step()
            done += 1


def with_ghost_clipping(dataset: Any, steps: int) -> Any:
    return train(dataset, steps, DPDataLoader(dataset, sample_rate=RATE), "ghost", EXPECTED)


def with_hooks(dataset: Any, steps: int) -> Any:
    return train(dataset, steps, DataLoader(dataset, batch_size=EXPECTED), "hooks", None)


FLAWED = opacus.__version__ in ("1.5", "1.5.1", "1.5.2", "1.5.3")
CASES = (
    Case("#751, ghost clipping", with_ghost_clipping, "clipping" if FLAWED else None, clip=SMALL),
    Case("#571, make_private", with_hooks, "sampling", clip=SMALL),
)
