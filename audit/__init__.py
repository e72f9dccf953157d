"""What may be concluded: attacks crossed with mechanisms, and the evidence for each verdict. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.private import assert_private

__all__ = ["assert_private"]


def __getattr__(name: str) -> Any:
    if name == "assert_private":  # imported when asked for: `import audit` must stay quick
        from audit.private import assert_private

        return assert_private
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
