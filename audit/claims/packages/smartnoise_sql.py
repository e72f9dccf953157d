"""smartnoise-sql: its odometers. A slack of δ is theirs: half of the δ of a query."""

from snsql import Privacy
from snsql.sql.odometer import Odometer, OdometerHeterogeneous


def within(spent, delta):
    """Return the ε of what is spent. Raises ValueError where more than delta is."""
    if spent[1] > delta:
        raise ValueError("the total of delta is larger")
    return spent[0]


def composition(epsilon, failure, steps, delta):
    one = Odometer(Privacy(epsilon=epsilon, delta=failure))
    one.spend(steps)
    return within(one.spent, delta)


def mixed_composition(budgets, delta):
    one = OdometerHeterogeneous(None)
    for epsilon, failure in budgets:
        one.spend(Privacy(epsilon=epsilon, delta=failure))
    return within(one.spent, delta)


ANSWERS = {("odometer", "composition"): composition, ("odometer", "mixed-composition"): mixed_composition}
