"""Decides a claim over all neighbouring data of a finite domain, in integers and certified bounds. Nothing is sampled.

1. Every ordered pair of neighbours is listed and counted. The member's symmetries, and the exchange of the worlds, map
   it to the pair that stands for it; of each of these there is one comparison.
2. Each law is built once. Pairs with the same two laws are compared once.
3. Floats with proved error bounds decide most pairs (`float_screen`), the exact comparison of `exact` the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.evidence import box_search, exact
from subnormal.audit.evidence.float_screen import LawFloats, Screen, floats_of
from subnormal.audit.model import DomainEvidence, DomainVerdict, ExactEvidence, Verdict, Worlds
from subnormal.audit.values.literal import literals
from subnormal.mechanisms.core.domain import Domain, Points
from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.mechanism import AnyMechanism, NoLawError
from subnormal.mechanisms.core.options import built, split, unknown
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.core.pair_boxes import Cube
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.families import family, is_member, member
from subnormal.mechanisms.privacy import Claim

LISTED = 256  # data whose neighbours one task lists
BUILT = 64  # laws that one task builds
COMPARED = 32  # pairs that one task compares exactly
CLAIMED = 1 << 14  # pairs whose claims one task asks for
CANDIDATES = 64  # pairs compared exactly because their loss may be the largest

T = TypeVar("T")
Indices = NDArray[np.int64]
Each = Callable[[Callable[["Subject", Any], Any], "Subject", Sequence[Any]], Iterable[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A member and a domain of its family. It is pickled by their names if the families have them."""

    mechanism: AnyMechanism
    domain: Domain[Any, Any]

    def __reduce__(self) -> tuple[Callable[..., Subject], tuple[AnyMechanism | str, str]]:
        known = is_member(self.mechanism)
        return _named, (self.mechanism.name if known else self.mechanism, self.domain.text)

    def law(self, point: int) -> exact.Described:
        """Return the law of one of the data. Raises NoLawError where the member has none."""
        if self.mechanism.law is None:
            raise NoLawError(f"{self.mechanism.name} has no law")
        law: exact.Described = self.mechanism.law(self.data(point), self.domain.parameters)
        return law

    def data(self, point: int) -> Any:
        """Return one of the data."""
        return self.domain.data_of(self.domain.points[point])

    def claim(self, point_in: int, point_out: int) -> Claim:
        """Return the claim on a pair."""
        return self.mechanism.claim(self.domain.parameters, self.data(point_in), self.data(point_out))


@lru_cache(maxsize=4)
def _named(mechanism: AnyMechanism | str, text: str) -> Subject:
    found = member(mechanism) if isinstance(mechanism, str) else mechanism
    domain = domain_of(found.family, text)
    assert isinstance(domain, Domain)
    return Subject(found, domain)


def domain_of(family_name: str, text: str | None = None) -> Domain[Any, Any] | Cube[Any]:
    """Return a family's domain from its text, as in "utilities@most=11,outcomes=4". None: the default options.

    Raises LookupError for an unknown family, domain or option, and ValueError for a value that makes no domain.

    >>> len(domain_of("exponential", "utilities@most=2,outcomes=3").points)
    27
    """
    build = family(family_name).domain
    if build is None:
        raise LookupError(f"the family {family_name} has no domain")
    usual: Domain[Any, Any] | Cube[Any] = build()
    if text is None:
        return usual
    (own, _), (name, options) = split(usual.text), split(text)
    if name != own:
        raise LookupError(unknown(f"domain of the family {family_name}", name, [own]))
    domain: Domain[Any, Any] | Cube[Any] = built(build, name, options)
    return domain


def here(function: Callable[[Subject, T], Any], subject: Subject, tasks: Sequence[T]) -> Iterator[Any]:
    """Yield the results of the tasks, computed in this process."""
    for task in tasks:
        yield function(subject, task)


