"""The heuristics and tuned constants of the search of `check`, and what takes the place of each when it is left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.outcome_readings import Reading
from subnormal.attacks.core.outcome_relations import INVERSIONS, relations
from subnormal.audit.check import score
from subnormal.audit.check.replay.search import ReplaySearch
from subnormal.audit.check.score import Runs
from subnormal.audit.evidence import event_search
from subnormal.audit.neighbours import choice_edits

CHECK, SEARCH = "subnormal.audit.check.check.", "subnormal.audit.check.search."
SCORE, REPLAY = "subnormal.audit.check.score.", "subnormal.audit.check.replay.search.ReplaySearch."
JUDGE, REFUSALS = "subnormal.audit.check.judge.", "subnormal.audit.check.refusals."
RELEASES, SETS = "subnormal.audit.check.replay.releases.", "subnormal.audit.evidence.outcome_sets."
EDITS, EVENTS = "subnormal.audit.neighbours.choice_edits.", "subnormal.audit.evidence.event_search."
LINES = "subnormal.audit.evidence.half_lines."


@dataclass(frozen=True, slots=True)
class Heuristic:
    """What a part of the search does, and the names to replace so that the search goes on without it."""

    does: str
    without: Mapping[str, Any]


def _none(*_: object, **__: object) -> None:
    return None


def _nothing(*_: object, **__: object) -> tuple[()]:
    return ()


def _inversions_alone(width: int, most: int = 3) -> list[Reading]:
    return [one for one in relations(width, most) if one == INVERSIONS]


def _sums_alone(width: int, most: int = 3) -> list[Reading]:
    return [one for one in relations(width, most) if one != INVERSIONS]


def _no_bands(*_: object) -> NDArray[np.int64]:
    """Return bands of a single end."""
    return np.zeros((2, 2), dtype=np.int64)


def _no_pairs(*_: object) -> list[Any]:
    return []


def _zero(*_: object) -> float:
    return 0.0


def _no_replay(*_: object) -> tuple[None, list[Any]]:
    return None, []


def _uniform_place(source: Any, size: int) -> int:
    return int(source.integer(0, max(0, size - 1)))


def _one_number(source: Any, size: int, chosen: int, distance: float, norm: str, whole: bool) -> list[Any]:
    return [choice_edits._step(source, distance, whole) if place == chosen else 0 for place in range(size)]


def _first_look_alone(self: Runs, pair: Any, *, readable: bool = False) -> float:
    """Return the screening score of the first runs: pairs that convict are met in judging alone."""
    return max(one.expected_log_wealth for one in self.screened(pair, score.SCREEN[0], readable=readable))


def _without_hints(search: Callable[..., Any]) -> Callable[..., Any]:
    def without(self: Any, seconds: float) -> Any:
        return search(self, seconds)[0], []

    return without


def _strongest_event_alone(self: Runs, pair: Any, runs: int, *, readable: bool = False) -> list[score.Candidate]:
    """Return the first of the candidates of a first look."""
    return SCREENED(self, pair, runs, readable=readable)[:1]


def _without(*names: str) -> dict[str, Any]:
    """Return the features that events bound, without these."""
    known = {"READ": score.READ, "SCREENED": score.SCREENED}
    return {f"{SCORE}{of}": tuple(one for one in features if one not in names) for of, features in known.items()}


def _no_ties(data: Any, drawn: Any, source: Any) -> Any:
    return drawn


SCREENED = Runs.screened
HEURISTICS = {
    "constants": Heuristic("some inputs have numbers and texts of the code", {f"{CHECK}constants_of": _nothing}),
    "rows alike": Heuristic(
        "one input in three has rows that are alike in one column", {f"{EDITS}_with_equal_column": _none}
    ),
    "climbing": Heuristic("half of a search by replay is for variations of its best pairs", {f"{SEARCH}FRESH": 1.0}),
    "best of replay": Heuristic(
        "runs begin with the best pairs of a search by replay", {"subnormal.audit.check.state.BEST": 0}
    ),
    "scales": Heuristic("a bisection leads to neighbours with noise of two scales", {f"{REFUSALS}scale_of": _none}),
    "looks at these": Heuristic("neighbours found by bisection have four first looks", {f"{CHECK}LOOKS": 1}),
    "samples": Heuristic(
        "replay guides where a sample or an order of the records differs", {f"{RELEASES}_is_same_noise": _none}
    ),
    "promises of replay": Heuristic(
        "pairs are ranked by the losses of their releases", {"subnormal.audit.check.replay.search._promised": _zero}
    ),
    "regression kept": Heuristic(
        "a first look keeps a regression beside the strongest event", {f"{SCORE}Runs.screened": _strongest_event_alone}
    ),
    "sum and norm": Heuristic("events bound the sum and the norm of an outcome", _without("sum", "norm")),
    "repeats": Heuristic("events bound how many numbers of an outcome equal the one before", _without("repeats")),
    "regressions": Heuristic("events are half-spaces of all parts", {f"{EVENTS}_of_regressions": _nothing}),
    "bends": Heuristic(
        "the score of a regression on few parts bends at five places, not one", {f"{EVENTS}BENT_PARTS": 0}
    ),
    "sums of many parts": Heuristic("a regression uses more parts than other events do", {f"{EVENTS}SUMMED_PARTS": 0}),
    "rules": Heuristic("events bound two or three features at once", {f"{EVENTS}rules": _nothing}),
    "relations": Heuristic("events bound signed sums of two or three parts", {f"{EVENTS}relations": _inversions_alone}),
    "inversions": Heuristic(
        "events bound how many pairs of parts are not in order", {f"{EVENTS}relations": _sums_alone}
    ),
    "items": Heuristic("events bound how often an item is in a tuple", {f"{EVENTS}counted_items": _no_pairs}),
    "joint values": Heuristic(
        "events are sets of the values that up to three parts have at once", {f"{EVENTS}furthest_apart": _no_pairs}
    ),
    "bands": Heuristic("events bound a score on both sides", {f"{LINES}_bands": _no_bands}),
    "several parts soon": Heuristic(
        "events of several parts are learned on half as many runs as in a first look",
        {f"{EVENTS}FEW": event_search.MANY},
    ),
    "characters": Heuristic("events are of characters in texts", {f"{EVENTS}characters": _no_pairs}),
    "frequent values": Heuristic("of many values, the most telling are events", {f"{LINES}FREQUENT": 0}),
    "sole outcomes": Heuristic("events are rare outcomes of one world alone", {f"{SETS}SOLE": 0}),
    "runs for delta": Heuristic(
        "a first look is long enough to see an event of probability δ", {f"{SCORE}SEEN_MAX": 0}
    ),
    "looks go on": Heuristic(
        "a second look goes on as long as the best bet would have won", {f"{SCORE}HOPEFUL": math.inf}
    ),
    "looks end": Heuristic("a second look ends where its wealth falls behind", {f"{SCORE}BEHIND": math.inf}),
    "judging goes on": Heuristic("a judged pair may use more than its share of time", {f"{JUDGE}LEADING": math.inf}),
    "shares": Heuristic("a slow pair may use the time of several in successive halving", {f"{SCORE}SHARES": 1}),
    "ties": Heuristic("one input in three is a list of one or two distinct rows", {f"{EDITS}_tied": _no_ties}),
    "close floats": Heuristic(
        "one input in three has a float next to the one before it", {f"{EDITS}_with_close_floats": _none}
    ),
    "place from the end": Heuristic(
        "a record is added or left out at the end half of the time", {f"{EDITS}from_the_end": _uniform_place}
    ),
    "several numbers move": Heuristic(
        "where neighbours lie within a distance, all numbers of a kind move", {f"{EDITS}_steps": _one_number}
    ),
    "refusals": Heuristic(
        "a bisection leads to neighbours with outcomes of different kinds", {f"{CHECK}find_two_kinds": _no_pairs}
    ),
    "replay": Heuristic("runs on both inputs receive the same noise", {f"{REPLAY}search": _no_replay}),
    "hints of replay": Heuristic(
        "pairs that replay finds suspicious are judged by runs",
        {f"{REPLAY}search": _without_hints(ReplaySearch.search)},
    ),
    "rounds": Heuristic("the search has three rounds, each longer than the one before", {f"{CHECK}ROUNDS": (47 / 96,)}),
    "second look": Heuristic(
        "a pair that promises much gets a second look, and may convict at once",
        {f"{SCORE}Runs.screening_score": _first_look_alone},
    ),
    "readable first": Heuristic(
        "bits of floats are looked at in the last round only", {f"{SCORE}READ": score.SCREENED}
    ),
    "grid of the first look": Heuristic("a first look sees the grid of a float", {f"{SCORE}SCREENED": score.READ}),
    "readable preferred": Heuristic(
        "an event that a reader sees is preferred to one that grows four times as fast", {f"{SCORE}PREFERRED": 1}
    ),
    "successive halving": Heuristic("more and more runs choose the pairs that are judged", {f"{SCORE}HALVING": ()}),
    "three are judged": Heuristic("the best three pairs are judged, not one", {f"{CHECK}JUDGED": 1}),
    "more parts first": Heuristic("of losses below the claim, those of more parts count more", {f"{SCORE}WIDE": 0.0}),
    "sets of outcomes": Heuristic("events are sets of outcomes", {f"{EVENTS}of_outcomes": _nothing}),
    "regression on bits": Heuristic(
        "events are half-spaces of all features of four parts", {f"{EVENTS}REGRESSION_PARTS": 0}
    ),
}

CONSTANTS = {
    f"{name}: {how}": Heuristic(f"{what}, {how}", {f"{place}{name}": value})
    for place, name, what, variants in (
        (SCORE, "SCREEN", "runs of a first look", {"a quarter": (16, 256), "four times": (256, 4096)}),
        (SCORE, "CONFIRM", "runs of a second look", {"as many": 1, "four times as many": 8}),
        (SCORE, "UNSURE", "chance of an interval of a loss", {"a tenth": 0.002, "ten times": 0.2}),
        (SEARCH, "KEPT", "pairs remembered", {"a quarter": 6, "four times": 96}),
        (EVENTS, "TAIL", "tails of the intervals that rank events", {"a tenth": 1e-4, "ten times": 1e-2}),
        (
            LINES,
            "SINGLE_VALUES",
            "values of a feature, up to which each is an event",
            {"a quarter": 16, "four times": 256},
        ),
        (EVENTS, "PARTS_MAX", "parts of an outcome that are looked at", {"a quarter": 4, "four times": 64}),
        (EDITS, "OFTEN", "one input in so many has ties", {"every one": 1, "one in nine": 9}),
    )
    for how, value in variants.items()
}
