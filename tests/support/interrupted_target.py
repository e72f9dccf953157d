"""Functions that are interrupted where a KeyboardInterrupt is lost, or becomes another error."""

import gc
import random
import signal
from contextlib import suppress


def release(data: float) -> float:
    """Return the data with Laplace noise of scale 1."""
    return data + random.expovariate(1.0) - random.expovariate(1.0)


def once(data: float) -> float:
    """Be interrupted."""
    signal.raise_signal(signal.SIGINT)
    return release(data)


def twice(data: float) -> float:
    """Be interrupted again where the first interrupt is not the end."""
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    return release(data)


def in_a_destructor(data: float) -> float:
    """Be interrupted in a destructor, where Python ignores what is raised."""
    Interrupted()
    return release(data)


def in_a_collection(data: float) -> float:
    """Be interrupted in a callback of the garbage collector, where Python ignores what is raised."""
    gc.callbacks.append(_interrupt_once)
    gc.collect()
    return release(data)


def _interrupt_once(phase: str, info: object) -> None:
    gc.callbacks.remove(_interrupt_once)
    signal.raise_signal(signal.SIGINT)


def in_a_class_body(data: float) -> float:
    """Be interrupted in a class body, where Python 3.11 makes a RuntimeError of it."""
    type("Made", (), {"name": Interrupted()})
    return release(data)


def in_source(data: float) -> float:
    """Be interrupted in source that is executed: at its end the interpreter then kills itself with the signal."""
    exec("signal.raise_signal(signal.SIGINT)")
    return release(data)


class Interrupted:
    """Whose end, and whose place in a class, is interrupted once."""

    left = 1

    def __set_name__(self, owner: type, name: str) -> None:
        """Be told of the place in a class."""
        self.__del__()

    def __del__(self) -> None:
        """Be interrupted."""
        Interrupted.left -= 1
        if Interrupted.left >= 0:
            signal.raise_signal(signal.SIGINT)
