"""Certificates of functions, and the checker that replays them and shares no code with what follows functions."""

import ast
import copy
import itertools
import json
import math
import os
import random
import secrets
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from subnormal import Claim
from subnormal.audit import function_certificate
from subnormal.audit.certificate_checker import NotProvedError
from subnormal.audit.function_certificate import Words, check, corners, exp_down, name_of, overlap
from subnormal.audit.laws import certificate as laws_certificate
from subnormal.audit.laws import followed
from subnormal.audit.laws.certificate import NoCertificateError, certificate, of_float
from subnormal.audit.laws.path import NotFollowedError
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from tests.audit.laws import samplers
from tests.audit.laws.short_uniforms import short_uniforms
from tests.support.processes import run

HERE = __name__
UNIFORM = 1 << 53


def respond(answer: int) -> int:
    return answer if random.random() < 0.75 else 1 - answer


def leans(answer: int) -> int:
    return int(random.random() < (0.5 if answer else 1 / 64))


def ends_apart(answer: int) -> int:
    """Return the answer near both ends of the uniform, and what is no answer in its middle."""
    return answer if abs(random.random() - 0.5) > 0.125 else 1 - answer


def noisy(count: int) -> int:
    ratio = math.exp(-0.5)
    return count + samplers.geometric(ratio) - samplers.geometric(ratio)


def laplace(value: float) -> float:
    return value + samplers.textbook_laplace(1.0)


def numpy_laplace(value: float) -> float:
    return value + np.random.laplace()


def rounded(value: int) -> Any:
    return np.rint(np.array([value, 0]) + np.random.default_rng().laplace(scale=0.5, size=2)).clip(0, 1)


def beside(value: float) -> list[float]:
    return [value + random.random(), 1.0]


def chain(_: None) -> tuple[bool, bool]:
    first, second, third = (random.random() for _ in range(3))
    return first < second, second < third


def median(_: None) -> bool:
    return sorted([random.random() for _ in range(3)])[1] < 0.5


def gauss(value: float) -> float:
    return random.gauss(value, 1.0)


def normal(value: int) -> bool:
    return bool(value + np.random.default_rng().normal() > 0)


def written(function: Callable[[Any], Any], one: Any, other: Any, claim: Claim) -> Any:
    options = {} if isinstance(one, float) else {"rest": 1e-4}
    make = of_float if isinstance(one, float) else certificate
    return make(f"{function.__module__}:{function.__name__}", function, one, other, claim, seconds=60.0, **options)


DECIDED: dict[str, tuple[Callable[[Any], Any], Any, Any, Claim, str]] = {
    "a loss above the claim": (respond, 1, 0, Claim(1.0986122886681096), "VIOLATED"),
    "a loss of the claim": (respond, 1, 0, Claim(1.0986122886681098), "HOLDS"),
    "loops": (noisy, 0, 1, Claim(0.4), "VIOLATED"),
    "loops, a δ": (noisy, 0, 1, Claim(0.51, 0.01), "HOLDS"),
    "a threshold of two uniforms": (samplers.algorithm_5, [0, 1], [1, 0], Claim(1.0), "VIOLATED"),
    "a star of uniforms": (samplers.gumbel_argmax, [0, 1, 0], [1, 0, 0], Claim(0.8), "VIOLATED"),
    "a threshold of many, a δ": (samplers.algorithm_1, [0, 1], [1, 0], Claim(1.0, 0.2), "HOLDS"),
    "numpy": (rounded, 0, 1, Claim(1.0), "VIOLATED"),
    "a float of one world": (laplace, 0.0, 1.0, Claim(50.0), "VIOLATED"),
    "a float that numpy hardly returns": (numpy_laplace, 0.0, 1.0, Claim(50.0), "VIOLATED"),
}


