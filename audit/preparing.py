"""What is fixed of a row before the runs that judge it: the event, the cells; and what its laws say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attacks.events import Event
from audit import exact, exhaustive, learning, sampled, sequential
from audit.crossings import AnyAttack, AnyMechanism, Crossing
from audit.report import ExactEvidence, Pair
from mechanisms.bits import BitSource
from mechanisms.families import family
from mechanisms.law import Law
from mechanisms.privacy import Claim

CURVE_POINTS = 33  # of the picture of δ(ε)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a row is examined. runs: of each world, 0 for none. alpha: the row's own share."""

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
    training: int  # runs of each world that the event of a claim to be decided was learned on


def prepare(crossing: Crossing, plan: Plan) -> Prepared:
    """Learn the event where the attack names none, compare the laws, walk, and fix the cells."""
    attack, mechanism, training = crossing.attack, crossing.seen, 0
    if plan.until_decided and plan.runs:
        attack, training = sequential.with_event(mechanism, attack, seed=plan.seed, runs_max=plan.runs)
    elif plan.runs:
        attack = learning.with_event(mechanism, attack, seed=plan.seed, runs=max(2, plan.runs))
    worlds, claim = claimed(attack, mechanism)
    laws = sampled.both_laws(mechanism, attack, worlds)
    return Prepared(
        attack.event,
        claim,
        None if laws is None else exact.compare(*laws, claim, attack.event),
        _walked(attack, mechanism, worlds, claim),
        *_cells(attack, mechanism, worlds, claim, sampled.whole(laws), plan),
        training,
    )


def _cells(
    attack: AnyAttack,
    mechanism: AnyMechanism,
    worlds: tuple[Any, Any],
    claim: Claim,
    laws: tuple[Law[Any], Law[Any]] | None,
    plan: Plan,
) -> tuple[NDArray[np.float64] | None, Pair | None, Pair | None]:
    """Return the cells, and both laws as masses in them and as the curve δ(ε)."""
    if laws is None:
        pilot = plan.runs and not plan.until_decided
        return (sampled.cell_edges(mechanism, attack, worlds, None, plan.seed) if pilot else None), None, None
    edges = sampled.cell_edges(mechanism, attack, worlds, laws, plan.seed)
    points = epsilons(claim)
    masses = sampled.cell_masses(laws[0], attack, edges), sampled.cell_masses(laws[1], attack, edges)
    return edges, masses, (points, exact.curve(*laws, points.tolist())[0])


def claimed(attack: AnyAttack, mechanism: AnyMechanism) -> tuple[tuple[Any, Any], Claim]:
    """Return the worlds and the claim. Raises ValueError where the worlds are not adjacent."""
    worlds = attack.worlds()
    if not family(attack.family).adjacent(attack.parameters, *worlds):
        raise ValueError("the attack's worlds are not adjacent: no claim covers them")
    return worlds, mechanism.claim(attack.parameters, *worlds)


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
