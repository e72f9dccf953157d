"""audit labs: the course's graded exercises, from an installed package."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from subnormal.audit.commands import explore
from subnormal.audit.commands.common import Failure

PACKAGED = Path(__file__).parents[1] / "labs"  # in an installed wheel
CHECKOUT = Path(__file__).resolve().parents[2] / "notebooks" / "labs"
HOME = "notebooks/labs"  # their place in the repository, where their links begin
HANDED_OUT = ("grader", "clinic")  # what the students' notebooks import
LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)]*)\)")


@click.group()
def labs() -> None:
    """Five graded exercises: fetch them, or grade what students have handed in."""


@labs.command()
@click.argument("folder", default="labs", type=click.Path(path_type=Path))
@click.option("--teacher", is_flag=True, help="With solutions and the grading of a class.")
def fetch(folder: Path, teacher: bool) -> None:
    """Write the labs to a new FOLDER: notebooks, and what they import. Then: jupyter lab FOLDER."""
    if folder.exists():
        raise Failure(f"{folder} exists already; name a folder that does not, so that no answer is overwritten")
    try:
        hand_out(folder, everything=teacher)
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    click.echo(f"{folder} has {len(list(folder.glob('*.ipynb')))} labs; open them with: jupyter lab {folder}")


@labs.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def grade(arguments: tuple[str, ...]) -> None:
    """Grade a folder of submissions; `labs grade --help` has the options."""
    code = subprocess.run([sys.executable, str(_labs()), "grade", *arguments]).returncode
    if code:
        raise SystemExit(code)


def hand_out(folder: Path, *, everything: bool = False) -> None:
    """Write the students' copies to a new folder, with what they import and the explorer.

    Links to other pages of the repository lead to its web site. everything: sources, solutions and the grading too.
    """
    source, ignored = _labs(), shutil.ignore_patterns("__pycache__")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as parent:  # so that the folder appears when it is complete
        new = Path(parent, folder.name)
        if everything:
            shutil.copytree(source, new, ignore=ignored)
        else:
            for name in HANDED_OUT:
                shutil.copytree(source / name, new / name, ignore=ignored)
        shutil.copy(explore.page(), new / "explorer.html")
        for lab in sorted(source.glob("*.ipynb")):
            (new / lab.name).write_text(_with_links_from_outside(lab.read_text("utf-8")), "utf-8")
        new.rename(folder)


def _with_links_from_outside(notebook: str) -> str:
    cells = json.loads(notebook)
    for cell in cells["cells"]:
        cell["source"] = LINK.sub(_link_from_outside, "".join(cell["source"])).splitlines(keepends=True)
    return json.dumps(cells, indent=1, ensure_ascii=False) + "\n"


def _link_from_outside(link: re.Match[str]) -> str:
    """Return a link of a lab as it stands outside of the repository; only its words where no address is known."""
    words, target = link.groups()
    path = posixpath.normpath(posixpath.join(HOME, target))
    if posixpath.basename(path) == "explorer.html":
        return f"[{words}](explorer.html)"
    repository = _repository()
    return f"[{words}]({repository}/blob/main/{path})" if repository else words


def _repository() -> str:
    """Return the address of the repository, by the metadata of the package; "" where they have none."""
    pairs = (line.partition(", ") for line in metadata("subnormal").get_all("Project-URL") or ())
    return next((address.rstrip("/") for name, _, address in pairs if name == "Repository"), "")


def _labs() -> Path:
    return PACKAGED if PACKAGED.is_dir() else CHECKOUT
