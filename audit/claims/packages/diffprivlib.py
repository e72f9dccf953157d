"""diffprivlib: its budget accountant."""

import math

from diffprivlib import BudgetAccountant


def composition(epsilon, failure, steps, delta):
    """Return the total ε of so many equal spends. Raises ValueError for too many."""
    if steps > 100_000:
        raise ValueError("a spend for each step would take too long")
    return mixed_composition([(epsilon, failure)] * steps, delta)


def mixed_composition(budgets, delta):
    """Return the total ε with the largest slack whose total δ keeps within delta, as the accountant states it.

    Raises ValueError where no slack does.
    """
    kept = math.prod(1 - failure for _, failure in budgets)
    slack = max(0.0, 1 - (1 - delta) / kept) * (1 - 1e-9)
    total = BudgetAccountant(delta=1.0).total(list(map(tuple, budgets)), slack)
    if total[1] > delta:
        raise ValueError("the total of delta is larger")
    return total[0]


ANSWERS = {("budget", "composition"): composition, ("budget", "mixed-composition"): mixed_composition}
