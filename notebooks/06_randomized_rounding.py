# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Randomized rounding: exact weights for real utilities
#
# **Claim.** A mechanism with exact weights can take real utilities at no cost in privacy. The proved error *grows* as
# the grid becomes finer: from 4.3 % of the largest probability at $\gamma = \frac14$ to 5.0 % at $\frac1{64}$. A
# thousand draws do not show it.
#
# **Mechanism.** Laplace noise as a selection: outcomes on a grid, $u(o) = |f - o|$, weight $2^{-\eta u(o)}$. Before
# each draw every utility is rounded to a whole number, up with probability $u - \lfloor u\rfloor$ (Ilvento 2020,
# Mechanism 4).
#
# **You will see** the mean of all roundings as a chord, proved bounds around it, and what samples can tell. **To
# present: 12 minutes**, part 1. Part 2 is for reading.

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
from subnormal.mechanisms.privacy import Eta

ETA = Eta(1, 1, 1)  # x, y, z: one bit a unit (B a power of two; any other takes milliseconds a draw: then repeat less)
GRID = -4  # the granularity γ = 2^GRID
LIMIT = 10  # outcomes lie in [−LIMIT, LIMIT]
VALUE = 0.0  # the true value f
REPEATS = {1_000: 200, 100_000: 12}  # how often two samples of each size are compared
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import sys
from dataclasses import replace

import numpy as np
from IPython.display import display
from scipy.stats import ks_2samp, laplace

from explore import explore
from subnormal.audit.statistics.binomial import ks_distance
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import base2, randomized_rounding
from subnormal.plots import Panel, picture

sys.path.insert(0, "..")  # the benchmarks are in the folder above
from benchmarks.figures import rounding
from benchmarks.figures.rounding import GRIDS, PAPER_ETA, Noise


def noise(rate=ETA, grid=GRID):
    """Noise on the value, at any rate and granularity."""
    return Noise(rate, grid, LIMIT, VALUE)


NOISE = noise()
OUTCOMES = NOISE.outcomes


# %% [markdown]
# **The problem.** The base-2 mechanism needs dyadic weights, and $2^{-\eta u}$ is dyadic only for whole $u$.
#
# **The solution.** For each outcome of the coins, two utilities at most $\Delta$ apart ($\Delta$ a whole number)
# become integers at most $\Delta$ apart. So the claim $\varepsilon = 2\Delta\eta\ln 2$ does not change, and the scale
# of the noise is $1/(\eta\ln 2)$ on the grid lower, lower $+\gamma$, …, upper. How much accuracy does it cost?

# %% [markdown]
# ## Part 1, to show: one rounding, and the mean of all
#
# Black: one rounding of all utilities. Every weight is now a whole power of $2^{-\eta}$. Dark red: the mean of the
# weight over all coins, $(1-c)\,2^{-\eta\lfloor u\rfloor} + c\,2^{-\eta\lceil u\rceil}$ with $c = u - \lfloor
# u\rfloor$. This is the chord of the curve between two whole utilities. It equals the true weight at whole utilities,
# and is a little larger between them.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
u, base = NOISE.utilities, float(ETA.base)
once = randomized_rounding.randomized(u, seeded_bits(SEED))
up = u - np.floor(u)
chord = (1 - up) * base ** np.floor(u) + up * base ** np.ceil(u)
near = np.abs(OUTCOMES - VALUE) <= 3
at = OUTCOMES[near]
utility = {"$u = |f - o|$": (at, u[near], "grey line"), "rounded, once": (at, once[near], "black dots")}
weight = {
    r"$2^{-\eta u}$": (at, base ** u[near], "grey line"),
    "rounded, once": (at, base ** once[near], "black dots"),
    "mean over the coins": (at, chord[near], "claim line"),
}
left = Panel(curves=utility, x="outcome o", y="utility", ylim=(-0.2, 4.2), legend="upper center")
display(
    picture(left, Panel(curves=weight, x="outcome o", y="weight", ylim=(0, 1.6), legend="upper right"), size=(13, 4.4))
)
print(f"the mean is at most {(chord / base**u).max():.3f} times the weight")

