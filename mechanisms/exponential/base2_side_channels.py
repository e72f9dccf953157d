"""The members that run Ilvento's mechanism: the same outcomes to the last bit, with different side channels.

Algorithm 2 with one try or ten, its elimination to the letter, Algorithm 4, and a precision that is raised when the
data ask for it. Only the first meets attacks on outcomes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.domain import PERMUTATION, SHIFT
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, of_member
from subnormal.mechanisms.core.validation import Utilities, epsilon_claim
from subnormal.mechanisms.exponential import base2, exact_ceiling
from subnormal.mechanisms.exponential.base2 import Sampler, clamped, numerators, weights, working_precision
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.numerics.mpfr import InexactError, Real, cumulative, exact
from subnormal.mechanisms.privacy import Claim, Eta, selection_eta
from subnormal.mechanisms.samplers import normalized, trace_laws
from subnormal.mechanisms.samplers.trace_laws import Leaf, TraceLaw

RUNS = 4_000  # where a draw costs thousands of random bits
MANY = 1 << 30  # times as many: no bound that anyone meets
WEIGHT_BITS_MAX = 1 << 31  # running sums beyond a quarter of a gigabyte are not sampled: the law decides
FIRST_PRECISION = 32  # bits that a precision on demand begins with: those of the rate
TEN = 10  # tries


def trace_law(
    utilities: ArrayLike, eta: Eta, *, limits: Limits, sampler: Sampler = "all-bits", minimum_tries: int = 1
) -> TraceLaw:
    """Return the law of (index, Trace) of one call of `base2.sample` for one draw, at the working precision
    that limits and η fix. Integer utilities; NoLawError for others, whose rounding takes bits of its own.

    Algorithm 2: the total weight T lies above 2^(k−1), so a try is rejected with probability 1 − T/2^k < 1/2 whatever
    is chosen: tries are geometric and independent of the outcome.
    """
    sums, width = _grid(utilities, eta, limits)
    if sampler == "bit-by-bit":
        return trace_laws.bit_by_bit(sums, width)
    leaves = _at_once(sums) if sampler == "all-bits" else trace_laws.closing(sums, width, dummy=False)
    return trace_laws.all_bits(leaves, sums[-1], width, working_precision(eta, limits), minimum_tries)


def _grid(utilities: ArrayLike, eta: Eta, limits: Limits) -> tuple[list[int], int]:
    """Return the running sums of the weights, as integers in the unit of the least of them, and the width of a draw."""
    vector = clamped(utilities, limits)
    if vector.dtype.kind != "i":
        raise NoLawError("the law of traces is that of integer utilities")
    lowest = eta.x ** (eta.z * (int(vector.min()) - limits.utility_min))  # the weights themselves, not in proportion
    return trace_laws.running_sums(lowest * numerator for numerator in numerators(vector, eta))


def _at_once(sums: list[int]) -> list[Leaf]:
    return [Leaf(index, 0, end - begin) for index, (begin, end) in enumerate(zip([0, *sums], sums, strict=False))]


def sample_on_demand(utilities: ArrayLike, eta: Eta, bits: BitSource, n: int, *, limits: Limits) -> NDArray[np.int64]:
    """Return n indices as `base2.sample` does for integer utilities, at a precision that the data decide.

    Broken on purpose: the precision begins at `FIRST_PRECISION` and doubles until the weights and their sums are exact,
    so that the passes (`steps`) and the bits of a try tell which utilities there are. What it lacks is Algorithm 1:
    a precision from public values only.
    """
    precision, sums = _on_demand(clamped(utilities, limits) - limits.utility_min, eta, bits)
    return np.array(normalized.all_bits(sums, bits, precision, n), dtype=np.int64)


def _on_demand(shifted: NDArray[np.int64], eta: Eta, bits: BitSource | None = None) -> tuple[int, list[Real]]:
    precision = FIRST_PRECISION
    while True:
        if bits is not None:
            bits.steps += 1
        try:
            with exact(precision):
                return precision, cumulative(weights(shifted, eta, precision))
        except InexactError:
            precision *= 2


def trace_law_on_demand(utilities: ArrayLike, eta: Eta, *, limits: Limits) -> TraceLaw:
    """Return the law of (index, Trace) of one draw of `sample_on_demand`, at the precision that the data decide.

    Raises NoLawError where the precision that it reaches need not decide a draw.
    """
    sums, width = _grid(utilities, eta, limits)
    precision, _ = _on_demand(clamped(utilities, limits) - limits.utility_min, eta)
    if any(end % (1 << max(0, width - precision)) for end in sums):
        raise NoLawError(f"{precision} bits need not decide a draw of these utilities")
    passes = (precision // FIRST_PRECISION).bit_length()
    return trace_laws.all_bits(_at_once(sums), sums[-1], width, precision, steps=passes)


def member_eta(parameters: ExponentialParameters) -> Eta:
    """Return the rate that keeps the budget: for ⌈Δ⌉, because real utilities Δ apart may round to integers ⌈Δ⌉ apart.

    Lemma 3.5 is about integers: for fixed thresholds, 0.5 and 1 at Δ = 1/2 may be rounded to 0 and 1.
    """
    return selection_eta(parameters.epsilon, ceil(parameters.sensitivity))


def _law(data: Utilities, parameters: ExponentialParameters) -> Law[int]:
    return base2.law(data, member_eta(parameters), limits=parameters.limits)


def _runs(data: Utilities, parameters: ExponentialParameters) -> int:
    precision = working_precision(member_eta(parameters), parameters.limits)
    return RUNS if len(data) * precision <= WEIGHT_BITS_MAX else 0


def _runs_together(data: Utilities, parameters: ExponentialParameters) -> int:
    """Return the runs of draws whose first bits are taken together; of reals each draw rounds anew."""
    return _runs(data, parameters) * (1 if data.dtype.kind == "f" else MANY)


_Sample = Callable[..., NDArray[np.int64]]
_TraceLaw = Callable[..., TraceLaw]
_Runs = Callable[[Utilities, ExponentialParameters], int]
_Member = Mechanism[Utilities, ExponentialParameters, int]


def _member(
    name: str, sample: _Sample, law_of_traces: _TraceLaw, options: dict[str, Any], runs: _Runs = _runs, **fields: Any
) -> _Member:
    def arguments(parameters: ExponentialParameters) -> tuple[Eta, dict[str, Any]]:
        return member_eta(parameters), {"limits": parameters.limits, **options}

    return Mechanism(
        name,
        "exponential",
        of_member(sample, arguments),
        epsilon_claim,
        _law,
        exact=True,
        runs=runs,
        trace_law=of_member(law_of_traces, arguments),
        symmetries=(SHIFT, PERMUTATION),
        ceiling=exact_ceiling.by_moves_and_weight(member_eta),
        **fields,
    )


def _of_ten_tries(parameters: ExponentialParameters, data_in: Utilities, data_out: Utilities) -> Claim:
    """Return (ε, 2^−K) for pairs (outcome, tries) with at least K tries. Ilvento 2020, Propositions 3.8 and 3.9.

    With r and r' the worlds' chances that a try is rejected, both below 1/2: at K tries Σ(p(1−r^K) − e^ε·p'(1−r'^K))₊
    is at most (r'^K − r^K)₊, since p ≤ e^ε·p'; beyond K tries there is r^K in all. Together max(r, r')^K < 2^−K.
    """
    return Claim(parameters.epsilon, 2.0**-TEN)


BASE2 = _member("exponential-base2", base2.sample, trace_law, {}, _runs_together)
TEN_TRIES = _member(
    "exponential-base2-ten-tries",
    base2.sample,
    trace_law,
    {"minimum_tries": TEN},
    trace_claim=_of_ten_tries,
    variant_of=BASE2.name,
)
BIT_BY_BIT = _member(
    "exponential-base2-bit-by-bit", base2.sample, trace_law, {"sampler": "bit-by-bit"}, variant_of=BASE2.name
)
EARLY_STOP = _member(
    "exponential-base2-early-stop",
    base2.sample,
    trace_law,
    {"sampler": "most-significant-first"},
    variant_of=BASE2.name,
)
ON_DEMAND = _member(
    "exponential-base2-precision-on-demand", sample_on_demand, trace_law_on_demand, {}, variant_of=BASE2.name
)
