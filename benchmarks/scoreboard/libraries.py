"""The libraries of the scoreboard, the classes of its tests, and the public sources of what is red."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

FLOATS, LAW, MAPS, ACCOUNTANTS = "float noise", "sampler's law", "maps", "accountants"
STABILITY, EDGES, SIDE_CHANNELS = "stability", "edge inputs", "side channels"
CLASSES: Mapping[str, str] = {
    FLOATS: "noise, coins and choices in floats: low bits, absorption, underflow",
    LAW: "the distribution of noise and answers, in counts of draws",
    MAPS: "the number that a privacy map, a conversion or an accuracy promises for one mechanism",
    ACCOUNTANTS: "the number that is promised for several steps, samples or budgets",
    STABILITY: "how far a record moves a query, against the bound that noise is scaled to",
    EDGES: "data that are empty, NaN, infinite, rare or all alike: what is raised, left out or taken from them",
    SIDE_CHANNELS: "time and random bits; none of these tests looks at them, because no library's claim covers them",
}

# Exhibits of the museum that can be held against other releases than their own too, and their classes.
EXHIBITS: Mapping[str, str] = {
    "datasynthesizer-34": STABILITY, "datasynthesizer-domain": EDGES, "diffprivlib-104": STABILITY,
    "diffprivlib-107": EDGES, "diffprivlib-94": FLOATS, "diffprivlib-binary": LAW, "diffprivlib-discrete-gaussian": LAW,
    "diffprivlib-naive-bayes": EDGES, "dp-accounting-378": ACCOUNTANTS, "dp-accounting-order-one": ACCOUNTANTS,
    "dp-accounting-poisson": ACCOUNTANTS, "dpmm-18": EDGES, "google-laplace": FLOATS, "multi-freq-ldpy-grr": LAW,
    "opendp-2638-law": LAW, "opendp-2707": LAW, "opendp-2911": MAPS, "opendp-2922": MAPS, "opendp-2923": STABILITY,
    "opendp-2930": EDGES, "opendp-2936": EDGES, "opendp-2938": STABILITY, "opendp-2939": STABILITY,
    "opendp-2940": STABILITY, "opendp-2944": EDGES, "opendp-float-laplace": FLOATS, "opendp-integer-gaussian": LAW,
    "opendp-integer-laplace": LAW, "opendp-randomized-response": LAW, "pure-ldp-11": LAW,
    "pure-ldp-direct-encoding": LAW, "python-dp-count": LAW, "smartnoise-sql-572": EDGES, "smartnoise-sql-574": EDGES,
    "smartnoise-synth-622": STABILITY,
}  # fmt: skip

# Attacks of vectors/1 that are about something else than floats.
ATTACKS: Mapping[str, str] = {
    "sensitivity-rounding": STABILITY, "sensitivity-rounding-float64": STABILITY,
    "sensitivity-repeated-rounding": STABILITY, "local-sensitivity-mean": STABILITY, "inverted-scale": LAW,
    "noisy-max-value": LAW, "singleton-key": EDGES, "boundary": EDGES, "quantile-underflow": EDGES,
}  # fmt: skip
SEVERAL = {"steps", "budgets", "sampling", "sample", "users", "matrix"}  # parameters of what accountants are asked


@dataclass(frozen=True, slots=True)
class Library:
    """A library of the scoreboard. requires: what its newest release needs besides, as pip reads it.

    bare: it is installed without what it requires, but with `requires`.
    """

    name: str
    requires: tuple[str, ...] = ()
    bare: bool = False

    @property
    def subject(self) -> Path:
        """Its functions for the vectors, where it has some."""
        return HERE / "subjects" / f"{self.name.replace('-', '_').replace('.', '_')}.py"


LIBRARIES = (
    Library("opendp"),
    Library("diffprivlib", ("scikit-learn<1.8",)),
    Library("python-dp", ("setuptools<81",)),
    Library("dp-accounting"),
    Library("opacus", ("numpy", "scipy"), bare=True),  # its accountants do without torch
    Library("jax-privacy"),
    Library("smartnoise-sql", ("setuptools<81",)),
    Library("smartnoise-synth", ("numpy<3", "pandas<3", "scipy"), bare=True),
    Library("tmlt.core", ("setuptools<81",)),
    Library("pure-ldp", ("numpy", "scikit-learn", "statsmodels")),
    Library("multi-freq-ldpy", ("setuptools<81",)),
    Library("autodp", ("numpy<2", "scipy<1.14")),
    Library("prv-accountant"),
    Library("dpmm"),
    Library("DataSynthesizer", ("pandas", "scikit-learn"), bare=True),
)

# Public sources of what is red, of exactly this release: after the next one, somebody reads them again. Exhibits of the
# museum have theirs in exhibit.toml.
THRESHOLD = ("https://github.com/opendp/opendp/issues/2922",)
PRECISION = ("https://github.com/IBM/differential-privacy-library/issues/94",)
REPLACED = ("https://github.com/google/differential-privacy/issues/378",)
CENTRAL_LIMIT = ("https://github.com/pytorch/opacus/pull/400",)
PUBLIC: Mapping[tuple[str, str, str], tuple[str, ...]] = {
    ("opendp", "0.16.0", "vectors/1 maps: map threshold"): THRESHOLD,
    ("opendp", "0.16.0", "claims: map threshold"): THRESHOLD,
    ("diffprivlib", "0.6.6", "vectors/1 attacks: grid-precision"): PRECISION,
    ("diffprivlib", "0.6.6", "vectors/1 attacks: grid-precision@epsilon=0.1"): PRECISION,
    ("diffprivlib", "0.6.6", "vectors/1 attacks: quantile-underflow"): (
        "https://github.com/IBM/differential-privacy-library/issues/107",
    ),
    ("dp-accounting", "0.6.0", "vectors/1 maps: rdp fixed-sample-gaussian"): REPLACED,
    ("dp-accounting", "0.6.0", "claims: rdp fixed-sample-gaussian"): REPLACED,
    ("opacus", "1.6.0", "vectors/1 maps: gdp sampled-gaussian"): CENTRAL_LIMIT,
    ("opacus", "1.6.0", "claims: gdp sampled-gaussian"): CENTRAL_LIMIT,
}
