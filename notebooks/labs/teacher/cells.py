"""Runs the cells of a notebook one after the other, and gives the names that they have defined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from grader.answers import AnswerError
from grader.marks import SECONDS, TooLongError, limited

PART = re.compile(r"^lab\.part_(\d+)\(")
COMMAND = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)  # for IPython, not for Python


def part_of(code: str) -> int | None:
    """Return the number of the part whose marks a cell shows, None for another cell."""
    found = PART.match(code)
    return None if found is None else int(found[1])


def code_of(notebook: Any) -> list[str]:
    """Return the code cells of a notebook, as they were handed in, without those that show marks.

    Raises ValueError for what is no notebook.
    """
    try:
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (KeyError, TypeError) as error:
        raise ValueError(f"no Jupyter notebook of version 4: {error!r}") from None
    return [source for source in sources if part_of(source) is None]


@dataclass(slots=True)
class Session:
    """The names that the cells have defined so far, and why cells failed."""

    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__", "display": lambda *shown: None})
    failures: list[tuple[str, str]] = field(default_factory=list)  # (the cell's code, why)

    def run(self, code: str, seconds: float = SECONDS) -> None:
        """Run a cell. One that raises, exits or does not end in time is a failure, and the next cell can run."""
        try:
            limited(lambda: exec(compile(COMMAND.sub(r"\1pass", code), "<cell>", "exec"), self.names), seconds)
        except NotImplementedError as error:
            self.failures.append((code, str(error) or "no answer yet"))
        except TooLongError:
            self.failures.append((code, f"the cell did not end within {seconds:g} seconds"))
        except (Exception, SystemExit) as error:
            self.failures.append((code, f"the cell raised {type(error).__name__}: {error}"))

    def answer(self, name: str) -> Any:
        """Return what a name stands for. Raises AnswerError, which says why it is missing."""
        if name not in self.names:
            raise AnswerError(f"`{name}` is not defined: {next(self._reasons(name), 'no cell defines it')}.")
        return self.names[name]

    def _reasons(self, name: str) -> Iterator[str]:
        defines = re.compile(rf"^\s*(def\s+)?{name}\b", re.MULTILINE)
        yield from (why for code, why in self.failures if defines.search(code))
        yield from (why for _, why in self.failures)
