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
# # One mechanism, many scores: Laplace noise and a private median
#
# **Claim.** To answer a question privately, define how bad each answer is and how much one person can change that.
# With a good score the error of a private median depends on ranks only, and an outlier of a million days changes
# nothing.
#
# **Mechanism.** The exponential mechanism answers $r$ with probability proportional to $e^{-\varepsilon
# u(r)/(2\Delta)}$; one person changes no $u(r)$ by more than $\Delta$. The sampler is exact.
#
# **You will see** that a score for counts gives Laplace noise, a factor of 2, and a private median of 69 patients,
# compared with noise on the median. **To present: 12 minutes.**

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
EPSILON = 1.0  # the budget of a release, in nats
COUNT = 7  # the count in the first part
RUNS = 2_000  # private medians drawn for each picture
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
from IPython.display import display
from statsmodels.datasets import heart

from explore import explore
from subnormal.audit.evidence import exact
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import base2, score_functions
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.privacy import Claim, Eta, selection_claim
from subnormal.plots import Panel, picture

# %% [markdown]
# **Two scores** from the notes of a course on data privacy (Boston University, CS 558, 2012): the distance from a
# count, which gives Laplace noise, and the number of records to replace, which gives a median. (In the notes a higher
# score is better: $u = -\text{score}$.)

# %% [markdown]
# ## Counting: the exponential mechanism is Laplace noise
#
# How many people in the file have some property? One person changes a count by 1, so $u(r) = |\text{count} - r|$ has
# sensitivity 1. The weight of $r$ falls by the same factor with every step away from the count. This *is* discrete
# Laplace noise,
# $$\Pr[\text{count} + k] = \frac{1-q}{1+q}\,q^{|k|},$$
# except at the ends of the range. In base 2, with $q = 2^{-\eta} = \frac34$, as fractions:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
ETA = Eta(3, 2, 1)
q, low, high = ETA.base, 0, 20
law = base2.law(score_functions.count(COUNT, range(low, high + 1)), ETA)
laplace = [(1 - q) / (1 + q) * q ** abs(r - COUNT) for r in range(low, high + 1)]
inside = sum(laplace)
print(f"discrete Laplace puts {float(inside):.4f} of its mass on {low} to {high}")
print("selection = discrete Laplace given that it falls there, as fractions:", end=" ")
print(all(law.probability(at)[0] == mass / inside for at, mass in enumerate(laplace)))
for m in (5, 10, 20, 40):
    around = base2.law(score_functions.count(0, range(-m, m + 1)), ETA)
    factor = around.probability(m)[0] * (1 + q) / (1 - q)
    assert factor == 1 / (1 - 2 * q ** (m + 1) / (1 + q))
    print(f"on count ± {m:<2}  every probability is that of discrete Laplace, times {float(factor):.6f}")

# %% [markdown]
# So a selection on a range is Laplace noise *truncated* to it: noise that is drawn again until it falls inside.
# Libraries often *clamp* noise instead: they move a value beyond an end to this end.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
values = np.arange(low, high + 1)
selected = [float(law.probability(at)[0]) for at in range(len(values))]
clamped = [float(mass) for mass in laplace]
clamped[0] += float(q ** (COUNT - low + 1) / (1 + q))
clamped[-1] += float(q ** (high - COUNT + 1) / (1 + q))
curves = {
    "selection: truncated": (values, selected, "exact bars"),
    "noise, then clamped": (values, clamped, "grey bars"),
}
picture(Panel(curves=curves, ticks=values[::2], x=f"answer (the count is {COUNT})", y="probability"))

# %% [markdown]
# ### The factor of 2
#
# The general analysis proves a loss of at most $2\Delta\eta\ln 2$ (in the notes: $2\varepsilon$, with the score
# $-2|\text{count} - r|$ and the weight $e^{\varepsilon\cdot\text{score}/2}$). One half is for the weight of $r$, the
# other half for the sum of all weights. For Laplace noise over all integers the sum does not depend on the count. So
# the true loss is half of this bound. On a range, the sum changes near the ends.
#
# (The proof in the notes confuses the ratio of two integrals with the integral of the ratio, and therefore needs a
# range of size 1 or more. The weight and the sum each change by a factor of at most $e^{\varepsilon\Delta/2}$, on any
# range.)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
answers = range(41)
losses = []
for count in answers[:-1]:
    pair = (base2.law(score_functions.count(one, answers), ETA) for one in (count, count + 1))
    losses.append(exact.compare(*pair, selection_claim(ETA)).epsilon)