@pytest.mark.parametrize("name", DECIDED)
def test_a_verdict_has_a_certificate_that_the_checker_accepts(name: str) -> None:
    function, one, other, claim, verdict = DECIDED[name]
    form = json.loads(json.dumps(written(function, one, other, claim)))
    assert form["verdict"] == verdict
    assert max(len(form["first"]), len(form["second"])) <= 256
    assert check(form, form["function"]).startswith(f"{verdict}: {form['function']} with ")


@pytest.mark.parametrize(
    ("function", "one", "other", "error", "message"),
    [
        (samplers.algorithm_1, [0, 1], [1, 0], NoCertificateError, "do not decide"),  # HOLDS, by bounds alone
        (noisy, 0, 1, NoCertificateError, "do not decide"),  # a rest
        (gauss, 0.0, 1.0, NoCertificateError, "a float of several random numbers"),
        (laplace, 1.0, 1.0, NoCertificateError, "no float was found"),
        (beside, 1.0, 0.5, NoCertificateError, "not a float in a part of one"),
        (normal, 0, 1, NotFollowedError, "ziggurats"),
    ],
)
def test_what_has_no_certificate(function: Any, one: Any, other: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message), patch.object(laws_certificate, "STRIPS", (16,)):
        written(function, one, other, Claim(1.0))


def responses(verdict: str = "VIOLATED", epsilon: str = "1") -> Any:
    """Return a certificate of randomized response by hand."""
    cut = 3 * UNIFORM // 4

    def box(outcome: str, low: int, end: int) -> Any:
        return {"outcome": outcome, "draws": [[hex(UNIFORM), hex(low), hex(end)]]}

    return {
        "function": f"{HERE}:respond",
        "worlds": {"first": "1", "second": "0"},
        "claim": {"epsilon": epsilon, "delta": "0"},
        "verdict": verdict,
        "event": ["1"] if verdict == "VIOLATED" else [],
        "first": [box("1", 0, cut), box("0", cut, UNIFORM)],
        "second": [box("0", 0, cut), box("1", cut, UNIFORM)],
    }


def test_certificates_by_hand() -> None:
    text = check(responses(), f"{HERE}:respond")
    assert text == (
        f"VIOLATED: {HERE}:respond with 1 and 0: P(S) > e^ε·Q(S) + δ with P(S) ≥ 0.75, Q(S) ≤ 0.25, ε = 1, δ = 0"
    )
    text = check(responses("HOLDS", "1.0986122886681098"), f"{HERE}:respond")
    assert text.endswith("for all S, both ways, with ε = 1.0986122886681098, δ = 0")


def _draw(form: Any, box: int = 0, world: str = "first") -> list[str]:
    return form[world][box]["draws"][0]  # type: ignore[no-any-return]


