"""What `audit run` keeps on disk while it counts, and goes on from with --resume."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit.commands.common import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from subnormal.audit.engine.checkpoint import Checkpoint
    from subnormal.audit.engine.pairs import Crossing
    from subnormal.audit.engine.scheduler import Keeping
    from subnormal.audit.model import Report

LOCK = ".audit.lock"  # there while an audit works in the folder
CONFIRM_DISCARD_AFTER = 60.0  # seconds of counting; a fresh audit does not discard more


@contextmanager
def kept(out: Path, met: list[Crossing], options: Mapping[str, Any], *, resume: bool) -> Iterator[Keeping]:
    """Give what an audit keeps its counts with, and those of an earlier run where it is to go on from them.

    A checkpoint of another audit, a long one that nobody asked to go on from, or another audit that is at work in the
    folder, is one line and exit code 2.
    """
    with _alone(out), _kept(out, met, options, resume=resume) as keeping:
        yield keeping


def keep_rows(out: Path, report: Report) -> None:
    """Write the report of the rows that are finished, should the audit not come to its end."""
    from subnormal.audit import interrupts
    from subnormal.audit.report import atomic_write, to_html
    from subnormal.audit.report.folder import files

    try:
        atomic_write.write(out, files(report, to_html.to_html(report)))
        interrupts.left = f"{out / 'report.json'} has the rows that are finished, {len(report.rows)} by now"
    except OSError as error:
        click.echo(f"{out}: {error.strerror}; the audit goes on, and the rows so far are not kept", err=True)


@contextmanager
def _kept(out: Path, met: list[Crossing], options: Mapping[str, Any], *, resume: bool) -> Iterator[Keeping]:
    from subnormal.audit.engine.checkpoint import Checkpoint
    from subnormal.audit.engine.fingerprint import fingerprint
    from subnormal.audit.engine.scheduler import Keeping, identity

    checkpoint = Checkpoint(out, identity(met, **options) | {"environment": fingerprint()})
    stored, before = _stored(checkpoint, met, resume=resume)
    started = time.monotonic()
    complaints: list[OSError] = []
    ours = bool(stored)  # what lies there may be another audit's, which --resume would refuse

    def save(rows: Mapping[int, Any]) -> None:
        nonlocal ours
        if not rows:
            return
        try:
            checkpoint.save(rows, before + time.monotonic() - started)
            ours = True
        except OSError as error:
            if not complaints:
                click.echo(f"{checkpoint.path}: {error.strerror}; the audit goes on without", err=True)
            complaints.append(error)

    try:
        yield Keeping(stored, save)
    except KeyboardInterrupt:
        if complaints or not ours:
            raise
        click.echo(f"interrupted: --resume goes on from {checkpoint.path}", err=True)
        raise click.exceptions.Exit(130) from None
    except Failure as failure:
        if complaints or not ours:
            raise
        raise Failure(f"{failure.message}; --resume goes on from {checkpoint.path}") from None


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Hold the folder: two audits would write over each other's counts, and the first to end would remove them."""
    from filelock import FileLock, Timeout

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
        with suppress(OSError):  # Windows removes it only when nobody has it open
            (out / LOCK).unlink()  # while it is held: who waits for it sees that it is gone, and makes another
        lock.release()


def _stored(checkpoint: Checkpoint, met: list[Crossing], *, resume: bool) -> tuple[dict[int, Any], float]:
    """Return the counts to go on from, and the seconds that they took."""
    from subnormal.audit.engine.checkpoint import CheckpointError

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
    foreign = [f"{one.attack.name}, {one.mechanism.name}" for one in met if not one.mechanism.seeded]
    if stored and foreign:
        click.echo(f"begin anew, because their randomness is their own: {'; '.join(foreign)}", err=True)
    return stored, seconds