curves = {
    "exact loss, count against count + 1": (np.array(answers[:-1]) + 0.5, losses, "black dots"),
    r"promised: $2\eta\,\ln 2$": (None, selection_claim(ETA).epsilon, "claim dashed"),
    r"Laplace noise: $\eta\,\ln 2$": (None, ETA.nats, "grey dotted"),
}
labels = {"x": "count (answers from 0 to 40)", "y": "loss ε (nats)"}
display(picture(Panel(curves=curves, ylim=(0, 0.62), legend="lower center", **labels)))
print(f"promised {selection_claim(ETA).epsilon:.4f}, Laplace noise {ETA.nats:.4f}; ", end="")
print(f"at the end {losses[0]:.4f}, in the middle {losses[20]:.4f}")

# %% [markdown]
# The analysis is right: *some* scores need both halves. If a score gives Laplace noise, the weight may use the whole
# budget.

# %% [markdown]
# ## The median: how many records would have to be different?
#
# The sensitivity of the median itself is far too large. In $\{0,0,0,0,10^6,10^6,10^6\}$ the median is 0. If one 0
# becomes $10^6$, the median is $10^6$. Noise that hides such a jump hides everything. But a *score* for the median can
# have a small sensitivity:
#
# > $u(r)$ = 2 × the least number of records to replace before the median is $r$.
#
# (The notes write $\text{score}(A, r) = -\min |A \oplus B|$ over all $B$ with median $r$; a replacement removes one
# record and adds another, and counts 2.) Replace a record, and every $u(r)$ changes by at most 2: $\Delta = 2$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
TABLES = {
    "{1, 100, 102, 104, 105, 200, 365}": ([1, 100, 102, 104, 105, 200, 365], [99, 100, 101, 102, 103, 104, 105, 106]),
    "{0, 0, 0, 0, 10⁶, 10⁶, 10⁶}": ([0] * 4 + [10**6] * 3, [-1, 0, 1, 2, 500_000, 10**6 - 1, 10**6, 10**6 + 1]),
}
for name, (records, asked) in TABLES.items():
    print(name)
    print("   r    ", *(f"{r:>9,}" for r in asked))
    print("   score", *(f"{score:>9}" for score in -score_functions.median(records, asked)))

# %% [markdown]
# The program does not search for $B$. With $n = 2k+1$ records, $r$ is the median exactly if at most $k$ records lie
# below it and at most $k$ above. If one side has more than $k$, the excess must be replaced by $r$. So the score
# follows from two ranks, which bisection finds for all $r$ at once.
#
# In the first table 100 and 101 have the same score: each has five records above it, two too many. In the second table
# 1 is as good a median as $10^6$: both are one record away. The data say nothing about the values between, and neither
# does the score.
#
# **The sensitivity**, on every data set of five records with values 0 to 4, and every replacement:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import combinations_with_replacement, product

moves = {}
for records in combinations_with_replacement(range(5), 5):
    own = score_functions.median(records, range(-1, 6))
    for at, value in product(range(5), range(5)):
        other = score_functions.median([*records[:at], value, *records[at + 1 :]], range(-1, 6))
        move = int(np.abs(own - other).max())
        moves[move] = moves.get(move, 0) + 1
print("largest move of a score: how many of the pairs:", dict(sorted(moves.items())))

# %% [markdown]
# **A mistake in the notes.** Their table keeps the number of records, and a replacement counts 2. Their proof that the
# sensitivity is 1 *adds* a record to $A$, so that $|A \oplus A'| = 1$. These are two different relations. A set of
# even size has no middle record, so the score of the table is not defined for one of the two neighbours. Here the size
# is odd, fixed and public. Two neighbours differ in one replaced record, at distance 2, and $\Delta = 2$. (Exercise
# 2.)

