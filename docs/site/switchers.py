"""What stands in a page of the site for the sliders of a notebook: pictures of all their positions, drawn beforehand.

`python -m docs.site.switchers FOLDER` draws the pictures, one for each position, into a folder for each notebook; with
names of notebooks behind it, of these alone. `switcher` writes the controls, and switcher.js changes the picture.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout, suppress
from html import escape
from importlib import import_module
from itertools import product
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
WIDGETS = "application/vnd.jupyter.widget-state+json"
MOST = 90  # pictures of a notebook
COLOURS = 64  # of a picture, which makes its file a third


class Reached(Exception):  # noqa: N818  # no error: it ends the run
    """The cell with the sliders: what stands below it is not needed."""


def switcher(name: str, metadata: dict[str, Any]) -> str:
    """Return the controls of a notebook as HTML, from the sliders that Jupyter has kept in its metadata.

    They stay hidden without a script. Each changes one number of the picture's file, `pictures/NAME/0-2-1.png`.
    """
    state = metadata["widgets"][WIDGETS]["state"]
    (box,) = [one["state"]["children"] for one in state.values() if one["model_name"] == "VBoxModel"]
    models = [state[child.removeprefix("IPY_MODEL_")] for child in box]
    sliders = [one["state"] for one in models if one["model_name"] == "SelectionSliderModel"]
    return f'<div class="switcher" data-pictures="pictures/{name}/" hidden>{"".join(map(_control, sliders))}</div>'


def draw(name: str, folder: Path) -> int:
    """Draw the pictures of a notebook into folder/NAME, and return their number. ValueError where they are too many.

    The cells above the sliders are run here, as Python.
    """
    found = _explored(NOTEBOOKS / f"{name}.py")
    if (count := prod(len(values) for _, values in found[1])) > MOST:
        raise ValueError(f"the sliders of {name} have {count} positions: more than {MOST} pictures")
    (folder / name).mkdir(parents=True, exist_ok=True)
    for place, picture in _pictures(*found):
        small = picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
        small.save(folder / name / f"{'-'.join(map(str, place))}.png")
    return count


def _control(slider: dict[str, Any]) -> str:
    labels, at, name = slider["_options_labels"], slider["index"], escape(slider["description"])
    return (
        f'<label><span>{name}</span> <input type="range" min="0" max="{len(labels) - 1}" value="{at}" '
        f'data-name="{name}" data-labels="{escape(json.dumps(labels))}"> <output>{escape(labels[at])}</output></label>'
    )


def _explored(source: Path) -> tuple[Callable[..., Any], list[tuple[str, list[Any]]]]:
    """Run a notebook as far as its sliders: what draws, and the positions of each slider by its name."""
    os.chdir(NOTEBOOKS)
    sys.path[:0] = [str(NOTEBOOKS), str(NOTEBOOKS.parent)]
    explore: Any = import_module("explore")
    found: list[tuple[Callable[..., Any], list[tuple[str, list[Any]]]]] = []

    def reached(draw: Callable[..., Any], **choices: tuple[Any, list[Any]]) -> None:
        found.append((draw, [(name, explore.positions(*choice)) for name, choice in choices.items()]))
        raise Reached

    explore.explore = reached
    with redirect_stdout(io.StringIO()), suppress(Reached):
        runpy.run_path(str(source))
    return found[0]


def _pictures(
    draw: Callable[..., Any], sliders: list[tuple[str, list[Any]]]
) -> Iterator[tuple[list[int], Image.Image]]:
    explore: Any = import_module("explore")
    for positions in product(*(enumerate(values) for _, values in sliders)):
        chosen = {name: value for (name, _), (_, value) in zip(sliders, positions, strict=True)}
        canvas: Any = FigureCanvasAgg(explore.titled(draw(**chosen), **chosen))
        canvas.draw()
        yield [place for place, _ in positions], Image.fromarray(np.asarray(canvas.buffer_rgba()))


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    names = sys.argv[2:] or [one.stem for one in sorted(NOTEBOOKS.glob("[0-9]*.py"))]
    context = get_context("forkserver")  # imports what all notebooks do once; no notebook changes anything for another
    context.set_forkserver_preload(["ipywidgets", "subnormal", "subnormal.plots"])
    with ProcessPoolExecutor(mp_context=context, max_tasks_per_child=1) as pool:
        print(sum(pool.map(draw, names, [folder] * len(names))), "pictures of sliders")
