"""Notebooks run by Jupyter, one after the other in one kernel: to start it and to import there costs more than most."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient
from nbclient.util import run_sync


def cell_of(source: str) -> Any:
    return jupytext.reads(f"# %%\n{source}", "py:percent").cells[0]


@contextmanager
def kernel_of_many() -> Iterator[Any]:
    """Give a kernel for several notebooks, which is not started yet."""
    manager: Any = NotebookClient(jupytext.reads("", "py:percent"), kernel_name="python3").create_kernel_manager()
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


def execute(notebook: Any, kernel: Any, folder: Path) -> list[Any]:
    """Run a notebook in a folder, from a fresh namespace, and return its code cells with their outputs."""
    notebook.cells.insert(0, cell_of("%reset -f"))  # whatever the notebooks before have named
    client: Any = NotebookClient(notebook, km=kernel, timeout=300, resources={"metadata": {"path": str(folder)}})
    # A picture under sliders is an output of its cell here. The client would send it to the kernel, by the socket on
    # which it waits, and then often sleep through the cell's end until the timeout.
    client.widget_registry = {}
    try:
        client.execute()
    finally:
        client.kc.stop_channels()
    return [cell for cell in notebook.cells[1:] if cell.cell_type == "code"]