def decide(mechanism: AnyMechanism, domain: Domain[Any, Any] | Cube[Any], each: Each = here) -> DomainEvidence:
    """Return what the laws of all data of the domain prove about the member's claim on all pairs of neighbours.

    A cube's pairs are not listed: see `box_search`, which takes one process.

    each(function, subject, tasks): the results of function(subject, task) in order, from any process.
    Raises NoLawError where some of the data have no law, and ValueError where the domain has no neighbours, or where
    the claim depends on the pair.
    """
    if isinstance(domain, Cube):
        return box_search.decide(mechanism, domain)
    subject = Subject(mechanism, domain)
    listed = _listed(subject, each)
    claim = _claim_of_all(subject, listed.example, each)
    used = np.unique(listed.standing)
    laws = [law for block in each(laws_of, subject, _parts(used, BUILT)) for law in block]
    classes, first = _classes(laws)
    of_point = np.zeros(len(domain.points), dtype=np.int64)
    of_point[used] = classes
    both = np.sort(of_point[listed.standing], axis=1)
    both, at = np.unique(both, axis=0, return_index=True)
    pairs = listed.example[at]
    screen = Screen.of([laws[one].floats for one in first], claim)
    most = None
    if screen is not None:
        screened = screen.compare(both[:, 0], both[:, 1])
        most = screened.most
        broken = screened.violated.any()
        pairs = pairs[screened.worst(CANDIDATES) if broken else screened.undecided | screened.largest(CANDIDATES)]
    found = [one for block in each(compared, subject, _parts(pairs, COMPARED)) for one in block]
    pairs, evidence = pairs[[one is not None for one in found]], [one for one in found if one is not None]
    if not evidence:
        raise ValueError(f"{mechanism.name} refuses in every run on the domain {domain.text}")
    worst, verdict = _worst(evidence, claim)
    pair = subject.data(pairs[worst, 0]), subject.data(pairs[worst, 1])
    worlds = literals(lambda: pair)
    loss = max(one.epsilon for one in evidence)
    return DomainEvidence(
        mechanism=mechanism.name,
        domain=domain.text,
        claim=claim,
        verdict=verdict,
        data=len(domain.points),
        pairs=listed.count,
        boxes=None,
        laws=len(first),
        compared=len(evidence),
        symmetries=tuple(symmetry.name for symmetry in mechanism.symmetries),
        epsilon=(loss, None if most is None else max(most, loss)),
        delta=max(one.delta for one in evidence),
        unresolved=sum(one.verdict is Verdict.UNRESOLVED for one in evidence),
        worst=None if worlds is None else Worlds(*worlds),
        pair=pair,
    )


def _worst(evidence: Sequence[ExactEvidence], claim: Claim) -> tuple[int, DomainVerdict]:
    """Return which of the pairs that were compared exactly is the worst, and the verdict on all."""
    verdicts = [one.verdict for one in evidence]
    if Verdict.UNRESOLVED in verdicts and Verdict.VIOLATED not in verdicts:
        return max(range(len(evidence)), key=lambda at: evidence[at].within or 0.0), DomainVerdict.UNRESOLVED
    broken = Verdict.VIOLATED in verdicts

    def rank(at: int) -> tuple[float, float]:
        both = evidence[at].delta, evidence[at].epsilon
        return both if broken or claim.delta > 0 else both[::-1]

    return max(range(len(evidence)), key=rank), DomainVerdict.VIOLATED if broken else DomainVerdict.HOLDS


@dataclass(frozen=True, slots=True, eq=False)
class _Listed:
    """The pairs that stand for all pairs of neighbours, of each an example among these, and how many these are.

    standing and example: numbers of points, shape (pairs, 2). count: of ordered pairs.
    """

    standing: NDArray[np.int64]
    example: NDArray[np.int64]
    count: int


