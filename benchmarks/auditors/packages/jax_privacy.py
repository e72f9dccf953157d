"""jax_privacy: all methods of CanaryScoreAuditor that state a lower bound at a confidence."""

from jax_privacy.auditing import CanaryScoreAuditor, MultiSplit, Split


def method(name, **options):
    def bound(scores, included, delta, alpha):
        return getattr(CanaryScoreAuditor(scores[included], scores[~included]), name)(alpha, delta, **options)

    return bound


AUDITORS = {
    "epsilon_clopper_pearson": method("epsilon_clopper_pearson"),
    "epsilon_clopper_pearson, Split": method("epsilon_clopper_pearson", threshold_strategy=Split(seed=1)),
    "epsilon_one_run": method("epsilon_one_run"),
    "epsilon_one_run, Split": method("epsilon_one_run", threshold_strategy=Split(seed=1)),
    "epsilon_one_run, MultiSplit": method("epsilon_one_run", threshold_strategy=MultiSplit(num_samples=20, seed=1)),
    "epsilon_one_run_fdp": method("epsilon_one_run_fdp"),
    "epsilon_from_gdp": method("epsilon_from_gdp"),
}
GAUSSIAN = ("epsilon_one_run_fdp", "epsilon_from_gdp")  # they assume a Gaussian curve
