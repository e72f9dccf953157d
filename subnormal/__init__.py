"""Attack and audit differential-privacy mechanisms, down to the last bit. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subnormal.audit.targets.assertion import assert_private

__all__ = ["assert_private"]


def __getattr__(name: str) -> Any:
    if name == "assert_private":  # imported when asked for: `import subnormal` must stay quick
        from subnormal.audit.targets.assertion import assert_private

        return assert_private
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
