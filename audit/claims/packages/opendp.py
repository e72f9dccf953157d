"""opendp: privacy maps, measure casts and accuracies."""

import opendp.prelude as dp

dp.enable_features("contrib", "honest-but-curious")

MEASUREMENTS = 1_000  # of a composition
DRAWS = 1 << 15  # of noise
INTEGERS = dp.vector_domain(dp.atom_domain(T=int))
INTEGER = dp.atom_domain(T=int), dp.absolute_distance(T=int)
REAL = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
COUNTS = (dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), dp.l01inf_distance(dp.absolute_distance(T=int)))
SUMS = (
    dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=float, nan=False)),
    dp.l01inf_distance(dp.absolute_distance(T=float)),
)
SCORES = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)


def laplace(scale, steps, delta, where=REAL, distance=1.0):
    """Return ε of the map of pure privacy; of several steps, the sum. Raises ValueError for too many steps."""
    if steps > MEASUREMENTS:
        raise ValueError("a measurement for each step would take too long")
    one = dp.m.make_laplace(*where, scale=scale)
    return one.map(distance) if steps == 1 else dp.c.make_composition([one] * steps).map(distance)


def discrete_laplace(scale, steps, delta):
    return laplace(scale, steps, delta, INTEGER, 1)


def gaussian_zcdp(sigma):
    return dp.m.make_gaussian(*REAL, scale=sigma).map(1.0)


def threshold(scale, threshold):
    return dp.m.make_laplace_threshold(*COUNTS, scale=scale, threshold=threshold).map((1, 1, 1))[1]


def threshold_real(scale, threshold):
    return dp.m.make_laplace_threshold(*SUMS, scale=scale, threshold=threshold).map((1, 1.0, 1.0))[1]


def randomized_response(categories, probability):
    return dp.m.make_randomized_response(list(range(categories)), prob=probability).map(1)


def exponential(scale):
    return dp.m.make_report_noisy_max_gumbel(*SCORES, scale=scale, optimize="max").map(1.0)


def permute_and_flip(scale):
    return dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=scale).map(1.0)


def profile(rho):
    """Return the profile that the cast from ρ-zCDP gives to a measurement that claims ρ."""
    one = dp.m.make_user_measurement(
        *REAL, dp.zero_concentrated_divergence(), function=lambda x: x, privacy_map=lambda d: d * rho, TO=float
    )
    return dp.c.make_zCDP_to_approxDP(one).map(1.0)


def zcdp(rho, delta):
    return profile(rho).epsilon(delta)


def zcdp_delta(rho, epsilon):
    return profile(rho).delta(epsilon)


def pure_to_zcdp(epsilon):
    one = dp.m.make_user_measurement(
        *REAL, dp.max_divergence(), function=lambda x: x, privacy_map=lambda d: d * epsilon, TO=float
    )
    return dp.c.make_pureDP_to_zCDP(one).map(1.0)


def gaussian(sigma, steps, delta):
    return zcdp(gaussian_zcdp(sigma) * steps, delta)


def budget(epsilon, failure):
    """Return a measurement with this budget."""
    measure = dp.approximate(dp.max_divergence())
    return dp.m.make_user_measurement(
        *REAL, measure, function=lambda x: x, privacy_map=lambda d: (d * epsilon, failure), TO=float
    )


def within(spent, delta):
    """Return the ε of what is spent. Raises ValueError where more than delta is."""
    if spent[1] > delta:
        raise ValueError("the total of delta is larger")
    return spent[0]


def mixed_composition(budgets, delta):
    return within(dp.c.make_composition([budget(*one) for one in budgets]).map(1.0), delta)


def spent_by_odometer(budgets, delta):
    """Return what an odometer states after measurements with these budgets, each chosen when it is its turn."""
    odometer = dp.c.make_fully_adaptive_composition(*REAL, dp.approximate(dp.max_divergence()))
    queryable = odometer(0.0)
    for one in budgets:
        queryable(budget(*one))
    return within(queryable.privacy_loss(1.0), delta)


def equal(answer):
    """Return the answer for equal budgets. It raises ValueError for too many steps."""

    def composition(epsilon, failure, steps, delta):
        if steps > MEASUREMENTS:
            raise ValueError("a measurement for each step would take too long")
        return answer([(epsilon, failure)] * steps, delta)

    return composition


def discrete_gaussian(sigma, steps, delta):
    return zcdp(dp.m.make_gaussian(*INTEGER, scale=sigma).map(1) * steps, delta)


def draws(measurement, place, others):
    """Return how many of many draws have a magnitude, or all others."""
    count = sum(abs(one) == place for one in measurement([0] * DRAWS))
    return DRAWS - count if others else count


def laplace_draws(scale, place, others):
    return draws(dp.m.make_laplace(INTEGERS, dp.l1_distance(T=int), scale=scale), place, others)


def gaussian_draws(sigma, place, others):
    return draws(dp.m.make_gaussian(INTEGERS, dp.l2_distance(T=float), scale=sigma), place, others)


ANSWERS = {
    ("sampler", "discrete-laplace-draws"): laplace_draws,
    ("sampler", "discrete-gaussian-draws"): gaussian_draws,
    ("map", "laplace"): laplace,
    ("map", "discrete-laplace"): discrete_laplace,
    ("map", "gaussian-zcdp"): gaussian_zcdp,
    ("map", "threshold"): threshold,
    ("map", "threshold-real"): threshold_real,
    ("map", "randomized-response"): randomized_response,
    ("map", "exponential"): exponential,
    ("map", "permute-and-flip"): permute_and_flip,
    ("map", "composition"): equal(mixed_composition),
    ("map", "mixed-composition"): mixed_composition,
    ("odometer", "composition"): equal(spent_by_odometer),
    ("odometer", "mixed-composition"): spent_by_odometer,
    ("cast", "gaussian"): gaussian,
    ("cast", "discrete-gaussian"): discrete_gaussian,
    ("cast", "zcdp"): zcdp,
    ("cast", "zcdp-delta"): zcdp_delta,
    ("cast", "pure-to-zcdp"): pure_to_zcdp,
    ("accuracy", "laplace-accuracy"): dp.laplacian_scale_to_accuracy,
    ("accuracy", "discrete-laplace-accuracy"): dp.discrete_laplacian_scale_to_accuracy,
}
