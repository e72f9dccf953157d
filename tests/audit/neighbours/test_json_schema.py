"""Domains as JSON Schema: what is drawn follows the schema, and what is not followed is an error."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from subnormal.audit.__main__ import main
from subnormal.audit.neighbours.datasets import differ_by_one
from subnormal.audit.neighbours.json_schema import domain
from subnormal.audit.neighbours.relations import add_or_remove, pairs
from tests.support.draws import drawn

UNIT = {"type": "array", "maxItems": 5, "items": {"type": "number", "minimum": 0, "maximum": 1}}
ORDERS = {
    "type": "array",
    "title": "orders",
    "items": {
        "type": "object",
        "properties": {"user": {"enum": ["a", "b"]}, "amount": {"type": "integer", "minimum": 1}, "note": {}},
        "required": ["user", "amount"],
    },
}
ORDERS["items"]["properties"]["note"] = {"anyOf": [{"const": None}, {"type": "string", "maxLength": 3}]}  # type: ignore[index]
SCHEMAS: list[dict[str, Any]] = [
    UNIT,
    ORDERS,
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e-300},
    {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 1},
    {
        "type": "object",
        "propertyNames": {"enum": ["a", "b", "c"]},
        "additionalProperties": {"type": "integer", "maximum": 3},
        "minProperties": 1,
        "maxProperties": 2,
    },
    {"type": "null"},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_what_is_drawn_follows_the_schema(schema: dict[str, Any]) -> None:
    seen = drawn(domain(schema), 40)
    for value in seen:
        jsonschema.validate(json.loads(json.dumps(value)), schema)
    assert len({repr(value) for value in seen}) > 1 or schema == {"type": "null"}


def test_it_has_neighbours() -> None:
    for pair in drawn(pairs(domain(UNIT), add_or_remove()), 20):
        assert differ_by_one(*pair)
        for one in pair:
            jsonschema.validate(one, UNIT)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "array", "items": {"type": "text"}}, r"\$\.items\.type must be one of null, .*, got 'text'"),
        ({"type": "array"}, r"\$\.items must be an object, got 'None'"),
        (
            {"type": "string", "pattern": "a+"},
            r"\$\.pattern is not followed here; known are maxLength, minLength, type",
        ),
        ({"type": ["integer", "null"]}, r"\$\.type must be one of"),
        ({"type": "object", "required": ["a"]}, r"\$\.required names 'a', which is none of the properties"),
        ({"type": "object", "properties": {"a": 3}}, r"\$\.properties\.a must be an object, got '3'"),
        ({"anyOf": [{"type": "null"}, {"enum": [1], "minimum": 0}]}, r"\$\.anyOf\[1\]\.minimum is not followed"),
    ],
)
def test_what_is_not_followed_is_an_error(schema: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        domain(schema)


def test_the_command_line_takes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sums_by_schema.py").write_text(
        "import random\ndef noisy_sum(data):\n    return round(sum(data) + random.gauss(0, 0.1), 1)\n"
    )
    monkeypatch.chdir(tmp_path)

    def called(text: str) -> Any:
        Path("domain.json").write_text(text)
        arguments = ("--data", "domain.json", "--adjacent", "add-or-remove", "--epsilon", "1", "--seconds", "20")
        return CliRunner().invoke(main, ["check", "sums_by_schema:noisy_sum", *arguments, "--format", "json"])

    found = json.loads(called(json.dumps(UNIT)).stdout)
    assert (found["verdict"], found["domain"]) == (
        "VIOLATED",
        "lists(floats(min_value=0, max_value=1, allow_nan=False, allow_infinity=False), max_size=5)",
    )
    for text, problem in (("{", "domain.json: Expecting"), ('{"type": "integer", "minimum": "a"}', "domain.json: ")):
        shown = called(text)
        assert (shown.exit_code, shown.stdout) == (2, "")
        assert "Invalid value for --data: " + problem in " ".join(shown.stderr.split())
