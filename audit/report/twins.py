"""Each attack on a mechanism that it breaks beside the exact mechanism that resists it: its twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from subnormal.audit.model import MEASURED, Row, SampledEvidence, Verdict
from subnormal.audit.report import sentences
from subnormal.audit.report.finding import allowed_in
from subnormal.audit.report.table import SIDE_CHANNELS, Section, sections
from subnormal.audit.statistics import binomial
from subnormal.audit.text import counted, short, thousandths

COMPARED = ("zero-rounding", "truncated-addition", "truncated-addition-half")  # of Ilvento 2020; their variants, too
BASE2 = "exponential-base2"
COLUMNS = ("mechanism", "exact, loss", "experiment", "KS distance", "p", "allowed")
KEY = (
    "Experiment: the advantage that {runs} runs of each world show, with its interval; KS: the distance of the worlds' "
    "distribution functions ± its margin, and p, the largest probability of such a distance where the claim is kept. "
    "✗: the event's probabilities differ by more than the claim lets them, which a distance within the largest one "
    "allowed may do too. –: so few runs could not show that."
)
MARKS = {Verdict.VIOLATED: " ✗", Verdict.UNDERPOWERED: " –"}
SIGNS = {"ε": r"\varepsilon", "∞": r"\infty", "±": r"\pm", "✗": r"\times", "−": "-", "<": "<"}
LATEX = str.maketrans({sign: f"${name}$" for sign, name in SIGNS.items()} | {"–": "--", "_": r"\_"})


@dataclass(frozen=True, slots=True)
class Twins:
    """The rows of one attack.

    broken: on the first mechanism that it breaks. exact: on its exact twin. others: the rest.
    """

    section: Section
    broken: Row
    exact: Row | None
    others: tuple[Row, ...]


def twins(rows: Iterable[Row]) -> list[Twins]:
    """Return the rows by attack. The first mechanism of an attack is one that it breaks."""
    return [_of(section) for section in sections(rows)]


def _of(section: Section) -> Twins:
    broken, *others = section.rows
    exact = next((row for row in others if sentences.is_exact(row)), None)
    return Twins(section, broken, exact, tuple(row for row in others if row is not exact))


def compared(rows: Iterable[Row]) -> list[Twins]:
    """Return the paper's attacks on the naive mechanism in base e and the exact one in base 2, with runs of both."""
    paper = [row for row in rows if row.attack.partition("@")[0] in COMPARED and row.channel is None]
    pairs = [one for one in twins(paper) if one.exact is not None and one.exact.mechanism == BASE2]
    both = [(one, (one.broken, one.exact)) for one in pairs]
    return [one for one, rows in both if all(row and row.sampled and row.exact for row in rows)]


def cells(row: Row) -> tuple[str, ...]:
    """Return a row of the comparison, in the order of COLUMNS. The row has runs and a law.

    Raises ValueError where it has not.
    """
    exact, sampled = row.exact, row.sampled
    if exact is None or sampled is None:
        raise ValueError(f"{row.mechanism} has no law or no runs")
    name = "exact base 2" if row.mechanism == BASE2 else row.mechanism.removeprefix("exponential-").replace("-", " ")
    low, high = sampled.advantage
    return (
        name,
        f"{exact.verdict} {short(exact.epsilon)}",
        f"[{thousandths(low)}, {thousandths(high)}]{MARKS.get(sampled.verdict, '')}",
        f"{thousandths(sampled.ks.statistic)} ± {thousandths(sampled.ks.margin)}",
        _p_value(sampled),
        short(row.advantage_allowed, 3),
    )


def _p_value(sampled: SampledEvidence) -> str:
    p = binomial.distance_p_value(sampled.ks.statistic, sampled.ks.allowed, sampled.runs)
    return "<1e-99" if p < 1e-99 else short(p, 2)


