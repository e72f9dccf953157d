"""OpenDP (https://opendp.org): noise from exact discrete samplers on exact rationals, and noisy max.

Ints are i64, floats f64 on the grid of all float64. One call on a vector adds noise to many copies of a number, because
OpenDP draws it for each entry independently. Releases of a mapping are batched in the same way.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, cast

import numpy as np

from subnormal.mechanisms.additive.family import (
    Data,
    GaussianParameters,
    LaplaceParameters,
    gaussian_claim,
    laplace_claim,
)
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes
from subnormal.mechanisms.core.validation import Utilities, epsilon_claim
from subnormal.mechanisms.exponential.family import ExponentialParameters
from subnormal.mechanisms.libraries import (
    HELD,
    drawn,
    released_at_once,
    takes_integers,
    takes_numbers,
    takes_utilities,
    up_to,
)
from subnormal.mechanisms.privacy import ApproximateZcdp, Claim, Eta, Zcdp
from subnormal.mechanisms.threshold.parameters import Data as Mapping
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

PACKAGE = "opendp"
DRAWS = 200_000  # utilities that noisy max compares in half a second


def _laplace(data: Data, parameters: LaplaceParameters, bits: BitSource, n: int) -> Outcomes:
    measurement = _additive("make_laplace", "l1_distance", "f64", float(parameters.scale))
    return released_at_once(measurement, data, n, float)


def _geometric(data: Data, parameters: LaplaceParameters, bits: BitSource, n: int) -> Outcomes:
    measurement = _additive("make_geometric", "l1_distance", "i64", float(parameters.scale))
    return released_at_once(measurement, data, n, int)


def _gaussian(data: Data, parameters: GaussianParameters, bits: BitSource, n: int) -> Outcomes:
    measurement = _additive("make_gaussian", "l2_distance", "f64", float(parameters.sigma))
    return released_at_once(measurement, data, n, float)


def _noisy_max(data: Utilities, parameters: ExponentialParameters, bits: BitSource, n: int) -> Outcomes:
    """The least utility plus exponential noise of scale 2Δ/ε: `negate`, as lower is better here."""
    integers = data.dtype.kind == "i"
    measurement = _selection("i64" if integers else "f64", 2 * parameters.sensitivity / parameters.epsilon)
    utilities = data.tolist()
    return drawn(lambda: measurement(utilities), n, np.int64)


def _threshold(data: Mapping, parameters: ThresholdParameters, bits: BitSource, n: int) -> Outcomes:
    """One call for the entries of all runs, each under its run's number and its key's place."""
    number, keys = int if parameters.integers else float, sorted(data)
    entries = {f"{run} {at}": number(data[key]) for run in range(n) for at, key in enumerate(keys)}
    found: list[list[Any]] = [[] for _ in range(n)]
    for name, value in (_thresholded(parameters)(entries) if entries else {}).items():
        run, at = map(int, name.split())
        found[run].append((keys[at], value))
    return [tuple(sorted(items)) for items in found]


def _threshold_claim(parameters: ThresholdParameters, data_in: Mapping, data_out: Mapping) -> Claim:
    """OpenDP's own map. Of integers its δ leaves out P(noise = T − Δ_∞), though what is T is kept (issue 2922)."""
    keys, *apart = parameters.sensitivities
    number = int if parameters.integers else float
    loss, delta = _thresholded(parameters).map((keys, *map(number, apart)))
    if parameters.noise == "laplace":
        return Claim(loss, delta)
    return ApproximateZcdp(Zcdp(loss).epsilon(delta), delta, loss)


@lru_cache(maxsize=64)
def _thresholded(parameters: ThresholdParameters) -> Any:
    from opendp import domains, measurements, metrics

    _allow_what_is_contributed()
    laplace, number = parameters.noise == "laplace", parameters.values.replace("float", "f").replace("int", "i")
    metric = getattr(metrics, "l01inf_distance" if laplace else "l02inf_distance")
    return getattr(measurements, f"make_{parameters.noise}_threshold")(
        domains.map_domain(domains.atom_domain(T="String"), _atoms(number)),
        metric(metrics.absolute_distance(T=number)),
        scale=float(cast("float", parameters.scale)),
        threshold=(int if parameters.integers else float)(parameters.threshold),
        k=None if parameters.integers else max(parameters.grid, -1074 if number == "f64" else -149),
    )


def _takes_mapping(data: Mapping, parameters: ThresholdParameters) -> bool:
    """Return whether these are few values of its types; a threshold for floats must be positive."""
    positive = parameters.integers or parameters.threshold > 0
    return positive and not isinstance(parameters.scale, Eta) and all(abs(value) <= HELD for value in data.values())


@lru_cache(maxsize=64)
def _additive(make: str, metric: str, number: str, scale: float) -> Any:
    from opendp import domains, measurements, metrics

    _allow_what_is_contributed()
    domain = domains.vector_domain(_atoms(number))
    return getattr(measurements, make)(domain, getattr(metrics, metric)(T=number), scale=scale)


@lru_cache(maxsize=64)
def _selection(number: str, scale: float) -> Any:
    from opendp import domains, measurements, measures, metrics

    _allow_what_is_contributed()
    space = domains.vector_domain(_atoms(number)), metrics.linf_distance(T=number)
    return measurements.make_noisy_max(*space, measures.max_divergence(), scale=scale, negate=True)


def _atoms(number: str) -> Any:
    from opendp import domains

    return domains.atom_domain(T=number) if number[0] == "i" else domains.atom_domain(T=number, nan=False)


def _allow_what_is_contributed() -> None:
    """OpenDP's own switch, without which nothing here can be built: "contrib" is proved, but not vetted by others."""
    from opendp.mod import enable_features

    enable_features("contrib")


_member: partial[Mechanism[Any, Any, Any]] = partial(Mechanism, seeded=False, package=PACKAGE)

LAPLACE = _member("opendp-laplace", "laplace", _laplace, laplace_claim, runs=up_to(10_000), takes=takes_numbers)
GEOMETRIC = _member("opendp-geometric", "laplace", _geometric, laplace_claim, runs=up_to(20_000), takes=takes_integers)
GAUSSIAN = _member("opendp-gaussian", "gaussian", _gaussian, gaussian_claim, runs=up_to(5_000), takes=takes_numbers)
NOISY_MAX = _member(
    "opendp-noisy-max", "exponential", _noisy_max, epsilon_claim, runs=up_to(DRAWS, 28), takes=takes_utilities
)
THRESHOLD = _member(
    "opendp-threshold", "threshold", _threshold, _threshold_claim, runs=up_to(20_000, 1), takes=_takes_mapping
)
