"""What a check has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.detectable import Detectable, detectable
from subnormal.audit.check.evidence import CheckEvidence, Stage
from subnormal.audit.check.severity import Severity, severity
from subnormal.audit.model import Verdict
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.curves import AnyClaim
from subnormal.mechanisms.privacy import Claim

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict of a check, the two inputs that it is about, and the evidence.

    verdict: VIOLATED, NOT REFUTED or UNDERPOWERED; None where there is an error. None of them says that a function
    is private. function: its name. claim: as it was made, or the law of a sampler; None of a transformation. point:
    the (ε, δ) that it implies and that was judged. stage: the one that decided. worlds: the two inputs (in, out);
    None where no pair was judged. event: what the attacker looks for, as JSON. evidence: by its kind. error: why
    there is no verdict. notes: what a reader of the verdict has to know. examples: pairs that were tried. runs: of
    the function, in all. seed: of the search and of the global generators. place: "module:name", under which the
    function can be imported; None where it cannot. batch: the function takes (data, runs). fresh: the place is that of
    a function that returns the function to call once. domain, relation: the text of the strategy of inputs, and which
    of them are neighbours; None where pairs are named. command: the command line; None for a call in Python.
    grid: floats in outcomes were rounded to its multiples. test_grid: one on which runs convict the two inputs as well,
    for a test of them. last_bits_only: the search went on without last bits of floats, and found nothing else.
    """

    verdict: Verdict | None
    function: str
    claim: AnyClaim | Law[Any] | None
    point: Claim | None
    stage: Stage
    worlds: tuple[Any, Any] | None
    event: Mapping[str, Any] | None
    evidence: Mapping[str, CheckEvidence]
    error: str | None
    notes: tuple[str, ...]
    examples: int
    runs: int
    seconds: float
    seed: int
    place: str | None = None
    batch: bool = False
    fresh: bool = False
    domain: str | None = None
    relation: str | None = None
    command: str | None = None
    grid: float | None = None
    test_grid: float | None = None
    last_bits_only: bool = False

    @property
    def severity(self) -> Severity | None:
        """How severe a violation is, by its event and its loss; None where there is none."""
        return severity(self)

    @property
    def detectable(self) -> Detectable | None:
        """The least losses that the runs would have shown; None where no runs judged, or they refuted the claim."""
        return detectable(self)

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas data frame of one line: the verdict, the worlds and the numbers of the evidence.

        Raises ModuleNotFoundError where pandas is not installed.
        """
        from subnormal.audit.text import frame

        names = ("function", "verdict", "stage", "claim", "examples", "runs", "seconds", "seed")
        record: dict[str, Any] = {name: getattr(self, name) for name in names}
        record |= dict(zip(("data_in", "data_out"), self.worlds or (None, None), strict=True))
        for kind, evidence in self.evidence.items():
            record |= {f"{kind}.{name}": value for name, value in asdict(evidence).items()}
        return frame([record])

    def __str__(self) -> str:
        from subnormal.audit.check.words import lines

        return "\n".join(lines(self))

    def _repr_html_(self) -> str:
        from subnormal.audit.check import page

        return page.in_notebook(self)
