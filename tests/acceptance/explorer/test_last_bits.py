"""No verdict that docs/explorer.html or docs/course.md promises hangs on the last bit of an exponential or a logarithm.

Browsers, processors and libraries of mathematics differ in it. So the tests move the results of the browser's own
functions by −1, 0 or +1 unit in the last place.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from tests.acceptance.explorer.test_page import PAGE, texts
from tests.support.browser import NEEDS_BROWSER, Opened
from tests.support.paths import ROOT

pytestmark = NEEDS_BROWSER

HOLDS = "HOLDS for this pair"

# The steps of all results; of several, the bits of the argument choose one. None: the browser's own functions.
PATTERNS: tuple[list[int] | None, ...] = (None, [-1], [1], [-1, 0, 1])

# A float that is `step` floats farther from 0.
MOVED = """const bytes = new DataView(new ArrayBuffer(8)), bits = x => (bytes.setFloat64(0, x), bytes.getBigInt64(0));
const moved = (value, step) => {
  if (value === 0 || !Number.isFinite(value)) return value;
  bytes.setBigInt64(0, bits(value) + BigInt(step));
  return bytes.getFloat64(0);
};"""

# Below 2^−1022 floats are coarser than 2^−52 of their value. Libraries compute in normal floats and round once more at
# the end, so that is where the result is moved: e^x = e^(x + 700)·e^(−700), and x + 700 is exact.
MOVE = f"""steps => {{
  {MOVED}
  const exp = Math.exp, stepOf = x => steps[Number((bits(x) * 0x9E3779B97F4A7C15n >> 40n) & 0xffffn) % steps.length];
  globalThis.calls = 0;
  for (const name of ["exp", "expm1", "log", "log1p", "log2", "log10", "tanh"]) {{
    const own = Math[name];
    Math[name] = x => (globalThis.calls++, moved(own(x), stepOf(x)));
  }}
  const normal = Math.exp, scale = exp(-700);
  Math.exp = x => (x < -700 ? normal(x + 700) * scale : normal(x));
}}"""

# For each world the outputs of every string of bits that may lead to the floats of the comb: with the logarithm moved
# by −1, 0 and +1. And the first of these floats, and the one after them.
OUTPUTS = f"""link => {{
  {MOVED}
  const state = explorer.fromLink("#" + link), {{ type, epsilon }} = state;
  const {{ floats, naive }} = explorer.exploreLaplace(state), ends = [floats[0], floats.at(-1)];
  if (!naive.partial) return null; // all strings of bits are counted, wherever they lead
  const worlds = [state.with, state.without].map(value => {{
    const logs = [-1, 0, 1].map(step => x => moved(Math.log(x), step));
    const outputs = logs.map(log => explorer.laplaceOutput(Number(value), epsilon, type, log));
    const reaching = end => outputs.map(output => explorer.firstReaching(output, end, explorer.stringsOf(type)));
    const first = Math.min(...reaching(ends[0])), after = Math.max(...reaching(ends[1]));
    return Array.from({{ length: after - first }}, (_, i) => outputs.map(output => output(first + i)));
  }});
  return [worlds, ends];
}}"""


def promised() -> list[tuple[str, str]]:
    """Return the links of the course, and the verdicts that stand beside them."""
    text = (ROOT / "docs" / "course.md").read_text()
    said = re.findall(r"\(explorer\.html#([^)]+)\)[ |]*(VIOLATED|HOLDS|UNRESOLVED)", text)
    assert len(said) == text.count("(explorer.html#") > 10
    return [(link, {"HOLDS": HOLDS}.get(verdict, verdict)) for link, verdict in said]


def published(page: Any) -> list[tuple[str, str]]:
    """Return the links of the page itself: the state at the start holds, and each published attack violates."""
    links = page.evaluate("explorer.PRESETS.map(([, state]) => explorer.toLink(state).slice(1))")
    assert len(links) == 10
    return [(link, "VIOLATED" if place else HOLDS) for place, link in enumerate(links)]


@pytest.mark.parametrize("steps", PATTERNS, ids=str)
def test_every_link_shows_its_verdict_whatever_the_last_bit(browser: Any, steps: list[int] | None) -> None:
    """The published attacks of the page, and the links of the course."""
    with Opened(browser, PAGE) as page:
        if steps is not None:
            page.add_init_script(f"({MOVE})({json.dumps(steps)})")
            page.reload()
        for link, verdict in (*published(page), *promised()):
            page.goto(f"{PAGE}#{link}")
            page.wait_for_function("link => document.getElementById('link').hash === link", arg=f"#{link}")
            assert texts(page) == (verdict, [verdict.removesuffix(" for this pair"), "HOLDS"]), link
        assert steps is None or page.evaluate("calls") > 1_000


def reached(strings: list[list[float]], first: float, end: float) -> tuple[int, int]:
    """Return the least and the most floats from `first` to `end` that these strings of bits reach.

    strings: the outputs that each string may have. Two neighbours never have one in common, so that different strings
    reach different floats.
    """
    ascending = [(min(outputs), max(outputs)) for outputs in strings]
    assert all(one[1] < other[0] for one, other in pairwise(ascending))
    return sum(first <= low <= high < end for low, high in ascending), len(ascending)


def test_a_comb_that_is_said_to_violate_does_so_with_every_logarithm_within_a_unit_in_the_last_place(
    explorer: Any,
) -> None:
    """Each string of bits may have a step of its own: no choice of them hides that one world reaches fewer floats."""
    tried = 0
    for link, verdict in (*published(explorer), *promised()):
        found = "mechanism=laplace" in link and verdict == "VIOLATED" and explorer.evaluate(OUTPUTS, link)
        if found:
            worlds, (first, end) = found
            (least, most), (least_too, most_too) = (reached(strings, first, end) for strings in worlds)
            assert most < least_too or most_too < least, (link, least, most, least_too, most_too)
            tried += 1
    assert tried == 5
