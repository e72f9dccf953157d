"""Which attacks meet which members."""

from subnormal.attacks import catalogue
from subnormal.attacks.additive.coarse_noise import coarse_noise
from subnormal.attacks.catalogue import attacks
from subnormal.audit.engine.pairs import crossings
from subnormal.mechanisms.families import absent, family, members


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
