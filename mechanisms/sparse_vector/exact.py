"""The discrete sparse vector mechanism, exactly, in base 2; `with_gap` also tells how far above the threshold.

All is counted in steps of a grid γℤ, q being query − threshold, rounded and clamped to [lower, upper]. B₁ = 2^−r₁ and
B₂ = 2^−r₂ are exact dyadics, r₁ and r₂ the rates of a step. The threshold's noise ρ has weights B₁^|k|, clamped to
[lower − w, upper + w]; a query is answered ⊤ when noise of weights B₂^|k| is at least ρ − q, clamped to [−v, v]; after
the c-th ⊤ nothing is answered.

**Claim.** For queries at most d steps apart in two worlds, d·r₁ + 2cd·r₂ bits, if v ≤ w. (η₁ + η₂ with r₁ = η₁/d and
r₂ = η₂/(2cd).) A query that moves by Δ moves by d = ⌈Δ/γ⌉ steps: rounding costs a Δ that is not a whole number of steps
what is missing to the next one, and nothing else. Bounds cost accuracy, never privacy.

**Proof.** The textbook's pairs ρ with ρ + d, which a finite ρ has not at its largest value. But [q−v, q+v] lies within
the bounds of ρ, so clamping to the one after the other is clamping to the one alone: ρ may as well be unbounded, and
each of its values then has its partner, with a probability at most B₁^−d times as small. t = clamp(ρ − q) never falls
from ρ to ρ + d, when q grows by d at most: so ⊥ is no less likely. And t grows by 2d at most, by which every
interval of the answers' noise loses at most a factor B₂^2d: so does each ⊤, and each gap. With v > w, ρ stays at its
bound in one world where it would pass it in the other, and every ⊥ then costs anew: `UNCLAMPED`, whose claim is false.

Side channels: a word a run and a word for every answered query, rarely more. Their number is the outcome's length.
Source: the working paper on the discrete sparse vector mechanism (GetSum, ClampedDiscLap, LazyThreshold and
CondLazyThreshold); Lyu, Su, Li 2017 (arXiv:1603.01699), Algorithm 1, for the textbook's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.privacy import Claim, Eta, compose, noise_claim, noise_eta
from subnormal.mechanisms.samplers import discrete_laplace
from subnormal.mechanisms.sparse_vector import answer_law
from subnormal.mechanisms.sparse_vector.answer_law import Answer, Weights
from subnormal.mechanisms.sparse_vector.family import (
    BELOW,
    Answers,
    Number,
    Queries,
    SparseVectorParameters,
    answered,
    on_grid,
    outcomes,
)
from subnormal.mechanisms.sparse_vector.lazy_threshold import lazy_threshold


@dataclass(frozen=True, slots=True)
class Setting:
    """All that is public, in steps: r₁, r₂, c, the bounds of q, w = width, v = clamp, and the gaps to distinguish.

    gaps: ascending, from 1; None: outcomes hold no gaps. Raises ValueError for gaps that do not ascend from above 0,
    and for a number below its least.
    """

    threshold_rate: Eta
    answer_rate: Eta
    positives: int
    lower: int
    upper: int
    width: int
    clamp: int
    gaps: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name, least in (("positives", 1), ("upper", self.lower), ("width", 0), ("clamp", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if any(one >= other for one, other in pairwise(self.offsets)):
            raise ValueError(f"gaps must be positive and ascend, got {self.gaps}")

    @property
    def offsets(self) -> tuple[int, ...]:
        """How far above the noisy threshold the answers' noise is tested, ascending."""
        return (0, *(self.gaps or ()))


def claim(setting: Setting, apart: int) -> Claim:
    """Return the promise for queries at most `apart` steps apart: d·r₁ + 2cd·r₂ bits, in nats, rounded up.

    Raises ValueError where ρ may end before the clamp does: then there is none.
    """
    if setting.clamp > setting.width:
        raise ValueError(f"clamp must be at most width = {setting.width}, got {setting.clamp}")
    answers = noise_claim(setting.answer_rate, 2 * setting.positives * apart)
    return compose(noise_claim(setting.threshold_rate, apart), answers)


def sample(queries: Sequence[int], setting: Setting, bits: BitSource, n: int) -> list[Answers]:
    """Return n outcomes for the stream of q in steps: 0 and 1, or, with gaps, 0 and (1, gap) one after the other.

    A gap is the greatest of 0 and the gaps that the noise has above the threshold, in steps.
    """
    return outcomes(codes(queries, setting, bits, n), _released(setting))


def codes(queries: Sequence[int], setting: Setting, bits: BitSource, n: int) -> NDArray[np.int64]:
    """Return the gap of every answer in steps, BELOW or STOPPED: shape (n, queries).

    Raises ValueError for a negative n.
    """
    require_draws(n)
    lazy = lazy_threshold(setting.answer_rate, setting.clamp + setting.offsets[-1])
    code_of_level = np.array([BELOW, *setting.offsets])
    noise = discrete_laplace.laplace(setting.threshold_rate).draw(bits, n)
    np.clip(noise, setting.lower - setting.width, setting.upper + setting.width, out=noise)

    def answer(noisy: NDArray[np.int64], query: int) -> NDArray[np.int64]:
        thresholds = np.clip(noisy - query, -setting.clamp, setting.clamp)
        return code_of_level[lazy.levels(thresholds, setting.offsets, bits)]

    return answered(_clamped(queries, setting), noise, answer, setting.positives)


