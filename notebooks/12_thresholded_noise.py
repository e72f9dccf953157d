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
# # Thresholded noise: releasing keys that are data
#
# **Claim.** Noise on every count does not hide *which keys exist*. A threshold does, up to a small $\delta$, and in
# floats the true $\delta$ can be 300 times the claimed one.
#
# **Mechanism.** Each count gets noise, and a row is released only if its noisy count is at least $T$. A row of a
# single person appears with a small probability. This is the $\delta$ of $(\varepsilon, \delta)$-differential privacy.
#
# **You will see** a table in which most groups are one woman, what a threshold keeps of it, and four mistakes in the
# tail of the noise. **To present: 10 minutes.**

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
SCALE = 1.0  # of Laplace noise; one person changes one count by 1, so ε = 1/SCALE
THRESHOLD = 10
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from collections import Counter
from fractions import Fraction
from math import exp

import numpy as np
from IPython.display import display
from statsmodels.datasets import fair

from explore import explore
from subnormal.attacks.catalogue import attack
from subnormal.audit.evidence import exact
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.families import installed, member
from subnormal.mechanisms.numerics.mpfr import float_up
from subnormal.mechanisms.privacy import ApproximateZcdp
from subnormal.mechanisms.threshold import exact as threshold_exact
from subnormal.mechanisms.threshold import family as threshold_family
from subnormal.mechanisms.threshold import naive as threshold_naive
from subnormal.mechanisms.threshold.family import privacy
from subnormal.mechanisms.threshold.parameters import ThresholdParameters
from subnormal.plots import Panel, picture

# %% [markdown]
# `SELECT key, COUNT(*) … GROUP BY key` with noise on every count is not private, because the **keys** are data. If
# only one person is a bookkeeper of 42 with four children, then a row for such bookkeepers says that she is in the
# table, whatever its number is.

# %% [markdown]
# ## A real table
#
# The data set `fair` of statsmodels: 6,366 women who answered a magazine's survey on marriage and affairs in 1974
# (Fair 1978). Group them by age, years married, children, education and the two occupations, as any analyst would.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
COLUMNS = ["age", "yrs_married", "children", "educ", "occupation", "occupation_husb"]
women = fair.load_pandas().data
histogram = Counter(" ".join(f"{value:g}" for value in row) for row in women[COLUMNS].to_numpy())
held_by = Counter(histogram.values())
print(f"{len(women):,} women, {len(histogram):,} groups; {held_by[1]:,} of them have a single member")
sizes = sorted(held_by)
curves = {
    "_groups": (sizes, [held_by[size] for size in sizes], "grey bars"),
    f"threshold {THRESHOLD}": (THRESHOLD - 0.5, None, "claim dashed"),
}
picture(Panel(curves=curves, log="y", x="women in a group", y="groups"))

# %% [markdown]
# More than half of the groups are one woman each. With noise alone, the release has a row for every one of them.
# Somebody who knows her age, her children and her husband's work learns that she answered the survey.

# %% [markdown]
# ## What a threshold keeps and what it costs
#
# One woman makes one group larger by one, or creates a group: $\Delta_0 = \Delta_1 = \Delta_\infty = 1$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
parameters = ThresholdParameters("laplace", SCALE, THRESHOLD, "int64")
claim = privacy(parameters, (1, 1, 1))
((released),) = threshold_exact.sample(histogram, parameters, seeded_bits(SEED), 1)  # to release: system_bits()
large = {key for key, count in histogram.items() if count >= THRESHOLD}
kept = {key for key, _ in released}
print(f"ε = {claim.epsilon:g}, δ = {claim.delta:.4g}")
print(f"released: {len(kept)} groups; of the {len(large)} groups of at least {THRESHOLD}, {len(kept & large)} are kept")
print(f"women in released groups: {sum(histogram[key] for key in kept):,} of {len(women):,}")
assert kept <= set(histogram)

# %% [markdown]
# Move the sliders. The picture shows how likely the release of a group is, by the number of its women. The leftmost
# dot is $\delta$.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def release(epsilon, threshold, noise):
    """How likely a group is released, by its size: the law of the row, in both worlds of a woman who is alone in it."""
    given, women = ThresholdParameters(noise, 1 / epsilon, threshold, "int64"), range(1, 2 * threshold)
    chances = [float(threshold_family.tail(given, threshold - count)[0]) for count in women]
    curves = {
        "is released": (women, chances, "black joined"),
        f"δ = {chances[0]:.2g}, of a woman alone": (None, chances[0], "claim dashed"),
    }
    labels = {"x": f"women in the group (scale of the noise: {1 / epsilon:g})", "y": "probability"}
    return picture(Panel(curves=curves, log="y", **labels))


# %%
explore(
    release,
    epsilon=(1 / SCALE, [0.1, 0.25, 0.5, 1, 2]),
    threshold=(THRESHOLD, [2, 5, 10, 20, 50]),
    noise=("laplace", ["laplace", "gaussian"]),
)

# %% [markdown]
# What does a threshold keep of the table (left), and which $\delta$ does it have (right)?

