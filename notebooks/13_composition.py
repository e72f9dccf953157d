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
# # Composition: rare leaks add up
#
# **Claim.** A proof bounds the loss of many runs from above, an attack bounds it from below, and the two bounds are
# close. A leak in one run of a hundred thousand becomes almost certain after many runs.
#
# **Mechanism.** An outcome $x$ has the loss $\ln\frac{A(x)}{B(x)}$. The losses of independent runs *add*. Privacy
# buckets (Meiser and Mohammadi, 2018) round losses so that a computer can add them, and bound the error of the
# rounding.
#
# **You will see** two bounds that enclose the truth, accountants that lie above them, and a leak that grows. **To
# present: 10 minutes.**

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
SIGMA = 10.0  # of Gaussian noise on a count, where one person changes 1
RUNS = 4_096
LEAK = 1e-5  # the chance that a single run gives everything away
COUNT = 2_000  # buckets

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math
from functools import cache

import numpy as np
from IPython.display import display
from scipy.stats import norm

from explore import explore
from subnormal.attacks.catalogue import attack
from subnormal.audit.composition import leak_growth, other_accountants
from subnormal.audit.composition.buckets import buckets
from subnormal.mechanisms.composition.closed_forms import gaussian, randomized_response
from subnormal.mechanisms.privacy import Zcdp
from subnormal.plots import Panel, picture

# %% [markdown]
# **The formula.** We only need the distribution of the loss of one run. The loss of $r$ runs is its $r$-fold
# convolution, and
# $$\delta(\varepsilon) = \Pr[\text{loss} = \infty] + \mathbb{E}\big[(1 - e^{\varepsilon - \text{loss}})_+\big].$$

# %% [markdown]
# ## Three outcomes, by hand
#
# $A = (0.6, 0.3, 0.1)$, $B = (0.3, 0.5, 0.2)$. In one run, at $\varepsilon = \frac12$, only the first outcome is
# likelier than $e^{\varepsilon}$ allows: $\delta = 0.6 - e^{1/2}\cdot 0.3 = 0.10538$. Four runs have 81 outcomes,
# eight have 6,561. A thousand buckets of factor 1.01 hold them all:

# %%
three = buckets([0.6, 0.3, 0.1], [0.3, 0.5, 0.2], count=1_000, factor=1.01)
for runs, epsilon, exactly in ((1, 0.5, 0.1053836188), (4, 0.5, 0.33720203), (8, 0.0, 0.63222525)):
    low, up = three.compose(runs).delta(epsilon)
    assert low - 1e-9 <= exactly <= up + 1e-9
    print(f"{runs} runs, ε = {epsilon}: {low:.9f} ≤ δ ≤ {up:.9f}")

# %% [markdown]
# **Why are there two bounds?** Take an outcome whose loss lies *between* two buckets.
#
# - For the upper bound, the program splits the outcome between the two buckets and keeps its probabilities in both
#   worlds. An attacker who sees the bucket learns more than from the outcome.
# - For the lower bound, it puts the whole outcome into one bucket. An attacker who sees only the bucket learns less.
#
# The program also bounds the rounding errors of floats and adds them. With fewer buckets the bounds are still correct,
# but farther apart:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
curves = {}
epsilons = np.linspace(0, 3, 61)
for count, look in ((16, "pale band"), (64, "exact full band"), (1_000, "black full band")):
    few = buckets([0.6, 0.3, 0.1], [0.3, 0.5, 0.2], count=count).compose(8)
    low, up = np.array([few.delta(epsilon) for epsilon in epsilons.tolist()]).T
    assert (low <= up).all()
    curves[f"{count:,} buckets"] = epsilons, (low, up), look
picture(Panel(curves=curves, x="ε (nats)", y="δ(ε) of 8 runs"))

