"""A program under audit that misbehaves as its first argument says; in plain Python, so that it starts at once."""

import json
import os
import sys
import time
from typing import Any


def say(answer: object) -> None:
    """Print one line of JSON."""
    print(json.dumps(answer), flush=True)


def greet(how: str) -> None:
    """Read the greeting and answer it, or misbehave."""
    if how == "never reads":
        while True:
            print("x" * 10_000)
    if how == "silent":
        time.sleep(60)
    if how == "greets with rubbish":
        print("Loading the library …", flush=True)
    if how == "wrong version":
        say({"protocol": 2})
    if how == "crashes at once":
        sys.exit("no such \x1b[31mlibrary\nat all")
    if how == "leaves a child":
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        print(os.getpid(), file=sys.stderr, flush=True)
    sys.stdin.readline()
    say({"protocol": 1})
    if how == "stops reading":
        time.sleep(60)


def answer(how: str, request: dict[str, Any]) -> None:
    """Answer a request, or misbehave."""
    runs = request["runs"]
    if how == "crashes":
        print("a first line\nSegmentation imminent", file=sys.stderr)
        os.abort()
    elif how == "exits":
        sys.exit(3)
    elif how == "hangs":
        time.sleep(60)
    elif how == "chatters":
        while True:
            print("busy", file=sys.stderr)
    elif how == "prints no JSON":
        print("said before", file=sys.stderr, flush=True)
        print("0.5, 0.25, \x1b[31m", flush=True)
    elif how == "prints twice":
        print(f'{{"outcomes": {[0.5] * runs}}}\n{{"more": 1}}', flush=True)
    elif how == "answers again, late":
        say({"outcomes": [0.5] * runs})
        time.sleep(0.02)
        say({"outcomes": [0.5] * runs})
    elif how == "answers something else":
        say([1, 2])
    elif how == "too few":
        say({"outcomes": [0.5] * (runs - 1)})
    elif how == "too many":
        say({"outcomes": [0.5] * (runs + 1)})
    elif how == "NaN":
        say({"outcomes": [float("nan")] * runs})
    elif how == "overflow":
        print(f'{{"outcomes": [{", ".join(["1e999"] * runs)}]}}', flush=True)
    elif how == "text":
        say({"outcomes": ["0.5"] * runs})
    elif how == "endless":
        while True:
            print("0" * 100_000, end="")
    elif how == "answers once":
        say({"outcomes": [0.5] * runs})
        sys.exit()
    elif how == "ignores its data":
        say({"outcomes": [int.from_bytes(os.urandom(1)) / 4 for _ in range(runs)]})
    elif how == "always the same":
        say({"outcomes": [7] * runs})
    elif how == "refuses zero weights":
        lost = min(request["data"]) < max(request["data"])
        say({"outcomes": ["error: ValueError: a weight is zero" if lost else 0] * runs})
    else:
        sys.exit(f"unknown {how!r}")


if __name__ == "__main__":
    greet(sys.argv[1])
    for line in sys.stdin:
        answer(sys.argv[1], json.loads(line))