# %% jupyter={"source_hidden": true} tags=["hide-input"]
thresholds = list(range(1, 31))
counts = np.array(list(histogram.values()))
shares, deltas = [], []
for threshold in thresholds:
    given = ThresholdParameters("laplace", SCALE, threshold, "int64")
    chance = {count: float(threshold_family.tail(given, threshold - count)[0]) for count in held_by}
    shares.append(sum(chance[count] * count for count in counts.tolist()) / counts.sum())
    deltas.append(privacy(given, (1, 1, 1)).delta)
kept_share = {"_share": (thresholds, shares, "black joined")}
price = {"_delta": (thresholds, deltas, "claim joined"), "1/n²": (None, 1 / len(women) ** 2, "grey dotted")}
left = Panel(curves=kept_share, ylim=(0, 1), x="threshold T", y="share of women whose group is released")
display(picture(left, Panel(curves=price, log="y", x="threshold T", y="δ"), size=(12.5, 4.4)))
enough = next(t for t, delta in zip(thresholds, deltas, strict=True) if delta <= 1 / len(women) ** 2)
print(f"δ ≤ 1/n² from T = {enough} on: there {shares[enough - 1]:.0%} of the women are in what is released")

# %% [markdown]
# Each step of the threshold divides $\delta$ by $e^{1/\text{scale}}$ and loses the groups of one more size. For more
# rows, use a coarser key, so that more people share a group.

# %% [markdown]
# ## The tail counts exactly what is released
#
# A group of one woman is released if $1 + Z \geq T$, that is $Z \geq T - 1$. **The boundary belongs to the event.**
# With $B = e^{-1/\text{scale}}$ its probability is $B^{T-1}/(1+B)$. Without the boundary, $Z > T - 1$, the probability
# is smaller by a factor of $B$. OpenDP's documentation has the smaller one, and its code releases a count that equals
# the threshold ([issue 2922](https://github.com/opendp/opendp/issues/2922), open when this was written). Here are both
# numbers, and what OpenDP's release does if it is installed:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
ten = ThresholdParameters("laplace", 1.0, 10, "int64")
base = exp(-1)
ours, theirs = privacy(ten, (1, 1, 1)).delta, threshold_naive.open_tail_claim(ten, {}, {}).delta
print(f"T = 10:  P(Z ≥ 9) = {ours:.10g}    P(Z > 9) = {theirs:.10g}    ratio {ours / theirs:.6f}")
assert abs(ours / (base**9 / (1 + base)) - 1) < 1e-14
assert abs(theirs / 3.319000812207484e-05 - 1) < 1e-9
if installed("opendp"):
    two = ThresholdParameters("laplace", 1.0, 2, "int64")
    library, runs = member("opendp-threshold"), 20_000
    said = library.claim(two, {"a": 1}, {})
    shown = sum(map(bool, library.sample({"a": 1}, two, seeded_bits(SEED), runs))) / runs
    print(f"T = 2:   OpenDP claims δ = {said.delta:.4f} and releases {shown:.4f}; P(Z ≥ 1) = {base / (1 + base):.4f}")
    assert shown > said.delta + 0.1

# %% [markdown]
# **At $T = \Delta_\infty$** the tail is $P(Z \ge 0) = 1/(1+B)$, and not 1. For *floats* the two numbers agree: the
# grid is $2^{-1074}$, and one point of it has a probability that no float can show.
#
# ## A floor under δ
#
# OpenDP computes $1 - (1 - t)^{\Delta_0}$ in floats and rounds so that $\delta$ is never too small. Floats just below
# 1 are $2^{-53}$ apart, so no $\delta$ is below $2^{-53}$ for each key. This is safe, and sometimes too large by more
# than 70 orders of magnitude.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def floored(given, most, keys):
    """OpenDP's last steps: 1 − t rounded down to a float, and so its power."""
    start = given.threshold_steps - int(Fraction(most) / Fraction(2) ** given.step)
    stays = -float_up(threshold_family.tail(given, start)[1] - 1)
    return 1 + float_up(-(Fraction(stays) ** keys))


FIRST_ROW = 2.801398224505647e-09
print(f"{'noise':<9} {'sensitivities':<16} {'ε or ρ':>12} {'δ, floored':>24} {'true δ':>24} {'ε at the first δ':>20}")
for noise in ("laplace", "gaussian"):
    for sensitivities in ((1, 1, 1), (100, 10, 0.001)):
        given = ThresholdParameters(noise, 1.0, 20.0, "float64")
        promise, floor = privacy(given, sensitivities), floored(given, sensitivities[2], sensitivities[0])
        first, at = promise.epsilon, ""
        if isinstance(promise, ApproximateZcdp):
            first, at = promise.rho, repr(promise.at(FIRST_ROW).epsilon)
        print(f"{noise:<9} {sensitivities!s:<16} {first:>12.6g} {floor!r:>24} {promise.delta!r:>24} {at:>20}")
assert floored(ThresholdParameters("laplace", 1.0, 20.0, "float64"), 1, 1) == FIRST_ROW

