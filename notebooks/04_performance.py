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
# **Claim.** An exact mechanism need not be slow. The naive mechanism is broken, the base-2 mechanism writes $n \times
# n$ digits for a draw, and a third one has the *same exact law* as base 2 and is faster than the broken one.
#
# **Mechanism.** The exponential mechanism with weights $2^{-u(o)}$. The third one, "exact", decides with floats whose
# errors are *proved*, and uses integers only if the floats cannot decide.
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
# | exact | floats with *proved* errors; integers when they cannot tell | 64, rarely more | exact, the same |

# %% [markdown]
# ## Why exactness was slow
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
# Nearly all of these digits are useless. The point $s$ falls so close to an edge that the 100th digit matters with
# probability about $n\,2^{-100}$. The program pays in every draw for an event that never happens.
#
# ## Why it need not be slow
#
# **Compute a digit only when the answer depends on it.**
#
# **1. $U$ is an interval.** A uniform of which 64 bits are known is not a number but an interval of length $2^{-64}$.
# The outcomes are cells that fill $[0, 1)$. If the interval lies in one cell, the outcome is decided, whatever bits
# would follow. If the interval straddles an edge, the program appends bits *to the same $U$*. It never rejects a draw.
#
# The picture has words of 4 bits and five outcomes, $u = (0, 1, 2, 3, 4)$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
FIVE, WORD = np.arange(5), 4


def words_of(outcomes, base, word_bits):
    """The cells of the outcomes, u = 0, 1, 2, …, and the first words: a red one does not decide."""
    law = exponential_exact.law(np.arange(outcomes), Eta(base.numerator, base.denominator.bit_length() - 1, 1))
    ends = [float(sum(law.probability(before)[0] for before in range(upto))) for upto in range(outcomes + 1)]
    words = []
    for word in range(1 << word_bits):
        start, end = word / 2**word_bits, (word + 1) / 2**word_bits
        straddles = any(start < edge < end for edge in ends)
        words.append((start, end, f"{word:0{word_bits}b}" if word_bits < 5 else "", "claim" if straddles else "pale"))
    outcome_cells = [(*pair, f"{outcome}", "exact") for outcome, pair in enumerate(pairwise(ends))]
    x = "red: an edge lies inside, more bits are needed"
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
# At $w = 64$ and a million outcomes that is one draw in $10^{13}$. (With more than $2^{17}$ outcomes a single draw
# first tries 256 uniform proposals. Their number of words does not depend on the data.) With small words we can try
# the same code on every bit string:

# %%
for word_bits in (3, 4, 6, 8):
    consumed = exhaustive.bits_consumed(
        lambda bits: exponential_exact.sample(FIVE, ETA, bits, 1)[0], 2 * word_bits, word_bits
    )
    more = 1 - consumed.probability(word_bits)[0]
    print(f"{word_bits}-bit words: more than one with probability {more!s:>5},  bound {Fraction(4, 2**word_bits)!s:>5}")

# %% [markdown]
# **2. Bounds with proved errors decide.** To see that an interval lies in a cell, the program need not know the edges
# of the cell exactly. It must know that they are *not near*. Floats can show this if their error is proved: each of
# the four basic operations of IEEE 754 has a relative error of at most $2^{-53}$, so errors can be counted.

# %%
size = float_weights.reach(ETA, FIVE.size.bit_length()) + 1
table = float_weights.power_table(ETA, size)
worst = max(abs(Fraction(weight) / ETA.base**u - 1) for u, weight in enumerate(table[:-1].tolist()))
print(f"{size} float weights B^0, …, B^{size - 1}")
print(f"   error proved:   at most {float_weights.power_error(size)} units of 2^-53")
print(f"   error measured: at most {float(worst) * 2**53:.2f} units, by rational arithmetic")

# %% [markdown]
# **3. Integers only when undecided.** If the interval comes closer to an edge than that error (with a probability near
# $n\,2^{-40}$), exact integers decide on which side it lies. The floats never choose an outcome that the integers
# would not choose. So the law is exact, and the slow computation is rare.
#
# Here is every bit string of up to three words of 4 bits. Strings that are still undecided after three words make the
# gap between the lower and the upper bound:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
walked = exhaustive.law(lambda bits: int(exponential_exact.sample(FIVE, ETA, bits, 1)[0]), 3 * WORD, WORD)
formula = base2.law(FIVE, ETA)
for outcome in range(5):
    (lower, _), (probability, _) = walked.probability(outcome), formula.probability(outcome)
    assert lower <= probability <= lower + walked.rest
    print(f"outcome {outcome}: {float(lower):.5f} ≤ {probability!s:>7} = {float(probability):.5f}", end="")
    print(f" ≤ {float(lower + walked.rest):.5f}")

# %% [markdown]
# ## The time of a draw
#
# These are Ilvento's timing figures, measured on this machine. The time of a draw covers everything after the
# utilities are known: weights, sums, sampling. The program computes public values (working precision, tables) once and
# keeps them. Each round times all members in a new random order. Lines are medians, and bands go from quartile to
# quartile. Both axes are logarithmic, so a power law $n^a$ is a straight line of slope $a$. A curve has its power law
# beside its name if all its larger sizes lie within 10 % of it.

