"""What changed between two reports: every verdict that turns is named, and nothing is where nothing changed."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from subnormal.audit.model import KINDS, OF_RUNS, REPEATED
from subnormal.audit.report.diff import Weight, context, differences, to_markdown

Json = dict[str, Any]


def alone(document: Json, row: Json) -> Json:
    """Return the report with this row and no other."""
    return document | {"rows": [row]}


def named(document: Json, attack: str, mechanism: str) -> Json:
    """Return a copy of a row."""
    (row,) = (row for row in document["rows"] if (row["attack"], row["mechanism"]) == (attack, mechanism))
    return copy.deepcopy(row)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the path of every value that is no object and no list."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, key))
    else:
        yield path


def changed(value: Any) -> Any:
    """Return another value of the same type, far from this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value / 2 if value else 0.125
    return "2.5" if value in ("inf", None) else f"{value}?"


def mutated(row: Json, path: tuple[Any, ...]) -> Json:
    """Return a copy of a row with the value at the path changed."""
    made = copy.copy(row)
    made[path[0]] = mutated(row[path[0]], path[1:]) if path[1:] else changed(row[path[0]])
    return made


def test_a_report_does_not_differ_from_itself(document: Json) -> None:
    assert differences(document, copy.deepcopy(document)) == []
    assert context(document, copy.deepcopy(document)) == ""


def test_every_verdict_that_turns_is_named(document: Json) -> None:
    """Every row, every kind of evidence but a clock, every verdict that it may have, and none."""
    turned = 0
    for row in document["rows"]:
        title = row["attack"] if row["channel"] is None else f"{row['attack']} ({row['channel']})"
        for kind in REPEATED:
            was = None if row[kind] is None else row[kind]["verdict"]
            for verdict in (*KINDS[kind], None):
                if verdict == was:
                    continue
                evidence = None if verdict is None else (row[kind] or {}) | {"verdict": str(verdict)}
                (found,) = differences(alone(document, row), alone(document, row | {kind: evidence}))
                assert (found.row, found.mechanism, found.what) == (title, row["mechanism"], f"{kind}.verdict")
                assert (found.old, found.new) == (was or "–", verdict or "–")
                assert (found.weight is Weight.VIOLATED) == (verdict == "VIOLATED")
                turned += 1
    assert turned == len(document["rows"]) * len(REPEATED) * 3


def test_whatever_was_asked_and_changed_is_named(document: Json) -> None:
    for row in document["rows"]:
        asked = [(name, *path) for name in ("parameters", "claim", "event") for path in leaves(row[name])]
        for path in [*asked, ("reproducible",), ("family",)]:
            learned = path[0] == "event" and not row["reproducible"]
            if path[-1] is None or (row[path[0]] is None):
                continue
            told = [one.what for one in differences(alone(document, row), alone(document, mutated(row, path)))]
            whole = [str(key) for key in path if not isinstance(key, int)]  # of lists all is told
            assert told == ([] if learned else [".".join(whole)])


def test_an_event_that_another_version_names_is_named(document: Json) -> None:
    row = next(row for row in document["rows"] if not row["reproducible"] and row["event"])
    made = row | {"event": {"kind": "refuses", "portable": True}}
    assert differences(alone(document, row), alone(document, made)) == []  # learned on other runs
    newer = alone(document, made) | {"version": "9.9"}
    assert {one.what.split(".")[0] for one in differences(alone(document, row), newer)} == {"event"}


@pytest.mark.parametrize("kind", ["exact", "exhaustive"])
def test_numbers_of_laws_do_not_change_within_a_version(kind: str, document: Json) -> None:
    another = document | {"seed": 2, "runs": 7, "environment": {"python": "4"}}
    told = 0
    for row in document["rows"]:
        for path in leaves(row[kind], (kind,)):
            if row[kind] is None or path[-1] == "verdict":
                continue
            made = mutated(row, path)
            (found,) = differences(alone(document, row), alone(another, made))
            assert found.weight is Weight.NUMBER
            assert found.what.startswith(f"{kind}.{path[1]}")
            assert differences(alone(document, row), alone(another, made) | {"version": "9.9"}) == []
            told += 1
    assert told > (5 if kind == "exhaustive" else 500)