# %% [markdown]
# ## A private median of real data
#
# The data set `heart` of statsmodels: 69 patients with a heart transplant (Miller 1976), their age at the operation,
# and how many days each was followed, until death or the end of the study. Such small sets of medical records need
# this mechanism.
#
# The candidates are public and do not depend on the data: 0 to 100 years, in tenths, and 0 to 2,000 days.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
patients = heart.load_pandas().data
AGES = np.round(10 * patients["age"].to_numpy()).astype(int)  # tenths of a year
DAYS = patients["survival"].to_numpy().astype(int)
QUESTIONS = {"median age (years)": (AGES, np.arange(1001), 10), "median follow-up (days)": (DAYS, np.arange(2001), 1)}


def private_medians(records, candidates, epsilon, runs, seed=SEED):
    utilities = score_functions.median(records, candidates)
    bits = seeded_bits(seed)  # to release one: subnormal.mechanisms.bits.system_bits()
    return candidates[
        exponential_exact.sample(utilities, epsilon, bits, runs, sensitivity=score_functions.RANK_SENSITIVITY)
    ]


for name, (records, candidates, unit) in QUESTIONS.items():
    truth = np.median(records) / unit
    released = private_medians(records, candidates, EPSILON, 5) / unit
    print(
        f"{name}: {len(records)} records, truth {truth:g}; five private answers at ε = {EPSILON:g}:", *released.tolist()
    )


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def median_law(question, epsilon):
    """The score of each candidate, and the law of the private median, with draws."""
    records, candidates, unit = QUESTIONS[question]
    utilities = score_functions.median(records, candidates)
    law = exponential_exact.law(utilities, epsilon, sensitivity=score_functions.RANK_SENSITIVITY)
    density = np.array([float(law.probability(index)[0]) for index in range(len(candidates))]) * unit
    drawn = private_medians(records, candidates, epsilon, RUNS) / unit
    bins = np.arange(candidates[0], candidates[-1] + 1, 5 * (1 if unit == 10 else 4)) / unit
    heights, _ = np.histogram(drawn, bins=bins, density=True)
    score = {
        "_utility": (candidates / unit, utilities, "black line"),
        "records": (records / unit, np.full(len(records), -3.0), "exact crosses"),
    }
    answer = {
        f"{RUNS:,} draws": ((bins[:-1] + bins[1:]) / 2, heights, "grey bars"),
        "the law": (candidates / unit, density, "black line"),
        "true median": (np.median(records) / unit, None, "claim dashed"),
    }
    xlim = (30, 65) if unit == 10 else (0, 1000)
    return picture(
        Panel(curves=score, xlim=xlim, x=question, y="utility (lower is better)"),
        Panel(curves=answer, xlim=xlim, title=f"ε = {epsilon:g}", x=question, y="probability density"),
        size=(13, 4.6),
    )


# %%
explore(
    median_law,
    question=("median follow-up (days)", list(QUESTIONS)),
    epsilon=(EPSILON, [0.1, 0.2, 0.5, 1, 2, 5]),
)

# %%
median_law("median age (years)", EPSILON)

# %% [markdown]
# The green crosses are the records. The utility grows by 2 at each of them. If the records are close together, like
# the ages, the law is narrow. If they are far apart, like the days between 68 and 110, a whole interval is equally
# good, and the mechanism chooses any value in it. The error depends on *ranks*, not on the size of the numbers, and
# one patient with a million days would change nothing.

# %% [markdown]
# ### Against noise on the median
#
# The other method computes the median and adds Laplace noise. The noise must cover the largest change by one record,
# which is the whole range of the candidates.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
rng = np.random.default_rng(SEED)  # noise in floats: here only its size matters
panels = []
for name, (records, candidates, unit) in QUESTIONS.items():
    truth, width = np.median(records), int(candidates[-1] - candidates[0])
    error = {"median by score": [], "noise on the median": []}
    for epsilon in EPSILONS:
        drawn = private_medians(records, candidates, epsilon, RUNS)
        error["median by score"].append(np.abs(drawn - truth).mean() / unit)
        noisy = np.clip(truth + rng.laplace(0, width / epsilon, RUNS), candidates[0], candidates[-1])
        error["noise on the median"].append(np.abs(noisy - truth).mean() / unit)
    looks = zip(error.items(), ("exact joined", "grey joined squares"), strict=True)
    curves = {label: (EPSILONS, errors, look) for (label, errors), look in looks}
    panels.append(Panel(curves=curves, log="xy", ticks=EPSILONS, title=name, x="ε (nats)", y="mean error"))
