"""report.html in a real browser: what a stranger sees first, sort, filter, links; light, dark, without scripts."""

import dataclasses
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from subnormal.attacks.catalogue import attack
from subnormal.attacks.side_channels.subnormal_time import subnormal_time
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.model import Report, Row
from subnormal.audit.report import sentences, to_html
from subnormal.mechanisms.families import member
from tests.support.browser import CONTRASTS, FITS, HIGH, NARROW, NEEDS_BROWSER, WIDE, Opened, follow

pytestmark = NEEDS_BROWSER
SEVERITY = ["VIOLATED", "ERROR", "UNRESOLVED", "UNDERPOWERED", "NOT REFUTED", "HOLDS", "MEASURED"]
ANSWERS = ["What is claimed", "What was found", "How sure", "What to do next"]
TIMED = subnormal_time(outcomes=50)


def row(name: str, mechanism: str, runs: int = 500, **options: Any) -> Row:
    return examine(Crossing(attack(name), member(mechanism)), seed=1, runs=runs, alpha=0.05, **options)


@pytest.fixture(scope="module")
def small() -> Report:
    """A row of every verdict but UNRESOLVED, and of every kind of evidence that is drawn."""

    def broken_worlds() -> tuple[Any, Any]:
        raise ValueError("<no> worlds")

    failed = dataclasses.replace(attack("zero-rounding"), worlds=broken_worlds)
    rows = [
        row("zero-rounding", "exponential-naive-float64"),
        row("zero-rounding", "exponential-exact"),
        row("truncated-addition", "exponential-naive-float64"),
        row("grid-precision", "laplace-naive-float64", 2_000, until_decided=True),
        row("grid-precision", "laplace-rounded", 5),
        row("least-significant-bits", "laplace-rounded", 50),
        row("grid-precision@epsilon=0.1", "laplace-exact"),
        row("least-significant-bits", "laplace-naive-float64"),
        row("uniform-floor", "threshold-naive-float32"),
        examine(Crossing(failed, member("exponential-base2")), seed=1, runs=10, alpha=0.05),
        row("rejection-tries", "exponential-base2"),
        examine(Crossing(TIMED, member("exponential-exact")), seed=1, runs=100, alpha=0.05),
    ]
    return Report("0", 1, 500, 0.05, 0.05 / len(rows), {"numpy": np.__version__}, tuple(rows))


