"""What a killed audit goes on from: whole files or none, of this audit or refused by name."""

import contextlib
import json
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from filelock import FileLock

from subnormal.audit.__main__ import main
from subnormal.audit.commands import checkpoints
from subnormal.audit.engine import fingerprint
from subnormal.audit.engine.checkpoint import NAME, TEMPORARY, Checkpoint, CheckpointError
from tests.support.clusters import wait_until
from tests.support.processes import SUBNORMAL, ended, run, started

AUDIT = {"version": "1", "seed": 1, "row": [{"attack": "a", "mechanism": "m"}, {"attack": "b", "mechanism": "m"}]}
FAST = ("run", "--attack", "zero-rounding", "--mechanism", "exponential-exact", "--quick", "--jobs", "1")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_counts_come_back_as_they_were_kept(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "not" / "there", AUDIT)
    assert checkpoint.load() == ({}, 0.0)
    checkpoint.save({3: {"pairs": [[1, 2, 3, 4]]}, 0: {"batches": [[0, 7]]}}, 12.5)
    assert checkpoint.load() == ({3: {"pairs": [[1, 2, 3, 4]]}, 0: {"batches": [[0, 7]]}}, 12.5)
    assert os.listdir(checkpoint.folder) == [NAME]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 2}, "is of another audit: seed 1 there, 2 here"),
        ({"version": "2"}, "is of another audit: version 1 there, 2 here"),
        ({"row": AUDIT["row"][:1]}, "is of another audit: row 2 there, 1 here"),  # type: ignore[index]
        (
            {"row": [{"attack": "a", "mechanism": "m"}, {"attack": "c", "mechanism": "m"}]},
            "is of another audit: row 2 attack b there, c here",
        ),
        ({"more": 1}, "is of another audit: more None there, 1 here"),
    ],
)
def test_another_audit_is_refused_by_what_differs(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    Checkpoint(tmp_path, AUDIT).save({0: {}}, 1.0)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(CheckpointError) as refused:
        Checkpoint(tmp_path, AUDIT | change).load()
    assert str(refused.value) == f"{tmp_path / NAME} {message}"
    assert (tmp_path / NAME).read_bytes() == before


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, AUDIT)
    checkpoint.save({0: {"events": [10, 20]}}, 1.0)
    whole = checkpoint.path.read_text()
    for text in ("", "{", "[]", "null", '"x"', "{}", whole[:-3], whole.replace('"rows"', '"sows"'), "\0"):
        checkpoint.path.write_text(text)
        with pytest.raises(CheckpointError, match=r"is no checkpoint, or a damaged one$"):
            checkpoint.load()
    checkpoint.path.write_text(whole.replace("20", "21"))
    with pytest.raises(CheckpointError, match=r"is damaged: its counts are not those that were written$"):
        checkpoint.load()
    checkpoint.path.write_text(whole.replace("checkpoint/1", "checkpoint/2"))
    with pytest.raises(CheckpointError, match=r"has the schema 'subnormal/checkpoint/2', and this version reads"):
        checkpoint.load()
    checkpoint.path.unlink()
    checkpoint.path.mkdir()
    with pytest.raises(CheckpointError, match="Is a directory"):
        checkpoint.load()


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = Checkpoint(tmp_path, AUDIT)
    checkpoint.save({0: {"events": [1, 2]}}, 1.0)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save({0: {"events": [3, 4]}}, 2.0)
    assert checkpoint.load() == ({0: {"events": [1, 2]}}, 1.0)
    assert os.listdir(tmp_path) == [NAME]


def interrupted(folder: Path, *options: str) -> None:
    """Leave the checkpoint of an audit that was killed."""
    command = [*SUBNORMAL, *FAST[:5], "--runs", "200000000", *options, "--out", str(folder)]
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as audit:
        wait_until((folder / NAME).exists, "a checkpoint")
        audit.send_signal(signal.SIGKILL)
        ended(audit)


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("left") / "reports"
    interrupted(folder, "--jobs", "1")
    return folder


def test_a_checkpoint_of_another_audit_is_one_line(left_behind: Path) -> None:
    before = (left_behind / NAME).read_bytes()
    result = call(*FAST[:5], "--runs", "1000", "--jobs", "1", "--resume", "--out", str(left_behind))
    assert result.exit_code == 2
    message = "runs 200000000 there, 1000 here"
    assert result.stderr == f"Error: {left_behind / NAME} is of another audit: {message}\n"
    assert result.stdout == ""
    assert (left_behind / NAME).read_bytes() == before
    assert os.listdir(left_behind) == [NAME]


