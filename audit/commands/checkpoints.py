"""The checkpoint of `audit run`: written while it counts, and read by --resume."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from filelock import FileLock, Timeout

from subnormal.audit.commands.common import Failure
from subnormal.audit.engine import fingerprint
from subnormal.audit.engine.checkpoint import Checkpoint, CheckpointError
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.scheduler import CountStore, identity

LOCK = ".audit.lock"  # exists while an audit works in the folder
CONFIRM_DISCARD_AFTER = 60.0  # seconds of counting; a fresh audit does not discard more


@contextmanager
def open_checkpoint(
    out: Path, crossings: list[Crossing], options: Mapping[str, Any], *, resume: bool
) -> Iterator[CountStore]:
    """Yield the store of an audit's counts; with resume, it holds those of the interrupted audit.

    Ends with one line and exit code 2 where the checkpoint is of another audit, or holds long work and resume is not
    set.
    """
    checkpoint = Checkpoint(out, identity(crossings, **options) | {"environment": fingerprint.fingerprint()})
    stored, before = _load(checkpoint, crossings, resume=resume)
    started = time.monotonic()
    errors: list[OSError] = []
    ours = bool(stored)  # else the file may be another audit's, which --resume would refuse

    def save(rows: Mapping[int, Any]) -> None:
        nonlocal ours
        if not rows:
            return
        try:
            checkpoint.save(rows, before + time.monotonic() - started)
            ours = True
        except OSError as error:
            if not errors:
                click.echo(f"{checkpoint.path}: {error.strerror}; the audit goes on without", err=True)
            errors.append(error)

    try:
        yield CountStore(stored, save)
    except KeyboardInterrupt:
        if errors or not ours:
            raise
        click.echo(f"interrupted: --resume goes on from {checkpoint.path}", err=True)
        raise click.exceptions.Exit(130) from None
    except Failure as failure:
        if errors or not ours:
            raise
        raise Failure(f"{failure.message}; --resume goes on from {checkpoint.path}") from None


@contextmanager
def folder_lock(out: Path) -> Iterator[None]:
    """Lock the folder: two audits would overwrite each other's counts, and the first to end would remove them."""
    lock = FileLock(out / LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise Failure(f"--out: another audit is at work in {out}") from None
    except OSError:  # a file system that has no locks
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes only files that are not open
            (out / LOCK).unlink()  # while locked: a process that waits for it finds it gone, and creates another
        lock.release()


def _load(checkpoint: Checkpoint, crossings: list[Crossing], *, resume: bool) -> tuple[dict[int, Any], float]:
    """Return the counts to resume from, and the seconds that they took."""
    if checkpoint.path.is_dir():
        raise Failure(f"{checkpoint.path}: Is a directory")
    if not resume:
        if (seconds := checkpoint.seconds()) >= CONFIRM_DISCARD_AFTER:
            raise Failure(
                f"{checkpoint.path} holds {seconds / 60:.0f} minutes of an unfinished audit: --resume goes on with "
                "it; remove it, or take another --out, to begin anew"
            )
        return {}, 0.0
    try:
        stored, seconds = checkpoint.load()
    except CheckpointError as error:
        raise Failure(str(error)) from None
    if not stored:
        click.echo(f"nothing to resume in {checkpoint.folder}: beginning", err=True)
    foreign = [f"{one.attack.name}, {one.mechanism.name}" for one in crossings if not one.mechanism.seeded]
    if stored and foreign:
        click.echo(f"begin anew, because their randomness is their own: {'; '.join(foreign)}", err=True)
    return stored, seconds
