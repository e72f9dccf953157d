"""A subject that passes: samplers, maps, queries and mechanisms in the standard library, to try a runner with.

The samplers are those of vectors/1/samplers.md, line by line. Some maps are looser than they could be.
"""

import math
import random
import sys
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

# samplers: f(parameters, take), where take(k) returns the next k bits as an integer


def uniform(n, take):
    while True:
        drawn = take(n.bit_length())
        if drawn < n:
            return drawn


def coin(p, take):
    return uniform(p.denominator, take) < p.numerator


def coin_exp(gamma, take):
    for _ in range(math.ceil(gamma) - 1):
        if not coin_exp_of_part(Fraction(1), take):
            return 0
    return coin_exp_of_part(gamma - max(0, math.ceil(gamma) - 1), take)


def coin_exp_of_part(gamma, take):
    flips = 1
    while coin(gamma / flips, take):
        flips += 1
    return flips & 1


def laplace(scale, take):
    while True:
        sign = uniform(2, take) < 1
        low = uniform(scale.numerator, take)
        while not coin_exp(Fraction(low, scale.numerator), take):
            low = uniform(scale.numerator, take)
        high = 0
        while coin_exp(Fraction(1), take):
            high += 1
        size = (low + high * scale.numerator) // scale.denominator
        if not (sign and size == 0):
            return -size if sign else size


def gaussian(variance, take):
    t = math.isqrt(math.floor(variance)) + 1
    while True:
        z = laplace(Fraction(t), take)
        if coin_exp((abs(z) - variance / t) ** 2 / (2 * variance), take):
            return z


def response(k, truth, p, take):
    if coin(p, take):
        return truth
    lie = uniform(k - 1, take)
    return lie + 1 if lie >= truth else lie


def select_base2(utilities, x, y, z, precision, take):
    weights = [Fraction(x, 2**y) ** (z * (u - min(utilities))) for u in utilities]
    sums = [*accumulate(weights)]
    top = 1
    while top < sums[-1]:
        top *= 2
    point = sums[-1]
    while point >= sums[-1]:
        point = Fraction(take(precision) * top, 2**precision)
    return bisect_right(sums, point)


def flip(scores, rate, take):
    left = [*range(len(scores))]
    while True:
        i = left.pop(uniform(len(left), take))
        if coin_exp(rate * (max(scores) - scores[i]), take):
            return i


def snap(value, scale, bound, take):
    sign = 1 - 2 * take(1)
    u = (2**52 + take(52)) / 2.0**53
    while take(1) == 0:
        u /= 2
    step = 2.0 ** math.ceil(math.log2(scale))
    steps = (max(-bound, min(bound, value)) + sign * (scale * math.log(u))) / step
    nearest = math.floor(steps) + (steps - math.floor(steps) >= 0.5)
    return max(-bound, min(bound, nearest * step))


def given(f, *names):
    """Return the sampler that takes these parameters; texts are fractions."""

    def sampler(parameters, take):
        values = (parameters[name] for name in names)
        return f(*(Fraction(value) if isinstance(value, str) else value for value in values), take)

    return sampler


STREAMS = {
    "bernoulli-exp": given(coin_exp, "gamma"),
    "discrete-laplace": given(laplace, "scale"),
    "discrete-gaussian": given(gaussian, "variance"),
    "randomized-response": given(response, "categories", "truth", "probability"),
    "exponential-base2": given(select_base2, "utilities", "x", "y", "z", "precision"),
    "permute-and-flip": given(flip, "scores", "rate"),
    "snapping": given(snap, "value", "scale", "bound"),
}


# samplers by another algorithm: f(parameters, n), n outcomes


def draws_of_laplace(parameters, n):
    q = math.exp(-1 / Fraction(parameters["scale"]))
    return [geometric(q) - geometric(q) for _ in range(n)]


def geometric(q):
    return int(math.log(1 - random.random()) / math.log(q))


def draws_of_response(parameters, n):
    k, truth, p = parameters["categories"], parameters["truth"], float(Fraction(parameters["probability"]))
    lies = [other for other in range(k) if other != truth]
    return [truth if random.random() < p else random.choice(lies) for _ in range(n)]


DRAWS = {"discrete-laplace": draws_of_laplace, "randomized-response": draws_of_response}


# maps: numbers that are promised


def gaussian_delta(sigma, steps, epsilon):
    mu = math.sqrt(steps) / sigma
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return math.erfc(a / math.sqrt(2)) / 2 - math.exp(epsilon) * math.erfc(b / math.sqrt(2)) / 2


def response_epsilon(categories, probability):
    return math.inf if probability == 1 else math.log(probability * (categories - 1) / (1 - probability))


def threshold_delta(scale, threshold):
    q = math.exp(-1 / scale)
    return q ** (threshold - 1) / (1 + q)


def composed(epsilon, failure, steps, delta):
    return steps * epsilon if delta >= steps * failure else math.inf


def parallel(budgets, delta):
    return (
        max((epsilon for epsilon, failure in budgets if failure <= delta), default=math.inf)
        if all(failure <= delta for _, failure in budgets)
        else math.inf
    )


