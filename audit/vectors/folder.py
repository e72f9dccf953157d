"""The folder vectors/1: each set as JSON and as lines of text, made from this version, or held against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from subnormal.audit.vectors import attacks, maps, samplers, stability
from subnormal.audit.vectors.numbers import as_json

VERSION = 1
SCHEMA = f"subnormal/vectors/{VERSION}"
BY_HAND = ("*.schema.json", "*.md")  # files of the folder that are written by hand

Test = dict[str, Any]
Step = Callable[[], None]

SETS: Mapping[str, Callable[[], Iterator[Test]]] = {
    "samplers": samplers.tests,
    "maps": lambda: (test for kind in maps.kinds() for test in maps.tests(kind)),
    "stability": stability.tests,
    "attacks": attacks.tests,
}


def made(step: Step, names: Iterable[str] = ()) -> dict[str, bytes]:
    """Return the files of these sets by name, or of all. step: called for each test, of which there are some 1,500."""
    files = {}
    for name in names or SETS:
        tests = []
        for test in SETS[name]():
            tests.append(test)
            step()
        tests = _named(tests)
        rows = ",\n".join(json.dumps(plain(test), ensure_ascii=False, allow_nan=False) for test in tests)
        files[f"{name}.json"] = f'{{"schema": "{SCHEMA}", "set": "{name}", "tests": [\n{rows}\n]}}\n'.encode()
        files[f"{name}.txt"] = "".join(f"{line(test)}\n" for test in tests).encode()
    return files


def _named(tests: list[Test]) -> list[Test]:
    """Return the tests with an `id`, the function and a number; attacks have their own."""
    counted: dict[str, int] = {}
    found = []
    for test in tests:
        name = test.get("function", "")
        counted[name] = counted.get(name, 0) + 1
        found.append({"id": f"{name}/{counted[name]}"} | test)
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON: integers beyond 2^53 are texts, and so are "inf", "-inf" and "nan"."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return as_json(value)


def line(test: Test) -> str:
    """Return a test as one line: words name=value, parameters by their own names, no spaces inside of a word.

    >>> line({"id": "sum/1", "parameters": {"size": 2}, "in": [[2, 0.5]], "bound": 1})
    'id=sum/1 size=2 in=2*0.5 bound=1'
    """
    words: dict[str, Any] = {}
    for name, value in test.items():
        if name == "parameters":
            words |= value
        elif name in ("in", "out"):
            words[name] = [f"{count}*{_word(record)}" for count, record in value]
        elif name == "events":
            words[name] = [[event[key] for key in ("from", "to", "least", "most")] for event in value]
        elif name in attacks.NESTED:
            words |= attacks.words(name, value)
        elif name not in ("comment", "asks", *attacks.PROSE):
            words[name] = value
    return " ".join(f"{name}={_word(value)}" for name, value in words.items())


def _word(value: Any, between: str = ",") -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return _word(value["decimal"]) if "decimal" in value else _word([*value.values()], between)
    if isinstance(value, list | tuple):
        return between.join(_word(part, ":") for part in value)
    return repr(value) if isinstance(value, float) else str(value)


def differences(path: Path, step: Step) -> list[str]:
    """Return how a folder, or one file of it, differs from what this version makes; empty if it does not.

    Raises OSError where the path cannot be read, ValueError for a file of another name.
    """
    if path.is_dir():
        files = made(step)
        there = {one.name for one in path.iterdir() if not any(fnmatch(one.name, form) for form in BY_HAND)}
        found = [f"{name}: this version makes no such file" for name in sorted(there - set(files))]
        found += [f"{name}: missing" for name in sorted(set(files) - there)]
        return found + [_difference(path / name, files[name]) for name in sorted(set(files) & there)]
    if path.stem not in SETS or path.suffix not in (".json", ".txt"):
        raise ValueError(f"{path.name} is none of the files of a folder of vectors")
    return [_difference(path, made(step, (path.stem,))[path.name])]


def _difference(path: Path, content: bytes) -> str:
    there = path.read_bytes()
    if there == content:
        return ""
    pairs = enumerate(zip(there.splitlines(), content.splitlines(), strict=False), 1)
    place = next((number for number, (one, other) in pairs if one != other), None)
    return f"{path.name}: line {place} differs" if place else f"{path.name}: the number of lines differs"
