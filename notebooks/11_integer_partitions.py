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
# # Integer partitions: a whole list of frequencies at once
#
# **Claim.** The frequencies of a million words, some 14,000 counts, can be released at once with an exact law, in a
# second and a few megabytes, and closer to the truth than noise on each count. In float16 the same program
# reveals single records.
#
# **Mechanism.** A list $y_1 \ge y_2 \ge \dots$ near the true $x$ is chosen with the weight $2^{-\eta\,\|y - x\|_1}$
# (Blocki, Datta, Bonneau 2016). A record moves one count by one, so the loss is at most $2\eta\ln 2$.
#
# **You will see** every small list, a million real words, what the tail costs, and a float16 law with holes. **To
# present: 12 minutes.**

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
EPSILON = 1.0  # the budget of a release, in nats
WIDTH = 64  # of the bounds of a count
TOTAL = 1_000_000  # words of the real list
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import re
import time
import tracemalloc
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import scipy
from IPython.display import display

from explore import explore
from subnormal.attacks.partitions.negligible_region import negligible_region
from subnormal.audit.evidence import exact
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.families import member
from subnormal.mechanisms.partitions import exact as partitions_exact
from subnormal.mechanisms.partitions import weight_sums
from subnormal.mechanisms.partitions.bounds import (
    around,
    by_total,
    negligible_claim,
    noisy,
    weight_beyond,
    weight_outside,
    within_distance,
)
from subnormal.mechanisms.privacy import Eta, compose, noise_claim, noise_eta, selection_claim, selection_eta
from subnormal.plots import Panel, picture

# %% [markdown]
# *How many people chose the most popular password, the second, the third, …? In 2016 Yahoo released such a list of 70
# million accounts, with differential privacy.*
#
# **Data.** A frequency list $x_1 \ge x_2 \ge \dots \ge 0$ says how often each value occurs, without the values.
# Without its zeros it is a *partition* of the number of records.
#
# **The difficulty.** There are more lists than atoms in the universe. The order $y_1 \ge y_2 \ge \dots$ helps: given
# $y_{i-1}$, the law of $y_i$ does not depend on earlier counts. (Counts lie between public bounds
# $L_i \le y_i \le U_i$.)

# %% [markdown]
# ## Small enough to see: every list
#
# Take ten records of four values. We can write down all lists with $y_i \le \lfloor 12/i \rfloor$, and their law.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
ETA = Eta(1, 1, 1)  # weights 1, 1/2, 1/4, …
data, (lower, upper) = [5, 3, 1, 1], by_total(12, 4)
law = partitions_exact.law(data, ETA, lower=lower, upper=upper)
drawn = Counter(map(tuple, partitions_exact.sample(data, ETA, seeded_bits(SEED), 50_000, lower=lower, upper=upper)))
print(f"{len(law.atoms):,} lists; the ten most likely, as fractions, and in 50,000 draws:")
for atom in sorted(law.atoms, key=lambda one: -law.probability(one)[0])[:10]:
    distance = sum(abs(a - b) for a, b in zip(atom, data, strict=True))
    print(f"  {atom}  distance {distance}  {law.probability(atom)[0]!s:>9}  {drawn[atom] / 50_000:.4f}")

# %% [markdown]
# **The dynamic program.** Let $S_i(Q)$ be the weight of all ways to go on from row $i$ with $y_i \le Q$. From the last
# row up,
# $$S_i(Q) = \sum_{Q' \le Q} 2^{-\eta|Q' - x_i|}\,S_{i+1}(Q'), \qquad \Pr[y_i \le Q \mid y_{i-1} = T] =
# S_i(Q)/S_i(T).$$
# These are running sums, so the time of a row is proportional to its cells. Is it the same law? And how much of the
# claim do neighbours use?


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def product_of_steps(one):
    """The probability that the dynamic program gives a list, as a fraction."""
    chance, above = Fraction(1), int(upper[0])
    for row, count in enumerate(one):
        sums, _, _ = weight_sums.integer_sums(ETA, np.array(data), lower, upper, row, 128)
        sums = [0, *sums.tolist()]
        chance *= Fraction(sums[count + 1] - sums[count], sums[min(above, int(upper[row])) + 1])
        above = count
    return chance


print("every list, as fractions:", all(product_of_steps(one) == law.probability(one)[0] for one in law.atoms))

