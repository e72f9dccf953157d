"""What stands in front of the functions that draw Gaussian noise while a loop is checked, in numpy, torch and jax.

A library that the loop has not imported is left alone. torch and jax are imported here by nobody else's wish.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import shake_256
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.randomness.arrays import as_numpy, is_traced, site, with_values
from subnormal.audit.randomness.catalogue import Primitive
from subnormal.audit.randomness.generators import alive, state
from subnormal.audit.randomness.primitives import intercepted

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

    def note(self, primitive: str, place: str, values: Any, where: tuple[Any, Any]) -> Floats | None:
        """Note a draw and its place in the code. Returns flat values for the loop; None: those that were drawn."""
        shape = np.shape(values)
        location, scale = (np.broadcast_to(np.asarray(one, dtype=np.float64), shape).ravel() for one in where)
        draw = Draw(primitive, place, location, np.abs(scale), np.array(values, dtype=np.float64).ravel())
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
            if jax := sys.modules.get("jax"):  # what was compiled before is compiled again, with its draws seen
                changes.callback(jax.clear_caches)
                jax.clear_caches()
            changes.enter_context(intercepted(self._loop, self._intercept))
            if "torch" in sys.modules:
                handle = import_module("torch.optim.optimizer").register_optimizer_step_pre_hook(self._before_step)
                changes.callback(handle.remove)
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

    def _drawn(
        self, primitive: str, draw: Callable[[], Any], where: Callable[[], tuple[Any, Any]], place: str | None = None
    ) -> Any:
        """Draw, and note it. Returns what the loop gets. place: in the code, where it is not the one that runs."""
        tap = self._tap
        if tap is None or tap.inside:
            return draw()
        tap.inside = True
        try:
            made = draw()
        finally:
            tap.inside = False
        values = None if is_traced(made) else tap.note(primitive, place or site(), as_numpy(made), where())
        return made if values is None else with_values(made, values)

    def _before_step(self, optimizer: Any, given: Any, options: Any) -> None:
        """Note what an optimizer of torch is about to use."""
        if self._tap is not None and not type(optimizer).__module__.startswith("opacus"):  # it wraps another one
            every = [one for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
            self._tap.gradients.append([as_numpy(one.grad).astype(np.float64).ravel() for one in every])

    def _intercept(self, primitive: Primitive, original: Callable[..., Any], given: Any, options: Any) -> Any:
        if primitive.kind != "Gaussian" or primitive.where is None:
            return original(*given, **options)
        where = partial(primitive.where, *given, **options)
        made = self._drawn(str(primitive), partial(original, *given, **options), where)
        return self._when_compiled(made, str(primitive)) if is_traced(made) else made

    def _when_compiled(self, made: Any, primitive: str) -> Any:
        """Return what jax compiles for a draw: it asks here for the numbers when the step runs."""
        jax, callback, place = sys.modules["jax"], import_module("jax.experimental").io_callback, site()

        def on_the_host(drawn: Any) -> Any:
            values: Any = self._drawn(primitive, lambda: np.array(drawn), lambda: (0.0, 1.0), place)
            return values

        try:
            return callback(on_the_host, jax.ShapeDtypeStruct(made.shape, made.dtype), made, ordered=True)
        except (ValueError, NotImplementedError):  # within vmap, where no order is
            if self._tap is not None:
                self._tap.traced = True
            return made

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
