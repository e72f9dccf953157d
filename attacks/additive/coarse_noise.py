"""Coarse noise: a sampler of few random bits reaches few floats, so an outcome excludes the other world.

Noise from b random bits has at most 2^b values. With a gradient of norm C in one world and none in the other, an
outcome is a sum C + z or a value z. It is possible in both worlds only where a sum is a value. The rest of the mass is
on outcomes that prove the world: δ is at least that large, at every finite ε. With one value for each of the 2^b words
it is the share of the values that are no sum: 111 of 128 in bfloat16 by the inverse error function, 907 of 1,024 in
float16, and 0.889 in float32.

Sources: Mironov 2012 (CCS), the same of Laplace noise in float64; Jin et al. 2021 (arXiv:2112.05307), of libraries that
train models.
"""

from __future__ import annotations

from math import ceil

from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.unreachable import Unreachable
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.privacy import require_positive

SOURCE = "Mironov 2012 (CCS) and Jin et al. 2021 (arXiv:2112.05307): noise that reaches few floats"

DELTA = 1e-6  # where claims are stated
OTHERS = (  # than the usual member
    "gaussian-inverse-float16",
    "gaussian-inverse-float32",
    "gaussian-box-muller-bfloat16",
    "gaussian-box-muller-float16",
    "jax-normal-bfloat16",
    "jax-normal-float16",
    "jax-normal-float32",
    "torch-normal-bfloat16",
    "torch-normal-float16",
)


@constructor("coarse-noise", ({}, *({"mechanism": name} for name in OTHERS)))
def coarse_noise(name: str, sigma: float = 1.0, mechanism: str = "gaussian-inverse-bfloat16") -> AnyAttack:
    """Return the attack: the sum of gradients is 1 with Alice, the clipping norm, and 0 without her.

    The event is an outcome that 1 cannot lead to.

    sigma: the standard deviation, in units of the clipping norm. mechanism: the member that is attacked, by its law.
    Raises ValueError for a σ that is not positive and finite.
    """
    require_positive("sigma", sigma)
    bound = 16.0 * ceil(sigma)
    parameters = GaussianParameters(sigma=sigma, delta=DELTA, sensitivity=1.0, grid=-4, lower=-bound, upper=bound)
    return Attack(
        name=name,
        family="gaussian",
        worlds=lambda: (1.0, 0.0),
        parameters=parameters,
        event=Unreachable(mechanism, 1.0, parameters),
        breaks=(mechanism,),
        source=SOURCE,
        description="the sum is 1 with Alice, 0 without: noise of few random bits has few values, and 1 excludes most",
        slow=mechanism.endswith("float32"),
    )
