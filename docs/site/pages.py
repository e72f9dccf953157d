"""Gather the sources of the documentation site: python -m docs.site.pages FOLDER. `make docs` calls it, then Sphinx.

FOLDER gets the pages of the repository at their places, so that the links between them stay true, and a page for each
attack and each mechanism of the catalogue, with the verdicts and pictures of an audit that runs first.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from docs.site import examples
from docs.site.switchers import switcher
from subnormal.attacks import catalogue
from subnormal.audit.engine.pairs import crossings
from subnormal.audit.engine.scheduler import examine_all
from subnormal.audit.model import Report
from subnormal.audit.report import page, proofs
from subnormal.audit.report.page import AttackRows, RowView
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.core.options import split
from subnormal.mechanisms.families import FAMILIES, absent, exact_members, installed, members

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES = (
    "*.md",
    "*.cff",
    "LICENSE",
    "audit/*.py",
    "docs/**/*",
    "museum/**/*",
    "notebooks/**/*",
    "benchmarks/**/*",
    "vectors/**/*.md",
    "vectors/**/*.schema.json",
    "vectors/runners/**/*",
)
CHARTS = ROOT / "audit" / "report" / "templates" / "charts.css"
WIDGET = "application/vnd.jupyter.widget-view+json"
SLIDES = ' <a href="?slides">Show as slides</a>'  # of a notebook's page, by static/slides.js
READY = ("docs/explorer.html", "museum/*/check.html")  # pages that Sphinx does not build


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an index: a page of the catalogue. group: the family."""

    file: str
    title: str
    group: str
    summary: str


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook: its file, its heading, and all of its code."""

    file: str
    title: str
    code: str


def write(folder: Path, report: Report) -> None:
    """Write the sources of the site to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _copy(PAGES, folder)
    _copy(READY, folder / "extra")
    for notebook in (folder / "notebooks").rglob("*.ipynb"):
        _for_readers(notebook)
    (folder / "README.md").rename(folder / "start.md")
    for source in (*HERE.glob("*.md"), HERE / "conf.py", HERE / "scorer.js"):
        shutil.copy(source, folder)
    (folder / "static").mkdir()
    for used in (CHARTS, *HERE.glob("*.css"), HERE / "switcher.js", HERE / "slides.js"):
        shutil.copy(used, folder / "static")
    parts = page.parts(report)
    gallery = _filled("gallery.md.jinja", families=page.families(report, parts))
    (folder / "gallery.md").write_text(gallery, encoding="utf-8")
    _write_catalogue(folder / "attacks", "Attacks", "attack.md.jinja", _attack_pages(parts))
    _write_catalogue(folder / "mechanisms", "Mechanisms", "mechanism.md.jinja", _mechanism_pages(parts))


def file_name(name: str) -> str:
    """Return the name of a page for that of an attack or a mechanism, which may have options.

    >>> file_name("zero-rounding@epsilon=2.0,outcomes=10")
    'zero-rounding-epsilon-2.0-outcomes-10'
    """
    return re.sub(r"[^A-Za-z0-9.-]", "-", name)


def title(name: str) -> str:
    """Return the name of an attack as people write and search for it.

    >>> title("zero-rounding@epsilon=2.0,outcomes=10")
    'Zero rounding, epsilon=2.0, outcomes=10'
    """
    base, _, options = name.partition("@")
    words = re.sub(r"-(?!\d)", " ", base)
    return ", ".join([words[:1].upper() + words[1:], *filter(None, options.split(","))])


def notebook_of(attack: str, module: str) -> Notebook | None:
    """Return the notebook that shows an attack: it imports the attack's module or names it, most often of all."""
    name = module.rpartition(".")[2]
    shown = [(one.code.count(name), one) for one in _notebooks() if module in one.code or f'"{attack}' in one.code]
    return max(shown, key=lambda pair: pair[0], default=(0, None))[1]


@cache
def _notebooks() -> list[Notebook]:
    result = []
    for file in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        heading = next(line for cell in cells for line in cell["source"] if line.startswith("# "))
        code = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        result.append(Notebook(file.name, heading[2:].strip(), code))
    return result


def _copy(patterns: Iterable[str], folder: Path) -> None:
    """Copy files of the repository to the same places in a folder. Links would be followed out of the site."""
    for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(ROOT).parts)
        if path.is_file() and not hidden and not path.is_relative_to(HERE):
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)


