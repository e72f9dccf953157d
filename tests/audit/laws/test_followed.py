"""The laws of unmodified functions: known numbers, what is an outcome, and what is refused instead of guessed."""

import math
import random
import secrets
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from subnormal.audit.laws import followed, forest
from subnormal.audit.laws.draws import joined
from subnormal.audit.laws.draws.sources import replaced
from subnormal.audit.laws.followed import Walk, follow, law, numbers_along
from subnormal.audit.laws.path import NotFollowedError
from subnormal.mechanisms.core.mechanism import Refused
from tests.audit.laws import samplers
from tests.audit.laws.short_uniforms import short_uniforms

WORDS = 1 << 53


def bounds(function: Callable[[Any], Any], data: Any = None, **options: Any) -> dict[Any, tuple[Fraction, Fraction]]:
    found = law(function, data, **options).law
    return {atom: found.probability(atom) for atom in found.atoms}


def exactly(**shares: Fraction) -> dict[str, tuple[Fraction, Fraction]]:
    return {name: (share, share) for name, share in shares.items()}


def test_a_comparison_splits_the_interval_at_the_exact_number() -> None:
    answered = bounds(lambda data: "true" if random.random() < 0.1 else "false")
    below = Fraction(math.ceil(Fraction(0.1) * WORDS), WORDS)  # the numbers k with k·2^-53 < 0.1
    assert answered == exactly(true=below, false=1 - below)


@pytest.mark.parametrize(("compare", "count"), [("<", 1 << 52), ("<=", (1 << 52) + 1), (">", (1 << 52) - 1)])
def test_strict_comparisons_are_told_apart_by_one_number(compare: str, count: int) -> None:
    function = eval(f"lambda data: random.random() {compare} 0.5", {"random": random})
    assert bounds(function)[True] == (Fraction(count, WORDS),) * 2


def test_equality_is_one_number() -> None:
    assert bounds(lambda data: random.random() == 0.25)[True] == (Fraction(1, WORDS),) * 2


@pytest.mark.parametrize(
    ("function", "outcomes"),
    [
        (lambda data: random.randrange(3), 3),
        (lambda data: random.randint(-2, 2), 5),
        (lambda data: random.choice("abcd"), 4),
        (lambda data: random.getrandbits(3), 8),
        (lambda data: tuple(random.sample(range(5), 2)), 20),
        (lambda data: random.shuffle(data) or tuple(data), 6),
        (lambda data: secrets.randbelow(7), 7),
        (lambda data: secrets.choice([1, 2]), 2),
        (lambda data: random.SystemRandom().randrange(6), 6),
        (lambda data: random.Random().randrange(9), 9),
    ],
)
def test_uniform_choices_have_equal_outcomes(function: Callable[[Any], Any], outcomes: int) -> None:
    found = bounds(function, [1, 2, 3])
    assert len(found) == outcomes
    assert set(found.values()) == {(Fraction(1, outcomes),) * 2}


def test_weighted_choices_count_the_numbers_of_each() -> None:
    found = bounds(lambda data: random.choices("ab", weights=[1, 3])[0])
    assert found == exactly(a=Fraction(1, 4), b=Fraction(3, 4))


def test_a_loop_without_end_leaves_a_rest() -> None:
    with patch.object(joined, "loop", return_value=None):
        found = law(lambda data: samplers.geometric(0.5), None, rest=1e-4)
    assert not found.complete
    assert found.probability(3) == (Fraction(1, 16), Fraction(1, 16) + found.rest)
    assert 0 < found.rest <= Fraction(1, 1 << 60)
    assert sum(low for low, _ in map(found.law.probability, found.law.atoms)) == 1 - found.rest


def test_a_difference_of_geometric_numbers_has_its_law() -> None:
    ratio = math.exp(-0.5)
    found = law(lambda data: samplers.geometric(ratio) - samplers.geometric(ratio), None, rest=1e-4)
    for value in range(-6, 7):
        low, high = found.probability(value)
        assert low - Fraction(1, 10**9) <= (1 - ratio) / (1 + ratio) * ratio ** abs(value) <= high + Fraction(1, 10**9)