picture(*panels, size=(12.5, 4.4))

# %% [markdown]
# ### Is it private? Replace any patient
#
# Here is an exact law for each neighbour: each patient in turn is replaced by one with 0 days, with the median, or
# with 2,000 days.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
records, candidates, _ = QUESTIONS["median follow-up (days)"]


def law_of(data):
    utilities = score_functions.median(data, candidates)
    return exponential_exact.law(utilities, EPSILON, sensitivity=score_functions.RANK_SENSITIVITY, precision=64)


worst = (0.0, None)
original = law_of(records)
for patient in np.unique(records, return_index=True)[1]:
    for value in (0, int(np.median(records)), 2000):
        evidence = exact.compare(original, law_of([*np.delete(records, patient), value]), Claim(EPSILON))
        assert evidence.verdict == "HOLDS"
        worst = max(worst, (evidence.epsilon, f"{records[patient]} days → {value}"))
print(f"every pair HOLDS; the largest loss is {worst[0]:.4f} of {EPSILON:g}, at {worst[1]}")

# %% [markdown]
# ## Exercises
#
# **1.** Two other scores are the *price* at which a seller should offer one article to bidders (the utility is minus
# the revenue), and the *mode*. Bids are 100, 100, 100 and 301. What are the revenues at the prices 100, 101, 300, 301,
# 302? Why is Laplace noise on the best price a bad idea? What is the sensitivity of the score?
#
# **2.** Let $B$ have *any* size, and let adding or removing a record count 1. For an even size take the lower of the
# two middle records. How far is 101 now from being a median of $\{1,100,102,104,105,200,365\}$? Compare with the
# table.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# A very bad price can be next to a good one: the revenue is 400 at 100, 101 at 101, and 0 at 302. A little noise on
# the price 100 loses three quarters. A selection scores each price by its revenue. A bid adds or removes one sale at
# each price, so the sensitivity is the largest price.
#
# ```python
# prices = np.array([100, 101, 300, 301, 302])
# bids = [100, 100, 100, 301]
# revenue = -score_functions.price(bids, prices)
# law = exponential_exact.law(
#     score_functions.price(bids, prices), 5.0, sensitivity=score_functions.price_sensitivity(prices)
# )
# for index, price in enumerate(prices):
#     print(f"price {price}: revenue {revenue[index]:>3}, chosen with {float(law.probability(index)[0]):.3f} at ε = 5")
# print("sensitivity:", score_functions.price_sensitivity(prices))
# print("mode of a, b, a:", dict(zip("abc", (-score_functions.mode(list("aba"), list("abc"))).tolist(), strict=True)))
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# The distance is 3: remove the two largest records and add 101. Then 101 is the third of the
# six records 1, 100, 101, 102, … With replacements alone it needs two of them, and each counts 2: 4, as in the table.
# So the two distances give different scores, and each needs its own proof of its sensitivity. A proof for one of them
# says nothing about a program that computes the other.
#
# ```python
# from itertools import combinations
#
# records = [1, 100, 102, 104, 105, 200, 365]
#
#
# def lower_median(data):
#     return sorted(data)[(len(data) - 1) // 2]
#
#
# nearest = min(
#     (len(records) - len(kept) + added, kept, added)
#     for size in range(len(records) + 1)
#     for kept in combinations(records, size)
#     for added in range(5)
#     if kept + (101,) * added and lower_median(kept + (101,) * added) == 101
# )
# print(f"distance {nearest[0]}: keep {nearest[1]}, add 101 {nearest[2]} times")
# print("by replacements:", score_functions.median(records, [101])[0])
# ```
#
# </details>
