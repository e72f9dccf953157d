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
# **Claim.** You have written a function that releases a number about people, and it claims ε = 1. Whether that is
# wrong can often be found in seconds, without reading the code.
#
# **Mechanism.** `check` takes the function, the domain of its data and the claim. It searches for two neighbouring
# datasets on which the claim breaks, and makes them as small as it can. It never says "private".
#
# **You will see** four repairs of one mean, each convicted for another reason; a histogram, a selection; and a pair to
# keep as a test. **To present: 12 minutes.**

# %% [markdown]
# `check` needs three things:
#
# - **the function**: it takes a dataset and returns what is released, with fresh randomness at each call;
# - **the domain**: which datasets there are, as a [Hypothesis](https://hypothesis.readthedocs.io) strategy, and which
#   two of them are neighbours;
# - **the claim**: ε, or (ε, δ), zero-concentrated, Gaussian or Rényi differential privacy.
#
# It asks in stages, the cheapest first: does the function raise, is it deterministic, what does it add noise to,
# and last: do its outcomes differ, in fresh runs?

# %% [markdown]
# ## Change me

# %%
EPSILON = 1.0  # the claim, in nats
SECONDS = 30.0  # for one check, at most
LARGEST = 100.0  # of a record

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import random

import numpy as np
from hypothesis import strategies as st

from explore import explore
from subnormal import Claim, Verdict, Zcdp, add_or_remove, change_one, check, system_bits, within
from subnormal.audit.check.regression import as_test
from subnormal.mechanisms.laplace import exact
from subnormal.plots import Panel, picture

rng = np.random.default_rng(1)
ages = st.lists(st.floats(0, LARGEST), min_size=1, max_size=20)

# %% [markdown]
# ## First try: a mean
#
# Each record lies between 0 and 100, and is clipped in case one does not. One record moves the mean of $n$ by at most
# $1/n$, or so the author remembers.


# %%
def noisy_mean(records):
    clipped = np.clip(records, 0, LARGEST)
    return clipped.mean() + rng.laplace(scale=1 / (EPSILON * len(records)))


first = check(noisy_mean, ages, change_one(), Claim(EPSILON), seconds=SECONDS)
first

# %% [markdown]
# `check` ran the function on one dataset and on the neighbour, with the *same* noise, and then with noise that it had
# shifted: the outcome is a mean plus the noise. The mean had moved by more than the scale allows: the noise was made
# for records between 0 and 1. This rests on an assumption, that `rng.laplace` draws Laplace noise. Runs that nobody
# recorded agree with it. The outcomes tell the same story:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
curves = {}
for data, colour, label in zip(first.worlds, ("in", "out"), ("in", "out"), strict=True):
    counts, edges = np.histogram([noisy_mean(data) for _ in range(5_000)], bins=200)
    curves[f"{label}: {data}"] = (edges[:-1] + edges[1:]) / 2, (np.zeros(200), counts), f"{colour} band"
assert first.verdict is Verdict.VIOLATED
assert first.stage == "replay"
picture(Panel(curves=curves, x="released mean", y="of 5,000 runs"), size=(11, 3.6))

# %% [markdown]
# The law on paper: the mean moves by the largest record over $n$, and the scale allows $1/n$. More records do not
# help, a smaller largest record does. Move the sliders until the loss is within the claim.


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
    title = f"the loss is {epsilon * largest:g}, the claim is {epsilon:g}"
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
# So the scale needs the range of the records. The author takes it from the records.


# %%
def mean_of_range(records):
    spread = max(records) - min(records)
    return np.mean(records) + rng.laplace(scale=max(spread, 1e-3) / (EPSILON * len(records)))


second = check(mean_of_range, ages, change_one(), Claim(EPSILON), seconds=SECONDS)
second

# %% [markdown]
# Records that are all equal have no spread, so they get almost no noise. A single record is released as it is.
#
# ## Third try: missing values
#
# A constant scale, and a sum that clips. But some records are missing, and pandas writes them as NaN.


# %%
def noisy_sum(records):
    return float(np.clip(records, 0, 1).sum()) + rng.laplace(scale=1 / EPSILON)


some_missing = st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=20)
third = check(noisy_sum, some_missing, add_or_remove(), Claim(EPSILON), seconds=SECONDS)
third

# %% [markdown]
# `np.clip` keeps NaN, and NaN plus noise is NaN: whoever sees it knows that a value is missing.
#
# ## Fourth try: the floats
#
# NaN becomes 0. Now the sensitivity is 1, the scale is right, the proof is right.


# %%
def careful_sum(records):
    return float(np.clip(np.nan_to_num(records), 0, 1).sum()) + rng.laplace(scale=1 / EPSILON)


# what a reader sees is looked at first, the last bits in the last third of the seconds: so here are fewer
fourth = check(careful_sum, some_missing, add_or_remove(), Claim(EPSILON), seconds=SECONDS / 3)
fourth

# %% [markdown]
# The proof was about real numbers. Near 0 floats are finer than near 1, so the last bits of the sum tell what noise
# was added to. With noise on a grid, drawn exactly from integers, nothing is found:


# %%
def exact_sum(records):
    total = float(np.clip(np.nan_to_num(records), 0, 1).sum())
    return exact.sample(total, (1 + 2**-10) / EPSILON, system_bits(), 1, grid=-10)[0]


sound = check(exact_sum, some_missing, add_or_remove(), Claim(EPSILON), seconds=2)
print(sound)
assert fourth.verdict is Verdict.VIOLATED
assert sound.verdict is not Verdict.VIOLATED

# %% [markdown]
# ## Outcomes of any kind, claims of any kind
#
# A histogram, from a dictionary to a dictionary: counts get noise, and are released from 4 on. Somebody rounds them
# first, because a histogram with 3.7 people looks odd. (Neighbours: one person more in one category.)


# %%
def histogram(counts):
    noisy = {key: count + rng.laplace(scale=1 / EPSILON) for key, count in counts.items()}
    return {key: round(value) for key, value in noisy.items() if round(value) >= 4}


@st.composite
def one_more(draw):
    counts = draw(st.dictionaries(st.sampled_from("ab"), st.integers(1, 6), min_size=1))
    key = draw(st.sampled_from("ab"))
    return {**counts, key: counts.get(key, 0) + 1}, counts


delta = 0.5 * float(np.exp(-EPSILON * 3))  # that a count of 1 reaches 4
rounded = check(histogram, adjacent=one_more(), claim=Claim(EPSILON, delta), seconds=SECONDS)
rounded

# %% [markdown]
# A selection by permute-and-flip is ε-differentially private. The exponential mechanism with the same ε is also
# $\varepsilon^2/8$-zero-concentrated; somebody claims that of permute-and-flip.


# %%
def permute_and_flip(scores):
    best, order = max(scores), random.sample(range(len(scores)), len(scores))
    while True:
        for place in order:
            if random.random() < np.exp(EPSILON * (scores[place] - best) / 2):
                return place


two = st.tuples(st.integers(-5, 5), st.integers(-5, 5))
selection = check(permute_and_flip, two, within(1), Zcdp(EPSILON**2 / 8), seconds=SECONDS)
selection

# %% [markdown]
# ## Keep the pair
#
# The two datasets are small enough to read, and to keep. Paste this into the test suite of the function:

# %%
print(as_test(third))

# %% [markdown]
# ## Exercises
#
# 1. Repair `histogram`, so that `check` finds nothing: which number must be compared with 4, and what must δ be?
# 2. Write a function that is not private and that `check` does not convict in a minute. What would its event have to
#    be?
