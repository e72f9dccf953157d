"""One report, four renderings: the same numbers in each, and none prettier than it is."""

import dataclasses
import json
import math
import re

import pytest
from markupsafe import escape

from subnormal.audit.model import Report, Row, Verdict, Worlds
from subnormal.audit.report import page, table, terminal, to_html, to_json
from subnormal.audit.text import short
from subnormal.mechanisms.families import member


def test_json_has_the_published_form(report: Report) -> None:
    document = json.loads(to_json.to_json(report))
    assert list(document) == [
        "schema", "version", "seed", "runs", "alpha", "alpha_per_row", "environment", "command", "commit", "rows",
    ]  # fmt: skip
    row = document["rows"][0]
    assert list(row) == [
        "attack", "channel", "description", "source", "family", "mechanism", "package", "parameters", "settings",
        "worlds", "event", "claim", "advantage_allowed", "visible_below", "reproducible", "error", "note",
        "timing", "exact", "exhaustive", "sampled", "sequential",
    ]  # fmt: skip
    assert row["parameters"] == {
        "epsilon": 0.5,
        "limits": {"utility_min": 0, "utility_max": 2981, "max_outcomes": 100},
        "sensitivity": 1.0,
    }
    assert row["claim"] == {"epsilon": 0.5, "delta": 0.0}
    assert set(row["exact"]) == {
        "verdict", "epsilon", "delta", "within", "advantage", "total_variation", "event_in", "event_out",
        "event_verdict",
    }  # fmt: skip
    assert set(row["sampled"]) == {
        "verdict", "convicted_by", "runs", "confidence", "epsilon_lower", "event_in", "event_out", "advantage", "ks",
        "fit",
    }  # fmt: skip
    assert set(row["sampled"]["ks"]) == {"statistic", "allowed", "margin"}
    assert set(row["sampled"]["fit"]) == {"statistic_in", "p_in", "statistic_out", "p_out"}
    assert document["environment"]["numpy"]


def test_infinity_in_json_is_a_string(report: Report) -> None:
    assert json.loads(to_json.to_json(report))["rows"][0]["exact"]["epsilon"] == "inf"
    assert "Infinity" not in to_json.to_json(report)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.inf, "∞"),
        (0.0, "0"),
        (0.99, "0.99"),
        (1 / 3, "0.3333"),
        (1.0, "1"),
        (1 - 1e-9, "1−1e-09"),
        (1e-20, "1e-20"),
        (37.0, "37"),
    ],
)
def test_a_short_number_never_hides_what_matters(value: float | None, text: str) -> None:
    assert short(value) == text


def test_the_table_shows_every_row_and_verdict(report: Report) -> None:
    text = _text(report)
    for row in report.rows:
        assert row.mechanism in text
        assert row.attack in text
    assert text.count("VIOLATED") >= 7
    assert "UNDERPOWERED" in text


def test_an_error_is_shown_as_it_is(report: Report) -> None:
    failed = dataclasses.replace(report.rows[0], error="ValueError: [red] & <b>", exact=None, sampled=None)
    broken = dataclasses.replace(report, rows=(failed,))
    assert "ERROR" in _text(broken)
    assert "ValueError: [red] & <b>" in "".join(terminal.errors(broken.rows))
    assert "ValueError: [red] &amp; &lt;b&gt;" in to_html.to_html(broken)


def test_the_page_is_self_contained(report: Report) -> None:
    parts, html = page.parts(report), to_html.to_html(report)
    assert html == to_html.to_html(report)
    assert not re.search(r"https?:|url\(|@import| src=", html)
    assert html.count("<script>") == html.count("<script") == 1
    assert len(html.encode()) < 4_000_000
    assert all(str(escape(row.description)) in html for row in report.rows)
    sections = html.split("<article")[1:]
    assert len(sections) == len(report.rows)
    for one, section in zip((one for part in parts for one in part.rows), sections, strict=True):
        assert one.row.mechanism in section
        assert one.row.sketch is None or "<figure><svg" in section


def test_a_row_is_violated_by_any_kind_of_evidence(report: Report) -> None:
    violated = [row for row in report.rows if row.violated]
    assert all(_verdicts(row) & {Verdict.VIOLATED} for row in violated)
    assert not any(_verdicts(row) & {Verdict.VIOLATED} for row in report.rows if row not in violated)
    on_outcomes = {row.mechanism for row in violated if row.channel is None}
    assert on_outcomes.isdisjoint({"exponential-base2"})