losses = {}
for one in law.atoms:
    for row in range(4):
        other = [count + (at == row) for at, count in enumerate(one)]
        if sorted(other, reverse=True) == other and sum(other) <= 12:
            pair = (partitions_exact.law(each, ETA, lower=lower, upper=upper) for each in (one, other))
            losses.setdefault(sum(one), []).append(exact.compare(*pair, selection_claim(ETA)).epsilon)
promised = selection_claim(ETA).epsilon
assert max(map(max, losses.values())) <= promised

pairs, largest = sum(map(len, losses.values())), max(map(max, losses.values()))
print(f"{pairs} pairs of neighbours: largest loss {largest:.4f} of {promised:.4f}")
records = np.repeat(list(losses), [len(found) for found in losses.values()])
curves = {
    "_losses": (records, np.concatenate(list(losses.values())), "black dots"),
    r"promised: $2\eta\,\ln 2$": (None, promised, "claim dashed"),
    "half of it": (None, promised / 2, "grey dotted"),
}
labels = {"x": "records in the smaller of two neighbouring lists", "y": "largest loss (nats)"}
picture(Panel(curves=curves, ylim=(0, 1.1 * promised), legend="lower right", **labels))

# %% [markdown]
# ## A million words
#
# Here is a real frequency list: the first million words in the Python files of an installed package, scipy. The bounds
# must be public. A part of the budget pays for them: discrete Laplace noise on every count, then sorting, and `WIDTH`
# counts around each.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def words():
    for path in sorted(Path(scipy.__file__).parent.rglob("*.py")):
        yield from re.findall("[a-z]+", path.read_text(encoding="utf-8").lower())


ranked = Counter(islice(words(), TOTAL)).most_common()
data = np.array([count for _, count in ranked])
print(f"{data.sum():,} words, {len(data):,} different ones; {(data == 1).sum():,} come up once")

rough, fine = noise_eta(0.2 * EPSILON), selection_eta(0.8 * EPSILON)
bits = seeded_bits(SEED)  # to release one: subnormal.mechanisms.bits.system_bits()
lower, upper = noisy(data, rough, WIDTH, bits)
started = time.process_time()
released = partitions_exact.sample(data, fine, bits, 1, lower=lower, upper=upper)[0]
print(f"released between bounds of width {WIDTH} in {time.process_time() - started:.2f} s of processor time")
print(f"promise: {compose(noise_claim(rough), selection_claim(fine)).epsilon:.4f} nats")
off = np.abs(released - data)
print(f"distance to the truth: {off.sum():,} of {TOTAL:,}, at most {off.max()} a count")
print("top five, true and released:", data[:5].tolist(), released[:5].tolist())
assert (np.diff(released) <= 0).all()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
rank = np.arange(1, len(data) + 1)
counts = {
    "true": (rank, data, "black line"),
    "released (0 drawn at ½)": (rank, np.maximum(released, 0.5), "exact dashed"),
}
left = Panel(curves=counts, log="xy", x="rank of the word", y="how often")
off_by = {"_off": (rank, released - data, "exact points")}
display(picture(left, Panel(curves=off_by, log="x", x="rank of the word", y="released − true"), size=(13, 4.4)))
rare = data <= 10
print(f"words that come up at most ten times: {rare.sum():,}, of which {(released != data)[rare].sum()} are off")

# %% [markdown]
# Independent noise would be off by about $1/\varepsilon$ on every count. But a list must be sorted, and if a thousand
# words occur equally often, sorting averages out most of the noise.

# %% [markdown]
# ### Exact, without a terabyte
#
# The sums are dyadic rationals, and each row adds digits. All digits would fill a disk. So the program keeps the sums
# as floats *with proved error bounds*. If the uniform is farther from the edges of a cell than the error bound, the
# floats decide the count. Otherwise integers decide it, with as many digits as they need. The law is exact in both
# cases. The bounds only determine how often the slow case happens.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
bits_a_unit = fine.y * fine.z  # 2^−η has so many binary digits, and its d-th power d times as many
cells = int((upper - lower + 1).sum())
largest = np.cumsum(np.maximum(upper - data, data - lower)[::-1]) * bits_a_unit
whole = float((largest[::-1] * (upper - lower + 1)).sum()) / 8
table = weight_sums.sums(fine, np.clip(data, lower, upper), lower, upper)
floats = table.values.nbytes / 1e6
print(f"{cells:,} cells; in whole integers up to {whole / 1e12:.1f} terabytes, in floats {floats:.1f} megabytes")
print(f"an edge may be off by {table.errors[0]:.1e} of itself")
print(f"and, where it is too small for a float, by {table.floors.max():.0e} of the row's scale")

