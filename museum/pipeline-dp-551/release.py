from functools import reduce

import numpy as np
from pipeline_dp import NaiveBudgetAccountant
from pipeline_dp.aggregate_params import AggregateParams, MechanismType, Metrics, NoiseKind, NormKind
from pipeline_dp.combiners import CombinerParams, VectorSumCombiner

params = AggregateParams(
    metrics=[Metrics.VECTOR_SUM],
    noise_kind=NoiseKind.LAPLACE,
    max_partitions_contributed=1,
    max_contributions_per_partition=1,
    vector_norm_kind=NormKind.Linf,
    vector_max_norm=1.0,
    vector_size=1,
)
accountant = NaiveBudgetAccountant(total_epsilon=1.0, total_delta=0.0)
combiner = VectorSumCombiner(CombinerParams(accountant.request_budget(MechanismType.LAPLACE), params))
accountant.compute_budgets()


def function(numbers):
    users = [combiner.create_accumulator([np.array([number])]) for number in numbers]
    total = reduce(combiner.merge_accumulators, users)
    return float(combiner.compute_metrics(total)["vector_sum"][0])
