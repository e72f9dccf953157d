"""Other people's text, made fit for one line."""

from __future__ import annotations

import json

SHOWN = 160  # characters of what somebody else printed


def quoted(value: object) -> str:
    """Return what somebody else printed as one short line without control characters."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr, ensure_ascii=False)
    text = "".join(character if character.isprintable() else " " for character in text).strip()
    text = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return repr(text) if isinstance(value, str) else text
