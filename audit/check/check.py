"""Check any function from three things: the function, the domain of its data, and its claim.

Four stages, the cheapest first. The first one that convicts decides.

- *First call*: a function that raises in every run of every input has an error, and no verdict.
- *Stability*: a deterministic function with different outcomes on two neighbouring inputs keeps no finite ε. Equal
  outcomes do not show that a function is deterministic, so runs must refute the claim.
- *Replay*: see `replay.releases`, `replay.modelled` and `replay.confirmed`.
- *Runs*: see `runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.function import function as audited_function
from subnormal.audit.check.function import isolated, value_of
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import Pair
from subnormal.audit.check.stages.pipeline import run_stages
from subnormal.audit.check.stages.state import Check, OnProgress
from subnormal.audit.check.words import stated_words
from subnormal.audit.neighbours import relations
from subnormal.audit.text import quoted
from subnormal.mechanisms.curves import AnyClaim
from subnormal.mechanisms.privacy import require_positive

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def check(
    function: Callable[..., Any] | None = None,
    data: SearchStrategy[Any] | None = None,
    adjacent: Any = None,
    claim: AnyClaim | Callable[[Any, Any], AnyClaim] | None = None,
    *,
    pairs: Sequence[Pair] | None = None,
    batch: bool = False,
    fresh: Callable[[], Callable[..., Any]] | None = None,
    seconds: float = 60.0,
    runs: int | None = None,
    alpha: float = 1e-6,
    seed: int = 1,
    on_progress: OnProgress = lambda message: None,
) -> Result:
    """Search for two neighbouring inputs on which a function breaks its claim, and prove it.

    >>> import random
    >>> from hypothesis import strategies as st
    >>> from subnormal.mechanisms.privacy import Claim
    >>> def noisy_sum(records):  # forgets to clip
    ...     return sum(records) + random.gauss(0.0, 1.0)
    >>> found = check(noisy_sum, st.lists(st.floats(0, 1000)), relations.add_or_remove(), Claim(1.0, 1e-6))
    >>> str(found.verdict)
    'VIOLATED'

    Args:
        function: takes one dataset and returns one outcome, with fresh randomness at each call. An outcome is a number,
            a string, None, a date, or a tuple, list, set, array, series, frame, mapping or dataclass of such. An
            exception is an outcome too.
        data: a Hypothesis strategy of datasets: the domain.
        adjacent: `change_one()`, `add_or_remove()`, `within(distance)`, a strategy of pairs, or a predicate of two
            inputs.
        claim: `Claim`, `Zcdp`, `Gdp`, `Renyi` or `Profile`, or a function of two neighbouring inputs that returns one.
        pairs: the pairs (in, out) to try, instead of data and adjacent.
        batch: the function takes (data, runs) and returns a sequence of `runs` outcomes.
        fresh: instead of the function, a function of no arguments that returns the function to call once, where calls
            share a state: `fresh=lambda: Accountant(budget=1).count`.
        seconds: for the whole check; one call of the function is never interrupted.
        runs: of each input that judge the claim, at most; None: as many as the time allows.
        alpha: the chance that a function that keeps its claim is accused, at most.
        seed: of the search, and of the global generators of `random` and numpy while the check lasts.
        on_progress: called with a line about the progress now and then.

    Returns:
        The verdict, the two inputs it is about, and the evidence. NOT REFUTED is no evidence of privacy.

    Raises:
        TypeError: an argument is of the wrong type, the function cannot be called with one dataset, an input cannot be
            copied, or an outcome cannot be compared for certain, as a generator.
        ValueError: a number is out of range, or no pair can be drawn.
    """
    require_positive("seconds", seconds)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    if (adjacent is None) == (pairs is None):
        raise TypeError("adjacent or pairs must be given, and not both")
    claimed = _claimed(claim)
    strategy = relations.pairs(data, adjacent if pairs is None else list(pairs))
    audited = audited_function(function, batch=batch, fresh=fresh)
    relation = adjacent if isinstance(adjacent, relations.Adjacency) else None
    with isolated(seed):
        state = Check(audited, strategy, claimed, claim, seconds, runs, alpha, seed, on_progress)
        made = run_stages(state, data, relation)
    stated = None if isinstance(adjacent, Sequence) else stated_words(adjacent)
    return replace(made, domain=stated_words(data), relation=stated)


def _claimed(claim: Any) -> Callable[[Any, Any], AnyClaim]:
    """Return the claim as a function of two inputs. Raises TypeError where it is none."""
    if isinstance(claim, AnyClaim):
        return lambda data_in, data_out: claim
    if isinstance(claim, type):
        raise TypeError(
            f"claim must be a claim, as Claim(1), or a function of two inputs, got the class {claim.__name__}"
        )
    if callable(claim):
        return lambda data_in, data_out: _made_claim(value_of("claim", claim, data_in, data_out))
    raise TypeError(f"claim must be a Claim, Zcdp, Gdp, Renyi or Profile, got {quoted(repr(claim))}")


def _made_claim(made: Any) -> AnyClaim:
    if not isinstance(made, AnyClaim):
        raise TypeError(
            f"claim(data_in, data_out) must return a Claim, Zcdp, Gdp, Renyi or Profile, got {quoted(repr(made))}"
        )
    return made
