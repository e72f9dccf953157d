"""The attacks of the catalogue, found again without it: python -m benchmarks.worst_pairs [ATTACK…].

Every attack on outcomes whose two worlds lie in a finite domain of their family. Each domain is searched by a process
of its own, which imports no attack and is told the member, the domain and nothing else. Only then is the worst pair
compared with the attack. Without names, all are searched anew; `not tried` has not been searched yet.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from subnormal.attacks.catalogue import attack
from subnormal.audit.evidence import exact
from subnormal.audit.model import DomainEvidence, DomainVerdict, ExactEvidence
from subnormal.audit.report.form import read
from subnormal.audit.text import short
from subnormal.mechanisms.families import member

PAGE = Path(__file__).with_suffix(".md")
SECONDS = 60  # of one processor, for one search
NUMBERS = "numbers@most=1,grid=0,resolution=0"
KEYS = "mappings@most=2,keys=1,scale=1,changed=1,apart=1"


class Case(NamedTuple):
    """An attack, a member that it breaks, and a domain that has its worlds."""

    attack: str
    mechanism: str
    domain: str


QUICK = tuple(
    Case(*case)
    for case in (
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
        *(
            (f"coarse-noise@mechanism={one}", one, NUMBERS)
            for one in (
                "gaussian-inverse-float16",
                "gaussian-box-muller-bfloat16",
                "gaussian-box-muller-float16",
                "jax-normal-bfloat16",
                "jax-normal-float16",
            )
        ),
        ("zero-rounding", "exponential-naive-float64", "utilities@most=2981,outcomes=100,epsilon=0.5"),
        ("zero-rounding-two-outcomes", "exponential-naive-float64", "utilities@most=2981,outcomes=2,epsilon=0.5"),
        ("zero-rounding-refusal", "exponential-naive-positive", "utilities@most=2981,outcomes=100,epsilon=0.5"),
    )
)
LONG = tuple(
    Case(*case)
    for case in (
        *(
            ("truncated-addition", f"exponential-naive-{kind}", "utilities@most=2,outcomes=1000,epsilon=37")
            for kind in ("float64", "shifted", "positive")
        ),
        ("rounded-addition-float16", "exponential-naive-float16", "utilities@most=763,outcomes=1025,epsilon=0.02"),
        ("negligible-region", "partitions-naive-float16", "frequencies@most=40,rows=4,sensitivity=1"),
        ("sparse-vector-noisy-value", "sparse-vector-algorithm-3", "streams@most=1,queries=5,width=16"),
        (
            "sparse-vector-unscaled-noise",
            "sparse-vector-algorithm-4",
            "streams@most=1,queries=6,positives=2,width=16",
        ),
        ("sparse-vector-no-cutoff", "sparse-vector-algorithm-6", "streams@most=1,queries=8,positives=4,width=16"),
        ("uneven-choice", "randomized-response-naive-float16", "categories@categories=1026"),
        ("unreported-category", "randomized-response-naive-float16", "categories@categories=2050"),
        ("least-significant-bits-float32", "laplace-naive-float32", NUMBERS),
        ("least-significant-bits-float32@epsilon=0.01", "laplace-naive-float32", f"{NUMBERS},epsilon=0.01"),
        ("coarse-noise@mechanism=gaussian-inverse-float32", "gaussian-inverse-float32", NUMBERS),
        ("coarse-noise@mechanism=jax-normal-float32", "jax-normal-float32", NUMBERS),
        (
            "rounded-addition-float32",
            "exponential-naive-float32",
            "utilities@most=33272,outcomes=4194305,epsilon=0.001",
        ),
    )
)

EVERY = (*QUICK, *LONG)

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


class NotFoundError(Exception):
    """A search that ended without a result."""


def searched(cases: Sequence[Case], seconds: int | None = None) -> tuple[list[DomainEvidence], list[str]]:
    """Return what is found on each domain by one process, and which modules of attacks it imported.

    seconds: of its processor. Raises NotFoundError where they are over, or where the search fails.
    """

    def limit() -> None:
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    asked = json.dumps([(one.mechanism, one.domain) for one in cases])
    done = subprocess.run([sys.executable, "-c", SEARCH, asked], capture_output=True, text=True, preexec_fn=limit)
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise NotFoundError(f"not decided in {seconds} s of a processor")
    if done.returncode:
        raise NotFoundError((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1])
    found, modules = json.loads(done.stdout)
    return [read(DomainEvidence, one) for one in found], modules


def known(case: Case) -> tuple[ExactEvidence, Any]:
    """Return the evidence of the attack on the member, from their laws, and the claim."""
    tried, mechanism = attack(case.attack), member(case.mechanism)
    worlds = tried.worlds()
    laws = exact.both_laws(mechanism, tried, worlds)
    if laws is None:
        raise NotFoundError(f"{case.mechanism} has no law for {case.attack}")
    claim = mechanism.claim(tried.parameters, *worlds)
    return exact.compare(*laws, claim, tried.event), claim


def at_least_as_strong(found: DomainEvidence, attacked: ExactEvidence, claim: Any) -> bool:
    """Return whether the worst pair has at least the attack's divergence and loss, at the same claim."""
    same = (found.claim.epsilon, found.claim.delta) == (claim.epsilon, claim.delta)  # else the numbers are not alike
    violated = found.verdict is DomainVerdict.VIOLATED and attacked.delta > claim.delta
    return same and violated and found.delta >= attacked.delta and found.epsilon[0] >= attacked.epsilon


