"""A correct loop of Opacus, and one for each pitfall, which differs from it in a line or a few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from opacus import GradSampleModule
from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

from benchmarks.training.setting import CLIP, EXPECTED, MULTIPLIER, RATE, Case, drawn

Model = Callable[[], Any]
Optimizer = Callable[[Any, Any], Any]
Loader = Callable[[Any], Iterator[Any]]
Step = Callable[[Any, Any, Any, Any], float]

STEP_SIZE = 1 / EXPECTED  # of a gradient that the optimizer gets


def data() -> TensorDataset:
    """Return features and labels."""
    features, labels = drawn()
    return TensorDataset(torch.as_tensor(features), torch.as_tensor(labels))


class Bounded(torch.nn.Module):  # type: ignore[misc]
    """Features that are finite, whatever the data are."""

    def forward(self, x: Any) -> Any:
        return torch.nan_to_num(x).clamp(-1e6, 1e6)


class Normalized(torch.nn.Module):  # type: ignore[misc]
    """Features with the mean 0 over the batch."""

    def forward(self, x: Any) -> Any:
        return x - x.mean(dim=0, keepdim=True)


def model(*first: Any) -> Any:
    layers = torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    return GradSampleModule(torch.nn.Sequential(*(first or (Bounded(),)), *layers))


def optimizer(sgd: Any, generator: Any) -> Any:
    return DPOptimizer(
        sgd, noise_multiplier=MULTIPLIER, max_grad_norm=CLIP, expected_batch_size=EXPECTED, generator=generator
    )


def poisson(dataset: Any) -> Iterator[Any]:
    loader = DPDataLoader(dataset, sample_rate=RATE)
    while True:
        yield from loader


def shuffled(dataset: Any) -> Iterator[Any]:
    loader = DataLoader(dataset, batch_size=EXPECTED, shuffle=True)
    while True:
        yield from loader


def fixed_size(dataset: Any) -> Iterator[Any]:
    while True:
        sampler = BatchSampler(RandomSampler(dataset, num_samples=EXPECTED), EXPECTED, drop_last=False)
        yield from DataLoader(dataset, batch_sampler=sampler)


def step(net: Any, optimizer: Any, x: Any, y: Any) -> float:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return loss.item() if len(x) else 0.0


def trainer(
    model: Model = model,
    optimizer: Optimizer = optimizer,
    loader: Loader = poisson,
    step: Step = step,
    generator: Callable[[], Any] = lambda: None,
    released: Callable[[Any, list[float], Any], Any] = lambda net, losses, dataset: net,
) -> Callable[[Any, int], Any]:
    """Return a loop of these parts."""

    def train(dataset: Any, steps: int) -> Any:
        net = model()
        private = optimizer(torch.optim.SGD(net.parameters(), lr=0.1), generator())
        batches, losses = loader(dataset), []
        for _ in range(steps):
            x, y = next(batches)
            losses.append(step(net, private, x, y))
        return released(net, losses, dataset)

    return train


def divides_by_the_batch(net: Any, optimizer: Any, x: Any, y: Any) -> float:
    optimizer.expected_batch_size = max(1, len(x))
    return step(net, optimizer, x, y)


class PerLayer(DPOptimizer):  # type: ignore[misc]
    """Each layer is clipped to the clipping norm, with the noise of one."""

    def clip_and_accumulate(self) -> None:
        for p in self.params:
            sample = self._get_flat_grad_sample(p)
            norms = sample.flatten(1).norm(dim=1)
            p.summed_grad = torch.einsum("i,i...", (self.max_grad_norm / (norms + 1e-6)).clamp(max=1.0), sample)


def skips_empty_batches(net: Any, optimizer: Any, x: Any, y: Any) -> float:
    return step(net, optimizer, x, y) if len(x) else 0.0


def clips_the_accumulated(net: Any, optimizer: Any, x: Any, y: Any) -> float:
    """Accumulate the gradients of chunks, and clip their sum."""
    sgd = optimizer.original_optimizer
    net.disable_hooks()
    sgd.zero_grad()
    for part, labels in zip(x.split(4), y.split(4), strict=True):
        torch.nn.functional.cross_entropy(net(part), labels, reduction="sum").backward()
    parameters = list(net.parameters())
    for p in parameters:
        p.grad = torch.zeros_like(p) if p.grad is None else p.grad
    torch.nn.utils.clip_grad_norm_(parameters, CLIP)
    for p in parameters:
        p.grad = (p.grad + torch.normal(0.0, MULTIPLIER * CLIP, p.shape)) / EXPECTED
    sgd.step()
    return 0.0


CASES = (
    Case("correct", trainer(), None),
    Case(
        "correct, without replacement",
        trainer(
            loader=fixed_size,
            optimizer=lambda sgd, generator: DPOptimizer(
                sgd, noise_multiplier=2 * MULTIPLIER, max_grad_norm=CLIP, expected_batch_size=EXPECTED
            ),
        ),
        None,
        sampler="fixed size",
        relation="replace",
    ),
    Case("division by batch size", trainer(step=divides_by_the_batch), "aggregation"),
    Case(
        "sensitivity alignment",
        trainer(
            optimizer=lambda sgd, generator: PerLayer(
                sgd, noise_multiplier=MULTIPLIER, max_grad_norm=CLIP, expected_batch_size=EXPECTED
            )
        ),
        "clipping",
    ),
    Case("accounting and batch selection mismatch", trainer(loader=shuffled), "sampling"),
    Case(
        "public vs. private metadata",
        trainer(released=lambda net, losses, dataset: {"model": net, "records": len(dataset)}),
        "released besides",
    ),
    Case("neighboring relation", trainer(loader=fixed_size), "aggregation", sampler="fixed size", relation="replace"),
    Case("zero-sized batches", trainer(step=skips_empty_batches), "sampling"),
    Case("non-finite gradients", trainer(model=lambda: model(torch.nn.Identity())), "clipping"),
    Case("gradient accumulation", trainer(step=clips_the_accumulated), "isolation"),
    Case("cross-example operations", trainer(model=lambda: model(Bounded(), Normalized())), "isolation"),
    Case(
        "auxiliary information",
        trainer(released=lambda net, losses, dataset: {"model": net, "losses": losses}),
        "released besides",
    ),
    Case("randomness", trainer(generator=lambda: torch.Generator().manual_seed(42)), "noise"),
    Case("finite-precision numerical error", trainer(), "accounting", epsilon_share=0.99),
)
