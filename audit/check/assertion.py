"""An assertion for other people's test suites: a release that is seen to break its claim fails the test.

Paste this into a test suite, with your own release in place of `noisy_count`:

>>> import random
>>> from subnormal import assert_private
>>> def noisy_count(records):
...     noise = random.expovariate(1.0) - random.expovariate(1.0)  # Laplace noise of scale 1
...     return round(len(records) + noise, 3)
>>> assert_private(noisy_count, [1, 1], [1], epsilon=1.0, runs=2_000)

The two inputs must be neighbours: they may differ by no more than what the claim protects, one record, say. With `data`
and `adjacent` in their place, neighbours are searched, as `check` does.
"""

from __future__ import annotations

import math
import operator
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from subnormal.attacks.core.events import Event
from subnormal.audit.check.check import check
from subnormal.audit.check.function import function as audited_function
from subnormal.audit.check.function import isolated
from subnormal.audit.check.regression import as_test
from subnormal.audit.check.result import Result
from subnormal.audit.check.score import runs_needed
from subnormal.audit.check.trial import SEED, Trial, Watched, distance_and_zero, tried_at_zero
from subnormal.audit.check.words import claim_words, lines, shown
from subnormal.audit.clock import clock_of
from subnormal.audit.model import Verdict
from subnormal.audit.neighbours.datasets import is_one_input
from subnormal.audit.neighbours.relations import Adjacency, add_or_remove, change_one, within
from subnormal.audit.text import given, quoted
from subnormal.mechanisms.core.mechanism import Outcomes
from subnormal.mechanisms.curves import AnyClaim, points
from subnormal.mechanisms.privacy import Claim

_NOT_GIVEN: Any = object()  # None is an input too
RELATIONS = (add_or_remove, change_one, within)  # which make an Adjacency


class NotPrivateError(AssertionError):
    """A claim is violated. result: what was found, as `check` returns it."""

    def __init__(self, result: Result) -> None:
        test = as_test(result)
        paste = [] if test is None else ["", "A test for it:", "", test]
        head = f"the release is not private as claimed, {claim_words(result.claim)}:"
        super().__init__("\n".join([head, *lines(result), *paste]))
        self.result = result


