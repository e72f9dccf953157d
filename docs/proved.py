"""Write what is decided over whole domains: `make prove`. One mechanism alone: python docs/proved.py NAME.

audit/report/proved.json is what reports quote, docs/proved.md the same as a table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from subnormal.audit.evidence.every_pair import decide, domain_of
from subnormal.audit.report import proofs
from subnormal.audit.report.proofs import Proof
from subnormal.audit.report.table import markdown
from subnormal.audit.report.to_json import to_json
from subnormal.audit.text import given
from subnormal.mechanisms.families import FAMILIES, exact_members, member

LARGE = "utilities@most=1000000,outcomes=1000"  # more pairs than can be listed
EXACT = ("exponential-exact", "exponential-exact-base-e", "exponential-base2", "permute-and-flip")  # also over that one

NAIVE = (  # small domains on which a published flaw shows, or does not
    *((f"exponential-naive-{kind}", LARGE) for kind in ("float64", "float32", "float16", "positive", "shifted")),
    ("exponential-naive-float64", "utilities@most=40,outcomes=2,epsilon=4"),
    ("exponential-naive-float32", "utilities@most=30,outcomes=2,epsilon=2"),
    ("exponential-naive-float32", "utilities@most=11,outcomes=4"),
    ("exponential-naive-float16", "utilities@most=20,outcomes=2,epsilon=2"),
    ("exponential-naive-positive", "utilities@most=40,outcomes=2,epsilon=4"),
    ("exponential-naive-shifted", "utilities@most=40,outcomes=2,epsilon=4"),
    ("laplace-naive-float32", "numbers@most=1,grid=0,resolution=0"),
    ("laplace-rounded-float16", "numbers@most=1,grid=-1,resolution=-1"),
    ("laplace-snapping-16-bit", "numbers@most=2,grid=-2,resolution=-2"),
    ("gaussian-inverse-float16", "numbers@most=1,grid=0,resolution=0"),
    ("gaussian-inverse-bfloat16", "numbers@most=1,grid=0,resolution=0"),
    ("gaussian-box-muller-float16", "numbers@most=1,grid=0,resolution=0"),
    ("gaussian-box-muller-bfloat16", "numbers@most=1,grid=0,resolution=0"),
    ("jax-normal-float16", "numbers@most=1,grid=0,resolution=0"),
    ("jax-normal-bfloat16", "numbers@most=1,grid=0,resolution=0"),
    ("sparse-vector-unclamped", "streams@most=2,queries=4,width=2"),
    ("sparse-vector-algorithm-3", "streams@most=1,queries=2"),
    ("sparse-vector-algorithm-4", "streams@most=1,queries=2"),
    ("sparse-vector-algorithm-5", "streams@most=1,queries=2"),
    ("sparse-vector-algorithm-6", "streams@most=1,queries=2"),
    ("partitions-naive-float32", "frequencies@most=12,rows=2,epsilon=4,sensitivity=1"),
    ("partitions-naive-float16", "frequencies@most=6,rows=2,epsilon=4,sensitivity=1"),
    ("threshold-naive-float32", "mappings@most=2,keys=1,scale=1,threshold=20,limit=22,apart=1,changed=1"),
    ("threshold-naive-open-tail", "mappings@most=20,keys=2,scale=1,threshold=10,limit=14,apart=1,changed=1"),
    ("randomized-response-naive-float32", "categories@categories=5"),
    ("randomized-response-naive-float16", "categories@categories=5"),
)


INTRODUCTION = """# Decided over whole domains

Each row is one claim, decided for every ordered pair of neighbours of a finite domain, from the exact laws of the code.
Nothing is sampled. `subnormal prove --mechanism NAME --domain DOMAIN` repeats a row, `make prove` all of them. The
largest loss is that of the worst pair, in nats; where the claim has a δ, it is the largest divergence at the claimed
ε. Nothing is said of data outside the domain, or of other parameters. Pairs that are too many to list, as 10^6477, are
decided in [boxes](verdicts.md#pairs-that-are-too-many-to-list).
"""


def wanted() -> list[tuple[str, str]]:
    """Return the members and domains: every exact one on the default domain of its family, then on a large one, then
    the naive ones."""
    large = [(name, domain_of(member(name).family, LARGE).text) for name in EXACT]
    exact = [(one.name, of.domain().text) for of in FAMILIES if of.domain for one in exact_members(of) if one.law]
    naive = [(name, domain_of(member(name).family, text).text) for name, text in NAIVE]
    return [*exact, *large, *naive]


def to_markdown(results: Iterable[Proof]) -> str:
    """Return results as a page with a table."""
    titles = ("mechanism", "domain", "pairs", "claim", "result", "largest loss", "worst pair", "processor")
    lines = []
    for one in results:
        evidence = one.evidence
        worst = "–" if evidence.worst is None else f"`{evidence.worst.in_}`, `{evidence.worst.out}`"
        names = f"`{evidence.mechanism}`", f"`{evidence.domain}`", proofs.pairs(evidence), proofs.promised(evidence)
        lines.append((*names, str(evidence.verdict), proofs.largest(evidence), worst, f"{given(one.seconds)} s"))
    return f"{INTRODUCTION}\n{markdown(titles, lines)}\n"


def main(names: list[str]) -> None:
    """Decide those of these names, or all, and write the results with those that are known already."""
    known = {(one.evidence.mechanism, one.evidence.domain): one for one in proofs.known()}
    for name, text in wanted():
        if names and name not in names:
            continue
        mechanism, begun = member(name), time.process_time()
        evidence = decide(mechanism, domain_of(mechanism.family, text))
        known[name, text] = Proof(evidence, round(time.process_time() - begun, 1))
        print(proofs.text(evidence), flush=True)
        found = tuple(known[key] for key in wanted() if key in known)
        proofs.FILE.write_text(to_json(found))
        Path(__file__).with_name("proved.md").write_text(to_markdown(found))


if __name__ == "__main__":
    main(sys.argv[1:])
