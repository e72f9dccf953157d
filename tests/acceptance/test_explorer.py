"""docs/explorer.html in a real browser: its numbers are Python's, and what a reader does with it works.

What a browser computes is compared given the same weights: the last bit of an exponential function is nobody's promise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.catalogue import attack
from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.exponential import base2, naive
from subnormal.mechanisms.privacy import Claim, selection_eta
from subnormal.mechanisms.samplers.float_uniforms import uniform_bits
from tests.support.browser import CONTRASTS, FITS, HIGH, NARROW, NEEDS_BROWSER, WIDE, Opened
from tests.support.paths import ROOT

pytestmark = NEEDS_BROWSER

PAGE = (ROOT / "docs" / "explorer.html").as_uri()
TYPES: dict[str, Any] = {"float64": np.float64, "float32": np.float32, "float16": np.float16}
SETTINGS = 1_000
ATTACKS = {
    "Zero rounding": "zero-rounding",
    "Zero rounding, two outcomes": "zero-rounding-two-outcomes",
    "Truncated addition": "truncated-addition",
    "Rounded addition, float16": "rounded-addition-float16",
    "Rounded addition, float32": "rounded-addition-float32",
}

# The page's results for a list of settings, from weights that are given to it.
RESULTS = """settings => settings.map(({ type, epsilon, weightsIn, weightsOut, worldIn, worldOut, all }) => {
  const [lawIn, lawOut] = [explorer.law(weightsIn, type), explorer.law(weightsOut, type)];
  const { pairs } = explorer.pairsOfCounts(lawIn.counts, lawOut.counts);
  const { violated, loss, advantage } = explorer.compare(pairs, 2n ** BigInt(lawIn.bits), epsilon);
  const exact = [worldIn, worldOut].map(world => explorer.exactLaw(world, explorer.selectionRate(epsilon)));
  return {
    violated, loss, advantage,
    counts: all ? [lawIn, lawOut].map(law => Array.from(law.counts)) : [],
    exact: exact.map(({ masses, total }) => [masses.map(mass => mass.toString(16)), total.toString(16)]),
    weights: [worldIn, worldOut].map(world => explorer.weights(world, epsilon, type).map(([, weight]) => weight)),
  };
})"""


@pytest.fixture(scope="module")
def shown(browser: Any) -> Iterator[Opened]:
    """The page, for tests of its functions and for those that leave no trace in it."""
    opened = Opened(browser, PAGE)
    yield opened
    assert opened.complaints == []


def blocks(world: list[tuple[int, int]]) -> Any:
    """Return the utilities of a world that is given as (outcomes, utility)."""
    return np.repeat([utility for _, utility in world], [outcomes for outcomes, _ in world])


def setting(kind: str, epsilon: float, worlds: list[list[tuple[int, int]]], counts: bool = True) -> dict[str, Any]:
    weights = [
        naive.weights([utility for _, utility in world], epsilon, float_type=kind).astype(float).tolist()
        for world in worlds
    ]
    shared = [
        [[n, w] for (n, _), w in zip(world, own, strict=True)] for world, own in zip(worlds, weights, strict=True)
    ]
    return {
        "type": kind,
        "epsilon": epsilon,
        "weightsIn": shared[0],
        "weightsOut": shared[1],
        "worldIn": worlds[0],
        "worldOut": worlds[1],
        "all": counts,
    }


def random_setting(rng: np.random.Generator) -> dict[str, Any]:
    """Return two worlds of up to 4 blocks: plain ones, or at the edge where weights become 0, absorbed or infinite."""
    kind = str(rng.choice(list(TYPES)))
    epsilon = float(10 ** rng.uniform(-2, 1.6))
    digits = uniform_bits(kind)
    zero = float(-np.log(np.finfo(TYPES[kind]).smallest_subnormal.astype(float))) * 2 / epsilon
    shift = int(rng.choice([0, 0, zero - rng.uniform(0, 9), zero, -zero / 2, rng.uniform(0, zero)]))
    gap = int(rng.choice([3, 30, min(2 * digits * np.log(2) / epsilon, 3000)]))
    outcomes = rng.integers(1, 40, rng.integers(1, 5)).tolist()
    base = rng.integers(0, gap + 2, len(outcomes))
    moved = base + rng.integers(-1, 2, len(outcomes))
    worlds = [[(n, int(u) + shift) for n, u in zip(outcomes, world, strict=True)] for world in (base, moved)]
    return setting(kind, epsilon, worlds)


def counts_of(law: Law[int], outcomes: int) -> list[int]:
    """Return the count of each outcome, and last of the error, over 2^bits."""
    counts = np.repeat(integers(law.low), law.counts()).tolist()
    if all(isinstance(atom, Refused) for atom in law.atoms):
        return [0] * outcomes + counts
    return counts if isinstance(law.atoms[-1], Refused) else [*counts, 0]


def test_its_numbers_are_those_of_python_on_a_thousand_random_settings(shown: Opened) -> None:
    """Given the same weights: every count, the verdict, the loss (but for the last bits of a logarithm), and the
    largest advantage. Integers of the exact mechanism too. And the page's own weights are within two units in the last
    place, which they are only if each step is rounded as numpy rounds it."""
    rng = np.random.default_rng(1)
    settings = [random_setting(rng) for _ in range(SETTINGS)]
    verdicts, refusing = [], 0
    for given, found in zip(settings, shown.page.evaluate(RESULTS, settings), strict=True):
        kind, epsilon = given["type"], given["epsilon"]
        eta = selection_eta(epsilon)
        laws = []
        for side, counts, (masses, total), own in zip(
            ("In", "Out"), found["counts"], found["exact"], found["weights"], strict=True
        ):
            world = given[f"world{side}"]
            utilities = blocks(world)
            laws.append(naive.law(utilities, epsilon, float_type=kind))
            assert counts == counts_of(laws[-1], len(utilities))
            twin = base2.law(utilities, eta)
            assert int(total, 16) == twin.denominator
            assert (
                np.repeat(integers(twin.low), twin.counts()).tolist()
                == blocks([(n, int(mass, 16)) for (n, _), mass in zip(world, masses, strict=True)]).tolist()
            )
            numpys = np.array([weight for _, weight in given[f"weights{side}"]], TYPES[kind])
            with np.errstate(invalid="ignore"):
                near = np.abs(np.array(own) - numpys) <= 2 * np.spacing(numpys).astype(float)
            assert (near | (own == numpys)).all()
        if all(counts[-1] == 1 << uniform_bits(kind) for counts in found["counts"]):
            refusing += 1  # both worlds fail in every run, so there is nothing to compare
            continue
        evidence = exact.compare(laws[0], laws[1], Claim(epsilon))
        verdicts.append(evidence.verdict)
        assert found["violated"] == (evidence.verdict is Verdict.VIOLATED)
        assert found["loss"] == pytest.approx(evidence.epsilon, rel=1e-12, abs=0)
        assert found["advantage"] == evidence.total_variation
    assert refusing > 10
    assert min(verdicts.count(verdict) for verdict in (Verdict.VIOLATED, Verdict.HOLDS)) > 100


def test_its_float16_is_rounded_correctly(shown: Opened) -> None:
    """Every float16, every midpoint of neighbours (to the even one), and the doubles beside each midpoint."""
    wrong = shown.page.evaluate(
        """() => {
          const half = i => (i < 1024 ? i * 2 ** -24 : (1 + (i % 1024) / 1024) * 2 ** (Math.floor(i / 1024) - 15));
          const wrong = [], value = i => (i < 31744 ? half(i) : Infinity);
          for (let i = 0; i < 31744; i++) {
            const middle = (half(i) + half(i + 1)) / 2, close = middle * 2 ** -52;
            const tries = [[half(i), i], [middle, i + (i % 2)], [middle - close, i], [middle + close, i + 1]];
            for (const [x, to] of tries)
              for (const sign of [1, -1]) if (explorer.roundToHalf(sign * x) !== sign * value(to)) wrong.push(x);
          }
          return wrong;
        }"""
    )
    assert wrong == []


def test_its_law_is_that_of_its_code(shown: Opened) -> None:
    """All 2^11 uniforms of float16 through the page's own sampler."""
    rng = np.random.default_rng(2)
    settings = [one for one in (random_setting(rng) for _ in range(200)) if one["type"] == "float16"]
    assert len(settings) > 40
    assert shown.page.evaluate(
        """settings => settings.every(({ weightsIn }) => {
          const { sums, counts } = explorer.law(weightsIn, "float16"), tally = counts.map(() => 0);
          for (let k = 0; k < 2048; k++) tally[explorer.choose(sums, k / 2048)]++;
          return tally.every((count, i) => count === counts[i]);
        })""",
        settings,
    )


