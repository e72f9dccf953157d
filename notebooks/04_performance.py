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
# # What exactness costs
#
# **Claim.** An exact mechanism need not be slow. The naive one is broken, the base-2 one writes $n \times n$ digits
# for a draw, and a third has the *same exact law* as base 2 and is faster than the broken one.
#
# **Mechanism.** The exponential mechanism with weights $2^{-u(o)}$. The third, "exact", decides with floats whose
# errors are *proved*, and asks integers only when those cannot tell.
#
# **You will see** which random words need more bits, the law checked on every string of bits, and the time of a draw
# against the number of outcomes, measured now. **To present: 12 minutes.**

# %% [markdown]
# ## Change me

# %%
from subnormal.mechanisms.privacy import Eta

QUICK = True  # False: every size of the figures (minutes, with 15 rounds)
ROUNDS = 7  # times that everything is measured
ETA = Eta(3, 2, 1)  # the rate in the small examples: B = 3/4
SEED = 1  # the order of the measurements

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
from IPython.display import Image, Markdown

from explore import explore
from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.samplers import float_weights
from subnormal.plots import cells

sys.path.insert(0, "..")  # the benchmarks are in the folder above
from benchmarks.figures import curves, figures

# %% [markdown]
# Three members of the family `exponential`, all with weights $2^{-u(o)}$:
#
# | member | weights | random bits | law |
# |---|---|---|---|
# | naive float64 | floats, rounded | 53 | broken (notebooks 01, 02) |
# | base 2 | every digit of every weight | as many as the weights have digits | exact |
# | exact | floats with *proved* errors; integers when they cannot tell | 64, hardly ever more | exact, the same |

# %% [markdown]
# ## Why exactness was dear
#
# With utilities $u(o) = o$ on $n$ outcomes the lightest weight is $2^{-(n-1)}$, and the sum of all must hold its last
# digit beside the first. So *every* number in the program has a number of digits that grows with $n$. There are $n$
# of them: $n \times n$ digits are written for one draw.

# %%
for n in (10, 100, 1_000, 10_000):
    limits = Limits(0, n - 1, n)
    p = base2.working_precision(curves.ETA, limits, "empirical")
    print(f"n = {n:>6,}: {p:>6,} bits a number, {n * p / 8e6:>7.3f} MB of running sums.    A float: 53 bits")

# %% [markdown]
# And nearly all of these digits are written in vain. The chance that the point $s$ falls so close to an edge that the
# 100th digit matters is about $n\,2^{-100}$. The program pays at every draw for what happens never.
#
# ## Why it need not be
#
# Turn it round: **ask for a digit only when the answer depends on it.**
#
# **1. $U$ is an interval.** A uniform of which 64 bits are known is not a number but an interval of length $2^{-64}$.
# The outcomes are cells that fill $[0, 1)$. If the interval lies in one cell, the outcome is decided, whatever bits
# would follow. Only if it straddles an edge are bits appended, *to the same $U$*. Nothing is ever rejected.
#
# Here with words of 4 bits, so that it can be seen: five outcomes, $u = (0, 1, 2, 3, 4)$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
FIVE, WORD = np.arange(5), 4


def words_of(outcomes, base, word_bits):
    """The cells of the outcomes, u = 0, 1, 2, …, and the first words: an orange one does not decide."""
    law = exponential_exact.law(np.arange(outcomes), Eta(base.numerator, base.denominator.bit_length() - 1, 1))
    ends = [float(sum(law.probability(before)[0] for before in range(upto))) for upto in range(outcomes + 1)]
    words = []
    for word in range(1 << word_bits):
        start, end = word / 2**word_bits, (word + 1) / 2**word_bits
        straddles = any(start < edge < end for edge in ends)
        words.append((start, end, f"{word:0{word_bits}b}" if word_bits < 5 else "", "out" if straddles else "pale"))
    outcome_cells = [(*pair, f"{outcome}", "in") for outcome, pair in enumerate(pairwise(ends))]
    x = "orange: an edge lies inside, more bits are needed"
    return cells({"outcomes": outcome_cells, "first word of U": words}, x, (12, 3))


# %%
explore(
    words_of,
    outcomes=(5, [2, 3, 5, 8]),
    base=(ETA.base, [Fraction(1, 2), Fraction(3, 4), Fraction(7, 8)]),
    word_bits=(WORD, [2, 3, 4, 6, 8]),
)

# %% [markdown]
# $n$ outcomes have $n - 1$ inner edges, and each lies inside at most one of the $2^w$ intervals of a $w$-bit word. So
# $$\Pr[\text{more than one word}] \le (n-1)\,2^{-w}, \qquad\text{whatever the data.}$$
# At $w = 64$ and a million outcomes that is one draw in $10^{13}$. (Among more than $2^{17}$ outcomes a single draw
# first tries 256 uniform proposals, which take as many words whatever the data.) Small words can be tried on every bit
# string, by the very code that draws with 64:

