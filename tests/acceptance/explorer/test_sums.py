"""Running sums and their bits in docs/explorer.html, and the band under its slider, wide and on a phone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support.browser import CONTRASTS, FITS, NEEDS_BROWSER, Opened, follow
from tests.support.paths import ROOT

pytestmark = NEEDS_BROWSER

PAGE = (ROOT / "docs" / "explorer.html").as_uri()
TYPES: dict[str, tuple[Any, Any, int]] = {
    "float64": (np.float64, np.uint64, 52),
    "float32": (np.float32, np.uint32, 23),
    "float16": (np.float16, np.uint16, 10),
}
PHONE = {"width": 390, "height": 844}
ZERO = "#mechanism=exponential&type=float64&epsilon=0.5&shift=2980&rows=1,0,0;99,1,0"
TRUNCATED = "#mechanism=exponential&type=float64&epsilon=37&shift=0&rows=1,0,1;999,2,1"
MAPPED = "explorer.map().tried === explorer.map().codes.length"


@pytest.mark.parametrize("kind", TYPES)
def test_the_bits_of_a_float_are_those_of_numpy(explorer: Any, kind: str) -> None:
    """Random patterns of bits without NaN, among them subnormal numbers, and the ends of the type."""
    float_type, word, stored = TYPES[kind]
    width = 8 * word(0).nbytes
    rng = np.random.default_rng(5)
    patterns = [*(int(one) % 2 ** (width - 1) for one in rng.integers(0, 2**62, 500)), 0, 1, 2**stored - 1, 2**stored]
    patterns += [int(one) % 2**stored for one in patterns[:100]]  # subnormal
    values = np.array(patterns, dtype=word).view(float_type)
    kept = np.isfinite(values)
    found = explorer.evaluate(
        "([values, kind]) => values.map(one => explorer.floatBits(one, kind))",
        [[float(one) for one in values[kept]], kind],
    )
    assert len(found) > 500
    for pattern, bits in zip(np.array(patterns)[kept], found, strict=True):
        assert bits["sign"] + bits["exponent"] + bits["digits"][1:] == format(int(pattern), f"0{width}b")
        assert (bits["digits"][0] == "1") is ("1" in bits["exponent"])
    infinite = explorer.evaluate("kind => explorer.floatBits(Infinity, kind)", kind)
    assert infinite["exponent"] + infinite["digits"][1:] == format(
        int(np.array([np.inf], dtype=float_type).view(word)[0]), f"0{width - 1}b"
    )


@pytest.mark.parametrize("kind", TYPES)
def test_sums_are_absorbed_and_rounded_as_in_numpy(explorer: Any, kind: str) -> None:
    float_type = TYPES[kind][0]
    rng = np.random.default_rng(6)
    blocks = [(int(rng.integers(1, 40)), float(float_type(np.exp(-rng.uniform(0, 45))))) for _ in range(300)]
    with np.errstate(under="ignore"):
        for start in range(0, 300, 3):
            weighted = blocks[start : start + 3]
            runs = explorer.evaluate("([weighted, kind]) => explorer.sumRuns(weighted, kind)", [weighted, kind])
            total, place, additions = float_type(0), 0, []
            for (outcomes, weight), run in zip(weighted, runs, strict=True):
                rises = []
                for _ in range(outcomes):
                    after = float_type(total + float_type(weight))
                    rises.append(bool(after != total))
                    additions.append([float(total), weight, float(after)])
                    total = after
                assert (run["first"], run["end"]) == (place, place + outcomes)
                assert rises == [place + i < run["from"] for i in range(outcomes)]
                place += outcomes
            signs = explorer.evaluate("added => added.map(one => explorer.roundingOf(...one))", additions)
            real = [Fraction(after) - Fraction(before) - Fraction(weight) for before, weight, after in additions]
            assert signs == [(one > 0) - (one < 0) for one in real]


def test_pointing_at_a_weight_shows_its_bits_and_strikes_out_those_that_are_lost(browser: Any) -> None:
    with Opened(browser, PAGE + TRUNCATED) as page:
        strip, slider = page.get_by_role("region", name="Weights"), page.get_by_role("slider", name="Read an outcome")
        assert slider.input_value() == "1"  # the first that is lost
        told = slider.get_attribute("aria-valuetext")
        assert "Outcome 1 with Alice. All digits of the weight are lost" in told
        assert "Outcome 1 without Alice. The addition loses nothing." in told
        assert len(strip.locator("s").first.inner_text().replace(".", "")) == 53
        assert strip.locator("s").count() == 1
        slider.focus()
        page.keyboard.press("Home")
        assert "Outcome 0 with Alice. The addition loses nothing." in strip.locator(".bits").inner_text()
        strip.get_by_role("img", name="Weight of row 2 with Alice").focus()
        assert slider.input_value() == "1"
        box = strip.locator(".stairs").bounding_box()
        page.mouse.move(box["x"] + 0.75 * box["width"] + 0.2, box["y"] + 50)
        assert slider.input_value() == "750"
        paths = [strip.locator(f".absorbed.{side}").get_attribute("d") for side in "io"]
        assert paths == ["M1.00 0.00H1000.00", ""]
        page.get_by_role("link", name="Zero rounding", exact=True).click()
        page.locator(
            ".bits", has_text="Outcome 1 with Alice. The weight e^(−ε·u/2), about 2⁻¹⁰⁷⁵, is rounded to zero"
        ).wait_for()
        assert "The weight is subnormal: it has 1 of 53 digits." in strip.locator(".bits").inner_text()


def test_a_single_bit_is_struck_out(browser: Any) -> None:
    """e^−0.25 is 1595·2^−11 in float16: of 1 + 1595·2^−11 the last bit is lost."""
    with Opened(browser, f"{PAGE}#mechanism=exponential&type=float16&epsilon=0.5&shift=0&rows=1,0,0;99,1,0") as page:
        page.get_by_role("slider", name="Read an outcome").fill("1")
        assert page.locator(".bits .i s").all_inner_texts() == ["1"]
        assert page.locator(".bits .i .float").first.inner_text().split()[1:4] == ["0", "01110", "1.1000111011"]


def test_a_comb_is_told_from_one_whose_marks_agree(explorer: Any) -> None:
    code = "([without, near]) => explorer.codeOfComb({...explorer.PRESETS[6][1], without, near})"
    assert [explorer.evaluate(code, one) for one in (["0", 0.3], ["1", 0.3], ["1", 100])] == [2, 1, 3]


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_a_window_of_one_step_can_be_seen_and_clicked(browser: Any, width: int) -> None:
    """In float64 two of 2,984 positions are violated: apart from each other they are a thousandth of the slider."""
    screen = {"width": width, "height": 844}
    with Opened(browser, f"{PAGE}#mechanism=exponential", viewport=screen, is_mobile=width == 390) as page:
        page.wait_for_function(MAPPED, timeout=60_000)
        assert page.locator("#legend").inner_text().startswith(" VIOLATED at 2 of 2,984 positions: 2,976 2,980")
        window = page.locator("#map .violated").first
        window.scroll_into_view_if_needed()
        box = window.bounding_box()
        assert box["width"] >= 5
        assert box["height"] >= 15
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.locator("#says b").inner_text() == "VIOLATED"
        page.get_by_role("button", name="2,976").click()
        assert page.get_by_role("textbox", name="Add to all utilities").input_value() == "2976"
        assert page.locator("#says b").inner_text() == "VIOLATED"
        page.get_by_role("textbox", name="Row 2: outcomes").fill("98")
        page.wait_for_function("explorer.map().tried === 0")  # a new band
        page.wait_for_function(MAPPED, timeout=60_000)
        assert page.evaluate(FITS)


@pytest.mark.parametrize(
    ("link", "shown"), [(ZERO, "#strip svg"), ("#mechanism=laplace", ".comb"), (TRUNCATED, "#strip svg")]
)
def test_on_a_phone_the_slider_and_the_picture_are_on_the_first_screen(browser: Any, link: str, shown: str) -> None:
    with Opened(browser, PAGE + link, viewport=PHONE, is_mobile=True) as page:
        page.wait_for_function(MAPPED, timeout=60_000)
        for part in ("#round", "[data-guess=out]", "#stage input", "#map", shown):
            box = page.locator(part).first.bounding_box()
            assert box["y"] + box["height"] <= 844, part
        assert page.evaluate(FITS)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert [one for one in page.evaluate(CONTRASTS) if one[1] < 4.5] == [], scheme
        page.get_by_text("Break it yourself").click()
        assert page.locator("ol:visible li").count() == 4
        page.get_by_text("Published attacks").click()
        follow(page, page.get_by_role("link", name="Absorption"))
