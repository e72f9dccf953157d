"""The law of a function as it is: all paths that its random numbers lead to, the likeliest ones first."""

from __future__ import annotations

import copy
import gc
import hashlib
import heapq
import itertools
import math
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AnySet
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import fields as fields_of
from fractions import Fraction
from typing import Any, NamedTuple

from subnormal.audit.laws import forest
from subnormal.audit.laws.arrays import LazyArray
from subnormal.audit.laws.draws.sources import Source, replaced
from subnormal.audit.laws.lazy import is_lazy
from subnormal.audit.laws.path import STEP, Box, Constraint, NotFollowedError, Other, Path, StoppedError
from subnormal.audit.text import short
from subnormal.audit.values.outcomes import as_outcome, refused
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.privacy import require_positive

STRIPS = 1 << 9  # of each uniform, for the first bounds of a path; refined while there is time
FINER, FINEST = 4, 1 << 17  # times as many in each step, until there are so many
NARROW = 2.0**-20  # of the width of all bounds: paths that have no more together are not refined with the others
REFINING = 1 / 2  # of the time is kept for finer strips, where a path has constraints
MANY = 256  # paths that are begun before the rest counts: few paths are all followed
ROUNDED, TINY = 1e-9, 1 << 900  # more than the roundings of a product of floats, and than what floats call 0
LOWEST, HIGHEST = -2, -1  # attempts to find numbers of a path: the ends of its boxes
CHECKED, ONE_OF = 256, 4  # paths that are repeated with plain numbers, and of how many later ones each one
REPEATED, FEW = 64, 16  # times that the first path is repeated with plain numbers, the second one half as often, …
POSSIBLE = 8  # outcomes that may be impossible, of which more are not printed one by one
NEVER = 1 << 30  # searches for young garbage before one through all objects
TRIES, PASSES, MOVES = 8, 3, 4  # to find numbers that keep constraints: each is moved to where one constraint holds
NEARER = 4  # bits by which each of these moves may lead nearer to there


@dataclass(frozen=True, slots=True, eq=False)
class FollowedLaw:
    """The law of a function on one input, as far as its paths were followed.

    law: certified bounds on the probability of each outcome, if all random numbers are independent and uniform; its
    `rest` bounds the probability of all that was not followed. paths: that were followed. complete: whether no path is
    left. seconds: that it took.
    """

    law: Law[Any]
    paths: int
    complete: bool
    seconds: float

    @property
    def rest(self) -> Fraction:
        """A bound on the probability of the outcomes that are not named."""
        return self.law.rest

    def probability(self, outcome: Any) -> tuple[Fraction, Fraction]:
        """Return certified bounds [low, high] on the probability of one outcome, such as 3 or (True, False)."""
        return self.law.probability(as_outcome(outcome))

    def __str__(self) -> str:
        bounds = [(atom, self.law.probability(atom)) for atom in self.law.atoms]  # 0, 0.0 and False are three outcomes
        ordered = sorted(bounds, key=lambda pair: -pair[1][0])
        possible = [high for _, (low, high) in ordered if not low]
        shown = ordered if len(possible) <= POSSIBLE else ordered[: -len(possible)]
        lines = [f"{atom!r}: {' to '.join(dict.fromkeys(short(float(p), 9) for p in pair))}" for atom, pair in shown]
        if len(shown) < len(ordered):
            most = max(possible)
            lines.append(f"{len(possible):,} more outcomes: 0 to {short(float(most), 3)} each")
        return "\n".join([*lines, f"rest: {short(float(self.rest), 3)}; {self.paths:,} paths"])


@dataclass(frozen=True, slots=True)
class End:
    """How one path ended: its outcome, or what the function returned, with lazy numbers in it."""

    path: Path
    outcome: Any


