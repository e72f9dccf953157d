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
# # Lab 3: repair it
#
# **You will show** that private noise needs no real numbers. If a program uses only coins and integers, its proof is
# about exactly what it computes.
#
# **Time:** 50 minutes. **Points:** 10. **Before:** lecture 2 of [the course](../../docs/course.md), "Exact weights
# and exact noise", and [notebook 03](../03_base2_mechanism.ipynb). Lab 2 helps.
#
# **How it is graded.** Write your answer in place of `raise NotImplementedError()`. The cell below it shows your
# points. It calls *your* function with every string of random bits that the function can ask for, up to 56 bits, and
# compares the exact laws of all neighbours. Runs that take more bits count as undecided, and there may be at most
# 65,536 different strings. So take single coins, and stop soon.

# %% [markdown]
# ## Random bits
#
# All randomness is an argument, `bits`. `bits.take(1)` is one fair coin, 0 or 1, and `bits.take(3)` a number from 0
# to 7. A sampler that uses nothing else has an exact law:

# %%
import math

from grader import repair as lab
from subnormal import Claim, system_bits
from subnormal.audit.evidence import exact


def answer(truth, bits):
    """Return the truth in 3 of 4 runs."""
    return truth ^ (bits.take(2) == 0)


print([answer(1, system_bits()) for _ in range(20)])
law_in = lab.walked(lambda bits: answer(1, bits), "answer")
law_out = lab.walked(lambda bits: answer(0, bits), "answer")
print(law_in.probability(1), law_out.probability(1))
found = exact.compare(law_in, law_out, Claim(1.2))
print(found.verdict, found.epsilon)  # the loss is ln 3 = 1.0986

# %% [markdown]
# ## Part 1: integer noise (3 points)
#
# Write `noise(bits)`, which returns an integer. For each integer $z$, the probabilities $P(z)$ and $P(z+1)$ may differ
# by a factor of at most $e^{0.7} = 2.01$. So every integer must be possible.
#
# How many heads come up before the first tail? $P(n) = 2^{-n-1}$.


# %%
### BEGIN SOLUTION
def heads(bits):
    count = 0
    while bits.take(1):
        count += 1
    return count


def noise(bits):
    return heads(bits) - heads(bits)  # P(z) = 2^-|z| / 3


### END SOLUTION

# %%
lab.part_1(noise)

# %% [markdown]
# ## Part 2: release a real value (4 points)
#
# Write `release(value, bits)`. The value is a float, and one person changes it by at most 1. The function
# returns an integer from 0 to 4, and keeps $\varepsilon = 0.7$ for *all* neighbours. The grader tries it on the halves
# from -2 to 6, and on a few other values, which differ by student.
#
# The noise of part 1 is right for integers that are 1 apart. But values need not be integers, and some lie outside 0
# to 4.


# %%
### BEGIN SOLUTION
def release(value, bits):
    nearest = math.floor(min(max(value, 0), 4) + 0.5)  # half up: values 1 apart are at most 1 apart
    return min(max(nearest + noise(bits), 0), 4)  # clamping is post-processing


### END SOLUTION

# %%
lab.part_2(release)

# %% [markdown]
# ## Part 3: it must be useful (3 points)
#
# A constant is private, and useless. For the values 0, 1, 2, 3 and 4 the outcome must be at most 1 off with probability
# 0.6 or more, and always lie between 0 and 4. If yours is not, change `release` above.

# %%
lab.part_3(release)

# %% [markdown]
# Which steps of your code still use floats? Which of them can round, and why does it not matter here? (Not graded.)
