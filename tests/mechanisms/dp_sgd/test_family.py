"""DP-SGD: the exact member's claim against the loss of every pair of a small domain, what is adjacent, bad input."""

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal.audit.evidence import exact
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.dp_sgd.exact import EXACT
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, adjacent
from subnormal.mechanisms.privacy import Zcdp
from tests.mechanisms.dp_sgd import test_naive, test_steps
from tests.support.family_cases import FamilyCases
from tests.support.walks import law_of

EMPTY = np.zeros((0, 1)), np.zeros((0, 1))
PARAMETERS = DpSgdParameters(multiplier=1.0)


def test_no_loss_of_a_small_domain_is_above_the_claims() -> None:
    """All datasets of at most 3 records on a grid of 5 gradients and their neighbours, 2 steps: certified bounds.

    A record of zeros adds nothing, so replaced by zeros and removed are the same pair of laws. So are a dataset and
    its mirror image. Both claims are tried: the composed zCDP, and the amplified one at several δ.
    """
    grid = (-2.0, -1.0, 0.0, 1.0, 2.0)
    laws: dict[tuple[float, ...], Law[Any]] = {}
    parameters = DpSgdParameters(multiplier=0.5, clip=2.0, rate=0.5, steps=2, grid=0)
    for size in range(4):
        for records in combinations_with_replacement(grid, size):
            data = np.array(records, dtype=np.float64).reshape(-1, 1)
            laws[records] = law_of(EXACT, data, parameters)
    pairs = {
        tuple(sorted((records, records[:at] + records[at + 1 :])))
        for records in laws
        for at, record in enumerate(records)
        if record != 0
    }
    assert len(pairs) > 80
    claims = [EXACT.claim(replace(parameters, delta=delta), *EMPTY) for delta in (0.3, 1e-2, 1e-5)]
    zcdp = Zcdp(2 / (2 * 0.5**2))
    epsilons = (0.0, 1.0, 3.0, 6.0, 12.0)
    allowed = [zcdp.delta(epsilon) for epsilon in epsilons] + [claim.delta for claim in claims]
    points = [*epsilons, *(claim.epsilon for claim in claims)]
    largest = np.zeros(len(points))
    for one, other in pairs:
        largest = np.maximum(largest, exact.curve(laws[one], laws[other], points)[1])
    assert (largest <= allowed).all()
    assert (largest >= 1e-2 * np.array(allowed)).all()  # the claims say something


@pytest.mark.parametrize(
    ("data_in", "data_out", "expected"),
    [
        ([[1.0, 2.0]], [], True),
        ([], [[1.0, 2.0]], True),
        ([[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0]], True),
        ([[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [0.0, 0.0]], True),
        ([[0.0, -0.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]], True),
        ([[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]], True),
        ([[1.0, 2.0]], [[3.0, 4.0]], False),
        ([[1.0, 2.0], [3.0, 4.0]], [], False),
        ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0]], False),
    ],
)
def test_adjacent_data_have_one_record_more_or_zeros_in_its_place(
    data_in: list[list[float]], data_out: list[list[float]], expected: bool
) -> None:
    worlds = [np.array(rows, dtype=np.float64).reshape(-1, 2) for rows in (data_in, data_out)]
    assert adjacent(PARAMETERS, worlds[0], worlds[1]) is expected


def test_gradients_of_another_length_are_not_adjacent() -> None:
    assert not adjacent(PARAMETERS, np.zeros((1, 2)), np.zeros((1, 3)))


ROWS = st.lists(st.lists(st.integers(-1, 1), min_size=2, max_size=2), min_size=1, max_size=3)
CASES = {
    "dp-sgd": FamilyCases(
        laws={
            **dict.fromkeys(test_steps.NAMES, test_steps.check_law),
            **dict.fromkeys(test_naive.NAMES, test_naive.check_law),
        },
        bounds=lambda parameters, data: {
            "few gradients": data.size <= 256,
            "all finite": bool(np.isfinite(data).all()),
        },
        parameters=PARAMETERS,
        data=None,
        noiseless=lambda data: tuple(data.sum(axis=0)),
        relation=ROWS.map(
            lambda rows: tuple(np.array(some, dtype=np.float64).reshape(-1, 2) for some in (rows, rows[1:]))
        ),  # a record less
    )
}
