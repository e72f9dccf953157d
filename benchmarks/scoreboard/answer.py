"""Hold a library against vectors/1: run by the interpreter of its environment, where Subnormal is not installed.

Arguments: the folder of the runner, a set of vectors, the library's subject and its file of claims (empty for none),
the seconds of one test, and how many tests are done. For each test it prints what is tried and what was found, as JSON.
"""

import importlib.util
import json
import os
import runpy
import signal
import sys
import warnings
from pathlib import Path

TABLES = ("STREAMS", "DRAWS", "MAPS", "QUERIES", "MECHANISMS")

runners, vectors, subject, claims, seconds, done = sys.argv[1:]
said = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what the library prints is none of ours
sys.path.insert(0, runners)
warnings.simplefilter("ignore")
from runner import asked, judge  # noqa: E402

returned = 0


def counted(function):
    """Return the function, which says whether it has returned anything."""

    def counting(*positional, **named):
        global returned
        answer = function(*positional, **named)
        returned += answer is not None
        return answer

    return counting


def loaded():
    """Yield who answers, and its tables of functions: the library, then each of its accountants."""
    if subject:
        yield "", runpy.run_path(subject)
    if claims:
        spec = importlib.util.spec_from_file_location("claims", claims)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for accountant in dict.fromkeys(who for who, _ in module.ANSWERS):
            yield accountant, {"MAPS": {kind: f for (who, kind), f in module.ANSWERS.items() if who == accountant}}


answering = []
for who, tables in loaded():
    found = {table: {name: counted(f) for name, f in tables.get(table, {}).items()} for table in TABLES}
    answering.append((who, {**tables, **found}))
number = 0
for test in json.loads(Path(vectors).read_text("utf-8"))["tests"]:
    for who, functions in answering:
        _, table, name = asked(test)
        if name not in functions.get(table, {}):
            continue
        number += 1
        if number <= int(done):
            continue
        what = test.get("function", test.get("family"))
        print(json.dumps({"who": who, "what": what, "id": test["id"]}), file=said)
        signal.alarm(int(seconds))  # which ends the process
        returned = 0
        verdict, why = judge(test, functions)
        signal.alarm(0)
        answered = verdict is not None and returned > 0  # what raises for both inputs answers nothing
        print(json.dumps({"passed": bool(verdict) if answered else None, "why": why[:300]}), file=said)
