"""Domains as JSON Schema, for programs in other languages: the part of it that datasets need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from subnormal.audit.text import quoted

ALWAYS = {"$schema", "$id", "title", "description", "default", "examples", "$comment"}
KEYWORDS = {  # of each type, beside those that say nothing of the inputs
    "null": set[str](),
    "boolean": set[str](),
    "integer": {"minimum", "maximum"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "string": {"minLength", "maxLength"},
    "array": {"items", "minItems", "maxItems", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"},
}


def domain(schema: Any, place: str = "$") -> SearchStrategy[Any]:
    """Return the strategy of the JSON values that a schema describes.

    Numbers are finite floats, and objects are dictionaries. An object has the named properties, those that are not
    required now and then; or keys of `propertyNames` with values of `additionalProperties`.

    Raises:
        ValueError: the schema has a keyword that is not followed; the message says where.
    """
    if not isinstance(schema, Mapping):
        raise ValueError(f"{place} must be an object, got {quoted(str(schema))}")
    if "const" in schema:
        _require_known(schema, {"const", "type"}, place)
        return st.just(schema["const"])
    if "enum" in schema:
        _require_known(schema, {"enum", "type"}, place)
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        _require_known(schema, {"anyOf"}, place)
        return st.one_of(*(domain(one, f"{place}.anyOf[{index}]") for index, one in enumerate(schema["anyOf"])))
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in KEYWORDS:
        raise ValueError(f"{place}.type must be one of {', '.join(KEYWORDS)}, got {quoted(str(kind))}")
    _require_known(schema, KEYWORDS[kind] | {"type"}, place)
    made: SearchStrategy[Any] = _MADE[kind](schema, place)
    return made


def _require_known(schema: Mapping[str, Any], known: set[str], place: str) -> None:
    if unknown := sorted(set(schema) - known - ALWAYS):
        raise ValueError(f"{place}.{unknown[0]} is not followed here; known are {', '.join(sorted(known))}")


def _integers(schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
    return st.integers(schema.get("minimum"), schema.get("maximum"))


def _numbers(schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
    return st.floats(
        schema.get("minimum", schema.get("exclusiveMinimum")),
        schema.get("maximum", schema.get("exclusiveMaximum")),
        exclude_min="minimum" not in schema and "exclusiveMinimum" in schema,
        exclude_max="maximum" not in schema and "exclusiveMaximum" in schema,
        allow_nan=False,
        allow_infinity=False,
    )


def _texts(schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
    return st.text(min_size=schema.get("minLength", 0), max_size=schema.get("maxLength"))


def _arrays(schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
    unique = (lambda value: repr(value)) if schema.get("uniqueItems") else None
    return st.lists(
        domain(schema.get("items"), f"{place}.items"),
        min_size=schema.get("minItems", 0),
        max_size=schema.get("maxItems"),
        unique_by=unique,
    )


def _objects(schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
    others = schema.get("additionalProperties", False)
    if others is not False:
        _require_known(schema, KEYWORDS["object"] - {"properties", "required"} | {"type"}, place)
        return st.dictionaries(
            domain(schema.get("propertyNames", {"type": "string"}), f"{place}.propertyNames"),
            domain(others, f"{place}.additionalProperties"),
            min_size=schema.get("minProperties", 0),
            max_size=schema.get("maxProperties"),
        )
    _require_known(schema, {"type", "properties", "required", "additionalProperties"}, place)
    required = schema.get("required", [])
    each = {name: domain(one, f"{place}.properties.{name}") for name, one in schema.get("properties", {}).items()}
    if missing := [name for name in required if name not in each]:
        raise ValueError(f"{place}.required names {quoted(missing[0])}, which is none of the properties")
    return st.fixed_dictionaries(
        {name: one for name, one in each.items() if name in required},
        optional={name: one for name, one in each.items() if name not in required},
    )


_MADE: Mapping[str, Callable[[Mapping[str, Any], str], Any]] = {
    "null": lambda schema, place: domain({"const": None}, place),
    "boolean": lambda schema, place: domain({"enum": [False, True]}, place),
    "integer": _integers,
    "number": _numbers,
    "string": _texts,
    "array": _arrays,
    "object": _objects,
}