def test_rounded_laplace_noise_has_its_law_and_no_rest() -> None:
    found = law(lambda data: round(samplers.textbook_laplace(1.0)), None)
    low, high = found.probability(2)
    assert found.complete
    assert low == high
    assert float(low) == pytest.approx((math.exp(-1.5) - math.exp(-2.5)) / 2, rel=1e-12)


def test_an_exception_is_an_outcome() -> None:
    found = bounds(lambda data: 1 // 0 if random.random() < 0.25 else "fine")
    with pytest.raises(ZeroDivisionError) as error:
        _ = 1 // 0  # its words change by version of Python
    assert found[Refused(f"ZeroDivisionError: {error.value}")] == (Fraction(1, 4),) * 2


def test_the_number_that_a_logarithm_refuses_is_told_apart() -> None:
    found = bounds(lambda data: math.log(random.random()) < -1.0)
    with pytest.raises(ValueError, match=r"math|positive") as error:
        math.log(0.0)
    assert found[Refused(f"ValueError: {error.value}")] == (Fraction(1, WORDS),) * 2


def test_digits_of_text_are_steps() -> None:
    found = bounds(lambda data: f"{random.random():.1f}")
    assert len(found) == 11
    assert sum(low for low, _ in found.values()) == 1
    low, high = found["0.0"]
    assert low == high == Fraction(math.ceil(Fraction(0.05) * WORDS), WORDS)


@pytest.mark.parametrize(
    ("function", "truth"),
    [
        (lambda data: round(random.gauss(0.0, 1.0)) == 0, math.erf(0.5 / math.sqrt(2))),
        (lambda data: round(random.expovariate(1) - random.expovariate(1)) == 0, 1 - math.exp(-0.5)),
        (lambda data: random.random() + random.random() < 0.5, 1 / 8),
        (lambda data: random.random() * random.random() < 0.5, (1 + math.log(2)) / 2),
        (lambda data: random.random() / (1 - random.random()) > 2, 1 / 4),
        (lambda data: max(random.random(), random.random()) < random.random(), 1 / 3),
        (lambda data: sorted([random.random(), random.random()])[0] < 0.25, 7 / 16),
    ],
)
def test_several_uniforms_have_bounds_around_the_truth(function: Callable[[Any], Any], truth: float) -> None:
    found = law(function, None, seconds=120.0, width=0.01)
    low, high = found.probability(True)
    assert low - Fraction(1, 10**12) <= truth <= high + Fraction(1, 10**12)
    assert high - low < 0.01


@pytest.mark.parametrize(
    ("compare", "expected"),
    [
        (lambda a, b: (a < b, b < a), {(True, False): 6, (False, True): 6, (False, False): 4}),
        (lambda a, b: (a < b, a <= b), {(True, True): 6, (False, True): 4, (False, False): 6}),
        (lambda a, b: (a <= b, b <= a), {(True, False): 6, (False, True): 6, (True, True): 4}),
    ],
)
def test_comparisons_of_equal_kinds_are_told_apart(compare: Any, expected: dict[tuple[bool, bool], int]) -> None:
    found = bounds(lambda data: compare(random.randrange(4), random.randrange(4)))
    assert found.keys() == expected.keys()
    for outcome, (low, high) in found.items():
        assert low <= Fraction(expected[outcome], 16) <= high <= low + Fraction(1, 10**12)


def test_a_noisy_maximum_has_the_exponential_mechanism() -> None:
    found = law(samplers.gumbel_argmax, [0, 1, 2], seconds=120.0, width=0.004)
    for score in range(3):
        low, high = found.probability(score)
        assert low <= math.exp(score) / (1 + math.e + math.exp(2)) <= high
        assert high - low < 0.004


def test_a_number_of_no_sign_is_split_before_it_is_multiplied() -> None:
    found = law(lambda data: (random.random() - 0.5) ** 2 < 0.01, None)
    assert float(found.probability(True)[0]) == pytest.approx(0.2, abs=1e-12)


def test_modulus_and_quotient_are_steps() -> None:
    found = law(lambda data: (int(10 * random.random()) % 3, (7 * random.random()) % 1.0 < 0.5), None)
    assert found.complete
    assert float(sum(found.probability((0, answer))[0] for answer in (True, False))) == pytest.approx(0.4, abs=1e-12)


def test_nothing_is_above_or_below_nan() -> None:
    def compares(data: object) -> tuple[bool, ...]:
        u = random.random()
        return u < math.nan, u <= math.nan, u > math.nan, u >= math.nan, u + math.nan < 1, u == math.nan

    assert bounds(compares, None) == {(False,) * 6: (Fraction(1),) * 2}


def test_digits_of_numpy_are_not_those_of_python() -> None:
    def rounded(data: object) -> bool:
        return bool(round(np.array([random.random()])[0], 1) < random.random())

    with short_uniforms(20):
        low, high = law(rounded, None).probability(True)
    count = sum(bool(round(np.float64(k / 20), 1) < m / 20) for k in range(20) for m in range(20))
    assert low <= Fraction(count, 400) <= high
    assert high - low < 1e-6


BITS, HIDDEN = np.random.PCG64(1), [np.random.RandomState(1)]
NOT_FOLLOWED: dict[str, Callable[[Any], Any]] = {
    "an unrounded float": lambda data: random.random(),
    "float()": lambda data: float(random.random()) < 0.5,
    "a generator behind another name": lambda data: int(HIDDEN[0].laplace() > 0),
    "another generator beside random": lambda data: (random.random() < 0.5, bool(BITS.random_raw() == 0)),
    "a type that is asked for": lambda data: type(random.random()) is float,
    "many bytes": lambda data: secrets.token_bytes(16),
    "another program": lambda data: subprocess.run([sys.executable, "-c", ""]).returncode,
    "a seed": lambda data: random.seed(1) or random.random() < 0.5,
    "a product of numbers of no sign": lambda data: (random.random() + random.random() - 1) * random.random() < 0.1,
    "hexadecimal digits": lambda data: random.random().hex(),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_cannot_be_followed_is_refused_and_never_guessed(name: str) -> None:
    with pytest.raises(NotFollowedError, match="not followed"):
        law(NOT_FOLLOWED[name], None)


def test_a_refusal_names_the_line_of_the_user() -> None:
    with pytest.raises(NotFollowedError, match=r"test_followed\.py:\d+: the code needs all digits"):
        law(NOT_FOLLOWED["float()"], None)


def test_a_refusal_that_the_function_catches_is_still_one() -> None:
    def careful(data: object) -> bool:
        try:
            return float(random.random()) < 0.5
        except BaseException:
            return False

    with pytest.raises(NotFollowedError):
        law(careful, None)


def test_a_function_that_keeps_a_state_is_refused() -> None:
    calls: list[int] = []

    def counting(data: object) -> int:
        calls.append(1)
        return len(calls) + (random.random() < 0.5)

    with pytest.raises(NotFollowedError, match="keeps a state"):
        law(counting, None)


def test_a_function_that_keeps_its_random_numbers_is_refused() -> None:
    kept: list[float] = []

    def remembers(data: object) -> bool:
        kept.append(random.random())
        return kept[0] < 0.5

    with pytest.raises(NotFollowedError, match="not followed"):
        law(remembers, None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_another_thread_is_refused() -> None:
    def threaded(data: object) -> bool:
        drawn: list[bool] = []
        thread = threading.Thread(target=lambda: drawn.append(random.random() < 0.5))
        thread.start()
        thread.join()
        return drawn[0]

    with pytest.raises(NotFollowedError):
        law(threaded, None)


def test_everything_is_restored() -> None:
    before = (random.random, random.getrandbits, math.log, math.floor, random.Random.random, random.Random.getrandbits)
    state = random.getstate()
    law(lambda data: round(random.gauss(0, 1)), None, width=1.0)
    after = (random.random, random.getrandbits, math.log, math.floor, random.Random.random, random.Random.getrandbits)
    assert after == before
    assert random.getstate() == state
    assert isinstance(random.random(), float)
    assert "gauss_next" not in vars(random.Random)


def test_the_second_number_of_a_gaussian_pair_is_kept_within_a_call() -> None:
    found = law(lambda data: (random.gauss(0, 1) < 0, random.gauss(0, 1) < 0), None, width=1e-4)
    for pair in ((True, True), (True, False)):
        low, high = found.probability(pair)
        assert low <= Fraction(1, 4) + Fraction(1, 1 << 50)
        assert high >= Fraction(1, 4) - Fraction(1, 1 << 50)
        assert high - low < 1e-4


def test_each_call_gets_a_copy_of_the_data() -> None:
    def consuming(data: list[int]) -> int:
        return data.pop() if random.random() < 0.5 else len(data)

    assert bounds(consuming, [5, 6]) == {6: (Fraction(1, 2),) * 2, 2: (Fraction(1, 2),) * 2}


def test_names_that_a_module_imported_are_followed() -> None:
    names: dict[str, Any] = {"__name__": "elsewhere"}
    exec("from random import random\nfrom math import log\ndef f(data): return log(1 - random()) < -1", names)
    module = type(sys)("elsewhere")
    vars(module).update(names)
    sys.modules["elsewhere"] = module
    try:
        exec("def f(data): return log(1 - random()) < -1", vars(module))
        found = law(module.f, None)
    finally:
        del sys.modules["elsewhere"]
    assert float(found.probability(True)[0]) == pytest.approx(math.exp(-1), rel=1e-12)


def test_first_bounds_end_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of one path may take long, and there may be thousands of paths: what is left over has wide bounds."""
    narrow, calls = forest.bounds, list[int]()

    def slow(*given: Any) -> forest.Bounds:
        calls.append(1)  # which alone moves the clock on
        return narrow(*given)

    exact = law(samplers.algorithm_4, [0] * 6, seconds=30.0)
    monkeypatch.setattr(forest, "bounds", slow)
    monkeypatch.setattr(time, "monotonic", lambda: 0.05 * len(calls))
    hurried = law(samplers.algorithm_4, [0] * 6, seconds=0.5)
    assert 1 <= len(calls) <= 11 < hurried.paths
    for outcome in exact.law.atoms:
        (low, high), (wide_low, wide_high) = exact.law.probability(outcome), hurried.law.probability(outcome)
        assert wide_low <= high
        assert low <= wide_high


def test_a_loop_without_end_and_without_draws_ends_with_the_time() -> None:
    def searched(data: object) -> int:
        u, total, count = random.random(), 0.5, 1
        while u > total:
            total += 0.5**count / 4  # up to 3/4
            count += 1
        return count

    found = law(searched, None, seconds=1.0)
    assert Fraction(1, 4) <= found.rest <= Fraction(1, 2)
    assert found.probability(1)[0] == Fraction(2**52 + 1, 2**53)


def test_seconds_must_be_positive() -> None:
    with pytest.raises(ValueError, match="seconds must be positive"):
        law(lambda data: 1, None, seconds=0)


def test_many_outcomes_that_may_be_impossible_are_one_line() -> None:
    def rounded(x: int) -> int:
        return round(x + random.expovariate(1) - random.expovariate(1))

    lines = str(law(rounded, 0, seconds=5.0, width=0.1)).splitlines()
    assert lines[0].startswith("0: 0.3")
    assert lines[-2].endswith(" each")
    shown = [line for line in lines[:-2] if ": 0 to" in line]
    assert shown == []
    assert int(lines[-2].split()[0]) > 8


def positives(queries: list[float]) -> tuple[bool, ...]:
    threshold = random.expovariate(1)
    return tuple(query + random.expovariate(1) >= threshold for query in queries)


def test_numbers_are_found_along_paths_with_many_constraints() -> None:
    ends, _, _ = follow(positives, [0.0] * 10, 30.0, 2.0**-40, most=64)
    assert len(ends) == 64
    assert max(len(end.path.constraints) for end in ends) == 10
    for end in ends:
        numbers = numbers_along(end.path)
        assert numbers is not None
        assert all(low <= number < high for number, (low, high) in zip(numbers, end.path.boxes, strict=True))
        assert all(one.test(dict(enumerate(numbers))) for one in end.path.constraints)


def test_numbers_are_found_along_unlikely_paths() -> None:
    ends, _, _ = follow(positives, [9.0, -9.0, 9.0, -9.0], 30.0, 2.0**-40)
    found = [numbers_along(end.path, attempt) for end in ends for attempt in range(16)]
    assert len(ends) == 16
    assert None not in found


@pytest.mark.parametrize("shift", [-0.9, 0.9])
def test_the_likelier_answer_to_a_comparison_is_followed_first(shift: float) -> None:
    (end,), _, _ = follow(lambda _: random.random() < random.random() + shift, None, 30.0, 0.0, most=1)
    assert end.outcome is (shift > 0)


def test_all_walks_of_an_input_together_are_repeated_with_plain_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    repeated, repeat = Counter[float](), followed._repeat

    def counted(source: Any, end: Any, function: Any, data: Any, attempt: int) -> None:
        repeated[data[0]] += 1
        repeat(source, end, function, data, attempt)

    monkeypatch.setattr(followed, "_repeat", counted)
    inputs = ([0.0], [1.0])
    with replaced(positives) as source:
        for data in (inputs[0], inputs[0], inputs[1]):
            Walk(positives, data, 0.0).follow(source, 30.0)
    assert repeated == {0.0: 64 + 32 + 21 + 16, 1.0: 64 + 32}  # two paths of each walk


def test_a_walk_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "MANY", 1)

    def geometric(_: object) -> int:
        count = 0
        while random.random() < 0.5:
            count += 1
        return count

    walk = Walk(geometric, None, 2.0**-30, most=3)
    with replaced(geometric) as source:
        walk.go_on(source, 30.0)
        assert (len(walk.law().law.atoms), walk.law().rest) == (3, Fraction(1, 8))
        walk.most = math.inf
        walk.go_on(source, 30.0)
    whole = law(geometric, None, rest=2.0**-30)
    assert walk.law().rest == whole.rest
    assert [walk.law().probability(count) for count in range(30)] == [whole.probability(count) for count in range(30)]


def test_bounds_that_time_does_not_allow_are_not_narrowed_further_before() -> None:
    walk = Walk(positives, [0.0] * 3, 2.0**-40)
    with replaced(positives) as source:
        walk.follow(source, 30.0)
        walk.outcomes = [(end, (Fraction(0), Fraction(1)), 0) for end in walk.ends]
        walk.go_on(source, -1.0)  # no time: not even for strips that are not the finest
        strips = walk.strips
        walk.go_on(source, 30.0)
        assert walk.strips == strips
        assert walk.width < 0.1
        walk.go_on(source, 30.0)
    assert walk.strips > strips


@pytest.mark.parametrize(
    ("draw", "read"),
    [(lambda: random.random(), lambda u: int(8 * u)), (lambda: random.randrange(8), str)],
    ids=["steps", "point"],
)
def test_a_number_of_another_call_is_not_followed_although_one_value_is_left(
    draw: Callable[[], Any], read: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []

    def first_of_all(_: None) -> Any:
        kept.append(draw())
        return read(kept[0])

    monkeypatch.setattr(followed, "_repeat", lambda *_: None)
    with pytest.raises(NotFollowedError, match="keeps a random number of another call"):
        law(first_of_all, None)
