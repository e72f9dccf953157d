"""Rows: which attacks meet which members, what may be examined, and what goes wrong in one row only."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from subnormal.attacks import catalogue
from subnormal.attacks.additive.coarse_noise import coarse_noise
from subnormal.attacks.catalogue import attacks
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.core.unreachable import Unreachable
from subnormal.attacks.exponential.truncated_addition import truncated_addition
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.engine.pairs import Crossing, crossings, resisting
from subnormal.audit.engine.row import examine
from subnormal.audit.engine.scheduler import AuditProgress, examine_all
from subnormal.audit.model import Verdict, Worlds
from subnormal.mechanisms.families import absent, exact_members, family, member, members

BASE2 = member("exponential-base2")


def test_a_row_says_what_its_worlds_are() -> None:
    row = examine(Crossing(zero_rounding(), BASE2), seed=1, runs=10, alpha=0.05)
    assert row.worlds == Worlds("np.repeat(np.array([2980, 2981]), [1, 99])", "np.full(100, 2980)")

    def broken_worlds() -> tuple[object, object]:
        raise ValueError("no worlds")

    for worlds in (broken_worlds, lambda: (object(), object())):
        odd = dataclasses.replace(zero_rounding(), worlds=worlds)
        assert examine(Crossing(odd, BASE2), seed=1, runs=10, alpha=0.05).worlds is None


def test_attacks_that_are_not_in_the_catalogue_are_examined_too() -> None:
    met = [Crossing(zero_rounding(epsilon=epsilon), BASE2) for epsilon in (0.7, 0.8)]
    told: list[AuditProgress] = []
    report = examine_all(met, seed=1, runs=100, alpha=0.05, report_progress=told.append)
    assert [row.parameters["epsilon"] for row in report.rows] == [0.7, 0.8]
    assert all(row.exact is not None and row.exact.verdict is Verdict.HOLDS for row in report.rows)
    assert (told[-1].rows_done, told[-1].rows, told[-1].runs_done, told[-1].runs) == (2, 2, 200, 200)


def test_an_attack_under_a_name_of_the_catalogue_is_still_its_own() -> None:
    impostor = dataclasses.replace(truncated_addition(outcomes=10), name="truncated-addition")
    report = examine_all([Crossing(impostor, BASE2)] * 2, seed=1, runs=100, alpha=0.05)
    assert report.rows[0].parameters["limits"]["max_outcomes"] == 10


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_an_attack_meets_one_exact_member_the_first_that_must_resist(attack: AnyAttack) -> None:
    """The others where they are asked for, by name or with all."""
    exact = resisting(attack)
    assert exact
    assert exact[0] is next(one for one in exact_members(family(attack.family)) if one.name not in attack.breaks)
    met = [one.mechanism for one in crossings([attack])]
    if met:  # what the attack breaks is installed
        assert [one for one in exact if one in met and one.name not in attack.fixes][1:] == []
        assert next(one for one in exact if attack.channel != "time" or one in met) in met  # some are too slow
    everyone = [one.mechanism for one in crossings([attack], everything=True)]
    if isinstance(attack.event, Unreachable) and not met:  # what its event is about is not installed
        assert everyone == []
        return
    for one in exact:
        if attack.channel != "time":  # some are too slow to be timed
            assert one in everyone
            assert [each.mechanism for each in crossings([attack], mechanisms=[one.name])] == ([one] if met else [])


def test_a_misspelt_member_is_an_error_and_no_missing_row() -> None:
    misspelt = dataclasses.replace(zero_rounding(), breaks=("exponential-naive-flaot64",))
    with pytest.raises(LookupError, match="did you mean 'exponential-naive-float64'"):
        crossings([misspelt])


def test_a_walk_over_all_bits_stays_affordable() -> None:
    walk: Any = member("exponential-naive-float16").depth
    attack = truncated_addition()
    assert walk(attack.worlds()[0], attack.parameters) == 11
    assert walk(np.zeros(1 << 20, dtype=np.int64), attack.parameters) is None


def test_the_sketch_shows_each_world_as_it_is_and_the_curve_beyond_the_claim() -> None:
    row: Any = examine(Crossing(zero_rounding(), member("exponential-naive-float64")), seed=1, runs=2_000, alpha=0.05)
    assert row.sketch.law[0][0] == row.sketch.sampled[0][0] == 1
    assert row.sketch.law[1][0] < 0.02
    assert row.sketch.curve[0][0] == 0
    assert row.sketch.curve[0][-1] == 1.0
    assert row.reproducible
    unseeded = dataclasses.replace(BASE2, seeded=False)
    assert not examine(Crossing(zero_rounding(), unseeded), seed=1, runs=10, alpha=0.05).reproducible


def test_worlds_that_cannot_be_built_are_the_error_of_their_row() -> None:
    def worlds() -> tuple[object, object]:
        raise RuntimeError("no data")

    broken = dataclasses.replace(zero_rounding(), worlds=worlds)
    report = examine_all([Crossing(broken, BASE2), Crossing(zero_rounding(), BASE2)], seed=1, runs=10, alpha=0.05)
    assert [row.error for row in report.rows] == ["RuntimeError: no data", None]


def test_an_attack_without_an_event_learns_one_and_the_row_says_which() -> None:
    attack = dataclasses.replace(zero_rounding(), name="zero-rounding-unnamed", event=None)
    row: Any = examine(Crossing(attack, member("exponential-naive-float64")), seed=1, runs=4_000, alpha=0.01)
    assert row.error is None
    assert row.event is not None
    assert (row.sampled.verdict, row.exact.verdict) == (Verdict.VIOLATED, Verdict.VIOLATED)
    assert (row.exact.advantage or 0) > 0.9


@pytest.mark.parametrize("until_decided", [False, True])
@pytest.mark.parametrize("runs", [0, 1_000])
def test_worlds_that_refuse_in_every_run_have_a_note_and_no_verdict(until_decided: bool, runs: int) -> None:
    met = Crossing(zero_rounding(), member("exponential-naive-float32"))
    row: Any = examine(met, seed=1, runs=runs, alpha=0.05, until_decided=until_decided)
    assert row.error is None
    assert row.note.startswith("both worlds refuse in every run, so nothing was tried; the first: IndexError")
    assert row.evidence == {}
    assert row.claim is not None


def test_a_member_that_no_attack_names_meets_the_quick_attacks_of_its_family() -> None:
    name = "gaussian-naive-polar"
    assert catalogue.naming(name) == []
    left_out = {one.name for one in absent(family("gaussian"))}
    known = [one for one in attacks() if one.family == "gaussian" and not left_out.issuperset(one.breaks)]
    quick = [one.name for one in known if not one.slow and one.channel is None]
    assert quick
    met = crossings(attacks(), mechanisms=[name])
    assert [one.attack.name for one in met] == quick
    assert {one.mechanism.name for one in met} == {name}
    assert name not in {one.mechanism.name for one in crossings(attacks())}


def test_a_member_that_attacks_name_meets_no_others() -> None:
    name = "exponential-naive-float32"
    assert {one.attack.name for one in crossings(attacks(), mechanisms=[name])} == set(catalogue.naming(name))


def test_an_attack_on_an_absent_library_alone_is_left_out() -> None:
    """Its event may be about the library: it would fail on every member."""
    against = coarse_noise(mechanism="jax-normal-float16")
    met = {one.mechanism.name for one in crossings([against], everything=True)}
    assert met == set() if "jax-normal-float16" in {one.name for one in absent(family("gaussian"))} else len(met) > 5


def test_a_library_s_member_with_a_law_meets_the_attacks_that_name_it() -> None:
    """It has an expected verdict, unlike the libraries' members without a law."""
    lawful = {one.name for one in members(family("gaussian")) if one.package and one.law is not None}
    met = {(one.attack.name, one.mechanism.name) for one in crossings(attacks()) if one.mechanism.name in lawful}
    assert met == {(one.name, name) for one in attacks() for name in lawful & set(one.breaks)}


def test_an_event_about_a_member_tells_nothing_about_a_library_s_member_unless_it_is_named() -> None:
    foreign = {one.name for one in members(family("gaussian")) if one.package and one.law is None}
    taken = foreign & {one.mechanism.name for one in crossings([coarse_noise()], everything=True)}
    assert foreign.isdisjoint(one.mechanism.name for one in crossings([coarse_noise()]))
    named = {one.mechanism.name for name in foreign for one in crossings([coarse_noise()], mechanisms=[name])}
    assert named == taken
