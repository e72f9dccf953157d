"""Loops of DP-SGD in numpy: a correct one, and one for each pitfall, which differs from it in a line or two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RATE, CLIP, MULTIPLIER, RECORDS, FEATURES = 0.05, 1.0, 1.1, 100, 5


def data(records: int = RECORDS) -> tuple[Any, Any]:
    """Return features and labels."""
    generator = np.random.default_rng(5)
    features = generator.normal(size=(records, FEATURES))
    return features, (features @ np.arange(FEATURES) > 0).astype(np.int64)


def poisson(generator: Any, length: int, step: int) -> Any:
    return np.flatnonzero(generator.random(length) < RATE)


def gradients(theta: Any, x: Any, y: Any) -> Any:
    """Return the gradient of the logistic loss for each record; records that are not finite have none."""
    with np.errstate(all="ignore"):
        chances = 1 / (1 + np.exp(-np.clip(np.nan_to_num(x @ theta), -50, 50)))
        made = (chances - y)[:, None] * x
        return np.where(np.isfinite(made).all(axis=1, keepdims=True), np.clip(made, -1e60, 1e60), 0.0)


def clipped(made: Any) -> Any:
    norms = np.linalg.norm(made, axis=1, keepdims=True)
    return made / np.maximum(1.0, norms / CLIP)


def total(made: Any) -> Any:
    return made.sum(axis=0)


def noise(generator: Any, size: int, step: int) -> Any:
    return generator.normal(0.0, MULTIPLIER * CLIP, size)


def released(theta: Any, history: list[Any], x: Any, y: Any) -> Any:
    return theta


def divisors(length: int) -> tuple[float, float]:
    """Return what the sum and its noise are divided by."""
    return RATE * RECORDS, RATE * RECORDS


def trainer(
    batch: Callable[..., Any] = poisson,
    gradients: Callable[..., Any] = gradients,
    clipped: Callable[..., Any] = clipped,
    total: Callable[..., Any] = total,
    noise: Callable[..., Any] = noise,
    released: Callable[..., Any] = released,
    divisors: Callable[[int], tuple[float, float]] = divisors,
    rate: float = 0.1,
    skip_empty: bool = False,
) -> Callable[..., Any]:
    """Return a loop of these parts."""

    def train(data: Any, steps: int) -> Any:
        x, y = data
        generator = np.random.default_rng()
        theta, history = np.zeros(x.shape[1]), []
        for step in range(steps):
            chosen = batch(generator, len(x), step)
            if skip_empty and not len(chosen):
                continue
            xs, ys = x[chosen], y[chosen]
            summed = total(clipped(gradients(theta, xs, ys)))
            of_sum, of_noise = divisors(len(x))
            theta = theta - rate * (summed / of_sum + noise(generator, len(theta), step) / of_noise)
            history.append((theta, xs, ys))
        return released(theta, history, x, y)

    return train


def _shuffled(generator: Any, length: int, step: int) -> Any:
    size, each = 5, length // 5
    if step % each == 0:
        _shuffled.order = generator.permutation(length)  # type: ignore[attr-defined]
    at = step % each * size
    return _shuffled.order[at : at + size]  # type: ignore[attr-defined]


def _fixed_noise(generator: Any, size: int, step: int) -> Any:
    return np.random.default_rng(0).normal(0.0, MULTIPLIER * CLIP, size)


class _Once:
    """Noise that is drawn in the first step and used in all."""

    def __call__(self, generator: Any, size: int, step: int) -> Any:
        if step == 0:
            self.drawn = generator.normal(0.0, MULTIPLIER * CLIP, size)
        return self.drawn


class _Again:
    """Noise that each step draws from one seed, which each run draws."""

    def __call__(self, generator: Any, size: int, step: int) -> Any:
        if step == 0:
            self.seed = int(generator.integers(1 << 32))
        return np.random.default_rng(self.seed).normal(0.0, MULTIPLIER * CLIP, size)


def _counted_seeds(generator: Any, size: int, step: int) -> Any:
    return np.random.default_rng(step).normal(0.0, MULTIPLIER * CLIP, size)


def _bare_bias(generator: Any, size: int, step: int) -> Any:
    return np.append(generator.normal(0.0, MULTIPLIER * CLIP, size - 1), 0.0)


def _normalized(theta: Any, x: Any, y: Any) -> Any:
    return gradients(theta, (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-3) if len(x) else x, y)


def _weighted(theta: Any, x: Any, y: Any) -> Any:
    return gradients(theta, x, y) * 5 / (1 + y.sum())


def _clipped_apart(made: Any) -> Any:
    halves = made[:, :3], made[:, 3:]
    return np.concatenate([clipped(half) for half in halves], axis=1)


def _clipped_sum(made: Any) -> Any:
    return clipped(made.sum(axis=0, keepdims=True))


def _open_to_nan(theta: Any, x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        made = (1 / (1 + np.exp(-np.clip(x @ theta, -50, 50))) - y)[:, None] * x
    return np.clip(made, -1e60, 1e60)  # NaN stays


def _mean(made: Any) -> Any:
    return made.sum(axis=0) * RATE * RECORDS / max(1, len(made))


def _losses(theta: Any, history: list[Any], x: Any, y: Any) -> Any:
    return {
        "theta": theta,
        "losses": [float(np.mean((xs @ at - ys) ** 2)) if len(xs) else 0.0 for at, xs, ys in history],
    }


def _sizes(theta: Any, history: list[Any], x: Any, y: Any) -> Any:
    return {"theta": theta, "sizes": [len(xs) for _, xs, _ in history]}


def _best(theta: Any, history: list[Any], x: Any, y: Any) -> Any:
    return min((at for at, _, _ in history), key=lambda at: float(np.mean((x @ at - y) ** 2)))


def _counted(theta: Any, history: list[Any], x: Any, y: Any) -> Any:
    return {"theta": theta, "records": len(x)}


PITFALLS: dict[str, tuple[dict[str, Any], str]] = {
    "shuffled batches": ({"batch": _shuffled}, "sampling"),
    "truncated batches": ({"batch": lambda *given: poisson(*given)[:6]}, "sampling"),
    "the rate follows the length": (
        {"batch": lambda generator, length, step: np.flatnonzero(generator.random(length) < 5 / length)},
        "sampling",
    ),
    "the last record is left out": ({"batch": lambda *given: poisson(given[0], given[1] - 1, given[2])}, "sampling"),
    "with replacement": (
        {"batch": lambda g, length, step: g.integers(0, length, g.binomial(length, RATE))},
        "sampling",
    ),
    "sampled with a fixed seed": (
        {"batch": lambda g, length, step: poisson(np.random.default_rng(step), length, step)},
        "sampling",
    ),
    "an empty batch fails": ({"total": lambda made: made.sum(axis=0) / min(1, 1 // len(made) + 1)}, "sampling"),
    "batch normalization": ({"gradients": _normalized}, "isolation"),
    "a loss weighted by the batch": ({"gradients": _weighted}, "isolation"),
    "the sum is clipped": ({"clipped": _clipped_sum}, "isolation"),
    "no clipping": ({"clipped": lambda made: made}, "clipping"),
    "each half is clipped": ({"clipped": _clipped_apart}, "clipping"),
    "clipped at twice the norm": ({"clipped": lambda made: 2 * clipped(made / 2)}, "clipping"),
    "NaN is not clipped": ({"gradients": _open_to_nan}, "clipping"),
    "the size of the batch divides": ({"total": _mean}, "aggregation"),
    "the divisor is the rate times the length, rounded down": (
        {"divisors": lambda length: (max(1, int(RATE * length)),) * 2},
        "aggregation",
    ),
    "another divisor from 161 records on": (
        {"divisors": lambda length: (5 + (length > 160),) * 2},
        "aggregation",
    ),
    "the length divides the sum and not its noise": (
        {"divisors": lambda length: (RATE * length, RATE * RECORDS)},
        "aggregation",
    ),
    "a third of the noise": ({"noise": lambda *given: noise(*given) / 3}, "noise"),
    "no noise": ({"noise": lambda generator, size, step: 0.0}, "noise"),
    "noise in the first step": ({"noise": lambda *given: noise(*given) if given[2] == 0 else 0.0}, "noise"),
    "one draw for all steps": ({"noise": _Once()}, "noise"),
    "an empty batch is skipped": ({"skip_empty": True}, "sampling"),
    "one seed for all steps": ({"noise": _Again()}, "noise"),
    "the number of a step as its seed": ({"noise": _counted_seeds}, "noise"),
    "noise with a fixed seed": ({"noise": _fixed_noise}, "noise"),
    "a coordinate without noise": ({"noise": _bare_bias}, "noise"),
    "losses are released": ({"released": _losses}, "released besides"),
    "batch sizes are released": ({"released": _sizes}, "released besides"),
    "the best checkpoint is released": ({"released": _best}, "released besides"),
    "the number of records is released": ({"released": _counted}, "released besides"),
}