# %%
for word_bits in (3, 4, 6, 8):
    consumed = exhaustive.bits_consumed(
        lambda bits: exponential_exact.sample(FIVE, ETA, bits, 1)[0], 2 * word_bits, word_bits
    )
    more = 1 - consumed.probability(word_bits)[0]
    print(f"{word_bits}-bit words: more than one with probability {more!s:>5},  bound {Fraction(4, 2**word_bits)!s:>5}")

# %% [markdown]
# **2. Bounds with proved errors decide.** To see that an interval lies in a cell one need not know the cell's edges,
# only that they are *not near*. Floats are good at that, if their error is proved and not hoped for: each of the four
# basic operations of IEEE 754 is off by at most $2^{-53}$, relative, so errors can be counted.

# %%
size = float_weights.reach(ETA, FIVE.size.bit_length()) + 1
table = float_weights.power_table(ETA, size)
worst = max(abs(Fraction(weight) / ETA.base**u - 1) for u, weight in enumerate(table[:-1].tolist()))
print(f"{size} float weights B^0, …, B^{size - 1}")
print(f"   error proved:   at most {float_weights.power_error(size)} units of 2^-53")
print(f"   error measured: at most {float(worst) * 2**53:.2f} units, by rational arithmetic")

# %% [markdown]
# **3. Integers only when undecided.** When the interval comes closer to an edge than that error (with a probability
# near $n\,2^{-40}$), the question "on which side?" is put to exact integers, which always answer. The floats never
# choose an outcome: they only save asking. So the law is the exact one, and the price is paid when it is owed.
#
# Again every bit string, of up to three words of 4 bits. Strings that three words leave undecided are the gap between
# lower and upper:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
walked = exhaustive.law(lambda bits: int(exponential_exact.sample(FIVE, ETA, bits, 1)[0]), 3 * WORD, WORD)
formula = base2.law(FIVE, ETA)
for outcome in range(5):
    (lower, _), (probability, _) = walked.probability(outcome), formula.probability(outcome)
    assert lower <= probability <= lower + walked.rest
    print(f"outcome {outcome}: {float(lower):.5f} ≤ {probability!s:>7} = {float(probability):.5f}", end="")
    print(f" ≤ {float(lower + walked.rest):.5f}")

# %% [markdown]
# ## The bill
#
# Ilvento's timing figures, measured now and here. One draw is all that follows the utilities: weights, sums,
# sampling. What is public is computed beforehand and kept: the working precision, the tables. In each round all
# members are timed in an order shuffled anew. Lines are medians, bands reach from quartile to quartile, and beside
# each name stands the power law of its larger sizes. Both axes are logarithmic: a power law is a straight line, and
# its exponent is the slope.

# %%
measured = [figures.measure(plan, rounds=ROUNDS, seed=SEED, quick=QUICK) for plan in curves.PLANS[:4]]

# %% [markdown]
# ### More outcomes

# %%
Image(figures.to_png(measured[0]))

# %% [markdown]
# - **Base 2** starts as $n^1$, the interpreter's cost for each number, and bends towards $n^2$ as the numbers grow
#   long. (`QUICK = False` goes on to 16,384 outcomes, where the bend is plain.)
# - **Naive** computes $n$ exponentials and adds them: $n^1$, once $n$ is large enough to be felt.
# - **Exact** stays flat while a mere comparison finds the few outcomes that matter: here some sixty, because all
#   beyond $u_{\min} + 60$ or so together weigh less than the error that is allowed for anyway. Beyond $2^{13}$
#   outcomes it jumps, as from there on it does the same work for all data; beyond $2^{17}$ it drops, as looking pays
#   again.

# %% [markdown]
# ### How the precision was found

# %%
Image(figures.to_png(measured[1]))

# %% [markdown]
# Shorter numbers are faster once numbers are long. The search for their length (Algorithm 1) is needed once for each
# public $(\eta, \text{limits})$, and here it costs less than one draw. It walks through the range of utilities, not
# through the outcomes: in the next figure, with few outcomes and a wide range, it would cost as much as ten.
#
# The two samplers, Algorithm 2 (all bits) and Algorithm 4 (bit by bit), cannot be told apart: nearly all the time
# goes into the weights, which both need before the first random bit. What they do differ in is exercise 1.

# %% [markdown]
# ### A wider range
#
# A thousand outcomes always, but all save the first are $n$ worse than it. A probability of $2^{-n}$ never comes up,
# yet its digits must be carried.

# %%
Image(figures.to_png(measured[2]))

# %% [markdown]
# Base 2 carries them: flat until the digits outweigh the interpreter, then rising. For the other two $2^{-30}$ and
# $2^{-30000}$ cost the same. The naive member has *lost* these outcomes (notebook 01). The exact one has not: should
# $U$ ever begin with 64 ones, bits are appended, and integers decide.

