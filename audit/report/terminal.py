"""A report in 80 columns: errors and violations first, the claim and the result of each row, then a conclusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from subnormal.audit.model import MEASURED, Report, Row
from subnormal.audit.report import proofs, sentences, twins
from subnormal.audit.report.finding import finding, found
from subnormal.audit.report.table import STYLES, Section, closing, sections, titled
from subnormal.audit.report.twins import Twins
from subnormal.audit.text import counted, percent, printable

WIDTH = 80  # columns, in a pipe too
GAP = "  "
INDENT = 4  # columns before a message
OVERVIEW = (32, 22, 22)  # columns of a line for each attack
WIDEST = (12, 10, 12, 10)  # columns of all but the first
TITLES = ("attack and mechanism", "verdict", "claims", "found", "by")
NUMBERS = (
    "A found ε is the largest loss (≥: a lower bound from runs); a found δ is the one that the claimed ε would need."
)
CLOCKED = "MEASURED by a clock: no verdict, because times change from run to run."
VERBS = {"HOLDS": ("holds", "hold"), "NOT REFUTED": ("is NOT REFUTED", "are NOT REFUTED")}  # of exact members


def overview(report: Report) -> Iterator[RenderableType]:
    """Yield the paper's attacks in base e and in base 2, a line for each attack, and the conclusion."""
    paper, everyone = twins.compared(report.rows), twins.twins(report.rows)
    if paper:
        yield from _comparison(paper)
    yield _line(("attack", "naive mechanism", "exact twin"), OVERVIEW, ("bold",) * 3)
    for one in everyone:
        yield from _pair(one)
    yield Text()
    yield Text(twins.summary(everyone), "bold")
    yield from map(Text, conclusion(report))


def _comparison(pairs: Sequence[Twins]) -> Iterator[RenderableType]:
    yield Text("Exponential mechanism: naive base e and exact base 2 (Ilvento 2020)", "bold")
    widths = (14, 13, 16, 13, 6, 8)
    yield _line(twins.COLUMNS, widths, ("bold",) * len(widths))
    for one in pairs:
        yield Text(twins.title(one), "bold cyan")
        for row in (one.broken, one.exact):
            if row is not None and row.sampled is not None:
                styles = "", STYLES.get(sentences.verdict(row), ""), STYLES.get(row.sampled.verdict, ""), "", "", ""
                yield _line(twins.cells(row), widths, styles)
    runs = max(one.broken.sampled.runs for one in pairs if one.broken.sampled is not None)
    yield Text(fill(twins.KEY.format(runs=f"{runs:,}"), WIDTH))
    yield Text()


def _pair(one: Twins) -> Iterator[RenderableType]:
    """Yield a line for an attack, and one for each of its other mechanisms."""
    exact = ("", "") if one.exact is None else _found(one.exact)
    (broken, style), (twin, twin_style) = _found(one.broken), exact
    yield from _lines((_title(one.section), broken, twin), OVERVIEW, ("", style, twin_style))
    for row in one.others:
        text, style = _found(row)
        yield from _lines((f"{GAP}{printable(row.mechanism)}", text, ""), OVERVIEW, ("", style, ""))
    for row in one.section.rows:
        if (message := row.error or row.note) is not None:
            yield _message(f"{row.mechanism}: {message}")


def _found(row: Row) -> tuple[str, str]:
    """Return a verdict with what was found, and its style."""
    verdict = sentences.verdict(row)
    return f"{verdict} {found(row)}".rstrip(), STYLES.get(verdict, "")


def lines(report: Report) -> Iterator[RenderableType]:
    """Yield the rows by attack, the attacks with an error or a violation first, and then the conclusion."""
    grouped = sorted(sections(report.rows), key=_rank)
    rows = [row for section in grouped for row in _split(section)[0]]
    widths = _widths(row for row in rows if row.timing is None)  # the columns do not depend on a clock
    if rows:
        yield _line(TITLES, widths, ("bold",) * len(TITLES))
    for section in grouped:
        yield Text(_title(section), "bold cyan")
        alone, together = _split(section)
        for row in alone:
            yield from _row(row, widths)
        if together:
            yield Text(f"  and {_together(together)}")
    yield Text()
    yield from map(Text, conclusion(report))


def _title(section: Section) -> str:
    return printable(titled(section.rows[0].attack, section.rows[0].channel, "side channel: "))


def _rank(section: Section) -> tuple[int, bool]:
    """Return the rank of an attack: by its most severe row, attacks on outcomes before side channels."""
    return min(_severity(row) for row in section.rows), section.rows[0].channel is not None


def _severity(row: Row) -> int:
    """Return 0 for an error, 1 for a violation, 2 otherwise."""
    return ("ERROR", "VIOLATED").index(verdict) if (verdict := sentences.verdict(row)) in ("ERROR", "VIOLATED") else 2


def _split(section: Section) -> tuple[list[Row], list[Row]]:
    """Return the rows with their own line, the most severe first, and the exact members that share a line."""
    ranked = sorted(section.rows, key=_severity)
    resisting = [row for row in ranked if sentences.verdict(row) in VERBS and sentences.is_exact(row)]
    if len(resisting) in (0, len(ranked)):
        return ranked, []
    return [row for row in ranked if row not in resisting], resisting