def _for_readers(notebook: Path) -> None:
    """Write switchers of pictures for the sliders of a notebook, which need a network, and a link to its slides.

    Labs have neither.
    """
    content = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        for output in (one for one in cell.get("outputs", []) if WIDGET in one.get("data", {})):
            output["data"] = {"text/html": switcher(notebook.stem, content["metadata"])}
    content["metadata"].pop("widgets", None)
    if "labs" not in notebook.parts:
        content["cells"][0]["source"][-1] += SLIDES
    notebook.write_text(json.dumps(content), encoding="utf-8")


def _write_catalogue(folder: Path, title: str, template: str, pages: Iterable[tuple[Entry, dict[str, Any]]]) -> None:
    folder.mkdir()
    entries = []
    for entry, values in pages:
        (folder / f"{entry.file}.md").write_text(_filled(template, entry=entry, **values), encoding="utf-8")
        entries.append(entry)
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    (folder / "index.md").write_text(_filled("index.md.jinja", title=title, groups=groups), encoding="utf-8")


def _attack_pages(parts: list[AttackRows]) -> Iterable[tuple[Entry, dict[str, Any]]]:
    shown = {part.section.rows[0].attack: part for part in parts}
    for attack in catalogue.attacks():
        build = catalogue.constructors()[split(attack.name)[0]].build
        part = shown.get(attack.name)
        yield (
            Entry(file_name(attack.name), title(attack.name), attack.family, attack.description),
            {
                "attack": attack,
                "explorer": examples.explorer_link(attack),
                "notebook": notebook_of(attack.name.partition("@")[0], _unwrapped(build).__module__),
                "text": inspect.getdoc(inspect.getmodule(_unwrapped(build))),
                "construction": inspect.getdoc(_unwrapped(build)),
                "part": part,
                "pictured": [] if part is None else _pictured(part.rows),
            },
        )


def _mechanism_pages(parts: list[AttackRows]) -> Iterable[tuple[Entry, dict[str, Any]]]:
    rows: dict[str, list[RowView]] = {}
    for one in (one for part in parts for one in part.rows):
        rows.setdefault(one.row.mechanism, []).append(one)
    for family in FAMILIES:
        modules = {_named(reference).name: reference.partition(":")[0] for reference in family.members}
        for mechanism in (*members(family), *absent(family)):
            met, proved = rows.get(mechanism.name, []), proofs.of(mechanism.name)
            text = inspect.getdoc(import_module(modules[mechanism.name])) or ""
            yield (
                Entry(file_name(mechanism.name), mechanism.name, family.name, text.partition("\n")[0]),
                {
                    "mechanism": mechanism,
                    "example": examples.lines(mechanism) if mechanism in exact_members(family) else None,
                    "installed": installed(mechanism.package) if mechanism.package else None,
                    "text": text,
                    "rows": met,
                    "pictured": _pictured(met)[:1],
                    "twin": next((one.name for one in exact_members(family)), None),
                    "proved": proved,
                    "pairs": "" if proved is None else proofs.pairs(proved),
                },
            )


def _pictured(rows: list[RowView]) -> list[RowView]:
    """Return the first row with pictures, the most severe one, and the first of an exact member."""
    drawn = [one for one in rows if one.panels]
    return [*drawn[:1], *[one for one in drawn[1:] if one.exact][:1]]


def _unwrapped(build: Any) -> Any:
    return getattr(build, "func", build)  # a partial, or the function


def _named(reference: str) -> AnyMechanism:
    module, attribute = reference.split(":")
    found: AnyMechanism = getattr(import_module(module), attribute)
    return found


def _filled(template: str, **values: Any) -> str:
    return _templates().get_template(template).render(values)


@cache
def _templates() -> Environment:
    environment = Environment(  # Markdown, not HTML: nothing to escape but the pictures, which are ours
        loader=FileSystemLoader(HERE / "templates"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["file_name"], environment.filters["title"] = file_name, title
    environment.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    return environment


if __name__ == "__main__":
    attacks = catalogue.attacks()
    shown = {one.mechanism.name for one in crossings(attacks)}
    exact = {one.name for family in FAMILIES for one in exact_members(family)}
    met = crossings(attacks, mechanisms=sorted(shown | exact))
    # Variants of a member differ from it in their side channels alone.
    distinct = [one for one in met if one.attack.channel or not one.mechanism.variant_of]
    write(Path(sys.argv[1]), examine_all(distinct, seed=1, runs=100_000, alpha=0.05))