# %% [markdown]
# ### Laplace noise, by the fineness of its grid
#
# Laplace noise on a value $f$ can be made by a selection: $u(o) = |f - o|$ on the $20/\gamma + 1$ points of a grid on
# $[-10, 10]$. Whether base 2 is slow then depends on what it is compared with:

# %%
Image(figures.to_png(measured[3]))

# %% [markdown]
# - **Naive, as in Figure 1** of the paper is the paper's baseline: a selection on the same grid that adds up each
#   running sum anew, $n^2/2$ additions. On a fine grid base 2 outperforms it, as its Figure 7 shows.
# - **Naive float64** is the same selection with one pass over the sums. It outperforms base 2.
# - **Inverse CDF** is no selection: the logarithm of one uniform, on any grid as fast (notebook 05). On a fine grid
#   it outperforms base 2 by even more.
# - **Exact** noise costs about as much as the two quick ones, and they are broken.

# %% [markdown]
# ### Side by side

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lines = ["| figure | curve | grows like | time | to the figure's first |", "|---|---|---:|---:|---:|"]
for timings in measured:
    at = timings.common_size
    for series in timings.series:
        microseconds = 1e6 * series.median[series.sizes.index(at)]
        columns = [
            f"{timings.name}, n = {at:,}",
            series.name,
            f"$n^{{{series.exponent:z.2f}}}$",
            f"{microseconds:,.0f} µs",
        ]
        lines.append(f"| {' | '.join(columns)} | × {timings.ratios()[series.name]:,.2f} |")
Markdown("\n".join(lines))

# %% [markdown]
# What is not in these figures: the time itself may tell on the data. Base 2 works longer on some data than on others,
# and so does the exact member where it looks for the outcomes that matter (`constant_work=True` weighs them all).
# Exact means exact in the *outcome*.

# %% [markdown]
# ## Exercises
#
# **1.** Time is not the only price. How many random bits does each member take for a draw, on average? Compare the
# steep data $u(o) = o$ with flat data, $u(o) = 0$, at 1,000 outcomes. Which members tell the two apart by the bits
# that they consume? (`bits.consumed` counts.)
#
# **2.** $u(o) = o$ is kind to the exact member: few outcomes matter. Measure flat data, where all of them do. First
# guess the exponents. What happens to base 2 with the theoretical precision, and what with the empirical one?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# Naive takes 53 and exact 64 bits, always. All bits takes as many as its numbers have digits, and on flat data a try
# fails with probability $1 - 1000/1024$: the average is higher by that much. Bit by bit takes only 2 on steep data and
# about 10 on flat ones: the fewest bits of all, and the plainest tale of how concentrated the weights are.
#
# ```python
# from subnormal.mechanisms.bits import seeded_bits
# from subnormal.mechanisms.exponential import naive as exponential_naive
#
# DRAWS, limits = 500, Limits(0, 999, 1_000)
# for name, data in {"steep": np.arange(1_000), "flat": np.zeros(1_000, dtype=np.int64)}.items():
#     bits = seeded_bits(SEED)
#     exponential_naive.sample(data, curves.EPSILON, bits, DRAWS)
#     print(f"{name}:   naive {bits.consumed / DRAWS:g}", end="")
#     for sampler in ("all-bits", "bit-by-bit"):
#         bits = seeded_bits(SEED)
#         base2.sample(data, curves.ETA, bits, DRAWS, limits=limits, sampler=sampler)
#         print(f",   base 2 {sampler} {bits.consumed / DRAWS:,.2f}", end="")
#     bits = seeded_bits(SEED)
#     exponential_exact.sample(data, curves.ETA, bits, DRAWS)
#     print(f",   exact {bits.consumed / DRAWS:g}")
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# Now the exact member weighs and adds all $n$, like the naive one: both tend to $n^1$. It remains the faster, because
# a table of weights is faster than exponentials and only one block of outcomes is searched.
#
# All weights are 1 and have one digit. The theoretical precision adds $o_{\max} = n$ bits all the same, as the formula
# cannot know better, and base 2 bends upwards. The empirical one finds that $\log_2 n$ bits will do, and stays near
# $n^1$: here the trial is worth its trouble.
#
# ```python
# def flat(size):
#     return np.zeros(size, dtype=np.int64)
#
#
# flat_curves = (
#     curves.naive(flat, 1 << 19),
#     curves.base2(flat, 1 << 15, "theoretical"),
#     curves.base2(flat, 1 << 15, "empirical"),
#     curves.exact(flat, 1 << 19),
# )
# plan = figures.Plan("flat", "One draw, all utilities equal", "outcomes n, with u(o) = 0", 16, 2, flat_curves)
# Image(figures.to_png(figures.measure(plan, rounds=ROUNDS, seed=SEED, quick=QUICK)))
# ```
#
# </details>