def _together(rows: Sequence[Row]) -> str:
    """Return a summary of exact members.

    A single one is named: "exponential-exact holds"; otherwise "5 exact members hold, 1 is NOT REFUTED".
    """
    if len(rows) == 1:
        return f"{rows[0].mechanism} (exact) {VERBS[sentences.verdict(rows[0])][0]}"
    counts = Counter(sentences.verdict(row) for row in rows)
    parts = [(counts[verdict], words[counts[verdict] > 1]) for verdict, words in VERBS.items() if counts[verdict]]
    first = f"{parts[0][0]} exact member{'s' if parts[0][0] > 1 else ''} {parts[0][1]}"
    return ", ".join([first, *(f"{number} {word}" for number, word in parts[1:])])


def _cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row's line. An error's message, or a note, follows on the next line."""
    pair = finding(row)
    shown = pair.found if row.error is None and row.note is None else "–"
    return f"{GAP}{printable(row.mechanism)}", sentences.verdict(row), pair.claimed, shown, pair.by


def _widths(rows: Iterable[Row]) -> list[int]:
    """Return the width of each column: at most `WIDEST`, and the rest for the first."""
    columns = zip(*(TITLES[1:], *(_cells(row)[1:] for row in rows)), strict=True)
    others = [min(most, max(map(cell_len, column))) for most, column in zip(WIDEST, columns, strict=True)]
    return [WIDTH - sum(others) - len(GAP) * len(others), *others]


def _row(row: Row, widths: Sequence[int]) -> Iterator[RenderableType]:
    """Yield the lines of a row: usually one, and another for text that is too long for its column."""
    name, *cells = _cells(row)
    styles = "", STYLES.get(cells[0], ""), "", "", ""
    messages = [text for text in (row.error, row.note) if text is not None]
    if any(cell_len(cell) > width for cell, width in zip(cells, widths[1:], strict=True)):
        messages, cells = [f"{finding(row)} ({cells[-1]})"], [cells[0], "", "", ""]
    yield from _lines((name, *cells), widths, styles)
    yield from map(_message, messages)


def _message(text: str, indent: int = INDENT) -> RenderableType:
    return Padding(Text(printable(text)), (0, 0, 0, indent), expand=False)


def _lines(cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> Iterator[RenderableType]:
    """Yield a line of cells; before it another one, for a name that is too long for its column."""
    name, *others = cells
    if cell_len(name) > widths[0]:
        yield _message(name.strip(), len(name) - len(name.lstrip()))
        name = ""
    yield _line((name, *others), widths, styles)


def _line(cells: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> Text:
    padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True))
    line = Text(GAP).join(Text(cell, style) for cell, style in zip(padded, styles, strict=True))
    line.rstrip()
    return line


def conclusion(report: Report) -> list[str]:
    """Return paragraphs: domains on which exact members are decided, the tally, the mechanisms that violate a claim,
    the evidence, and how to read it."""
    clocked = [CLOCKED] if any(sentences.verdict(row) == MEASURED for row in report.rows) else []
    summary = [f"{tally(report.rows)}.", *_broken(report.rows), *clocked]
    return [*_decided(report.rows), *summary, "", NUMBERS, closing(report)]


def _decided(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the domains on which the exact members of the report are decided, with the results that are shipped."""
    names = dict.fromkeys(row.mechanism for row in rows if row.error is None and sentences.is_exact(row))
    decided = [proof for name in names if (proof := proofs.of(name)) is not None]
    if decided:
        yield "Claims that hold for every pair of a domain, as `subnormal prove` decided before:"
    for one in decided:
        line = f"{one.mechanism}: {proofs.pairs(one)} pairs of {one.domain.replace(',', ', ')}"
        yield fill(line, WIDTH, initial_indent=GAP, subsequent_indent=" " * INDENT, break_on_hyphens=False)


def tally(rows: Sequence[Row]) -> str:
    """Return how many rows have each verdict, the most severe first, as in "2 rows: 1 VIOLATED, 1 HOLDS"."""
    counts = Counter(map(sentences.verdict, rows))
    verdicts = ", ".join(f"{counts[name]} {name}" for name in sentences.SEVERITY if counts[name])
    return f"{'1 row' if len(rows) == 1 else f'{len(rows)} rows'}: {verdicts or 'no verdict'}"


def _broken(rows: Sequence[Row]) -> Iterator[str]:
    judged = [row for row in rows if row.error is None and row.note is None]
    violated = [row for row in judged if row.violated]
    if not violated:
        refuted = "No claim was refuted. That is no evidence of privacy."
        yield refuted if judged else "No row has a verdict on its claim."
        return
    everyone, exact = {row.mechanism for row in judged}, {row.mechanism for row in judged if sentences.is_exact(row)}
    broken = {row.mechanism for row in violated if row.channel is None}
    by_channel = {row.mechanism for row in violated} - broken
    summary = f"{len(broken)} of {len(everyone)} mechanisms break a claim"
    if exact:
        summary += f", {len(broken & exact) or 'none'} of the {len(exact)} exact ones"
    yield f"{summary}; {len(by_channel)} more by a side channel alone." if by_channel else f"{summary}."
    proved = sum(bool(set(sentences.kinds(row)) & set(sentences.PROVED)) for row in violated)
    runs = [sentences.confidence(row) for row in violated if not set(sentences.kinds(row)) & set(sentences.PROVED)]
    are_proved = f"{counted(len(violated), 'violation')} {'is' if proved == 1 else 'are'} proved, in integers"
    parts = [f"{proved} of {are_proved}"] if proved else []
    parts += [f"{len(runs)} rest on runs, at {percent(min(runs))} each"] if runs else []
    yield f"{'; '.join(parts)}."
