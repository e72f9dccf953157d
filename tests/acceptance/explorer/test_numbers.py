"""The exponential mechanism of docs/explorer.html, computed by a real browser, has the numbers of Python.

What a browser computes is compared given the same weights: the last bit of an exponential function is nobody's promise.
"""

from __future__ import annotations

import json
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
from tests.support.browser import NEEDS_BROWSER

pytestmark = NEEDS_BROWSER

TYPES: dict[str, Any] = {"float64": np.float64, "float32": np.float32, "float16": np.float16}
SETTINGS = 1_000
ATTACKS = {
    "Zero rounding": "zero-rounding",
    "Zero rounding, two outcomes": "zero-rounding-two-outcomes",
    "Truncated addition": "truncated-addition",
    "Rounded addition, float16": "rounded-addition-float16",
    "Rounded addition, float32": "rounded-addition-float32",
}

# The results of the page for settings with weights that are given to it. Both are one text, which is quick to pass.
RESULTS = """text => JSON.stringify(JSON.parse(text).map(({ type, epsilon, weights, worlds, all }) => {
  const laws = weights.map(own => explorer.law(own.map(([outcomes, weight]) => [outcomes, Number(weight)]), type));
  const { pairs } = explorer.pairsOfCounts(laws[0].counts, laws[1].counts);
  const { violated, loss, advantage } = explorer.compare(pairs, 2n ** BigInt(laws[0].bits), epsilon);
  const exact = worlds.map(world => explorer.exactLaw(world, explorer.selectionRate(epsilon)));
  return {
    violated, loss: String(loss), advantage,
    counts: laws.map(law => (all ? Array.from(law.counts) : [])),
    exact: exact.map(({ masses, total }) => [masses.map(mass => mass.toString(16)), total.toString(16)]),
    weights: worlds.map(world => explorer.weights(world, epsilon, type).map(([, weight]) => String(weight))),
  };
}))"""


def results(explorer: Any, settings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(explorer.evaluate(RESULTS, json.dumps(settings)))
    return found


def blocks(world: list[tuple[int, int]]) -> Any:
    """Return the utilities of a world that is given as (outcomes, utility)."""
    return np.repeat([utility for _, utility in world], [outcomes for outcomes, _ in world])


def setting(kind: str, epsilon: float, worlds: list[list[tuple[int, int]]], counts: bool = True) -> dict[str, Any]:
    """Return a setting with numpy's weights, in the words of JavaScript."""
    weights = []
    for world in worlds:
        own = naive.weights([utility for _, utility in world], epsilon, float_type=kind).tolist()
        words = ["Infinity" if weight == np.inf else repr(weight) for weight in own]
        weights.append([(outcomes, word) for (outcomes, _), word in zip(world, words, strict=True)])
    return {"type": kind, "epsilon": epsilon, "weights": weights, "worlds": worlds, "all": counts}


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


def test_its_numbers_are_those_of_python_on_a_thousand_random_settings(explorer: Any) -> None:
    """Given the same weights: every count, the verdict, the loss (but for the last bits of a logarithm), and the
    largest advantage. Integers of the exact mechanism too. And the page's own weights are within two units in the last
    place, which they are only if each step is rounded as numpy rounds it."""
    rng = np.random.default_rng(1)
    settings = [random_setting(rng) for _ in range(SETTINGS)]
    verdicts, refusing = [], 0
    for given, found in zip(settings, results(explorer, settings), strict=True):
        kind, epsilon = given["type"], given["epsilon"]
        eta = selection_eta(epsilon)
        laws = []
        for side, world in enumerate(given["worlds"]):
            counts, (masses, total) = found["counts"][side], found["exact"][side]
            utilities = blocks(world)
            laws.append(naive.law(utilities, epsilon, float_type=kind))
            assert counts == counts_of(laws[-1], len(utilities))
            twin = base2.law(utilities, eta)
            assert int(total, 16) == twin.denominator
            assert (
                np.repeat(integers(twin.low), twin.counts()).tolist()
                == blocks([(n, int(mass, 16)) for (n, _), mass in zip(world, masses, strict=True)]).tolist()
            )
            numpys = np.array([weight for _, weight in given["weights"][side]], TYPES[kind])
            own = np.array(found["weights"][side], float)
            with np.errstate(invalid="ignore"):
                near = np.abs(own - numpys) <= 2 * np.spacing(numpys).astype(float)
            assert (near | (own == numpys)).all()
        if all(counts[-1] == 1 << uniform_bits(kind) for counts in found["counts"]):
            refusing += 1  # both worlds fail in every run, so there is nothing to compare
            continue
        evidence = exact.compare(laws[0], laws[1], Claim(epsilon))
        verdicts.append(evidence.verdict)
        assert found["violated"] == (evidence.verdict is Verdict.VIOLATED)
        assert float(found["loss"]) == pytest.approx(evidence.epsilon, rel=1e-12, abs=0)
        assert found["advantage"] == evidence.total_variation
    assert refusing > 10
    assert min(verdicts.count(verdict) for verdict in (Verdict.VIOLATED, Verdict.HOLDS)) > 100


def test_its_float16_is_rounded_correctly(explorer: Any) -> None:
    """Every float16, every midpoint of neighbours (to the even one), and the doubles beside each midpoint."""
    wrong = explorer.evaluate(
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


def test_its_law_is_that_of_its_code(explorer: Any) -> None:
    """All 2^11 uniforms of float16 through the page's own sampler."""
    rng = np.random.default_rng(2)
    settings = [one for one in (random_setting(rng) for _ in range(200)) if one["type"] == "float16"]
    assert len(settings) > 40
    assert explorer.evaluate(
        """settings => settings.every(({ weights }) => {
          const own = weights[0].map(([outcomes, weight]) => [outcomes, Number(weight)]);
          const { sums, counts } = explorer.law(own, "float16"), tally = counts.map(() => 0);
          for (let k = 0; k < 2048; k++) tally[explorer.choose(sums, k / 2048)]++;
          return tally.every((count, i) => count === counts[i]);
        })""",
        settings,
    )


@pytest.mark.parametrize("name", ATTACKS)
def test_a_published_attack_has_the_worlds_and_the_numbers_of_the_catalogue(explorer: Any, name: str) -> None:
    one = attack(ATTACKS[name])
    data = one.worlds()
    state = explorer.evaluate("name => explorer.PRESETS.find(one => one[0] === name)[1]", name)
    worlds = [[(row["outcomes"], row[side] + state["shift"]) for row in state["rows"]] for side in ("in", "out")]
    for world, vector in zip(worlds, data, strict=True):
        assert np.array_equal(blocks(world), vector)
    assert state["epsilon"] == one.parameters.epsilon
    assert any(state["type"] in member for member in one.breaks)
    (found,) = results(explorer, [setting(state["type"], state["epsilon"], worlds, counts=False)])
    laws = [naive.law(vector, one.parameters.epsilon, float_type=state["type"]) for vector in data]
    evidence = exact.compare(laws[0], laws[1], Claim(one.parameters.epsilon))
    assert found["violated"]
    assert float(found["loss"]) == evidence.epsilon
    assert found["advantage"] == evidence.total_variation