def _listed(subject: Subject, each: Each) -> _Listed:
    size, count = len(subject.domain.points), 0
    codes = examples = np.empty(0, dtype=np.int64)
    for found, example, ordered in each(pairs_of, subject, _parts(np.arange(size), LISTED)):
        codes, first = np.unique(np.concatenate([codes, found]), return_index=True)
        examples = np.concatenate([examples, example])[first]
        count += ordered
    if not count:
        raise ValueError(f"the domain {subject.domain.text} has no two neighbours")
    standing, example = (np.stack([code // size, code % size], axis=1) for code in (codes, examples))
    return _Listed(standing, example, count)


def pairs_of(subject: Subject, points: Indices) -> tuple[Indices, Indices, int]:
    """Return the pairs that stand for those of some points with their neighbours, an example of each, and their number.

    A pair is coded as the number of its first point times the size of the domain, plus that of its second point.
    Raises ValueError where a symmetry leaves the domain.
    """
    domain = subject.domain
    sets = [domain.neighbours(domain.points[point]) for point in points.tolist()]
    numbers = np.repeat(points, [len(one) for one in sets])
    points_in, points_out = domain.points[numbers], np.concatenate(sets)
    if not len(points_out):
        return numbers, numbers, 0
    codes = np.minimum(_code(subject, points_in, points_out), _code(subject, points_out, points_in))
    codes, first = np.unique(codes, return_index=True)
    examples = numbers[first] * len(domain.points) + domain.index.find(points_out[first])
    return codes, examples, len(points_out)


def _code(subject: Subject, points_in: Points, points_out: Points) -> Indices:
    for symmetry in subject.mechanism.symmetries:
        points_in, points_out = symmetry.map(points_in, points_out)
    index = subject.domain.index
    numbers = index.find(points_in), index.find(points_out)
    if min(number.min() for number in numbers) < 0:
        raise ValueError(f"a symmetry of {subject.mechanism.name} leaves the domain {subject.domain.text}")
    codes: Indices = numbers[0] * len(subject.domain.points) + numbers[1]
    return codes


@dataclass(frozen=True, slots=True, eq=False)
class BuiltLaw:
    """What is kept of a law: a digest of all that it says, and its probabilities in floats (None: not in floats)."""

    digest: bytes
    floats: LawFloats | None


def laws_of(subject: Subject, points: Indices) -> list[BuiltLaw]:
    """Return what is kept of the laws of some points."""
    return [BuiltLaw(_digest(law), floats_of(law)) for law in map(subject.law, points.tolist())]


def _digest(law: exact.Described) -> bytes:
    """Return a digest that is equal for laws that say the same, and differs otherwise (SHA-256)."""
    digest = hashlib.sha256()
    for part in _written(law):
        text = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(f"{len(text)}:".encode())
        digest.update(text)
    return digest.digest()


def _written(law: exact.Described) -> Iterator[object]:
    if isinstance(law, Product):
        for key in sorted(law.parts):
            yield identity(key)
            yield from _written(law.parts[key])
        return
    atoms = law.atoms
    if isinstance(atoms, np.ndarray) and atoms.dtype.kind in "iuf":  # the bytes of objects are their addresses
        yield from (atoms.dtype.str, atoms.shape, atoms.tobytes())
    else:
        yield atoms if isinstance(atoms, range) else [identity(atom) for atom in atoms]
    for numbers in (law.ends, law.low, law.high):
        array = integers(numbers)
        yield array.tobytes() if array.dtype == np.int64 else list(map(hex, array.tolist()))
    yield from map(hex, (law.denominator, *law.rest.as_integer_ratio()))  # Python writes no long integer in decimals
    if law.powers is not None:
        yield (law.powers.rate, law.powers.exponents.tolist(), law.powers.constants.tolist())


def _classes(laws: Sequence[BuiltLaw]) -> tuple[Indices, list[int]]:
    """Return the class of each law, and the first law of each class: laws that say the same are one class."""
    numbers: dict[bytes, int] = {}
    first: list[int] = []
    for at, law in enumerate(laws):
        if law.digest not in numbers:
            numbers[law.digest] = len(first)
            first.append(at)
    return np.array([numbers[law.digest] for law in laws], dtype=np.int64), first


def _claim_of_all(subject: Subject, pairs: NDArray[np.int64], each: Each) -> Claim:
    """Return the claim on all of the pairs, of which some are never compared. Raises ValueError where it differs."""
    claims: set[Claim] = {claim for block in each(claims_of, subject, _parts(pairs, CLAIMED)) for claim in block}
    if len(claims) != 1:
        raise ValueError(f"the claim of {subject.mechanism.name} depends on the pair: {claims}")
    return claims.pop()


def claims_of(subject: Subject, pairs: NDArray[np.int64]) -> set[Claim]:
    """Return the claims on some pairs, each once."""
    return {subject.claim(*pair) for pair in pairs.tolist()}


def compared(subject: Subject, pairs: NDArray[np.int64]) -> list[ExactEvidence | None]:
    """Return the exact evidence of some pairs, which have one claim; None for two worlds that always refuse alike."""
    claim = subject.claim(*pairs[0])
    laws: dict[int, exact.Described] = {}
    found: list[ExactEvidence | None] = []
    for points in pairs.tolist():
        for point in points:
            laws.setdefault(point, subject.law(point))
        law_in, law_out = (laws[point] for point in points)
        found.append(None if _refuse_alike(law_in, law_out) else exact.compare(law_in, law_out, claim))
    return found


def _refuse_alike(law_in: exact.Described, law_out: exact.Described) -> bool:
    refusals = [exact.only_refusals(law) if isinstance(law, Law) else None for law in (law_in, law_out)]
    return refusals[0] is not None and refusals[0] == refusals[1]


def _parts(numbers: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]
