"""The other side of the catalogue: without it, the worst pair of a small domain is found, and is at least as bad."""

import json
import sys
from functools import cache
from typing import Any

import pytest

from subnormal.attacks.catalogue import attack
from subnormal.audit.evidence import exact
from subnormal.audit.model import DomainEvidence, DomainVerdict
from subnormal.audit.report.form import read
from subnormal.mechanisms.families import member
from tests.support.processes import run

NUMBERS = "numbers@most=1,grid=0,resolution=0"
KEYS = "mappings@most=2,keys=1,scale=1,changed=1,apart=1"
CASES = [  # an attack whose worlds lie in the domain, and a member that it breaks
    ("certain-response", "randomized-response-naive-float64", "categories@categories=2,epsilon=38.2"),
    ("certain-response", "randomized-response-naive-float32", "categories@categories=2,epsilon=38.2"),
    ("certain-response", "randomized-response-naive-float16", "categories@categories=2,epsilon=38.2"),
    ("certain-response@epsilon=18.1", "randomized-response-naive-float32", "categories@categories=2,epsilon=18.1"),
    ("certain-response@epsilon=18.1", "randomized-response-naive-float16", "categories@categories=2,epsilon=18.1"),
    ("certain-response@epsilon=9.1", "randomized-response-naive-float16", "categories@categories=2,epsilon=9.1"),
    ("clamped-noise", "sparse-vector-clamped-noise", "streams@most=8,queries=1,width=4"),
    ("sparse-vector-noiseless-answers", "sparse-vector-algorithm-5", "streams@most=1,queries=2,width=16"),
    ("boundary", "threshold-naive-open-tail", f"{KEYS},threshold=10,limit=74"),
    ("boundary@threshold=2", "threshold-naive-open-tail", f"{KEYS},threshold=2,limit=66"),
    ("rounding-before-threshold", "threshold-naive-rounded-first", f"{KEYS},threshold=5,limit=69"),
    ("singleton-key", "threshold-naive-float32", f"{KEYS},threshold=20,limit=52"),
    ("grid-precision-float16", "laplace-rounded-float16", NUMBERS),
    ("coarse-noise", "gaussian-inverse-bfloat16", NUMBERS),
    ("coarse-noise@mechanism=gaussian-inverse-float16", "gaussian-inverse-float16", NUMBERS),
    ("coarse-noise@mechanism=gaussian-box-muller-bfloat16", "gaussian-box-muller-bfloat16", NUMBERS),
    ("coarse-noise@mechanism=gaussian-box-muller-float16", "gaussian-box-muller-float16", NUMBERS),
    ("coarse-noise@mechanism=jax-normal-bfloat16", "jax-normal-bfloat16", NUMBERS),
    ("coarse-noise@mechanism=jax-normal-float16", "jax-normal-float16", NUMBERS),
]

SEARCH = """
import json, sys
from subnormal.audit.evidence.every_pair import decide, domain_of
from subnormal.audit.report.form import plain
from subnormal.mechanisms.families import member

found = []
for name, text in json.loads(sys.argv[1]):
    mechanism = member(name)
    found.append(plain(decide(mechanism, domain_of(mechanism.family, text))))
print(json.dumps([found, [name for name in sys.modules if name.startswith("subnormal.attacks")]]))
"""


@cache
def searched() -> tuple[list[DomainEvidence], list[str]]:
    """Return what is found on each domain by a process of its own, and which modules of attacks it imported."""
    asked = json.dumps([(name, text) for _, name, text in CASES])
    done = run([sys.executable, "-c", SEARCH, asked])
    assert done.returncode == 0, done.stderr
    found, modules = json.loads(done.stdout)
    return [read(DomainEvidence, one) for one in found], modules


def test_the_search_imports_no_attack() -> None:
    assert {name.split(".")[2] for name in searched()[1] if name.count(".") > 1} == {"core"}


@pytest.mark.parametrize("at", range(len(CASES)), ids=[f"{name}-{one}" for one, name, _ in CASES])
def test_the_worst_pair_is_at_least_as_bad_as_the_attack(at: int) -> None:
    name, mechanism, _ = CASES[at]
    tried, found = attack(name), searched()[0][at]
    of: Any = member(mechanism)
    worlds = tried.worlds()
    laws = exact.both_laws(of, tried, worlds)
    assert laws is not None
    claim = of.claim(tried.parameters, *worlds)
    known = exact.compare(*laws, claim, tried.event)
    assert (found.claim.epsilon, found.claim.delta) == (claim.epsilon, claim.delta)  # else the numbers are not alike
    assert found.verdict is DomainVerdict.VIOLATED
    assert found.delta >= known.delta > claim.delta
    assert found.epsilon[0] >= known.epsilon
