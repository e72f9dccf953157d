"""The controls of a notebook: one picture of a law, and sliders that redraw it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import numpy as np
from IPython.display import display
from matplotlib.figure import Figure

NAMES = {"delta": "δ", "epsilon": "ε", "eta": "η", "sigma": "σ"}


class Controls(ipywidgets.VBox):
    """Sliders of a picture. Where no kernel runs, a sentence instead."""

    def __repr__(self) -> str:
        return "(Sliders for this picture appear here when the notebook runs in Jupyter.)"


def explore(draw: Callable[..., Figure], **choices: tuple[Any, Sequence[Any]]) -> Controls:
    """Show draw(name=value, …), and return its sliders for a cell to end in, one for each name.

    choices: by name, the value to begin with and all values in their order. There is one picture: a slider replaces it,
    and its title has the values. Where `draw` raises an error, the error takes the place of the picture.
    """
    sliders = {name: _slider(name, first, values) for name, (first, values) in choices.items()}

    def drawn() -> Figure:
        chosen = {name: slider.value for name, slider in sliders.items()}
        return titled(draw(**chosen), **chosen)

    shown = display(drawn(), display_id=True)

    def redraw(_: object) -> None:
        try:
            shown.update(drawn())
        except Exception as error:  # Jupyter would write it to the log of its server
            shown.update({"text/plain": f"{type(error).__name__}: {error}"}, raw=True)

    for slider in sliders.values():
        slider.observe(redraw, "value")
    return Controls(list(sliders.values()))


def titled(figure: Figure, **values: Any) -> Figure:
    """Return a figure with the values in its title, above the title that it has."""
    title = ", ".join(f"{_name(name)} = {_label(value)}" for name, value in values.items())
    own = figure.get_suptitle()
    figure.suptitle(f"{title}\n{own}" if own else title, fontsize=13, fontweight="bold")
    return figure


def positions(first: Any, values: Sequence[Any]) -> list[Any]:
    """Return the positions of a slider: the values, and the first one where it is not among them."""
    return list(values) if first in values else sorted([first, *values])


def _slider(name: str, first: Any, values: Sequence[Any]) -> ipywidgets.SelectionSlider:
    return ipywidgets.SelectionSlider(
        options=[(_label(value), value) for value in positions(first, values)],
        value=first,
        description=_name(name),
        continuous_update=False,
        style={"description_width": "8em"},
        layout={"width": "40em"},
    )


def _name(name: str) -> str:
    return NAMES.get(name, name.replace("_", " "))


def _label(value: Any) -> str:
    if isinstance(value, type):
        return np.dtype(value).name
    return f"{value:,g}" if isinstance(value, int | float) else str(value)
