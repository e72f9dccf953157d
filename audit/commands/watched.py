"""Runs a task in a child process that this one watches, because the code that it calls may crash, exit or never end."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from subnormal.audit import interrupts
from subnormal.audit.commands.common import Failure
from subnormal.audit.commands.printing import redirect_stdout_to_stderr
from subnormal.audit.targets.child_process import ChildProcess
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.text import given

CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt of the imports prints no traceback
sys.path[:] = {path!r}
from subnormal.audit.commands.watched import child
child()
"""
GRACE = 20.0  # seconds beyond those that a task was given, for its last step
LEAVE = 2.0  # seconds for an interrupted child to end its own children
LONGEST = 1 << 30  # bytes of a message; a result has a page in it

Tell = Callable[[str], None]
Task = Callable[[dict[str, Any], Tell, Callable[[], None]], dict[str, Any]]


class EndedError(Exception):
    """The child has ended without a result, or was ended: how, in words."""


def watched(task: Task, arguments: dict[str, Any], *, seconds: float, tell: Tell) -> dict[str, Any]:
    """Return what task(arguments, tell, ready) returns in a child process, whose standard output is standard error.

    Args:
        task: a function of a module. Arguments can be pickled; what it returns and tells is JSON. It calls ready() when
            everything is imported.
        arguments: of the task.
        seconds: from the start, and again from ready(), after which the child is ended, with all its children, and
            `GRACE` on top.
        tell: called with the messages of the task.

    Raises:
        Failure: the task raised a ClickException.
        EndedError: the child has crashed, has exited, or was ended.
        KeyboardInterrupt: here or in the child.
    """
    child = ChildProcess([sys.executable, "-c", CODE.format(path=sys.path)], keep_stderr=False)
    try:
        child.send(pickle.dumps((task, arguments)).hex().encode() + b"\n")
        return _result(child, seconds, tell)
    except KeyboardInterrupt:
        child.interrupt(LEAVE)
        raise
    finally:
        child.kill()


def _result(child: ChildProcess, seconds: float, tell: Tell) -> dict[str, Any]:
    """Return the result that the child sends."""
    stage, doing, deadline = "", "the imports", time.monotonic() + seconds + GRACE
    while True:
        try:
            message = json.loads(child.receive(LONGEST, deadline - time.monotonic()))
        except TargetError as error:
            if child.process.returncode == interrupts.EXIT_CODE:  # a second interrupt has ended it where it stood
                raise KeyboardInterrupt from None
            late = time.monotonic() >= deadline
            how = f"{doing} did not end within {given(seconds + GRACE)} s" if late else f"it {error}"
            raise EndedError(f"{how}{stage}") from None
        match message:
            case {"result": result}:
                return dict(result)
            case {"raised": "interrupt"}:
                raise KeyboardInterrupt
            case {"raised": "mistake", "text": text}:
                raise Failure(text)
            case {"raised": text}:
                click.echo(text, err=True)
                sys.exit(70)
            case {"told": text}:
                stage = f"; the last stage: {text.partition(';')[0]}" if text else ""
                tell(text)
            case _:
                doing, deadline = "a call", time.monotonic() + seconds + GRACE


def child() -> None:
    """Do the task that standard input names, and send on standard output what it tells and returns, as JSON."""
    interrupts.install_handler()
    task, arguments = pickle.loads(bytes.fromhex(sys.stdin.readline()))
    process, messages = os.getpid(), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def send(**message: Any) -> None:
        if os.getpid() == process:
            try:
                print(json.dumps(message), file=messages, flush=True)
            except BrokenPipeError:  # the parent is gone: nobody asks any more
                os._exit(1)

    with redirect_stdout_to_stderr():
        try:
            send(result=task(arguments, lambda text: send(told=text), lambda: send(ready=True)))
        except click.ClickException as error:
            send(raised="mistake", text=error.format_message())
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent sends another one, to this process's children
            with suppress(OSError):  # it may be gone
                send(raised="interrupt")
        except Exception:
            send(raised=traceback.format_exc())
