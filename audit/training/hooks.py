"""What stands in front of the functions that draw Gaussian noise while a loop is checked, in numpy, torch and jax.

A library that the loop has not imported is left alone. torch and jax are imported here by nobody else's wish.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import shake_256
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.randomness.generators import alive, state
from subnormal.audit.randomness.primitives import Primitive, intercepted

Floats = NDArray[np.float64]
Read = tuple[int, NDArray[np.int64] | None]


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One call that drew Gaussian noise. location, scale: of each number, flat; values: what was drawn, flat."""

    primitive: str
    site: str
    location: Floats
    scale: Floats
    values: Floats

    @property
    def standard(self) -> Floats:
        """The values less their locations, over their scales; 0 where a scale is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.scale > 0, (self.values - self.location) / self.scale, 0.0)


Change = Callable[[int, Draw], Floats]  # of the number of a draw in its run: the values that the loop gets


@dataclass(slots=True, eq=False)
class Tap:
    """What a run draws and reads, in this order, and what of the draws is changed.

    events: the number of a draw, or what was read: a column and indices, None for a whole column. gradients: those that
    each step of an optimizer of torch was given. traced: jax drew inside of a transformation, where noise has no value.
    """

    change: Change | None = None
    draws: list[Draw] = field(default_factory=list)
    events: list[int | Read] = field(default_factory=list)
    gradients: list[list[Floats]] = field(default_factory=list)
    traced: bool = False
    inside: bool = False

    def note(self, primitive: str, values: Any, where: tuple[Any, Any]) -> Floats | None:
        """Note a draw. Returns the values, flat, that the loop is to get; None: those that were drawn."""
        shape = np.shape(values)
        location, scale = (np.broadcast_to(np.asarray(one, dtype=np.float64), shape).ravel() for one in where)
        draw = Draw(primitive, _site(), location, np.abs(scale), np.array(values, dtype=np.float64).ravel())
        self.events.append(len(self.draws))
        self.draws.append(draw)
        return None if self.change is None else self.change(len(self.draws) - 1, draw)


class Hooks:
    """The hooks that last for a check. `tap` is that of the run that goes on; without one, calls pass."""

    def __init__(self, loop: Callable[..., Any]) -> None:
        self._loop = loop
        self._tap: Tap | None = None
        self._asked = itertools.count()
        self._seed = 0
        self._moving: list[Any] = []

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Put all hooks in place. The bytes that the system gives are a stream that `recorded` seeds."""
        with ExitStack() as changes:
            changes.enter_context(patch.object(os, "urandom", self._bytes))
            changes.enter_context(patch.object(random, "_urandom", self._bytes))
            changes.enter_context(intercepted(self._loop, self._of_numpy))
            if torch := sys.modules.get("torch"):
                changes.enter_context(_torch(torch, self))
            if jax := sys.modules.get("jax"):
                changes.enter_context(_jax(jax, self))
            yield

    def watch_generators(self, call: Callable[[], Any]) -> None:
        """Find the generators, alive before a call, that the call moves: `recorded` seeds them."""
        generators = alive()
        before = [state(one) for one in generators]
        call()
        self._moving = [one for one, was in zip(generators, before, strict=True) if state(one) != was]

    @contextmanager
    def recorded(self, seed: int, tap: Tap) -> Iterator[None]:
        """Seed all that is random, and record what a run draws."""
        self._seed_all(seed, self._moving)
        self._tap = tap
        try:
            yield
        finally:
            wait()
            self._tap = None

    def reseed(self, seed: int) -> None:
        """Seed all that is random anew, with every generator that is alive."""
        self._seed_all(seed, alive())

    def _seed_all(self, seed: int, generators: Sequence[Any]) -> None:
        self._seed, self._asked = seed, itertools.count()
        words = np.frombuffer(shake_256(repr(("training", seed)).encode()).digest(32), dtype=np.uint32)
        random.seed(words.tobytes())
        np.random.seed(words)
        for place, one in enumerate(generators):
            _reseed(one, int(words[0]) << 16 | place)
        if torch := sys.modules.get("torch"):
            torch.manual_seed(int(words[0]))

    def drawn(self, primitive: str, values: Callable[[], Any], where: Callable[[], tuple[Any, Any]]) -> Any:
        """Draw by calling `values`, and note it. Returns what was drawn, and what to put in its place or None."""
        tap = self._tap
        if tap is None or tap.inside:
            return values(), None
        tap.inside = True
        try:
            made = values()
        finally:
            tap.inside = False
        shown = made.detach().cpu().double().numpy() if hasattr(made, "detach") else made
        return made, tap.note(primitive, shown, where())

    def not_seen(self) -> None:
        """Note that noise is drawn where it has no value."""
        if self._tap is not None:
            self._tap.traced = True

    def of_optimizer(self, gradients: list[Floats]) -> None:
        """Note what an optimizer of torch is about to use."""
        if self._tap is not None:
            self._tap.gradients.append(gradients)

    def _of_numpy(self, primitive: Primitive, original: Callable[..., Any], given: Any, options: Any) -> Any:
        if primitive.kind != "Gaussian" or primitive.where is None:
            return original(*given, **options)
        of_arguments = primitive.where
        made, values = self.drawn(
            str(primitive), lambda: original(*given, **options), lambda: of_arguments(*given, **options)
        )
        if values is None:
            return made
        if isinstance(made, np.ndarray):
            made[...] = values.reshape(made.shape)
            return made
        return type(made)(values[0])

    def _bytes(self, size: int) -> bytes:
        return shake_256(repr((self._seed, "system", next(self._asked))).encode()).digest(size)


