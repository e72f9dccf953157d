"""Hold a library against the vectors. The standard library of Python 3.8 is enough; `judges` has a file for each set.

SUBJECT defines some of these dictionaries; tests of other functions are skipped, and those where it returns None.
Where it raises, it refuses the parameters; but a stream must not, draws must not for some random bits alone, and a
query must not for one dataset alone.
  STREAMS: sampler -> f(parameters, take) -> outcome, where take(k) returns k random bits as an integer
  DRAWS: sampler -> f(parameters, n) -> n outcomes, up to 100,000, by any algorithm and with bits from anywhere
  MAPS: kind -> f(**parameters) -> number; the kinds in EXACT must not say much more than the truth either
  QUERIES: query -> f(parameters, records) -> answer; BOUNDS: query -> f(parameters, bound) -> what the library promises
  MECHANISMS: family -> f(parameters, data) -> outcome
Exit code: 1 if a test fails, by chance with a probability of 10^-12 for each count of draws; 2 if SUBJECT breaks,
answers no test at all, or has a function that no test asks for or that answers none of its own.
"""

import argparse
import json
import pathlib
import runpy
import sys
import traceback

from judges.attacks import attack
from judges.maps import bound
from judges.samplers import law, stream
from judges.stability import stability

SETS = ("samplers", "maps", "stability", "attacks")


def asked(test):
    """Return the judge of a test, the dictionary, and the name in it of the function that the test is about."""
    if "family" in test:
        return attack, "MECHANISMS", test["family"]
    if "distance" in test:
        return stability, "QUERIES", test["function"]
    if "asks" in test:
        return bound, "MAPS", test["function"]
    return (stream, "STREAMS", test["function"]) if test["kind"] == "stream" else (law, "DRAWS", test["function"])


def judge(test, subject):
    """Return whether the subject passes, and why not; None where it does not answer, with what it raises."""
    one, table, name = asked(test)
    function = subject.get(table, {}).get(name)
    try:
        verdict, why = one(function, test, subject) if function else (None, "")
        return None if verdict is None else bool(verdict), why  # numpy has booleans of its own
    except Exception as error:  # of a stream, that it wants more bits; of what is no number, that it is none
        return False, repr(error)


def hold(tests, subject):
    """Return how many tests pass, fail, raise and are skipped, and what is wrong with functions of the subject."""
    counts, unanswered = dict.fromkeys(("passed", "failed", "raised", "skipped"), 0), {}
    for test in tests:
        if sys.stderr.isatty():
            print(f"{test['id']:70}", end="\r", file=sys.stderr)
        verdict, why = judge(test, subject)
        counts[{True: "passed", False: "failed"}.get(verdict, "raised" if why else "skipped")] += 1
        unanswered.setdefault(asked(test)[1:], []).append((why or "it returns None") if verdict is None else "")
        if verdict is False:
            print(f"FAILED {test['id']} {json.dumps(test['parameters'])[:200]}: {why[:300]}", flush=True)
    wrong = []
    for table in dict.fromkeys(table for table, _ in unanswered):
        for name in subject.get(table, ()):
            reasons = unanswered.get((table, name), ["no test asks for it"])
            wrong += [f"WRONG {table}[{name!r}] answers no test: {reasons[0]}"] if all(reasons) else []
    return counts, wrong


def main():
    """Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="vectors/1")
    parser.add_argument("subject", metavar="SUBJECT", type=pathlib.Path, help="your file of Python")
    parser.add_argument("sets", metavar="SET", nargs="*", help=f"some of {', '.join(SETS)}; else all")
    given = parser.parse_args()
    files = {name: given.folder / f"{name}.json" for name in given.sets or SETS}
    for missing in (path for path in (given.subject, *files.values()) if not path.is_file()):
        parser.error(f"there is no file {missing}")
    sys.path.insert(0, str(given.subject.parent))
    try:
        subject = runpy.run_path(str(given.subject))
    except Exception:
        traceback.print_exc()
        return 2
    failed, passed, wrong = 0, 0, []
    for name, path in files.items():
        counts, found = hold(json.loads(path.read_text("utf-8"))["tests"], subject)
        print(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()), flush=True)
        failed, passed, wrong = failed + counts["failed"], passed + counts["passed"], wrong + found
    if not (failed or passed or wrong):
        wrong = [f"WRONG {given.subject} answers no test"]
    print(*(f"{line}\n" for line in wrong), sep="", end="")
    return 1 if failed else 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
