"""DP-Sniper: its attack on the named pair, with each of its two classifiers, in both directions."""

import logging
import math

from dpsniper.attack.dpsniper import DPSniper
from dpsniper.classifiers.classifier_factory import LogisticRegressionFactory, MultiLayerPerceptronFactory
from dpsniper.classifiers.torch_optimizer_factory import AdamOptimizerFactory, SGDOptimizerFactory
from dpsniper.mechanisms.abstract import Mechanism
from dpsniper.probability.binomial_cdf import lcb, ucb
from dpsniper.probability.estimators import PrEstimator
from dpsniper.search.ddconfig import DDConfig

from benchmarks.adversary.tools import ALPHA, Runs, answer


class Adapter(Mechanism):
    def __init__(self, runs):
        self.runs = runs

    def m(self, a, n_samples=1):
        return self.runs.many(int(a), n_samples)


def convicts(runs: Runs, count: int) -> bool:
    config = DDConfig(n_train=count, n=count, n_check=count, n_processes=1, confidence=1 - ALPHA)
    mechanism, claim = Adapter(runs), runs.problem.claim
    for factory in (
        LogisticRegressionFactory(in_dimensions=runs.length, optimizer_factory=SGDOptimizerFactory()),
        MultiLayerPerceptronFactory(in_dimensions=runs.length, optimizer_factory=AdamOptimizerFactory()),
    ):
        for one, other in ((0, 1), (1, 0)):
            attack = DPSniper(mechanism, factory, config).best_attack(one, other)
            estimator = PrEstimator(mechanism, count, config)
            first, second = (int(count * estimator.compute_pr_estimate(each, attack)) for each in (one, other))
            low, high = lcb(count, first, ALPHA / 2), ucb(count, second, ALPHA / 2)
            if low > math.exp(claim.epsilon) * high + claim.delta:
                return True
    return False


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    answer(convicts)