# %% [markdown]
# ### Time and memory: linear in the cells


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def cost(rows, width):
    """Processor seconds (the best of three) and megabytes of one release."""
    some = np.sort(np.random.default_rng(SEED).integers(0, 50_000, rows))[::-1]
    between = dict(zip(("lower", "upper"), around(some, width), strict=True))
    taken = []
    for _ in range(3):
        started = time.process_time()
        partitions_exact.sample(some, fine, seeded_bits(SEED), 1, **between)
        taken.append(time.process_time() - started)
    tracemalloc.start()
    partitions_exact.sample(some, fine, seeded_bits(SEED), 1, **between)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return min(taken), peak


COUNTS, WIDTHS = (1_000, 2_000, 4_000, 8_000), (1 << 14, 1 << 15, 1 << 16, 1 << 17)

panels = []
for sizes, name in ((COUNTS, "counts, 64 cells each"), (WIDTHS, "cells each, 50 counts")):
    costs = np.array([cost(size, 64) if sizes is COUNTS else cost(50, size) for size in sizes])
    curves = {}
    for column, unit, look in zip(
        costs.T, ("seconds", "megabytes"), ("black joined", "grey joined squares"), strict=True
    ):
        slope = np.polyfit(np.log(sizes), np.log(column), 1)[0]
        curves[f"{unit}: exponent {slope:.2f}"] = sizes, column, look
    panels.append(Panel(curves=curves, log="xy", ticks={size: f"{size:,}" for size in sizes}, x=name))
picture(*panels, size=(13, 4.4))

# %% [markdown]
# ## Bias: the tail grows
#
# The same recursion, run forwards, gives the distribution of every count: $\Pr[y_i = Q] = \sum_{T \ge Q} \Pr[y_{i-1} =
# T]\cdot\Pr[Q \mid T]$. A count of 0 can only grow, and lists must stay sorted. So in a series of equal counts the
# first ones are too large on average, and the last ones too small.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
plateaus = np.repeat([60, 40, 20, 0], 25)
curves = {"_none": (None, 0, "pale line")}
for epsilon, look in ((2.0, "black line"), (0.5, "exact dashed"), (0.2, "grey line")):
    bounds = dict(zip(("lower", "upper"), by_total(10_000, len(plateaus)), strict=True))
    leaning = partitions_exact.bias(plateaus, selection_eta(epsilon), **bounds)
    curves[f"ε = {epsilon:g}"] = np.arange(1, 101), leaning, look
    assert leaning[-1] > 0
labels = {"x": "rank (25 counts each of 60, 40, 20 and 0)", "y": "expected error of the count"}
picture(Panel(curves=curves, **labels))

# %% [markdown]
# ## Where bounds come from
#
# If both neighbours have the same bounds, the claim has no $\delta$. `by_total` only needs a public limit on the
# number of records: $y_i \le \lfloor N/i \rfloor$. Bounds can also come from the data: the extremes of each count
# within a distance $d$. Then a list of the other world may be out of bounds in this one, and the claim needs a
# $\delta$: the weight beyond the bounds.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
eta = selection_eta(EPSILON)
distance = next(d for d in range(0, 1 << 20, 20) if weight_beyond(TOTAL, eta, d) < Fraction(1, 10**9))
beyond = weight_beyond(TOTAL, eta, distance)
inner = within_distance(data, distance)
for name, (low, high), claim in (
    ("any million words", by_total(TOTAL, len(data)), selection_claim(eta)),
    (f"width {WIDTH}, by noise", (lower, upper), compose(noise_claim(rough), selection_claim(fine))),
    (f"within distance {distance:,}", inner, negligible_claim(eta, beyond)),
):
    print(f"{name:24} {int((high - low + 1).sum()):>12,} cells   ε = {claim.epsilon:.4f}, δ = {claim.delta:.1e}")

small, outer = np.array([9, 5, 2, 1, 0, 0]), by_total(20, 6)
print("\nseventeen records, bounds read off the data at distance d: the weight beyond them, by the dynamic program")
for d in (2, 5, 10, 12):
    low, high = within_distance(small, d)
    share = weight_outside(small, eta, (low, np.minimum(high, outer[1])), outer)
    print(f"  d = {d:>2}: {low.tolist()} to {high.tolist()}, weight beyond at most {float(share):.2e}")

