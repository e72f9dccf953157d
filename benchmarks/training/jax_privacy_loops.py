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

Batches = Callable[[int, int], Any]
PADDED = 64

STEP_SIZE = 0.1 / EXPECTED  # of the parameters


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


def poisson(length: int, steps: int) -> Any:
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


def padded(chosen: Any) -> Any:
    """Return indices with padding to a multiple of 64, so that few shapes are compiled."""
    made = np.full(max(1, -(-len(chosen) // PADDED)) * PADDED, -1)
    made[: len(chosen)] = chosen
    return made


def whole(grads: Any, privatizer: Any, params: Any, x: Any, y: Any, padding: Any, state: Any) -> Any:
    """Return the noisy gradient of a step, and the next state of its noise."""
    return privatizer.update(grads(params, x, y, is_padding_example=padding), state)


def trainer(
    batches: Batches = poisson,
    grads: Any = None,
    key: Callable[[], Any] = from_the_system,
    step: Callable[..., Any] = whole,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
    deviation: float | None = None,
    released: Callable[[Any, list[Any], Any], Any] = lambda params, losses, data: params,
    skip_empty: bool = False,
) -> Callable[[Any, int], Any]:
    """Return a loop of these parts. deviation: of the noise; None: the one that is right."""
    grads = gradient() if grads is None else grads
    stddev = MULTIPLIER * grads.sensitivity(relation) if deviation is None else deviation

    def privatizer(key: Any) -> Any:
        return noise_addition.gaussian_privatizer(stddev=stddev, prng_key=key)

    update = privatizer(jax.random.key(0))  # its key is in the state, which each training makes anew

    @jax.jit  # type: ignore[untyped-decorator]
    def one_step(params: Any, x: Any, y: Any, padding: Any, state: Any) -> tuple[Any, Any, Any]:
        losses = jax.vmap(lambda x, y: loss(params, x, y))(x, y)
        gradient, state = step(grads, update, params, x, y, padding, state)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)
        return params, state, jnp.where(padding, 0.0, losses).sum()

    def train(data: Any, steps: int) -> Any:
        x, y = data
        params, losses = initial(from_the_system()), []
        state = privatizer(key()).init(params)
        picked = batches(len(x), steps)
        for _ in range(steps):
            chosen = next(picked)
            if skip_empty and not len(chosen):
                continue
            indices = padded(chosen)
            params, state, lost = one_step(params, x[indices], y[indices], indices == -1, state)
            losses.append(lost)
        return released(params, losses, data)

    return train


def divided(grads: Any, privatizer: Any, params: Any, x: Any, y: Any, padding: Any, state: Any) -> Any:
    """The gradient is the mean over the batch that is there."""
    made = grads(params, x, y, is_padding_example=padding)
    return privatizer.update(jax.tree.map(lambda g: g * EXPECTED / jnp.maximum(1, (~padding).sum()), made), state)


def accumulated(grads: Any, privatizer: Any, params: Any, x: Any, y: Any, padding: Any, state: Any) -> Any:
    """Each half of the batch gets noise of half the deviation, and both get the same noise."""
    total = jax.tree.map(jnp.zeros_like, params)
    for part in (slice(None, None, 2), slice(1, None, 2)):
        noisy, after = privatizer.update(grads(params, x[part], y[part], is_padding_example=padding[part]), state)
        total = jax.tree.map(jnp.add, total, noisy)
    return total, after


def normalized(grads: Any, privatizer: Any, params: Any, x: Any, y: Any, padding: Any, state: Any) -> Any:
    """The features of a batch have the mean 0."""
    real = jnp.where(padding[:, None], 0.0, x)
    centred = x - real.sum(axis=0) / jnp.maximum(1, (~padding).sum())
    return whole(grads, privatizer, params, centred, y, padding, state)


REPLACE = NeighboringRelation.REPLACE_ONE
CASES = (
    Case("correct", trainer(), None),
    Case("correct, without replacement", trainer(fixed_size, relation=REPLACE), None, "fixed size", "replace"),
    Case("division by batch size", trainer(step=divided), "aggregation"),
    Case(
        "sensitivity alignment",
        trainer(grads=gradient(CLIP / 2, rescale_to_unit_norm=True), deviation=MULTIPLIER * CLIP / 2 / EXPECTED),
        "clipping",
        clip=CLIP / 2,
    ),
    Case("accounting and batch selection mismatch", trainer(shuffled), "sampling"),
    Case(
        "public vs. private metadata",
        trainer(released=lambda params, losses, data: {"params": params, "records": len(data[0])}),
        "released besides",
    ),
    Case("neighboring relation", trainer(fixed_size), "aggregation", "fixed size", "replace"),
    Case("zero-sized batches", trainer(skip_empty=True), "sampling"),
    Case("non-finite gradients", trainer(grads=gradient(nan_safe=False)), "clipping"),
    Case("gradient accumulation", trainer(step=accumulated, deviation=MULTIPLIER * CLIP / EXPECTED / 2), "noise"),
    Case("cross-example operations", trainer(step=normalized), "isolation"),
    Case(
        "auxiliary information",
        trainer(released=lambda params, losses, data: {"params": params, "losses": losses}),
        "released besides",
    ),
    Case("randomness", trainer(key=lambda: jax.random.key(0)), "noise"),
    Case("finite-precision numerical error", trainer(), "accounting", epsilon_share=0.99),
)