# %% [markdown]
# A probability is a weight over the sum of all weights, and the rounding changes the sum too. So the law is a mixture
# over all roundings, $2^{300}$ of them here (300 of the 321 utilities are fractions). That is too many to enumerate.
#
# ## Lemma A.2: bounds without enumeration
#
# Given the rounding of $o_i$ alone, its probability is $w/(w + X)$, where $X$ is the sum of the other weights. The
# function $x \mapsto w/(w+x)$ is convex, so by Jensen's inequality its mean is at least $w/(w + E[X])$; and $E[X]$ is
# a sum of chords. The mean over the two values of $w$ is a lower bound $L_i$. Probabilities sum to 1, so each
# is at most $L_i + A$, with $A = 1 - \sum_j L_j$. The program computes all of this in rational numbers.
#
# First a small instance, $\gamma = \frac14$ on $[-1, 1]$, with six fractions, which we *can* enumerate:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
small = np.abs(np.arange(-4, 5)) / 4
law = base2.law(small, ETA)
bounds = randomized_rounding.bounds(small, ETA)
print(f"{'u':>5} {'lower L':>10} {'exact law':>10} {'upper L + A':>12} {'unrounded p':>12} {'error ≤':>9}")
for index, utility in enumerate(small):
    exact = law.probability(index)[0]
    assert bounds.lower[index] <= exact <= bounds.upper[index]
    numbers = (bounds.lower[index], exact, bounds.upper[index], bounds.unrounded[index][0], bounds.error[index])
    print("{:>5} {:>10.6f} {:>10.6f} {:>12.6f} {:>12.6f} {:>9.6f}".format(utility, *map(float, numbers)))

# %% [markdown]
# ### Figure 10: the pointwise error, by granularity
#
# Now on $[-10, 10]$. The error of an outcome is at most $\max(|L_i - p_i|,\ |L_i + A - p_i|)$, where $p_i$ is the
# unrounded probability. On the left is the rate of the paper's Figures 10 and 11, $\eta = 2$, `Eta(1, 2, 1)`. On the
# right is the rate from above.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
RATES = PAPER_ETA, ETA
BOUNDS = rounding.bounds(NOISE)
LOWER = np.array(BOUNDS.lower, dtype=float)
UNROUNDED = np.array([low for low, _ in BOUNDS.unrounded], dtype=float)


def errors_of(rate):
    """The largest error that is possible for each outcome, a curve for each granularity; one legend for both rates."""
    return replace(rounding.errors(rate, LIMIT, VALUE), legend="upper right" if rate is PAPER_ETA else None)


# %%
picture(*map(errors_of, RATES), size=(13, 4.4))

# %% [markdown]
# ### Figure 11: the bounds against the unrounded probability
#
# At $\gamma = \frac14$, as in the paper, on the left. The exact rounded probability of every outcome lies in the
# coloured band; the black line is the unrounded one.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def law_between(eta, grid):
    """The exact rounded law lies in the band. η is in bits."""
    rate = ETA if eta == ETA.bits else Eta.from_epsilon(eta * np.log(2), 16)
    return picture(rounding.band(noise(rate, grid), 2.0**grid))


# %%
picture(*(rounding.band(noise(rate, -2)) for rate in RATES), size=(13, 4.4))

# %% [markdown]
# Divided by $\gamma$ the probabilities are densities, and we can compare different granularities. The band does not
# become narrower:

# %%
picture(*(rounding.band(noise(grid=grid), 2.0**grid) for grid in (-2, -6)), size=(13, 4.4), share=True)

# %% [markdown]
# Choose another rate and another grid. A smaller $\eta$ is a smaller budget, and its chords are nearer to the curve.

# %%
explore(law_between, eta=(ETA.bits, [0.25, 0.5, 1, 2]), grid=(GRID, [-1, -2, -3, -4]))

# %% [markdown]
# ## Part 2, to read: how good the bounds are, and what a sample can tell
#
# ### Width and error against $\gamma$
#
# Left: the largest error and the width $A$ are proportional to $\gamma$. But the probabilities themselves are too.
# Right: relative to the largest probability, both *grow* as $\gamma$ falls. A finer grid has more coins, so the *sum*
# of the weights hardly varies, but the chord of each single weight stays the same. (In the limit of a fine grid and
# wide bounds the middle outcome loses $1 - \frac{1/1.5}{\ln 2} = 3.8\,\%$ of its probability at $\eta = 1$: its weight
# over the sum of the chords. For all outcomes 5.0 % is proved.)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
gammas = 2.0 ** np.array(GRIDS)
plain, shares = {}, {}
for rate, form in zip(RATES, ("joined squares", "joined"), strict=True):
    proved = [rounding.bounds(noise(rate, grid)) for grid in GRIDS]
    width, error = np.array([[float(each.gap), float(max(each.error))] for each in proved]).T
    peak = np.array([float(max(low for low, _ in each.unrounded)) for each in proved])
    drawn = (("largest error ≤", error, "claim"), ("width A", width, "exact"), ("largest probability", peak, "grey"))
    for label, values, colour in drawn:
        plain[f"{label}, η = {rate.bits:g}"] = gammas, values, f"{colour} {form}"
    for label, values, colour in drawn[:2]:
        shares[f"_{label}, {rate}"] = gammas, 100 * values / peak, f"{colour} {form}"
    print(rounding.titled(rate))
    for gamma, *row in zip(gammas, width, error, peak, width / peak, error / peak, strict=True):
        told = "   γ = 1/{:<4.0f} width {:.2e}   error ≤ {:.2e}   largest probability {:.4f}: of it {:.1%} and {:.1%}"
        print(told.format(1 / gamma, *row))