# %% [markdown]
# ## The same in float16
#
# The naive program is the same, with floats for the sums and one uniform for each count. In float16 a uniform is a
# multiple of $2^{-11}$. A less likely count gets one uniform, or none. We compare forty records with thirty-nine:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
attack = negligible_region()
worlds = attack.worlds()
MEMBERS = member("partitions-naive-float16"), member("partitions-exact")


@cache
def laws_at(epsilon):
    """The laws of both members in both worlds."""
    public = replace(attack.parameters, epsilon=epsilon)
    return {one.name: [one.law(world, public) for world in worlds] for one in MEMBERS}


def first_counts(law):
    mass = np.zeros(attack.parameters.upper[0] + 1)
    weights = np.repeat(np.array(law.low, dtype=object), law.counts())
    np.add.at(mass, [atom[0] for atom in law.atoms], [weight / law.denominator for weight in weights])
    return mass


def first_count(epsilon):
    """The law of the first count, in float16 and exactly, with the record and without."""
    panels = []
    for name, pair in laws_at(epsilon).items():
        curves = {}
        for law, look, label in zip(pair, ("in bars", "out bars"), ("in: 40 records", "out: 39 records"), strict=True):
            mass = first_counts(law)
            curves[label] = range(len(mass)), mass, look
        curves["$2^{-11}$"] = None, 2.0**-11, "grey dotted"
        labels = {"title": f"{name}, ε = {epsilon:g}", "x": "first count", "y": "probability"}
        panels.append(Panel(curves=curves, log="y", ylim=(1e-9, 1), **labels))
    return picture(*panels, size=(13, 4.4), share=True)


print("in: ", worlds[0].tolist(), " out:", worlds[1].tolist(), " claim ε =", attack.parameters.epsilon)

# %%
explore(first_count, epsilon=(attack.parameters.epsilon, [0.5, 1, 2, 4]))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
for one in MEMBERS:
    law_in, law_out = laws_at(attack.parameters.epsilon)[one.name]
    alone = [
        sum((a.probability(atom)[0] for atom in set(a.atoms) - set(b.atoms)), Fraction(0))
        for a, b in ((law_in, law_out), (law_out, law_in))
    ]
    evidence = exact.compare(law_in, law_out, one.claim(attack.parameters, *worlds), attack.event)
    print(f"{one.name:26} {len(law_in.atoms):,} lists possible with the record; ", end="")
    print(f"only in: {float(alone[0]):.2e}, only out: {float(alone[1]):.2e}; ", end="")
    print(f"loss {evidence.epsilon:.4g}: {evidence.verdict}")

# %% [markdown]
# Nearly half of the lists are impossible, and one record decides which. The lists that only one world can show have an
# infinite loss and a probability of $7.65\cdot10^{-4}$. In float32 and float64 these two worlds lose no list, because
# the affected lists are far too unlikely.

# %% [markdown]
# ## Exercises
#
# **1.** How long is the tail of a list? Append 30 zeros to the small list `[9, 5, 2, 1, 0, 0]` and look at the bias of
# the last count. Why is it so much smaller? What does that say about the number of *different* words?
#
# **2.** What is wrong with bounds of width 64 around the true list itself? Find two neighbouring lists and a released
# list with an infinite loss.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# The counts that should be 0 must stay sorted, so the noise is largest at the first of them. The last of many zeros
# only moves if all of them do. The length of the list is public, but the noise hides where it becomes 0.
#
# ```python
# for zeros in (2, 10, 32):
#     some = np.array([9, 5, 2, 1] + [0] * zeros)
#     bounds = dict(zip(("lower", "upper"), by_total(2_000, len(some)), strict=True))
#     leaning = partitions_exact.bias(some, eta, **bounds)
#     print(f"{zeros:>3} zeros: the first leans by {leaning[4]:.4f}, the last by {leaning[-1]:.1e}")
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# The bounds depend on the data. Add a record to the most frequent value. Its bounds move up by one, and the list with
# the old lower bound as its first count becomes impossible. The loss is infinite instead of $2\eta\ln 2$, so the claim
# needs a $\delta$.
#
# ```python
# some = np.array([40, 20])
# pair = []
# for each in (some, some + np.array([1, 0])):
#     low, high = around(each, 8)
#     pair.append(partitions_exact.law(each, eta, lower=low, upper=high))
# evidence = exact.compare(*pair, selection_claim(eta))
# print(
#     f"{evidence.verdict}: loss {evidence.epsilon}, δ = {evidence.delta:.4f} at ε = {selection_claim(eta).epsilon:.4f}"
# )
# ```
#
# </details>
