"""Laplace noise of docs/explorer.html, computed by a real browser, has the numbers of Python.

They are compared given the same logarithms: nobody promises the last bit of one.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.additive.public_bounds import laplace_parameters
from subnormal.attacks.catalogue import attack
from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.mechanisms.core.law import integers
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace import naive
from subnormal.mechanisms.numerics.grid import to_steps
from subnormal.mechanisms.privacy import Claim, Eta
from tests.support.browser import NEEDS_BROWSER

pytestmark = NEEDS_BROWSER

TYPES: dict[str, Any] = {"float64": np.float64, "float32": np.float32, "float16": np.float16}
ATTACKS = {
    "Least significant bits": "least-significant-bits",
    "Least significant bits, float32": "least-significant-bits-float32",
    "Grid precision": "grid-precision",
    "Absorption": "absorption",
}

# The page's whole laws of Laplace noise in float16, from logarithms that are given to it, as pairs with their numbers.
NOISY = """settings => settings.map(({ epsilon, values, logs }) => {
  const log = uniform => logs[uniform * 2048];
  const outputs = values.map(value => explorer.laplaceOutput(value, epsilon, "float16", log));
  const pairs = explorer.countAll(...outputs, 4096);
  const { violated, loss, advantage } = explorer.compare(pairs, 4096n, epsilon);
  return { violated, loss, advantage, pairs: pairs.map(one => [Number(one.in), Number(one.out), Number(one.atoms)]) };
})"""


def test_its_noise_is_that_of_python(explorer: Any) -> None:
    """Given the same logarithms: single outputs of every float type, and whole laws in float16."""
    rng = np.random.default_rng(3)
    asked: list[list[Any]] = []
    expected = []
    for _ in range(600):
        kind = str(rng.choice(list(TYPES)))
        bits = naive.default_uniform_bits(kind)
        value, epsilon = float(rng.normal() * 10.0 ** rng.integers(-3, 4)), float(10 ** rng.uniform(-2, 2))
        index = int(rng.integers(0, 2 << bits)) if rng.random() < 0.8 else int(rng.integers(0, 40))
        scale = float(TYPES[kind](1) / TYPES[kind](epsilon))
        count = index + 1 if index < 1 << bits else (2 << bits) - index
        asked.append([kind, value, epsilon, index, float(np.log(np.array([count / 2**bits]))[0])])
        output = naive.outputs(np.array([index]), value, scale, float_type=kind, uniform_bits=bits)
        expected.append(float(output[0]))
    outputs = """asked => asked.map(([type, value, epsilon, index, log]) =>
        explorer.laplaceOutput(value, epsilon, type, () => log)(index))"""
    assert explorer.evaluate(outputs, asked) == expected
    logs = [0.0, *np.log(np.arange(1, 2049) / 2048).tolist()]
    settings: list[dict[str, Any]] = []
    for _ in range(40):
        value = float(rng.choice([0, 1, 0.3, 100, 2000, -7.5]) + rng.uniform(-1, 1))
        worlds = value, value + float(rng.uniform(-1, 1))
        settings.append({"epsilon": float(10 ** rng.uniform(-1, 1)), "values": worlds, "logs": logs})
    verdicts: Counter[Verdict] = Counter()
    for given, found in zip(settings, explorer.evaluate(NOISY, settings), strict=True):
        scale = float(np.float16(1) / np.float16(given["epsilon"]))
        laws = [naive.law(value, scale, float_type=np.float16) for value in given["values"]]
        counts = [np.repeat(integers(law.low), law.counts()).tolist() for law in laws]
        masses = [dict(zip(law.atoms, own, strict=True)) for law, own in zip(laws, counts, strict=True)]
        pairs = Counter((masses[0].get(atom, 0), masses[1].get(atom, 0)) for atom in masses[0] | masses[1])
        assert {(one, other): atoms for one, other, atoms in found["pairs"]} == pairs
        evidence = exact.compare(laws[0], laws[1], Claim(given["epsilon"]))
        assert found["violated"] == (evidence.verdict is Verdict.VIOLATED)
        assert found["loss"] == pytest.approx(evidence.epsilon, rel=1e-12, abs=0)
        assert found["advantage"] == evidence.total_variation
        verdicts[evidence.verdict] += 1
    assert len(verdicts) == 2


def test_its_exact_noise_is_that_of_python(explorer: Any) -> None:
    """The rate, the steps of a value, the probabilities, and what a pair proves, clamped to bounds or not."""
    rng = np.random.default_rng(4)
    for _ in range(12):
        epsilon = float(10 ** rng.uniform(-2, 1.3))
        parameters = laplace_parameters(epsilon)
        value = float(rng.uniform(-1, 1)) * parameters.upper / 4
        worlds = [value, value + float(rng.uniform(-1, 1)) * min(1, parameters.upper / 4)]
        found = explorer.evaluate(
            """([epsilon, worlds]) => {
              const noise = explorer.exactNoise(epsilon);
              const steps = worlds.map(value => explorer.toSteps(value, noise.grid));
              const apart = steps[0] > steps[1] ? steps[0] - steps[1] : steps[1] - steps[0];
              const chances = [0n, 1n, 7n, 30n].map(one => explorer.noiseProbability(noise, one))
                .map(parts => parts.map(part => part.toString(16)));
              return { grid: noise.grid, x: Number(noise.x), y: noise.y, steps: steps.map(Number), chances,
                       pair: explorer.compareNoise(noise, apart, epsilon) };
            }""",
            [epsilon, [repr(value) for value in worlds]],
        )
        eta = laplace_exact.member_eta(parameters)
        assert (found["grid"], Eta(found["x"], found["y"])) == (parameters.grid, eta)
        assert found["steps"] == [to_steps(value, parameters.grid) for value in worlds]
        laws = [laplace_exact.law(value, eta, **parameters.grid_and_bounds()) for value in worlds]
        for distance, (numerator, denominator) in zip((0, 1, 7, 30), found["chances"], strict=True):
            atom = laws[0].atoms[found["steps"][0] + distance - to_steps(parameters.lower, parameters.grid)]
            assert laws[0].probability(atom)[0] == Fraction(int(numerator, 16), int(denominator, 16))
        evidence = exact.compare(laws[0], laws[1], Claim(epsilon))
        assert evidence.verdict is Verdict.HOLDS
        assert found["pair"] == {
            "violated": False,
            "loss": pytest.approx(evidence.epsilon, rel=1e-12, abs=0),
            "advantage": evidence.total_variation,
        }


@pytest.mark.parametrize("name", ATTACKS)
def test_a_published_attack_on_noise_has_the_worlds_and_the_numbers_of_the_catalogue(explorer: Any, name: str) -> None:
    """Counts on the comb are compared in float32, where logarithms are rounded to it, and where noise is absorbed."""
    one = attack(ATTACKS[name])
    found = explorer.evaluate(
        """name => {
          const state = explorer.PRESETS.find(one => one[0] === name)[1], found = explorer.exploreLaplace(state);
          const { violated, loss, advantage, partial } = found.naive, exact = found.exact.violated;
          return { ...state, floats: found.floats, counts: found.counts, violated, loss, advantage, partial, exact };
        }""",
        name,
    )
    assert (int(found["with"]), int(found["without"])) == one.worlds()
    kind, epsilon = found["type"], one.parameters.epsilon
    assert found["epsilon"] == epsilon
    assert f"laplace-naive-{kind}" in one.breaks
    assert (found["violated"], found["loss"], found["exact"]) == (True, np.inf, False)
    assert found["partial"] == (name != "Absorption")
    if kind == "float32" or name == "Absorption":
        floats, bits = np.array(found["floats"], TYPES[kind]), naive.default_uniform_bits(kind)
        for side, value in zip(("in", "out"), one.worlds(), strict=True):
            given: Any = {"value": float(value), "scale": 1 / epsilon, "float_type": kind, "uniform_bits": bits}
            ends = np.full(len(floats), -1), np.full(len(floats), 2 << bits)
            assert found["counts"][side] == np.diff(naive.first_reaching(floats, *ends, **given)).tolist()
    if name == "Absorption":
        laws = [naive.law(float(value), 1 / epsilon) for value in one.worlds()]
        evidence = exact.compare(laws[0], laws[1], Claim(epsilon))
        assert (found["loss"], found["advantage"]) == (evidence.epsilon, evidence.total_variation)
