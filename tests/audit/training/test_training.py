"""A correct loop passes, each pitfall names its stage, and no other. Loops are in numpy; one is in jax, compiled."""

import json
import re
from typing import Any

import numpy as np
import pytest

import subnormal
from subnormal import Claim, Verdict, check_training
from subnormal.audit.statistics.binomial import clopper_pearson
from subnormal.audit.training.accounting import bounds, exceeding
from subnormal.audit.training.loop import _merged
from subnormal.audit.training.noise import law_of
from subnormal.audit.training.result import Result
from subnormal.audit.training.sampling import Sampler, flaws
from subnormal.audit.training.training import Train
from tests.audit.training.loops import (
    CLIP,
    MULTIPLIER,
    PITFALLS,
    RATE,
    RECORDS,
    clipped,
    data,
    gradients,
    noise,
    poisson,
    trainer,
)

ALPHA = 1e-6  # that a correct loop is accused, in each check of this file
STEP_SIZE = 0.1 / (RATE * RECORDS)


def checked(train: Train, records: Any = None, **options: Any) -> Result:
    given: dict[str, Any] = {"sample_rate": RATE, "steps": 1000, "alpha": ALPHA, "step_size": STEP_SIZE, "runs": 12}
    return check_training(
        train, data() if records is None else records, clip=CLIP, noise_multiplier=MULTIPLIER, **(given | options)
    )


@pytest.mark.parametrize("seed", [1, 1_000, 2_000])
def test_a_correct_loop_passes(seed: int) -> None:
    result = checked(trainer(), claim=Claim(9.2, 1e-5), seed=seed)
    assert result.verdict is Verdict.NOT_REFUTED, result
    assert {stage.verdict for stage in result.stages} == {Verdict.NOT_REFUTED}


@pytest.mark.parametrize("name", PITFALLS)
def test_a_pitfall_names_its_stage(name: str) -> None:
    parts, stage = PITFALLS[name]
    result = checked(trainer(**parts), runs=24)
    assert result.violated == (stage,), result


def fixed(generator: Any, length: int, step: int) -> Any:
    return generator.choice(length, 5, replace=False)