def law(
    function: Callable[[Any], Any], data: Any, *, seconds: float = 10.0, rest: float = 2.0**-40, width: float = 1e-5
) -> FollowedLaw:
    """Return the law of function(data): the probability of each outcome, of the code as it is.

    The function may draw from `random`, `random.Random`, `random.SystemRandom` and `secrets`. Its numbers are followed
    through float arithmetic, comparisons, rounding and `math`. An exception is an outcome. Nothing is sampled.

    >>> import random
    >>> def noisy(answer):
    ...     return answer if random.random() < 0.75 else 1 - answer
    >>> law(noisy, 1).probability(1)
    (Fraction(3, 4), Fraction(3, 4))

    Args:
        function: takes the data and returns one outcome, as for `check`. It is called once for each path.
        data: the input. Each call gets a copy.
        seconds: until no further path begins. One call is never interrupted, unless it draws a number.
        rest: the paths end when so little probability is left.
        width: bounds that lie further apart are narrowed, while there is time.

    Returns:
        Certified bounds on the probability of each outcome, and on that of all others, `rest`.

    Raises:
        NotFollowedError: the function does what cannot be followed, with the file and the line; so nothing is known.
        ValueError: seconds are not positive.
    """
    require_positive("seconds", seconds)
    with replaced(function) as source, walks_of(function, [data], rest) as (walk,):
        walk.finish(source, seconds, width)
        return walk.law()


class _Left(NamedTuple):
    """A path that is not followed yet, in the order of the queue: the likeliest is the least.

    most: a bound on its probability. The others are the fields of `Path` with which it begins.
    """

    order: float
    tie: int
    answers: dict[int, Any]
    halvings: float
    least: float
    most: float