ticks = {gamma: f"$2^{{{grid}}}$" for gamma, grid in zip(gammas, GRIDS, strict=True)}
left = Panel(curves=plain, log="xy", ticks=ticks, ylim=(None, 10), x="granularity γ", y="probability")
axes = {"log": "x", "ticks": ticks, "ylim": (0, None), "x": "granularity γ", "y": "% of the largest probability"}
picture(left, Panel(curves=shares, **axes), size=(13, 5))

# %% [markdown]
# ### Proposition 3.6: a factor for every outcome
#
# A rounding changes each weight by a factor between $2^{-\eta}$ and $2^{\eta}$, and the sum too. So every probability
# stays within a factor of $2^{\pm 2\eta}$ of the unrounded one. The bounds of the lemma are narrower:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
ratio_low, ratio_high = LOWER / UNROUNDED, (LOWER + float(BOUNDS.gap)) / UNROUNDED
within = np.abs(OUTCOMES - VALUE) <= 4
chords = chord / chord.sum() / UNROUNDED
curves = {
    "Lemma A.2": (OUTCOMES[within], (ratio_low[within], ratio_high[within]), "pale band"),
    "the chords": (OUTCOMES[within], chords[within], "black line"),
    r"Proposition 3.6: $2^{\pm 2\eta}$": (None, 2.0 ** (2 * ETA.bits), "claim dashed"),
    "_below": (None, 2.0 ** (-2 * ETA.bits), "claim dashed"),
}
axes = {"log": "y", "ylim": (0.2, 20), "legend": "upper center"}
display(picture(Panel(curves=curves, x="outcome", y="rounded / unrounded", **axes)))
square, exact = ETA.base**2, [law.probability(index)[0] for index in range(len(small))]
print("Proposition 3.6, in rationals, at the small instance above:", end=" ")
print(all(square * most <= p <= least / square for p, (least, most) in zip(exact, bounds.unrounded, strict=True)))

# %% [markdown]
# The black line shows each chord over the sum of all chords. The rounded probability tends to it as $\gamma$ falls.
# (Farther out the band is wider, because $A$ is the same for every outcome and the probabilities become small.)

# %% [markdown]
# ### Figure 8: can a sample tell?
#
# Two people release a number with Laplace noise of the same scale, $1/(\eta\ln 2)$. One uses base 2 with randomized
# rounding. The other computes a logarithm in floats, adds, clamps to $[-10, 10]$ and rounds to the same grid. Do their
# outputs look different?


# %% jupyter={"source_hidden": true} tags=["hide-input"]
n = max(REPEATS)
samples = rounding.base2_draws(NOISE, n, SEED), rounding.on_the_grid(NOISE, rounding.naive_draws(NOISE, n, SEED))
COUNTS = [rounding.counts(NOISE, sample) for sample in samples]
display(picture(*rounding.distributions(NOISE, COUNTS), size=(13, 4.4)))
distance = ks_distance(*(counts / n for counts in COUNTS))
print(f"{n:,} draws each: largest distance of the two curves (Kolmogorov-Smirnov) {distance:.4f}")

# %% [markdown]
# ### The distance that is really there
#
# The two laws differ. How far apart are they, before any sampling? The naive law on the grid is a difference of
# distribution functions. The other law and its distribution function lie within the bounds of Lemma A.2.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def naive_law():
    edges = np.concatenate([[-np.inf], (OUTCOMES[:-1] + OUTCOMES[1:]) / 2, [np.inf]])
    return np.diff(laplace(VALUE, NOISE.scale).cdf(edges))


