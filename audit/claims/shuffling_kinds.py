"""Claims about shuffling: users answer by randomized response, and only the number of each answer is seen.

Of the others' answers that are lies, those with the first user's two possible values, 1 and 2, are fair coins between
both. Let c be their number, N(c, x) the number of ways in which at least x of c coins show 1, p and a the chances of
the truth and of one lie. If the first user answers 1 or 2, and c others do, then the counts of 1 from x on prove
  p·N(c, x − 1) + a·N(c, x) − e^ε·(a·N(c, x − 1) + p·N(c, x)) = (p − e^ε·a)·N(c, x − 1) − (e^ε·p − a)·N(c, x)
over 2^c. It is the largest where x is the first count above (c + 1)·(e^ε·p − a)/((p − a)·(1 + e^ε)). All N are
integers; all else is in intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from subnormal.audit.claims.kind import Bounds, Kind, clipped, decades
from subnormal.mechanisms.numerics.interval import Interval, exp, expm1, interval, largest, log, log_factorial

WINDOW = 3_000  # numbers of coins that are followed, around their mean
NEAR = 1e-6  # of an integer: more than the floats of a place may be wrong
NEGLIGIBLE = 1e-25  # relative


@dataclass(frozen=True, slots=True)
class _Answers:
    """Randomized response of `others` users and one.

    lie: the chance a of each of the lies. elsewhere: 1 − 2a. gain, cost: p/a − e^ε, e^ε·p/a − 1.
    """

    local: float
    categories: int
    others: int
    epsilon: float
    lie: Interval
    elsewhere: Interval
    gain: Interval
    cost: Interval


def _answers(categories: int, local: float, users: int, epsilon: float) -> _Answers:
    lie = 1 / (exp(local) + (categories - 1))
    return _Answers(
        local,
        categories,
        users - 1,
        epsilon,
        lie,
        (expm1(local) + (categories - 2)) * lie,
        exp(local) - exp(epsilon),
        exp(interval(local) + epsilon) - 1,
    )


def _shuffled_response(categories: int, local: float, users: int, epsilon: float) -> Bounds:
    """From above by revealing all but the coins; from below by two datasets, with all others' values equal.

    Revealed is who of the others tells the truth or another lie, and whether the first user tells another lie, which
    is the same in both worlds. From below, of three and more categories all others have a third value, and only the
    counts of 1 and 2 are looked at; of two categories all others have the value 2.
    Source: Balle, Bell, Gascón, Nissim 2019; Feldman, McMillan, Talwar 2021.
    """
    if epsilon >= local:
        return 0.0, 0.0
    one = _answers(categories, local, users, epsilon)
    up = min(1.0, _of_coins(one, is_revealed=True).floats()[1])
    low = _of_coins(one, is_revealed=False) if categories > 2 else _of_two_categories(one)
    return clipped(low)[0], up


def _of_coins(one: _Answers, *, is_revealed: bool) -> Interval:
    """Return δ(ε) of the counts of 1 and 2, its low end a lower bound, its high end an upper bound if it is revealed
    whether the first user answers 1 or 2.

    If it is not, c + 1 coins and another answer of the first user look the same as c coins and its answer 1 or 2.
    """
    mean = 2 * one.others * one.lie.floats()[1]
    first = max(0, min(math.floor(mean) - WINDOW // 2, one.others - WINDOW))
    last = min(one.others, first + WINDOW)
    places = _places(one, is_revealed=is_revealed)
    total, followed = interval(0), interval(0)
    ways = _Ways(first)
    for coins, weight, share in _weights(one, first, last):
        options = []
        for place in places(coins):
            more, fewer = map(interval, ways.at(coins, place))
            gained = one.gain * more - one.cost * fewer
            if not is_revealed and coins < one.others:
                following = (one.others - coins) * one.lie / ((coins + 1) * one.elsewhere)  # of the weights
                gained = gained - (one.categories - 2) * expm1(one.epsilon) * following * (more + fewer)
            options.append(gained)
        total = total + weight * one.lie * largest(*options)
        followed = followed + share
    rest = 1 - followed
    return Interval(total.low, (total + rest).high) if rest.high > 0 else total


def _weights(one: _Answers, first: int, last: int) -> Iterator[tuple[int, Interval, Interval]]:
    """Yield numbers c of coins, their chance over 2^c, and their chance."""
    logs = log_factorial(one.others) - log_factorial(first) - log_factorial(one.others - first)
    weight = exp(logs + first * log(one.lie) + (one.others - first) * log(one.elsewhere))
    share = weight * exp(first * log(2))
    for coins in range(first, last + 1):
        yield coins, weight, share
        ratio = (one.others - coins) * one.lie / ((coins + 1) * one.elsewhere)
        weight, share = weight * ratio, share * ratio * 2


def _places(one: _Answers, *, is_revealed: bool) -> Callable[[int], list[int]]:
    """Return the function from a number of coins to the last count of 1 that does not tell value 1 by more than ε.

    Near an integer both neighbours are returned. The gain has one maximum, so it lies at one of the places.
    """
    part = -math.expm1(-one.epsilon - one.local) / (-math.expm1(-one.local) * (1 + math.exp(-one.epsilon)))
    lie, elsewhere = one.lie.floats()[1], one.elsewhere.floats()[1]
    blur = 0.0
    if not is_revealed:
        blur = math.tanh(one.epsilon / 2) * (one.categories - 2) * lie / elsewhere * (1 / math.expm1(one.local))

    def places(coins: int) -> list[int]:
        place = (coins + 1) * part + (one.others - coins) * blur
        return sorted({min(coins, math.floor(end)) for end in (place - NEAR, place + NEAR)})

    return places


class _Ways:
    """N(c, x) of c coins, and the number of ways in which exactly x of them show 1; both follow as c and x move."""

    def __init__(self, coins: int) -> None:
        self._coins = self._place = coins
        self._more = self._exactly = 1

    def at(self, coins: int, place: int) -> tuple[int, int]:
        """Return N(coins, place) and N(coins, place + 1). coins: at least as many as before. place: from 0 to coins."""
        while self._place > min(place, self._coins):
            self._exactly = self._fewer()
            self._place -= 1
            self._more += self._exactly
        while self._coins < coins:
            self._more = 2 * self._more + self._fewer()
            self._exactly = self._exactly * (self._coins + 1) // (self._coins + 1 - self._place)
            self._coins += 1
        while self._place < place:
            self._more -= self._exactly
            self._exactly = self._exactly * (self._coins - self._place) // (self._place + 1)
            self._place += 1
        return self._more, self._more - self._exactly

    def _fewer(self) -> int:
        """Return the number of ways in which one less shows 1."""
        return self._exactly * self._place // (self._coins - self._place + 1)


def _of_two_categories(one: _Answers) -> Interval:
    """Return what many answers 2 prove of the value 2, where all others have it too. Few answers prove less.

    With b the chances of the others' counts, outcomes x with b(x − 1)/b(x) above cost/gain are looked at.
    """
    kept = 1 - one.lie
    odds, limit = (kept / one.lie).floats()[1], (one.cost / one.gain).floats()[1]
    return _of_counts(one, kept, one.lie, math.floor((one.others + 1) * limit * odds / (1 + limit * odds)) + 1)


def _of_counts(one: _Answers, chance: Interval, other: Interval, start: int) -> Interval:
    """Return what the counts from `start` on prove, where each of the others counts with this chance."""
    start = min(max(start, 1), one.others + 1)
    logs = log_factorial(one.others) - log_factorial(start - 1) - log_factorial(one.others - start + 1)
    before = exp(logs + (start - 1) * log(chance) + (one.others - start + 1) * log(other))
    total = interval(0)
    for place in range(start, one.others + 2):
        after = before * ((one.others - place + 1) * chance / (place * other))
        gained = (one.gain * before - one.cost * after) * one.lie
        total, before = total + gained, after
        if gained.high <= NEGLIGIBLE * total.low:
            break
    return total


RESPONSES = {
    "categories": st.integers(2, 10) | decades(1, 4, 2.0, whole=True),
    "local": decades(-3, 1.3, 1.0, 2.0),
    "users": st.integers(1, 20) | decades(1, 5, 1_000.0, whole=True),
    "epsilon": decades(-4, 1, 0.0, 0.5),
}
SHUFFLING_KINDS = (Kind("shuffled-response", "δ at ε", RESPONSES, _shuffled_response),)
