"""Growth of leaks under composition: the advantage against a broken member, next to that against its exact twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np

from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.composition import other_accountants
from subnormal.audit.composition.comparison import Subject
from subnormal.audit.composition.composition import COUNT, buckets
from subnormal.audit.engine.pairs import Crossing, covered, crossings
from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.audit.report import svg
from subnormal.audit.report.svg import Axis, Frame, Panel
from subnormal.audit.text import given
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.privacy import Claim

RUNS = tuple(1 << power for power in range(0, 19, 2))  # of the table and the charts


@dataclass(frozen=True, slots=True, eq=False)
class Compounded:
    """A member under an attack, and (low, up) at each of RUNS. exact: whether it is the exact twin beside broken ones.

    beyond: of δ(r·ε), which for r runs that keep the claim is at most 1 − (1 − δ)^r. advantage: of δ(0), by which the
    best event after r runs is likelier in one world than in the other.
    """

    attack: str
    mechanism: str
    exact: bool
    claim: Claim
    beyond: tuple[tuple[float, float], ...]
    advantage: tuple[tuple[float, float], ...]


def both_directions(name: str, mechanism: AnyMechanism, attack: AnyAttack, count: int = COUNT) -> Subject | None:
    """Return one run of a member under an attack from its exact laws, or None where it has none."""
    laws = exact.both_laws(mechanism, attack, covered(attack))
    if laws is None:
        return None
    law_in, law_out = exact.multiplied(*laws)
    return Subject(name, (buckets(law_in, law_out, count=count), buckets(law_out, law_in, count=count)))


def compounded(
    attacks: Sequence[AnyAttack], *, count: int = COUNT, done: Callable[[], None] = lambda: None
) -> list[Compounded]:
    """Return, for every member that its exact law convicts, what its runs add up to, each followed by an exact twin.

    The twin is the first exact member of the family with a law. done() is called for every attack.
    """
    found = []
    for attack in attacks:
        met = crossings([attack])
        broken = [one for one in met if _violated(one)]
        twins = [one for one in met if one.mechanism.exact and one not in broken]
        found += [made for one in broken if (made := _compounded(one, count, twin=False)) is not None]
        if broken:
            found += [made for one in twins if (made := _compounded(one, count, twin=True)) is not None][:1]
        done()
    return found


def _violated(one: Crossing) -> bool:
    worlds, claim = one.claimed()
    laws = exact.both_laws(one.seen, one.attack, worlds)
    return laws is not None and exact.compare(*laws, claim).verdict is Verdict.VIOLATED


def _compounded(one: Crossing, count: int, *, twin: bool) -> Compounded | None:
    subject = both_directions(one.mechanism.name, one.seen, one.attack, count)
    if subject is None:
        return None
    _, claim = one.claimed()
    beyond = tuple(subject.delta(runs, runs * claim.epsilon) for runs in RUNS)
    low, up = zip(*(subject.delta(runs, 0.0) for runs in RUNS), strict=True)
    advantage = tuple(zip(accumulate(low, max), up, strict=True))  # what fewer runs make certain, more do
    return Compounded(one.attack.name, one.mechanism.name, twin, claim, beyond, advantage)


def charts(rows: Sequence[Compounded]) -> list[Panel]:
    """Return a chart for each attack: the advantage that is certain, the twin's, and what the claim allows."""
    return [_chart(attack, [*of]) for attack, of in groupby(rows, lambda row: row.attack)]


def _chart(attack: str, rows: Sequence[Compounded]) -> Panel:
    claim = rows[0].claim
    allowed = [other_accountants.kairouz_oh_viswanath(claim.epsilon, claim.delta, runs, 0.0) for runs in RUNS]
    frame = Frame(Axis("runs r", RUNS[0], RUNS[-1], logarithmic=True), Axis("advantage", 0.0, 1.0))
    marks = [svg.band(frame, np.array(RUNS, dtype=np.float64), np.zeros(len(RUNS)), np.array(allowed), "b")]
    for row in rows:
        low, up = zip(*row.advantage, strict=True)
        marks.append(svg.line(frame, RUNS, up, "l i") if row.exact else svg.line(frame, RUNS, low, "l o"))
    broken, twin = (", ".join(row.mechanism for row in rows if row.exact == exact) for exact in (False, True))
    caption = f"Dashed: {broken}, at least. "
    caption += f"Line: its exact twin, {twin}, at most. " if twin else ""
    caption += f"Grey: what the claim allows, ε = {given(claim.epsilon)}."
    return svg.panel(attack, "the advantage of an attacker who sees r runs", caption, frame, marks)
