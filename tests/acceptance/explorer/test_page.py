"""docs/explorer.html in a real browser: what a reader does works, wide and narrow, light and dark, by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest

from subnormal.attacks.catalogue import attack
from subnormal.mechanisms.exponential import naive
from tests.support.browser import CONTRASTS, FITS, HIGH, NARROW, NEEDS_BROWSER, WIDE, Opened, follow
from tests.support.paths import ROOT

pytestmark = NEEDS_BROWSER

PAGE = (ROOT / "docs" / "explorer.html").as_uri()


def texts(page: Any) -> tuple[str, list[str]]:
    """Return the page's verdict, and those of the naive and the exact mechanism."""
    return page.locator("#says b").inner_text(), page.locator(".card h3 b").all_inner_texts()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_published_attacks_violate_and_the_exact_mechanism_holds(browser: Any, width: int, scheme: str) -> None:
    """On a wide and on a narrow screen, where all can be read and nothing is wider than the screen."""
    screen = {"width": width, "height": HIGH}
    with Opened(browser, PAGE, viewport=screen, color_scheme=scheme, is_mobile=width == NARROW) as page:
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 31)"}[scheme]
        assert texts(page) == ("HOLDS for this pair", ["HOLDS", "HOLDS"])
        if width == NARROW:
            page.get_by_text("Published attacks").click()  # prose is folded there
        _, *attacks = page.locator("#presets a").all_inner_texts()
        assert len(attacks) == 9
        for name in [name for name in attacks if name != "Rounded addition, float32"]:  # it is slow
            follow(page, page.get_by_role("link", name=name, exact=True))
            assert page.locator("[aria-current]").get_by_text(name, exact=True).is_visible()
            assert texts(page) == ("VIOLATED", ["VIOLATED", "HOLDS"])
            assert page.evaluate(FITS)
        page.get_by_role("button", name="Draw").click()
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 100
        assert [one for one in contrasts if one[1] < 4.5] == []
        assert page.evaluate(FITS)


def test_a_student_breaks_it_with_the_keyboard_alone(browser: Any) -> None:
    """float16, the slider to its end, where all weights are 0, and back by single steps."""
    with Opened(browser, PAGE) as page:
        page.get_by_role("radio", name="exponential").focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.value") == "float64"
        page.keyboard.press("ArrowUp")  # round to the last one
        assert page.get_by_role("radio", name="float16").is_checked()
        for _ in range(2):  # past the words on the verdict
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.ariaLabel") == "Add to all utilities"
        page.keyboard.press("End")
        assert texts(page)[0] == "NO VERDICT"
        pressed = 0
        while texts(page)[0] != "VIOLATED":
            page.keyboard.press("ArrowLeft")
            pressed += 1
            assert pressed < 5
        assert texts(page)[1] == ["VIOLATED", "HOLDS"]


def test_bars_are_linear_or_logarithmic_and_a_link_says_which(browser: Any) -> None:
    """Without Alice each of 100 outcomes has the probability .01, which 1 is a hundred times as long as."""
    lengths = (
        "[...document.querySelectorAll('[aria-label=\"Naive mechanism\"] rect.bar')].map(one => one.getBBox().width)"
    )
    with Opened(browser, PAGE) as page:
        follow(page, page.get_by_role("link", name="Zero rounding", exact=True))
        sure, rare, never, rest = page.evaluate(lengths)
        assert sure == pytest.approx(100 * rare, rel=0.01)
        assert (never, rest) == (0, pytest.approx(0.99 * sure, rel=0.01))
        page.get_by_role("radio", name="logarithmic").check()
        assert page.evaluate(lengths)[:2] == pytest.approx([sure, 15 / 17 * sure], rel=0.01)
        assert page.evaluate("location.hash").endswith("&bars=logarithmic")
        page.reload()
        assert page.get_by_role("radio", name="logarithmic").is_checked()
        page.goto(f"{PAGE}#bars=round")
        assert "there are no round bars" in page.locator("#says").inner_text()


@pytest.mark.parametrize(("kind", "changes"), [("float16", 3), ("float64", 2)])
def test_the_next_change_of_the_verdict_is_one_press_away(browser: Any, kind: str, changes: int) -> None:
    """Of all numbers that may be added, those where the verdict is another one than that of the number before. In
    float64 the slider has 2,984 steps, and VIOLATED is a few of them."""
    verdicts = (
        "number => explorer.exploreExponential({...explorer.PRESETS[0][1], type: kind, shift: number}).naive.violated"
    )
    with Opened(browser, PAGE) as page:
        page.get_by_role("radio", name=kind).check()
        button, places = page.get_by_role("button", name="Next change of verdict"), []
        for _ in range(20):
            before = texts(page)[0]
            button.click()
            if page.locator("#change").inner_text():
                break
            assert texts(page)[0] != before
            places.append(int(page.get_by_role("textbox", name="Add to all utilities").input_value()))
        assert "No further change" in page.locator("#change").inner_text()
        assert len(places) >= changes
        for place in places[:2]:
            one, other = page.evaluate(f"([kind, places]) => places.map({verdicts})", [kind, [place - 1, place]])
            assert one != other


