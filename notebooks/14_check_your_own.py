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
# # Check your own function
#
# **Claim.** You have written a function that releases a number about people, and it claims ε = 1. If the claim is
# wrong, a program can often find that out in seconds, without reading the code.
#
# **Mechanism.** `check` takes the function, the domain of its data and the claim. It searches for two neighbouring
# datasets on which the function breaks the claim, and makes them as small as it can. It never says "private".
#
# **You will see** four versions of a mean, each convicted for another reason, a histogram, and a pair of datasets that
# you can keep as a test. **To present: 12 minutes.**

# %% [markdown]
# `check` needs three things:
#
# - **the function**: it takes a dataset and returns what is released, with fresh randomness at each call;
# - **the domain**: which datasets there are, as a [Hypothesis](https://hypothesis.readthedocs.io) strategy, and which
#   two of them are neighbours;
# - **the claim**: ε, or (ε, δ), zero-concentrated, Gaussian or Rényi differential privacy.
#
# It works in stages, the cheapest first. Does the function raise an error? Is it deterministic? What does it add noise
# to? Do its outcomes differ in fresh runs? Below, one line shows each result. Click it to open the report.

# %% [markdown]
# ## Change me

# %%
EPSILON = 1.0  # the claim, in nats
SECONDS = 10.0  # for one check, at most
LARGEST = 100.0  # of a record

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from html import escape

import numpy as np
from hypothesis import strategies as st
from IPython.display import HTML

from explore import explore
from subnormal import Claim, Verdict, add_or_remove, change_one, check, system_bits
from subnormal.audit.check.regression import as_test
from subnormal.mechanisms.laplace import exact
from subnormal.plots import Panel, picture

rng = np.random.default_rng(1)
ages = st.lists(st.floats(0, LARGEST), min_size=1, max_size=20)


def shown(result):
    """One line of a result; a click opens its report."""
    line = f"<b>{result.verdict}</b> on {escape(repr(result.worlds[0]))} and {escape(repr(result.worlds[1]))}"
    spent = f"{result.runs:,} runs, {result.seconds:.1f} seconds"
    return HTML(f"<details><summary>{line} &nbsp; ({spent})</summary>{result._repr_html_()}</details>")


# %% [markdown]
# ## First try: a mean
#
# Each record should lie between 0 and 100, and the function clips those that do not. The author remembers that one
# record moves the mean of $n$ records by at most $1/n$. (With `examples` and `runs`, `check` counts its work instead of
# seconds: one seed gives the same result on every machine.)


# %%
def noisy_mean(records):
    clipped = np.clip(records, 0, LARGEST)
    return clipped.mean() + rng.laplace(scale=1 / (EPSILON * len(records)))


first = check(noisy_mean, ages, change_one(), Claim(EPSILON), examples=100, runs=10_000)
shown(first)

# %% [markdown]
# `check` ran the function on both datasets with the *same* noise, and then with shifted noise. It learned that the
# outcome is a mean plus the noise, and that the mean moves by more than the scale allows: the scale is right for
# records between 0 and 1. This assumes that `rng.laplace` draws Laplace noise. Fresh runs agree with the replay:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
curves = {}
for data, colour, label in zip(first.worlds, ("in", "out"), ("in", "out"), strict=True):
    counts, edges = np.histogram([noisy_mean(data) for _ in range(5_000)], bins=200)
    curves[f"{label}: {data}"] = (edges[:-1] + edges[1:]) / 2, (np.zeros(200), counts), f"{colour} band"
picture(Panel(curves=curves, x="released mean", y="of 5,000 runs"), size=(11, 3.6))

