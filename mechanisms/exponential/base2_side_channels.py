"""The members that run Ilvento's mechanism: the same outcomes to the last bit, with different side channels.

Algorithm 2 with one try or ten, its elimination to the letter, Algorithm 4, and a precision that is raised when the
data ask for it. Only the first meets attacks on outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.domain import PERMUTATION, SHIFT
from subnormal.mechanisms.core.mechanism import InSteps, Mechanism, NoLawError, Outcomes, of_member
from subnormal.mechanisms.core.options import with_options
from subnormal.mechanisms.core.validation import Utilities, epsilon_claim
from subnormal.mechanisms.exponential import base2, exact_ceiling
from subnormal.mechanisms.exponential.base2 import (
    PrecisionMethod,
    Sampler,
    clamped,
    numerators,
    weights,
    working_precision,
)
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.numerics.mpfr import InexactError, Real, cumulative, exact
from subnormal.mechanisms.privacy import Claim, Eta, selection_claim, selection_eta
from subnormal.mechanisms.samplers import normalized, trace_laws
from subnormal.mechanisms.samplers.trace_laws import Leaf, TraceLaw

RUNS = 4_000  # where a draw costs thousands of random bits
MANY = 1 << 30  # times as many: no bound that anyone meets
WEIGHT_BITS_MAX = 1 << 31  # running sums beyond a quarter of a gigabyte are not sampled: the law decides
FIRST_PRECISION = 32  # bits that a precision on demand begins with: those of the rate
NAME, BUDGET = "exponential-base2", "budget"


def trace_law(
    utilities: ArrayLike,
    eta: Eta,
    *,
    limits: Limits,
    precision_method: PrecisionMethod = "theoretical",
    sampler: Sampler = "all-bits",
    minimum_tries: int = 1,
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
    precision = working_precision(eta, limits, precision_method)
    return trace_laws.all_bits(leaves, sums[-1], width, precision, minimum_tries)


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
    require_draws(n)
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


_Rate = Callable[[ExponentialParameters], Eta]
_Claim = Callable[[ExponentialParameters, Utilities, Utilities], Claim]
_Member = Mechanism[Utilities, ExponentialParameters, int]


def base2_member(
    eta: str = BUDGET, precision: str = "theoretical", sampler: str = "all-bits", tries: int = 1
) -> _Member:
    """Return exponential-base2 with options. One with another sampler or more tries is a variant: it draws the same
    outcomes, and its side channels differ.

    eta: 2^−η as `Eta.parse` reads it, such as "3/4^2": the claim is then that of this rate, whatever the budget of an
    attack is. "budget": the largest rate that keeps the budget. precision: "theoretical" or "empirical". sampler: of
    `base2.sample`. tries: at least so many. Raises ValueError for other values.
    """
    for option, value, known in (("precision", precision, PrecisionMethod), ("sampler", sampler, Sampler)):
        if value not in get_args(known):
            raise ValueError(f"{option} must be one of {', '.join(get_args(known))}, got {value!r}")
    if tries < 1 or (tries > 1 and sampler != "all-bits"):
        raise ValueError(f"tries must be {'at least 1' if tries < 1 else '1 unless sampler=all-bits'}, got {tries}")
    rate, claim = (member_eta, epsilon_claim) if eta == BUDGET else _fixed(Eta.parse(eta))
    method: Any = {} if precision == "theoretical" else {"precision_method": precision}
    sampling: Any = {"sampler": sampler} if sampler != "all-bits" else {"minimum_tries": tries} if tries > 1 else {}
    given = {"eta": (eta, BUDGET), "precision": (precision, "theoretical")}
    same = _name(given)  # the one with these outcomes that is no variant
    made = _member(_name(given | {"sampler": (sampler, "all-bits"), "tries": (tries, 1)}), rate, method | sampling)
    if not sampling:
        return replace(made, claim=claim, runs=_runs(rate, MANY), options=base2_member)
    kept = None if tries == 1 else partial(_of_tries, claim, tries)
    return replace(made, claim=claim, variant_of=same, trace_claim=kept)


def _name(given: Mapping[str, tuple[object, object]]) -> str:
    return with_options(NAME, {option: value for option, (value, default) in given.items() if value != default})


def _fixed(eta: Eta) -> tuple[_Rate, _Claim]:
    """Return the rate and the claim of a member whose η is chosen; ⌈Δ⌉ as in `member_eta`."""
    return lambda parameters: eta, lambda parameters, *worlds: selection_claim(eta, ceil(parameters.sensitivity))


def _of_tries(
    claim: _Claim, tries: int, parameters: ExponentialParameters, data_in: Utilities, data_out: Utilities
) -> Claim:
    """Return (ε, 2^−K) for pairs (outcome, tries) with at least K tries. Ilvento 2020, Propositions 3.8 and 3.9.

    With r and r' the worlds' chances that a try is rejected, both below 1/2: at K tries Σ(p(1−r^K) − e^ε·p'(1−r'^K))₊
    is at most (r'^K − r^K)₊, since p ≤ e^ε·p'; beyond K tries there is r^K in all. Together max(r, r')^K < 2^−K.
    """
    return Claim(claim(parameters, data_in, data_out).epsilon, 2.0**-tries)


def _member(
    name: str,
    rate: _Rate,
    options: dict[str, Any],
    sample: Callable[..., Outcomes] | None = None,
    law_of_traces: Callable[..., TraceLaw] = trace_law,
) -> _Member:
    def arguments(parameters: ExponentialParameters) -> tuple[Eta, dict[str, Any]]:
        return rate(parameters), {"limits": parameters.limits, **options}

    def settings(parameters: ExponentialParameters) -> dict[str, str | int]:
        eta, method = rate(parameters), options.get("precision_method", "theoretical")
        return {"eta": eta.text, "precision": working_precision(eta, parameters.limits, method)}

    return Mechanism(
        name,
        "exponential",
        InSteps(of_member(base2.prepared, arguments)) if sample is None else of_member(sample, arguments),
        epsilon_claim,
        lambda data, parameters: base2.law(data, rate(parameters), limits=parameters.limits),
        exact=True,
        runs=_runs(rate),
        trace_law=of_member(law_of_traces, arguments),
        symmetries=(SHIFT, PERMUTATION),
        ceiling=exact_ceiling.by_moves_and_weight(rate),
        settings=settings,
    )


def _runs(rate: _Rate, many: int = 1) -> Callable[[Utilities, ExponentialParameters], int]:
    """Return the runs worth asking. many: so many times as many of integers; of reals each draw rounds anew."""

    def runs(data: Utilities, parameters: ExponentialParameters) -> int:
        precision = working_precision(rate(parameters), parameters.limits)
        if len(data) * precision > WEIGHT_BITS_MAX:
            return 0
        return RUNS * (1 if data.dtype.kind == "f" else many)

    return runs


BASE2 = base2_member()
TEN_TRIES = replace(base2_member(tries=10), name=f"{NAME}-ten-tries")
BIT_BY_BIT = replace(base2_member(sampler="bit-by-bit"), name=f"{NAME}-bit-by-bit")
EARLY_STOP = replace(base2_member(sampler="most-significant-first"), name=f"{NAME}-early-stop")
ON_DEMAND = replace(
    _member(f"{NAME}-precision-on-demand", member_eta, {}, sample_on_demand, trace_law_on_demand),
    variant_of=NAME,
    settings=lambda parameters: {"eta": member_eta(parameters).text},  # its precision depends on the data
)