@pytest.mark.parametrize(
    ("preset", "told", "gone"),
    [
        ("Start again", ["No weight is rounded to zero, and the running sums take up all of them."], 0),
        ("Zero rounding", ["With Alice, the weight of row 2 is rounded to zero."], 1),
        (
            "Zero rounding, two outcomes",
            [
                "With Alice, the weight of row 2 is rounded to zero.",
                "Without Alice, the weight of row 1 is rounded to zero.",
            ],
            2,
        ),
        ("Truncated addition", ["With Alice, the running sum absorbs 999 of the weights."], 0),
    ],
)
def test_the_strip_of_weights_says_what_floats_do_to_them(
    browser: Any, preset: str, told: list[str], gone: int
) -> None:
    with Opened(browser, PAGE) as page:
        if preset != "Start again":
            follow(page, page.get_by_role("link", name=preset, exact=True))
        strip = page.get_by_role("region", name="Weights")
        assert strip.locator("p").first.inner_text() == " ".join(told)
        assert strip.locator(".gone").count() == gone
        assert strip.locator("circle").count() == 4 - gone
        assert page.evaluate(FITS)


def test_a_student_breaks_it_with_the_mouse(browser: Any) -> None:
    """float16, and one drag to the right. A slider keeps its scale until it is let go."""
    shown = Opened(browser, PAGE)
    page = shown.page
    page.get_by_role("radio", name="float16").check()

    note = "seen.push(document.querySelector('#says b').textContent)"
    page.evaluate(f"seen = []; document.getElementById('explore').addEventListener('input', () => {note})")

    def drag(name: str, steps: int) -> None:
        slider = page.get_by_role("slider", name=name)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        x, y = box["x"] + 4, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + box["width"] + 40, y, steps=steps)
        page.mouse.up()

    drag("Add to all utilities", 90)
    assert "VIOLATED" in page.evaluate("seen")
    follow(page, page.get_by_role("link", name="Start again"))
    drag("Row 2: utility with Alice", 25)
    assert page.get_by_role("textbox", name="Row 2: utility with Alice").input_value() == "20"
    assert page.get_by_role("slider", name="Row 2: utility with Alice").get_attribute("max") == "50"
    assert shown.complaints == []
    page.context.close()


def test_a_number_can_be_typed_and_a_mistake_is_named(browser: Any) -> None:
    with Opened(browser, PAGE) as page:
        field = page.get_by_role("textbox", name="Row 2: utility with Alice")
        field.fill("1.5")
        assert texts(page)[0] == "NO VERDICT"
        assert "A utility must be an integer" in page.locator("#says").inner_text()
        assert field.get_attribute("aria-invalid") == "true"
        field.fill("3")
        assert "not neighbours: the utilities of row 2 differ by 3" in page.locator("#says").inner_text()
        assert page.get_by_role("button", name="Draw").is_disabled()
        field.fill("-1")
        assert texts(page)[0] == "HOLDS for this pair"
        field.fill("1.5")
        assert texts(page)[0] == "NO VERDICT"
        page.keyboard.press("Tab")  # the field goes back to its last number, and the verdict with it
        page.locator("#says", has_text="HOLDS for this pair").wait_for()
        assert field.input_value() == "-1"
        page.get_by_role("button", name="Add a row").click()
        page.get_by_role("textbox", name="Row 3: outcomes").fill("8388608")
        assert "at most 8,388,608 outcomes" in page.locator("#says").inner_text()
        page.get_by_role("button", name="Remove row 3").click()
        assert texts(page)[0] == "HOLDS for this pair"
        assert page.locator("#worlds [data-row]").count() == 2


def test_worlds_in_which_the_code_always_fails_have_no_verdict(browser: Any) -> None:
    with Opened(browser, f"{PAGE}#mechanism=exponential&type=float16&epsilon=0.5&shift=1000&rows=1,0,1;99,1,1") as page:
        assert texts(page)[0] == "NO VERDICT"
        assert page.get_by_role("heading", name="Naive mechanism").inner_text() == "Naive mechanism"
        assert page.get_by_role("heading", name="Exact mechanism").inner_text() == "Exact mechanism HOLDS"


