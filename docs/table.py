"""Write docs/table.svg, the picture of a report's table: `make table`."""

from pathlib import Path

import subnormal
from subnormal.audit.report import terminal

ATTACKS = (
    "zero-rounding",
    "truncated-addition",
    "least-significant-bits-float32",
    "grid-precision",
    "absorption",
    "singleton-key",
)

if __name__ == "__main__":
    Path(__file__).with_name("table.svg").write_text(terminal.to_svg(subnormal.run(ATTACKS)))
