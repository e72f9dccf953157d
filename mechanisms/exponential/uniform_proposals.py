"""One draw among very many outcomes by trials: an outcome proposed uniformly, and accepted with its weight.

The first accepted trial has the law of the weights, and so has a draw from other bits where no trial is accepted.
Trials read few outcomes: only the best utility takes a pass over all of them.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.exponential.cumulative_cells import places_of, slack_of
from subnormal.mechanisms.samplers.exact_comparison import sign_of_sum
from subnormal.mechanisms.samplers.float_weights import Weighing

TRIALS = 1 << 8  # of one draw, whose bits are drawn whatever the data: the bits consumed do not tell what was accepted
FEW = 8  # where less than an eighth of the rows matter, looking through them costs less than trials


def first_accepted(weighing: Weighing, bits: BitSource) -> int | None:
    """Return the outcome of the first accepted trial; None where no trial is, a word is shorter than an index, or few
    rows matter.

    Bits: a word for each proposal, whose first bits are an index, then a word for each trial; and a word more for each
    trial that the bits at hand do not decide, with probability at most 2^−word_bits a trial. A proposal beyond the
    outcomes is not accepted.
    """
    outcomes, known = len(weighing.utilities), bits.word_bits
    spare = known - (outcomes - 1).bit_length()
    drawn = bits.words(2 * TRIALS)
    if spare < 0 or _few_rows_matter(weighing):
        return None
    proposed, words = (drawn[:TRIALS] >> np.uint64(spare)).view(np.int64), drawn[TRIALS:]
    weights = weighing.weigh(weighing.utilities.take(proposed, mode="clip"))
    weights[proposed >= outcomes] = -1.0
    width, slack = 1.0 / (1 << known), slack_of(weighing, 1.0, 1)
    places = places_of(words, known, width)
    for trial in (places < weights + slack).nonzero()[0].tolist():
        certain = places.item(trial) + width + slack <= weights.item(trial)
        outcome = proposed.item(trial)
        if certain or _accepted(weighing, outcome, int(words[trial]), bits):
            return outcome
    return None


def _few_rows_matter(weighing: Weighing) -> bool:
    minima = weighing.minima
    return minima is not None and int(np.count_nonzero(minima <= weighing.limit())) * FEW < len(minima)


def _accepted(weighing: Weighing, outcome: int, word: int, bits: BitSource) -> bool:
    """Return whether U, which begins with a word, lies below the weight relative to the best: by integers."""
    distance = Fraction(weighing.utilities[outcome].item()) - Fraction(weighing.best.item())
    known = bits.word_bits
    while distance > 0:
        if sign_of_sum([(Fraction(0), word), (distance, -(1 << known))], weighing.scale.rate) >= 0:
            return False
        if sign_of_sum([(Fraction(0), word + 1), (distance, -(1 << known))], weighing.scale.rate) <= 0:
            break
        word, known = word << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits
    return True