@pytest.mark.parametrize("name", ATTACKS)
def test_a_published_attack_has_the_worlds_and_the_numbers_of_the_catalogue(shown: Opened, name: str) -> None:
    one = attack(ATTACKS[name])
    data = one.worlds()
    state = shown.page.evaluate("name => explorer.PRESETS.find(one => one[0] === name)[1]", name)
    worlds = [[(row["outcomes"], row[side] + state["shift"]) for row in state["rows"]] for side in ("in", "out")]
    for world, vector in zip(worlds, data, strict=True):
        assert np.array_equal(blocks(world), vector)
    assert state["epsilon"] == one.parameters.epsilon
    assert any(state["type"] in member for member in one.breaks)
    (found,) = shown.page.evaluate(RESULTS, [setting(state["type"], state["epsilon"], worlds, counts=False)])
    laws = [naive.law(vector, one.parameters.epsilon, float_type=state["type"]) for vector in data]
    evidence = exact.compare(laws[0], laws[1], Claim(one.parameters.epsilon))
    assert found["violated"]
    assert found["loss"] == evidence.epsilon
    assert found["advantage"] == evidence.total_variation


def texts(page: Any) -> tuple[str, list[str]]:
    """Return the page's verdict, and those of the naive and the exact mechanism."""
    return page.locator("#says b").inner_text(), page.locator(".card h3 b").all_inner_texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_published_attacks_violate_and_the_exact_mechanism_holds(browser: Any, width: int, scheme: str) -> None:
    """On a wide and on a narrow screen, where all can be read and nothing is wider than the screen."""
    shown = Opened(browser, PAGE, viewport={"width": width, "height": HIGH}, color_scheme=scheme)
    assert texts(shown.page) == ("HOLDS for this pair", ["HOLDS", "HOLDS"])
    slow = [name for name in ATTACKS if "float32" in name]
    for name in [name for name in ATTACKS if name not in slow or (width, scheme) == (WIDE, "light")]:
        shown.page.get_by_role("link", name=name, exact=True).click()
        shown.page.locator("#says .VIOLATED").wait_for()
        assert texts(shown.page) == ("VIOLATED", ["VIOLATED", "HOLDS"])
        assert shown.page.locator("#presets [aria-current]").all_inner_texts() == [name]
        assert shown.page.evaluate(FITS)
    shown.page.get_by_role("button", name="Draw").click()
    shown.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    contrasts = shown.page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert [one for one in contrasts if one[1] < 4.5] == []
    assert shown.page.evaluate(FITS)
    assert shown.complaints == []
    shown.page.context.close()