# %% [markdown]
# On paper, the mean moves by the largest record over $n$, and the scale allows $1/n$. More records do not help; a
# smaller largest record does. Move the sliders until the loss is within the claim.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def laws_of_the_mean(epsilon, records, largest):
    """The law of noisy_mean on paper, in both worlds: all records 0, or one of them the largest. ε is the claim."""
    scale, moved = 1 / (epsilon * records), largest / records
    at = np.linspace(-4 * scale, moved + 4 * scale, 801)
    density = {
        f"{words}": np.exp(-np.abs(at - mean) / scale) / (2 * scale) for words, mean in (("in", moved), ("out", 0))
    }
    curves = {
        f"in: one record is {largest:g}": (at, density["in"], "in line"),
        "out: all are 0": (at, density["out"], "out dashed"),
    }
    title = f"the loss is {epsilon * largest:g}, and {epsilon:g} is allowed"
    return picture(Panel(curves=curves, title=title, x="released mean", y="density"), size=(11, 3.6))


# %%
explore(
    laws_of_the_mean,
    epsilon=(EPSILON, [0.1, 0.5, 1, 2]),
    records=(1, [1, 10, 100]),
    largest=(10, [1, 2, 10, 100]),
)

# %% [markdown]
# ## Second try: the range of the data
#
# The scale must know the range of the records. The author computes the range from the records.


# %%
def mean_of_range(records):
    spread = max(records) - min(records)
    return np.mean(records) + rng.laplace(scale=max(spread, 1e-3) / (EPSILON * len(records)))


second = check(mean_of_range, ages, change_one(), Claim(EPSILON), seconds=SECONDS)
shown(second)

# %% [markdown]
# If all records are equal, their range is 0, and they get almost no noise. A single record is released as it is.
#
# ## Third try: missing values
#
# Now the scale is constant, and the function releases a clipped sum. But some records are missing, and pandas writes
# them as NaN.


# %%
def noisy_sum(records):
    return float(np.clip(records, 0, 1).sum()) + rng.laplace(scale=1 / EPSILON)


some_missing = st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=20)
third = check(noisy_sum, some_missing, add_or_remove(), Claim(EPSILON), seconds=SECONDS)
shown(third)

# %% [markdown]
# `np.clip` keeps NaN, and NaN plus noise is NaN. An attacker who sees NaN knows that a value is missing.
#
# ## Fourth try: the floats
#
# Now NaN becomes 0. The sensitivity is 1, the scale is right, and the proof is right. (Lists of at most three records
# are enough here. `check` tries outcomes as a reader sees them first, and the last bits of floats at the end.)


# %%
def careful_sum(records):
    return float(np.clip(np.nan_to_num(records), 0, 1).sum()) + rng.laplace(scale=1 / EPSILON)


few = st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=3)
fourth = check(careful_sum, few, add_or_remove(), Claim(EPSILON), examples=100, runs=10_000)
shown(fourth)

# %% [markdown]
# The proof was about real numbers. Floats near 0 lie closer together than floats near 1, so the last bits of the sum
# depend on the value that the noise was added to. If the noise lies on a grid and is drawn exactly from integers,
# `check` finds nothing:


# %%
def exact_sum(records):
    total = float(np.clip(np.nan_to_num(records), 0, 1).sum())
    return exact.sample(total, (1 + 2**-10) / EPSILON, system_bits(), 1, grid=-10)[0]


sound = check(exact_sum, few, add_or_remove(), Claim(EPSILON), seconds=0.1 * SECONDS)
assert first.verdict is Verdict.VIOLATED
assert first.stage == "replay"
assert fourth.verdict is Verdict.VIOLATED
assert sound.verdict is not Verdict.VIOLATED
shown(sound)

# %% [markdown]
# To find nothing is no proof of privacy. The exact sampler has a proof of its own ([lab 3](labs/lab3_repair.ipynb)).
#
# ## Outcomes of any kind
#
# A histogram takes a dictionary and returns a dictionary. Each count gets noise, and the function releases it if the
# noisy count is at least 4. The author rounds the noisy count first, because 3.7 people look odd. (Neighbours: one
# person more in one category. Few data are enough here. The claim has a δ, see [notebook
# 12](12_thresholded_noise.ipynb).)