def wait() -> None:
    """Wait until the compiled steps of jax that were started have drawn their noise."""
    if jax := sys.modules.get("jax"):
        jax.effects_barrier()


def _reseed(generator: Any, number: int) -> None:
    if isinstance(generator, random.Random):
        random.Random.seed(generator, number)
    else:
        generator.state = type(generator)(number).state


@contextmanager
def _torch(torch: Any, hooks: Hooks) -> Iterator[None]:
    """Hook torch's normal numbers, and what its optimizers are given."""

    def wrapped(name: str, original: Callable[..., Any], where: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
        @functools.wraps(original)
        def called(*given: Any, **options: Any) -> Any:
            mean, deviation = where(*given, **options)
            shown = tuple(one.detach().cpu().numpy() if hasattr(one, "detach") else one for one in (mean, deviation))
            made, values = hooks.drawn(f"torch.{name}", lambda: original(*given, **options), lambda: shown)
            if values is not None:
                with torch.no_grad():
                    made.copy_(torch.as_tensor(values).reshape(made.shape))
            return made

        return called

    def normal(mean: Any = 0.0, std: Any = 1.0, *rest: Any, **options: Any) -> tuple[Any, Any]:
        return mean, std

    def standard(*given: Any, **options: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def in_place(self: Any, mean: Any = 0.0, std: Any = 1.0, **options: Any) -> tuple[Any, Any]:
        return mean, std

    def before_step(optimizer: Any, given: Any, options: Any) -> None:
        if not type(optimizer).__module__.startswith("opacus"):  # it wraps the one that gets the noisy gradient
            every = [one for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
            hooks.of_optimizer([one.grad.detach().cpu().double().numpy().ravel() for one in every])

    with ExitStack() as changes:
        for holder, name, where in (
            (torch, "normal", normal),
            (torch, "randn", standard),
            (torch, "randn_like", standard),
            (torch.Tensor, "normal_", in_place),
        ):
            original = getattr(holder, name)
            changes.enter_context(patch.object(holder, name, wrapped(name, original, where)))
        handle = import_module("torch.optim.optimizer").register_optimizer_step_pre_hook(before_step)
        changes.callback(handle.remove)
        yield


@contextmanager
def _jax(jax: Any, hooks: Hooks) -> Iterator[None]:
    """Hook jax's normal numbers. Compiled steps call back; what was compiled before is compiled again."""
    original, callback = jax.random.normal, import_module("jax.experimental").io_callback

    def on_the_host(made: Any) -> Any:
        values = hooks.drawn("jax.random.normal", lambda: np.asarray(made), lambda: (0.0, 1.0))[1]
        return np.asarray(made) if values is None else values.reshape(made.shape).astype(made.dtype)

    @functools.wraps(original)
    def normal(*given: Any, **options: Any) -> Any:
        made = original(*given, **options)
        if not isinstance(made, jax.core.Tracer):
            return jax.numpy.asarray(on_the_host(made))
        try:
            return callback(on_the_host, jax.ShapeDtypeStruct(made.shape, made.dtype), made, ordered=True)
        except (ValueError, NotImplementedError):  # within vmap, where no order is
            hooks.not_seen()
            return made

    jax.clear_caches()
    with patch.object(jax.random, "normal", normal):
        yield
    jax.clear_caches()


def _site() -> str:
    """Return the file and the line that drew: the nearest frame outside of this project and of the libraries' own."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith(("subnormal.audit.", "torch.", "jax.", "unittest.", "functools")):
            return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
        frame = frame.f_back
    return "unknown"
