"""What two environments must share: a last bit of a logarithm is enough to tell them apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from subnormal.audit.engine.fingerprint import OPTIONAL, PACKAGES, POINTS, differing, digest, exponentials, fingerprint


def test_a_fingerprint_names_everything_that_rows_depend_on() -> None:
    assert set(PACKAGES + OPTIONAL) < fingerprint().keys()
    assert {"subnormal", "code", "python", "mpfr", "gmp", "system", "simd", "exponentials"} < fingerprint().keys()
    assert all(isinstance(value, str) for value in fingerprint().values())
    assert digest() == digest()


def test_what_differs_is_said_in_words() -> None:
    assert differing(fingerprint(), fingerprint()) == []
    ours = {"numpy": "2.4.6", "opendp": "0.16.0", "simd": "A, B", "exponentials": "1", "code": "1", "scipy": "1"}
    theirs = {"numpy": "2.3.1", "simd": "A", "exponentials": "2", "code": "2", "scipy": "1"}
    assert differing(ours, theirs) == [
        "numpy 2.4.6 here, 2.3.1 there",
        "opendp 0.16.0 here, none there",
        "processor features A, B here, A there",
        "the table of exponentials differs: another processor or math library",
        "the code of subnormal differs: another commit, or an edited file",
    ]


def last_bit(function: Callable[[Any], Any], kind: type[np.floating[Any]], spoils: Callable[[Any], bool]) -> Any:
    """Return the function with the last bit of one value changed, for some of the calls."""

    def spoilt(values: Any) -> Any:
        found = np.array(function(values))
        if found.dtype == kind and spoils(values):
            found.flat[-1] = np.nextafter(found.flat[-1], kind(0))
        return found if values.shape else found[()]

    return spoilt


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, np.float64) for name in ("exp", "log", "log1p", "sin", "cos", "sqrt")),
        *(("exp", kind) for kind in (np.float32, np.float16)),
    ],
)
def test_one_last_bit_anywhere_changes_the_table(
    name: str, kind: type[np.floating[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exponentials.__wrapped__
    found = {made()}
    calls: list[Callable[[Any], bool]] = [
        lambda values: len(np.shape(values)) == 1 and len(values) == POINTS,
        lambda values: np.shape(values) == (7,),
        lambda values: np.shape(values) == (),
    ]
    function = getattr(np, name)
    for spoils in calls:
        monkeypatch.setattr(np, name, last_bit(function, kind, spoils))
        found.add(made())
    assert len(found) == 4


def test_the_table_does_not_depend_on_where_its_arrays_lie() -> None:
    held = []
    for size in range(1, 200, 7):
        held.append(bytearray(size))
        assert exponentials.__wrapped__() == exponentials()
