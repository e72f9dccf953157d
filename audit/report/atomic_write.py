"""Atomic writes of a report: all files or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from errno import EISDIR
from pathlib import Path

from subnormal.audit import interrupts

ROOM = 1 << 20  # bytes: about the size of a report


def prepare(folder: Path) -> None:
    """Check that a report can be written into the folder, and that there is room. Raises OSError.

    A folder that does not exist is made by `write`, so that a command that fails or is interrupted leaves none.
    """
    interrupts.check()
    existing = next((one for one in (folder, *folder.parents) if one.exists() or one.is_symlink()), folder)
    try:
        with tempfile.TemporaryFile(dir=existing) as stream:
            stream.write(bytes(ROOM))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None  # not the name of the temporary file


def write(folder: Path, files: Mapping[str, bytes], stale: Iterable[str] = ()) -> None:
    """Write files into the folder, each whole or not at all, after all of them are on the disk.

    The folder is created if necessary. Then remove stale files that were not written. On an error the old files stay in
    place. An interrupt takes effect before the first file appears or after the last. Raises OSError; IsADirectoryError
    if a folder has the name of a file.
    """
    interrupts.check()
    for name in files:
        if (folder / name).is_dir():
            raise IsADirectoryError(EISDIR, "Is a directory", str(folder / name))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as staging:
        for name, content in files.items():
            path = Path(staging, name)
            path.write_bytes(content)
            with path.open("rb+") as handle:
                os.fsync(handle.fileno())
        with interrupts.defer():
            for name in files:
                os.replace(Path(staging, name), folder / name)
            for name in set(stale) - set(files):
                (folder / name).unlink(missing_ok=True)
            interrupts.files_left = f"{folder} is written"
