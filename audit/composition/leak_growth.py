"""Growth of leaks under composition: the advantage against a broken member and against its exact twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np

from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.composition import other_accountants
from subnormal.audit.composition.buckets import buckets
from subnormal.audit.composition.comparison import Subject
from subnormal.audit.engine.pairs import Crossing, adjacent_worlds, crossings
from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.audit.report import svg
from subnormal.audit.report.svg import Axis, Frame, Panel
from subnormal.audit.text import given
from subnormal.mechanisms.composition.composition import COUNT
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.privacy import Claim

RUNS = tuple(1 << power for power in range(0, 19, 2))  # of the table and the charts


@dataclass(frozen=True, slots=True, eq=False)
class LeakGrowth:
    """The growth of the leak of a member under an attack: bounds (low, up) at each of RUNS.

    exact: whether the member is the exact twin of the broken members.
    beyond: bounds of δ(r·ε). If each run keeps the claim, δ(r·ε) is at most 1 − (1 − δ)^r.
    advantage: bounds of δ(0), the largest difference of an event's probabilities after r runs.
    """

    attack: str
    mechanism: str
    exact: bool
    claim: Claim
    beyond: tuple[tuple[float, float], ...]
    advantage: tuple[tuple[float, float], ...]


def both_directions(name: str, mechanism: AnyMechanism, attack: AnyAttack, count: int = COUNT) -> Subject | None:
    """Return one run of a member under an attack from its exact laws, or None without exact laws."""
    laws = exact.both_laws(mechanism, attack, adjacent_worlds(attack))
    if laws is None:
        return None
    law_in, law_out = exact.multiply_out(*laws)
    return Subject(name, (buckets(law_in, law_out, count=count), buckets(law_out, law_in, count=count)))


def measure_leaks(
    attacks: Sequence[AnyAttack], *, count: int = COUNT, done: Callable[[], None] = lambda: None
) -> list[LeakGrowth]:
    """Return the leak growth of every member whose exact law violates its claim, each followed by its exact twin.

    The twin is the first exact member of the family with a law. done() is called after every attack.
    """
    rows = []
    for attack in attacks:
        pairs = crossings([attack])
        broken = [one for one in pairs if _violated(one)]
        twins = [one for one in pairs if one.mechanism.exact and one not in broken]
        rows += [row for one in broken if (row := _growth(one, count, twin=False)) is not None]
        if broken:
            rows += [row for one in twins if (row := _growth(one, count, twin=True)) is not None][:1]
        done()
    return rows


def _violated(one: Crossing) -> bool:
    worlds, claim = one.claimed()
    laws = exact.both_laws(one.seen, one.attack, worlds)
    return laws is not None and exact.compare(*laws, claim).verdict is Verdict.VIOLATED


def _growth(one: Crossing, count: int, *, twin: bool) -> LeakGrowth | None:
    subject = both_directions(one.mechanism.name, one.seen, one.attack, count)
    if subject is None:
        return None
    _, claim = one.claimed()
    beyond = tuple(subject.delta(runs, runs * claim.epsilon) for runs in RUNS)
    low, up = zip(*(subject.delta(runs, 0.0) for runs in RUNS), strict=True)
    advantage = tuple(zip(accumulate(low, max), up, strict=True))  # a bound for fewer runs holds for more
    return LeakGrowth(one.attack.name, one.mechanism.name, twin, claim, beyond, advantage)


def charts(rows: Sequence[LeakGrowth]) -> list[Panel]:
    """Return a chart for each attack: the certain advantage, the twin's largest advantage, and the claim's limit."""
    return [_chart(attack, [*of]) for attack, of in groupby(rows, lambda row: row.attack)]


def _chart(attack: str, rows: Sequence[LeakGrowth]) -> Panel:
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
