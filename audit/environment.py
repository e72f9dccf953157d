"""What a report must record of the machine that made it."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("numpy", "scipy", "gmpy2")


def environment() -> dict[str, str]:
    """Return the versions and the processor: a law computes its floats by this numpy on this processor."""
    simd: Any = np.show_config(mode="dicts")
    described = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "simd": ", ".join(simd.get("SIMD Extensions", {}).get("found", [])),  # numpy's logarithm depends on them
    }
    return described | {package: version(package) for package in PACKAGES}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def fingerprint() -> dict[str, str]:
    return environment()
