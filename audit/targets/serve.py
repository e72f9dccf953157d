"""Serve the `function` of a file through the protocol of docs/protocol.md: python serve.py FILE [SECONDS BYTES …].

Runs in the environment of a release, without Subnormal: Python 3.6 and the standard library.
With SECONDS and BYTES, a call that takes more time or memory raises an error, which is its outcome. Further arguments
are the file's own.
"""

import importlib.util
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
    except (Exception, SystemExit) as error:
        return f"error: {type(error).__name__}: {error}"


def limited(function: Any, seconds: float, size: int) -> Any:
    """Return the function with limits on the processor time of a call and on the memory of this process.

    A call that takes longer raises TimeoutError.
    """
    import resource
    import signal

    def over_time(number: Any, frame: Any) -> None:
        raise TimeoutError(f"no answer within {seconds} s of processor time")

    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    signal.signal(signal.SIGPROF, over_time)

    def called(data: Any) -> Any:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            return function(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    return called


def main() -> None:
    """Answer the requests on standard input. What the function prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    path, *limits = sys.argv[1:]
    del sys.path[0]  # files beside this one, and beside the release's, have the names of packages
    spec: Any = importlib.util.spec_from_file_location("release", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Any = module.function
    if limits:
        function = limited(function, float(limits[0]), int(limits[1]))

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
