"""The size and the shape of the code: python -m benchmarks.structure.

Lines include comments, docstrings and blank lines.
"""

from __future__ import annotations

import ast
import random
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import FrameType
from typing import Any

import grimp
from hypothesis import strategies as st

from subnormal.audit.check.check import check
from subnormal.audit.neighbours.relations import add_or_remove
from subnormal.mechanisms.privacy import Claim

ROOT = Path(__file__).parents[1]
AUDIT = ROOT / "audit"


def lines(*folders: str) -> int:
    """Return the lines of the Python files in folders of the checkout."""
    files = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def import_graph() -> dict[str, set[str]]:
    """Return what each module imports, in functions too; imports for type checkers are left out."""
    graph = grimp.build_graph("subnormal", exclude_type_checking_imports=True)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def import_cycles() -> list[list[str]]:
    """Return cycles of imports; of two that share an import, one."""
    graph, cycles = import_graph(), []
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            cycle = error.args[1]
            cycles.append(cycle)
            graph[cycle[1]].remove(cycle[0])
        else:
            return cycles


def files_of_a_check() -> set[str]:
    """Return the files of audit/ whose functions a `check` calls that finds a violation."""
    files: set[str] = set()

    def called(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    def noisy_sum(records: list[float]) -> float:
        return sum(records) + random.gauss(0.0, 1.0)

    sys.setprofile(called)
    try:
        check(noisy_sum, st.lists(st.floats(0, 1000)), add_or_remove(), Claim(1.0, 1e-6))
    finally:
        sys.setprofile(None)
    return {str(path) for path in map(Path.resolve, map(Path, files)) if AUDIT in path.parents}


def returns_of_a_result() -> int:
    """Return the number of return statements in functions of audit/check/ that return the result of a check."""
    found = 0
    for path in (AUDIT / "check").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.returns is not None and "Result" in ast.dump(node.returns):
                found += sum(isinstance(inner, ast.Return) for inner in ast.walk(node))
    return found


if __name__ == "__main__":
    print(f"lines of audit, attacks, mechanisms  {lines('audit', 'attacks', 'mechanisms'):,}")
    print(f"lines of audit/check                 {lines('audit/check'):,}")
    print(f"lines of tests                       {lines('tests'):,}")
    print(f"cycles of imports                    {len(import_cycles())}")
    print(f"files of audit that a check calls    {len(files_of_a_check())}")
    print(f"returns of a check's result          {returns_of_a_result()}")
