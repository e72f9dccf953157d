"""What an attack is: two adjacent worlds, the public parameters, and the event that tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Event, numbers
from subnormal.attacks.core.outcome_paths import rows
from subnormal.mechanisms.core.mechanism import D, O, Outcomes, P

Channel = Literal["tries", "bits", "steps", "time"]  # a field of a Trace, or the clock


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Attack(Generic[D, P, O]):
    """A pure description: nothing here runs a mechanism.

    name is unique. worlds() builds the adjacent data (in, out) when asked. breaks names the members that the attack
    must break, fixes those that people reach for instead and that resist it; exact members must always resist.
    statistic maps outcomes to floats of the same length, for Kolmogorov-Smirnov distances and pictures; axis says there
    what they are. Empty: outcomes, or the channel's counts.
    channel: what the attacker sees beside the outcome, who then looks at pairs (outcome, count); None: nothing. Event
    and statistic are then about the pairs, and exact members must resist except those that `breaks` names.
    slow: a row takes seconds. A quick look leaves it out, and so do other people's mechanisms, unless it is named.
    """

    name: str
    family: str
    worlds: Callable[[], tuple[D, D]]
    parameters: P
    event: Event | None  # None: to be learned
    statistic: Callable[[Outcomes], NDArray[np.float64]]
    breaks: tuple[str, ...]
    source: str
    description: str  # one line for a stranger: the two worlds, and what tells them apart
    fixes: tuple[str, ...] = ()
    slow: bool = False
    channel: Channel | None = None
    axis: str = ""


def given(worlds: tuple[D, D]) -> tuple[D, D]:
    """Return these worlds: as a partial, it makes an attack that can be sent to another process."""
    return worlds


def require_outcomes(outcomes: int, least: int = 2) -> None:
    """Raise ValueError unless there are enough outcomes for the worlds to differ."""
    if outcomes < least:
        raise ValueError(f"outcomes must be at least {least}, got {outcomes}")


def named(base: str, **given: tuple[object, object]) -> str:
    """Return a name that tells what differs from the default: given maps an option to (value, default).

    >>> named("zero-rounding", epsilon=(0.5, 0.5), outcomes=(10, 100))
    'zero-rounding@outcomes=10'
    """
    return with_options(base, {option: value for option, (value, default) in given.items() if value != default})


def with_options(base: str, options: Mapping[str, object]) -> str:
    """Return the name of an attack with these options behind an @."""
    return f"{base}@{','.join(f'{option}={value}' for option, value in options.items())}" if options else base


def number_statistic(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return outcomes that are numbers as floats, a tuple's first number, and −∞ for a refusal."""
    values = numbers(outcomes)
    return values if isinstance(outcomes, np.ndarray) else np.where(np.isnan(values), -np.inf, values)


FIRST_POSITIVE = "answers ⊥ before the first ⊤"  # its axis


def first_positive(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return how many answers 0 each outcome begins with: where a stream's first positive stands; −1 for a refusal."""
    listed = rows(outcomes)
    begun = {one: (*one, 1).index(1) if isinstance(one, tuple) else -1 for one in set(listed)}
    return np.array([begun[one] for one in listed], dtype=np.float64)


def index_statistic(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return indices as floats, and −1 for a refusal."""
    values = numbers(outcomes)
    return np.where(np.isnan(values), -1.0, values)


def count_statistic(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return the counts of pairs (outcome, count) as floats."""
    return np.array([count for _, count in outcomes], dtype=np.float64)