def test_what_printing_loses_is_no_change(document: Json) -> None:
    row = named(document, "zero-rounding", "exponential-naive-float64")
    for factor, told in ((1 + 1e-15, []), (1 + 1e-9, ["exact.delta"])):
        made = row | {"exact": row["exact"] | {"delta": row["exact"]["delta"] * factor}}
        assert [one.what for one in differences(alone(document, row), alone(document, made))] == told


@pytest.mark.parametrize("name", ["seed", "runs", "alpha_per_row", "environment", "version"])
def test_numbers_of_runs_are_told_where_they_should_have_been_reproduced(name: str, document: Json) -> None:
    different = {"seed": 2, "runs": 5, "alpha_per_row": 0.01, "environment": {"python": "4"}, "version": "9.9"}
    told = 0
    for row in document["rows"]:
        for path in leaves(row["sampled"], ("sampled",)):
            if row["sampled"] is None or path[-1] == "verdict":
                continue
            made = mutated(row, path)
            found = [one.what for one in differences(alone(document, row), alone(document, made))]
            if row["reproducible"]:
                assert found == [f"{'.'.join(str(key) for key in path if not isinstance(key, int))}: not reproduced"]
                assert differences(alone(document, row), alone(document | {name: different[name]}, made)) == []
                told += 1
            else:
                assert found == []
    assert told > 1_000


def test_the_command_and_the_commit_are_context_and_no_question(document: Json) -> None:
    other = document | {"command": "subnormal run --seed 1", "commit": f"{'0' * 40} (changed)"}
    assert differences(document, other) == []
    assert context(document, other) == f"commit {document['commit'] or '–'} → {other['commit']}"
    row = named(document, "zero-rounding", "exponential-naive-float64")
    changed = row | {"sampled": row["sampled"] | {"epsilon_lower": 0.125}}  # still held against the same runs
    assert [one.what for one in differences(alone(document, row), alone(other, changed))] == [
        "sampled.epsilon_lower: not reproduced"
    ]
    first = {name: value for name, value in document.items() if name not in ("command", "commit")}
    assert differences(first, other) == []


def test_times_may_always_differ(document: Json) -> None:
    timed = [row for row in document["rows"] if row["timing"]]
    assert timed
    for row in (one | {"reproducible": claimed} for one in timed for claimed in (False, True)):
        for path in leaves(row["timing"], ("timing",)):
            if path[-1] != "verdict":
                assert differences(alone(document, row), alone(document, mutated(row, path))) == []
        for verdict in OF_RUNS:
            shown = row | {"timing": row["timing"] | {"verdict": verdict}}
            assert differences(alone(document, row), alone(document, shown)) == []
            (new,) = differences(alone(document, row) | {"rows": []}, alone(document, shown))
            assert (new.weight, new.new) == (Weight.NEW, "MEASURED")


@pytest.mark.parametrize("name", ["description", "source", "advantage_allowed", "visible_below"])
def test_what_follows_from_the_rest_is_no_change(name: str, document: Json) -> None:
    row = next(row for row in document["rows"] if row["visible_below"])
    assert differences(alone(document, row), alone(document, row | {name: changed(row[name])})) == []


def test_rows_that_come_and_go_are_named_and_weighed(document: Json) -> None:
    broken, sound = (named(document, "zero-rounding", f"exponential-{name}") for name in ("naive-float64", "base2"))
    both, one = alone(document, broken) | {"rows": [broken, sound]}, alone(document, sound)
    (new,) = differences(one, both)
    assert (new.weight, new.what, new.old, new.new) == (Weight.VIOLATED, "row", "–", "VIOLATED")
    (gone,) = differences(both, one)
    assert (gone.weight, gone.what, gone.old, gone.new) == (Weight.GONE, "row", "VIOLATED", "–")
    (added,) = differences(alone(document, broken), both)
    assert (added.weight, added.new) == (Weight.NEW, "HOLDS")