# %% [markdown]
# ## A Gaussian, thousands of times
#
# Here we know the truth: $r$ runs with noise $\sigma$ are like one run with $\sigma/\sqrt r$. The bounds of the
# buckets enclose it. Two usual accountants lie above it, because they use less information about the mechanism.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
@cache
def bounds_of(sigma, runs):
    """One Gaussian, and ε, the true δ(ε) of so many runs, and both bounds of the buckets."""
    one, mu = gaussian(sigma, count=COUNT), math.sqrt(runs) / sigma
    composed, epsilons = one.compose(runs), np.linspace(0, 65 * mu / 6.4, 27)
    truth = norm.cdf(mu / 2 - epsilons / mu) - np.exp(epsilons + norm.logcdf(-mu / 2 - epsilons / mu))
    low, up = np.array([composed.delta(epsilon) for epsilon in epsilons.tolist()]).T
    assert (low <= truth * (1 + 1e-9)).all()
    assert (up >= truth * (1 - 1e-9)).all()
    return one, epsilons, truth, low, up


def gaussians(sigma, runs):
    """δ(ε) of many runs: the bounds of the buckets, and two accountants."""
    one, epsilons, _, low, up = bounds_of(sigma, runs)
    rho = Zcdp(runs / (2 * sigma**2))
    claims = [(one.epsilon(10.0**-place)[1], 10.0**-place) for place in range(4, 15, 2)]
    optimal = [
        min(other_accountants.kairouz_oh_viswanath(*claim, runs, epsilon) for claim in claims)
        for epsilon in epsilons.tolist()
    ]
    curves = {
        "Kairouz–Oh–Viswanath: knows (ε, δ)": (epsilons, optimal, "claim dashed"),
        "zCDP: knows ρ": (epsilons, [rho.delta(epsilon) for epsilon in epsilons.tolist()], "grey line"),
        "buckets, upper bound": (epsilons, up, "exact line"),
        "buckets, lower bound": (epsilons, low, "black dotted"),
    }
    return picture(Panel(curves=curves, log="y", x="ε (nats)", y=f"δ(ε) of {runs:,} runs"))


# %%
explore(gaussians, sigma=(SIGMA, [5, 10, 20, 40]), runs=(RUNS, [16, 64, 256, 1024, 4096, 16384]))

# %%
_, _, truth, low, up = bounds_of(SIGMA, RUNS)
print(f"the bounds lie within {max((up - low) / truth):.1%} of each other, down to δ = {truth.min():.0e}")

# %% [markdown]
# A plain Fourier transform has an error of $10^{-17}$ of the *largest* probabilities, which is too large for this
# tail. So the program *tilts* the distribution: it first multiplies every probability by
# $e^{\lambda\cdot\text{loss}}$. A tilted convolution is the convolution of tilted distributions, and with the right
# $\lambda$ the rare losses become common.

# %% [markdown]
# ## ε against the number of runs
#
# The loss of $r$ runs has a mean and a spread. The mean grows like $r$, but it is small, about $\varepsilon^2/2$ for
# each run. The spread is larger and grows like $\sqrt r$. So for few runs the total is about $r\varepsilon$, and for
# many runs it is far less.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
counts = [1 << power for power in range(19)]
response = randomized_response(0.1, count=COUNT)
bounds = np.array([response.compose(runs).epsilon(1e-6) for runs in counts])
curves = {
    "adding up: r·ε": (counts, [0.1 * runs for runs in counts], "grey dashed"),
    "buckets, upper bound": (counts, bounds[:, 1], "exact line"),
    "buckets, lower bound": (counts, bounds[:, 0], "black dotted"),
}
ticks = {1 << power: f"$2^{{{power}}}$" for power in range(0, 19, 3)}
labels = {"x": "runs r of randomized response, ε = 0.1", "y": "ε at δ = $10^{-6}$"}
display(picture(Panel(curves=curves, log="xy", ticks=ticks, **labels)))
assert (bounds[:, 0] <= bounds[:, 1]).all()
print(f"2^18 runs: {bounds[-1, 0]:.1f} ≤ ε ≤ {bounds[-1, 1]:.1f}, instead of {0.1 * counts[-1]:,.1f}")

