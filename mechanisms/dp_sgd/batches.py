"""Which records are in the batch of each step: by exact coins, or by an exact shuffle. And the laws of batch sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import permutations
from math import factorial, floor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters
from subnormal.mechanisms.samplers.normalized import uniform_below

Sums: TypeAlias = tuple[int, ...]  # of a batch, over its records, for each column
History: TypeAlias = tuple[Sums, ...]  # the sums of several batches
SUMS_MAX = 1 << 12  # different sums of a batch that a law follows
SUMS_BITS_MAX = 1 << 24  # of their probabilities together
SHUFFLED_MAX = 7  # records whose orders a law counts


def coins(rate: Fraction, bits: BitSource, n: int) -> NDArray[np.bool_]:
    """Return n coins that are True with probability exactly `rate`, shape (n,).

    A word is compared with the first digits of the rate; where they are equal, the next word decides.
    """
    if rate in (0, 1):
        return np.full(n, rate == 1)
    digits = rate * (1 << bits.word_bits)
    first = floor(digits)
    words = bits.words(n)
    heads: NDArray[np.bool_] = words < np.uint64(first)
    ties = np.flatnonzero(words == np.uint64(first))
    if len(ties):
        heads[ties] = coins(digits - first, bits, len(ties))
    return heads


def poisson(parameters: DpSgdParameters, records: int, bits: BitSource, n: int) -> NDArray[np.bool_]:
    """Return which records are in the batch of each step, in n runs: each with the probability of the rate.

    Shape (n, steps, records).
    """
    shape = n, parameters.steps, records
    return coins(Fraction(parameters.rate), bits, n * parameters.steps * records).reshape(shape)


def shuffled(parameters: DpSgdParameters, records: int, bits: BitSource, n: int) -> NDArray[np.bool_]:
    """Return the same for batches that are pieces of a random order of the records, a new order in each epoch.

    The last batch of an epoch may be smaller.
    """
    size = parameters.batch_size
    each = max(1, -(-records // size))  # batches of an epoch
    chosen = np.zeros((n, parameters.steps, records), dtype=np.bool_)
    for first in range(0, parameters.steps, each):
        batches = np.empty((n, records), dtype=np.int64)  # of each record
        np.put_along_axis(batches, _orders(records, bits, n), np.arange(records)[None, :] // size, axis=1)
        for step in range(first, min(first + each, parameters.steps)):
            chosen[:, step] = batches == step - first
    return chosen


def _orders(records: int, bits: BitSource, n: int) -> NDArray[np.int64]:
    """Return n random orders, all equally likely, shape (n, records). Source: Fisher and Yates 1938."""
    orders = np.tile(np.arange(records), (n, 1))
    rows = np.arange(n)
    for last in range(records - 1, 0, -1):
        other = uniform_below(np.full(n, last + 1), last.bit_length(), bits)
        orders[rows, last], orders[rows, other] = orders[rows, other], orders[rows, last]
    return orders


def poisson_sums(columns: NDArray[np.int64], rate: Fraction) -> Mapping[Sums, Fraction]:
    """Return the probabilities of the sums of a batch by Poisson sampling. columns: shape (records, columns).

    Raises NoLawError for more than 2^12 different sums, or probabilities of more than 2^24 bits together.
    """
    unit = rate.denominator ** len(columns)
    taken, left = rate.numerator, rate.denominator - rate.numerator
    law = {(0,) * columns.shape[1]: 1}  # over the denominator of the rate for each record so far
    for record in columns.tolist():
        added: dict[Sums, int] = {}
        for sums, chance in law.items():
            for share, moved in ((left, sums), (taken, tuple(map(sum, zip(sums, record, strict=True))))):
                if share:
                    added[moved] = added.get(moved, 0) + chance * share
        if len(added) > SUMS_MAX:
            raise NoLawError(f"a batch of {len(columns)} records has more than {SUMS_MAX} different sums")
        if len(added) * unit.bit_length() > SUMS_BITS_MAX:
            raise NoLawError(
                f"{len(added)} probabilities of {unit.bit_length()} bits are more than {SUMS_BITS_MAX} bits"
            )
        law = added
    return {sums: Fraction(chance, unit) for sums, chance in law.items()}


def shuffled_sums(columns: NDArray[np.int64], parameters: DpSgdParameters) -> Mapping[History, Fraction]:
    """Return the probabilities of the sums of all batches of one epoch, in their order.

    Raises NoLawError for more than 7 records, or more steps than an epoch has.
    """
    size, records = parameters.batch_size, columns.tolist()
    if len(records) > SHUFFLED_MAX or parameters.steps * size > len(records) + size - 1:
        raise NoLawError(f"the orders of {len(records)} records over {parameters.steps} steps are not counted")
    counts = Counter(
        tuple(
            tuple(map(sum, zip(*order[step * size : (step + 1) * size], strict=True)))
            for step in range(parameters.steps)
        )
        for order in permutations(records)
    )
    return {sums: Fraction(count, factorial(len(records))) for sums, count in counts.items()}