@dataclass(frozen=True, slots=True)
class Predicate:
    """An event given as a function of one outcome."""

    holds: Callable[[Any], bool]

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        listed = outcomes.tolist() if isinstance(outcomes, np.ndarray) else outcomes
        whole = (tuple(one) if isinstance(one, list) else one for one in listed)
        return np.array([bool(self.holds(outcome)) for outcome in whole], dtype=np.bool_)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object: its name is all that can be written down."""
        return {"kind": "predicate", "name": getattr(self.holds, "__qualname__", repr(self.holds)), "portable": False}


def assert_private(
    release: Callable[[Any], Any] | None = None,
    data_in: Any = _NOT_GIVEN,
    data_out: Any = _NOT_GIVEN,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    claim: AnyClaim | None = None,
    data: SearchStrategy[Any] | None = None,
    adjacent: Any = None,
    fresh: Callable[[], Callable[[Any], Any]] | None = None,
    grid: float | None = None,
    runs: int = 100_000,
    alpha: float = 1e-6,
    event: Event | Callable[[Any], bool] | None = None,
    seconds: float | None = None,
    examples: int | None = None,
    database: str | os.PathLike[str] | None = None,
) -> None:
    """Raise NotPrivateError where release(data) is seen to break its claim: on this pair of inputs, or on any pair.

    No error means that the runs showed no violation. It does not mean that the release is private.

    With data_in and data_out, the release is called on these inputs. Two plain numbers stand for all numbers as far
    apart: the claim is taken to cover those as well. Floats are finest at zero, so rounding shows best there: 1 + noise
    and 0 + noise can be told apart where 6 + noise and 5 + noise hardly can. Where no event is given, neither number is
    zero and outcomes are floats, release is therefore called on their distance and on zero too: a quarter of `runs`
    times each, and up to `runs` times each on top only where these runs speak against the claim. At zero it is not
    accused of refusing, nor of outcomes that are not finite floats: zero may lie outside its domain. Where inputs are
    not neighbours by their distance, wrap them: `assert_private(lambda data: release(data[0]), [101.0], [100.0], ...)`
    tries this pair alone.

    With `data` and `adjacent`, the pair is searched, as `check` does with all its stages.

    Args:
        release: a function of the data that returns one outcome, with fresh randomness at each call. Calls must be
            independent: no budget, cache or counter may carry over from one call to the next, see `fresh`. An outcome
            is a number, a string, None, a date, or a tuple, list, set, array, tensor, series, frame, mapping or
            dataclass of such (`values.outcomes`). An exception is an outcome too, because it may leak. The global
            generators of `random` and numpy have a fixed seed meanwhile.
        data_in: one input.
        data_out: a neighbouring input: it differs by no more than the claim protects, as one record.
        epsilon: the claimed ε, in nats.
        delta: the claimed δ.
        claim: another kind of claim in their place: `Zcdp`, `Gdp`, `Renyi` or `Profile`.
        data: a Hypothesis strategy of inputs, in place of data_in and data_out.
        adjacent: which inputs are neighbours, see `check`; a list of pairs [(x, y), ...] needs no data.
        fresh: in place of release, a function of no arguments that returns the release to call once:
            `fresh=lambda: Accountant(budget=1).count`.
        grid: every float in an outcome is rounded to a multiple of it, so that the last bits of noise tell nothing.
        runs: calls on each input that judge the claim, at most. Those that learn an event come on top: a quarter as
            many, but at most 65,536. A search has its own.
        alpha: the chance that a release that keeps its claim is accused, at most. Where two pairs of inputs are
            tried, each has half of it.
        event: what the attacker looks for: an event of `attacks.core.events`, or a function of one outcome that returns
            a bool. That function sees lists, arrays and sets as tuples, mappings as sorted tuples of items, and
            exceptions as `Refused`; names and unusual types follow the values, see docs/check_in_full.md. None: an
            event is learned from runs of its own.
        seconds: of the whole check; one call of the release is never interrupted. Where a pair is searched, as many of
            the runs are made as the time allows. A pair that is given takes all its runs, or there is no verdict. None:
            60, and no limit where examples are given.
        examples: pairs of inputs that are tried where a pair is searched, at most, and half as many that make a finding
            smaller. With them the seed gives the same verdict on every machine, see `check`.
        database: a folder that keeps the pair that convicts where one is searched, see `check`.

    Raises:
        NotPrivateError: the claim is violated. It is an AssertionError, and holds the result.
        ValueError: no verdict is possible: an argument is out of range, both inputs are one, there are fewer runs than
            could show a violation (the message says how many are needed), the time is over before the runs are made
            (it says how much they need), or release raised in every run, or
            in all but the first ones.
        TypeError: release cannot be called with the data alone, an input cannot be copied or is a strategy or a
            relation, an outcome cannot be compared for certain, as an object of a class of your own or a generator, or
            the arguments state two pairs, no pair, two claims or none.
    """
    __tracebackhide__ = True  # pytest shows the line of the test, and not these
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    clock, searching = clock_of(examples, runs, seconds)
    deadline = math.inf if clock.counts and seconds is None else time.monotonic() + (seconds or searching)
    stated, runs = _stated(epsilon, delta, claim), operator.index(runs)
    one_pair = data_in is not _NOT_GIVEN
    if (
        one_pair != (data_out is not _NOT_GIVEN)
        or one_pair == (adjacent is not None)
        or (one_pair and data is not None)
    ):
        raise TypeError("name the inputs: data_in and data_out, or data and adjacent in their place")
    if not one_pair:
        if event is not None:
            raise TypeError("event goes with data_in and data_out: where a pair is searched, so is an event")
        _require_enough(runs, alpha, stated)
        options: dict[str, Any] = {"runs": runs, "examples": examples, "seconds": seconds, "alpha": alpha, "seed": SEED}
        result = check(release, data, adjacent, stated, fresh=fresh, grid=grid, database=database, **options)
        _raise(result)
        if result.verdict is Verdict.UNDERPOWERED:  # else a slow release would pass, whatever it releases
            raise ValueError("\n".join(["so few runs could not have shown a violation:", *lines(result)]))
        return
    if database is not None:
        raise TypeError("database goes with data and adjacent: a pair that is named needs not be found again")
    _require_two(data_in, data_out)
    at_zero = distance_and_zero(data_in, data_out) if event is None else None
    share = alpha if at_zero is None else alpha / 2
    _require_enough(runs, share, stated)
    looked_for = event if event is None or hasattr(event, "to_json") else Predicate(event)
    function, pair = audited_function(release, fresh=fresh, grid=grid), (data_in, data_out)
    trial = Trial(function, pair, stated, share, runs, cast("Event | None", looked_for), deadline)
    with isolated(SEED, function):
        watched = Watched(function.function)
        _raise(trial.result(watched))
        if not watched.answers:
            last = f"{type(watched.error).__name__}: {watched.error}"
            raise ValueError(
                f"{function.name} raised in every run on both inputs, so nothing was tried; the last: {last}"
            )
        if at_zero is not None and watched.only_floats:
            _raise(tried_at_zero(replace(trial, pair=at_zero), function.function, pair))


def _stated(epsilon: float | None, delta: float, claim: AnyClaim | None) -> AnyClaim:
    if (epsilon is None) == (claim is None) or (claim is not None and delta):
        raise TypeError("state one claim: epsilon (with delta), or claim")
    if claim is None:
        return Claim(cast("float", epsilon), delta)
    if not isinstance(claim, AnyClaim):
        raise TypeError(f"claim must be a Claim, Zcdp, Gdp, Renyi or Profile, got {claim!r}")
    return claim


def _require_two(data_in: Any, data_out: Any) -> None:
    """Raise TypeError where a domain or a relation stands for an input, and ValueError where nothing tells the inputs
    apart: no release could break its claim on them."""
    for name, one in (("data_in", data_in), ("data_out", data_out)):
        if isinstance(one, SearchStrategy | Adjacency) or any(one is relation for relation in RELATIONS):
            raise TypeError(
                f"{name} = {quoted(repr(one))} is no input: write "
                "assert_private(release, data=strategy, adjacent=add_or_remove(), ...), where a pair is to be searched"
            )
    if is_one_input((data_in, data_out)):
        raise ValueError(f"data_in and data_out are one input, {shown(data_in)}: name two neighbouring inputs")


def _require_enough(runs: int, alpha: float, claim: AnyClaim) -> None:
    """Raise ValueError where so few runs could not refute any point of the claim."""
    needed = min(runs_needed(point, alpha) for point in points(claim))
    if runs < needed:
        enough = f"at least {needed:,} runs are needed" if math.isfinite(needed) else "and no number of runs could"
        asked = f"runs = {runs:,} cannot refute {claim_words(claim)} at alpha = {given(alpha)}"
        raise ValueError(f"{asked}: not even a perfect attack could; {enough}")


def _raise(result: Result | None) -> None:
    """Raise NotPrivateError for a violation, and ValueError where there is no verdict."""
    __tracebackhide__ = True
    if result is None:
        return
    if result.error is not None:
        raise ValueError(f"no verdict: {result.error}")
    if result.verdict is Verdict.VIOLATED:
        raise NotPrivateError(result)
