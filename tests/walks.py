"""A member's law against every string of bits through its sampler."""

from functools import partial
from typing import Any

import numpy as np

from audit import exhaustive
from mechanisms.bits import BitSource
from mechanisms.interface import Mechanism
from mechanisms.product import Product


def one_draw(mechanism: Mechanism[Any, Any, Any], data: Any, parameters: Any, bits: BitSource) -> Any:
    drawn = mechanism.sample(data, parameters, bits, 1)[0]
    return drawn.item() if isinstance(drawn, np.generic) else drawn


def assert_within_the_law(mechanism: Mechanism[Any, Any, Any], data: Any, parameters: Any, rest: float) -> None:
    """Every string of 12 bits, two a word: what is decided lies below the law, and the law below that and the rest."""
    assert mechanism.law is not None
    law = mechanism.law(data, parameters)
    if isinstance(law, Product):
        law = law.on(law.parts)
    walked = exhaustive.law(partial(one_draw, mechanism, data, parameters), depth=12, word_bits=2)
    assert walked.rest <= rest
    for atom in law.atoms.tolist() if isinstance(law.atoms, np.ndarray) else law.atoms:
        (low, high), decided = law.probability(atom), walked.probability(atom)[0]
        assert decided <= high
        assert low <= decided + walked.rest
