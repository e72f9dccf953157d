"""What the atoms of independent keys leave open is left open by all of them together."""

from fractions import Fraction
from typing import Any

import pytest

from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.product_law import Product


def leaving(rest: int) -> Law[Any]:
    """A law of one value with `rest` quarters outside its atom."""
    return Law(["a"], [1], weights := [4 - rest], weights, 4, Fraction(rest, 4))


@pytest.mark.parametrize(("first", "second"), [(1, 1), (0, 1), (1, 0), (2, 1), (0, 0)])
def test_the_rest_is_all_but_what_no_key_leaves(first: int, second: int) -> None:
    law = Product({"x": leaving(first), "y": leaving(second)}).on(["x", "y"])
    assert law.probability((("x", "a"), ("y", "a")))[0] == 1 - law.rest == Fraction((4 - first) * (4 - second), 16)


def test_of_two_laws_that_leave_something_open_nobody_can_tell_that_they_are_equal() -> None:
    known, left = exact_law(["a", None], [1, 2], [1, 3], 4), leaving(1)
    one, other = Product({"x": known, "y": left}), Product({"x": exact_law(["a", None], [1, 2], [1, 3], 4), "y": left})
    assert one.differing(other) == []
    assert one.differing(Product({"x": known, "y": leaving(1)})) == ["y"]
