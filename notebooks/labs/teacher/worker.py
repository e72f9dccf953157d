"""Grades one notebook in a process of its own: `python -m teacher.worker NOTEBOOK LAB RESULTS SECONDS SKIPPED`.

Each line of RESULTS is a step that begins, or the marks of a part. SKIPPED names the steps that ended an earlier
process, with the reason, as JSON.
"""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from grader.marks import Marks, parts_of
from teacher.cells import Session, code_of


def main() -> None:
    """Grade the notebook that the command line names."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that interrupts are ignored
    notebook, lab, results, seconds, skipped = sys.argv[1:]
    sys.path.append(str(Path(notebook).parent))  # files that were handed in with it
    limit, reasons = float(seconds), json.loads(skipped)
    parts = parts_of(lab)
    session = Session()
    with Path(results).open("a", encoding="utf-8") as stream:

        def say(**line: object) -> None:
            stream.write(json.dumps(line) + "\n")
            stream.flush()

        for place, code in enumerate(code_of(json.loads(Path(notebook).read_text("utf-8")))):
            step = f"cell {place}"
            if step in reasons:
                session.failures.append((code, f"the cell {reasons[step]}"))
                continue
            say(step=step)
            session.run(code, limit)
        for part in parts:
            step = f"part {part.number}"
            say(step=step)
            marks = Marks(0, f"Your code {reasons[step]}.") if step in reasons else session.marks(part, limit)
            say(part=part.number, marks=asdict(marks))


if __name__ == "__main__":
    main()
