"""First calls once more: in a process that is forked before the function was called.

A function that keeps its answers (`functools.cache`) draws at the first call of an input, and has one outcome in all of
its runs: in its own process, nothing tells it from a function without noise.
"""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from subnormal.audit.check.function import Function, reseed
from subnormal.audit.check.replay.primitives import drawn_from
from subnormal.mechanisms.core.outcome_identity import identity

SECONDS = 5.0  # for the first calls of two inputs, at most

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """What the first calls of two inputs did. outcomes: their identities. draws: whether the later one drew."""

    outcomes: tuple[Any, Any]
    draws: bool


FirstCallsOf = Callable[[Pair], "FirstCalls | None"]


@contextmanager
def before_any_call(function: Function) -> Iterator[FirstCallsOf]:
    """Yield what makes the first calls of a pair, once, in a process that is forked here.

    It returns None where nothing can be said: no process can be forked, an input or an outcome cannot be pickled, or
    the calls fail there or take long. Nothing is asked of a program: it is one process, whoever calls it.
    """
    is_program = function.name.startswith("cmd:")
    if is_program or "fork" not in multiprocessing.get_all_start_methods() or multiprocessing.current_process().daemon:
        yield lambda pair: None
        return
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_answer, args=(function, here, there), daemon=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, and of JAX: a child that hangs is ended
            child.start()
    except OSError:
        yield lambda pair: None
        return
    there.close()
    try:
        yield partial(_asked, here)
    finally:
        child.kill()
        child.join()
        here.close()


def _asked(here: Connection, pair: Pair) -> FirstCalls | None:
    try:
        here.send(pair)
        answer: FirstCalls | None = here.recv() if here.poll(SECONDS) else None
    except Exception:  # the child has ended; or pickling raised: it calls methods of inputs and outcomes
        return None
    return answer


def _answer(function: Function, here: Connection, there: Connection) -> None:
    """Wait for a pair, and make its first calls.

    The second input goes first: what a function does once, as to import a module, it has done before it is watched.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.showwarning = lambda *warning: None  # the other process shows it, too
    here.close()  # so that this process ends with the other one
    with suppress(Exception):
        data_in, data_out = there.recv()
        reseed("first calls")
        outcomes = [identity(function.outcome(data_out))]
        drawn, is_all = drawn_from(function.function, lambda: outcomes.append(identity(function.outcome(data_in))))
        there.send(FirstCalls((outcomes[1], outcomes[0]), bool(drawn) or not is_all))