def test_the_link_holds_the_state(browser: Any) -> None:
    with Opened(browser, f"{PAGE}#mechanism=exponential&type=float32&epsilon=0.25&shift=-7&rows=3,1,2;4,-5,-5") as page:
        assert page.get_by_role("radio", name="float32").is_checked()
        fields = [field.input_value() for field in page.get_by_role("textbox").all()]
        assert fields == ["-7", "0.25", "1", "2", "3", "-5", "-5", "4"]
        page.get_by_role("textbox", name="Row 1: outcomes").fill("30")
        address = page.url
        assert address.endswith("rows=30,1,2;4,-5,-5")
        assert page.get_by_role("link", name="Link to these worlds").evaluate("link => link.href") == address
        with Opened(browser, address) as again:
            shown = [field.input_value() for field in again.get_by_role("textbox").all()]
            assert shown == [*fields[:4], "30", *fields[5:]]
            assert again.locator("#cards").inner_text() == page.locator("#cards").inner_text()
            links = page.evaluate("explorer.PRESETS.map(one => explorer.toLink(one[1]))")
            assert page.evaluate("links => links.map(link => explorer.toLink(explorer.fromLink(link)))", links) == links
            for wrong, message in (
                ("type=float8", "there is no float type float8"),
                ("epsilon=0", "ε must be a number from 0.0001 to 100"),
                ("mechanism=laplace&near=x", "The place to look near must be a number"),
                ("rows=1,0;2", "A utility must be an integer"),
                ("mechanism=magic", "there is no mechanism magic"),
            ):
                again.goto(f"{PAGE}#{wrong}")
                again.get_by_text(message).wait_for()
                assert "The link cannot be read" in again.locator("#says").inner_text()


def test_a_comb_is_read_and_moved_with_the_keyboard(browser: Any) -> None:
    with Opened(browser, f"{PAGE}#mechanism=laplace&type=float16&epsilon=1&with=1&without=0&near=0.5") as page:
        reading = page.locator(".detail").first
        slider = page.get_by_role("slider", name="Read a float")
        slider.focus()
        page.keyboard.press("Home")
        assert reading.inner_text().startswith("0.5: ")
        page.keyboard.press("ArrowRight")
        assert reading.inner_text().startswith(f"{0.5 + 2**-11}: ")
        assert slider.get_attribute("aria-valuetext") == reading.inner_text()
        for name, near in (
            ("floats after", 0.5 + 40 * 2**-11),
            ("floats before", 0.5),
            ("floats before", 0.5 - 40 * 2**-12),
        ):
            page.get_by_role("button", name=name).focus()
            page.keyboard.press("Enter")
            assert float(page.get_by_role("textbox", name="Look near").input_value()) == near
        page.get_by_role("radio", name="float64").check()
        page.get_by_role("textbox", name="Look near").fill("1000")  # farther than any noise
        assert texts(page) == ("UNRESOLVED", ["UNRESOLVED", "HOLDS"])
        for far in ("1.5", "-1.5"):
            page.get_by_role("textbox", name="Value with Alice").fill(far)
            assert "not neighbours" in page.locator("#says").inner_text()
        page.get_by_role("textbox", name="Value with Alice").fill("0")
        page.get_by_role("radio", name="float16").check()
        assert texts(page) == ("HOLDS for this pair", ["HOLDS", "HOLDS"])
        with Opened(browser, page.url) as again:
            assert again.locator("#cards").inner_text() == page.locator("#cards").inner_text()


def test_all_strings_of_float32_can_be_counted(browser: Any) -> None:
    """0.6689, as the attack's docstring derives it from the laws in Python. It stays while the comb moves."""
    with Opened(browser, PAGE) as page:
        follow(page, page.get_by_role("link", name="Least significant bits, float32"))
        count = page.get_by_role("button", name="Count all 2²⁵ strings of bits")
        count.click()
        for press in (None, "floats after"):
            if press:
                page.get_by_role("button", name=press).click()
            assert "Advantage 0.6689, allowed 0.4621" in page.locator("#says").inner_text()
            assert count.count() == 0
        page.get_by_role("textbox", name="Value with Alice").fill("0.5")
        assert "Advantage" not in page.locator("#says").inner_text()
        assert count.count() == 1


def test_the_course_links_to_files_that_exist() -> None:
    text = (ROOT / "docs" / "course.md").read_text()
    files = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert [file for file in files if not (ROOT / "docs" / file).is_file()] == []


def test_a_bar_says_its_exact_probability_and_a_draw_follows_the_law(browser: Any) -> None:
    """Without Alice outcome 0 has probability near 1/100; of 1,000 draws, 40 or more have it with less than 1e-6."""
    with Opened(browser, PAGE) as page:
        follow(page, page.get_by_role("link", name="Zero rounding", exact=True))
        page.get_by_role("img", name="Outcome 0 without Alice").first.focus()
        law = attack("zero-rounding")
        count = naive.law(law.worlds()[1], law.parameters.epsilon).probability(0)[0] * 2**53
        assert f"Exactly {int(count):,} of the 2⁵³ uniforms" in page.locator(".detail").first.inner_text()
        page.get_by_role("button", name="Draw").click()
        (first, rest) = (
            [int(cell.replace(",", "")) for cell in row.split("\t")[1:]]
            for row in page.locator("#drawn tbody tr").all_inner_texts()
        )
        assert first[0] == 1000  # the naive mechanism with Alice
        assert rest[0] == 0
        assert max(first[1:]) < 40
        assert [one + other for one, other in zip(first, rest, strict=True)] == [1000] * 4
        follow(page, page.get_by_role("link", name="Absorption", exact=True))
        page.get_by_role("button", name="Draw").click()
        page.get_by_text("right in 100.0 % of the runs of the naive mechanism").wait_for()
