"""Check a loop of DP-SGD end to end, and name the stage that is wrong: the whole check is here.

A loop is a function of data and a number of steps that trains and returns what is released. It is run some 150 times on
small data, with hooks in front of the functions that draw Gaussian noise, and with seeds for all else. The stages:

- *Sampling* (`sampling`): the data tell which records a step reads. These index sets are held against the sampler that
  the accountant assumes, at the length of the data and at twice that length.
- *Isolation, clipping, aggregation* (`step`): records of one step are changed, on a `bench`, and the noisy sum moves.
  Aggregation is compared with that on more and fewer records too (`lengths`).
- *Noise* (`noise`): its draws, and its deviation against the largest movement of a record.
- *Accounting* (`accounting`): the claimed ε against certified bounds.
- *Released besides* (`besides`): all parts of the outcome follow from noisy sums.

What this guarantees:

- Sampling and the law of noise are judged by exact tests that share α: a correct loop is accused with probability α at
  most. All else compares runs with the same seeds, up to the rounding of float32, and is no matter of chance.
- One seed gives the same result on every machine with the same libraries: runs are counted, and no clock decides.
- No verdict says that a loop is private. What passes has passed the records and steps that were tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from subnormal.audit.model import Verdict
from subnormal.audit.text import counted, quoted
from subnormal.audit.training import besides, lengths, noise, sampling, step
from subnormal.audit.training.accounting import judge_accounting
from subnormal.audit.training.bench import Bench, bench_of
from subnormal.audit.training.loop import Indices, Loop, Run
from subnormal.audit.training.records import Records, extreme_records, mapped, records_of
from subnormal.audit.training.result import Result, Stage, StageName
from subnormal.audit.training.sampling import Sampler, SamplerName
from subnormal.mechanisms.privacy import Claim, require_positive

Relation = Literal["add-or-remove", "replace"]
Train = Callable[[Any, int], Any]
PickBatches = Callable[[int, int], Sequence[Any]]

STEPS = 32  # of a run that judges the sampling, at most
EMPTY = 0.5  # expected records of a step, in the runs that look for empty batches
EMPTY_RUNS = 8
MEASURED: tuple[StageName, ...] = ("isolation", "clipping", "aggregation", "noise", "released besides")


@dataclass(frozen=True, slots=True)
class _Question:
    """The arguments of a check."""

    train: Train
    data: Records
    sampler: Sampler
    relation: Relation
    clip: float
    multiplier: float
    steps: int
    step_size: float | None
    batches: PickBatches | None
    extreme: dict[str, tuple[Any, ...]]
    non_finite: bool
    runs: int
    alpha: float
    seed: int
    say: Callable[[str], None]


def check_training(
    train: Train,
    data: Any,
    *,
    clip: float,
    noise_multiplier: float,
    steps: int,
    sampler: SamplerName = "poisson",
    sample_rate: float | None = None,
    batch_size: int | None = None,
    relation: Relation = "add-or-remove",
    claim: Claim | None = None,
    step_size: float | None = None,
    batches: PickBatches | None = None,
    extreme: Sequence[Any] = (),
    non_finite: bool = True,
    runs: int = 24,
    alpha: float = 1e-6,
    seed: int = 1,
    on_progress: Callable[[str], None] = lambda message: None,
) -> Result:
    """Check a loop of DP-SGD, stage by stage.

    Args:
        train: takes data and a number of steps, trains, and returns all that is released: parameters, and losses and
            batch sizes where they are shown. It makes its model and its generators itself, at each call.
        data: some hundred records, in the form in which train takes them: an array, a tuple or a dict of arrays with a
            row for each record, tensors, a dataset of torch with an index, or a list of records.
        clip: the norm C to which each gradient is clipped.
        noise_multiplier: the deviation of the noise over the sensitivity: C with add-or-remove, 2C with replace.
        steps: of the training that the claim is about. The check runs fewer.
        sampler: what the accountant assumes: "poisson" with `sample_rate`; "fixed size", "shuffled" or "cyclic" with
            `batch_size`; or "full".
        sample_rate: the probability that a record takes part in a step.
        batch_size: the records of a step.
        relation: of neighbouring data: "add-or-remove" a record, or "replace" one.
        claim: the (ε, δ) that the accountant says, for these data, with their length.
        step_size: how far a gradient of 1 in the sum moves the outcome, as the learning rate over the divisor of the
            sum; of a loop in torch, what its optimizer gets. It only tells clipping from noise, where one is wrong.
        batches: a function of a length and a number of steps that returns the indices of each step; for a loop whose
            reads do not tell them.
        extreme: further records that may have large gradients, in the form of one record of the data.
        non_finite: records may hold NaN and infinities, and are tried.
        runs: of several steps each, that judge the sampling.
        alpha: the chance that a correct loop is accused, at most.
        seed: of all runs.
        on_progress: called with a line about the progress now and then.

    Returns:
        The stages with their verdicts. `print(result)` shows them.

    Raises:
        TypeError: train is no function, or the data have a form that is not known.
        ValueError: an argument is out of range, or train cannot be checked: it raises on the data as given, or is
            random in a way that cannot be repeated.
    """
    if not callable(train):
        raise TypeError(f"train must be a function of data and a number of steps, got {quoted(train)}")
    require_positive("clip", clip)
    require_positive("noise_multiplier", noise_multiplier)
    for name, value, least in (("steps", steps, 1), ("runs", runs, 2)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    if relation not in get_args(Relation):
        raise ValueError(f"relation must be one of {', '.join(get_args(Relation))}, got {quoted(relation)}")
    records, started = records_of(data), time.monotonic()
    assumed = _sampler(sampler, sample_rate, batch_size, len(records))
    further = {f"extreme[{place}]": _as_record(records, one) for place, one in enumerate(extreme)}
    question = _Question(
        train,
        records,
        assumed,
        relation,
        clip,
        noise_multiplier,
        steps,
        step_size,
        batches,
        further,
        non_finite,
        runs,
        alpha,
        seed,
        on_progress,
    )
    loop = Loop(train)
    with loop.hooked(records):
        stages, actual = _stages(question, loop)
    account = judge_accounting(claim, assumed, noise_multiplier, steps, len(records), relation, actual)
    order: tuple[StageName, ...] = get_args(StageName)
    stages = sorted([*stages, account], key=lambda stage: order.index(stage.name))
    name = getattr(train, "__name__", type(train).__name__)
    seconds = time.monotonic() - started
    return Result(
        name, tuple(stages), str(assumed), clip, noise_multiplier, relation, claim, alpha, loop.runs, seconds, seed
    )


def _sampler(name: SamplerName, rate: float | None, size: int | None, length: int) -> Sampler:
    if name not in get_args(SamplerName):
        raise ValueError(f"sampler must be one of {', '.join(get_args(SamplerName))}, got {quoted(name)}")
    if name == "poisson" and (rate is None or not 0 < rate <= 1):
        raise ValueError(f"sample_rate must be above 0 and at most 1 for Poisson sampling, got {rate}")
    if name not in ("poisson", "full") and (size is None or not 1 <= size <= length):
        raise ValueError(f"batch_size must be between 1 and the {length} records, got {size}")
    return Sampler(name, rate if name == "poisson" else None, size if name not in ("poisson", "full") else None)


def _as_record(records: Records, record: Any) -> tuple[Any, ...]:
    """Return one record in the form of the data as its cells."""
    cells = (
        tuple(record.values())
        if records.form == "dict"
        else record
        if records.form in ("tuple", "TensorDataset")
        else (record,)
    )
    if len(cells) != len(records.columns):
        raise ValueError(f"a record of extreme must have {counted(len(records.columns), 'part')}, got {quoted(record)}")
    return tuple(mapped(cell, lambda one: one) for cell in cells)


def _stages(question: _Question, loop: Loop) -> tuple[list[Stage], Sampler | None]:
    """Return all stages but accounting, and the sampler that the batches look like where it is another one."""
    runs = min(question.steps, STEPS)
    question.say(f"{question.runs} runs of {counted(runs, 'step')}: sampling")
    sampled, seen, actual = _judge_sampling(question, loop, runs)
    if not loop.each:
        return [sampled, *_without_noise(question, loop)], actual
    question.say("one step: what records move")
    bench = bench_of(loop, question.data, question.seed)
    if bench is None or not bench.names or not bench.linear:
        return [sampled, *_unmeasured(bench)], actual
    return [sampled, *_judge_step(question, loop, bench, seen, runs)], actual


def _judge_step(question: _Question, loop: Loop, bench: Bench, seen: list[Run], steps: int) -> list[Stage]:
    vary = question.sampler.sizes_vary
    facts = step.measure(bench, question.data, question.extreme, non_finite=question.non_finite, sizes_vary=vary)
    noise.judge_cover(facts)
    noise.judge_draws(facts, loop, seen, steps, _share(question) / noise.TESTS)
    step.judge_norms(facts, question.clip, question.multiplier, question.relation, question.step_size)
    if question.relation == "add-or-remove":
        lengths.judge_lengths(facts, question.multiplier)
    question.say("what is released besides")
    tried = extreme_records(question.data, step.SCALES, non_finite=False) | question.extreme
    besides.judge_step(facts, tried, lengths=vary and question.relation == "add-or-remove")
    besides.judge_unused(facts, loop, question.data, question.steps, tried, question.seed)
    return [facts.stage(name) for name in MEASURED]


def _share(question: _Question) -> float:
    """Return the share of α of sampling, and of the law of the noise: half each."""
    return question.alpha / 2


def _judge_sampling(question: _Question, loop: Loop, steps: int) -> tuple[Stage, list[Run], Sampler | None]:
    """Judge the batches at the length of the data, and at twice that length; and look at steps without records."""
    data, sampler = question.data, question.sampler
    once, seen = _batches(question, loop, data, question.runs, steps, question.seed)
    if not loop.each:
        said = "steps are told apart by the noise that they draw, and no draw was seen"
        return Stage("sampling", Verdict.UNRESOLVED, (said,)), seen, None
    if once is None:
        said = "train reads all records in each step, so its batches do not show; give them as batches="
        verdict = Verdict.NOT_REFUTED if sampler.name == "full" else Verdict.UNRESOLVED
        return Stage("sampling", verdict, (said,)), seen, None
    found = sampling.flaws(once, len(data), sampler)
    judged = sampling.counts(once, len(data), sampler)
    if sampler.name == "poisson" and question.relation == "add-or-remove":
        longer = data.take([*range(len(data)), *range(len(data))])
        twice, _ = _batches(question, loop, longer, max(2, question.runs // 3), steps, question.seed + question.runs)
        for count in sampling.counts(twice, len(longer), sampler)[:1] if twice else []:
            judged.append(replace(count, what=f"{count.what}, with twice as many records"))
        found += _empty_steps(question, loop)
    share = _share(question) / max(1, len(judged))
    wrong = [str(count) for count in judged if count.p_value <= share]
    evidence = {"runs": question.runs, "steps": steps, "seed": question.seed, "alpha_of_each_test": share}
    if found or wrong:
        other = sampling.looks_like(once, len(data))
        like = [f"the batches look like {other}"] if other is not None and other.name != sampler.name else []
        lines = (f"it is not {sampler}: {(found + wrong)[0]}", *(found + wrong)[1:], *like)
        return Stage("sampling", Verdict.VIOLATED, lines, evidence), seen, other if like else None
    tests = f", and pass {counted(len(judged), 'exact test')}" if judged else ""
    said = f"{question.runs * steps:,} batches are as of {sampler}{tests}"
    return Stage("sampling", Verdict.NOT_REFUTED, (said,), evidence), seen, None


def _batches(
    question: _Question, loop: Loop, data: Records, runs: int, steps: int, seed: int
) -> tuple[list[list[Indices]] | None, list[Run]]:
    """Return the batches of several runs, each with as many steps as all have, and the runs."""
    seen = [loop.run(data, steps, seed + number) for number in range(runs)]
    if question.batches is not None:
        return [loop.picked(question.batches, len(data), steps, seed + number) for number in range(runs)], seen
    made = [loop.batches(run, len(data)) for run in seen if run.error is None]
    if not any(made):
        return None, seen
    every = [one for one in made if one]
    fewest = min(map(len, every))
    return [one[:fewest] for one in every], seen


def _empty_steps(question: _Question, loop: Loop) -> list[str]:
    """Return what goes wrong in steps without records: data are so few that many batches are empty."""
    length = max(1, round(EMPTY / float(question.sampler.rate or 1.0)))
    if length >= len(question.data):
        return []
    few, steps = question.data.take(range(length)), min(question.steps, STEPS // 2)
    for number in range(EMPTY_RUNS):
        run = loop.run(few, steps, question.seed + number)
        if run.error is not None:
            return [f"the loop raises on {counted(length, 'record')}, where batches are empty: {run.error}"]
        noisy = len(loop.of_steps(run))
        if noisy < steps:
            loop.skips_empty = True
            return [f"of {steps} steps on {counted(length, 'record')}, where batches are empty, {noisy} add noise"]
    return []


def _without_noise(question: _Question, loop: Loop) -> list[Stage]:
    """Return the stages of a loop no step of which draws noise from a function that is known."""
    why = "no step draws Gaussian noise from a function that is known, and what records move is measured by it"
    stages = [Stage(name, Verdict.UNRESOLVED, (why,)) for name in MEASURED]
    if loop.is_noiseless(question.data, question.seed):
        said = "the second step adds no noise of its own: nothing random is in the outcome after its batch is read"
        stages[MEASURED.index("noise")] = Stage("noise", Verdict.VIOLATED, (said,), {"seed": question.seed})
    return stages


def _unmeasured(bench: Bench | None) -> list[Stage]:
    if bench is None:
        why = "no batch of one step was found to hold a record"
    elif not bench.names:
        why = "no part of the outcome has the noise of a step: train must return its parameters, or its noisy gradients"
    else:
        why = "the outcome is not linear in the noise, as with Adam: train must return its noisy gradients too"
    return [Stage(name, Verdict.UNRESOLVED, (why,)) for name in MEASURED]
