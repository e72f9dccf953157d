"""The command prove, from its options to its exit codes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from subnormal.audit import certificate_checker
from subnormal.audit.commands.prove import prove
from subnormal.audit.evidence import every_pair
from subnormal.audit.model import DomainEvidence, DomainVerdict
from subnormal.audit.report.form import read
from subnormal.mechanisms.families import FAMILIES, member

SMALL = "utilities@most=2,outcomes=3"
LARGE = "utilities@most=1000000,outcomes=1000"
BROKEN = ["--mechanism", "exponential-naive-float16", "--domain", "utilities@most=20,outcomes=2,epsilon=2"]


def test_a_claim_that_holds() -> None:
    shown = CliRunner().invoke(prove, ["--mechanism", "exponential-exact", "--domain", SMALL, "--jobs", "1"])
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("exponential-exact: HOLDS ON THE DOMAIN\n")
    assert "316 ordered pairs of 27 data" in shown.output  # 7^3 − 27
    assert "shift, permutation, and the exchange of the worlds" in shown.output


def test_a_claim_that_is_violated() -> None:
    shown = CliRunner().invoke(prove, [*BROKEN, "--jobs", "1"])
    assert shown.exit_code == 0
    assert "VIOLATED" in shown.output
    assert "ε ≥ ∞" in shown.output or "ε = ∞" in shown.output
    assert CliRunner().invoke(prove, [*BROKEN, "--jobs", "1", "--fail-on-violation"]).exit_code == 1
    sound = ["--mechanism", "exponential-exact", "--domain", SMALL, "--jobs", "1", "--fail-on-violation"]
    assert CliRunner().invoke(prove, sound).exit_code == 0


def test_a_domain_whose_pairs_are_too_many_to_list(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    broken = ["--mechanism", "exponential-naive-float64", "--domain", LARGE, "--jobs", "1"]
    shown = CliRunner().invoke(prove, [*broken, "--format", "json", "--certificate", str(file), "--fail-on-violation"])
    assert shown.exit_code == 1
    evidence = read(DomainEvidence, json.loads(shown.stdout))
    assert (evidence.verdict, evidence.delta, evidence.pairs) == (DomainVerdict.VIOLATED, 1.0, None)
    assert evidence.boxes is not None
    assert certificate_checker.check(json.loads(file.read_text())).startswith("VIOLATED: exponential-naive-float64")
    sound = CliRunner().invoke(prove, ["--mechanism", "permute-and-flip", "--domain", LARGE, "--jobs", "1"])
    assert sound.output.startswith("permute-and-flip: HOLDS ON THE DOMAIN\n")
    assert "10^6477 ordered pairs of 10^6000 data; boxes bounded: 1, pairs compared: 1" in sound.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mechanism", "exponential-exakt"], "did you mean 'exponential-exact'"),
        (["--mechanism", "exponential-exact", "--domain", "numbers"], "unknown domain of the family exponential"),
        (
            ["--mechanism", "randomized-response-naive-float16", "--domain", "categories@categories=18014398509481984"],
            "--domain: a domain has from 1 to 4194304 data, got 18014398509481984^1",
        ),
        (
            ["--mechanism", "laplace-exact", "--domain", "numbers@most=18014398509481984"],
            "--domain: a domain has from 1 to 4194304 data",
        ),
        (["--mechanism", "exponential-exact", "--domain", f"{SMALL},most=3"], "--domain: 'most' is given twice"),
        (["--mechanism", "sparse-vector-exact", "--domain", "streams@queries=0"], "queries must be at least 1"),
        (["--mechanism", "sparse-vector-exact", "--domain", "streams@resolution=1"], "resolution from -64 to 0"),
        (["--mechanism", "noisy-max-naive-float64", "--domain", SMALL, "--jobs", "1"], "has no law on the domain"),
        (["--mechanism", "noisy-max-naive-float64", "--domain", LARGE, "--jobs", "1"], "no bounds over boxes of pairs"),
        (
            ["--mechanism", "exponential-exact", "--domain", "utilities@most=0,outcomes=2", "--jobs", "1"],
            "--domain: the domain utilities@most=0,outcomes=2,epsilon=1.0,sensitivity=1 has no two neighbours",
        ),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str) -> None:
    shown = CliRunner().invoke(prove, arguments)
    assert shown.exit_code == 2
    assert message in " ".join(shown.output.split())


def test_a_certificate_is_written_where_the_claim_is_violated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "certificate.json"
    written = ["--jobs", "1", "--certificate", str(file)]
    CliRunner().invoke(prove, ["--mechanism", "exponential-exact", "--domain", SMALL, *written])
    assert not file.exists()
    CliRunner().invoke(prove, [*BROKEN, *written])
    assert certificate_checker.check(json.loads(file.read_text())).startswith("VIOLATED: exponential-naive-float16")
    nowhere = str(tmp_path / "none" / "certificate.json")
    shown = CliRunner().invoke(prove, [*BROKEN, *written[:-1], nowhere])
    assert shown.exit_code == 2
    assert f"--certificate: No such file or directory: {nowhere}" in shown.output
    assert "VIOLATED" not in shown.output  # said before the work
    monkeypatch.setattr("subnormal.audit.evidence.certificate.OUTCOMES_MAX", 1)
    file.unlink()
    shown = CliRunner().invoke(prove, [*BROKEN, *written])
    assert shown.exit_code == 2
    assert "--certificate: a law of 2 outcomes is too long for a certificate" in shown.output
    assert not file.exists()


def test_what_is_not_decided_is_no_violation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, file = member("exponential-exact"), tmp_path / "certificate.json"
    held = every_pair.decide(mechanism, every_pair.domain_of("exponential", SMALL))
    left = replace(held, verdict=DomainVerdict.UNRESOLVED, unresolved=2)

    def decide(*of: Any) -> DomainEvidence:
        print("what a library prints is no part of the result")
        return left

    monkeypatch.setattr(every_pair, "decide", decide)
    options = ["--domain", SMALL, "--jobs", "1", "--fail-on-violation", "--certificate", str(file)]
    shown = CliRunner().invoke(prove, ["--mechanism", mechanism.name, *options])
    assert shown.exit_code == 0
    assert shown.stdout.startswith("exponential-exact: UNRESOLVED\n")
    assert "left     2 pairs that the bounds on their laws do not decide" in shown.stdout
    assert f"certificate: none, the claim is not violated on {SMALL}" in shown.stderr
    assert not file.exists()


def test_a_family_without_a_domain_is_a_mistake_of_the_mechanism() -> None:
    shown = CliRunner().invoke(prove, ["--mechanism", "dp-sgd-exact"])
    assert shown.exit_code == 2
    assert "--mechanism: dp-sgd-exact is of the family dp-sgd, which has no domain" in shown.output


def test_help_names_every_domain() -> None:
    shown = CliRunner().invoke(prove, ["--help"]).output
    assert all(one.name in shown for one in FAMILIES if one.domain is not None)
    assert "utilities@most=11,outcomes=4" in shown
    assert "grid=-4,\n" in shown
