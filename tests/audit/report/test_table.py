"""The page of a report: self-contained, none of its rows prettier than it is. The golden files have its words."""

import dataclasses
import json
import re

from markupsafe import escape

from subnormal.audit.model import Report, Worlds
from subnormal.audit.report import page, to_html, to_json
from subnormal.mechanisms.families import member


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


def test_what_a_side_channel_alone_breaks_is_not_called_broken(report: Report) -> None:
    answers = page.answers(report, page.parts(report))
    broken, by_channel = ({one.mechanism for one, _ in answers[name]} for name in ("broken", "by_channel"))
    assert "exponential-base2" in by_channel
    assert not broken & by_channel
    told = to_html.to_html(report).split('id="found"')[1].split("</section>")[0]
    assert told.index("by a side channel alone") < told.index(">exponential-base2<")


def test_only_exact_members_are_recommended(report: Report) -> None:
    """Not what merely resists this attack, as the shifted weights do, which the next attack breaks."""
    parts = page.parts(report)
    answers = page.answers(report, parts)
    broken = {row.mechanism for row in report.rows if row.violated}
    for twin, anchor in answers["twins"]:
        assert member(twin).exact
        assert twin not in broken
        assert [one.mechanism for part in parts for one in part.held if one.anchor == anchor] == [twin]
    violated = {row.family for row in report.rows if row.violated}
    assert sorted(member(twin).family for twin, _ in answers["twins"]) == sorted(violated)
    held = [member(one.mechanism) for part in parts for one in part.held]
    assert all(one.exact and not one.variant_of for one in held)


def test_an_exact_member_is_recommended_where_the_broken_one_is_the_users(report: Report) -> None:
    broken = next(row for row in report.rows if row.violated and row.family == "laplace")
    mine = dataclasses.replace(report, rows=(dataclasses.replace(broken, mechanism="cmd: ./mine"),))
    ((twin, _),) = page.answers(mine, page.parts(mine))["twins"]
    assert (member(twin).exact, member(twin).family) == (True, "laplace")
    told = to_html.to_html(mine).split('id="next"')[1].split("</section>")[0]
    assert f"<code>{twin}</code>" in told


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
