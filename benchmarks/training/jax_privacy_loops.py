"""A correct loop of jax_privacy, and one for each pitfall, which differs from it in a line or a few."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import jax_privacy
import numpy as np
from dp_accounting import NeighboringRelation
from jax_privacy import batch_selection, noise_addition

from benchmarks.training.setting import CLIP, EXPECTED, MULTIPLIER, RATE, Case, drawn

Batches = Callable[[int, int], Iterator[Any]]


def data() -> tuple[Any, Any]:
    """Return features and labels."""
    return drawn()


def loss(params: Any, x: Any, y: Any) -> Any:
    """Return the loss of one record."""
    hidden = jnp.tanh(jnp.clip(x, -1e6, 1e6) @ params["hidden"] + params["bias"])
    return -jax.nn.log_softmax(hidden @ params["out"])[..., y].mean()


def initial(key: Any) -> Any:
    one, other = jax.random.split(key)
    return {
        "hidden": jax.random.uniform(one, (6, 8), minval=-0.5, maxval=0.5),
        "bias": jnp.zeros(8),
        "out": jax.random.uniform(other, (8, 2), minval=-0.5, maxval=0.5),
    }


def poisson(length: int, steps: int) -> Iterator[Any]:
    strategy = batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=steps)
    return strategy.batch_iterator(length, rng=np.random.default_rng())


def shuffled(length: int, steps: int) -> Iterator[Any]:
    generator = np.random.default_rng()
    while True:
        order = generator.permutation(length)
        yield from np.split(order, range(EXPECTED, length, EXPECTED))


def fixed_size(length: int, steps: int) -> Iterator[Any]:
    generator = np.random.default_rng()
    while True:
        yield generator.choice(length, EXPECTED, replace=False)


def gradient(clip: float = CLIP, **options: Any) -> Any:
    """Return the sum of clipped gradients over the expected size of a batch, as jax_privacy makes it."""
    return jax_privacy.clipped_grad(
        loss, l2_clip_norm=clip, batch_argnums=(1, 2), keep_batch_dim=False, normalize_by=EXPECTED, **options
    )


def from_the_system() -> Any:
    return jax.random.key(secrets.randbits(32))


def whole(grads: Callable[..., Any], params: Any, x: Any, y: Any, noised: Callable[[Any], Any]) -> Any:
    """Return the noisy gradient of a step."""
    return noised(grads(params, x, y))


def trainer(
    batches: Batches = poisson,
    grads: Any = None,
    key: Callable[[], Any] = from_the_system,
    step: Callable[..., Any] = whole,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
    deviation: float | None = None,
    released: Callable[[Any, list[Any], Any], Any] = lambda params, sizes, data: params,
) -> Callable[[Any, int], Any]:
    """Return a loop of these parts. deviation: of the noise; None: the one that is right."""
    grads = gradient() if grads is None else grads
    stddev = MULTIPLIER * grads.sensitivity(relation) if deviation is None else deviation

    def train(data: Any, steps: int) -> Any:
        x, y = data
        privatizer = noise_addition.gaussian_privatizer(stddev=stddev, prng_key=key())
        params, losses = initial(from_the_system()), []
        state = privatizer.init(params)
        picked = batches(len(x), steps)

        def noised(gradient: Any) -> Any:
            nonlocal state
            made, state = privatizer.update(gradient, state)
            return made

        for _ in range(steps):
            chosen = next(picked)
            xs, ys = jnp.asarray(x[chosen]), jnp.asarray(y[chosen])
            update = step(grads, params, xs, ys, noised)
            losses.append(loss(params, xs, ys) if len(chosen) else 0.0)
            params = jax.tree.map(lambda p, g: p - 0.1 * g, params, update)
        return released(params, losses, data)

    return train


def divided(grads: Any, params: Any, x: Any, y: Any, noised: Any) -> Any:
    """The gradient is the mean over the batch that is there."""
    return noised(jax.tree.map(lambda g: g * EXPECTED / max(1, len(x)), grads(params, x, y)))


def skipped(grads: Any, params: Any, x: Any, y: Any, noised: Any) -> Any:
    """An empty batch changes nothing."""
    return whole(grads, params, x, y, noised) if len(x) else jax.tree.map(jnp.zeros_like, params)


def accumulated(grads: Any, params: Any, x: Any, y: Any, noised: Any) -> Any:
    """Each half of the batch gets noise of the half variance, of one key."""
    key, half = from_the_system(), len(x) // 2
    total = jax.tree.map(jnp.zeros_like, params)
    for part in (slice(0, half), slice(half, None)):
        chunk = noise_addition.gaussian_privatizer(stddev=MULTIPLIER * CLIP / EXPECTED / 2**0.5, prng_key=key)
        noisy, _ = chunk.update(grads(params, x[part], y[part]), chunk.init(params))
        total = jax.tree.map(jnp.add, total, noisy)
    return total


def normalized(grads: Any, params: Any, x: Any, y: Any, noised: Any) -> Any:
    """The features of a batch have the mean 0."""
    return noised(grads(params, x - x.mean(axis=0, keepdims=True) if len(x) else x, y))


REPLACE = NeighboringRelation.REPLACE_ONE
CASES = (
    Case("correct", trainer(), None),
    Case("correct, without replacement", trainer(fixed_size, relation=REPLACE), None, "fixed size", "replace"),
    Case("division by batch size", trainer(step=divided), "aggregation"),
    Case("sensitivity alignment", trainer(
        grads=gradient(CLIP / 2, rescale_to_unit_norm=True), deviation=MULTIPLIER * CLIP / 2 / EXPECTED
    ), "clipping"),
    Case("accounting and batch selection mismatch", trainer(shuffled), "sampling"),
    Case("public vs. private metadata", trainer(
        released=lambda params, losses, data: {"params": params, "records": len(data[0])}
    ), "released besides"),
    Case("neighboring relation", trainer(fixed_size), "aggregation", "fixed size", "replace"),
    Case("zero-sized batches", trainer(step=skipped), "sampling"),
    Case("non-finite gradients", trainer(grads=gradient(nan_safe=False)), "clipping"),
    Case("gradient accumulation", trainer(step=accumulated), "noise"),
    Case("cross-example operations", trainer(step=normalized), "isolation"),
    Case("auxiliary information", trainer(
        released=lambda params, losses, data: {"params": params, "losses": losses}
    ), "released besides"),
    Case("randomness", trainer(key=lambda: jax.random.key(0)), "noise"),
    Case("finite-precision numerical error", trainer(), "accounting", epsilon_share=0.99),
)
