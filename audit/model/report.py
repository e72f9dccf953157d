"""A report as frozen data. The form of report.json, its reader and its schema follow from the dataclasses.

Fields are in the order of the file. Their types state the possible values, the docstrings their meaning. The
docstrings use the words of the file: null is None. A field with compare=False is not saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from subnormal.attacks.core.attack import Channel
from subnormal.audit.model.evidence import (
    DECIDING,
    KINDS,
    REPEATED,
    Chance,
    EventObject,
    Evidence,
    ExactEvidence,
    Nonnegative,
    Probability,
    SampledEvidence,
    SequentialEvidence,
    Sketch,
    TimingEvidence,
    Verdict,
    Worlds,
)
from subnormal.mechanisms.privacy import Claim, Range

SCHEMA = "subnormal/report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One attack on one mechanism. Each kind of evidence is separate; no verdict says that a mechanism is private.

    channel: the count or the time that the attacker sees in addition to the outcome. All evidence and the claim are
        then about the pairs. null: none.
    description: the two worlds, and how the attack distinguishes them.
    source: the publication of the attack, or its derivation.
    family: the family of the mechanism. It determines the data, parameters and outcomes.
    mechanism: a member of the family. Reports of earlier versions may name a program or a function of the user instead.
    package: the library of the mechanism, and its version; null for Subnormal's own mechanisms.
    parameters: public values of the attack, by the family's names; infinities are the strings "inf" and "-inf".
    settings: what the mechanism derives from the parameters, by name: for base 2 the rate as 2^−η and the bits of
        working precision. Empty without any.
    worlds: null if an error came first, or if the data have no short expressions.
    event: the event of the attack; null if the attack names none before the runs.
    claim: the claim of the mechanism; null if an error came first.
    advantage_allowed: the largest difference of an event's probabilities that the claim allows:
        1 − 2(1 − δ)/(1 + e^ε). null without a claim.
    visible_below: for a channel: the claimed ε below which the event's advantage exceeds the claim's δ. null without a
        channel or without an advantage.
    reproducible: whether the seed determines all runs. false: the mechanism has its own randomness, or times are
        measured.
    error: the message of an error; the row then has no verdict. null without an error.
    note: why a row without an error has no verdict: its pair of worlds tells nothing of the claim. null for any other.
    exact: evidence from the laws of the code in both worlds.
    exhaustive: evidence from every string of random bits, up to a depth, through the code itself.
    """

    attack: str
    channel: Channel | None = None
    description: str
    source: str
    family: str
    mechanism: str
    package: str | None = None
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    worlds: Worlds | None = None
    event: EventObject | None
    claim: Claim | None
    advantage_allowed: Probability | None
    visible_below: Nonnegative | None = field(init=False)
    reproducible: bool
    error: str | None = None
    note: str | None = None
    timing: TimingEvidence | None = None
    exact: ExactEvidence | None = None
    exhaustive: ExactEvidence | None = None
    sampled: SampledEvidence | None = None
    sequential: SequentialEvidence | None = None
    sketch: Sketch | None = field(default=None, compare=False)  # drawn, not saved

    def __post_init__(self) -> None:
        object.__setattr__(self, "visible_below", None if self.channel is None else self._visible_below())

    @property
    def evidence(self) -> dict[str, Evidence]:
        """The row's kinds of evidence by name, proofs first."""
        return {kind: evidence for kind in KINDS if (evidence := getattr(self, kind)) is not None}

    @property
    def violated(self) -> bool:
        """Whether any kind of evidence but a clock says VIOLATED."""
        return self.verdict is Verdict.VIOLATED

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the row, see `decisive`; None without any evidence but a clock, whose verdict may change."""
        return decisive(evidence.verdict for kind, evidence in self.evidence.items() if kind in REPEATED)

    def _visible_below(self) -> float | None:
        """Return the budget (nats) below which the event's advantage exceeds the claim's δ.

        It follows from the proved advantage, or else from the lower bound of the runs. An event that is possible in
        one world only exceeds a pure claim at every budget.
        """
        proved = self.exact or self.exhaustive
        advantage = self.sampled.advantage[0] if self.sampled is not None else None
        if proved is not None:
            advantage = proved.advantage
        return None if advantage is None or self.claim is None else self.claim.budget_of(advantage)


@dataclass(frozen=True, slots=True)
class Report:
    """The results of attacks on mechanisms: one row for each attack on one mechanism.

    Losses and budgets ε are in nats, times in seconds. Numbers are binary64, written as their shortest exact decimals;
    "inf" stands for infinity. Missing kinds of evidence are null. Every object of a fixed form has all of its keys.

    version: of Subnormal.
    seed: of all randomness that can be seeded. Rows with "reproducible": true are the same for the same seed, runs,
        version and environment.
    runs: requested runs of each world; a slow mechanism may have fewer. 0: the laws alone were compared.
    alpha: largest probability that any sampled verdict of the report is a false alarm.
    alpha_per_row: each sampled row's share of alpha.
    environment: the machine and its versions: floats depend on this numpy and this processor.
    command: the command line, without options that no result depends on; null for a call in Python.
    commit: of the working directory, with "(changed)" where files differ from it; null where there is none.
    rows: no two have the same attack, mechanism and channel.
    """

    schema: Annotated[str, (SCHEMA,)] = field(default=SCHEMA, init=False)
    version: str
    seed: Annotated[int, Range(0)]
    runs: Annotated[int, Range(0)]
    alpha: Chance
    alpha_per_row: Chance
    environment: Mapping[str, str]
    command: str | None = field(default=None, kw_only=True)
    commit: str | None = field(default=None, kw_only=True)
    rows: tuple[Row, ...]

    @property
    def made_with(self) -> dict[str, str]:
        """The command and the commit, where they are known, and the environment."""
        named = {"command": self.command, "commit": self.commit}
        return {name: value for name, value in named.items() if value is not None} | dict(self.environment)


def decisive(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the verdict of a row: proofs and violations come before other verdicts. None without any verdict."""
    return min(verdicts, key=DECIDING.index, default=None)
