"""docs/report.schema.json against real reports: all of them are of it, and what is nearly one is not."""

import copy
import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from docs.schema import schema
from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.audit.__main__ import main
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.process_pool import Here
from subnormal.audit.engine.scheduler import examine_all
from subnormal.audit.model import Report
from subnormal.audit.report import load, to_json
from subnormal.audit.report.form import LATER
from subnormal.audit.report.load import parse
from subnormal.mechanisms.families import member
from subnormal.mechanisms.privacy import Claim
from tests.support.paths import ROOT

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
OPEN = ("environment", "parameters", "settings", "event")  # forms that are not this project's
Json = dict[str, Any]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """A document with rows of every kind, from the command line."""
    asked = [
        ["--attack", "rounded-addition-float16", "--mechanism", "exponential-naive-float16"],
        ["--attack", "grid-precision", "--mechanism", "laplace-rounded", "--until-decided"],
        ["--attack", "rejection-time", "--mechanism", "exponential-exact"],
        ["--attack", "rejection-tries", "--mechanism", "exponential-base2"],
    ]
    found = []
    for arguments in asked:
        out = str(tmp_path_factory.mktemp("report"))
        result = CliRunner().invoke(main, ["run", *arguments, "--quick", "--format", "json", "--out", out])
        assert result.exit_code == 0, result.stderr
        document: Json = json.loads(result.stdout)
        VALIDATOR.validate(document)
        found += document["rows"]
    failing = dataclasses.replace(member("laplace-naive-float64"), law=None, sample=_fails)
    report = examine_all([Crossing(grid_precision(), failing)], seed=1, runs=100, alpha=0.05, executor=Here())
    document = json.loads(to_json.to_json(report))
    VALIDATOR.validate(document)
    found += document["rows"]
    return document | {"rows": found}


def _fails(*arguments: Any) -> NoReturn:
    raise OSError("no noise")


def test_the_schema_is_one_and_current() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert schema() == (ROOT / "docs" / "report.schema.json").read_text(), "run make schema"


def test_every_form_is_closed_and_asks_for_all_its_keys() -> None:
    forms = [form for form in _objects(SCHEMA) if form.get("additionalProperties") is False]
    assert (
        len(forms) == 10
    )  # the report, a row, its worlds, its claim, proved, sampled with ks and fit, sequential, timing
    assert all(form["required"] == list(form["properties"]) for form in forms)


def test_the_whole_report_is_of_the_schema(report: Report) -> None:
    VALIDATOR.validate(json.loads(to_json.to_json(report)))


def test_rows_of_every_kind_are_of_the_schema(rows: Json) -> None:
    VALIDATOR.validate(rows)
    shown = [
        [kind for kind in ("exact", "exhaustive", "sampled", "sequential", "timing") if row[kind]]
        for row in rows["rows"]
    ]
    assert shown == [
        ["exact", "exhaustive", "sampled"],
        ["sequential"],
        ["timing"],
        ["exact", "sampled"],
        [],
    ]
    assert rows["rows"][3]["visible_below"] is not None
    assert all(row["worlds"] for row in rows["rows"])
    assert rows["rows"][4]["error"]


def test_a_missing_key_is_refused(rows: Json) -> None:
    removed = 0
    for form in _forms(rows):
        for key in list(form):
            value = form.pop(key)
            assert not VALIDATOR.is_valid(rows), key
            if key not in LATER and key != "schema":
                with pytest.raises(ValueError, match=rf"^has no (\S+\.)?{key}$"):
                    parse(json.dumps(rows).encode())
            form[key] = value
            removed += 1
    assert removed > 200
    VALIDATOR.validate(rows)


def test_a_report_from_before_some_keys_is_read(rows: Json) -> None:
    older = copy.deepcopy(rows)
    removed = {key for form in _forms(older) for key in LATER if form.pop(key, form) is not form}
    assert removed == LATER
    assert parse(json.dumps(older).encode()) == older
    (first, *_) = load.report(json.dumps(older).encode()).rows
    assert (first.worlds, first.sampled and first.sampled.convicted_by) == (None, None)


def test_an_unknown_key_is_refused(rows: Json) -> None:
    for form in _forms(rows):
        form["unknown"] = None
        assert not VALIDATOR.is_valid(rows)
        del form["unknown"]
    VALIDATOR.validate(rows)


@pytest.mark.parametrize(
    ("row", "path", "value"),
    [
        (0, "exact.verdict", "NOT REFUTED"),
        (0, "exhaustive.verdict", "PRIVATE"),
        (0, "sampled.verdict", "HOLDS"),
        (1, "sequential.verdict", "UNRESOLVED"),
        (2, "timing.verdict", "HOLDS"),
        (0, "exact.delta", 1.5),
        (0, "exact.delta", -0.1),
        (0, "exact.epsilon", "Infinity"),
        (0, "exact.epsilon", None),
        (0, "exact.event_in", [0.5]),
        (0, "sampled.event_in", [0.5, 1.5]),
        (0, "sampled.confidence", 95),
        (0, "sampled.convicted_by", "both"),
        (0, "exact.event_verdict", "NOT REFUTED"),
        (0, "sampled.runs", 0),
        (0, "sampled.runs", 10.5),
        (0, "sampled.ks.statistic", 1.01),
        (0, "claim.epsilon", "inf"),
        (0, "claim.delta", 2),
        (0, "channel", "power"),
        (0, "reproducible", "yes"),
        (0, "event", {"portable": True}),
        (1, "sequential.looks", [[64]]),
        (1, "sequential.event", None),
        (2, "timing.sign_p", 1.1),
        (2, "timing.needed", [1, "never"]),
        (4, "error", ["OSError"]),
    ],
)
def test_a_value_that_cannot_be_is_refused(row: int, path: str, value: Any, rows: Json) -> None:
    mutated = copy.deepcopy(rows)
    *into, last = path.split(".")
    part = mutated["rows"][row]
    for key in into:
        part = part[key]
    assert last in part
    part[last] = value
    assert not VALIDATOR.is_valid(mutated)
    with pytest.raises(ValueError, match=rf"rows\[{row}\]\.{re.escape(path)}"):
        parse(json.dumps(mutated).encode())


@pytest.mark.parametrize("name", ["schema", "alpha", "seed", "environment"])
def test_what_stands_above_the_rows_is_checked_too(name: str, rows: Json) -> None:
    wrong = {"schema": "subnormal/report/2", "alpha": 0, "seed": -1, "environment": {"python": 3}}
    assert not VALIDATOR.is_valid(rows | {name: wrong[name]})
    with pytest.raises(ValueError, match=name):
        parse(json.dumps(rows | {name: wrong[name]}).encode())


def test_no_claim_allows_more_than_everything() -> None:
    """1 − 2(1−δ)/(1+e^ε) is 1 at δ = 1, and its floats would not all be."""
    assert {Claim(epsilon / 64, 1.0).advantage_allowed for epsilon in range(2_000)} <= {1.0, 1 - 2**-53}


def _objects(schema: Any) -> Iterator[Json]:
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            yield schema
        for part in schema.values():
            yield from _objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _objects(part)


def _forms(part: Any) -> Iterator[Json]:
    """Give every object of a document whose form is this project's."""
    if isinstance(part, dict):
        yield part
        for key, value in part.items():
            if key not in OPEN:
                yield from _forms(value)
    elif isinstance(part, list):
        for value in part:
            yield from _forms(value)
