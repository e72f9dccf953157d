"""Attack and audit differential-privacy mechanisms, down to the last bit.

>>> import subnormal
>>> report = subnormal.run(["zero-rounding"], ["exponential-naive-float64"], quick=True, jobs=1)
>>> [(row.mechanism, str(row.verdict)) for row in report.violated]
[('exponential-naive-float64', 'VIOLATED')]

`import subnormal` imports nothing heavy: a name is imported when it is used.
"""

from __future__ import annotations

import os.path
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subnormal.attacks.catalogue import attack
    from subnormal.audit.api import Report, load, run
    from subnormal.audit.check.assertion import NotPrivateError, assert_private
    from subnormal.audit.check.check import check
    from subnormal.audit.check.stability import stability
    from subnormal.audit.conforms.conforms import conforms
    from subnormal.audit.laws.followed import law
    from subnormal.audit.model import Verdict
    from subnormal.audit.neighbours.relations import add_or_remove, change_one, within
    from subnormal.audit.statistics.one_run import audit_one_run
    from subnormal.audit.suite.private import private
    from subnormal.audit.sweeps import sweep
    from subnormal.audit.training.training import check_training
    from subnormal.mechanisms.bits import system_bits
    from subnormal.mechanisms.curves import Gdp, Profile, Renyi
    from subnormal.mechanisms.families import member
    from subnormal.mechanisms.privacy import Claim, Eta, Zcdp

__all__ = [
    "Claim",
    "Eta",
    "Gdp",
    "NotPrivateError",
    "Profile",
    "Renyi",
    "Report",
    "Verdict",
    "Zcdp",
    "add_or_remove",
    "assert_private",
    "attack",
    "audit_one_run",
    "change_one",
    "check",
    "check_training",
    "conforms",
    "law",
    "load",
    "member",
    "private",
    "run",
    "stability",
    "sweep",
    "system_bits",
    "within",
]

_MODULES = {
    "subnormal.attacks.catalogue": ("attack",),
    "subnormal.audit.api": ("Report", "load", "run"),
    "subnormal.audit.neighbours.relations": ("add_or_remove", "change_one", "within"),
    "subnormal.audit.check.check": ("check",),
    "subnormal.audit.conforms.conforms": ("conforms",),
    "subnormal.audit.laws.followed": ("law",),
    "subnormal.audit.check.stability": ("stability",),
    "subnormal.audit.model": ("Verdict",),
    "subnormal.audit.statistics.one_run": ("audit_one_run",),
    "subnormal.audit.suite.private": ("private",),
    "subnormal.audit.sweeps": ("sweep",),
    "subnormal.audit.training.training": ("check_training",),
    "subnormal.audit.check.assertion": ("NotPrivateError", "assert_private"),
    "subnormal.mechanisms.bits": ("system_bits",),
    "subnormal.mechanisms.curves": ("Gdp", "Profile", "Renyi"),
    "subnormal.mechanisms.families": ("member",),
    "subnormal.mechanisms.privacy": ("Claim", "Eta", "Zcdp"),
}

if not os.path.isdir(os.path.join(__path__[0], "audit")):  # a checkout without links (Windows), or an unpacked sdist
    __path__.append(os.path.dirname(__path__[0]))

if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        for module, names in _MODULES.items():
            if name in names:
                globals()[name] = found = getattr(import_module(module), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
