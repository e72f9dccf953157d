"""diffprivlib: its budget accountant."""

from diffprivlib import BudgetAccountant


def composition(epsilon, failure, steps, delta):
    """Return the total ε with the largest slack whose total δ keeps within delta, as the accountant states it.

    Raises ValueError where no slack does, or for too many steps.
    """
    if steps > 100_000:
        raise ValueError("a spend for each step would take too long")
    spends = [(epsilon, failure)] * steps
    slack = max(0.0, 1 - (1 - delta) / (1 - failure) ** steps) * (1 - 1e-9)
    total = BudgetAccountant(delta=1.0).total(spends, slack)
    if total[1] > delta:
        raise ValueError("the total of delta is larger")
    return total[0]


ANSWERS = {("budget", "composition"): composition}
