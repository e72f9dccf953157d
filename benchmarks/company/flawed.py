"""Statistics of the company, each with one bug that breaks its claim.

Every function states its claim and its neighbours. All bounds, thresholds, categories and numbers of steps are public.
"""

import math
from collections import Counter

import numpy as np
import pandas as pd

from benchmarks.company.sound import BITS, BRACKETS, CANDIDATES, MODES, RNG, SIGMA, STEPS, STORES, WEIGHTS, BudgetError


def count(ages: list[int], epsilon: float = 0.5, limit: int = 65) -> float:
    """The number of people of at least this age. It is epsilon-DP; neighbours: one record added or removed.

    Wrong: the scale of the noise is epsilon instead of 1 / epsilon.
    """
    seniors = sum(age >= limit for age in ages)
    return float(seniors + RNG.laplace(0.0, epsilon))


def clipped_mean(values: list[float], epsilon: float = 1.0, upper: float = 100.0) -> float:
    """The mean of values clipped to [0, upper]. It is epsilon-DP; neighbours: one record added or removed.

    Wrong: the noisy sum is divided by the true number of records.
    """
    clipped = np.clip(np.array(values, dtype=float), 0.0, upper)
    noisy_sum = clipped.sum() + RNG.laplace(0.0, upper / (epsilon / 2))
    return float(noisy_sum / max(len(clipped), 1))


def histogram(modes: list[str], epsilon: float = 1.0) -> dict[str, float]:
    """The number of trips by each mode. It is epsilon-DP; neighbours: one record added or removed.

    Wrong: the modes come from the data, so a mode that nobody used is missing.
    """
    counts = Counter(modes)
    return {mode: float(counts[mode] + RNG.laplace(0.0, 1.0 / epsilon)) for mode in sorted(counts)}


def threshold_histogram(words: list[str], epsilon: float = 1.0, delta: float = 1e-6) -> dict[str, float]:
    """The counts of the words in the data, where they are large.

    It is (epsilon, delta)-DP; neighbours: one record added or removed.

    Wrong: the threshold is compared with the true count.
    """
    threshold = 1.0 + math.log(1.0 / (2.0 * delta)) / epsilon
    released = {}
    for word, number in sorted(Counter(words).items()):
        noisy = float(number + RNG.laplace(0.0, 1.0 / epsilon))
        if number > threshold:
            released[word] = noisy
    return released


def quantile(ages: list[int], epsilon: float = 1.0, q: float = 0.5) -> int:
    """A quantile, by the exponential mechanism on public candidates.

    It is epsilon-DP; neighbours: one record added or removed.

    Wrong: the exponent lacks the factor 2 of the exponential mechanism.
    """
    data = np.array(ages, dtype=float)
    grid = np.array(CANDIDATES, dtype=float)
    below = (data[None, :] < grid[:, None]).sum(axis=1)
    above = (data[None, :] > grid[:, None]).sum(axis=1)
    scores = -np.abs((1.0 - q) * below - q * above)
    sensitivity = max(q, 1.0 - q)
    weights = np.exp(epsilon * (scores - scores.max()) / sensitivity)
    return int(RNG.choice(CANDIDATES, p=weights / weights.sum()))


def sparse_vector(incomes: list[int], epsilon: float = 1.0, threshold: float = 5.0) -> int | None:
    """The first bracket that at least `threshold` people reach, or None.

    It is epsilon-DP; neighbours: one record added or removed.

    Wrong: the threshold has no noise.
    """
    for index, bracket in enumerate(BRACKETS):
        reached = sum(income >= bracket for income in incomes)
        if reached + RNG.laplace(0.0, 2.0 / epsilon) >= threshold:
            return index
    return None


def sales_by_store(frame: pd.DataFrame, epsilon: float = 1.0, rows: int = 3, cap: float = 100.0) -> dict[str, float]:
    """The sales of each public store. It is epsilon-DP; neighbours: all rows of one user added or removed.

    Wrong: random rows of each user in each store are kept, so a user of many stores keeps more rows.
    """
    shuffled = frame.sample(frac=1.0, random_state=RNG)
    kept = shuffled.groupby(["user", "store"]).head(rows)
    amounts = kept["amount"].astype(float).clip(0.0, cap)
    totals = amounts.groupby(kept["store"]).sum().reindex(list(STORES), fill_value=0.0).to_numpy(dtype=float)
    noisy = totals + RNG.laplace(0.0, rows * cap / epsilon, len(STORES))
    return dict(zip(STORES, noisy.tolist()))