@pytest.fixture(scope="module")
def pages(small: Report, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The addresses of the page of this report, and of one with ten times as many."""
    many = [
        dataclasses.replace(one, mechanism=f"{one.mechanism}-with-a-longer-name-{number}")
        for number in range(10)
        for one in small.rows
    ]
    folder = tmp_path_factory.mktemp("pages")
    for name, report in (("small", small), ("many", dataclasses.replace(small, rows=tuple(many)))):
        (folder / f"{name}.html").write_text(to_html.to_html(report), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in ("small", "many")}


@pytest.fixture
def opened(browser: Any, pages: dict[str, str], request: pytest.FixtureRequest) -> Iterator[Any]:
    """The small page, wide and light unless the test says otherwise. Nobody complains, whatever a test does."""
    shown = Opened(browser, pages["small"], **getattr(request, "param", {}))
    yield shown.page
    assert shown.complaints == []
    shown.page.context.close()


EVERY_WAY = pytest.mark.parametrize(
    "opened",
    [
        {"color_scheme": scheme, "java_script_enabled": scripts, "viewport": {"width": width, "height": HIGH}}
        for scheme, scripts, width in (  # each two of these together
            ("light", True, WIDE),
            ("light", False, NARROW),
            ("dark", True, NARROW),
            ("dark", False, WIDE),
        )
    ],
    indirect=True,
    ids=lambda way: (
        f"{way['color_scheme']}-{way['viewport']['width']}{'' if way['java_script_enabled'] else '-no-scripts'}"
    ),
)


def unfold(page: Any) -> None:
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


def test_nothing_is_wider_than_a_screen_of_any_width(browser: Any, pages: dict[str, str]) -> None:
    page = Opened(browser, pages["many"]).page
    for unfolded in (False, True):
        if unfolded:
            unfold(page)
        for width in (320, 704, 720, 1000, 1100):
            page.set_viewport_size({"width": width, "height": HIGH})
            assert page.evaluate(FITS), (unfolded, width)


@EVERY_WAY
def test_nothing_is_wider_than_the_screen_and_every_picture_is_within_its_section(opened: Any, small: Report) -> None:
    unfold(opened)
    assert opened.evaluate(FITS)
    places = opened.evaluate(
        """[...document.querySelectorAll("figure")].map(figure => {
          const inner = figure.querySelector("svg").getBoundingClientRect();
          const outer = figure.closest("article").getBoundingClientRect();
          return [inner.left - outer.left, inner.top - outer.top, outer.right - inner.right,
                  outer.bottom - inner.bottom, inner.width - 200, inner.height - 100];
        })"""
    )
    assert len(places) > 3 * len(small.rows) - 6
    assert np.min(places) >= 0


@EVERY_WAY
def test_text_can_be_read(opened: Any) -> None:
    contrasts = opened.evaluate(CONTRASTS)
    assert len(contrasts) > 500
    assert [one for one in contrasts if one[1] < 4.5] == []


def test_a_stranger_sees_both_twins_of_each_attack_then_four_answers_then_the_table(
    browser: Any, pages: dict[str, str]
) -> None:
    shown = Opened(browser, pages["many"])
    first = shown.page.locator("a.line").first.bounding_box()
    assert first["y"] + first["height"] <= HIGH
    lines = shown.page.evaluate(
        'Array.from(document.querySelectorAll("a.line"), one => one.getBoundingClientRect().y + window.scrollY)'
    )
    boxes = [
        shown.page.get_by_role("heading", name=answer, exact=True).locator("..").bounding_box() for answer in ANSWERS
    ]
    places = [(box["y"], box["x"]) for box in boxes]
    assert places == sorted(places)
    table = shown.page.locator("#rows").bounding_box()
    assert max(lines) < min(box["y"] for box in boxes) <= max(box["y"] for box in boxes) < table["y"]
    assert shown.complaints == []


def pixels(picture: bytes) -> Any:
    return imread(io.BytesIO(picture))[..., :3]


def test_dark_is_dark_and_light_is_light_in_the_pictures_too(browser: Any, pages: dict[str, str]) -> None:
    taken = {}
    for scheme in ("light", "dark"):
        page = Opened(browser, pages["small"], color_scheme=scheme).page
        unfold(page)
        taken[scheme] = [pixels(shot) for shot in (page.screenshot(), page.locator("figure svg").first.screenshot())]
    for light, dark in zip(taken["light"], taken["dark"], strict=True):
        assert light.shape == dark.shape
        assert light.mean() > 0.8
        assert dark.mean() < 0.35
        assert min(light.std(), dark.std()) > 0.02  # something is on it


@pytest.mark.parametrize("opened", [{}, {"java_script_enabled": False}], indirect=True, ids=["scripts", "none"])
def test_every_row_of_the_table_links_to_its_section_which_opens_and_back(opened: Any, small: Report) -> None:
    links = opened.locator("#rows tbody a")
    assert links.count() == len(small.rows)
    for number, one in enumerate(by_severity(small)):
        link = links.nth(number)
        section = opened.locator(f"[id='{link.get_attribute('href')[1:]}']")
        assert section.count() == 1
        assert one.mechanism in section.locator("xpath=ancestor::article").locator("h3").inner_text()
        back = section.locator("a.up")
        assert back.get_attribute("aria-label") == "to its row of the table"
        assert opened.locator(f"[id='{back.get_attribute('href')[1:]}'] a").get_attribute("href") == link.get_attribute(
            "href"
        )
    section = opened.locator(f"[id='{links.nth(4).get_attribute('href')[1:]}']")
    assert not section.is_visible()  # it is folded
    links.nth(4).click()
    section.wait_for()  # until it is visible
    assert 0 <= section.bounding_box()["y"] < HIGH / 4
    back = section.locator("a.up")
    back.click()
    opened.wait_for_url(f"**/small.html{back.get_attribute('href')}")
    table_row = opened.locator("#rows tbody tr").nth(4).bounding_box()
    head = opened.locator("#rows thead").bounding_box()
    assert head["y"] + head["height"] <= table_row["y"] < HIGH / 2  # nothing lies over it


def by_severity(report: Report) -> list[Row]:
    return sorted(report.rows, key=lambda row: SEVERITY.index(sentences.verdict(row)))


def test_the_filter_shows_one_verdict_and_one_family_in_the_table_and_below_it(opened: Any, small: Report) -> None:
    def visible() -> tuple[int, int]:
        return opened.locator("#rows tbody tr:visible").count(), opened.locator("article:visible").count()

    counted = Counter(sentences.verdict(row) for row in small.rows)
    for verdict in (*counted, ""):
        opened.get_by_label("Verdict").select_option(verdict)
        expected = counted[verdict] if verdict else len(small.rows)
        assert visible() == (expected, expected)
        assert len(set(column(opened, 2, ":not([hidden])"))) == (1 if verdict else len(counted))
        rows = f"{len(small.rows)} rows"
        assert opened.locator("#shown").inner_text() == (f"{expected} of {rows}" if verdict else rows)
    opened.get_by_label("Family").select_option("laplace")
    opened.get_by_label("Verdict").select_option("VIOLATED")
    laplace = sum(row.family == "laplace" and row.violated for row in small.rows)
    assert 0 < laplace < counted["VIOLATED"]
    assert visible() == (laplace, laplace)
    assert opened.locator(".attacked:visible").count() == laplace


def test_a_link_to_a_row_that_is_filtered_out_shows_it(opened: Any) -> None:
    opened.get_by_label("Verdict").select_option("HOLDS")
    link = opened.locator("#found a").first
    section = opened.locator(f"[id='{link.get_attribute('href')[1:]}']")
    assert not section.is_visible()
    follow(opened, link)
    assert section.is_visible()
    assert 0 <= section.bounding_box()["y"] < HIGH / 2
    assert opened.get_by_label("Verdict").input_value() == ""


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_header_stays_while_the_table_is_read(browser: Any, pages: dict[str, str], width: int) -> None:
    page = Opened(browser, pages["many"], viewport={"width": width, "height": HIGH}).page
    rows = page.locator("#rows tbody tr")
    rows.nth(rows.count() // 2).evaluate("row => row.scrollIntoView({block: 'center'})")
    head = page.locator("#rows thead").bounding_box()
    assert abs(head["y"]) < 2
    assert head["height"] < HIGH / 6
    assert page.get_by_label("Verdict").is_visible()
    over = "([x, y]) => document.elementFromPoint(x, y).closest('thead') !== null"
    assert page.evaluate(over, [width / 2, head["height"] / 2])


def test_what_is_pasted_makes_the_worlds_of_the_row(opened: Any, small: Report) -> None:
    for one in small.rows:
        if one.error is not None:
            continue
        pasted = opened.locator(".attacked", has=opened.locator("h2", has_text=re.compile(f"^{re.escape(one.attack)}")))
        names: dict[str, Any] = {}
        made = TIMED if one.attack == TIMED.name else attack(one.attack)
        exec(pasted.first.locator("pre").inner_text(), names)
        for name, data in zip(("data_in", "data_out"), made.worlds(), strict=True):
            np.testing.assert_array_equal(names[name], data, strict=True)


def test_words_of_the_field_are_explained_where_they_first_stand(opened: Any) -> None:
    unfold(opened)
    for word in ("side channel", "law", "twin", "advantage", "allowed"):
        first = opened.evaluate(
            """word => {
              const within = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
              while (within.nextNode()) {
                const node = within.currentNode;
                if (new RegExp(`\\\\b${word}s?\\\\b`, "i").test(node.data)) return node.parentElement.tagName;
              }
            }""",
            word,
        )
        assert first == "DFN", word


def test_headings_go_down_one_step_at_a_time_and_no_name_is_given_twice(opened: Any) -> None:
    levels = opened.evaluate('[...document.querySelectorAll("h1, h2, h3")].map(one => Number(one.tagName[1]))')
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(np.diff(levels)) <= 1
    names = opened.evaluate('[...document.querySelectorAll("[id]")].map(one => one.id)')
    assert len(names) == len(set(names))
    assert opened.evaluate("document.documentElement.lang") == "en"


def column(page: Any, place: int, which: str = "") -> list[str]:
    cells: list[str] = page.evaluate(
        """([place, which]) => [...document.querySelectorAll(`#rows tbody tr${which}`)]
          .map(row => row.cells[place].textContent.trim())""",
        [place, which],
    )
    return cells


def number(cell: str) -> float:
    told = cell.removeprefix("≥ ").replace(",", "", 0 if "δ" in cell else -1).split(",")[0]
    if told.startswith("1−"):
        return 1 - float(told[2:])
    return np.inf if told == "∞" else float(told)


def test_a_heading_sorts_the_table_and_again_the_other_way(opened: Any) -> None:
    heads = opened.locator("#rows .heads th")
    for place in (0, 1, 2, 5, 6, 7, 8):
        given = column(opened, place)
        key: Any = str if place in (0, 1, 5) else SEVERITY.index if place == 2 else number
        known = [cell for cell in given if cell != "–" or place == 5]
        ascending = sorted(map(key, known))
        assert len(set(ascending)) > 1
        for way, ordered in (("ascending", ascending), ("descending", ascending[::-1])):
            heads.nth(place).get_by_role("button").press("Enter")
            ways = [head.get_attribute("aria-sort") for head in heads.all()]
            assert ways == [None] * place + [way] + [None] * (8 - place)
            shown = column(opened, place)
            assert [key(cell) for cell in shown[: len(known)]] == ordered
            assert shown[len(known) :] == ["–"] * (len(given) - len(known))


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_violations_come_first_and_nothing_promises_a_sort_or_a_filter(
    opened: Any, small: Report
) -> None:
    assert column(opened, 1) == [row.mechanism for row in by_severity(small)]
    assert opened.get_by_role("button").count() == 0
    assert opened.get_by_role("combobox").count() == 0
    assert "sorts" not in opened.locator("#verdicts").inner_text()
    broken = [one for one in opened.locator("article").all() if "VIOLATED" in one.locator("h3").inner_text()]
    assert len(broken) == sum(row.violated for row in small.rows)
    for one in broken:
        one.locator("summary").first.click()
        assert one.locator("figure svg").first.is_visible()


def test_on_paper_it_is_black_on_white_whatever_the_screen(browser: Any, pages: dict[str, str], tmp_path: Path) -> None:
    page = Opened(browser, pages["small"], color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not page.locator("figure svg").first.is_visible()  # sections are folded, as on the screen
    unfold(page)
    assert pixels(page.locator("figure svg").first.screenshot()).mean() > 0.8
    page.pdf(path=tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
