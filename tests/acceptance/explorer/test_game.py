"""The game of docs/explorer.html, guess the world: a seed determines it, its outcomes follow laws, links repeat it."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from scipy import stats

from tests.support.browser import CONTRASTS, FITS, HIGH, NARROW, NEEDS_BROWSER, Opened
from tests.support.paths import ROOT

pytestmark = NEEDS_BROWSER

PAGE = (ROOT / "docs" / "explorer.html").as_uri()
DEAL = """seed => {
  const dealt = explorer.deal(seed);
  return dealt.rounds.map(round => ({...round, chances: explorer.chances(dealt, round).map(one => Number(one.words))}));
}"""


def test_the_rounds_of_a_seed_are_always_the_same_and_follow_the_laws(explorer: Any) -> None:
    """Of 100 fixed seeds: the coin and both exact laws, by chi-square tests. A right sampler passes with these seeds or
    never: nothing is random here."""
    games = [explorer.evaluate(DEAL, seed) for seed in range(100)]
    assert games[7] == explorer.evaluate(DEAL, 7)
    rounds = [one for game in games for one in game]
    assert [one["member"] for one in games[0]] == ["naive"] * 10 + ["exact"] * 10
    assert stats.binomtest(sum(one["world"] == "in" for one in rounds), len(rounds)).pvalue > 1e-3
    for member in ("naive", "exact"):
        for place, world in enumerate(("in", "out")):
            own = [one for one in rounds if one["member"] == member and one["world"] == world]
            counts, chances = Counter(one["outcome"] for one in own), {one["outcome"]: one["chances"] for one in rounds}
            if (member, world) == ("naive", "in"):
                assert set(counts) == {0}
                continue
            if member == "naive":
                expected = [1 / 8] * 8
            else:
                exact = {one["outcome"]: one["chances"][place] for one in rounds if one["member"] == "exact"}
                expected = [exact[outcome] for outcome in range(8)]
            assert sum(expected) == pytest.approx(1, abs=1e-3)
            observed = [counts[outcome] for outcome in range(8)]
            scale = len(own) / sum(expected)
            assert stats.chisquare(observed, [scale * one for one in expected]).pvalue > 1e-3
            assert len(chances) == 8


def best(rounds: list[dict[str, Any]]) -> list[str]:
    """Return the keys of the best strategy."""
    return ["a" if one["chances"][0] >= one["chances"][1] else "b" for one in rounds]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (NARROW, "light")])
def test_a_game_is_played_by_keys_and_its_link_repeats_it(browser: Any, width: int, scheme: str) -> None:
    screen = {"width": width, "height": HIGH}
    with Opened(browser, f"{PAGE}#seed=12", viewport=screen, color_scheme=scheme) as page:
        rounds = page.evaluate(DEAL, 12)
        right = Counter[str]()
        for number, (one, key) in enumerate(zip(rounds, best(rounds), strict=True)):
            stated = f"Round {number % 10 + 1} of 10, {one['member']} mechanism: outcome {one['outcome']}"
            assert page.locator("#round").inner_text() == stated
            page.keyboard.press(key)
            is_right = one["world"] == {"a": "in", "b": "out"}[key]
            right[one["member"]] += is_right
            told = page.locator("#told p").first.inner_text()
            assert told.startswith("Right." if is_right else "Wrong")
            if one["member"] == "naive" and one["outcome"] > 0:
                assert f"Outcome {one['outcome']} cannot happen with Alice" in told
        page.keyboard.press("a")  # the game is over
        assert page.locator("#game td").all_inner_texts() == [
            f"{right['naive']} of 10",
            "93.8 %",
            f"{right['exact']} of 10",
            f"{100 * (1 + 1 / (1 + 7 * math.exp(-0.25)) - 1 / 8) / 2:.1f} %",
        ]
        assert right["naive"] >= 8
        assert "more than 62.2 % on average" in page.locator("#told").inner_text()
        assert page.evaluate(FITS)
        assert [one for one in page.evaluate(CONTRASTS) if one[1] < 4.5] == []
        link = page.locator("#game-link").get_attribute("href")
        assert link == f"#seed=12&naive={right['naive']}&exact={right['exact']}"
        page.get_by_role("button", name="Play again").click()
        assert page.locator("#round").inner_text().startswith("Round 1 of 10, naive")
    with Opened(browser, PAGE + link) as page:
        assert f"was right in {right['naive']} of 10 rounds" in page.locator("#told").inner_text()
        assert page.locator("#round").inner_text().endswith(f"outcome {rounds[0]['outcome']}")
        page.get_by_role("button", name="B: without Alice").click()
        assert page.locator("#round").inner_text().startswith("Round 2 of 10")


def test_letters_in_a_field_are_no_guess_and_the_worlds_can_be_taken_apart(browser: Any) -> None:
    with Opened(browser, PAGE) as page:
        page.locator("input[type=text]").first.focus()
        page.keyboard.press("a")
        assert page.locator("#round").inner_text().startswith("Round 1 of 10")
        page.keyboard.press("Escape")
        page.locator("#guess").click()
        for _ in range(20):
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("b")
        page.get_by_role("link", name="Take these worlds apart").click()
        page.wait_for_function("document.querySelector('#says b').textContent === 'VIOLATED'", timeout=10_000)
        assert page.locator("#told table").is_visible()  # the score stays


@pytest.mark.parametrize("link", ["#seed=x", "#seed=1234567890", "#seed="])
def test_a_seed_that_cannot_be_read_is_told_and_a_game_is_there(browser: Any, link: str) -> None:
    with Opened(browser, PAGE + link) as page:
        assert "The seed must be a whole number of at most nine digits." in page.locator("#says").inner_text()
        assert page.locator("#round").inner_text().startswith("Round 1 of 10")


def test_scores_in_a_link_that_cannot_be_are_left_out(browser: Any) -> None:
    with Opened(browser, f"{PAGE}#seed=12&naive=11&exact=5") as page:
        assert "Whoever sent" not in page.locator("#told").inner_text()