# %% [markdown]
# ## A leak grows with the number of runs
#
# A mechanism is perfect except for one run in a hundred thousand, which reveals everything: an infinite loss with
# probability $10^{-5}$. No $\varepsilon$ covers it. After $r$ runs its probability is $1 - (1 - 10^{-5})^r$:

# %%
leaking = buckets([LEAK, 1 - LEAK], [0.0, 1.0])
for runs in (1, 100, 10_000, 1 << 18):
    low, up = leaking.compose(runs).delta(1_000.0)
    assert low <= -math.expm1(runs * math.log1p(-LEAK)) * (1 + 1e-9) <= up * (1 + 1e-8)
    print(f"{runs:>7,} runs: δ(1,000) = {up:.6f}")

# %% [markdown]
# The naive mechanisms of these notebooks leak more. In half precision a sum of weights absorbs small weights, and one
# run reveals the world with probability ½. The exact twin makes the same claim and keeps it:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
rows = leak_growth.measure_leaks([attack("rounded-addition-float16")], count=COUNT)
allowed = [other_accountants.kairouz_oh_viswanath(rows[0].claim.epsilon, 0.0, runs, 0.0) for runs in leak_growth.RUNS]
curves = {
    f"allowed, ε = {rows[0].claim.epsilon:g} a run": (leak_growth.RUNS, (np.zeros(len(allowed)), allowed), "pale band")
}
for row in rows:
    low, up = np.array(row.advantage).T
    curves[row.mechanism] = (
        leak_growth.RUNS,
        up if row.exact else low,
        "exact joined" if row.exact else "black joined squares",
    )
    assert (up <= np.array(allowed) + 1e-3).all() if row.exact else low[0] > allowed[0]
ticks = {runs: f"{runs:,}" for runs in leak_growth.RUNS[::2]}
picture(Panel(curves=curves, log="x", ticks=ticks, legend="center", x="runs r", y="the attacker's advantage"))

# %% [markdown]
# `subnormal compose` draws this for every broken member whose law is known.
#
# ## Exercises
#
# **1.** In the cell *Change me*, set `COUNT = 100`. The bounds move apart, and still enclose the truth. How many
# buckets bring them within 1 %?
#
# **2.** Randomized response is the *worst* mechanism with its $\varepsilon$. Compare `bounds` with
# `other_accountants.kairouz_oh_viswanath_epsilon(0.1, 0.0, runs, 1e-6)`, and with `laplace(10)` of `closed_forms`,
# whose $\varepsilon$ is 0.1 too.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# From 400 buckets on the distance falls like the square of their number: 28 % at 400 and 1.7 % at 1,600. About 2,100
# buckets are enough.
#
# ```python
# _, epsilons, truth, _, _ = bounds_of(SIGMA, RUNS)
# for count in (400, 800, 1_600):
#     composed = gaussian(SIGMA, count=count).compose(RUNS)
#     low, up = np.array([composed.delta(epsilon) for epsilon in epsilons.tolist()]).T
#     print(f"{count:>5,} buckets: the bounds lie within {max((up - low) / truth):.1%} of each other")
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# The theorem of Kairouz, Oh and Viswanath knows nothing of a mechanism but its $\varepsilon$, so it must cover the
# worst one. Its result lies between the bounds of randomized response: 50.05 after 4,096 runs. Laplace noise often
# loses less than $\varepsilon$: 48.9.
#
# ```python
# from subnormal.mechanisms.composition.closed_forms import laplace
#
# noise = laplace(10, count=COUNT)
# for runs in (1, 16, 256, 4_096):
#     worst = other_accountants.kairouz_oh_viswanath_epsilon(0.1, 0.0, runs, 1e-6)
#     low, up = response.compose(runs).epsilon(1e-6)
#     assert low - 1e-9 <= worst <= up + 1e-9
#     of_noise = noise.compose(runs).epsilon(1e-6)[1]
#     print(f"{runs:>5,} runs: {worst:.4f} for any mechanism, {of_noise:.4f} for Laplace noise")
# ```
#
# </details>
