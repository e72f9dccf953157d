"""A leak compounds: what many runs of a broken member give an attacker, beside what its exact twin gives."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attacks.attack import Attack
from audit import exact, sampled
from audit.comparison import Subject
from audit.composition import COUNT, buckets
from audit.report import Verdict
from audit.rows import AnyMechanism, Crossing, crossings
from mechanisms.privacy import Claim

RUNS = tuple(1 << power for power in range(0, 19, 2))  # of the table and the picture
FLOOR = 1e-16  # what is drawn of a bound below that

AnyAttack = Attack[object, object, object]


@dataclass(frozen=True, slots=True, eq=False)
class Compounded:
    """A member under an attack: bounds on δ(r·ε), which no r runs that keep the claim can exceed 1 − (1 − δ)^r by."""

    attack: str
    mechanism: str
    exact: bool
    claim: Claim
    bounds: tuple[tuple[float, float], ...]  # (low, up) at each of RUNS


def both_directions(name: str, mechanism: AnyMechanism, attack: AnyAttack, count: int = COUNT) -> Subject | None:
    """Return one run of a member under an attack from its exact laws, or None where it has none."""
    laws = sampled.both_laws(mechanism, attack, attack.worlds())
    if laws is None:
        return None
    return Subject(name, (buckets(*laws, count=count), buckets(*laws[::-1], count=count)))


def compounded(
    attacks: Sequence[AnyAttack], *, count: int = COUNT, done: Callable[[], None] = lambda: None
) -> list[Compounded]:
    """Return, for every member that its exact law convicts, what its runs add up to, each followed by an exact twin.

    The twin is the first exact member of the family with a law. done() is called for every attack.
    """
    found = []
    for attack in attacks:
        met = crossings([attack])
        broken = [one for one in met if not one.mechanism.exact and _violated(one)]
        twins = [one for one in met if one.mechanism.exact]
        found += [made for one in broken if (made := _compounded(one, count)) is not None]
        if broken:
            found += [made for made in (_compounded(one, count) for one in twins) if made is not None][:1]
        done()
    return found


def _violated(one: Crossing) -> bool:
    worlds = one.attack.worlds()
    laws = sampled.both_laws(one.mechanism, one.attack, worlds)
    claim = one.mechanism.claim(one.attack.parameters, *worlds)
    return laws is not None and exact.compare(*laws, claim).verdict is Verdict.VIOLATED


def _compounded(one: Crossing, count: int) -> Compounded | None:
    subject = both_directions(one.mechanism.name, one.mechanism, one.attack, count)
    if subject is None:
        return None
    claim = one.mechanism.claim(one.attack.parameters, *one.attack.worlds())
    bounds = tuple(subject.delta(runs, runs * claim.epsilon) for runs in RUNS)
    return Compounded(one.attack.name, one.mechanism.name, one.mechanism.exact, claim, bounds)


def picture(rows: Sequence[Compounded]) -> bytes:
    """Return a PNG: for broken members what is certain at least, for their exact twins what is possible at most."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(11, 5), layout="constrained")
        axes = figure.subplots()
        shades = [row for row in rows if not row.exact]
        for row in rows:
            if row.exact:
                ups = [max(FLOOR, up) for _, up in row.bounds]
                axes.plot(RUNS, ups, color="#0072b2", marker="D", markersize=4, linewidth=1.2, alpha=0.6)
            else:
                place = shades.index(row) / max(1, len(shades) - 1)
                colour = (0.84, 0.15 + 0.5 * place, 0.1 * place)
                lows = [max(FLOOR, low) for low, _ in row.bounds]
                axes.plot(RUNS, lows, color=colour, marker="s", markersize=5, label=f"{row.attack}: {row.mechanism}")
        axes.plot([], [], color="#0072b2", marker="D", markersize=4, label="exact twins, at most")
        axes.set_xscale("log", base=2)
        axes.set(yscale="log", xlabel="runs r", ylabel="δ(r·ε)", title="What r runs show beyond r times the claim")
        axes.set_ylim(FLOOR / 2, 2)
        axes.grid(color="0.92")
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9)
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=110)
    return stream.getvalue()
