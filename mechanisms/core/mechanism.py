"""The records that describe a mechanism, and a family of mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from numpy.typing import NDArray

if TYPE_CHECKING:
    from subnormal.mechanisms.bits import BitSource
    from subnormal.mechanisms.core.domain import Domain, Symmetry
    from subnormal.mechanisms.core.law import Law
    from subnormal.mechanisms.core.pair_boxes import Ceiling, Cube, PairBox
    from subnormal.mechanisms.privacy import Claim

D = TypeVar("D")  # data
P = TypeVar("P")  # the family's frozen dataclass of parameters: public values only
T = TypeVar("T")
O = TypeVar("O", bound=Hashable)  # an outcome  # noqa: E741 - the letter is the field's


@dataclass(frozen=True, slots=True)
class Refused:
    """An exception as an outcome: it can leak, too."""

    error: str


@dataclass(frozen=True, slots=True)
class Trace:
    """The side channels of one draw, as its `BitSource` counted them. An error is an outcome.

    tries: candidates drawn, rejected ones included. bits: taken from the source. steps: passes of a loop that may stop
    early, which stand for time.
    """

    tries: int
    bits: int
    steps: int


class NoLawError(Exception):
    """A mechanism has no law for these data: it would be too large to compute."""


Outcomes: TypeAlias = Sequence[Any] | NDArray[Any]  # many outcomes: an array of them, or a list with `Refused` in it


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism(Generic[D, P, O]):
    """One member of a family: how it samples, what it promises, and the law that its code has.

    sample(data, parameters, bits, n): n outcomes at once: an array of shape (n,), one of shape (n, k) where each is a
    tuple of k numbers (a law names it as a tuple), or a list where they differ in kind or length.
    law(data, parameters), where there is one: the distribution of exactly that code; it raises NoLawError for data
    whose law is too large to write down.
    runs(data, parameters), where given: the largest number of runs worth asking (a number, never the clock; 0: this
    pair is decided by its law alone).
    depth(data, parameters), where given: the number of random bits that one draw takes at most, where a walk over
    every string of them is affordable.
    package: the distribution whose code this is, where it is not ours; the member is left out where it is not
    installed.
    takes(data, parameters), where given: whether the mechanism is made for such data at all.
    trace_law(data, parameters), where given: the law of the pairs (outcome, Trace) of single draws. What it leaves to
    its rest are longer draws, with no fewer tries, bits or steps than the least of those that it names for the same
    outcome, if any of them can happen. trace_claim, where given: what it promises for these pairs.
    variant_of: the member whose outcomes it has to the last bit, so that an attack on outcomes would tell the same of
    both: it meets the attacks that name it, and no others.
    symmetries: of its law over the family's domains, each of them proved for this code.
    ceiling(box, parameters, claim), where given: certified upper bounds over a box of pairs of data, for domains whose
    pairs are too many to list.
    options(option=value), where given: the member with other options, which are the arguments, all with defaults.
    settings(parameters), where given: by name what it derives from the parameters, for readers of a report.
    """

    name: str
    family: str
    sample: Callable[[D, P, BitSource, int], Outcomes]
    claim: Callable[[P, D, D], Claim]
    law: Callable[[D, P], Law[O] | Any] | None = None  # a Law; of independent keys, a Product of them
    seeded: bool = True  # False: its randomness is its own, so its rows cannot be reproduced
    exact: bool = False  # True: built to keep its promise to the last bit, so every attack of its family must fail
    runs: Callable[[D, P], int] | None = None
    depth: Callable[[D, P], int | None] | None = None
    package: str = ""
    takes: Callable[[D, P], bool] | None = None
    trace_law: Callable[[D, P], Law[tuple[O | Refused, Trace]]] | None = None
    trace_claim: Callable[[P, D, D], Claim] | None = None
    variant_of: str = ""
    symmetries: tuple[Symmetry, ...] = ()
    ceiling: Callable[[PairBox, P, Claim], Ceiling] | None = None
    options: Callable[..., Mechanism[D, P, O]] | None = None
    settings: Callable[[P], Mapping[str, str | int]] | None = None


AnyMechanism = Mechanism[Any, Any, Any]
Draw: TypeAlias = Callable[["BitSource", int], Outcomes]  # a `sample` whose data and parameters are given


@dataclass(frozen=True, slots=True)
class InSteps:
    """A member's `sample` in two steps: prepare(data, parameters), which reads and counts no bits, returns the draw."""

    prepare: Callable[[Any, Any], Draw]

    def __call__(self, data: Any, parameters: Any, bits: BitSource, n: int) -> Outcomes:
        return self.prepare(data, parameters)(bits, n)


def draw_of(mechanism: AnyMechanism, data: Any, parameters: Any) -> Draw:
    """Return the draw, for many calls: they do what they did, with what depends on no bits done once where it can be.

    What `prepare` raises, each call raises.
    """
    sample = mechanism.sample
    if isinstance(sample, InSteps):
        with suppress(Exception):
            return sample.prepare(data, parameters)
    return partial(sample, data, parameters)


def of_member(
    function: Callable[..., T], arguments_of: Callable[[Any], tuple[Any, dict[str, Any]]]
) -> Callable[..., T]:
    """Return a member's `sample` or `law` from that of its module, whose data are followed by a rate of some kind.

    arguments_of(parameters) returns the rate, and the options by name.
    """

    def adapted(data: Any, parameters: Any, *bits_and_n: Any) -> T:
        rate, options = arguments_of(parameters)
        return function(data, rate, *bits_and_n, **options)

    return adapted


@dataclass(frozen=True, slots=True, eq=False)
class Family(Generic[D, P]):
    """Mechanisms that take the same data and parameters, and so can be put side by side.

    All that an audit must know of a family is a field here: it imports no family by name.

    parameters: the type of the public parameters. members: "module:ATTRIBUTE", imported when used; the first exact one
    is what attacks meet by default, and what reports recommend.
    adjacent(parameters, data_in, data_out): whether the claim covers the pair. What "adjacent" means depends on a
    public parameter, the sensitivity.
    claim(parameters, data_in, data_out): what a sound mechanism with these parameters promises.
    domain(options by name): a finite domain over which claims are decided, a `Cube` where its data are too many to
    list; every option has a default. None: none.
    order: of families in reports and lists, the least first; those of the same order by their names.
    """

    name: str
    parameters: type[P]
    adjacent: Callable[[P, D, D], bool]
    claim: Callable[[P, D, D], Claim]
    members: tuple[str, ...]
    domain: Callable[..., Domain[D, P] | Cube[P]] | None = None
    order: int = 100
