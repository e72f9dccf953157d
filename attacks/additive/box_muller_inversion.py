"""Box-Muller inversion: a pair of noisy numbers determines its two uniforms, and so the true values it excludes.

A pair (y₁, y₂) is released as fl(f + noise). For a candidate f it determines the uniforms up to a few steps of 2^−53.
The attack computes the mechanism's own arithmetic on all of these uniforms. If none yields (y₁, y₂), f is impossible.
The 2^106 pairs of uniforms reach few pairs of floats, so the wrong f is nearly always impossible.

For noise of another method or another float type, the event happens nearly always in both worlds and shows nothing.
This does not make the polar method sound: it needs its own inversion.

Source: Jin, McMurtry, Rubinstein, Ohrimenko 2021 (arXiv:2112.05307), the attack on Box-Muller.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.core.mechanism import Outcomes, Refused
from subnormal.mechanisms.gaussian.naive import TAU, direction, radius
from subnormal.mechanisms.privacy import require_positive

SOURCE = "Jin et al. 2021 (arXiv:2112.05307): inverting Box-Muller pairs"

UNIT = 2.0**-53  # half an ulp of 1, and the step of a uniform
RADIUS_ERROR = 16 * UNIT  # relative: see _brackets
ANGLE_ERROR = 20 * UNIT
CANDIDATES = 1 << 14  # pairs of uniforms that are computed for an outcome; wider brackets exclude nothing
JUDGED = 1 << 11  # pairs judged at a time, so that their candidates stay in the cache
LARGEST = 2.0**400  # of σ, of 1/σ, and of outcomes: up to here no product that matters over- or underflows

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class UnreachableByBoxMuller:
    """The outcome is a pair that `data` plus float64 Box-Muller noise of standard deviation σ cannot equal.

    Refusals, and outcomes that are not pairs of numbers up to 2^400, are not marked.
    """

    data: tuple[float, float]
    sigma: float

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        pairs = as_pairs(outcomes)
        judged = (np.abs(pairs) <= LARGEST).all(axis=1)
        marked = np.zeros(len(pairs), dtype=np.bool_)
        given = np.ascontiguousarray(pairs[judged]).view(np.complex128)[:, 0]
        distinct, place = np.unique(given, return_inverse=True)  # pairs on a grid recur; no sign of a zero matters
        marked[judged] = ~reachable(distinct.view(np.float64).reshape(-1, 2), self.data, self.sigma)[place]
        return marked

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object: it depends on numpy's logarithm, sine and cosine to the last bit."""
        return {"kind": "unreachable-by-box-muller", "data": list(self.data), "sigma": self.sigma, "portable": False}


@constructor("box-muller-inversion", ({}, {"sigma": 20.0}))
def box_muller_inversion(name: str, sigma: float = 1.0) -> AnyAttack:
    """Return the attack: (1, 0) against (0, 0). The event is an outcome that (0, 0) cannot produce.

    sigma: the standard deviation, in units of the data. Raises ValueError unless it is positive and finite.
    """
    require_positive("sigma", sigma)
    bound = 16.0 * ceil(sigma)
    parameters = GaussianParameters(sigma=sigma, delta=1e-6, sensitivity=1.0, grid=-4, lower=-bound, upper=bound)
    worlds = np.array([1.0, 0.0]), np.array([0.0, 0.0])
    return Attack(
        name=name,
        family="gaussian",
        worlds=lambda: worlds,
        parameters=parameters,
        event=UnreachableByBoxMuller((0.0, 0.0), sigma),
        breaks=("gaussian-naive-float64",),
        source=SOURCE,
        description=(
            "(1, 0) with Alice, (0, 0) without: a pair of noisy numbers reveals its uniforms, and these exclude (0, 0)"
        ),
        slow=sigma != 1,
    )


def as_pairs(outcomes: Outcomes) -> Floats:
    """Return outcomes as float64 of shape (outcomes, 2): NaN for a refusal, and for an outcome that is not a pair."""
    if isinstance(outcomes, np.ndarray) and outcomes.ndim == 2 and outcomes.shape[1] == 2:
        return outcomes.astype(np.float64, copy=False)
    pairs = np.full((len(outcomes), 2), np.nan)
    for at, outcome in enumerate(outcomes):
        if not isinstance(outcome, Refused) and np.shape(outcome) == (2,):
            pairs[at] = outcome
    return pairs


