"""Geometric trials: the running time of a sampler that counts trials until one fails reveals the size of its noise.

Discrete noise is drawn as a sign and a magnitude, the number of Bernoulli trials before the first that fails. An
attacker who sees the output o and counts s passes of the loop knows that f = o − (s − 1)·γ or f = o + (s − 1)·γ, where
γ is the grid: two values remain, at any ε. A rejected −0 adds passes, so the equation fails, but s − 1 is never below
|o − f|/γ: an output with too few passes still excludes f.

Source: Jin, McMurtry, Rubinstein, Ohrimenko 2021 (arXiv:2112.05307), timing attacks on discrete samplers.
"""

from __future__ import annotations

from dataclasses import replace

from subnormal.attacks.additive.public_bounds import laplace_parameters
from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import CountedDistance


@constructor("geometric-trials")
def geometric_trials(name: str, epsilon: float = 0.1) -> AnyAttack:
    """Return the attack on discrete Laplace noise: a count of 1 with Alice and of 0 without her.

    The event is that the distance of the output from 1 equals the number of trials. With Alice it happens unless −0 was
    rejected: with probability (1+q)/2. Without her it happens only if rejected −0s make up for the difference.

    epsilon: nats. Raises ValueError unless it is positive and finite.
    """
    usual = laplace_parameters(epsilon)
    parameters = replace(usual, lower=usual.lower / 4, upper=usual.upper / 4)  # a law of traces has many atoms
    event = CountedDistance(1.0, 2.0**parameters.grid)
    return Attack(
        name=name,
        family="laplace",
        worlds=lambda: (1, 0),
        parameters=parameters,
        event=event,
        statistic=event.near,
        breaks=("laplace-textbook",),
        source="Jin et al. 2021 (arXiv:2112.05307): timing attacks on discrete samplers",
        description="a count of 1 with Alice, 0 without: the output and the number of trials leave two possible values",
        channel="steps",
        axis="unexplained steps, × −1 (−8: or more)",
    )