# %% [markdown]
# ## Four mistakes in the tail
#
# Each bar is the exact probability that a key of a single person is released, divided by the claimed $\delta$. A bar
# above 1 is a violation. No feasible sample would show the two leftmost ones.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
CASES = {
    "least uniform\nof float32\n(δ = 10⁻¹⁰)": ("uniform-floor", "threshold-naive-float32"),
    "the same,\nT = 20": ("singleton-key", "threshold-naive-float32"),
    "rounded before\nthe threshold": ("rounding-before-threshold", "threshold-naive-rounded-first"),
    "> counted,\n≥ released": ("boundary", "threshold-naive-open-tail"),
}
ratios = {"as written": [], "exact": []}
for case, broken in CASES.values():
    against = attack(case)
    for label, name in (("as written", broken), ("exact", "threshold-exact")):
        mechanism, worlds = member(name), against.worlds()
        laws = (mechanism.law(data, against.parameters) for data in worlds)
        promise = mechanism.claim(against.parameters, *worlds)
        evidence = exact.compare(*laws, promise, against.event)
        assert evidence.verdict == ("HOLDS" if label == "exact" else "VIOLATED")
        ratios[label].append(evidence.delta / promise.delta)

curves = {
    "as written": (range(4), ratios["as written"], "grey bars"),
    "exact": (range(4), ratios["exact"], "exact bars"),
    "what is claimed": (None, 1, "claim dashed"),
}
labels = {"x": "", "y": "released / claimed δ", "numbers": "{:.4g}", "ticks": dict(enumerate(CASES))}
picture(Panel(curves=curves, log="y", ylim=(0.5, 2500), **labels), size=(12, 4.8))

# %% [markdown]
# - **A uniform has a least step.** Inversion turns $U$ into noise $-\ln U$. A generator of $[0, 1)$ returns $U = 0$
#   once in $2^{24}$ draws. Then the noise is infinite and exceeds any threshold. With the sign the probability is
#   $2^{-25}$, whatever is claimed.
# - **Rounding first** releases a noisy count of $T - \frac12$: a factor of $e^{1/(2\cdot\text{scale})}$, here
#   $\sqrt e = 1.6487$.
# - **The boundary** is a factor of $e^{1/\text{scale}}$.
#
# ## Exercises
#
# **1.** A woman may belong to up to three groups (say, one for each of three surveys). What are $\varepsilon$ and
# $\delta$ at the same scale and threshold? Which threshold restores the old $\delta$?
#
# **2.** The same table with Gaussian noise of $\sigma = 1$ and $T = 10$: its $\delta$ is smaller by thirteen orders of
# magnitude. Is it the better mechanism? Compare the thresholds that the two need for $\varepsilon = 1$ and $\delta =
# 10^{-4}$, for a person in 1, 10 or 100 groups.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# $\Delta_0 = \Delta_1 = 3$, $\Delta_\infty = 1$. $\varepsilon$ is three times as large, and $\delta = 1 - (1-t)^3$ is
# nearly three times as large. A threshold that is higher by $\ln 3$, so by 2, restores $\delta$. Only a larger scale
# restores $\varepsilon$.
#
# ```python
# for threshold in (THRESHOLD, THRESHOLD + 1, THRESHOLD + 2):
#     print(threshold, privacy(ThresholdParameters("laplace", SCALE, threshold, "int64"), (3, 3, 1)))
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# This number does not decide it. The $\delta$ is only that of the threshold. The noise itself is $\rho$-zCDP, and to
# turn $\rho$ into $(\varepsilon, \delta)$ with $\varepsilon = 1$ it needs $\sigma = 3.6$, and a higher threshold than
# Laplace noise. Gaussian noise is better if one person has many keys, because $\Delta_2 = \sqrt{\Delta_0}$ grows more
# slowly than $\Delta_1 = \Delta_0$.
#
# ```python
# DELTA = 1e-4
#
#
# def least_threshold(noise, scale, keys, delta):
#     low, high = 1, 1 << 14
#     while low < high:
#         middle = (low + high) // 2
#         enough = privacy(ThresholdParameters(noise, scale, middle, "int64"), (keys, keys, 1)).delta <= delta
#         low, high = (low, middle) if enough else (middle + 1, high)
#     return low
#
#
# for keys in (1, 10, 100):
#     sigma = 3.6 * keys**0.5
#     high = least_threshold("gaussian", sigma, keys, DELTA / 2), least_threshold("laplace", float(keys), keys, DELTA)
#     normal = privacy(ThresholdParameters("gaussian", sigma, high[0], "int64"), (keys, keys, 1)).at(DELTA)
#     plain = privacy(ThresholdParameters("laplace", float(keys), high[1], "int64"), (keys, keys, 1))
#     print(f"{keys:>3} keys: Gaussian T = {high[0]:>4} (ε = {normal.epsilon:.3f})", end="   ")
#     print(f"Laplace T = {high[1]:>4} (ε = {plain.epsilon:.3f})")
# ```
#
# </details>
