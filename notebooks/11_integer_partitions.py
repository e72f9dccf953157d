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
# *How many people chose the most popular password, the second, the third, …? In 2016 Yahoo released such a list of 70
# million accounts, with differential privacy.*
#
# **Data.** A frequency list $x_1 \ge x_2 \ge \dots \ge 0$: how often each value comes up, without the values. But for
# its zeros it is a *partition* of the number of records. A record that comes or goes moves one count by one: neighbours
# are at an L1 distance of 1.
#
# **Mechanism** (Blocki, Datta, Bonneau, NDSS 2016). The exponential mechanism over lists: $y$ has a weight of
# $2^{-\eta\,\|y - x\|_1}$, between public bounds $L_i \le y_i \le U_i$. Both the weight and the sum of all weights
# change by a factor of at most $2^{\eta}$ with a record, so the loss is at most $2\eta\ln 2$.
#
# **The catch.** There are more lists than atoms in the universe. The order $y_1 \ge y_2 \ge \dots$ saves us: given
# $y_{i-1}$, what went before does not matter for $y_i$.

# %% [markdown]
# ## Change me
#
# Everything below follows from this cell. (The numbers in the text are those of the values given here.)

# %%
EPSILON = 1.0  # the budget of a release, in nats
WIDTH = 64  # of the bounds of a count
TOTAL = 1_000_000  # words of the real list
SEED = 1

# %%
import re
import time
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy

from pictures import IN, OUT
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

plt.rcParams |= {"font.size": 12, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 100}

# %% [markdown]
# ## Small enough to see: every list
#
# Ten records of four values. All lists with $y_i \le \lfloor 12/i \rfloor$ can be written down, and so can the law.

# %%
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
# $$S_i(Q) = \sum_{Q' \le Q} 2^{-\eta|Q' - x_i|}\,S_{i+1}(Q'), \qquad \Pr[y_i \le Q \mid y_{i-1} = T] = S_i(Q)/S_i(T),$$
# running sums, so a row costs no more than its cells. Is it the same law? And how much of the promise is used up?


# %%
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
_, axes = plt.subplots(figsize=(10, 4))
for records, found in losses.items():
    axes.plot(np.full(len(found), records), found, "o", color=IN, alpha=0.5, markersize=6)
axes.axhline(promised, color="crimson", linestyle="--", linewidth=2, label=r"promised: $2\eta\,\ln 2$")
axes.axhline(promised / 2, color="grey", linestyle=":", linewidth=2, label=r"half of it")
axes.set_ylim(0, 1.1 * promised)
axes.set_xlabel("records in the smaller of two neighbouring lists")
axes.set_ylabel("largest loss (nats)")
axes.legend(loc="lower right")
plt.show()
pairs, largest = sum(map(len, losses.values())), max(map(max, losses.values()))
print(f"{pairs} pairs of neighbours: largest loss {largest:.4f} of {promised:.4f}")

# %% [markdown]
# ## A million words
#
# A real frequency list: the first million words in the Python files of an installed package, scipy. Bounds need to be
# public. Here a part of the budget buys them: discrete Laplace noise on every count, sorted anew, and `WIDTH` counts
# around.


# %%
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

# %%
_, axes = plt.subplots(1, 2, figsize=(13, 4.4), layout="constrained")
rank = np.arange(1, len(data) + 1)
axes[0].loglog(rank, data, color=IN, linewidth=3, label="true")
axes[0].loglog(rank, np.maximum(released, 0.5), color=OUT, linewidth=1.4, label="released (0 drawn at ½)")
axes[0].set_xlabel("rank of the word")
axes[0].set_ylabel("how often")
axes[0].legend()
axes[1].plot(rank, released - data, ".", color=OUT, markersize=3)
axes[1].set_xscale("log")
axes[1].set_xlabel("rank of the word")
axes[1].set_ylabel("released − true")
plt.show()
rare = data <= 10
print(f"words that come up at most ten times: {rare.sum():,}, of which {(released != data)[rare].sum()} are off")

# %% [markdown]
# Independent noise would be off by about $1/\varepsilon$ on every count. A list has to be sorted, and where a thousand
# words come up equally often, that averages the noise away.

# %% [markdown]
# ### Exact, without a terabyte
#
# The sums are dyadic rationals, and their digits pile up row by row: written out they would fill a disk. So they are
# kept as floats *with proved error bounds*. A uniform decides a count when it lies farther from the edges of its cell
# than these may be off; whatever is too close is decided in integers, at the precision it needs. The law is exact
# either way. The bounds only say how often the slow way is taken.

# %%
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


# %%
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
_, axes = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
for panel, sizes, name in zip(axes, (COUNTS, WIDTHS), ("counts, 64 cells each", "cells each, 50 counts"), strict=True):
    costs = np.array([cost(size, 64) if sizes is COUNTS else cost(50, size) for size in sizes])
    for column, unit, colour in zip(costs.T, ("seconds", "megabytes"), (IN, OUT), strict=True):
        slope = np.polyfit(np.log(sizes), np.log(column), 1)[0]
        panel.loglog(sizes, column, "o-", color=colour, linewidth=2, label=f"{unit}: exponent {slope:.2f}")
    panel.set_xlabel(name)
    panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
    panel.minorticks_off()
    panel.legend()
plt.show()

# %% [markdown]
# ## Bias: the tail grows
#
# The same recursion, run forwards, gives the distribution of every count:
# $\Pr[y_i = Q] = \sum_{T \ge Q} \Pr[y_{i-1} = T]\cdot\Pr[Q \mid T]$. A count of 0 can only grow, and lists have to stay
# sorted: a run of equal counts leans, up at its beginning and down at its end.

