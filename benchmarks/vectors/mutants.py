"""Fifty mutants of the reference subject, planned by hand: one piece of its source replaced by another.

A row is (what, by what).
"""

from __future__ import annotations

MUTANTS: tuple[tuple[str, str], ...] = (
    # samplers that read bits
    ("if drawn < n:", "if drawn <= n:"),
    ("drawn = take(n.bit_length())", "drawn = take(max(1, (n - 1).bit_length()))"),
    ("return uniform(p.denominator, take) < p.numerator", "return uniform(p.denominator, take) <= p.numerator"),
    ("return uniform(p.denominator, take) < p.numerator", "return take(53) / 2**53 < float(p)"),
    ("range(math.ceil(gamma) - 1)", "range(math.floor(gamma) - 1)"),
    (
        "if not coin_exp_of_part(Fraction(1), take):\n            return 0",
        "if not coin_exp_of_part(Fraction(1), take):\n            break",
    ),
    ("gamma - max(0, math.ceil(gamma) - 1)", "gamma - int(gamma)"),
    ("while coin(gamma / flips, take)", "while coin(gamma / (flips + 1), take)"),
    ("return flips & 1", "return flips > 1"),
    ("flips = 1\n", "flips = 0\n    coin(gamma, take)\n    flips += 1\n"),
    ("sign = uniform(2, take) < 1", "sign = uniform(2, take) < 0"),
    ("sign = uniform(2, take) < 1", "sign = take(1) < 1"),
    ("Fraction(low, scale.numerator)", "Fraction(low + 1, scale.numerator)"),
    ("while coin_exp(Fraction(1), take):\n            high += 1", "high += coin_exp(Fraction(1), take)"),
    ("low + high * scale.numerator", "low + high * scale.denominator"),
    ("low + high * scale.numerator", "high * scale.numerator - low"),
    (") // scale.denominator", ") // scale.denominator + 1"),
    ("if not (sign and size == 0):", "if True:"),
    ("return -size if sign else size", "return size if sign else -size"),
    ("math.isqrt(math.floor(variance)) + 1", "math.isqrt(math.floor(variance))  or 1"),
    ("(abs(z) - variance / t)", "(z - variance / t)"),
    ("(abs(z) - variance / t) ** 2", "abs(abs(z) - variance / t)"),
    ("/ (2 * variance), take)", "/ variance, take)"),
    ("return lie + 1 if lie >= truth else lie", "return lie + 1 if lie > truth else lie"),
    ("lie = uniform(k - 1, take)", "lie = uniform(k, take)"),
    ("x, 2**y) ** (z * (u - min(utilities)))", "x, 2**y) ** (z * (max(utilities) - u))"),
    ("x, 2**y) ** (z * (u - min(utilities)))", "x, 2**y) ** (z * u)"),
    ("x, 2**y) ** (z * (u - min(utilities)))", "x, 2**y) ** (u - min(utilities))"),
    ("return bisect_right(sums, point)", "return bisect_right(sums, point - Fraction(1, 2**precision))"),
    ("while point >= sums[-1]:", "while point > sums[-1]:"),
    ("while top < sums[-1]:", "while top <= sums[-1]:"),
    ("(max(scores) - scores[i])", "(scores[i] - min(scores))"),
    ("i = left.pop(uniform(len(left), take))", "i = left.pop()"),
    ("sign = 1 - 2 * take(1)", "sign = 2 * take(1) - 1"),
    ("/ 2.0**53", "/ 2.0**52"),
    ("math.ceil(math.log2(scale))", "math.floor(math.log2(scale))"),
    ("- math.floor(steps) >= 0.5", "- math.floor(steps) > 0.5"),
    ("max(-bound, min(bound, value)) + sign", "value + sign"),
    # samplers that draw
    ('q = math.exp(-1 / Fraction(parameters["scale"]))', 'q = math.exp(-1 / round(Fraction(parameters["scale"]) + 1))'),
    ("[geometric(q) - geometric(q) for _ in range(n)]", "[random.choice((1, -1)) * geometric(q) for _ in range(n)]"),
    ("random.choice(lies) for _", "random.randrange(k) for _"),
    # maps
    ("a, b = epsilon / mu - mu / 2", "a, b = epsilon / mu"),
    ("math.sqrt(steps) / sigma", "1 / sigma"),
    ("1 / (2 * sigma**2)", "1 / (2 * sigma) ** 2"),
    ("q ** (threshold - 1) / (1 + q)", "q**threshold / (1 + q)"),
    ("math.exp(-(threshold - 1) / scale) / 2", "math.exp(-(threshold - 1) / scale) / 2 if threshold > 1 else 0.0"),
    ("scale * math.log(1 / alpha)", "scale * math.log(0.5 / alpha)"),
    ("rho + 2 * math.sqrt(rho * math.log(1 / delta))", "2 * math.sqrt(rho * math.log(1 / delta))"),
    ("tau + math.log(1 / delta) / (alpha - 1)", "tau + math.log(1 / delta) / alpha"),
    ('"noisy-max-laplace": lambda scale: 2 / scale', '"noisy-max-laplace": lambda scale: 1 / scale'),
)


def mutated(source: str, row: tuple[str, str]) -> str:
    """Return the source with one piece replaced. Raises ValueError where it has the piece not exactly once."""
    old, new = row
    if source.count(old) != 1:
        raise ValueError(f"{old!r} occurs {source.count(old)} times")
    return source.replace(old, new)
