"""What is fixed of a row before the runs that judge it: the event, the cells; and what its laws say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Event
from subnormal.audit.engine.pairs import AnyAttack, AnyMechanism, Crossing
from subnormal.audit.evidence import event_search, exact, exhaustive, sampled, sequential
from subnormal.audit.evidence.worlds import claimed
from subnormal.audit.model import ExactEvidence, Pair
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.privacy import Claim

CURVE_POINTS = 33  # of the picture of δ(ε)
LEARNING_SHARE = 1 / 4  # of a row's runs, to learn an event on


@dataclass(frozen=True, slots=True)
class Plan:
    """How a row is examined. runs: of each world in all, judging or not; 0 for none. alpha: the row's own share."""

    seed: int
    runs: int
    alpha: float
    until_decided: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What is known of a row, and fixed, before the runs that judge it."""

    event: Event | None
    claim: Claim
    exact: ExactEvidence | None
    exhaustive: ExactEvidence | None
    edges: NDArray[np.float64] | None  # None: nothing falls into cells, and there is no law
    masses: Pair | None
    curve: Pair | None
    spent: int  # of the plan's runs: those that the event was learned on, and those that fixed the cells


def prepare(crossing: Crossing, plan: Plan) -> Prepared:
    """Learn the event where the attack names none, compare the laws, walk, and fix the cells.

    Raises ValueError where that leaves none of the runs to judge by.
    """
    attack, mechanism, spent = crossing.attack, crossing.seen, 0
    worlds, claim = claimed(attack, mechanism)
    if plan.until_decided and plan.runs:
        attack, spent = sequential.with_event(mechanism, attack, seed=plan.seed, runs_max=plan.runs)
    elif plan.runs and attack.event is None:
        spent = min(event_search.RUNS_MAX, max(2, int(LEARNING_SHARE * plan.runs)))
        attack = event_search.with_event(mechanism, attack, seed=plan.seed, runs=spent)
    laws = sampled.both_laws(mechanism, attack, worlds)
    whole = sampled.whole(laws)
    pilot = sampled.pilot(plan.runs) if whole is None and plan.runs and not plan.until_decided else 0
    spent += pilot
    if plan.runs and spent >= plan.runs:
        raise ValueError(f"runs must leave one to judge by, got {plan.runs:,}")
    return Prepared(
        attack.event,
        claim,
        None if laws is None else exact.compare(*laws, claim, attack.event),
        _walked(attack, mechanism, worlds, claim),
        *_cells(attack, mechanism, worlds, claim, whole, plan.seed, pilot),
        spent,
    )


def _cells(
    attack: AnyAttack,
    mechanism: AnyMechanism,
    worlds: tuple[Any, Any],
    claim: Claim,
    laws: tuple[Law[Any], Law[Any]] | None,
    seed: int,
    pilot: int,
) -> tuple[NDArray[np.float64] | None, Pair | None, Pair | None]:
    """Return the cells, and both laws as masses in them and as the curve δ(ε). pilot: runs that fix them, or 0."""
    if laws is None:
        return (sampled.cell_edges(mechanism, attack, worlds, None, seed, pilot) if pilot else None), None, None
    edges = sampled.cell_edges(mechanism, attack, worlds, laws, seed, pilot)
    points = epsilons(claim)
    masses = sampled.cell_masses(laws[0], attack, edges), sampled.cell_masses(laws[1], attack, edges)
    return edges, masses, (points, exact.curve(*laws, points.tolist())[0])


def epsilons(claim: Claim) -> NDArray[np.float64]:
    """Return where curves δ(ε) are drawn, shape (CURVE_POINTS,)."""
    return np.linspace(0, 2 * claim.epsilon or 1.0, CURVE_POINTS)


def _walked(attack: AnyAttack, mechanism: AnyMechanism, worlds: tuple[Any, Any], claim: Claim) -> ExactEvidence | None:
    depth = None if mechanism.depth is None else mechanism.depth(worlds[0], attack.parameters)
    if depth is None:
        return None
    law_in, law_out = (exhaustive.law(partial(_draw, mechanism, data, attack.parameters), depth) for data in worlds)
    return exact.compare(law_in, law_out, claim, attack.event)


def _draw(mechanism: AnyMechanism, data: Any, parameters: Any, bits: BitSource) -> Any:
    return mechanism.sample(data, parameters, bits, 1)[0]
