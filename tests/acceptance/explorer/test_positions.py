"""Every slider position, published attack and example of docs/explorer.html, in Chromium and in Firefox.

The band under the slider, which a worker computes, tells of each position what the page says there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.acceptance.explorer import firefox
from tests.acceptance.explorer.firefox import NEEDS_FIREFOX
from tests.support.browser import NEEDS_BROWSER, Opened
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "explorer.html").as_uri()
WORDS = {1: "HOLDS for this pair", 2: "VIOLATED", 3: "NO VERDICT"}

# Wait until a condition holds; say it where it does not within a minute.
UNTIL = """const until = async condition => {
  for (let i = 0; i < 1200; i++) {
    if (condition()) return;
    await new Promise(done => setTimeout(done, 50));
  }
  throw Error(`in vain: ${condition}`);
};
const word = () => document.querySelector("#says b").textContent;
const follow = async short => {
  const link = explorer.toLink(explorer.fromLink(short));
  location.hash = link;
  await until(() => document.querySelector("#link").hash === link);
};"""

# Of each position of a slider what the page says, and what the band says. Nothing of it is wider than the screen.
SLIDE = f"""async ([link, path]) => {{
  {UNTIL}
  await follow(link);
  const slider = document.querySelector(`input[type=range][data-path="${{path}}"]`), said = [];
  const isMapped = document.querySelector("#map") && slider.closest("#stage");
  if (isMapped) await until(() => explorer.map().tried === explorer.map().codes.length);
  for (let at = Number(slider.min), most = Number(slider.max); at <= most + 1e-9; at += Number(slider.step)) {{
    slider.value = at;
    slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
    await until(() => !document.querySelector("#says").textContent.includes("…"));
    said.push(word());
  }}
  const fits = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  return [said, isMapped ? [...explorer.map().codes] : null, fits];
}}"""

# Of each published attack and each example what the page says, and the exact mechanism.
VISIT = f"""async () => {{
  {UNTIL}
  const links = [...document.querySelectorAll("#presets a")].map(one => one.getAttribute("href"));
  await follow("#mechanism=own");
  links.push(...[...document.querySelectorAll("#stage .presets a")].map(one => one.getAttribute("href")));
  const said = [];
  for (const link of links) {{
    await follow(link);
    await until(() => !document.querySelector("#says").textContent.includes("…"));
    said.push([word(), document.querySelector("[aria-label='Exact mechanism'] h3 b").textContent]);
  }}
  return said;
}}"""


@pytest.fixture(
    scope="module",
    params=[pytest.param("chromium", marks=NEEDS_BROWSER), pytest.param("firefox", marks=NEEDS_FIREFOX)],
)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The explorer in a browser: what its evaluate returns is what a function does in the page."""
    with ExitStack() as opened:
        if request.param == "chromium":
            yield opened.enter_context(Opened(request.getfixturevalue("browser"), PAGE))
        else:
            fox = opened.enter_context(firefox.launched(tmp_path_factory.mktemp("firefox") / "profile"))
            fox.goto(PAGE)
            yield fox


# The state, the number that a slider moves, and its positions.
SLIDERS = [
    ("exponential", "shift", 2984),
    ("exponential", "epsilon", 51),
    ("exponential", "rows.0.in", 21),
    ("exponential", "rows.0.out", 21),
    ("exponential", "rows.1.outcomes", 88),
    ("exponential&type=float32", "shift", 419),
    ("exponential&type=float16", "shift", 73),
    ("exponential&epsilon=37&rows=1,0,1;999,2,1", "shift", 44),
    ("laplace&type=float16", "near", 2001),
    ("laplace", "epsilon", 51),
    ("laplace", "with", 81),
    ("laplace", "without", 81),
    ("own", "bits", 14),
]


@pytest.mark.parametrize(
    ("state", "path", "positions"), SLIDERS, ids=[f"{path}-{positions}" for _, path, positions in SLIDERS]
)
def test_every_position_of_a_slider_has_the_verdict_of_the_band(
    page: Any, state: str, path: str, positions: int
) -> None:
    said, codes, fits = page.evaluate(SLIDE, [f"#mechanism={state}", path])
    assert fits
    assert len(said) == positions
    assert set(said) <= {*WORDS.values(), "UNRESOLVED"}
    if codes is not None and path == "shift":
        assert said == [WORDS[code] for code in codes]
        assert {1, 2} <= set(codes)
    elif codes is not None:  # a float of the comb in one world alone is a proof; other floats may have another
        assert {word for word, code in zip(said, codes, strict=True) if code == 2} == {"VIOLATED"}
        assert {2, 3} <= set(codes)


def test_every_published_attack_violates_and_so_do_three_of_four_examples(page: Any) -> None:
    said = page.evaluate(VISIT)
    assert [exact for _, exact in said] == ["HOLDS"] * 14
    holds = [place for place, (word, _) in enumerate(said) if word != "VIOLATED"]
    assert holds == [0, 13]
    assert [said[place][0] for place in holds] == [WORDS[1], WORDS[1]]
