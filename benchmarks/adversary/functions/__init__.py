"""The functions, in a file for each kind."""

from benchmarks.adversary.functions import atoms, interactions, norms, order, queries, sums
from benchmarks.adversary.problem import Problem

KINDS: dict[str, tuple[Problem, ...]] = {
    "norms and shapes": norms.PROBLEMS,
    "atoms and rare events": atoms.PROBLEMS,
    "interactions and mixtures": interactions.PROBLEMS,
    "sums of small losses": sums.PROBLEMS,
    "order and selection": order.PROBLEMS,
    "thresholds, sets and texts": queries.PROBLEMS,
}
PROBLEMS = {problem.name: problem for problems in KINDS.values() for problem in problems}