NAIVE, GAP = naive_law(), float(BOUNDS.gap)
from_below, off = np.cumsum(LOWER), np.cumsum(NAIVE)  # the other law's lies between from_below and that plus A
nearest = np.maximum(np.maximum(from_below - off, off - from_below - GAP), 0).max()
farthest = np.maximum(np.abs(from_below - off), np.abs(from_below + GAP - off)).max()
print(f"on the grid: between {nearest:.4f} and {farthest:.4f}")
print(f"  of this, from the ends: clamping puts {NAIVE[0]:.5f} on each bound, a selection has {LOWER[0]:.5f} there:")
print(f"  unrounded selection against naive on the grid: {ks_distance(UNROUNDED, NAIVE):.5f}")
cdf = laplace(VALUE, NOISE.scale).cdf(OUTCOMES)
before, after = np.abs(from_below - LOWER - cdf), np.abs(from_below - cdf)
print(f"naive off the grid: {max(before.max(), after.max()):.3f}, half of the probability of the middle outcome")

# %% [markdown]
# So there is a difference of about a thousandth. A part comes from the ends (clamping puts the tails on the bounds,
# and a selection has no tails), a larger part from the chords. A sample of size $n$ has a noise of about $1/\sqrt{n}$.
# The distance from naive noise that is *not* rounded to the grid is 0.011. This comes from the grid, not from
# randomized rounding.
#
# ### Over many seeds
#
# Each pair of samples has a $p$-value: how often would two samples of the *same* law be at least so far apart? scipy's
# formula assumes that no value occurs twice. With 321 atoms all values occur many times, and its $p$ is too large, so
# a test at 5 % rejects less often than that. A **permutation** test is valid for any law: pool the samples, split them
# at random, and rank the observed distance among those of the splits.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def permutation_p(counts, rng, deals=99):
    n, pooled = counts[0].sum(), counts[0] + counts[1]
    dealt = rng.multivariate_hypergeometric(pooled, n, size=deals, method="marginals")
    distances = np.abs(np.cumsum(2 * dealt - pooled, axis=1)).max(axis=1)
    return (1 + (distances >= np.abs(np.cumsum(counts[0] - counts[1])).max()).sum()) / (1 + deals)


RESULTS = {}
for n, repeats in REPEATS.items():
    rng, rows = np.random.default_rng(SEED), []
    for seed in range(SEED, SEED + repeats):
        rounded, off_grid = rounding.base2_draws(NOISE, n, seed), rounding.naive_draws(NOISE, n, seed)
        on_grid = rounding.on_the_grid(NOISE, off_grid)
        counts = [rounding.counts(NOISE, values) for values in (rounded, on_grid)]
        same_grid = ks_2samp(rounded, on_grid, method="asymp")
        p_off_grid = ks_2samp(rounded, off_grid, method="asymp").pvalue
        rows.append((same_grid.statistic, permutation_p(counts, rng), same_grid.pvalue, p_off_grid))
    RESULTS[n] = np.array(rows)

print(f"{'':>38} rate of p < 0.05:")
print(
    f"{'draws':>8} {'seeds':>6} {'median KS':>10} {'median p':>9} {'permutation':>14} {'scipy':>7} {'off the grid':>13}"
)
for n, rows in RESULTS.items():
    rates = (rows[:, 1:] < 0.05).mean(axis=0)
    print(f"{n:>8,} {len(rows):>6} {np.median(rows[:, 0]):>10.4f} {np.median(rows[:, 1]):>9.2f}", end=" ")
    print("{:>14.1%} {:>7.1%} {:>13.1%}".format(*rates))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
panels = []
for n, rows in RESULTS.items():
    share = (np.arange(len(rows)) + 1) / len(rows)
    names = (
        ("permutation", "black stairs"),
        ("scipy", "exact dashed stairs"),
        ("scipy, naive off the grid", "grey stairs"),
    )
    curves = {label: (np.sort(rows[:, at]), share, look) for at, (label, look) in enumerate(names, 1)}
    curves["_uniform"] = np.array([0, 1]), np.array([0, 1]), "pale dashed"
    title, labels = f"{n:,} draws, {len(rows)} seeds", {"x": "p-value", "y": "share of the seeds below"}
    panels.append(Panel(curves=curves, title=title, legend="lower right", **labels))
picture(*panels, size=(12, 4.4), share=True)

