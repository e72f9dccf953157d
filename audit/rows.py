"""Which attacks meet which members, and one row of evidence for each meeting."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from attacks import catalogue
from attacks.attack import Attack, Cost
from audit import bands, channels, exact, exhaustive, learning, sampled, sequential, timing, workers
from audit.environment import environment
from audit.report import ExactEvidence, Report, Row, SampledEvidence, SequentialEvidence, Sketch
from mechanisms.bits import BitSource
from mechanisms.families import absent, family, member, members, package, unknown
from mechanisms.interface import Mechanism
from mechanisms.law import Law
from mechanisms.privacy import Claim

CURVE_POINTS = 33  # of the picture of δ(ε)

AnyAttack = Attack[Any, Any, Any]
AnyMechanism = Mechanism[Any, Any, Any]
Plan = tuple[int, int, float]  # seed, runs, α
Look = Callable[[SequentialEvidence], None]


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """One attack against one member."""

    attack: AnyAttack
    mechanism: AnyMechanism

    @property
    def seen(self) -> AnyMechanism:
        """The member as the attacker sees it: through the attack's channel, where it has one."""
        channel = self.attack.channel
        return self.mechanism if channel in (None, "time") else channels.traced(self.mechanism, channel)


def crossings(
    attacks: Iterable[AnyAttack], *, mechanisms: Sequence[str] = (), everything: bool = False
) -> list[Crossing]:
    """Return the meetings that tell something: the members an attack breaks, those declared as fixes, the exact ones.

    Of another's library nobody knows beforehand what tells: its members meet every quick attack on outcomes, and every
    attack where they are asked for by name. An attack on libraries alone meets nobody where they are not installed.
    A variant of a member meets the attacks that name it, or every one where it is asked for by name. mechanisms, where
    not empty, names the members wanted. everything: also the crossings that tell nothing. Side channels come last.
    """
    found = []
    for attack in sorted(attacks, key=lambda one: (one.channel is not None, one.channel == "time")):
        known, left_out = members(family(attack.family)), {one.name for one in absent(family(attack.family))}
        for name in {*attack.breaks, *attack.fixes} - left_out - {mechanism.name for mechanism in known}:
            raise LookupError(f"attack {attack.name!r}: {unknown('mechanism', name, [one.name for one in known])}")
        if attack.breaks and left_out.issuperset(attack.breaks) and not everything:
            continue
        order = {name: rank for rank, name in enumerate((*attack.breaks, *attack.fixes))}
        everyone = sorted(known, key=lambda one: order.get(one.name, len(order)))
        for mechanism in everyone:
            named = mechanism.name in mechanisms
            foreign = bool(mechanism.package) and (named or (attack.cost is Cost.QUICK and attack.channel is None))
            telling = mechanism.name in order or foreign or _must_resist(attack, mechanism)
            asked = (everything and not mechanism.variant_of) or (named and bool(mechanism.variant_of))
            if (named or not mechanisms) and (telling or asked) and _taken(attack, mechanism):
                found.append(Crossing(attack, mechanism))
    return found


def _must_resist(attack: AnyAttack, mechanism: AnyMechanism) -> bool:
    """Return whether it is an exact member; through a channel, one that says what its traces tell."""
    says = attack.channel is None or mechanism.trace_law is not None
    return mechanism.exact and not mechanism.variant_of and says


def _taken(attack: AnyAttack, mechanism: AnyMechanism) -> bool:
    try:
        if attack.channel == "time" and planned_runs(Crossing(attack, mechanism), 1) == 0:
            return False  # too slow to be timed
        return mechanism.takes is None or all(mechanism.takes(data, attack.parameters) for data in attack.worlds())
    except Exception:  # worlds that cannot be built: their row will say so
        return True


def planned_runs(crossing: Crossing, runs: int) -> int:
    """Return how many runs of each world the row takes: the member's own bound is a number, never the clock."""
    mechanism, attack = crossing.seen, crossing.attack
    return runs if mechanism.runs is None else min(runs, mechanism.runs(attack.worlds()[0], attack.parameters))


