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


def user_measurement(measure, privacy_map):
    """Return a measurement that claims what the map says."""
    return dp.m.make_user_measurement(*REAL, measure, function=lambda x: x, privacy_map=privacy_map, TO=float)


def profile(rho):
    """Return the profile that the cast from ρ-zCDP gives to a measurement that claims ρ."""
    one = user_measurement(dp.zero_concentrated_divergence(), lambda d: d * rho)
    return dp.c.make_zCDP_to_approxDP(one).map(1.0)


def pure_to_zcdp(epsilon):
    return dp.c.make_pureDP_to_zCDP(user_measurement(dp.max_divergence(), lambda d: d * epsilon)).map(1.0)


def gaussian(sigma, where, distance):
    """Return ρ of the map of Gaussian noise."""
    return dp.m.make_gaussian(*where, scale=sigma).map(distance)


def threshold(where, distance):
    return lambda scale, threshold: dp.m.make_laplace_threshold(*where, scale=scale, threshold=threshold).map(distance)[
        1
    ]


def budget(epsilon, failure):
    """Return a measurement with this budget."""
    return user_measurement(dp.approximate(dp.max_divergence()), lambda d: (d * epsilon, failure))


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


def draws(measurement, place, others):
    """Return how many of many draws have a magnitude, or all others."""
    count = sum(abs(one) == place for one in measurement([0] * DRAWS))
    return DRAWS - count if others else count


ANSWERS = {
    ("sampler", "discrete-laplace-draws"): lambda scale, **rest: draws(
        dp.m.make_laplace(INTEGERS, dp.l1_distance(T=int), scale=scale), **rest
    ),
    ("sampler", "discrete-gaussian-draws"): lambda sigma, **rest: draws(
        dp.m.make_gaussian(INTEGERS, dp.l2_distance(T=float), scale=sigma), **rest
    ),
    ("map", "laplace"): laplace,
    ("map", "discrete-laplace"): lambda **rest: laplace(where=INTEGER, distance=1, **rest),
    ("map", "gaussian-zcdp"): lambda sigma: gaussian(sigma, REAL, 1.0),
    ("map", "threshold"): threshold(COUNTS, (1, 1, 1)),
    ("map", "threshold-real"): threshold(SUMS, (1, 1.0, 1.0)),
    ("map", "randomized-response"): lambda categories, probability: dp.m.make_randomized_response(
        list(range(categories)), prob=probability
    ).map(1),
    ("map", "exponential"): lambda scale: dp.m.make_report_noisy_max_gumbel(*SCORES, scale=scale, optimize="max").map(
        1.0
    ),
    ("map", "permute-and-flip"): lambda scale: dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=scale).map(1.0),
    ("map", "composition"): equal(mixed_composition),
    ("map", "mixed-composition"): mixed_composition,
    ("odometer", "composition"): equal(spent_by_odometer),
    ("odometer", "mixed-composition"): spent_by_odometer,
    ("cast", "gaussian"): lambda sigma, steps, delta: profile(gaussian(sigma, REAL, 1.0) * steps).epsilon(delta),
    ("cast", "discrete-gaussian"): lambda sigma, steps, delta: profile(gaussian(sigma, INTEGER, 1) * steps).epsilon(
        delta
    ),
    ("cast", "zcdp"): lambda rho, delta: profile(rho).epsilon(delta),
    ("cast", "zcdp-delta"): lambda rho, epsilon: profile(rho).delta(epsilon),
    ("cast", "pure-to-zcdp"): pure_to_zcdp,
    ("accuracy", "laplace-accuracy"): dp.laplacian_scale_to_accuracy,
    ("accuracy", "discrete-laplace-accuracy"): dp.discrete_laplacian_scale_to_accuracy,
}
