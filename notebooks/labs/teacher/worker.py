"""Runs the code of one student, and answers with data: `python -m teacher.worker FOLDER SECONDS`.

Each line of the input is a request, as JSON, and each line of the output its reply. The requests are those of
`submissions.Student`. FOLDER: of the notebook. SECONDS: the limit of a cell.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from grader.answers import Json, reply
from grader.functions import answered
from teacher.cells import Session

FUNCTION = {"function": True}


def main() -> None:
    """Answer requests until the input ends."""
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # what the student prints
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that interrupts are ignored
    folder, seconds = sys.argv[1:]
    os.chdir(folder)
    sys.path.append(folder)  # files that were handed in with the notebook
    session = Session()
    for line in requests:
        print(json.dumps(_reply(session, json.loads(line), float(seconds))), file=replies, flush=True)


def _reply(session: Session, request: dict[str, Any], seconds: float) -> Json:
    match request:
        case {"cell": code, "failed": reason}:
            session.failures.append((code, reason))
            return {"value": None}
        case {"cell": code}:
            return reply(lambda: session.run(code, seconds))
        case {"name": name, "action": action, "arguments": arguments}:
            return answered(session.answer(name), name, action, arguments)
        case {"name": name}:
            found = reply(lambda: session.answer(name))
            return FUNCTION if callable(session.names.get(name)) else found
    raise ValueError(f"no such request: {request!r}")


if __name__ == "__main__":
    main()
