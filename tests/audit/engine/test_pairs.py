"""Which attacks meet which members."""

from subnormal.attacks import catalogue
from subnormal.attacks.catalogue import attacks
from subnormal.audit.engine.pairs import crossings


def test_a_member_that_no_attack_names_meets_the_quick_attacks_of_its_family() -> None:
    name = "gaussian-naive-polar"
    assert catalogue.naming(name) == []
    quick = [one.name for one in attacks() if one.family == "gaussian" and not one.slow and one.channel is None]
    assert quick
    met = crossings(attacks(), mechanisms=[name])
    assert [one.attack.name for one in met] == quick
    assert {one.mechanism.name for one in met} == {name}
    assert name not in {one.mechanism.name for one in crossings(attacks())}


def test_a_member_that_attacks_name_meets_no_others() -> None:
    name = "exponential-naive-float32"
    assert {one.attack.name for one in crossings(attacks(), mechanisms=[name])} == set(catalogue.naming(name))
