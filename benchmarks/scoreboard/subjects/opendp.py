"""OpenDP for the vectors: its noise, and its transformations with the bounds of their maps."""

import math
from fractions import Fraction
from functools import cache

import opendp.prelude as dp

dp.enable_features("contrib", "honest-but-curious")
INTEGERS = dp.vector_domain(dp.atom_domain(T=int))
REAL = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
REALS = dp.vector_domain(dp.atom_domain(T=float, nan=False))
SCORES = REALS, dp.linf_distance(T=float)
SET = dp.symmetric_distance()


def laplace(parameters, n):
    scale = float(Fraction(parameters["scale"]))
    return dp.m.make_laplace(INTEGERS, dp.l1_distance(T=int), scale=scale)([0] * n)


def gaussian(parameters, n):
    scale = math.sqrt(Fraction(parameters["variance"]))
    return dp.m.make_gaussian(INTEGERS, dp.l2_distance(T=float), scale=scale)([0] * n)


def response(parameters, n):
    categories, probability = list(range(parameters["categories"])), float(Fraction(parameters["probability"]))
    function = dp.m.make_randomized_response(categories, prob=probability)
    return [function(parameters["truth"]) for _ in range(n)]


def permute_and_flip(parameters, n):
    scale = float(1 / Fraction(parameters["rate"]))
    function = dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=scale)
    return [function([float(score) for score in parameters["scores"]]) for _ in range(n)]


def is_exact(data):
    """Return whether the data are an integer that a float can hold: rounding others is not the library's fault."""
    return isinstance(data, int) and abs(data) <= 2**53


@cache
def noise(make, scale):
    return make(*REAL, scale=scale)


def laplace_float(parameters, data):
    return noise(dp.m.make_laplace, 1 / parameters["epsilon"])(float(data)) if is_exact(data) else None


def gaussian_float(parameters, data):
    return noise(dp.m.make_gaussian, parameters["sigma"])(float(data)) if "sigma" in parameters else None


def within(parameters):
    """Return clamping of floats or integers to the bounds; of a stated number of records, where there is one."""
    bounds, size = (parameters["lower"], parameters["upper"]), parameters.get("size")
    atom = dp.atom_domain(T=float, nan=False) if isinstance(bounds[0], float) else dp.atom_domain(T=int)
    return dp.t.make_clamp(dp.vector_domain(atom, **({} if size is None else {"size": size})), SET, bounds)


def behind(step):
    """Return a transformation behind clamping."""

    def made(parameters):
        before = within(parameters)
        return before >> step(before.output_domain, before.output_metric)

    return made


def cast(kind):
    return dp.t.make_cast_default(dp.vector_domain(dp.atom_domain(T=kind)), SET, TOA=int)


def sum_of(kind):
    return lambda p: cast(kind) >> dp.t.then_clamp((p["lower"], p["upper"])) >> dp.t.then_sum()


def histogram(p):
    bins = dp.t.make_find_bin(dp.vector_domain(dp.atom_domain(T=float)), SET, p["edges"]) >> dp.t.then_cast_default(int)
    return bins >> dp.t.then_count_by_categories(list(range(len(p["edges"]) + 1)), null_category=False)


ROUNDED = {  # their maps say more than the bound of the vectors, because they round
    "sum": behind(dp.t.make_sum),
    "integer-sum": behind(dp.t.make_sum),
    "sized-sum": behind(dp.t.make_sum),
    "mean": behind(dp.t.make_mean),
    "squared-deviations": behind(dp.t.make_sum_of_squared_deviations),
    "quantile-scores": lambda p: dp.t.make_quantile_score_candidates(REALS, SET, p["candidates"], p["quantile"]),
}
TRANSFORMATIONS = ROUNDED | {
    "resize": lambda p: dp.t.make_resize(dp.vector_domain(dp.atom_domain(T=int)), SET, p["size"], p["fill"]),
    "count": lambda p: dp.t.make_count(dp.vector_domain(dp.atom_domain(T=float)), SET),
    "count-of-numbers": lambda p: cast(str) >> dp.t.then_count(),
    "sum-of-numbers": sum_of(str),
    "sum-of-casts": sum_of(float),
    "histogram": histogram,
}


def answering(name):
    def answer(parameters, records):
        outside = name in ROUNDED and any(record != record for record in records)  # NaN is not in the domain
        return None if outside else TRANSFORMATIONS[name](parameters)(records)

    return answer


def promising(name):
    def promised(parameters, bound):  # of equal records in another order, what the map says of the distance 0
        return ROUNDED[name](parameters).map(2 if "size" in parameters else int(bound > 0))

    return promised


QUERIES = {name: answering(name) for name in TRANSFORMATIONS}
BOUNDS = {name: promising(name) for name in ROUNDED}
DRAWS = {
    "discrete-laplace": laplace,
    "discrete-gaussian": gaussian,
    "randomized-response": response,
    "permute-and-flip": permute_and_flip,
}
MECHANISMS = {"laplace": laplace_float, "gaussian": gaussian_float}