# %% [markdown]
# If the laws are equal, the $p$-values are uniform and the curve is the diagonal. Off the grid 100,000 draws always
# reject. On the same grid 1,000 draws show nothing. For 100,000, twelve seeds are too few to say.
#
# For more seeds, draw *counts* instead of outcomes: from the naive law, and from $L_i/\sum L$, which is within $A$ of
# the rounded one. Two naive samples exceed the threshold of each size in 5 % of the cases.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def simulated_distances(law, n, rng, repeats=2_000):
    ours, naive = (rng.multinomial(n, masses, repeats) for masses in (law, NAIVE / NAIVE.sum()))
    return np.abs(np.cumsum(ours - naive, axis=1)).max(axis=1) / n


rng, proxy = np.random.default_rng(SEED), LOWER / LOWER.sum()
for n in (1_000, 100_000, 1_000_000):
    threshold = np.quantile(simulated_distances(NAIVE / NAIVE.sum(), n, rng), 0.95)
    seen = simulated_distances(proxy, n, rng)
    rejected = (seen > threshold).mean()
    print(f"{n:>9,} draws: median KS {np.median(seen):.4f}, threshold {threshold:.4f}, rejected {rejected:.1%}")

# %% [markdown]
# So with 1,000 draws the test rejects in 5 % of the cases, as for equal laws. With 100,000 draws it rejects in some 9
# %, and with a million in half of them: there the threshold is near the true distance of a thousandth.
#
# **What this does not show.** A large $p$ says that *this* test, with *so many* draws, found nothing. It says nothing
# about privacy. The naive sample looks right too, and a single one of its floats can prove the true value. Samples can
# test accuracy. They cannot show privacy.

# %% [markdown]
# ## Exercises
#
# **1.** Why toss a coin? Always round *down*: $\hat u = \lfloor u\rfloor$. Is that private? How much accuracy does it
# cost, and how many draws does the Kolmogorov-Smirnov test need to see it?
#
# **2.** Between two whole utilities the chord is larger than the curve, by a factor that depends only on $\eta$. How
# large is it at most? For which $\eta$ is it below 1 %? (`Eta.from_epsilon` takes $\eta\ln 2$.)

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# It is equally private: for a whole $\Delta$, $\lfloor u\rfloor$ and $\lfloor u'\rfloor$ are at most $\Delta$ apart if
# $u$ and $u'$ are. (For $\Delta = \frac12$ both roundings have the same problem: 0.9 and 1.1 may become 0 and 1, which
# are 1 apart, so the claim must be for $\lceil\Delta\rceil$.) But the law is a staircase instead of a curve. Its
# distance is more than ten times as large, and ten thousand draws show it. With the coin, rounding is right on
# average.
#
# ```python
# DOWN = np.array(randomized_rounding.bounds(np.floor(u), ETA).lower, dtype=float)  # whole utilities: exact
# at = OUTCOMES[near]
# curves = {
#     "unrounded": (at, UNROUNDED[near], "black line"),
#     "at random (lower bound)": (at, LOWER[near], "exact line"),
#     "always down": (at, DOWN[near], "grey steps"),
# }
# display(picture(Panel(curves=curves, x="outcome", y="probability")))
# distance = ks_distance(DOWN, NAIVE)
# print(f"Kolmogorov-Smirnov distance from naive: {distance:.4f}, at random {nearest:.4f} to {farthest:.4f}")
# for name, there in (("always down", distance), ("at random", farthest)):
#     print(f"   {name}: beyond the 5 % threshold, 1.36·√(2/n), from about {2 * (1.36 / there) ** 2:,.0f} draws each")
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# The ratio of chord and curve is $(1 - t + tB)/B^t$ with $B = 2^{-\eta}$ and $t$ the fraction, largest near $t =
# \frac12$: $\frac{1+B}{2\sqrt B} = \cosh\left(\frac{\eta\ln 2}{2}\right) \approx 1 + \frac{(\eta\ln 2)^2}{8}$. At
# $\eta = 1$ it is 1.061, and below 1.01 from $\eta\ln 2 = 0.28$ on down: the square makes it vanish. A selection with
# $\varepsilon = 0.5$ and $\Delta = 1$ has $\eta\ln 2 = \frac14$. The certified width of Lemma A.2 falls with it.
#
# ```python
# for nats in (np.log(2), 0.5, 0.28, 0.25, 0.1):
#     bounds = randomized_rounding.bounds(u, Eta.from_epsilon(nats))
#     share = float(bounds.gap / max(bounds.lower))
#     print(f"η ln 2 = {nats:.3f}   chord / curve ≤ {np.cosh(nats / 2):.4f}   width: {share:.2%} of the largest")
# ```
#
# </details>