def law(queries: Sequence[int], setting: Setting) -> Law[Answers]:
    """Return the exact distribution of `sample`. Raises NoLawError where it is too large: see `require_small`."""
    return _law(queries, setting, None)


def _law(queries: Sequence[int], setting: Setting, gaps: Mapping[int, Number] | None) -> Law[Answers]:
    first, last = setting.lower - setting.width, setting.upper + setting.width
    # laplace_exact clamps its center too, and that of ρ is 0 wherever the bounds lie: so they hold it here.
    low, high = min(first, 0), max(last, 0)
    noise = laplace_exact.law(0, setting.threshold_rate, lower=low, upper=high)
    weights = np.zeros(last - first + 1, dtype=object)
    np.add.at(weights, np.clip(np.arange(low, high + 1), first, last) - first, np.array(noise.low, dtype=object))
    lazy = lazy_threshold(setting.answer_rate, setting.clamp + setting.offsets[-1])
    kinds, bits = len(setting.offsets), lazy.total.bit_length()
    answer_law.require_small(len(queries), kinds, setting.positives, len(weights), bits)
    reached = np.array(lazy.sums, dtype=object)
    released, answers_of_queries = _released(setting, gaps), []
    for query in _clamped(queries, setting):
        thresholds = np.clip(np.arange(first, last + 1) - query, -setting.clamp, setting.clamp)
        at_least = [reached[thresholds + lazy.reach + offset] for offset in setting.offsets]
        beyond = [*at_least[1:], 0 * at_least[0]]
        parts = [Answer((0,), False, _exactly(lazy.total - at_least[0]))]
        for gap, one, further in zip(setting.offsets, at_least, beyond, strict=True):
            parts.append(Answer(released(gap), True, _exactly(one - further)))
        answers_of_queries.append(parts)
    return answer_law.law(_exactly(weights), noise.denominator, answers_of_queries, lazy.total, setting.positives)


def _released(setting: Setting, gaps: Mapping[int, Number] | None = None) -> Callable[[int], Answers]:
    """Return the outcome's entries for a ⊤ by its gap in steps: 1, and with gaps their number in `gaps`."""
    if setting.gaps is None:
        return lambda gap: (1,)
    return lambda gap: (1, gap if gaps is None else gaps[gap])


def _exactly(weights: NDArray[np.object_]) -> Weights:
    return Weights(weights, weights)


def _clamped(queries: Sequence[int], setting: Setting) -> list[int]:
    return [min(max(query, setting.lower), setting.upper) for query in queries]


def _setting(parameters: SparseVectorParameters, *, with_gap: bool, clamped: bool = True) -> Setting:
    """Return the public values in steps, with the largest rates that keep ε₁ and ε₂."""
    first, second = parameters.shares
    lower, upper, width = (parameters.steps(bound) for bound in (parameters.lower, parameters.upper, parameters.width))
    return Setting(
        threshold_rate=noise_eta(first, parameters.apart),
        answer_rate=noise_eta(second, 2 * parameters.positives * parameters.apart),
        positives=parameters.positives,
        lower=lower,
        upper=upper,
        width=width,
        clamp=width if clamped else upper - lower + width,  # then it never binds
        gaps=tuple(map(parameters.steps, parameters.gaps)) if with_gap else None,
    )


def _member(name: str, *, with_gap: bool = False, clamped: bool = True) -> _Member:
    setting_of = lru_cache(maxsize=64)(partial(_setting, with_gap=with_gap, clamped=clamped))

    def gaps(parameters: SparseVectorParameters) -> dict[int, Number]:
        return dict(zip(map(parameters.steps, (0, *parameters.gaps)), (0, *parameters.gaps), strict=True))

    def sample_member(data: Queries, parameters: SparseVectorParameters, bits: BitSource, n: int) -> list[Answers]:
        setting = setting_of(parameters)
        drawn = codes(on_grid(data, parameters), setting, bits, n)
        return outcomes(drawn, _released(setting, gaps(parameters)))

    def law_member(data: Queries, parameters: SparseVectorParameters) -> Law[Answers]:
        return _law(on_grid(data, parameters), setting_of(parameters), gaps(parameters))

    return Mechanism(name, "sparse-vector", sample_member, epsilon_claim, law_member, exact=clamped)


_Member = Mechanism[Queries, SparseVectorParameters, Answers]

EXACT = _member("sparse-vector-exact")
WITH_GAP = _member("sparse-vector-exact-gap", with_gap=True)
UNCLAMPED = _member("sparse-vector-unclamped", clamped=False)
