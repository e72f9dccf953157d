"""The environment of a report: its description, and a fingerprint that is equal where reports are equal to the byte."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.numerics.mpfr import libraries

PACKAGES = ("numpy", "scipy", "gmpy2")
OPTIONAL = ("opendp", "diffprivlib", "python-dp")  # they have rows only where they are installed
ABSENT = "none"
CODE = ("mechanisms", "attacks", "audit")  # packages whose sources are compared

POINTS = 4099  # of the table: more than a block of any vector loop, and not a multiple of one
TAILS = 70  # lengths of short arrays: the widest vector holds 32 float16
STEP = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio, odd: its multiples modulo 2^64 are spread evenly

LABELS = {"simd": "processor features", "mpfr": "MPFR", "gmp": "GMP"}


def environment() -> dict[str, str]:
    """Return the versions and the processor, on which the floats of a law depend."""
    described = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "simd": _features(),  # numpy's logarithm depends on the vector instructions
        "exponentials": exponentials(),
    }
    return described | {package: version(package) for package in PACKAGES}


@cache
def fingerprint() -> dict[str, str]:
    """Return the versions, processor, code and exponentials that must be equal for byte-identical rows, by name."""
    return {
        "subnormal": version("subnormal"),
        "code": _code(),
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES + OPTIONAL},
        **libraries(),
        "system": f"{platform.system()} {platform.machine()}",
        "simd": _features(),
        "exponentials": exponentials(),
    }


@cache
def digest() -> str:
    """Return the fingerprint as 32 hexadecimal digits."""
    return blake2b(json.dumps(fingerprint(), sort_keys=True).encode(), digest_size=16).hexdigest()


def differing(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """Return in words the differences between two fingerprints, one string each.

    >>> differing({"numpy": "2.4.6", "scipy": "1.17.0"}, {"numpy": "2.3.1", "scipy": "1.17.0"})
    ['numpy 2.4.6 here, 2.3.1 there']
    """
    names = [name for name in {**ours, **theirs} if ours.get(name, ABSENT) != theirs.get(name, ABSENT)]
    return [_difference(name, ours.get(name, ABSENT), theirs.get(name, ABSENT)) for name in names]


def _difference(name: str, here: str, there: str) -> str:
    if name == "exponentials":
        return "the table of exponentials differs: another processor or math library"
    if name == "code":
        return "the code of subnormal differs: another commit, or an edited file"
    return f"{LABELS.get(name, name)} {here} here, {there} there"


@cache
def exponentials() -> str:
    """Return a digest of the values of elementary functions at fixed arguments, with this numpy and this processor.

    It covers the functions of the floating-point mechanisms in each of their types: on long arrays, on short arrays of
    every length, whose remainders vector loops treat differently, and on single numbers. All arguments are exact.
    """
    hashed = blake2b(digest_size=8)
    words = np.arange(1, POINTS + 1, dtype=np.uint64) * np.uint64(STEP)
    uniforms = np.ldexp((words >> np.uint64(11)).astype(np.float64), -53)
    with np.errstate(all="ignore"):  # float16 takes uniforms to 0 and weights to ∞
        for function, arguments in _arguments(uniforms):
            for kind in (np.float64, np.float32, np.float16):
                values = arguments.astype(kind)
                hashed.update(function(values).tobytes())
                for length in range(1, TAILS):
                    hashed.update(function(values[length : 2 * length]).tobytes())
                hashed.update(b"".join(function(value).tobytes() for value in values[:TAILS]))
    small = uniforms[:TAILS].tolist()
    scalars = [(math.exp(-700 * one), math.log(one), math.log1p(one), math.sqrt(one)) for one in small]
    hashed.update(np.array(scalars).tobytes())
    return hashed.hexdigest()


def _arguments(uniforms: NDArray[np.float64]) -> list[tuple[Callable[[Any], Any], NDArray[np.float64]]]:
    """Return functions with arguments that cover the range that mechanisms use."""
    angles = 2 * math.pi * uniforms
    spread = np.ldexp(uniforms, -(np.arange(len(uniforms)) % 64))  # small uniforms are rare, and give the largest noise
    return [
        (np.exp, -745 * uniforms),
        (np.exp, -uniforms),
        (np.log, spread),
        (np.log1p, spread),
        (np.sin, angles),
        (np.cos, angles),
        (np.sqrt, spread),
    ]


def _code() -> str:
    """Return a digest of the sources of the three packages, because two checkouts of one version may differ."""
    root = Path(__file__).parents[2]
    hashed = blake2b(digest_size=8)
    for path in sorted(path for package in CODE for path in (root / package).rglob("*.py")):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        hashed.update(f"{path.relative_to(root).as_posix()} {len(text)}\n".encode() + text)
    return hashed.hexdigest()


def _features() -> str:
    configuration: Any = np.show_config(mode="dicts")
    return ", ".join(configuration.get("SIMD Extensions", {}).get("found", []))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ABSENT


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