def to_latex(rows: Iterable[Row]) -> str:
    """Return the comparison as a `tabular` with the rules of booktabs: the attacks, and a line for each twin.

    Raises ValueError if no attack of the comparison has laws and runs on both twins.
    """
    lines = [r"\begin{tabular}{llllll}  % \usepackage{booktabs}", r"\toprule", rf"{' & '.join(COLUMNS)} \\"]
    for one in compared(rows):
        lines += [r"\midrule", rf"\multicolumn{{{len(COLUMNS)}}}{{l}}{{{title(one)}}} \\"]
        lines += [rf"{' & '.join(cells(row))} \\" for row in (one.broken, one.exact) if row is not None]
    if len(lines) == 3:
        raise ValueError(
            f"no row to compare: it takes {', '.join(COMPARED)}, with runs, on a naive mechanism and {BASE2}"
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""]).translate(LATEX)


@dataclass(frozen=True, slots=True)
class Bar:
    """The probabilities of an attack's event in both worlds, and the last one of `out` that the claim allows.

    allowed: on the way from the probability in to that out; 0 to 1 as the others. None without a claim.
    """

    probability_in: float
    probability_out: float
    allowed: float | None

    @property
    def left(self) -> float:
        """The smaller probability."""
        return min(self.probability_in, self.probability_out)

    @property
    def width(self) -> float:
        """The distance of the probabilities: the advantage."""
        return abs(self.probability_in - self.probability_out)


def bar(row: Row) -> Bar | None:
    """Return the bar of a row: exact probabilities, or the middle of the intervals of runs. None without an event's."""
    proved = row.exact or row.exhaustive
    judged = proved if proved is not None and proved.event_in is not None else row.sampled
    if judged is None or judged.event_in is None or judged.event_out is None:
        return None
    inside, outside = (sum(bounds) / 2 for bounds in (judged.event_in, judged.event_out))
    if row.claim is None:
        return Bar(inside, outside, None)
    least, most = allowed_in((inside, inside), row.claim)
    return Bar(inside, outside, min(inside, least) if outside < inside else max(inside, most))


def by_family(rows: Iterable[Row]) -> dict[str, list[Twins]]:
    """Return the attacks of each family, in the order of the report; side channels as a family of their own."""
    result: dict[str, list[Twins]] = {}
    for one in twins(rows):
        result.setdefault(one.broken.family if one.broken.channel is None else SIDE_CHANNELS.lower(), []).append(one)
    return result


def title(one: Twins) -> str:
    """Return the attack of a comparison and its claim."""
    name, _, options = one.section.rows[0].attack.partition("@")
    kinds = [option.partition("=")[2] for option in options.split(",") if option.startswith("float_type")]
    claimed = "" if one.broken.claim is None else f", ε = {short(one.broken.claim.epsilon)}"
    return f"{', '.join([name, *kinds])}{claimed}"


def summary(pairs: Sequence[Twins]) -> str:
    """Return how many attacks break their mechanism, and what is known of the exact twins.

    As in "66 attacks: 66 break a naive mechanism; of the exact twins 62 are proved to hold, 4 are not refuted." What a
    clock shows is not counted: it differs from run to run.
    """
    counted_ones = [one for one in pairs if sentences.verdict(one.broken) != MEASURED]
    broken = sum(one.broken.violated for one in counted_ones)
    verdicts = Counter(sentences.verdict(one.exact) for one in counted_ones if one.exact is not None)
    known = [verdict for verdict in reversed(sentences.SEVERITY) if verdicts[verdict]]
    parts = [f"{verdicts[name]} {_WORDS.get(name, (name, name))[verdicts[name] != 1]}" for name in known]
    twin = f"of the exact twins {', '.join(parts)}" if parts else "there is no exact twin"
    verb = "breaks" if broken == 1 else "break"
    return f"{counted(len(counted_ones), 'attack')}: {broken} {verb} a naive mechanism; {twin}."


_WORDS = {
    "HOLDS": ("is proved to hold", "are proved to hold"),
    "NOT REFUTED": ("is not refuted", "are not refuted"),
    "UNDERPOWERED": ("needs more runs", "need more runs"),
}
