"""Serve release.py's `function` through the protocol of docs/protocol.md: python serve.py FOLDER.

Runs in the environment of a release, without Subnormal: Python 3.6 and the standard library.
"""

import importlib
import json
import os
import sys
from typing import Any


def to_json(value: Any) -> Any:
    """Return an outcome as JSON: floats in hexadecimal, so that no bit is lost."""
    if isinstance(value, dict):
        return {str(key): to_json(part) for key, part in value.items()}
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [to_json(part) for part in value]
    if isinstance(value, float):
        return value.hex() if value - value == 0 else str(value)
    return value


def outcome(function: Any, data: Any) -> Any:
    """Return one outcome, or the exception that is one."""
    try:
        return to_json(function(data))
    except Exception as error:
        return f"error: {type(error).__name__}: {error}"


def main() -> None:
    """Answer the requests on standard input. What the function prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, sys.argv[1])
    function = importlib.import_module("release").function

    for line in sys.stdin:
        request = json.loads(line)
        if "protocol" in request:
            answer: Any = {"protocol": 1}
        else:
            data = request["data"]
            answer = {"outcomes": [outcome(function, data) for _ in range(request["runs"])]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