def row(case: Case) -> str:
    """Search a domain, and return the line of the table."""
    try:
        (found,), modules = searched([case], SECONDS)
        foreign = {name.split(".")[2] for name in modules if name.count(".") > 1} - {"core"}
        assert not foreign, f"the search imported {foreign}"
        attacked, claim = known(case)
    except NotFoundError as error:
        return f"{start_of(case)} | {error} | | no |"
    both = ((attacked.epsilon, attacked.delta), (found.epsilon[0], found.delta))
    shown = " | ".join(f"ε = {short(epsilon)}, δ = {short(delta)}" for epsilon, delta in both)
    worst = "" if found.worst is None else f"`{found.worst.in_}`, `{found.worst.out}`"
    return f"{start_of(case)} {shown} | {worst} | {'yes' if at_least_as_strong(found, attacked, claim) else 'no'} |"


def start_of(case: Case) -> str:
    """Return the first cells of a case's line."""
    return f"| `{case.attack}` | `{case.mechanism}` | `{case.domain}` |"


def page(lines: Mapping[Case, str]) -> str:
    """Return the page with the lines that are known. An attack is found again if it is on every member."""
    tried = {one: line.endswith("| yes |") for one, line in lines.items()}
    names = dict.fromkeys(one.attack for one in EVERY)
    found = sum(all(tried.get(one, False) for one in EVERY if one.attack == name) for name in names)
    left = [start_of(one) for one in EVERY if one not in lines]
    return "\n".join(
        [
            "# Found again without the catalogue\n",
            (__doc__ or "").partition("\n\n")[2].strip() + "\n",
            f"At least as strong on every member: {found} of {len(names)} attacks, {found / len(names):.0%}. A search "
            f"takes at most {SECONDS} s of a processor.\n",
            "| attack | member | domain | of the attack | of the worst pair | worst pair | at least as strong |",
            f"|{'---|' * 7}",
            *(lines[one] for one in EVERY if one in lines),
            *(f"{start} | | | not tried |" for start in left),
            "",
        ]
    )


def main(names: list[str]) -> None:
    """Search the domains of these attacks, or of all, and write the table with the lines that are known already."""
    old = PAGE.read_text().splitlines() if PAGE.exists() else []
    lines = {one: line for one in EVERY for line in old if line.startswith(start_of(one)) and "not tried" not in line}
    for case in EVERY:
        if not names or case.attack in names:
            lines[case] = row(case)
            print(lines[case], flush=True)
            PAGE.write_text(page(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
