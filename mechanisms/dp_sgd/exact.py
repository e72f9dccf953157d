"""DP-SGD, exactly: clipping with a proved sensitivity, Poisson sampling by exact coins, discrete Gaussian noise.

The noise is z·γ with P(z) ∝ e^(−z²γ²/(2σ²C²)), independent in each coordinate and step, γ = 2^grid. The claim is
`accounting.sound_claim`: gradients on the grid have a norm of at most C, see `clipping`.

Side channels. The size of a batch, which takes time and is not released. What a draw of `gaussian_exact` does.
Source: Kairouz, Liu, Steinke 2021, "The Distributed Discrete Gaussian Mechanism" (discrete noise on rounded gradients).
"""

from __future__ import annotations

from typing import Any

from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients, claim
from subnormal.mechanisms.dp_sgd.steps import Step

STEP = Step()
sample, law = STEP.sample, STEP.law

EXACT: Mechanism[Gradients, DpSgdParameters, Any] = Mechanism("dp-sgd-exact", "dp-sgd", sample, claim, law, exact=True)
