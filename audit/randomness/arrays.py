"""What primitives draw, as arrays of numpy, and back in the type that they draw: numbers, arrays and tensors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_OWN = ("subnormal.audit.check", "subnormal.audit.randomness", "subnormal.audit.training", "unittest.", "functools")
NOT_THE_USERS = (*_OWN, "torch.", "jax.", "opendp.", "pydp.")  # modules whose lines are not the user's


def is_tensor(one: Any) -> bool:
    """Return whether this is a tensor of torch. Nothing is imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(one, torch.Tensor)


def as_numpy(made: Any) -> NDArray[Any]:
    """Return the numbers of a tensor or an array, in their shape, in memory of their own. Floats of torch are wider."""
    if is_tensor(made):
        made = made.detach().cpu()
        made = (made.double() if made.is_floating_point() else made).numpy()
    return np.array(made)


def with_values(made: Any, values: NDArray[Any]) -> Any:
    """Return a result of a primitive that holds these numbers, flat or in its shape. It is the same object where it
    can be written: a tensor that draws in place is held by the function already."""
    if is_tensor(made):
        torch = sys.modules["torch"]
        with torch.no_grad():
            made.copy_(torch.as_tensor(values).reshape(made.shape))
        return made
    numbers = np.rint(values) if np.asarray(made).dtype.kind in "iu" else values
    if isinstance(made, np.ndarray):
        made[...] = numbers.reshape(made.shape)
        return made
    if hasattr(made, "at"):  # an array of jax
        return sys.modules["jax"].numpy.asarray(numbers.reshape(made.shape), dtype=made.dtype)
    return type(made)(numbers.ravel()[0].item())


def is_traced(made: Any) -> bool:
    """Return whether this has no value: jax is compiling what drew it."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(made, jax.core.Tracer)


def site() -> str:
    """Return the file and the line of the nearest frame that is neither this project's nor a library's own."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(NOT_THE_USERS):
        frame = frame.f_back
    return "unknown" if frame is None else f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
