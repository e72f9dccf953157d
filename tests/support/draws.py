"""What a strategy of Hypothesis draws."""

from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st


def drawn(strategy: st.SearchStrategy[Any], examples: int) -> list[Any]:
    """Return so many examples of a strategy, or all where it has fewer: the same each time."""
    seen: list[Any] = []

    @seed(1)
    @settings(max_examples=examples, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def look(one: Any) -> None:
        seen.append(one)

    look()
    return seen
