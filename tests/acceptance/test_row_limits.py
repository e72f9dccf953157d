"""No row of `run --all` takes more than 2 GB or a minute by itself. All of them: make limits."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks import row_limits
from benchmarks.row_limits import failure
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.dp_sgd.no_number import norm_overflow
from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.attacks.exponential.rounded_addition import rounded_addition_float32
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.engine.pairs import Crossing
from subnormal.mechanisms.core.law import exact_law
from subnormal.mechanisms.families import member


@pytest.mark.parametrize("attack", [rounded_addition_float32(), gumbel_ties()], ids=lambda attack: attack.name)
def test_gumbel_noise_keeps_the_limits_with_millions_of_outcomes(attack: AnyAttack) -> None:
    assert failure(Crossing(attack, member("noisy-max-naive-float32"))) is None


@pytest.mark.parametrize(
    ("attack", "mechanism"),
    [
        (zero_rounding(), "exponential-naive-float16"),  # refuses in both worlds
        (zero_rounding(), "exponential-naive-float32"),
        (norm_overflow(), "dp-sgd-float16"),  # every sum is no number
    ],
)
def test_a_row_that_tells_nothing_is_no_error(attack: AnyAttack, mechanism: str) -> None:
    assert failure(Crossing(attack, member(mechanism))) is None


def test_what_takes_too_much_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_law(law: Any) -> Crossing:
        return Crossing(zero_rounding(), replace(member("exponential-exact"), law=law))

    def endless(data: Any, parameters: Any) -> Any:
        while True:
            pass

    def large(data: Any, parameters: Any) -> Any:
        return exact_law(range(1), [1], [int(np.zeros(3 << 30, dtype=np.uint8)[0])], 1)

    monkeypatch.setattr(row_limits, "SECONDS", 1)
    assert failure(with_law(endless)) == "it was ended after 1 s of a processor"
    assert "MemoryError" in (failure(with_law(large)) or "")
