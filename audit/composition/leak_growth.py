"""Growth of leaks under composition: the advantage against a broken member, next to that against its exact twin."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from subnormal.attacks.core.attack import Attack
from subnormal.audit.composition import other_accountants
from subnormal.audit.composition.comparison import Subject
from subnormal.audit.composition.composition import COUNT, buckets
from subnormal.audit.engine.pairs import AnyMechanism, Crossing, crossings
from subnormal.audit.evidence import exact, two_laws
from subnormal.audit.evidence.worlds import claimed, covered
from subnormal.audit.model import Verdict
from subnormal.audit.text import given
from subnormal.mechanisms.privacy import Claim

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RUNS = tuple(1 << power for power in range(0, 19, 2))  # of the table and the picture
COLUMNS = 3  # of the picture's panels

AnyAttack = Attack[Any, Any, Any]


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
    laws = two_laws.both_laws(mechanism, attack, covered(attack))
    if laws is None:
        return None
    law_in, law_out = two_laws.multiplied(*laws)
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
    worlds, claim = claimed(one.attack, one.seen)
    laws = two_laws.both_laws(one.seen, one.attack, worlds)
    return laws is not None and exact.compare(*laws, claim).verdict is Verdict.VIOLATED


def _compounded(one: Crossing, count: int, *, twin: bool) -> Compounded | None:
    subject = both_directions(one.mechanism.name, one.seen, one.attack, count)
    if subject is None:
        return None
    _, claim = claimed(one.attack, one.seen)
    beyond = tuple(subject.delta(runs, runs * claim.epsilon) for runs in RUNS)
    low, up = zip(*(subject.delta(runs, 0.0) for runs in RUNS), strict=True)
    advantage = tuple(zip(accumulate(low, max), up, strict=True))  # what fewer runs make certain, more do
    return Compounded(one.attack.name, one.mechanism.name, twin, claim, beyond, advantage)


def picture(rows: Sequence[Compounded]) -> bytes:
    """Return a PNG, a panel an attack: the advantage that is certain, the twin's, and what the claim allows."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    attacks = list(dict.fromkeys(row.attack for row in rows))
    height = -(-len(attacks) // COLUMNS)
    with rc_context({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(4 * COLUMNS, 2.7 * height + 0.4), layout="constrained")
        panels = figure.subplots(height, COLUMNS, squeeze=False, sharey=True).ravel()
        for panel, attack in zip(panels, attacks, strict=False):
            _draw(panel, [row for row in rows if row.attack == attack])
        panels[0].legend(fontsize=9, loc="lower right")
        for panel in panels[len(attacks) :]:
            panel.set_axis_off()
        figure.suptitle("The advantage of an attacker who sees r runs")
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
    return stream.getvalue()


def _draw(panel: Axes, rows: Sequence[Compounded]) -> None:
    claim = rows[0].claim
    allowed = [other_accountants.kairouz_oh_viswanath(claim.epsilon, claim.delta, runs, 0.0) for runs in RUNS]
    panel.fill_between(RUNS, 0, allowed, color="0.92", label="the claim allows")
    for row in rows:
        if row.exact:
            panel.plot(RUNS, [up for _, up in row.advantage], color="#0072b2", linestyle="--", label="exact twin")
        else:
            panel.plot(RUNS, [low for low, _ in row.advantage], color="#d55e00", marker="s", markersize=4)
    panel.plot([], [], color="#d55e00", marker="s", markersize=4, label="broken")
    panel.set_xscale("log", base=2)
    panel.set_title(f"{rows[0].attack}, ε = {given(claim.epsilon)}", fontsize=10)
    panel.set_xlabel("runs r")
    panel.set_ylim(0, 1.05)