class Shuffled:
    """An epoch of a random order; `first` is drawn once where the order is fixed."""

    def __init__(self, *, anew: bool) -> None:
        self.anew = anew

    def __call__(self, generator: Any, length: int, step: int) -> Any:
        each = -(-length // 5)
        if step % each == 0:
            self.order = generator.permutation(length) if self.anew else np.arange(length)
        return self.order[step % each * 5 :][:5]


FIXED = {"sampler": "fixed size", "batch_size": 5, "relation": "replace", "sample_rate": None}
SHUFFLED = {"sampler": "shuffled", "batch_size": 5, "relation": "replace", "sample_rate": None}
CYCLIC = {"sampler": "cyclic", "batch_size": 5, "relation": "replace", "sample_rate": None}
FULL = {"sampler": "full", "sample_rate": None}


def twice(*given: Any) -> Any:
    return 2 * noise(*given)


@pytest.mark.parametrize(
    ("batch", "assumed", "right"),
    [
        (fixed, FIXED, True),
        (poisson, FIXED, False),
        (Shuffled(anew=True), FIXED, False),
        (lambda generator, length, step: np.arange(5) + 5 * generator.integers(length // 5), FIXED, False),
        (Shuffled(anew=True), SHUFFLED, True),
        (fixed, SHUFFLED, False),
        (Shuffled(anew=False), SHUFFLED, False),
        (Shuffled(anew=False), CYCLIC, True),
        (Shuffled(anew=True), CYCLIC, False),
        (lambda generator, length, step: np.arange(length), FULL, True),
        (lambda generator, length, step: np.arange(length - 1), FULL, False),
    ],
)
def test_batches_are_held_against_the_sampler_that_is_assumed(batch: Any, assumed: Any, right: bool) -> None:
    noisy = twice if assumed.get("relation") == "replace" else noise
    result = checked(trainer(batch, noise=noisy), **assumed)
    assert result.violated == (() if right else ("sampling",)), result


class ReadAgain:
    """Features that read each batch again, whole, in halves, and one by one."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape = array, array.shape

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, chosen: Any) -> Any:
        half = len(chosen) // 2
        for part in (chosen, chosen[:half], chosen[half:], *chosen.tolist()):
            self.array[part]
        return self.array[chosen]


def with_replacement(generator: Any, length: int, step: int) -> Any:
    return generator.choice(length, generator.binomial(length, RATE))


@pytest.mark.parametrize(("batch", "violated"), [(poisson, ()), (with_replacement, ("sampling",))])
def test_a_step_may_read_its_batch_again(batch: Any, violated: tuple[str, ...]) -> None:
    """A record that is twice in a batch is still seen. The correct loop is accused with probability 10^-6 at most."""
    train = trainer(batch)
    result = checked(lambda data, steps: train((ReadAgain(data[0]), data[1]), steps))
    assert result.violated == violated, result
    assert violated == () or result.stage("sampling").said[0].endswith("a batch holds a record twice")


@pytest.mark.parametrize(
    ("reads", "batch"),
    [
        ([[5, 2, 9], [5, 2]], [2, 5, 9]),
        ([[2, 5], [2], [5, 2, 9]], [2, 5, 9]),
        ([[5, 2], [5, 2], [9, 1], [7]], [1, 2, 5, 7, 9]),
        ([[5], [2], [9], [2], [5], [9]], [2, 5, 9]),
        ([[5], [5], [2], [2]], [2, 5]),
        ([[5], [2], [5]], [2, 5, 5]),
        ([[5, 2], [2, 9]], [2, 2, 5, 9]),
        ([[5, 2, 5], [2], [5]], [2, 5, 5]),
        ([[5, 2, 2], range(12), [9]], [2, 2, 5, 9]),
        ([range(6), range(6, 12), [5, 5]], [5, 5]),
        ([range(12)], []),
        ([[], [5]], [5]),
        ([[]], []),
    ],
)
def test_what_a_step_read_of_twelve_records(reads: list[Any], batch: list[int]) -> None:
    """A batch that is read again, whole or in parts, holds no record twice; what no pass explains is there twice."""
    assert _merged({0: [np.array(one, dtype=np.int64) for one in reads]}, 12).tolist() == batch


class InParts:
    """A column that reads a batch in parts of so many records, each part so many times."""

    def __init__(self, array: Any, size: int, times: int) -> None:
        self.array, self.shape, self.size, self.times = array, array.shape, size, times

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, chosen: Any) -> Any:
        parts = [chosen[at : at + self.size] for at in range(0, len(chosen), self.size)]
        read = [self.array[part if self.size > 1 else int(part[0])] for part in parts for _ in range(self.times)]
        return np.reshape(
            np.concatenate([np.zeros(0), *map(np.ravel, read[:: self.times])]), (len(chosen), *self.shape[1:])
        )


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(("batch", "violated"), [(poisson, ()), (with_replacement, ("sampling",))])
def test_a_batch_may_be_read_in_parts(batch: Any, size: int, times: int, violated: tuple[str, ...]) -> None:
    """A record in two parts, or read twice where others are read once, is twice in the batch."""
    train = trainer(batch)
    result = checked(lambda data, steps: train([InParts(column, size, times) for column in data], steps))
    assert result.violated == violated, result
    assert violated == () or result.stage("sampling").said[0].endswith("a batch holds a record twice")


def test_a_record_may_be_read_for_its_shape() -> None:
    """Records that are read one by one, and the first one once more before all others."""
    train = trainer()

    def shaped(data: Any, steps: int) -> Any:
        data[0][0].shape  # noqa: B018
        return train([InParts(column, 1, 1) for column in data], steps)

    assert checked(shaped).violated == ()


@pytest.mark.parametrize(("repeated", "found"), [([0, 0, 0], 0), ([0, 9, 0], 0), ([0, 4, 9], 1)])
def test_three_different_records_that_come_twice_are_a_flaw(repeated: list[int], found: int) -> None:
    """One or two of them, such as the first and the last, may have been read again for their shape."""
    batches = [[np.array([one, one, 7])] for one in repeated]
    assert len(flaws(batches, 10, Sampler("poisson", rate=0.1))) == found


def test_a_replaced_record_moves_the_sum_twice_as_far() -> None:
    result = checked(trainer(fixed), **FIXED)
    assert result.violated == ("aggregation",), result
    assert "a replaced record moves twice as much" in result.stage("aggregation").said[0]


FOLLOWS = PITFALLS["the divisor is the rate times the length, rounded down"][0]


def test_a_scale_that_follows_the_length_shows_at_neighbouring_lengths() -> None:
    """No matter of chance: the same seeds. A correct loop is compared at three other lengths, and passes."""
    near = checked(trainer(**FOLLOWS)).stage("aggregation")
    assert "with 99 records it moves the outcome 1.25 times as far as with 100" in near.said[-1]
    assert near.evidence["lengths"] == [99, 100]
    far = checked(trainer(**PITFALLS["another divisor from 161 records on"][0])).stage("aggregation")
    assert far.evidence["lengths"] == [160, 161]
    assert far.evidence["noise_ratio"] == pytest.approx(1.2)
    right = checked(trainer()).stage("aggregation").said
    assert "data of 99, 101, 200 records: noise moves the outcome as far as on those of 100" in right


def test_the_length_is_public_where_a_record_is_replaced() -> None:
    """With add-or-remove the same divisor is a flaw, also of a loop that reads all records in each step."""
    everything = {"batch": lambda generator, length, step: np.arange(length), **FOLLOWS}
    assert checked(trainer(**everything, noise=twice), relation="replace", **FULL).violated == ()
    assert checked(trainer(**everything), **FULL).violated == ("aggregation",)


def test_a_loop_may_fail_or_begin_otherwise_at_other_lengths() -> None:
    """Only the scale of the noise is compared: a model that follows the length, or data that are refused, are none."""
    steps = trainer()

    def infinite(theta: Any, x: Any, y: Any) -> Any:
        return np.where(np.isposinf(x).all(axis=1, keepdims=True), 9.0, clipped(gradients(theta, x, y)) / 9)

    def begins(records: Any, count: int) -> Any:
        return steps(records, count) + len(records[0])

    def refuses(records: Any, count: int) -> Any:
        if len(records[0]) == 101:
            raise ValueError("101")
        return steps(records, count)

    assert "aggregation" not in checked(begins).violated
    assert checked(trainer(gradients=infinite)).violated == ()  # what moves the sum furthest is not finite
    assert "data of 99, 200 records" in checked(refuses).stage("aggregation").said[-1]

    def empty(generator: Any, length: int, step: int) -> Any:
        return poisson(generator, length, step)[: 0 if length == 101 else None]

    skipped = checked(trainer(empty, skip_empty=True))
    assert "data of 99, 200 records" in skipped.stage("aggregation").said[-1]

    def longer(records: Any, count: int) -> Any:
        x, theta, generator = records[0], np.zeros(len(records[0])), np.random.default_rng()
        for _ in range(count):
            chosen = np.flatnonzero(generator.random(len(x)) < RATE)
            theta[chosen] += np.tanh(np.nan_to_num(x[chosen][:, 0]))
            theta += noise(generator, len(theta), 0)
        return theta

    assert checked(longer).stage("aggregation").said == (
        "batches of other sizes could not be compared, so that one size was tried",
    )


def test_accounting_is_held_against_certified_bounds() -> None:
    wrong = checked(trainer(), claim=Claim(9.1, 1e-5))
    assert wrong.violated == ("accounting",)
    said = wrong.stage("accounting").evidence
    assert 9.1 < said["low"] < said["up"] < 9.3
    shuffled = checked(trainer(Shuffled(anew=True)), claim=Claim(9.2, 1e-5))
    assert shuffled.violated == ("sampling",)
    assert "the batches look like shuffled batches of 5" in shuffled.stage("sampling").said


def test_the_event_of_shuffled_batches_has_its_probability() -> None:
    """Drawn batches against the formula. False alarm: 4e-6, 1e-6 for each end of two intervals."""
    generator, runs, steps, share = np.random.default_rng(1), 20_000, 10, 0.05
    for shift in (1, 2):
        sums = generator.normal(0.0, 0.8, (runs, steps))
        held = generator.integers(0, round(1 / share), runs)
        rows = np.flatnonzero(held < steps)
        sums[rows, held[rows]] += shift
        low, high = clopper_pearson(int((sums > 2.0).any(axis=1).sum()), runs, 1e-6)
        known = exceeding(0.8, steps, share, 2.0, shift)
        assert low <= known.low <= known.high <= high
    best = bounds(Sampler("shuffled", size=50), 0.8, 20, 1e-5, 1_000, "add-or-remove")
    assert best is not None
    assert 3.4 < 5.6 < best[0] < best[1] < 5.7  # of Poisson sampling it is below 3.4


@pytest.mark.parametrize(("ratio", "moved", "right"), [(1.0, 0.0, True), (1.05, 0.0, False), (1.0, 0.05, False)])
def test_the_law_of_the_draws_is_tested(ratio: float, moved: float, right: bool) -> None:
    """False alarm: ALPHA, for numbers that have the law."""
    found = law_of(ratio * np.random.default_rng(2).normal(size=20_000) + moved, ALPHA)
    assert (found is None) == right


def test_the_unit_of_the_sum_tells_clipping_from_noise() -> None:
    """Both halve the multiplier. Without step_size, a stated deviation is believed."""
    too_little, too_long = trainer(noise=lambda *given: noise(*given) / 2), trainer(clipped=_twice_as_long)
    assert checked(too_little).violated == ("noise",)
    assert checked(too_long).violated == ("clipping",)
    assert checked(too_little, step_size=None).violated == ("clipping",)
    standard = trainer(clipped=lambda made: made, noise=lambda generator, size, step: 1.1 * generator.normal(size=size))
    assert checked(standard, step_size=None).violated == ("clipping",)  # what grows with a record is not clipped


def _twice_as_long(made: Any) -> Any:
    return made / np.maximum(0.5, np.linalg.norm(made, axis=1, keepdims=True) / 2)


def test_a_loop_that_reads_all_records_hands_over_its_batches() -> None:
    def masked(records: Any, steps: int, seed: Any = None) -> Any:
        x, y = records
        x, generator, theta = np.asarray(x), np.random.default_rng(), np.zeros(x.shape[1])
        for _ in range(steps):
            mask = generator.random(len(x)) < RATE
            each = np.tanh(np.nan_to_num(x)) / x.shape[1] ** 0.5 * np.where(np.asarray(y) > 0, 1.0, -1.0)[:, None]
            theta = theta + STEP_SIZE * (each * mask[:, None]).sum(axis=0)
            theta = theta + STEP_SIZE * generator.normal(0.0, MULTIPLIER * CLIP, len(theta))
        return theta

    def picked(length: int, steps: int) -> list[Any]:
        generator = np.random.default_rng()
        return [np.flatnonzero(generator.random(length) < RATE) for _ in range(steps)]

    alone = checked(masked)
    assert alone.verdict is Verdict.UNRESOLVED
    assert "batches=" in alone.stage("sampling").said[0]
    assert {stage.verdict for stage in checked(masked, batches=picked).stages[:5]} == {Verdict.NOT_REFUTED}
    half = checked(masked, batches=lambda length, steps: [one[::2] for one in picked(length, steps)])
    assert half.violated == ("sampling",)


def test_a_list_of_records_and_numbers_drawn_one_by_one() -> None:
    """A loop of plain Python: random.gauss for each coordinate, and records that it reads by their numbers."""
    import random

    def train(records: list[Any], steps: int) -> dict[str, list[float]]:
        theta = [0.0] * 3
        for _ in range(steps):
            chosen = [records[place] for place in range(len(records)) if random.random() < RATE]
            for at in range(3):
                total = sum(max(-0.5, min(0.5, x[at])) if abs(x[at]) <= 1e300 else 0.0 for x, _ in chosen)
                theta[at] -= STEP_SIZE * (total + random.gauss(0.0, MULTIPLIER * CLIP))
        return {"theta": theta}

    x, y = data()
    records = [(row[:3].tolist(), int(label)) for row, label in zip(x, y, strict=True)]
    result = checked(train, records)
    assert result.violated == (), result
    assert result.stage("noise").verdict is Verdict.NOT_REFUTED


def test_a_compiled_step_of_jax() -> None:
    """Hooks see the noise of a step that was compiled before the check began, and a key that is used twice."""
    jax = pytest.importorskip("jax")
    import secrets

    def stepped(again: bool) -> Train:
        @jax.jit  # type: ignore[untyped-decorator]
        def step(theta: Any, x: Any, padding: Any, key: Any) -> tuple[Any, Any]:
            following, now = jax.random.split(key)
            norms = jax.numpy.linalg.norm(x, axis=1, keepdims=True)
            kept = jax.numpy.where(jax.numpy.isfinite(norms), x / jax.numpy.maximum(1.0, norms / CLIP), 0.0)
            total = jax.numpy.where(padding[:, None], 0.0, kept).sum(axis=0)
            noisy = total + MULTIPLIER * CLIP * jax.random.normal(now, theta.shape)
            return theta - STEP_SIZE * noisy, key if again else following

        def train(x: Any, steps: int) -> Any:
            generator, key = np.random.default_rng(), jax.random.key(secrets.randbits(32))
            theta = jax.numpy.zeros(x.shape[1])
            for _ in range(steps):
                chosen = np.flatnonzero(generator.random(len(x)) < RATE)
                indices = np.full(64, -1)
                indices[: len(chosen)] = chosen
                theta, key = step(theta, x[indices], indices == -1, key)
            return theta

        return train

    x = data()[0].astype(np.float32)
    right = stepped(again=False)
    right(x, 1)
    assert checked(right, x).violated == ()
    twice = checked(stepped(again=True), x)
    assert twice.violated == ("noise",)
    assert "test_training.py:" in twice.stage("noise").said[0]  # where the step was compiled
    assert checked(trainer(**PITFALLS["no noise"][0]), runs=24).violated == ("noise",)  # jax is there, and not used

    def quiet(x: Any, steps: int) -> Any:
        chosen = [np.flatnonzero(np.random.default_rng().random(len(x)) < RATE) for _ in range(steps)]
        return sum(jax.numpy.asarray(x[at]).sum(axis=0) for at in chosen)

    assert checked(quiet, x).stage("noise").verdict is Verdict.UNRESOLVED


def test_a_result_is_the_same_again_and_can_be_read() -> None:
    one, other = (checked(trainer(PITFALLS["truncated batches"][0]["batch"])) for _ in range(2))
    assert one.stages == other.stages
    document = json.loads(one.to_json())
    assert document["schema"] == "subnormal/training/1"
    assert document["stages"][0]["verdict"] == "VIOLATED"
    assert "train: VIOLATED: sampling" in str(one)
    assert "No verdict says that a loop is private." in str(one)


def _fails(records: Any, steps: int) -> Any:
    raise RuntimeError("no such file")


def _unseeded(records: Any, steps: int) -> Any:
    import time

    return np.array([float(time.perf_counter_ns())])


@pytest.mark.parametrize(
    ("train", "options", "error", "said"),
    [
        ("train", {}, TypeError, "train must be a function of data and a number of steps, got 'train'"),
        (
            trainer(),
            {"sample_rate": 0.0},
            ValueError,
            "sample_rate must be above 0 and at most 1 for Poisson sampling, got 0.0",
        ),
        (
            trainer(),
            {"sampler": "fixed size"},
            ValueError,
            "batch_size must be between 1 and the 100 records, got None",
        ),
        (
            trainer(),
            {"sampler": "random"},
            ValueError,
            "sampler must be one of poisson, fixed size, shuffled, cyclic, full",
        ),
        (trainer(), {"relation": "swap"}, ValueError, "relation must be one of add-or-remove, replace, got 'swap'"),
        (trainer(), {"alpha": 1.0}, ValueError, "alpha must be between 0 and 1, got 1.0"),
        (trainer(), {"steps": 0}, ValueError, "steps must be at least 1, got 0"),
        (trainer(), {"extreme": [(1.0,)]}, ValueError, "a record of extreme must have 2 parts, got [1.0]"),
        (
            trainer(),
            {"records": (np.zeros((3, 2)), np.zeros(2))},
            ValueError,
            "equally many in each column, got lengths [3, 2]",
        ),
        (trainer(), {"records": 7}, TypeError, "data must be an array, a tuple or a dict of arrays"),
        (_fails, {}, ValueError, "no such file"),
        (_unseeded, {}, ValueError, "two runs with the same seeds differ"),
    ],
)
def test_bad_input_is_named(train: Any, options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        checked(train, **options)


def test_the_package_names_it() -> None:
    assert subnormal.check_training is check_training