MAPS = {
    "gaussian-delta": gaussian_delta,
    "gaussian-zcdp": lambda sigma: 1 / (2 * sigma**2),
    "laplace": lambda scale, steps, delta: steps / scale,
    "discrete-laplace": lambda scale, steps, delta: steps / scale,
    "threshold": threshold_delta,
    "threshold-real": lambda scale, threshold: math.exp(-(threshold - 1) / scale) / 2,
    "laplace-accuracy": lambda scale, alpha: scale * math.log(1 / alpha),
    "discrete-laplace-accuracy": lambda scale, alpha: math.ceil(
        scale * math.log(2 / alpha / (1 + math.exp(-1 / scale)))
    ),
    "zcdp": lambda rho, delta: rho + 2 * math.sqrt(rho * math.log(1 / delta)),
    "renyi": lambda alpha, tau, delta: tau + math.log(1 / delta) / (alpha - 1),
    "pure-to-zcdp": lambda epsilon: epsilon**2 / 2,
    "composition": composed,
    "parallel-composition": parallel,
    "randomized-response": response_epsilon,
    "exponential": lambda scale: 2 / scale,
    "permute-and-flip": lambda scale: 2 / scale,
    "noisy-max-laplace": lambda scale: 2 / scale,
}
EXACT = {"gaussian-zcdp", "threshold", "threshold-real", "laplace-accuracy", "randomized-response", "exponential"}


# queries: exact sums of clamped records; what is no number counts as the lower bound


def clamp(x, lower, upper):
    return lower if x != x else max(lower, min(upper, x))


def exact_sum(parameters, records):
    lower, upper = parameters["lower"], parameters["upper"]
    total = sum((Fraction(clamp(x, lower, upper)) for x in records), Fraction(0))
    return max(-Fraction(sys.float_info.max), min(Fraction(sys.float_info.max), total))


def whole(text):
    return int(text) if text.lstrip("-").isdigit() else -math.inf


def histogram(parameters, records):
    edges = parameters["edges"]
    places = [bisect_right(edges, x) - 1 for x in records if edges[0] <= x < edges[-1]]
    return [places.count(place) for place in range(len(edges) - 1)]


def quantile(parameters, records):
    ordered = sorted(clamp(x, parameters["lower"], parameters["upper"]) for x in records)
    return (
        ordered[min(len(ordered) - 1, int(parameters["quantile"] * len(ordered)))] if ordered else parameters["lower"]
    )


def scores(parameters, records):
    q, numbers = parameters["quantile"], [x for x in records if x == x]
    pairs = ((sum(x < c for x in numbers), sum(x > c for x in numbers)) for c in parameters["candidates"])
    return [abs((1 - q) * below - q * above) for below, above in pairs]


def clip(parameters, vector):
    largest = max(map(abs, vector))
    if any(x != x for x in vector) or largest == 0 or math.isinf(largest):
        return [0.0] * len(vector)
    norm = largest * math.hypot(*(x / largest for x in vector))
    return [x / norm * parameters["norm"] if norm > parameters["norm"] else x for x in vector]


def mean(parameters, records):
    return exact_sum(parameters, records) / parameters["size"]


def squared_deviations(parameters, records):
    numbers = [Fraction(clamp(x, parameters["lower"], parameters["upper"])) for x in records]
    return sum(x * x for x in numbers) - sum(numbers) ** 2 / len(numbers)


QUERIES = {
    "sum": exact_sum,
    "sized-sum": exact_sum,
    "integer-sum": exact_sum,
    "mean": mean,
    "squared-deviations": squared_deviations,
    "count": lambda parameters, records: len(records),
    "count-of-numbers": lambda parameters, records: len(records),
    "sum-of-numbers": lambda parameters, records: exact_sum(parameters, map(whole, records)),
    "sum-of-casts": exact_sum,
    "resize": lambda parameters, records: (records + [parameters["fill"]] * parameters["size"])[: parameters["size"]],
    "quantile": quantile,
    "quantile-scores": scores,
    "histogram": histogram,
    "clip": clip,
}


# mechanisms: integer noise, permute-and-flip, randomized response


def noisy_count(parameters, data):
    q = math.exp(-parameters["epsilon"])
    return data + geometric(q) - geometric(q) if isinstance(data, int) else None


def selection(parameters, data):
    rate, left = parameters["epsilon"] / (2 * parameters["sensitivity"]), [*range(len(data))]
    while len(data) <= 100:
        place = left.pop(random.randrange(len(left)))
        if random.random() < math.exp(rate * (min(data) - data[place])):
            return place
    return None


def report(parameters, data):
    k, weight = parameters["categories"], math.exp(-parameters["epsilon"])
    lie = random.randrange(k - 1)
    return lie + (lie >= data) if random.random() * (1 + weight * (k - 1)) < weight * (k - 1) else data


MECHANISMS = {"laplace": noisy_count, "exponential": selection, "randomized-response": report}