def examine(
    crossing: Crossing,
    *,
    seed: int,
    runs: int,
    alpha: float,
    look: Look | None = None,
    seconds: float = timing.SECONDS,
) -> Row:
    """Return the row of one crossing. What goes wrong becomes the row's error; the other rows do not notice.

    alpha is this row's own share. runs is a wish: the member's own bound may be less, and 0 means that nothing is
    sampled. look, where given, asks for runs until the claim is decided, and sees the evidence after every batch.
    seconds: what a row that the clock decides may take; then runs are measurements of both worlds.
    """
    attack, mechanism = crossing.attack, crossing.seen
    try:
        if attack.channel == "time":
            return _timed(attack, mechanism, (seed, planned_runs(crossing, runs), alpha), seconds)
        return _examine(attack, mechanism, (seed, planned_runs(crossing, runs), alpha), look)
    except Exception as error:
        return _row(attack, mechanism, None, error=f"{type(error).__name__}: {error}")


def _examine(attack: AnyAttack, mechanism: AnyMechanism, plan: Plan, look: Look | None) -> Row:
    seed, runs, alpha = plan
    if runs and look is None:  # else until_decided learns it, on a share of its own runs
        attack = learning.with_event(mechanism, attack, seed=seed, runs=max(2, runs))
    worlds, claim = _claimed(attack, mechanism)
    laws = sampled.both_laws(mechanism, attack, worlds)
    return _row(
        attack,
        mechanism,
        claim,
        exact=None if laws is None else exact.compare(*laws, claim, attack.event),
        exhaustive=_walked(attack, mechanism, worlds, claim),
        **_sampled(attack, mechanism, worlds, claim, sampled.whole(laws), plan if look is None else (seed, 0, alpha)),
        sequential=None
        if look is None or not runs
        else sequential.until_decided(mechanism, attack, seed=seed, runs_max=runs, alpha=alpha, look=look),
    )


def _timed(attack: AnyAttack, mechanism: AnyMechanism, plan: Plan, seconds: float) -> Row:
    seed, runs, alpha = plan
    _, claim = _claimed(attack, mechanism)
    times = timing.observe(mechanism, attack, seed=seed, measurements=max(runs, timing.LEAST), seconds=seconds)
    shown = timing.judge(times, claim, alpha, seed)
    return _row(attack, mechanism, claim, timing=shown, sketch=timing.sketch(times))


def _claimed(attack: AnyAttack, mechanism: AnyMechanism) -> tuple[tuple[Any, Any], Claim]:
    worlds = attack.worlds()
    if not family(attack.family).adjacent(attack.parameters, *worlds):
        raise ValueError("the attack's worlds are not adjacent: no claim covers them")
    return worlds, mechanism.claim(attack.parameters, *worlds)


def _row(attack: AnyAttack, mechanism: AnyMechanism, claim: Claim | None, **evidence: Any) -> Row:
    return Row(
        attack=attack.name,
        description=attack.description,
        source=attack.source,
        family=attack.family,
        mechanism=mechanism.name,
        package=package(mechanism),
        parameters=dataclasses.asdict(attack.parameters),
        event=None if attack.event is None else attack.event.to_json(),
        claim=claim,
        advantage_allowed=None if claim is None else claim.advantage_allowed,
        reproducible=mechanism.seeded and attack.channel != "time",
        channel=attack.channel,
        **evidence,
    )


def _walked(attack: AnyAttack, mechanism: AnyMechanism, worlds: tuple[Any, Any], claim: Claim) -> ExactEvidence | None:
    depth = None if mechanism.depth is None else mechanism.depth(worlds[0], attack.parameters)
    if depth is None:
        return None
    law_in, law_out = (exhaustive.law(partial(_draw, mechanism, data, attack.parameters), depth) for data in worlds)
    return exact.compare(law_in, law_out, claim, attack.event)


def _draw(mechanism: AnyMechanism, data: Any, parameters: Any, bits: BitSource) -> Any:
    return mechanism.sample(data, parameters, bits, 1)[0]