def test_errors_that_come_and_go_are_named(document: Json) -> None:
    row = named(document, "zero-rounding", "exponential-naive-float64")
    none = dict.fromkeys(KINDS) | {"claim": None, "advantage_allowed": None}
    failed = row | none | {"error": "ValueError: no"}
    (came,) = differences(alone(document, row), alone(document, failed))
    assert (came.weight, came.what, came.old, came.new) == (Weight.FAILED, "error", "VIOLATED", "ERROR: ValueError: no")
    (went,) = differences(alone(document, failed), alone(document, row))
    assert (went.weight, went.old, went.new) == (Weight.VIOLATED, "ERROR: ValueError: no", "VIOLATED")
    (other,) = differences(alone(document, failed), alone(document, failed | {"error": "ValueError: still"}))
    assert (other.weight, other.new) == (Weight.FAILED, "ERROR: ValueError: still")
    assert differences(alone(document, failed), alone(document, failed)) == []


def test_the_worst_comes_first_and_old_is_old(document: Json) -> None:
    """One report with all that may happen to a row, and back again."""
    rows = [row for row in document["rows"] if row["exact"] and row["channel"] is None][:6]
    held = [row | {"exact": row["exact"] | {"verdict": "HOLDS"}, "sampled": None} for row in rows]
    after = [
        held[0] | {"claim": held[0]["claim"] | {"epsilon": 0.75}},
        held[1] | {"exact": held[1]["exact"] | {"verdict": "UNRESOLVED"}},
        held[2] | {"exact": held[2]["exact"] | {"verdict": "VIOLATED"}},
        held[3] | {"exact": None, "error": "E: x"},
        held[4],
    ]
    before = [*held[:4], held[5]]
    found = differences(document | {"rows": before}, document | {"rows": after})
    assert [one.weight for one in found] == sorted(one.weight for one in found)
    assert [(one.weight, one.old, one.new) for one in found] == [
        (Weight.VIOLATED, "HOLDS", "VIOLATED"),
        (Weight.FAILED, "HOLDS", "ERROR: E: x"),
        (Weight.GONE, "HOLDS", "–"),
        (Weight.VERDICT, "HOLDS", "UNRESOLVED"),
        (Weight.QUESTION, "0.5", "0.75"),
        (Weight.NEW, "–", "HOLDS"),
    ]
    back = differences(document | {"rows": after}, document | {"rows": before})
    assert {(one.new, one.old) for one in back} == {(one.old, one.new) for one in found}
    assert next(one.weight for one in back if one.old == "VIOLATED") is Weight.BETTER


def test_a_conviction_that_runs_no_longer_support_is_not_better(document: Json) -> None:
    row = named(document, "zero-rounding", "exponential-naive-float64")
    turned = {
        ("VIOLATED", "NOT REFUTED"): Weight.BETTER,
        ("VIOLATED", "UNDERPOWERED"): Weight.VERDICT,
        ("UNDERPOWERED", "NOT REFUTED"): Weight.VERDICT,
        ("UNDERPOWERED", "VIOLATED"): Weight.VIOLATED,
    }
    for verdicts, weight in turned.items():
        old, new = (alone(document, row | {"sampled": row["sampled"] | {"verdict": verdict}}) for verdict in verdicts)
        assert [one.weight for one in differences(old, new)] == [weight]


def test_a_table_for_a_comment_keeps_its_form(document: Json) -> None:
    row = named(document, "zero-rounding", "exponential-naive-float64") | {"mechanism": "cmd: a | <b> *c*\n\x1b[31m"}
    made = to_markdown(differences(alone(document, row), document | {"rows": []})).splitlines()
    assert made[0] == "| attack | mechanism | what | old | new |"
    assert made[2] == r"| zero-rounding | cmd: a \| \<b\> \*c\* \\x1b\[31m | row | VIOLATED | – |"


def test_a_number_of_the_question_that_became_an_object_is_a_change(document: Json) -> None:
    row = document["rows"][0]
    paths = [("parameters", *path) for path in leaves(row["parameters"])]
    assert len(paths) > 2
    for path in paths:
        damaged = copy.deepcopy(row)
        within = damaged
        for name in path[:-1]:
            within = within[name]
        within[path[-1]] = {}
        found = differences(alone(document, row), alone(document, damaged))
        assert [one.weight for one in found] == [Weight.QUESTION]
