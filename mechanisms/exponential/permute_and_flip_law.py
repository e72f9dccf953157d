"""Selection probabilities of permute-and-flip, exact or as certified bounds.

Each outcome has a coin, and one of the coins with heads is selected uniformly. Coins with the same chance of heads are
a kind: `sizes` holds the number of coins of each, and one kind always shows heads. Equivalently, each coin has an
independent uniform time, and coin i is selected when it shows heads and none before it does, so
P(i) = p_i·∫₀¹ Π_{j≠i} (1 − t·p_j) dt.
In s = b − t the factors are (1 − b·p) + p·s, without negative coefficients, so nothing is ever subtracted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import ceil, comb, factorial, lcm

from subnormal.mechanisms.numerics.mpfr import power_bounds

STEP = 8  # heads expected within a panel of t, at most
PANELS = 12  # then e^−96 is left
TERMS = 64  # of a panel's series: the next has a factor 8^65/65! < 2^−106

Series = list[int]  # coefficients, the constant one first
ScaledBounds = tuple[int, int]  # lower and upper, over a power of two


def exact(sizes: list[int], heads: list[int], digits: int) -> tuple[list[int], int]:
    """Return the probability of a coin of each kind over a common denominator, from the p = head/2^digits."""
    coins = sum(sizes)

    def series(kind: int, count: int) -> Series:
        head, tail = heads[kind], (1 << digits) - heads[kind]
        return [comb(count, r) * tail ** (count - r) * head**r for r in range(count + 1)]

    full, less = ([series(kind, size - cut) for kind, size in enumerate(sizes)] for cut in (0, 1))
    common = lcm(*range(1, coins + 1))
    probabilities = [
        head * sum(coefficient * (common // (r + 1)) for r, coefficient in enumerate(others))
        for head, others in zip(heads, _all_but_one(full, less, _product, [1]), strict=True)
    ]
    return probabilities, common << (digits * coins)


def enclosed(
    sizes: list[int], chances: list[ScaledBounds], precision: int, working: int
) -> tuple[list[int], list[int], int]:
    """Return bounds on the probability of a coin of each kind, and their common denominator.

    chances: bounds on the p over 2^precision; the integrals are computed in fixed point with `working` bits.
    """
    shift = precision - working
    coarse = [(low >> shift, -(-high >> shift)) for low, high in chances]
    low = [
        chance * integral
        for (chance, _), integral in zip(chances, _integrals(sizes, coarse, working, up=False), strict=True)
    ]
    high = [
        chance * integral
        for (_, chance), integral in zip(chances, _integrals(sizes, coarse, working, up=True), strict=True)
    ]
    return low, high, 1 << (precision + working)


def _integrals(sizes: list[int], chances: list[ScaledBounds], working: int, *, up: bool) -> list[int]:
    """Return bounds on ∫₀¹ Π_{j≠i} (1 − t·p_j) dt of each kind's coin, over 2^working.

    In panels [b − w, b] with w·Σp ≤ 8. A series in s/w has coefficients up to (w·Σp)^r/r!, and what lies beyond the
    last panel is at most the integrand there.
    """
    one = 1 << working
    width = (STEP << 2 * working) // sum(size * high for size, (_, high) in zip(sizes, chances, strict=True))
    missed = 2 * Fraction(STEP ** (TERMS + 1), factorial(TERMS + 1))  # the terms left out fall by more than half
    totals = [0] * len(sizes)
    for panel in range(PANELS):
        begin, end = panel * width, min(one, (panel + 1) * width)
        of = partial(_series, end=end, width=end - begin, working=working, up=up)
        full, less = ([of(chance, size - cut) for chance, size in zip(chances, sizes, strict=True)] for cut in (0, 1))
        multiply = partial(_truncated_product, working=working, up=up)
        for kind, others in enumerate(_all_but_one(full, less, multiply, [one] + [0] * TERMS)):
            share = sum(Fraction(coefficient, r + 1) for r, coefficient in enumerate(others))
            integral = Fraction(end - begin, one) * (share + missed * one * up)
            if up and panel == PANELS - 1:
                integral += Fraction(others[0] * (one - end), one)
            totals[kind] += ceil(integral) if up else int(integral)
        if end == one:
            break
    return totals


def _series(chance: ScaledBounds, count: int, *, end: int, width: int, working: int, up: bool) -> Series:
    """Return bounds on the coefficients of ((1 − b·p) + w·p·s)^count, over 2^working."""
    low, high = chance
    one = 1 << working
    stay = max(0, one - _rounded(end * (low if up else high), working, not up))
    move = _rounded(width * (high if up else low), working, up)
    coefficients = []
    for r in range(min(TERMS, count) + 1):
        bound = power_bounds(Fraction(stay, one), count - r, working)[up] if stay else Fraction(count == r)
        stays = ceil(bound * one) if up else int(bound * one)
        coefficients.append(_rounded(comb(count, r) * move**r * stays, r * working, up))
    return coefficients + [0] * (TERMS + 1 - len(coefficients))


def _rounded(value: int, bits: int, up: bool) -> int:
    return -(-value >> bits) if up else value >> bits


def _all_but_one(
    full: list[Series], less: list[Series], multiply: Callable[[Series, Series], Series], one: Series
) -> list[Series]:
    """Return for each kind the product of the other kinds' series and of its own series with one coin less."""
    before = accumulate(full[:-1], multiply, initial=one)
    behind = list(accumulate(full[:0:-1], multiply, initial=one))[::-1]
    return [multiply(multiply(left, own), right) for left, own, right in zip(before, less, behind, strict=True)]


def _product(one: Series, other: Series) -> Series:
    product = [0] * (len(one) + len(other) - 1)
    for at, coefficient in enumerate(one):
        for beside, factor in enumerate(other, at):
            product[beside] += coefficient * factor
    return product


def _truncated_product(one: Series, other: Series, *, working: int, up: bool) -> Series:
    sums = (sum(one[at] * other[r - at] for at in range(r + 1)) for r in range(TERMS + 1))
    return [_rounded(total, working, up) for total in sums]
