"""The controls of a notebook: one picture of a law, and sliders that redraw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import numpy as np
from IPython.display import display
from matplotlib.figure import Figure

NAMES = {"epsilon": "ε", "eta": "η", "sigma": "σ"}


class Controls(ipywidgets.VBox):
    """Sliders, and the picture that they redraw. Where no kernel runs, a sentence instead."""

    def __repr__(self) -> str:
        return "(Sliders for this picture appear here when the notebook runs in Jupyter.)"


def explore(draw: Callable[..., Figure], **choices: tuple[Any, Sequence[Any]]) -> Controls:
    """Show draw(name=value, …), and return controls for a cell to end in: a slider for each name.

    choices: by name, the value to begin with and all values in their order. The picture under the sliders is empty
    until one of them moves: a page without a kernel shows the first picture alone. Where `draw` raises an error, the
    error takes the place of the picture.
    """
    display(draw(**{name: first for name, (first, _) in choices.items()}))
    sliders = {name: _slider(name, first, values) for name, (first, values) in choices.items()}
    below = ipywidgets.Output()

    def redraw(_: object) -> None:
        with below:
            below.clear_output(wait=True)
            display(draw(**{name: slider.value for name, slider in sliders.items()}))

    for slider in sliders.values():
        slider.observe(redraw, "value")
    return Controls([*sliders.values(), below])


def positions(first: Any, values: Sequence[Any]) -> list[Any]:
    """Return the positions of a slider: the values, and the first one where it is not among them."""
    return list(values) if first in values else sorted([first, *values])


def _slider(name: str, first: Any, values: Sequence[Any]) -> ipywidgets.SelectionSlider:
    return ipywidgets.SelectionSlider(
        options=[(_label(value), value) for value in positions(first, values)],
        value=first,
        description=NAMES.get(name, name.replace("_", " ")),
        continuous_update=False,
        style={"description_width": "8em"},
        layout={"width": "40em"},
    )


def _label(value: Any) -> str:
    if isinstance(value, type):
        return np.dtype(value).name
    return f"{value:,g}" if isinstance(value, int | float) else str(value)