FORGED: dict[str, tuple[Any, str]] = {
    "a wider box": (lambda form: _draw(form).__setitem__(2, hex(3 * UNIFORM // 4 + 1)), "overlap"),
    "a wider box alone": (
        lambda form: (_draw(form).__setitem__(2, hex(3 * UNIFORM // 4 + 1)), form["first"].pop()),
        "0 where its box has 1",
    ),
    "another outcome": (lambda form: form["first"][0].update(outcome="0"), "does not exceed"),
    "another outcome of the second world": (
        lambda form: form["second"][1].update(outcome="0"),
        "1 where its box has 0",
    ),
    "a box twice": (lambda form: form["second"].append(form["second"][0]), "overlap"),
    "an empty box": (lambda form: _draw(form, 1).__setitem__(1, hex(UNIFORM)), "empty"),
    "a range below 0": (lambda form: _draw(form).__setitem__(1, "-0x1"), "beyond its numbers"),
    "a range beyond its end": (lambda form: _draw(form, 1).__setitem__(2, hex(UNIFORM + 1)), "beyond its numbers"),
    "a smaller size": (lambda form: _draw(form).__setitem__(0, hex(3 * UNIFORM // 4)), "overlap"),
    "a smaller size, alone": (
        lambda form: (_draw(form).__setitem__(0, hex(3 * UNIFORM // 4)), form["first"].pop()),
        "draws one of",
    ),
    "a draw more": (
        lambda form: [box["draws"].append(["0x2", "0x0", "0x2"]) for box in form["first"]],
        "draws fewer",
    ),
    "a draw less": (lambda form: form["first"][0].update(draws=[]), "overlap"),
    "a draw less, alone": (lambda form: form.update(first=[{"outcome": "1", "draws": []}]), "draws one of"),
    "a larger ε": (lambda form: form["claim"].update(epsilon="1.1"), "does not exceed"),
    "a larger δ": (lambda form: form["claim"].update(delta="0.1"), "does not exceed"),
    "an ε that no claim has": (lambda form: form["claim"].update(epsilon="-1"), "no claim has"),
    "the verdict": (lambda form: form.update(verdict="HOLDS", event=[]), "leave room"),
    "another event": (lambda form: form["event"].append("0"), "does not exceed"),
    "no event": (lambda form: form["event"].clear(), "does not exceed"),
    "the worlds exchanged": (lambda form: form["worlds"].update(first="0", second="1"), "where its box has"),
    "a world less likely": (lambda form: form["second"].pop(0), "does not exceed"),
    "a side in the event": (lambda form: form["event"].append("< 2"), "not sides"),
    "a side of another outcome": (lambda form: form["second"][0].update(outcome="< 2"), "does not exceed"),
    "a side of an integer": (lambda form: form["second"][0].update(outcome="< 1"), "where its box has < 1"),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_forgeries_are_refused(forgery: str) -> None:
    form = responses()
    forge, message = FORGED[forgery]
    forge(form)
    with pytest.raises(NotProvedError, match=message) as error:
        check(form, f"{HERE}:respond")
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("world", ["first", "second"])
def test_holds_is_refused_where_boxes_or_the_claim_leave_room(world: str) -> None:
    for forge, message in (
        (lambda form: form["claim"].update(epsilon="1.0986122886681096"), "leave room"),
        (lambda form: form[world].pop(), "leave room"),
        (lambda form: form[world][1].update(outcome="< 1"), "not sides"),
        (lambda form: [box.update(outcome="1") for box in form[world]], "leave room"),
    ):
        form = responses("HOLDS", "1.0986122886681098")
        forge(form)
        with pytest.raises(NotProvedError, match=message):
            check(form, f"{HERE}:respond")
    for left, delta in ((1, "1/9007199254740991"), (1, "1/9007199254740993")):  # a number of one world is left, of 2^53
        form = responses("HOLDS", "2") | {"claim": {"epsilon": "2", "delta": delta}}
        _draw(form, 1, world)[2] = hex(UNIFORM - left)
        if delta.endswith("1"):
            assert check(form, f"{HERE}:respond").startswith("HOLDS")
        else:
            with pytest.raises(NotProvedError, match="leave room"):
                check(form, f"{HERE}:respond")


def test_what_the_first_boxes_leave_counts_beside_what_they_exceed() -> None:
    """P(1) = 1/2 exceeds e·Q(1) by .4575, and the boxes of the first world leave 1/8. The other way, no loss."""
    form = responses("HOLDS") | {"function": f"{HERE}:leans", "claim": {"epsilon": "1", "delta": "0.5"}}
    for world, cuts in (("first", (0, UNIFORM // 2, 7 * UNIFORM // 8)), ("second", (0, UNIFORM // 64, UNIFORM))):
        for box, ends, outcome in zip(form[world], itertools.pairwise(cuts), "10", strict=True):
            box.update(outcome=outcome, draws=[[hex(UNIFORM), *map(hex, ends)]])
    with pytest.raises(NotProvedError, match="leave room"):
        check(form, f"{HERE}:leans")
    _draw(form, 1)[2] = hex(UNIFORM)
    assert check(form, f"{HERE}:leans").startswith("HOLDS")


def test_a_side_tells_of_one_outcome() -> None:
    assert function_certificate.is_outside("< 2.0", {"2.0"})
    assert not function_certificate.is_outside("< 2.0", {"2.0", "1.0"})


def test_a_float_is_told_from_both_sides() -> None:
    form = json.loads(json.dumps(written(laplace, 0.0, 1.0, Claim(1.0))))
    sides = [box for box in form["second"] if box["outcome"][0] in "<>"]
    assert {box["outcome"][:2] for box in sides} == {"< ", "> "}
    for box in sides:
        told, box["outcome"] = box["outcome"], box["outcome"].translate({ord("<"): ">", ord(">"): "<"})
        with pytest.raises(NotProvedError, match="where its box has"):
            check(form, f"{HERE}:laplace")
        box["outcome"] = told
    check(form, f"{HERE}:laplace")
    assert not function_certificate.is_named(2.0, "< 2.0")
    assert not function_certificate.is_named(2.0, "> 2.0")
    assert not function_certificate.is_named(math.nan, "> 2.0")


def test_a_file_alone_runs_nothing() -> None:
    for function in ("", "os:getcwd"):
        with pytest.raises(ValueError, match=f"of the function {HERE}:respond"):
            check(responses(), function)
    form = responses() | {"function": f"{HERE}:nothing"}
    with pytest.raises(ValueError, match="cannot be imported"):
        check(form, f"{HERE}:nothing")
    with pytest.raises(ValueError, match="where the form has"):
        check(responses() | {"note": "sound"}, f"{HERE}:respond")


def test_what_corners_do_not_show_is_drawn() -> None:
    box = {"outcome": "1", "draws": [[hex(UNIFORM), "0x0", hex(UNIFORM)]]}
    form = responses() | {"function": f"{HERE}:ends_apart", "first": [box]}
    form["second"] = [dict(box, outcome="0")]
    for drawn, miss in ((4096, False), (0, True)):  # missed with probability (3/4)^4096
        with patch.object(function_certificate, "DRAWN", drawn):
            if miss:
                assert check(form, f"{HERE}:ends_apart").startswith("VIOLATED")
            else:
                with pytest.raises(NotProvedError, match="where its box has"):
                    check(form, f"{HERE}:ends_apart")


@pytest.mark.parametrize("count", range(20))
def test_any_three_numbers_have_all_corners(count: int) -> None:
    tried = list(corners(count))
    if count <= function_certificate.ALL:
        assert sorted(tried) == sorted(itertools.product((False, True), repeat=count))
    assert len(tried) == len(set(tried)) <= max(256, 4 * count)
    for three in itertools.combinations(range(count), min(3, count)):
        assert len({tuple(corner[at] for at in three) for corner in tried}) == 2 ** len(three)


def test_points_are_corners_and_numbers_of_each_box() -> None:
    boxes: Any = [("a", [(10, 2, 5), (4, 1, 2)]), ("b", [(10, 5, 6)])]
    found = list(function_certificate.points(boxes))
    assert found[:4] == [("a", [(10, one), (4, 1)]) for one in (2, 2, 4, 4)]
    assert found[4:6] == [("b", [(10, 5)])] * 2
    assert len(found) == 6 + function_certificate.DRAWN
    assert ("b", [(10, 5)]) in found[6:]
    drawn = {tuple(numbers) for outcome, numbers in found[6:] if outcome == "a"}
    assert drawn == {((10, one), (4, 1)) for one in (2, 3, 4)}  # each is missed with probability < (3/4)^4096


def test_overlaps_are_those_of_all_pairs() -> None:
    drawn, seen = random.Random(1), set()
    for _ in range(3000):
        boxes: Any = []
        for _ in range(drawn.randrange(2, 6)):
            pairs = [sorted(drawn.sample(range(9), 2)) for _ in range(drawn.randrange(1, 4))]
            boxes.append([(4 if drawn.random() < 0.95 else 5, *pair) for pair in pairs])
        expected = any(
            all(
                n != m or not (high <= left or right <= low)
                for (n, low, high), (m, left, right) in zip(*pair, strict=False)
            )
            for pair in itertools.combinations(boxes, 2)
        )
        assert overlap(boxes, 0) == expected, boxes
        seen.add((len(boxes), expected))
    assert len(seen) == 8
    assert overlap([[], [(4, 0, 1)]], 0)
    assert not overlap([[]], 0)


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(382, 10), Fraction(1000)])
def test_the_lower_bound_on_the_exponential_is_one_and_is_near(exponent: Fraction) -> None:
    low, high = exp_bounds(exponent, 512)
    assert high * (1 - Fraction(1, 1 << 230)) <= exp_down(exponent, 256) <= low
    assert all(exp_down(exponent, precision) <= low for precision in range(1, 12))


DRAWS: dict[str, tuple[Callable[[], Any], list[tuple[int, int]], Any]] = {
    "random.random": (lambda: random.random(), [(UNIFORM, 1)], 2.0**-53),
    "random.getrandbits": (lambda: random.getrandbits(3), [(8, 5)], 5),
    "random.randrange": (lambda: random.randrange(2, 12), [(10, 9)], 11),
    "random.Random": (lambda: random.Random(1).randrange(7), [(7, 6)], 6),
    "one number": (lambda: random.randrange(1), [], 0),
    "random.SystemRandom": (lambda: random.SystemRandom().random(), [(UNIFORM, 1 << 52)], 0.5),
    "random.shuffle": (lambda: random.sample([1, 2, 3], 3), [(3, 2), (2, 1), (1 << 0, 0)][:2], [3, 2, 1]),
    "random.randbytes": (lambda: random.randbytes(1), [(256, 7)], b"\7"),
    "secrets": (lambda: (secrets.randbelow(9), secrets.choice("ab")), [(9, 8), (2, 1)], (8, "b")),
    "secrets.randbits": (lambda: secrets.randbits(2), [(4, 3)], 3),
    "os.urandom": (lambda: os.urandom(2), [(65536, 258)], b"\1\2"),
    "numpy.random.random": (lambda: np.random.random(), [(UNIFORM, 3 << 51)], 0.75),
    "default_rng": (lambda: np.random.default_rng(7).random(2).tolist(), [(UNIFORM, 0), (UNIFORM, 1 << 52)], [0, 0.5]),
    "both": (lambda: random.getrandbits(1) + np.random.uniform(2, 4), [(2, 1), (UNIFORM, 1 << 52)], 4.0),
    "numpy, laplace": (lambda: np.random.default_rng().laplace(), [(UNIFORM, 1 << 51)], math.log(0.5)),
    "numpy, words of 64 bits": (
        lambda: int(np.random.default_rng().integers(0, 1 << 64, dtype=np.uint64)),
        [(1 << 64, 5)],
        5,
    ),
    "numpy, words of 32 bits": (lambda: np.random.default_rng().random(dtype=np.float32), [(1 << 32, 1 << 31)], 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_sources_yield_the_given_numbers(name: str) -> None:
    call, numbers, expected = DRAWS[name]
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    words = Words()
    with words.installed():
        for _ in range(2):
            assert words.outcome(lambda _: call(), None, numbers) == (expected, "")
        assert "fewer" in words.outcome(lambda _: call(), None, [*numbers, (2, 0)])[1]
        if numbers:
            assert "draws one of" in words.outcome(lambda _: call(), None, numbers[:-1])[1]
            assert "draws one of" in words.outcome(lambda _: call(), None, [*numbers[:-1], (numbers[-1][0] + 1, 0)])[1]
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]
    assert random.random() != random.random()


def test_a_gaussian_pair_ends_with_its_call() -> None:
    words, numbers = Words(), [(UNIFORM, 1 << 50), (UNIFORM, 1 << 51)]
    with words.installed():
        found = [words.outcome(lambda _: (random.gauss(), random.gauss()), None, numbers) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0][1] == ""


def test_a_loop_that_leaves_its_box_ends() -> None:
    words = Words()
    with words.installed():
        assert words.outcome(lambda _: samplers.geometric(0.99), None, [(UNIFORM, 0)])[1]


def test_outcomes_have_texts_that_tell_them_apart() -> None:
    apart = [1, 1.0, True, "1", b"1", None, (1,), ((1,),), (1, 1), {1}, {1: 1}, 0.0, -0.0, ValueError("1"), KeyError(1)]
    assert len(set(map(name_of, apart))) == len(apart)
    assert name_of([1, (2.5,)]) == name_of(np.array([1, 2])).replace("2", "(2.5)")
    assert name_of({2, 1}) == "{1, 2}"
    assert name_of({"b": 1, "a": [2]}) == name_of({"a": (2,), "b": 1})
    assert name_of(np.float64(0.5)) == "0.5"
    with pytest.raises(NotProvedError, match="an outcome of type object"):
        name_of(object())


def test_an_exception_is_an_outcome() -> None:
    assert name_of(Words().outcome(lambda _: [][0], None, [])[0]) == "raises IndexError('list index out of range')"
    assert isinstance(Words().outcome(lambda _: sys.exit(3), None, [])[0], SystemExit)


SHORT = 16


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (samplers.gumbel_argmax, [0, 1, 0]),
        (samplers.algorithm_1, [0, 1]),
        (samplers.algorithm_5, [1, 0]),
        (chain, None),
        (median, None),
    ],
)
@pytest.mark.parametrize("strips", [2, 5, 64])
def test_all_numbers_of_a_box_have_its_outcome(function: Any, data: Any, strips: int) -> None:
    words = Words()
    with short_uniforms(SHORT, lambda number: (number + 0.5) / SHORT):
        ends = followed.follow(function, data, 60.0, 0.0)[0]
        boxes = laws_certificate._boxes_of(function, data, ends, strips)
    function_certificate.masses(boxes)
    assert sum(map(function_certificate.share, (draws for _, draws in boxes))) > (0.9 if strips == 64 else 0.05)
    with patch.object(Words, "random", lambda own: (own.draw(SHORT) + 0.5) / SHORT), words.installed():
        for outcome, draws in boxes:
            for numbers in itertools.product(*(range(low, end) for _, low, end in draws)):
                found = words.outcome(function, data, [(SHORT, number) for number in numbers])
                assert (name_of(found[0]), found[1]) == (outcome, "")


def test_the_checker_imports_nothing_that_follows_functions_and_is_short() -> None:
    text = Path(function_certificate.__file__).read_text()
    names = {alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert names <= {
        *sys.stdlib_module_names,
        "unittest.mock",
        "collections.abc",
        "subnormal.audit.certificate_checker",
    }
    assert len(text.splitlines()) <= 400


def test_exit_codes(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from random import random\nfrom numpy.random import default_rng\nprint('loud')\nrng = default_rng()\n"
        "def respond(answer):\n    return answer if random() < 0.75 else 1 - answer\n"
        "def other(answer):\n    return answer if rng.random() < 0.75 else 1 - answer\n"
    )
    file = tmp_path / "certificate.json"
    for name, epsilon, code in (("respond", "1", 0), ("other", "1", 0), ("other", "2", 1), ("nothing", "1", 2)):
        form = responses(epsilon=epsilon) | {"function": f"mine:{name}"}
        file.write_text(json.dumps(copy.deepcopy(form)))
        done = run([sys.executable, "-m", function_certificate.__name__, file.name, f"mine:{name}"], cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert len(done.stdout.splitlines()) == (code < 2)
        assert done.stdout.startswith(("VIOLATED: mine", "not proved: ", "")[code])
        assert done.stderr.startswith(("loud", "", "loud\nno certificate: ")[code])
    for arguments in ([], [str(file)], ["nowhere.json", "mine:respond"]):
        assert function_certificate.main(arguments) == 2