# %%
plateaus = np.repeat([60, 40, 20, 0], 25)
_, axes = plt.subplots(figsize=(11, 4))
for epsilon, colour in ((2.0, IN), (0.5, OUT), (0.2, "grey")):
    bounds = dict(zip(("lower", "upper"), by_total(10_000, len(plateaus)), strict=True))
    leaning = partitions_exact.bias(plateaus, selection_eta(epsilon), **bounds)
    axes.plot(np.arange(1, 101), leaning, color=colour, linewidth=2, label=f"ε = {epsilon:g}")
    assert leaning[-1] > 0
axes.axhline(0, color="black", linewidth=0.8)
axes.set_xlabel("rank (25 counts each of 60, 40, 20 and 0)")
axes.set_ylabel("expected error of the count")
axes.legend()
plt.show()

# %% [markdown]
# ## Where bounds come from
#
# Between bounds that both neighbours share, the promise is pure, whatever they are. `by_total` needs only a public
# limit on the number of records: $y_i \le \lfloor N/i \rfloor$. Or read the bounds off the data: the extremes of each
# count within a distance $d$. Then what the other world can show may be out of bounds here, and the promise gets a
# $\delta$: the weight beyond.

# %%
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
# multiple of $2^{-11}$. What is less likely is met by one uniform, or by none. Forty records against thirty-nine:

# %%
attack = negligible_region()
naive, sound = member("partitions-naive-float16"), member("partitions-exact")
worlds = attack.worlds()
laws = {one.name: [one.law(world, attack.parameters) for world in worlds] for one in (naive, sound)}
print("in: ", worlds[0].tolist(), " out:", worlds[1].tolist(), " claim ε =", attack.parameters.epsilon)


def first_counts(law):
    mass = np.zeros(attack.parameters.upper[0] + 1)
    weights = np.repeat(np.array(law.low, dtype=object), law.counts())
    np.add.at(mass, [atom[0] for atom in law.atoms], [weight / law.denominator for weight in weights])
    return mass


_, axes = plt.subplots(1, 2, figsize=(13, 4.4), sharey=True, layout="constrained")
for panel, (name, pair) in zip(axes, laws.items(), strict=True):
    for law, colour, label, shift in zip(
        pair, (IN, OUT), ("in: 40 records", "out: 39 records"), (-0.2, 0.2), strict=True
    ):
        mass = first_counts(law)
        panel.bar(np.arange(len(mass)) + shift, mass, width=0.4, color=colour, label=label)
    panel.set_yscale("log")
    panel.set_ylim(1e-9, 1)
    panel.set_title(name, fontsize=13)
    panel.set_xlabel("first count")
axes[0].axhline(2.0**-11, color="grey", linestyle=":", linewidth=1.5)
axes[0].annotate(r"$2^{-11}$", (36, 2.0**-11 * 1.3), color="grey")
axes[0].annotate("only without\nthe record: 3", (3.2, 6e-4), (-2, 3e-3), arrowprops={"arrowstyle": "->"}, fontsize=11)
axes[0].set_ylabel("probability")
axes[0].legend(loc="upper right")
plt.show()

# %%
for one in (naive, sound):
    law_in, law_out = laws[one.name]
    alone = [
        sum((a.probability(atom)[0] for atom in set(a.atoms) - set(b.atoms)), Fraction(0))
        for a, b in ((law_in, law_out), (law_out, law_in))
    ]
    evidence = exact.compare(law_in, law_out, one.claim(attack.parameters, *worlds), attack.event)
    print(f"{one.name:26} {len(law_in.atoms):,} lists possible with the record; ", end="")
    print(f"only in: {float(alone[0]):.2e}, only out: {float(alone[1]):.2e}; ", end="")
    print(f"loss {evidence.epsilon:.4g}: {evidence.verdict}")

# %% [markdown]
# Nearly half of the lists have become impossible, and one record decides which: what only one world can show has an
# infinite loss, and a mass of $7.65\cdot10^{-4}$. In float32 and float64 these worlds lose no list: the negligible
# region lies too far out to be seen.

# %% [markdown]
# ## Exercises
#
# **1.** How long is the tail of a list? Append 30 zeros to the small list `[9, 5, 2, 1, 0, 0]` and look at the bias of
# the last count. Why is it so much smaller? What does that say about the number of *different* words?
#
# **2.** The bounds of width 64 around the true list itself: what is wrong with them? Find two neighbouring lists and a
# released list with an infinite loss.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# The counts that should be 0 have to stay sorted, so noise gathers at the beginning of the run: the last of many zeros
# is moved only when all of them are. Where the list ends is public (its length), but where it becomes 0 is blurred by
# the noise.
#
# </details>

# %%
for zeros in (2, 10, 32):
    some = np.array([9, 5, 2, 1] + [0] * zeros)
    bounds = dict(zip(("lower", "upper"), by_total(2_000, len(some)), strict=True))
    leaning = partitions_exact.bias(some, eta, **bounds)
    print(f"{zeros:>3} zeros: the first leans by {leaning[4]:.4f}, the last by {leaning[-1]:.1e}")

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# They tell on the data. Add a record to the most frequent value: its bounds move up by one, and the list with the old
# lower bound for its first count has become impossible. The promise is not $2\eta\ln 2$ but infinite, with a $\delta$.
#
# </details>

# %%
some = np.array([40, 20])
pair = []
for each in (some, some + np.array([1, 0])):
    low, high = around(each, 8)
    pair.append(partitions_exact.law(each, eta, lower=low, upper=high))
evidence = exact.compare(*pair, selection_claim(eta))
print(
    f"{evidence.verdict}: loss {evidence.epsilon}, δ = {evidence.delta:.4f} at ε = {selection_claim(eta).epsilon:.4f}"
)