class Walk:
    """The paths of a function on one input, the likeliest first, with bounds on their probabilities.

    rest: the paths end when so little probability is left. floats: outcomes may be lazy. most: paths that end, and no
    more are followed. ends: how paths ended.
    outcomes: how those ended whose bounds are kept, with the bounds and the strips that they are from. strips: of the
    bounds of all of these, where time allowed.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        data: Any,
        rest: float,
        *,
        floats: bool = False,
        most: float = math.inf,
    ) -> None:
        self.function, self.data, self.rest, self.floats, self.most = function, data, rest, floats, most
        self.ends, self.paths, self.strips = list[End](), 0, STRIPS
        self.outcomes: list[tuple[End, forest.Bounds, int]] = []
        self._is_refined = True
        self.started, self._tie = time.monotonic(), itertools.count()
        self._ended, self._left, self._slack = list[float](), 1.0, 0.0
        self._queue = [_Left(-1.0, next(self._tie), {}, 0.0, STEP, 1.0)]

    @property
    def lost(self) -> Fraction:
        """A bound on the probability of the paths that did not end."""
        lost = [*self._ended, *(one.most for one in self._queue)]
        unknown = math.fsum(lost) + self._slack * (len(lost) + 1)
        return Fraction(unknown * (1 + ROUNDED)) + Fraction(bool(lost), TINY)

    @property
    def width(self) -> float:
        """How far the bounds of all paths lie apart together, which finer strips narrow."""
        return float(sum(high - low for _, (low, high), _ in self.outcomes))

    @property
    def is_followed(self) -> bool:
        """Whether no path is left that is worth following."""
        is_enough = (self._left <= self.rest and self.paths >= MANY) or len(self.ends) >= self.most
        return not self._queue or is_enough

    def has_more(self, width: float) -> bool:
        """Return whether more time tells more. width: of all bounds, which need not be narrowed further."""
        return not self.is_followed or (self.strips < FINEST and self.width > width)

    def go_on(self, source: Source, seconds: float) -> None:
        """Follow more paths, where these are more of what is unknown, or narrow the bounds of those that ended.

        Raises NotFollowedError as `law` does.
        """
        started = time.monotonic()
        if not self.is_followed and (self.strips >= FINEST or self.lost >= self.width):
            self.follow(source, seconds)
            if not self.ends:
                raise NotFollowedError(f"not followed: no path ended in {short(seconds)} s")
            fresh = self.ends[len(self.outcomes) :]
            self.outcomes += [(end, _bounds(end.path, 0), 0) for end in fresh]
        elif self._is_refined:
            self.strips *= FINER
        self._is_refined = self._refine(started + seconds)
        # weights are guesses of what is likely, and what no path may have is surely left
        self._left = max(self._left, 1.0 - math.fsum(float(high) for _, (_, high), _ in self.outcomes))

    def finish(self, source: Source, seconds: float, width: float = 0.0) -> None:
        """Follow all paths, and narrow the bounds, for so long. width: as for `has_more`. Raises NotFollowedError as
        `law` does."""
        deadline = time.monotonic() + seconds
        self.go_on(source, seconds)
        while time.monotonic() < deadline and self.has_more(width):
            self.go_on(source, deadline - time.monotonic())

    def follow(self, source: Source, seconds: float) -> None:
        """Follow paths for so long, or half of it where they have constraints: bounds take the other half.

        source: where the function draws from while this lasts.
        """
        started = time.monotonic()
        while not self.is_followed:
            share = REFINING if any(end.path.constraints for end in self.ends[-1:]) else 1.0
            if time.monotonic() - started > share * seconds:
                break
            self._follow(source, heapq.heappop(self._queue), started + seconds)

    def _follow(self, source: Source, left: _Left, deadline: float) -> None:
        self.paths += 1
        path = Path([], left.answers, deadline, expected=left.halvings, least=left.least)
        outcome = _run(source, path, self.function, self.data, floats=self.floats)
        if path.waits:
            path.pending.append(Other(path.answers, path.share, path.halvings))
        least = path.least * (STEP if path.waits else 1.0)
        for one in path.pending:
            most = min(left.most, one.share)
            heapq.heappush(self._queue, _Left(-one.weight, next(self._tie), one.answers, one.halvings, least, most))
        path.pending.clear()
        self._slack = max(self._slack, float(path.slack))
        if path.stopped:
            path.constraints.clear()  # which lead to the path again, see `walks_of`
            if not (path.impossible or path.waits):
                self._ended.append(min(left.most, path.share))
            return
        end = End(path, outcome)
        source.ended[id(self.data)] += 1
        ended = source.ended[id(self.data)]
        is_chosen = ended <= CHECKED or isinstance(outcome, Refused) or _digest(ended) % ONE_OF == 0
        often = max(REPEATED // ended, is_chosen)
        first = LOWEST if ended <= FEW else LOWEST + ended % 3  # an end of its boxes, or between them
        for attempt in range(first, first + often):
            _repeat(source, end, self.function, self.data, attempt)
        self.ends.append(end)
        self._left -= path.weight()

    def _refine(self, deadline: float) -> bool:
        """Narrow the bounds of the paths, those that are furthest apart first; return whether time allowed all."""
        wide = [at for at, (_, (low, high), strips) in enumerate(self.outcomes) if low < high and strips < self.strips]
        wide.sort(key=lambda at: self.outcomes[at][1][0] - self.outcomes[at][1][1])
        before, left = math.inf, self.width
        enough = left * NARROW
        for done, at in enumerate(wide):
            now = time.monotonic()
            last = now - before if done > 1 else 0.0  # the first one makes tables for all
            if left <= enough:
                break
            if now + last > deadline:
                return False
            before = now
            end, (low, high), _ = self.outcomes[at]
            left -= float(high - low)
            finer = _bounds(end.path, self.strips)
            self.outcomes[at] = end, (max(low, finer[0]), min(high, finer[1])), self.strips
        return True

    def law(self, boxes: Sequence[Box] | None = None) -> FollowedLaw:
        """Return the law, from the bounds so far. boxes: paths in these are told; what others lead to is lost."""
        is_told = [boxes is None or end.path.is_within(boxes) for end, *_ in self.outcomes]
        told = list(itertools.compress(self.outcomes, is_told))
        others = (high for (_, (_, high), _), is_one in zip(self.outcomes, is_told, strict=True) if not is_one)
        lost = self.lost + sum(others, Fraction(0))
        return FollowedLaw(_law_of(told, lost), self.paths, not lost, time.monotonic() - self.started)


@contextmanager
def walks_of(
    function: Callable[[Any], Any], inputs: Sequence[Any], rest: float, **options: Any
) -> Iterator[list[Walk]]:
    """Yield a walk for each input, and let go of their paths afterwards: constraints lead to their path again, and
    millions of objects would wait for a search for garbage, which all that is looked for meanwhile goes through."""
    walks = [Walk(function, data, rest, **options) for data in inputs]
    try:
        with _no_full_collections():
            yield walks
    finally:
        for walk in walks:
            for end in walk.ends:
                end.path.constraints.clear()


def follow(
    function: Callable[[Any], Any],
    data: Any,
    seconds: float,
    rest: float,
    *,
    floats: bool = False,
    most: float = math.inf,
    loops: bool = True,
) -> tuple[list[End], int, Fraction]:
    """Return how the paths ended, how many were begun, and a bound on the probability of those that did not end.

    floats: outcomes may be lazy. most: paths that end, and no more are followed. loops: whether a call that draws in a
    loop may be one number.
    """
    walk = Walk(function, data, rest, floats=floats, most=most)
    with replaced(function) as source, _no_full_collections():
        source.draws_in_loops *= loops
        walk.follow(source, seconds)
    return walk.ends, walk.paths, walk.lost


@contextmanager
def _no_full_collections() -> Iterator[None]:
    """Let no search for cyclic garbage go through all objects: there are some 600 of each path that ended, which are
    kept, and looking through them again and again takes as long as the paths do."""
    first, second, third = gc.get_threshold()
    gc.set_threshold(first, second, NEVER)
    try:
        yield
    finally:
        gc.set_threshold(first, second, third)


def _run(source: Source, path: Path, function: Callable[[Any], Any], data: Any, *, floats: bool) -> Any:
    """Return the outcome of one path, and raise NotFollowedError where it cannot be followed."""
    source.path, source.numbers = path, None
    outcome = None
    try:
        outcome = _called(function, data, floats=floats)
    except StoppedError:
        if not (path.stopped or path.failed):
            raise NotFollowedError("not followed: the function keeps a random number of another call") from None
    except Exception as error:  # of what the outcome is, not of the function
        if not (path.stopped or path.failed):
            raise NotFollowedError(f"not followed: {error}") from error
    if path.failed is not None:
        raise NotFollowedError(path.failed)
    path.ended = True
    return outcome


def _called(function: Callable[[Any], Any], data: Any, *, floats: bool) -> Any:
    handled = sys.exception()
    try:
        returned = function(copy.deepcopy(data))
    except (KeyboardInterrupt, StoppedError):
        raise
    except BaseException as error:  # as in a check, an exit is an outcome too
        return refused(error, handled)
    return lazy_outcome(returned) if floats else as_outcome(_plain(returned))


def lazy_outcome(value: Any) -> Any:
    """Return an outcome, in which lazy numbers stay in lists, tuples, arrays, and mappings from texts or integers."""
    if type(value) in (list, tuple):
        return type(value)(map(lazy_outcome, value))
    if isinstance(value, dict) and {*map(type, value)} <= {str, int}:  # whose order depends on the keys alone
        return tuple(sorted(((key, lazy_outcome(one)) for key, one in value.items()), key=lambda item: repr(item[:1])))
    return value if is_lazy(value) or isinstance(value, LazyArray) else as_outcome(_plain(value))


def _plain(value: Any) -> Any:
    """Return a value with each lazy number in it split until one value is left; a float cannot be."""
    if is_lazy(value):
        return value.point()
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, LazyArray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {_plain(key): _plain(one) for key, one in value.items()}
    if isinstance(value, AnySet):
        return {_plain(one) for one in value}
    if hasattr(type(value), "__dataclass_fields__"):
        for one in fields_of(value):
            if is_lazy(getattr(value, one.name)):
                object.__setattr__(value, one.name, getattr(value, one.name).point())
    return value


def _repeat(source: Source, end: End, function: Callable[[Any], Any], data: Any, attempt: int) -> None:
    """Repeat a path with plain numbers. Raises NotFollowedError where the outcome is another one: then the function
    draws from elsewhere, keeps a state, or tells a lazy number from a float."""
    path = end.path
    numbers = numbers_along(path, attempt)
    if numbers is None:
        return
    source.path, source.numbers = Path(), iter(list(zip(numbers, path.sizes, strict=False)))
    try:
        outcome = _called(function, data, floats=False)
    except StoppedError:
        raise NotFollowedError(source.path.failed or "not followed: plain numbers lead elsewhere") from None
    except Exception as error:  # of what the outcome is
        raise NotFollowedError(f"not followed: {error}") from error
    expected = as_outcome(with_numbers(end.outcome, dict(enumerate(numbers))))
    if identity(outcome) != identity(expected) or next(source.numbers, None) is not None:
        raise NotFollowedError(
            f"not followed: the same random numbers led to {outcome!r} and to {expected!r}: the function draws from a "
            "source that is not known, keeps a state, or treats random numbers by their type"
        )


def numbers_along(path: Path, first: int = 0) -> list[int] | None:
    """Return numbers that lead along a path; None where none was found.

    first: number of the first attempt; `LOWEST` and `HIGHEST` begin at an end of each box, the others anywhere.
    """
    boxes = path.boxes[: len(path.sizes)]
    for attempt in range(first, first + (TRIES if path.constraints and first >= 0 else 1)):
        ends = {LOWEST: [low for low, _ in boxes], HIGHEST: [high - 1 for _, high in boxes]}.get(attempt)
        drawn = ends or [low + _digest(attempt, at, low, high) % (high - low) for at, (low, high) in enumerate(boxes)]
        numbers = dict(enumerate(drawn))
        for _ in range(PASSES):
            moved = [_moved(one, numbers, boxes, attempt) for one in path.constraints]  # all of them, in turn
            if not any(moved):
                return list(numbers.values())
    return None


def _moved(constraint: Constraint, numbers: dict[int, int], boxes: list[Box], attempt: int) -> bool:
    """Return whether numbers do not keep a constraint, and move them until they do, or have been moved often: the last
    one first, and each time nearer to the end of its box where the constraint holds."""
    moves = ((at, step) for at in sorted(constraint.rising, reverse=True) for step in range(MOVES))
    for at, step in moves:
        if constraint.test(numbers):
            return at < max(constraint.rising) or step > 0
        low, high = (numbers[at], boxes[at][1]) if constraint.rising[at] else (boxes[at][0], numbers[at] + 1)
        away = _digest(attempt, at, low, high, step) % max(1, high - low >> NEARER * step)
        numbers[at] = high - 1 - away if constraint.rising[at] else low + away
    return True


def _digest(*values: int) -> int:
    """Return a number that looks random, and moves no generator whose state is watched."""
    return int.from_bytes(hashlib.sha256(repr(values).encode()).digest(), "big")


def with_numbers(value: Any, numbers: Mapping[int, int]) -> Any:
    """Return a returned value with plain numbers in place of lazy ones."""
    if is_lazy(value):
        return value.f(numbers)
    if type(value) in (list, tuple):
        return type(value)(with_numbers(one, numbers) for one in value)
    if isinstance(value, LazyArray):
        return [with_numbers(one, numbers) for one in value]
    return value


def _bounds(path: Path, strips: int) -> forest.Bounds:
    """Return bounds on the probability of a path. Without strips, its constraints tell nothing."""
    mass, low, high = path.mass(), Fraction(1), Fraction(1)
    if not (path.constraints or path.near):
        return mass, mass
    if path.constraints:
        low, high = forest.bounds(path.boxes, path.constraints, strips) if strips else (Fraction(0), high)
    return max(Fraction(0), mass * low - path.slack), min(Fraction(1), mass * high + path.slack)


def _law_of(outcomes: list[tuple[End, forest.Bounds, int]], lost: Fraction) -> Law[Any]:
    """Return the law: bounds of all paths to each outcome, over one denominator. lost: of paths that did not end."""
    found: dict[Hashable, list[Any]] = {}
    for end, (low, high), _ in outcomes:
        one = found.setdefault(identity(end.outcome), [end.outcome, Fraction(0), Fraction(0)])
        one[1] += low
        one[2] += high
    atoms = list(found.values())
    low_sum = sum((low for _, low, _ in atoms), Fraction(0))
    left = 1 - low_sum
    rest = min(lost, left)
    denominator = math.lcm(rest.denominator, *(bound.denominator for one in atoms for bound in one[1:]))
    lows = [int(low * denominator) for _, low, _ in atoms]
    highs = [int(min(high + rest, low + left) * denominator) for _, low, high in atoms]
    return Law([atom for atom, *_ in atoms], range(1, len(atoms) + 1), lows, highs, denominator, rest)
