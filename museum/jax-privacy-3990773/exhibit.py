"""A linear model, trained with the parameters of a configuration that accepts its noise multiplier.

A step is made of eight accumulated batches: `effective_batch_size` says how many records it reads.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"

import numpy as np
from jax_privacy.keras_api import DPKerasConfig

from subnormal import Claim

config = DPKerasConfig(
    epsilon=1.5,
    delta=1e-5,
    clipping_norm=1.0,
    batch_size=4,
    gradient_accumulation_steps=8,
    train_steps=100,
    train_size=400,
    noise_multiplier=1.0,
)
RATE = config.effective_batch_size / config.train_size


def function(data, steps):
    random, theta = np.random.default_rng(), np.zeros(6)
    for _ in range(steps):
        batch = data[np.flatnonzero(random.random(len(data)) < RATE)]
        gradients = np.tanh(batch) / np.sqrt(6)  # of norm at most 1
        noise = random.normal(0, config.noise_multiplier * config.clipping_norm, 6)
        theta = theta - 0.1 * (gradients.sum(axis=0) + noise)
    return theta


data = np.random.default_rng(1).normal(size=(config.train_size, 6))
training = {
    "clip": config.clipping_norm,
    "noise_multiplier": config.noise_multiplier,
    "steps": config.train_steps,
    "sample_rate": RATE,
    "claim": Claim(config.epsilon, config.delta),
    "non_finite": False,
}
