"""Five lines that run, for each exact mechanism, and the explorer's link to the worlds of an attack."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from subnormal.attacks.core.attack import Attack
from subnormal.mechanisms.core.mechanism import AnyMechanism

# Of each family: where its parameters come from, an example of them, data, and what these are.
EXAMPLES = {
    "exponential": (
        "exponential.family import ExponentialParameters, Limits",
        "ExponentialParameters(epsilon=0.5, limits=Limits(0, 3, 4))",
        "[3, 0, 1, 1]",
        "utilities: a lower one is better",
    ),
    "laplace": (
        "additive.family import LaplaceParameters",
        "LaplaceParameters(epsilon=1.0, sensitivity=1, grid=0, lower=0, upper=100)",
        "41",
        "a count",
    ),
    "gaussian": (
        "additive.family import GaussianParameters",
        "GaussianParameters(sigma=2.0, delta=1e-6, sensitivity=1, grid=0, lower=0, upper=100)",
        "41",
        "a count",
    ),
    "sparse-vector": (
        "sparse_vector.family import SparseVectorParameters",
        "SparseVectorParameters(epsilon=1.0, threshold=100)",
        "array([20, 97, 140])",
        "answers to queries",
    ),
    "private-selection": (
        "private_selection.family import PrivateSelectionParameters",
        "PrivateSelectionParameters(epsilon=1.0, lower=0, upper=100)",
        "[31, 80, 45]",
        "the scores of three candidates",
    ),
    "partitions": (
        "partitions.family import PartitionParameters",
        "PartitionParameters(epsilon=1.0, lower=(0, 0, 0), upper=(20, 10, 5))",
        "[12, 7, 3]",
        "frequencies, the largest first",
    ),
    "threshold": (
        "threshold.parameters import ThresholdParameters",
        'ThresholdParameters("laplace", 2.0, 20)',
        '{"London": 71, "Ely": 1}',
        "counts by private keys",
    ),
    "randomized-response": (
        "randomized_response.family import RandomizedResponseParameters",
        "RandomizedResponseParameters(epsilon=1.0, categories=4)",
        "2",
        "the true category",
    ),
    "dp-sgd": (
        "dp_sgd.family import DpSgdParameters",
        "DpSgdParameters(multiplier=1.0, batch_size=2)",
        "array([[0.5, 0.5], [1.0, -2.0]])",
        "gradients",
    ),
}
ROWS = 8  # of the explorer
WIDE = 1000  # values beyond this are looked at themselves, others where the noise of 0 and 1 is near


def lines(mechanism: AnyMechanism) -> str:
    """Return five lines of Python that print five outcomes of an exact mechanism."""
    where, parameters, value, comment = EXAMPLES[mechanism.family]
    setup, given = f"parameters = {parameters}", "parameters"
    if value.startswith("array"):
        setup, given = "from numpy import array", parameters
    return "\n".join(
        [
            "from subnormal import member",
            "from subnormal.mechanisms.bits import system_bits",
            f"from subnormal.mechanisms.{where}",
            setup,
            f'print(member("{mechanism.name}").sample({value}, {given}, system_bits(), 5))  # {comment}',
        ]
    )


def explorer_link(attack: Attack[Any, Any, Any]) -> str:
    """Return the part of the explorer's address after # that shows the worlds of an attack, or nothing where it cannot.

    It has the naive exponential mechanism, of sensitivity 1, and naive Laplace noise on one value.
    """
    links = {"exponential": _exponential, "laplace": _laplace}
    kind = next(
        (name.rpartition("-")[2] for name in attack.breaks if name.startswith(f"{attack.family}-naive-float")), ""
    )
    if not kind or attack.family not in links or attack.channel is not None or attack.parameters.sensitivity != 1:
        return ""
    shown = links[attack.family](attack.worlds(), attack)
    return shown and f"mechanism={attack.family}&type={kind}&epsilon={attack.parameters.epsilon:g}&{shown}"


def _exponential(worlds: tuple[Any, Any], attack: Attack[Any, Any, Any]) -> str:
    least = min(int(world.min()) for world in worlds)
    pairs = groupby(zip(*(np.asarray(world).tolist() for world in worlds), strict=True))
    rows = [f"{len(list(same))},{one - least},{other - least}" for (one, other), same in pairs]
    return f"shift={least}&rows={';'.join(rows)}" if len(rows) <= ROWS else ""


def _laplace(worlds: tuple[Any, Any], attack: Attack[Any, Any, Any]) -> str:
    if attack.parameters.query != "value":
        return ""
    value = float(worlds[1])
    near = 0.2 if attack.name.startswith("grid") else round(0.3 / attack.parameters.epsilon, 6)
    if value > WIDE:
        near = int(value - 20 * (value - float(np.nextafter(value, 0))))
    return f"with={worlds[0]}&without={worlds[1]}&near={near}"
