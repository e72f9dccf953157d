"""Runs a task in a child process that this one watches, because the code that it calls may crash, exit or never end."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import click

from subnormal.audit import interrupts
from subnormal.audit.commands.common import Failure
from subnormal.audit.commands.printing import redirect_stdout_to_stderr
from subnormal.audit.text import given

POLL = 0.1  # seconds between two looks at the child
GRACE = 20.0  # seconds beyond those that a task was given, for its last step
INTERRUPTED = 130  # the exit code of a child that a second interrupt has ended where it stood
LEAVE = 2.0  # seconds for an interrupted child to end its own children

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
        tell: called with the task's last message, several times a second.

    Raises:
        Failure: the task raised a ClickException.
        EndedError: the child has crashed, has exited, or was ended.
        KeyboardInterrupt: here or in the child.
    """
    from subnormal.audit.engine.process_pool import main_hidden

    context = get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sending, task, arguments))
    with interrupts.defer(), main_hidden():
        process.start()
        interrupts.GROUPS.add(process.pid or 0)
    sending.close()
    try:
        return _received(receiving, process, seconds, tell)
    except KeyboardInterrupt:
        _signal(process, signal.SIGINT)
        process.join(LEAVE)
        raise
    finally:
        with interrupts.defer():
            _signal(process, signal.SIGKILL)
            process.join()
            interrupts.GROUPS.discard(process.pid or 0)
            receiving.close()


def _received(receiving: Connection, process: Any, seconds: float, tell: Tell) -> dict[str, Any]:
    """Return the result that the child sends."""
    last, doing, deadline = "", "the imports", time.monotonic() + seconds + GRACE
    while True:
        alive = process.is_alive()  # asked before the pipe: what a child sends before its end is read
        message: dict[str, Any] = {}
        if receiving.poll(POLL if alive else 0):
            with suppress(EOFError, OSError):
                message = json.loads(receiving.recv_bytes())
        if "result" in message:
            result: dict[str, Any] = message["result"]
            return result
        if "raised" in message:
            _raise(message)
        if "ready" in message:
            doing, deadline = "a call", time.monotonic() + seconds + GRACE
        last = message.get("told", last)
        stage = f"; the last stage: {last.partition(';')[0]}" if last else ""
        if not message and not alive and process.exitcode == INTERRUPTED:
            raise KeyboardInterrupt
        if not message and not alive:
            raise EndedError(f"it ended the process: {_reason(process.exitcode)}{stage}")
        if time.monotonic() > deadline:
            raise EndedError(f"{doing} did not end within {given(seconds + GRACE)} s{stage}")
        tell(last)


def _raise(message: dict[str, Any]) -> None:
    if message["raised"] == "interrupt":
        raise KeyboardInterrupt
    if message["raised"] == "bug":
        click.echo(message["text"], err=True)
        sys.exit(70)
    raise Failure(message["text"])


def _reason(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {-code} ({signal.strsignal(-code) or 'unknown'})"


def _signal(process: Any, number: signal.Signals) -> None:
    """Send a signal to the child and to all its children, which are in a group of their own."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
    if process.is_alive():
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def _child(sending: Connection, task: Task, arguments: dict[str, Any]) -> None:
    if hasattr(os, "setsid"):
        os.setsid()  # a terminal's Ctrl-C reaches the parent alone, which ends this process and its children
    interrupts.install_handler()
    process = os.getpid()

    def send(**message: Any) -> None:
        if os.getpid() == process:
            try:
                sending.send_bytes(json.dumps(message).encode())
            except BrokenPipeError:  # the parent is gone: nobody asks any more
                sys.exit(1)

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
            send(raised="bug", text=traceback.format_exc())
