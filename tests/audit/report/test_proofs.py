"""The results over whole domains that are shipped, and what reports say of them."""

import dataclasses

from docs.proved import to_markdown
from subnormal.audit.evidence.every_pair import decide, domain_of
from subnormal.audit.model import DomainEvidence, DomainVerdict
from subnormal.audit.report import proofs
from subnormal.audit.report.proofs import Proof
from subnormal.audit.text import given
from subnormal.mechanisms.families import FAMILIES, exact_members, family, member
from tests.support.paths import ROOT

PAIRS = 10**6


def on_default_domain(name: str) -> DomainEvidence | None:
    default = family(member(name).family).domain
    assert default is not None
    found = [one.evidence for one in proofs.known() if one.evidence.mechanism == name]
    return next((one for one in found if one.domain == default().text), None)


def test_every_exact_member_is_decided_on_a_million_pairs_of_the_default_domain() -> None:
    for of in FAMILIES:
        if of.domain is not None:
            for mechanism in exact_members(of):
                known = on_default_domain(mechanism.name)
                assert known is not None, f"{mechanism.name}: run `make prove`"
                assert known.verdict is DomainVerdict.HOLDS
                assert known.pairs is not None
                assert known.pairs >= PAIRS
                assert known.unresolved == 0


def test_what_is_shipped_is_what_is_decided() -> None:
    """For the quickest; `make prove` decides all of them again."""
    for name in ("exponential-exact", "permute-and-flip"):
        mechanism = member(name)
        assert decide(mechanism, domain_of(mechanism.family)) == on_default_domain(name)


def test_the_page_is_that_of_the_results() -> None:
    page = (ROOT / "docs" / "proved.md").read_text()
    assert page == to_markdown(proofs.known())
    assert all(f"`{one.evidence.domain}`" in page for one in proofs.known())


def test_naive_members_are_shown_too() -> None:
    verdicts = {one.evidence.mechanism: one.evidence.verdict for one in proofs.known()}
    assert verdicts["exponential-naive-float16"] is DomainVerdict.VIOLATED
    assert verdicts["laplace-naive-float32"] is DomainVerdict.VIOLATED


def test_a_small_excess_and_an_infinite_loss_are_shown() -> None:
    known = {one.evidence.mechanism: proofs.largest(one.evidence) for one in proofs.known()}
    assert known["randomized-response-naive-float32"].startswith("ε = 1.0000003,")
    assert known["laplace-naive-float32"].startswith("ε = ∞,")


def test_a_result_that_does_not_hold_is_not_shown_as_a_domain() -> None:
    assert proofs.of("exponential-naive-float16") is None
    assert proofs.of("a-mechanism-of-nobody") is None


def test_the_largest_domain_is_that_of_the_most_pairs() -> None:
    known = proofs.of("exponential-exact")
    assert known is not None
    assert (known.pairs, proofs.pairs(known)) == (None, "10^6477")
    assert "10^6477 ordered pairs of 10^6000 data; boxes bounded: 1, pairs compared: 1" in proofs.text(known)
    listed = on_default_domain("exponential-exact")
    assert listed is not None
    assert proofs.pairs(listed) == "1,315,600"


def test_boxes_that_are_left_are_shown() -> None:
    known = proofs.of("exponential-exact")
    assert known is not None
    assert known.boxes is not None
    boxes = dataclasses.replace(known.boxes, left=3, delta=0.25)
    left = dataclasses.replace(known, verdict=DomainVerdict.UNRESOLVED, boxes=boxes)
    assert "left     3 boxes that may have a pair beyond the claim, with a divergence of at most 0.25" in proofs.text(
        left
    )
    violated = dataclasses.replace(left, verdict=DomainVerdict.VIOLATED)
    assert "left     3 boxes that may have a worse pair, with a divergence of at most 0.25" in proofs.text(violated)
    assert "left" not in proofs.text(known)


def test_an_undecided_claim_says_what_is_left() -> None:
    known = on_default_domain("exponential-exact")
    assert known is not None
    left = dataclasses.replace(known, verdict=DomainVerdict.UNRESOLVED, unresolved=3)
    for verdict in (DomainVerdict.UNRESOLVED, DomainVerdict.VIOLATED):
        some = dataclasses.replace(left, verdict=verdict)
        assert "left     3 pairs that the bounds on their laws do not decide" in proofs.text(some)
    assert given(1.5) in to_markdown([Proof(left, 1.5)])
