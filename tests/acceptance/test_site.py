"""The documentation site: a page for each attack and mechanism, no broken link, and what a reader finds first."""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.site import examples, pages, switchers
from subnormal.attacks.catalogue import attacks
from subnormal.audit.model import Report
from subnormal.audit.report import sentences
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.families import FAMILIES, absent, exact_members, members
from tests.support.browser import NEEDS_BROWSER, Opened
from tests.support.paths import ROOT
from tests.support.processes import run

EXACT = [mechanism for family in FAMILIES for mechanism in exact_members(family)]
SLOW = "rounded-addition-float32"  # four million outcomes


@pytest.fixture(scope="module")
def links() -> dict[str, str]:
    """The parts of the explorer's address that show attacks: worlds take a second to build."""
    return {attack.name: link for attack in attacks() if (link := examples.explorer_link(attack))}


@pytest.fixture(scope="module")
def site(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the site."""
    folder = tmp_path_factory.mktemp("site") / "source"
    pages.write(folder, report)
    return folder


def test_every_attack_and_mechanism_has_a_page_with_its_verdicts(site: Path, report: Report) -> None:
    named = {
        "attacks": [attack.name for attack in attacks()],
        "mechanisms": [one.name for family in FAMILIES for one in (*members(family), *absent(family))],
    }
    for kind, names in named.items():
        written = {path.stem for path in (site / kind).glob("*.md")} - {"index"}
        assert written == {pages.file_name(name) for name in names}
    for row in report.rows:
        verdict = sentences.verdict(row)
        for page in (f"attacks/{pages.file_name(row.attack)}.md", f"mechanisms/{pages.file_name(row.mechanism)}.md"):
            other = row.mechanism if page.startswith("attacks") else row.attack
            lines = [line for line in (site / page).read_text().splitlines() if line.startswith(f"| [{other}](")]
            assert any(verdict in line for line in lines), (page, other, verdict)


def test_a_page_of_an_attack_begins_with_pictures_and_one_sentence(
    site: Path, report: Report, links: dict[str, str]
) -> None:
    gallery = (site / "gallery.md").read_text()
    for attack in attacks():
        file = f"attacks/{pages.file_name(attack.name)}"
        text = (site / f"{file}.md").read_text()
        rows = [row for row in report.rows if row.attack == attack.name]
        order = ["<svg"] if rows and any(row.sketch for row in rows) else []
        order += [attack.description[1:], f"subnormal run --attack {attack.name}", "## Numbers", "## Why it works"]
        places = [text.find(part) for part in order]
        assert -1 not in places, (file, order)
        assert places == sorted(places), (file, order)
        assert (f'href="{file}.html"' in gallery) is bool(rows)
        assert ("explorer.html#" in text) is (attack.name in links)
    assert gallery.count(">naive<") == gallery.count('class="gallery"') + gallery.count("</a>\n<a")
    assert "(../notebooks/01_zero_rounding.ipynb)" in (site / "attacks/zero-rounding.md").read_text()


@pytest.mark.parametrize("mechanism", EXACT, ids=lambda one: one.name)
def test_each_exact_mechanism_has_five_lines_that_run(mechanism: AnyMechanism) -> None:
    lines, printed = examples.lines(mechanism), list[Any]()
    assert lines.count("\n") == 4
    exec(lines, {"print": printed.append})
    assert [len(outcomes) for outcomes in printed] == [5]


@NEEDS_BROWSER
def test_the_explorer_violates_the_claim_at_the_link_of_each_attack(browser: Any, links: dict[str, str]) -> None:
    page_file = (ROOT / "docs" / "explorer.html").as_uri()
    assert len(links) > 12
    with Opened(browser, page_file) as page:
        for name, link in links.items():
            if name != SLOW:
                page.goto(f"{page_file}#{link}")
                page.reload()
                assert page.locator("#says b").inner_text() == "VIOLATED", name


@pytest.fixture(scope="module")
def built(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site itself."""
    folder = tmp_path_factory.mktemp("built")
    done = run([sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(site), str(folder)])
    assert done.returncode == 0, done.stderr
    return folder


def test_no_link_of_the_site_is_broken_and_it_needs_no_network(built: Path) -> None:
    outside = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=.https?://[^>]*>")
    for file in built.rglob("*.html"):
        assert outside.findall(file.read_text()) == [], file
    for name in re.findall(r'<a href="(attacks/[^"#]+)"><b>', (built / "index.html").read_text()):
        assert (built / name).is_file()
    assert (built / "docs" / "course.html").read_text().count('href="explorer.html#mechanism=') > 10


@NEEDS_BROWSER
def test_a_search_for_zero_rounding_finds_the_attack_first_and_the_game_is_on_the_first_page(
    built: Path, browser: Any
) -> None:
    page = Opened(browser, f"{(built / 'search.html').as_uri()}?q=zero+rounding").page  # excerpts need a server
    assert page.locator(".search li a").first.get_attribute("href") == "attacks/zero-rounding.html"
    with Opened(browser, (built / "index.html").as_uri()) as page:
        game = page.frame_locator("iframe.game")
        game.get_by_role("button", name="B: without Alice").click()
        assert game.locator("#round").inner_text().startswith("Round 2 of 10")
        assert not game.locator("#stage").is_visible()
        assert page.locator(".sidebar-tree a").first.inner_text() == "Explorer"


def test_a_notebook_has_at_most_ninety_positions_of_its_sliders() -> None:
    for notebook in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        controls = switchers.switcher(notebook.stem, json.loads(notebook.read_text())["metadata"])
        counts = [int(most) + 1 for most in re.findall(r'max="(\d+)"', controls)]
        assert 1 <= len(counts) <= 3, notebook
        assert 1 < math.prod(counts) <= switchers.MOST, notebook


@NEEDS_BROWSER
def test_each_position_of_the_sliders_has_its_picture_without_a_kernel(built: Path, browser: Any) -> None:
    name = "03_base2_mechanism"
    command = [sys.executable, "-m", "docs.site.switchers", str(built / "notebooks" / "pictures"), name]
    assert run(command, cwd=ROOT).stdout == "48 pictures of sliders\n"
    seen = set()
    with Opened(browser, (built / "notebooks" / f"{name}.html").as_uri()) as page:
        first, second = page.locator(".switcher input").all()
        for slider in (first, second):
            slider.focus()
            slider.press("Home")
            for _ in range(int(slider.get_attribute("max")) + 1):
                page.wait_for_function("(i => i.complete && i.naturalWidth)(document.querySelector('img[alt^=ε]'))")
                seen.add(page.locator("img[alt^=ε]").evaluate("i => [i.alt, i.src].join()"))
                slider.press("ArrowRight")
        assert first.get_attribute("aria-valuetext") == "3"
    assert len(seen) == 8 + 6 - 1


@NEEDS_BROWSER
@pytest.mark.parametrize("name", ["01_zero_rounding", "decks/zero_rounding", "decks/sparse_vector"])
def test_the_slides_of_a_notebook_have_all_that_stands_open_and_fit(built: Path, browser: Any, name: str) -> None:
    with Opened(browser, (built / "notebooks" / f"{name}.html").as_uri()) as page:
        headings = page.locator("article :is(h1, h2)").evaluate_all("all => all.map(one => one.textContent)")
        pictures = page.locator("article img").count()
        page.get_by_role("link", name="Show as slides").click()
        slides = page.locator(".slides > section")
        slides.first.wait_for()
        heights = slides.evaluate_all("all => all.map(one => one.scrollHeight)")
        assert max(heights) <= 800, heights
        assert slides.locator("img").count() == pictures
        shown = []
        for _ in heights:
            shown += page.locator(".shown :is(h1, h2)").evaluate_all("all => all.map(one => one.textContent)")
            page.keyboard.press("ArrowRight")
        assert list(dict.fromkeys(shown)) == headings
        assert page.locator(".slides output").last.inner_text() == f"{len(heights)} / {len(heights)}"


@NEEDS_BROWSER
@pytest.mark.parametrize("name", ["decks/zero_rounding", "decks/sparse_vector"])
def test_slides_fit_a_phone_that_is_held_upright(built: Path, browser: Any, name: str) -> None:
    phone = {"width": 390, "height": 844}
    with Opened(browser, f"{(built / 'notebooks' / f'{name}.html').as_uri()}?slides", viewport=phone) as page:
        page.locator(".slides > section").first.wait_for()
        wider = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
        assert page.locator(".slides > section > *").evaluate_all(wider) == []
        heights = page.locator(".slides > section").evaluate_all("all => all.map(one => one.scrollHeight)")
        assert max(heights) <= 1300, heights
        button = page.get_by_role("button", name="Next slide").bounding_box()
        assert button["width"] >= 40  # as wide as a thumb needs
        assert button["x"] + button["width"] <= phone["width"]