def test_a_student_breaks_it_with_the_keyboard_alone(browser: Any) -> None:
    """float16, the slider to its end, where all weights are 0, and back by single steps."""
    shown = Opened(browser, PAGE)
    page = shown.page
    page.locator("#presets a").last.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "float64"
    page.keyboard.press("ArrowUp")  # round to the last one
    assert page.get_by_role("radio", name="float16").is_checked()
    for _ in range(3):
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
    assert shown.complaints == []
    page.context.close()


def test_a_number_can_be_typed_and_a_mistake_is_named(browser: Any) -> None:
    shown = Opened(browser, PAGE)
    page = shown.page
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
    page.get_by_role("button", name="Add a row").click()
    page.get_by_role("textbox", name="Row 3: outcomes").fill("8388608")
    assert "at most 8,388,608 outcomes" in page.locator("#says").inner_text()
    page.get_by_role("button", name="Remove row 3").click()
    assert texts(page)[0] == "HOLDS for this pair"
    assert page.locator("#rows fieldset").count() == 2
    assert shown.complaints == []
    page.context.close()


def test_the_link_holds_the_state(browser: Any) -> None:
    shown = Opened(browser, f"{PAGE}#mechanism=exponential&type=float32&epsilon=0.25&shift=-7&rows=3,1,2;4,-5,-5")
    page = shown.page
    assert page.get_by_role("radio", name="float32").is_checked()
    fields = [field.input_value() for field in page.get_by_role("textbox").all()]
    assert fields == ["0.25", "-7", "1", "2", "3", "-5", "-5", "4"]
    page.get_by_role("textbox", name="Row 1: outcomes").fill("30")
    address = page.url
    assert address.endswith("rows=30,1,2;4,-5,-5")
    assert page.get_by_role("link", name="Link to these worlds").evaluate("link => link.href") == address
    again = Opened(browser, address)
    assert [field.input_value() for field in again.page.get_by_role("textbox").all()] == [
        *fields[:4],
        "30",
        *fields[5:],
    ]
    assert again.page.locator("#cards").inner_text() == page.locator("#cards").inner_text()
    links = page.evaluate("explorer.PRESETS.map(one => explorer.toLink(one[1]))")
    assert page.evaluate("links => links.map(link => explorer.toLink(explorer.fromLink(link)))", links) == links
    for wrong, message in (
        ("type=float8", "there is no float type float8"),
        ("epsilon=0", "ε must be a number from 0 to 100"),
        ("rows=1,0;2", "A utility must be an integer"),
        ("mechanism=magic", "there is no mechanism magic"),
    ):
        again.page.goto(f"{PAGE}#{wrong}")
        again.page.get_by_text(message).wait_for()
        assert "The link cannot be read" in again.page.locator("#says").inner_text()
    assert shown.complaints == again.complaints == []
    for one in (shown, again):
        one.page.context.close()


def test_a_bar_says_its_exact_probability_and_a_draw_follows_the_law(browser: Any) -> None:
    """Without Alice outcome 0 has probability near 1/100; of 1,000 draws, 40 or more have it with less than 1e-6."""
    shown = Opened(browser, PAGE)
    page = shown.page
    page.get_by_role("link", name="Zero rounding", exact=True).click()
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
    assert shown.complaints == []
    page.context.close()