# %%
def histogram(counts):
    noisy = {key: count + rng.laplace(scale=1 / EPSILON) for key, count in counts.items()}
    return {key: round(value) for key, value in noisy.items() if round(value) >= 4}


@st.composite
def one_more(draw):
    counts = draw(st.dictionaries(st.just("a"), st.just(1)))
    return {**counts, "a": counts.get("a", 0) + 1}, counts


delta = 0.5 * float(np.exp(-EPSILON * 3))  # that a count of 1 reaches 4
rounded = check(histogram, adjacent=one_more(), claim=Claim(EPSILON, delta), examples=20, runs=100_000)
assert rounded.verdict is Verdict.VIOLATED
shown(rounded)

# %% [markdown]
# A count of 1 should reach 4 with probability at most δ. After rounding it only has to reach 3.5.
#
# ## Keep the pair
#
# The two datasets are small enough to read. Paste this into the test suite of the function:

# %%
print(as_test(third))

# %% [markdown]
# ## Exercises
#
# **1.** Repair `histogram`, so that `check` finds nothing. Which number must be compared with 4, and what must δ be?
#
# **2.** Claims can be of other kinds. Permute-and-flip with the budget ε is ε-differentially private. The exponential
# mechanism with the same ε is also $\varepsilon^2/8$-zero-concentrated; somebody claims this of permute-and-flip too.
# Let `check` decide. (Give it a minute.)
#
# **3.** Write a function that is not private and that `check` does not convict in a minute. Which event would convict
# it?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# Compare the noisy count itself with 4, and round only what is released. Then a count of 1 is released if its noise is
# at least 3, with probability $\frac12 e^{-3\varepsilon}$, and that is the δ above.
#
# ```python
# def repaired(counts):
#     noisy = {key: count + rng.laplace(scale=1 / EPSILON) for key, count in counts.items()}
#     return {key: round(value) for key, value in noisy.items() if value >= 4}
#
#
# result = check(repaired, adjacent=one_more(), claim=Claim(EPSILON, delta), seconds=0.3 * SECONDS)
# assert result.verdict is not Verdict.VIOLATED
# shown(result)
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# With the scores (0, 0) the second candidate wins with probability 1/2. With (1, −1) it wins with probability
# $e^{-1}/2 = 0.184$ at $\varepsilon = 1$. The difference is 0.316, and $\varepsilon^2/8$-zero-concentrated privacy
# allows 0.248.
#
# ```python
# import random
#
# from subnormal import Zcdp, within
#
#
# def permute_and_flip(scores):
#     best, order = max(scores), random.sample(range(len(scores)), len(scores))
#     while True:
#         for place in order:
#             if random.random() < np.exp(EPSILON * (scores[place] - best) / 2):
#                 return place
#
#
# two = st.tuples(st.integers(-5, 5), st.integers(-5, 5))
# selection = check(permute_and_flip, two, within(1), Zcdp(EPSILON**2 / 8), seconds=0.3 * SECONDS)  # better: 60
# shown(selection)
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 3</b></summary>
#
# A leak that needs rare data or a rare outcome. This sum releases a secret value only if the data have two records
# that differ by exactly 1e-9; a random search does not draw such data. The event "the outcome is the secret" convicts
# it at once, if somebody names the pair. The same holds for a leak in one run of a billion.
#
# ```python
# def leaks_rarely(records):
#     if len(records) == 2 and records[0] - records[1] == 1e-9:
#         return records[0]
#     return float(np.clip(np.nan_to_num(records), 0, 1).sum()) + rng.laplace(scale=1 / EPSILON)
#
#
# result = check(leaks_rarely, few, add_or_remove(), Claim(EPSILON), seconds=0.2 * SECONDS, grid=1e-6)
# assert result.verdict is not Verdict.VIOLATED
# shown(result)
# ```
#
# </details>