def reachable(pairs: Floats, data: Floats | tuple[float, float], sigma: float) -> NDArray[np.bool_]:
    """Return for each pair whether data + float64 Box-Muller noise can equal it: shapes (n, 2) -> (n,).

    The numbers are at most 2^400. False is certain. True is certain too, unless the noise is so small against the data
    that its uniforms cannot be bracketed closely. Raises ValueError for a sigma outside [2^-400, 2^400].
    """
    if not 1 / LARGEST <= sigma <= LARGEST:
        raise ValueError(f"sigma must be between 2^-400 and 2^400, got {sigma}")
    found = np.empty(len(pairs), dtype=np.bool_)
    for start in range(0, len(pairs), JUDGED):
        part = slice(start, start + JUDGED)
        found[part] = _reachable(pairs[part], np.asarray(data, dtype=np.float64), sigma)
    return found


class _Brackets(NamedTuple):
    """Candidate uniforms of n pairs, in steps of 2^−53: the first and their number, each of shape (n,)."""

    first_radial: Floats
    radial: NDArray[np.int64]
    first_angular: Floats
    angular: NDArray[np.int64]


def _brackets(pairs: Floats, data: Floats, sigma: float) -> _Brackets:
    """Return brackets that contain all uniforms that lead to these pairs.

    In units of 2^−53, a function being within an ulp, which is 2 units relative. The float σ·√(−2 ln U₁) is off by 1
    for the logarithm (the root halves it), 1 for the root, 1 for the product; the noise by 2 more for cosine or sine, 1
    for the product: 6. The addition of the data is off by half the gap of floats at the outcome, `blur`. Here the
    difference is off by 1, the length by 2, its quotient by 1, the edges and their squares by 3: 13, and 16 are taken;
    the exponential by a step at most.
    The noise's angle is off by 3 for the separate errors of cosine and sine, 4 for the float 2πU₂ < 8, 3 for π in it;
    here by 1 for the difference, 4 for the arc tangent: 15, and 20 are taken; its quotient by 2π is off by 2 steps.
    """
    noise = pairs - data
    length = np.hypot(noise[:, 0], noise[:, 1])
    blur = np.hypot(*np.spacing(np.abs(pairs)).T) / 2
    reach = length / sigma
    slack = reach * RADIUS_ERROR + 1.01 * blur / sigma
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        edges = reach + slack, np.maximum(reach - slack, 0)
        least, most = (np.exp(-np.square(edge) / 2) / UNIT for edge in edges)
        blurred = np.where(2 * blur < length, 1.1 * blur / length, np.inf)  # at least the arc sine
    first, last = np.clip(np.floor(least) - 1, 1, 1 / UNIT), np.clip(np.ceil(most) + 1, 1, 1 / UNIT)
    middle = np.rint(np.arctan2(noise[:, 1], noise[:, 0]) / TAU / UNIT)
    width = np.ceil(np.minimum((ANGLE_ERROR + blurred) / TAU / UNIT + 2, CANDIDATES))
    radial = np.where(most < 0.5, 0, last - first + 1)  # there is no uniform below a step: the noise is too large
    return _Brackets(first, radial.astype(np.int64), middle - width, (2 * width + 1).astype(np.int64))


def _reachable(pairs: Floats, data: Floats, sigma: float) -> NDArray[np.bool_]:
    first_radial, radial, first_angular, angular = _brackets(pairs, data, sigma)
    found = radial.astype(np.float64) * angular > CANDIDATES
    radial[found] = angular[found] = 0
    owner = np.repeat(np.arange(len(pairs)), radial)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(radial) - radial, radial)
    lengths = radius((first_radial[owner] + step) * UNIT, sigma)
    first, second, least = pairs[owner, 0], pairs[:, 1], angular[radial > 0].min(initial=CANDIDATES)
    for turn in range(angular.max(initial=0)):
        if turn >= least:
            left = angular[owner] > turn
            owner, lengths, first = owner[left], lengths[left], first[left]
        place = (first_angular + turn) * UNIT % 1.0
        cosine, sine = direction(np.where(place == 0, 1.0, place))
        sums = cosine[owner]
        sums *= lengths
        sums += data[0]
        candidates = np.flatnonzero(sums == first)
        of = owner[candidates]
        found[of[data[1] + lengths[candidates] * sine[of] == second[of]]] = True
    return found