def _verdicts(row: Row) -> set[Verdict]:
    return {evidence.verdict for evidence in (row.exact, row.exhaustive, row.sampled) if evidence}


def _text(report: Report) -> str:
    from rich.console import Console

    made = table.table(report)
    console = Console(width=table.natural_width(made), color_system=None)
    with console.capture() as capture:
        console.print(made)
    return capture.get()


def test_what_a_side_channel_alone_breaks_is_not_called_broken(report: Report) -> None:
    answers = page.answers(report, page.parts(report))
    broken, by_channel = ({one.mechanism for one in answers[name]} for name in ("broken", "by_channel"))
    assert "exponential-base2" in by_channel
    assert not broken & by_channel
    told = to_html.to_html(report).split('id="found"')[1].split("</section>")[0]
    assert told.index("by a side channel alone") < told.index(">exponential-base2<")


def test_only_exact_members_are_recommended(report: Report) -> None:
    """Not what merely resists this attack, as the shifted weights do, which the next attack breaks."""
    parts = page.parts(report)
    answers = page.answers(report, parts)
    broken = {row.mechanism for row in report.rows if row.violated}
    for twin in answers["twins"]:
        assert member(twin.mechanism).exact
        assert twin.mechanism not in broken
        assert [one.mechanism for part in parts for one in part.held if one.anchor == twin.anchor] == [twin.mechanism]
    violated = {row.family for row in report.rows if row.violated}
    assert sorted(member(twin.mechanism).family for twin in answers["twins"]) == sorted(violated)
    held = [member(one.mechanism) for part in parts for one in part.held]
    assert all(one.exact and not one.variant_of for one in held)


def test_an_exact_member_is_recommended_where_the_broken_one_is_the_users(report: Report) -> None:
    broken = next(row for row in report.rows if row.violated and row.family == "laplace")
    mine = dataclasses.replace(report, rows=(dataclasses.replace(broken, mechanism="cmd: ./mine"),))
    (twin,) = page.answers(mine, page.parts(mine))["twins"]
    assert (member(twin.mechanism).exact, member(twin.mechanism).family) == (True, "laplace")
    told = to_html.to_html(mine).split('id="next"')[1].split("</section>")[0]
    assert f"<code>{twin.mechanism}</code>" in told


def test_inputs_are_shown_where_all_rows_of_an_attack_have_the_same(report: Report) -> None:
    one, other = (dataclasses.replace(row, attack="same", channel=None) for row in report.rows[:2])
    shown = [dataclasses.replace(row, worlds=Worlds("np.full(2, math.inf)", "[]")) for row in (one, other)]
    (part,) = page.parts(dataclasses.replace(report, rows=tuple(shown)))
    assert part.inputs == "import numpy as np\nimport math\ndata_in = np.full(2, math.inf)\ndata_out = []"
    for second in (None, Worlds("1", "0")):
        rows = shown[0], dataclasses.replace(shown[1], worlds=second)
        (part,) = page.parts(dataclasses.replace(report, rows=rows))
        assert part.inputs == ""


def test_rows_that_all_failed_are_no_attacks_that_did_not_succeed(report: Report) -> None:
    failed = tuple(dataclasses.replace(row, error="ValueError: no", claim=None) for row in report.rows[:2])
    told = to_html.to_html(dataclasses.replace(report, rows=failed))
    assert "No row has a verdict on its claim." in told
    assert "did not succeed" not in told
    assert "Claim:</strong> the claim" not in told


def test_no_name_breaks_a_document_whatever_characters_it_holds(report: Report) -> None:
    name = "\ud800\x00\x1b[31m\u202e</script>"
    broken = dataclasses.replace(report, rows=(dataclasses.replace(report.rows[0], mechanism=name),))
    html, document = to_html.to_html(broken), to_json.to_json(broken)
    assert not set("\ud800\x00\x1b\u202e") & set(html)
    assert "\\ud800\\x00\\x1b[31m\\u202e&lt;/script&gt;" in html
    assert json.loads(document.encode())["rows"][0]["mechanism"] == name
    assert html.encode()