def test_a_checkpoint_of_another_version_is_one_line(left_behind: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = fingerprint.fingerprint()
    monkeypatch.setattr(fingerprint, "fingerprint", lambda: ours | {"numpy": "2.0.0"})
    result = call(*FAST[:5], "--runs", "200000000", "--jobs", "1", "--resume", "--out", str(left_behind))
    assert result.exit_code == 2
    told = f"is of another audit: environment numpy {ours['numpy']} there, 2.0.0 here"
    assert result.stderr == f"Error: {left_behind / NAME} {told}\n"


def test_without_a_checkpoint_resume_begins(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / TEMPORARY).write_text("half")  # of one killed while it wrote
    result = call(*FAST, "--resume", "--out", str(tmp_path / "new"))
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == f"nothing to resume in {tmp_path / 'new'}: beginning"
    assert sorted(os.listdir(tmp_path / "new")) == ["report.html", "report.json"]


def test_a_long_audit_is_not_thrown_away_unasked(left_behind: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (left_behind / NAME).read_bytes()
    monkeypatch.setattr(checkpoints, "CONFIRM_DISCARD_AFTER", 0.01)
    result = call(*FAST, "--out", str(left_behind))
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "minutes of an unfinished audit: --resume goes on with it" in line
    assert (left_behind / NAME).read_bytes() == before


@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_a_folder_where_the_checkpoint_belongs_is_one_line_before_any_work(
    resume: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / NAME).mkdir()
    result = call(*FAST, *resume, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr == f"Error: {tmp_path / NAME}: Is a directory\n"
    assert os.listdir(tmp_path) == [NAME]


def test_two_audits_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with FileLock(tmp_path / checkpoints.LOCK):
        result = call(*FAST, "--out", str(tmp_path))
        assert os.listdir(tmp_path) == [checkpoints.LOCK]
    assert result.exit_code == 2
    assert result.stderr == f"Error: --out: another audit is at work in {tmp_path}\n"
    assert (tmp_path / checkpoints.LOCK).exists()  # as a killed audit leaves it: held by nobody
    assert call(*FAST, "--out", str(tmp_path)).exit_code == 0
    assert checkpoints.LOCK not in os.listdir(tmp_path)


def test_a_full_disk_is_one_line_and_costs_nothing_that_was_there(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: from it on, writing fails."""
    assert call(*FAST, "--out", str(tmp_path)).exit_code == 0
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    command = [*SUBNORMAL, *FAST, "--seed", "7", "--out", str(tmp_path)]
    failed = run(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000)))
    assert failed.returncode == 2
    assert failed.stderr == f"Error: --out: File too large: {tmp_path}\n"
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_an_interrupted_audit_says_how_to_go_on(tmp_path: Path) -> None:
    command = [*SUBNORMAL, *FAST[:5], "--runs", "300000000", "--jobs", "2", "--out", str(tmp_path)]
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as audit:
        wait_until((tmp_path / NAME).exists, "a checkpoint")
        audit.send_signal(signal.SIGINT)
        _, errors = ended(audit)
    assert audit.returncode == 130
    assert errors.strip() == f"interrupted: --resume goes on from {tmp_path / NAME}"
    assert set(json.loads((tmp_path / NAME).read_text())["rows"]) == {"0"}


@pytest.mark.parametrize("seed", [1, 2])
def test_only_an_audit_with_counts_of_its_own_says_that_resume_goes_on(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interrupt in the first second leaves the checkpoint of whichever audit was there before."""
    options = {"seed": seed, "runs": 1_000, "alpha": 0.05, "until_decided": False}

    def interrupt(options: dict[str, Any], counts: dict[int, Any], *, resume: bool) -> str:
        with (
            contextlib.suppress(KeyboardInterrupt, click.exceptions.Exit),
            checkpoints.open_checkpoint(tmp_path, [], options, resume=resume) as store,
        ):
            store.save(counts)
            raise KeyboardInterrupt
        return capsys.readouterr().err

    goes_on = f"interrupted: --resume goes on from {tmp_path / NAME}\n"
    assert interrupt(options | {"seed": 1}, {0: {}}, resume=False) == goes_on
    assert interrupt(options, {}, resume=seed == 1) == (goes_on if seed == 1 else "")
