"""The catalogue knows every attack, builds those that are asked for, and from a name all that the name says."""

import inspect
import sys
from typing import Any

import pytest

from subnormal.attacks import catalogue
from subnormal.attacks.catalogue import attack, attacks, chosen, constructors
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.constructor import Constructor
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from tests.support.paths import ROOT
from tests.support.processes import run


def test_importing_the_catalogue_imports_no_attack_and_builds_none() -> None:
    code = (
        "import sys; from subnormal.attacks import catalogue; "
        "assert not catalogue._shown.cache_info().currsize; "
        "print(*[name for name in sys.modules if name.count('.') > 2 and name.startswith('subnormal.attacks')"
        " and '.core.' not in name])"
    )
    assert run([sys.executable, "-c", code]).stdout == "\n"


def test_one_attack_is_built_alone() -> None:
    code = (
        "from subnormal.attacks import catalogue; catalogue.attack('boundary@threshold=2'); catalogue.names(); "
        "print(catalogue._shown.cache_info().currsize)"
    )
    assert run([sys.executable, "-c", code]).stdout == "1\n"


def test_every_file_of_an_attack_is_named_by_its_folder() -> None:
    files = [path for path in (ROOT / "attacks").glob("*/*.py") if "\n@constructor(" in path.read_text()]
    named = [f"subnormal.attacks.{path.parent.name}.{path.stem}" for path in files]
    missing = set(named) ^ set(catalogue.files())
    assert not missing, f"FILES in __init__.py of their folder: these files have no line, or no constructor: {missing}"
    assert len(set(catalogue.files())) == len(catalogue.files())


@pytest.mark.parametrize("file", catalogue.files())
def test_a_constructor_can_be_called_by_its_options(file: str) -> None:
    for one in catalogue.in_file(file):
        assert constructors()[one.name] is one, f"attacks/{file.replace('.', '/')}.py: another attack is {one.name!r}"
        for option, default in one.defaults.items():
            readable = default is not inspect.Parameter.empty and isinstance(default, int | float | str | type)
            assert readable, f"attacks/{file.replace('.', '/')}.py: {option} of {one.name} needs a default"


@pytest.mark.parametrize("name", catalogue.names())
def test_a_name_builds_its_attack(name: str) -> None:
    """With options that are not the defaults, too: nothing of a name is lost on the way."""
    made = attack(name)
    assert made.name == name
    assert attack(name) is made
    again = catalogue._built(name, {})
    assert (again.parameters, again.breaks, again.family) == (made.parameters, made.breaks, made.family)


@pytest.mark.parametrize("made", [attack("grid-precision-float32"), zero_rounding(2.0, 7)], ids=lambda one: one.name)
def test_what_the_catalogue_does_not_show_is_built_from_its_name(made: Attack[Any, Any, Any]) -> None:
    assert made.name not in catalogue.names()
    assert not catalogue.shows(made)
    again = attack(made.name)
    assert (again.name, again.parameters) == (made.name, made.parameters)


def test_options_are_read_by_the_kind_of_their_default() -> None:
    assert attack("coarse-noise@mechanism=gaussian-inverse-float16,sigma=2").breaks == ("gaussian-inverse-float16",)
    made = attack("zero-rounding@epsilon=2,outcomes=7,float_type=float32")
    assert made.name == "zero-rounding@epsilon=2.0,outcomes=7,float_type=float32"
    assert attack("zero-rounding", epsilon=2, outcomes=7, float_type="float32").parameters == made.parameters
    assert attack("zero-rounding@outcomes=7", outcomes=8).name == "zero-rounding@outcomes=8"
    assert attack("zero-rounding", epsilon=0.5, outcomes=100) is attack("zero-rounding")
    assert attack("least-significant-bits@float_type=float32") is attack("least-significant-bits-float32")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nope", LookupError, "unknown attack 'nope'; `subnormal list` shows all"),
        ("zero-roundin", LookupError, "unknown attack 'zero-roundin'; did you mean 'zero-rounding'"),
        ("zero-rounding@epsilo=1", LookupError, "unknown option of zero-rounding 'epsilo'; did you mean 'epsilon'"),
        ("zero-rounding@7", LookupError, "unknown option of zero-rounding '7'; known: epsilon, outcomes, float_type"),
        ("zero-rounding@epsilon=one", ValueError, "epsilon must be a number, got 'one'"),
        ("zero-rounding@outcomes=7.5", ValueError, "outcomes must be an integer, got '7.5'"),
        ("zero-rounding@float_type=float8", ValueError, "float_type must be one of float64, float32"),
        ("zero-rounding@float_type=int32", ValueError, "float_type must be one of .*, got .*int32"),
        ("zero-rounding@epsilon=-1", ValueError, "epsilon must be positive and finite, got -1.0"),
        ("zero-rounding@outcomes=1", ValueError, "outcomes must be at least 2, got 1"),
        ("zero-rounding@epsilon=1e-7,float_type=float16", ValueError, r"no boundary near utility \d+ in float16"),
        ("grid-precision@float_type=bfloat16", ValueError, "float_type must be one of float64, float32, float16"),
        ("auction@highest=0", ValueError, "highest must be at least 1, got 0"),
        ("auction@epsilon=1e-13", ValueError, r"epsilon = 1e-13 has no boundary at less than \d+ bids in float64"),
        ("gumbel-ties@epsilon=0.07", ValueError, r"epsilon must be below group/2\^24 = 0.0625, got 0.07"),
        ("gumbel-ties@group=0", ValueError, "group must be at least 1, got 0"),
        ("negligible-region@epsilon=0.1", ValueError, "epsilon = 0.1: with and without a record"),
    ],
)
def test_a_name_that_builds_nothing_is_an_error(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        attack(name)


def test_chosen_attacks_come_once_and_in_the_order_of_reports() -> None:
    asked = ["zero-rounding@outcomes=7", "boundary", "zero-rounding", "boundary@threshold=10"]
    assert [one.name for one in chosen(asked)] == ["zero-rounding", "boundary", "zero-rounding@outcomes=7"]
    assert len(attacks()) == len(catalogue.names())


OPTIONS = [(one, option, default) for one in constructors().values() for option, default in one.defaults.items()]


@pytest.mark.parametrize(("one", "option", "default"), OPTIONS, ids=lambda part: str(getattr(part, "name", part)))
def test_no_constructor_takes_a_number_that_makes_no_attack(
    one: Constructor[..., Any], option: str, default: object
) -> None:
    if isinstance(default, float):
        for value in (0.0, -1.0, float("inf"), float("nan")):
            with pytest.raises(ValueError, match=r"must be|no boundary"):
                one(**{option: value})
