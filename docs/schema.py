"""Write the schemas of report.json and check.json from their dataclasses: `make schema`.

docs/report.schema.json is that of `audit.model.Report`, docs/check.schema.json that of `audit.check.document.Document`.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, get_origin, get_type_hints

from subnormal.audit.check.document import Document
from subnormal.audit.model import Report
from subnormal.audit.report.form import INFINITIES, AnyNumber, is_object, keys, parts
from subnormal.mechanisms.privacy import Range

Json = dict[str, Any]

TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


KINDS = {"report": Report, "check": Document}  # what report.json and check.json hold


def schema(name: str = "report") -> str:
    """Return a schema as one JSON document. A new dataclass is a definition, named as its class. Raises KeyError."""
    definitions: dict[str, Json] = {}
    reference = _form(KINDS[name], definitions)["$ref"]
    whole = definitions.pop(reference.rpartition("/")[2])
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{name}.json of Subnormal, version 1",
        **whole,
        "$defs": definitions,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _form(hint: Any, definitions: dict[str, Json]) -> Json:
    """Return the schema of an annotation's values; objects of a fixed form are added to the definitions."""
    kind, rule, arguments = parts(hint)
    if NoneType in arguments:
        return {"anyOf": [*(_form(one, definitions) for one in arguments if one is not NoneType), {"type": "null"}]}
    if is_object(kind):
        name = re.sub(r"\B[A-Z]", r"_\g<0>", kind.__name__).lower()
        if name not in definitions:
            definitions[name] = {}  # its place; it may hold others
            definitions[name] |= _object(kind, {key: hint for key, (_, hint) in keys(kind).items()}, definitions)
            definitions[name] |= {"additionalProperties": False}
        return {"$ref": f"#/$defs/{name}"}
    if get_origin(kind) is Mapping:
        held = {"additionalProperties": _form(arguments[1], definitions)}
        return (held | {"type": "object"}) if rule is None else _object(rule, get_type_hints(rule), definitions) | held
    if get_origin(kind) is tuple:
        return {"type": "array"} | _items(arguments, definitions)
    if isinstance(rule, tuple):
        return {"enum": list(rule)}
    return {} if kind is Any else _number(kind, rule or Range())


def _object(kind: Any, hints: Mapping[str, Any], definitions: dict[str, Json]) -> Json:
    """Return the schema of an object with these keys, described as the docstring of its class describes them."""
    about, described = _described(kind, hints)
    properties = {key: described.get(key, {}) | _form(hint, definitions) for key, hint in hints.items()}
    return {"description": about, "type": "object", "properties": properties, "required": list(hints)}


def _described(kind: Any, names: Iterable[str]) -> tuple[str, dict[str, Json]]:
    """Return what a docstring says of its class, and of the names that begin a line with a colon."""
    text = inspect.cleandoc(kind.__doc__)
    about, *told = re.split(rf"^\s*({'|'.join(names)}): ", text, flags=re.MULTILINE)
    first = [" ".join(part.partition("\n\n")[0].split()) for part in told[1::2]]
    each = {name: {"description": part} for name, part in zip(told[::2], first, strict=True)}
    return " ".join(about.split()).removesuffix(" Args:"), each


def _items(arguments: tuple[Any, ...], definitions: dict[str, Json]) -> Json:
    if arguments[-1] is Ellipsis:
        return {"items": _form(arguments[0], definitions)}
    count = len(arguments)
    return {"prefixItems": [_form(one, definitions) for one in arguments], "minItems": count, "maxItems": count}


def _number(kind: Any, rule: Range) -> Json:
    """Return the schema of a string, a truth value or a number; infinities are alternatives to a number."""
    ends = ("exclusiveMinimum", "exclusiveMaximum") if rule.open else ("minimum", "maximum")
    both = dict(zip(ends, (rule.low, rule.high), strict=True))
    finite = {"type": TYPES[kind]} | {name: end for name, end in both.items() if end is not None and math.isfinite(end)}
    infinite = [INFINITIES[end] for end in both.values() if end is not None and math.isinf(end)]
    infinite += ["nan"] if isinstance(rule, AnyNumber) else []
    return {"anyOf": [finite, {"enum": infinite}]} if infinite else finite


if __name__ == "__main__":
    for name in KINDS:
        Path(__file__).with_name(f"{name}.schema.json").write_text(schema(name))