def _sampled(
    attack: AnyAttack,
    mechanism: AnyMechanism,
    worlds: tuple[Any, Any],
    claim: Claim,
    laws: tuple[Law[Any], Law[Any]] | None,
    plan: Plan,
) -> dict[str, SampledEvidence | Sketch | None]:
    seed, runs, alpha = plan
    if not runs and laws is None:
        return {"sampled": None, "sketch": None}
    edges = sampled.cell_edges(mechanism, attack, worlds, laws, seed)
    masses = curve = counts = evidence = band = None
    epsilons = np.linspace(0, 2 * claim.epsilon or 1.0, CURVE_POINTS)
    if laws is not None:
        masses = sampled.cell_masses(laws[0], attack, edges), sampled.cell_masses(laws[1], attack, edges)
        curve = epsilons, exact.curve(*laws, epsilons.tolist())[0]
    if runs:
        counts = sampled.observe(mechanism, attack, worlds, edges, seed=seed, runs=runs)
        evidence = sampled.judge(counts, claim, alpha, masses, sampled.row_seed(seed, attack, mechanism))
        band = bands.drawn((counts[0].cells, counts[1].cells), claim, epsilons.tolist(), alpha, masses)
    shares = None if counts is None else (counts[0].cells / runs, counts[1].cells / runs)
    seen = shares is not None or masses is not None
    axis = attack.axis or attack.channel or "outcome"
    return {"sampled": evidence, "sketch": Sketch(edges, shares, masses, curve, axis, band) if seen else None}


def examine_all(
    met: Sequence[Crossing],
    *,
    seed: int,
    runs: int,
    alpha: float,
    done: Callable[[], None] = lambda: None,
    look: Callable[[Crossing, SequentialEvidence], None] | None = None,
) -> Report:
    """Return the report of these crossings, α shared equally by the rows that are sampled. done() is called a row.

    Rows are independent, so those of the catalogue are spread over the processor's cores; the result does not depend on
    how many. A worker finds an attack by its name, so attacks from elsewhere are examined here, one after the other; so
    are all where somebody looks on while claims are being decided. Rows that the clock decides come last, alone.
    """
    plans = [_plan(crossing, runs) for crossing in met]
    share = alpha / max(1, sum(plan > 0 for plan in plans))
    planned = list(zip(met, plans, strict=True))
    counted = [one for one in planned if one[0].attack.channel != "time"]
    clocked = [one for one in planned if one[0].attack.channel == "time"]
    if look is None and len(counted) > 1 and all(_catalogued(crossing) for crossing, _ in counted):
        tasks = [(one.attack.name, one.mechanism.name, seed, plan, share) for one, plan in counted]
        rows = _in_processes(tasks, done)
    else:
        rows = list(_in_this_process(counted, seed, share, done, look))
    seconds = timing.SECONDS / max(1, sum(_parts(crossing) for crossing, _ in clocked))
    rows += _in_this_process(clocked, seed, share, done, look, seconds)  # now, with nothing beside them
    return Report(version("subnormal"), seed, runs, alpha, share, environment(), tuple(rows))


def _parts(crossing: Crossing) -> int:
    """Return how many parts of the seconds a row takes: more where there is something to be seen."""
    return 2 if crossing.mechanism.name in crossing.attack.breaks else 1


def _plan(crossing: Crossing, runs: int) -> int:
    try:
        return planned_runs(crossing, runs)
    except Exception:  # worlds that cannot be built: their row will say so
        return 0


def _in_this_process(
    planned: Sequence[tuple[Crossing, int]],
    seed: int,
    share: float,
    done: Callable[[], None],
    look: Callable[[Crossing, SequentialEvidence], None] | None,
    seconds: float = timing.SECONDS,
) -> Iterator[Row]:
    for crossing, plan in planned:
        seen = None if look is None else partial(look, crossing)
        yield examine(crossing, seed=seed, runs=plan, alpha=share, look=seen, seconds=seconds * _parts(crossing))
        done()


def _catalogued(crossing: Crossing) -> bool:
    return crossing.attack in catalogue.ATTACKS and crossing.mechanism in members(family(crossing.mechanism.family))


_Task = tuple[str, str, int, int, float]


def _in_processes(tasks: list[_Task], done: Callable[[], None]) -> list[Row]:
    with workers.pool(len(tasks)) as pool:
        futures = [pool.submit(_examine_named, *task) for task in tasks]
        for _ in as_completed(futures):
            done()
    return [_result(future, task) for future, task in zip(futures, tasks, strict=True)]


def _result(future: Future[Row], task: _Task) -> Row:
    """Return a worker's row; where the worker died, the row of its crossing with that as the error."""
    error = future.exception()
    if error is None:
        return future.result()
    return _row(catalogue.attack(task[0]), member(task[1]), None, error=f"{type(error).__name__}: {error}")


def _examine_named(attack: str, mechanism: str, seed: int, runs: int, alpha: float) -> Row:
    return examine(Crossing(catalogue.attack(attack), member(mechanism)), seed=seed, runs=runs, alpha=alpha)
