"""What a check of a loop has found, stage by stage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from subnormal.audit.model import Verdict
from subnormal.audit.report.form import plain
from subnormal.audit.text import counted, given, short
from subnormal.mechanisms.privacy import Claim, Range

SCHEMA = "subnormal/training/1"
StageName = Literal["sampling", "isolation", "clipping", "aggregation", "noise", "accounting", "released besides"]
Count = Annotated[int, Range(0)]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of DP-SGD, and what was found of it.

    verdict: VIOLATED, NOT REFUTED (it passes what was tried), or UNRESOLVED (it could not be tried). said: a sentence
    each: what is wrong, or what was tried, or why nothing was. evidence: what reruns it: seeds, lengths, places.
    """

    name: StageName
    verdict: Verdict
    said: tuple[str, ...]
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The stages of a loop, in the order of a step.

    relation: add-or-remove or replace. alpha: the chance that a correct loop is accused, at most; all tests of chance
    together have it, and the others are no matter of chance. runs: of the loop.
    """

    function: str
    stages: tuple[Stage, ...]
    sampler: str
    clip: float
    noise_multiplier: float
    relation: str
    claim: Claim | None
    alpha: float
    runs: Count
    seconds: Annotated[float, Range(0)]
    seed: int

    @property
    def verdict(self) -> Verdict:
        """VIOLATED where a stage is; UNRESOLVED where one could not be tried; else NOT REFUTED."""
        verdicts = {stage.verdict for stage in self.stages}
        return next(one for one in (Verdict.VIOLATED, Verdict.UNRESOLVED, Verdict.NOT_REFUTED) if one in verdicts)

    @property
    def violated(self) -> tuple[StageName, ...]:
        """The names of the stages that are wrong."""
        return tuple(stage.name for stage in self.stages if stage.verdict is Verdict.VIOLATED)

    def stage(self, name: StageName) -> Stage:
        """Return a stage by its name. Raises KeyError."""
        return {stage.name: stage for stage in self.stages}[name]

    def to_json(self) -> str:
        """Return the result as one JSON document; infinities are "inf"."""
        document = {"schema": SCHEMA, "verdict": self.verdict, **plain(self)}
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        wrong = f": {', '.join(self.violated)}" if self.violated else ""
        lines = [f"{self.function}: {self.verdict}{wrong}"]
        words = {Verdict.NOT_REFUTED: "passes what was tried", Verdict.UNRESOLVED: "not tried"}
        for stage in self.stages:
            first, *others = stage.said
            lines.append(f"  {stage.name:<17}{words.get(stage.verdict, str(stage.verdict))}: {first}")
            lines += [f"{'':19}{one}" for one in others]
        taken = f"{counted(self.runs, 'run')} in {short(self.seconds, 3)} s"
        lines.append(f"  {taken}; a correct loop is accused with probability {given(self.alpha)} at most.")
        lines.append("  No verdict says that a loop is private.")
        return "\n".join(lines)
