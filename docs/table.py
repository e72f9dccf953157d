"""Write docs/table.svg, the picture of a report's table: `make table`."""

import io
from pathlib import Path

from rich.console import Console

import subnormal
from subnormal.audit.model import Report
from subnormal.audit.report import terminal

ATTACKS = (
    "zero-rounding",
    "truncated-addition@epsilon=1.0,outcomes=4096,float_type=float16",
    "truncated-addition-half",
    "least-significant-bits-float32",
    "grid-precision",
    "absorption",
    "singleton-key",
)


def to_svg(report: Report) -> str:
    """Return a picture of what a terminal shows."""
    console = Console(record=True, width=terminal.WIDTH, file=io.StringIO())
    for line in terminal.overview(report):
        console.print(line)
    return console.export_svg(title="python -m audit run")


if __name__ == "__main__":
    Path(__file__).with_name("table.svg").write_text(to_svg(subnormal.run(ATTACKS)))