# %%
measured = [figures.measure(plan, rounds=ROUNDS, seed=SEED, quick=QUICK) for plan in curves.PLANS[:4]]

# %% [markdown]
# ### More outcomes

# %%
Image(figures.to_png(measured[0]))

# %% [markdown]
# - **Base 2** first grows like $n$, because the interpreter needs some time for each number. Then the numbers get long
#   and the curve bends towards $n^2$. (`QUICK = False` goes on to 16,384 outcomes, where the bend is clear.)
# - **Naive** computes $n$ exponentials and adds them. It grows like $n$ for large $n$.
# - **Exact** stays flat while a comparison finds the few outcomes that matter. Here these are some sixty: all outcomes
#   beyond $u_{\min} + 60$ together weigh less than the error bound. Beyond $2^{13}$ outcomes the curve jumps, because
#   the program then does the same work for all data. Beyond $2^{17}$ it drops, because the comparison is faster again.

# %% [markdown]
# ### How the precision was found

# %%
Image(figures.to_png(measured[1]))

# %% [markdown]
# If numbers are long, shorter ones are faster. The program searches for the length (Algorithm 1) once for each public
# $(\eta, \text{limits})$, and here the search takes less time than one draw. It goes through the range of utilities,
# not through the outcomes. In the next figure, with a wide range, it would take as long as ten draws.
#
# The two samplers, Algorithm 2 (all bits) and Algorithm 4 (bit by bit), take the same time, because both compute the
# weights before they draw the first bit, and the weights take nearly all the time. Exercise 1 shows how they differ.

# %% [markdown]
# ### A wider range
#
# Now there are always a thousand outcomes, and the utility of all but the first is $n$ larger. An outcome of
# probability $2^{-n}$ never comes up, but base 2 must carry its digits.

# %%
Image(figures.to_png(measured[2]))

# %% [markdown]
# The curve of base 2 is flat while the interpreter takes most of the time, and rises when the digits do. The other two
# take the same time for $2^{-30}$ and for $2^{-30000}$. The naive member has *lost* these outcomes (notebook 01). The
# exact member has not: if $U$ begins with 64 ones, it appends bits, and integers decide.

# %% [markdown]
# ### Laplace noise, by the fineness of its grid
#
# A selection can make Laplace noise on a value $f$: it has $u(o) = |f - o|$ on the $20/\gamma + 1$ points of a grid on
# $[-10, 10]$. Is base 2 slow here? That depends on what we compare it with:

# %%
Image(figures.to_png(measured[3]))

# %% [markdown]
# - **Naive, as in Figure 1** of the paper is the paper's baseline: a selection on the same grid that adds up each
#   running sum anew, $n^2/2$ additions. On a fine grid base 2 outperforms it, as its Figure 7 shows.
# - **Naive float64** is the same selection with one pass over the sums. It outperforms base 2.
# - **Inverse CDF** is not a selection. It takes the logarithm of one uniform, equally fast on any grid (notebook 05).
#   On a fine grid it outperforms base 2 by even more.
# - **Exact** noise takes about as long as these two, and they are broken.

# %% [markdown]
# ### Side by side

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lines = ["| figure | curve | grows like | time | compared with the first curve |", "|---|---|---:|---:|---:|"]
for timings in measured:
    at = timings.common_size
    for series in timings.series:
        microseconds = 1e6 * series.median[series.sizes.index(at)]
        columns = [
            f"{timings.name}, n = {at:,}",
            series.name,
            series.growth or "–",
            f"{microseconds:,.0f} µs",
        ]
        lines.append(f"| {' | '.join(columns)} | × {timings.ratios()[series.name]:,.2f} |")
Markdown("\n".join(lines))

# %% [markdown]
# The time itself may depend on the data. Base 2 takes longer on some data than on others, and so does the exact member
# when it looks for the outcomes that matter. Exact means that the *outcome* has the exact law
# ([notebook 09](09_side_channels.ipynb)).

# %% [markdown]
# ## Exercises
#
# **1.** A draw also uses random bits. How many does each member take, on average? Compare the steep data $u(o) = o$
# with flat data, $u(o) = 0$, at 1,000 outcomes. For which members does the number of bits differ between the two?
# (`bits.consumed` counts.)
#
# **2.** With $u(o) = o$ few outcomes matter, which makes the exact member fast. Measure flat data, where all outcomes
# matter. First guess the exponents. What happens to base 2 with the theoretical precision, and with the empirical one?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# Naive always takes 53 bits, and exact 64. The sampler "all bits" takes as many bits as its numbers have digits. On
# flat data a try fails with probability $1 - 1000/1024$, so the average is a little higher. "Bit by bit" takes about 2
# bits on steep data and about 10 on flat data. It takes the fewest bits, and it reveals most of how concentrated the
# weights are.
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
# Now the exact member weighs and adds all $n$ outcomes, like the naive one, and both grow like $n$. The exact member
# is still faster, because a table of weights is faster than exponentials and it searches only one block of outcomes.
#
# All weights are 1 and have one digit. The formula of the theoretical precision adds $o_{\max} = n$ bits anyway, so
# the curve of base 2 bends upwards. The empirical search finds that $\log_2 n$ bits are enough, and base 2 stays near
# $n$.
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