def rappor(value: int, f: float = 0.5, calibration: float = 0.02) -> list[int]:
    """The permanent randomized response of one value. It is 2 ln((2 - f) / f)-DP; neighbours: any two values.

    Wrong: the raw bits are sent with a probability of 2 %, to measure the error of the estimates.
    """
    bits = np.zeros(BITS, dtype=int)
    bits[value] = 1
    if RNG.random() < calibration:
        return bits.tolist()
    replaced = RNG.random(BITS) < f
    coins = RNG.integers(0, 2, BITS)
    return np.where(replaced, coins, bits).tolist()


def dp_sgd_step(
    batch: list[tuple[float, float, float]], clip: float = 1.0, rate: float = 0.1, size: float = 10.0
) -> list[float]:
    """The weights of a linear model after a step.

    It is (1, 1e-5)-DP; neighbours: one example added or removed.

    Wrong: each gradient is scaled by the norm of the whole batch instead of its own.

    `size` is the expected size of a batch.
    """
    examples = np.array(batch, dtype=float).reshape(-1, 3)
    features, targets = examples[:, :2], examples[:, 2]
    weights = np.array(WEIGHTS)
    gradients = (features @ weights - targets)[:, None] * features
    norms = np.linalg.norm(gradients)
    clipped = gradients * np.minimum(1.0, clip / np.maximum(norms, 1e-12))
    noisy = clipped.sum(axis=0) + RNG.normal(0.0, SIGMA * clip, 2)
    return (weights - rate * noisy / size).tolist()


def tree_counter(events: list[int], epsilon: float = 1.0) -> list[float]:
    """All running totals of a stream of 0 and 1, by the binary tree.

    It is epsilon-DP; neighbours: one event changed.

    Wrong: an event is in one node of each level, but the noise does not grow with the number of levels.
    """
    levels = STEPS.bit_length()
    nodes = {}
    for level in range(levels):
        width = 2**level
        for start in range(0, STEPS, width):
            total = sum(min(max(event, 0), 1) for event in events[start : start + width])
            nodes[level, start] = total + RNG.laplace(0.0, 1.0 / epsilon)
    totals = []
    for step in range(1, STEPS + 1):
        total, start = 0.0, 0
        for level in reversed(range(levels)):
            if step >> level & 1:
                total += nodes[level, start]
                start += 2**level
        totals.append(float(total))
    return totals


def synthetic_data(modes: list[str], epsilon: float = 1.0, size: int = 10) -> list[str]:
    """Records sampled from a noisy histogram. They are epsilon-DP; neighbours: one record added or removed.

    Wrong: up to two of the rows are original ones, to keep the samples realistic.
    """
    counts = Counter(modes)
    noisy = np.array([counts[mode] for mode in MODES]) + RNG.laplace(0.0, 1.0 / epsilon, len(MODES))
    weights = np.maximum(noisy, 0.0)
    if weights.sum() <= 0.0:
        weights = np.ones(len(MODES))
    rows = RNG.choice(MODES, size, p=weights / weights.sum()).tolist()
    originals = RNG.permutation(modes)[:2].tolist()
    return originals + rows[len(originals) :]


class Session:
    """Questions about one dataset that share a budget. Neighbours: one record added or removed."""

    def __init__(self, values: list[float], budget: float, upper: float = 100.0) -> None:
        self.values = np.clip(np.array(values, dtype=float), 0.0, upper)
        self.upper = upper
        self.left = budget

    def spend(self, epsilon: float) -> None:
        """The budget is charged before an answer is computed."""
        if epsilon > self.left:
            raise BudgetError
        self.left -= epsilon

    def count(self, epsilon: float) -> float:
        """The number of records. It is epsilon-DP."""
        self.spend(epsilon)
        return float(len(self.values) + RNG.laplace(0.0, 1.0 / epsilon))

    def mean(self, epsilon: float) -> float:
        """The clipped mean. It is epsilon-DP."""
        noisy_sum = self.values.sum() + RNG.laplace(0.0, self.upper / (epsilon / 2))
        noisy_count = len(self.values) + RNG.laplace(0.0, 1.0 / (epsilon / 2))
        return float(noisy_sum / max(noisy_count, 1.0))


def session(values: list[float], budget: float = 1.0) -> list[float | None]:
    """The answers to three questions, None where the budget is used up.

    They are budget-DP; neighbours: one record added or removed.

    Wrong: the mean is not charged to the budget, so a third answer is given.
    """
    asked = Session(values, budget)
    answers: list[float | None] = []
    for question in (asked.count, asked.mean, asked.count):
        try:
            answers.append(question(0.5))
        except BudgetError:
            answers.append(None)
    return answers
