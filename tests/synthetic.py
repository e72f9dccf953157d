"""Mechanisms whose law is known by construction, to audit the auditor with."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from attacks.attack import Attack, index_statistic
from attacks.events import OneOf
from mechanisms.bits import BitSource
from mechanisms.interface import Mechanism
from mechanisms.privacy import Claim


def randomized_response(name: str, spent: float, claimed: Claim) -> Mechanism[int, None, int]:
    """Tell the world truly with probability e^spent/(1+e^spent): a loss of exactly `spent` nats, δ = 0."""
    truth = math.exp(spent) / (1 + math.exp(spent))

    def sample(data: int, parameters: None, bits: BitSource, n: int) -> Any:
        lied = np.ldexp(bits.words(n, 53).astype(np.float64), -53) >= truth
        return (data ^ lied).astype(np.int64)

    return Mechanism(name, "synthetic", sample, lambda parameters, data_in, data_out: claimed)


def leaking(name: str, leak: float, claimed: Claim) -> Mechanism[int, None, int]:
    """Answer 0, and 1 with probability `leak` where the data is 1: (0, leak)-private and no better."""

    def sample(data: int, parameters: None, bits: BitSource, n: int) -> Any:
        leaked = np.ldexp(bits.words(n, 53).astype(np.float64), -53) < leak
        return (data & leaked).astype(np.int64)

    return Mechanism(name, "synthetic", sample, lambda parameters, data_in, data_out: claimed)


def attack_on_one_bit(worlds: Callable[[], tuple[int, int]] = lambda: (1, 0)) -> Attack[int, None, int]:
    return Attack("one-bit", "synthetic", worlds, None, OneOf((1,)), index_statistic, (), "by construction", "one bit")
