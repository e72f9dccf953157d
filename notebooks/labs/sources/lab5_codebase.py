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
# # Lab 5: find the flaws in a small codebase
#
# **You will show** how `check` finds two flaws in a package that looks right, and repair both.
#
# **Time:** 50 minutes. **Points:** 10. **Before:** lecture 2 of [the course](../../docs/course.md) and [notebook
# 14](../14_check_your_own.ipynb).
#
# **How it is graded.** Write your answer in place of `raise NotImplementedError()`. The cell below it shows your
# points. It puts *your* worlds and functions into the package, and computes the exact laws of its queries.

# %% [markdown]
# ## The package
#
# `clinic` is a folder beside this notebook: `queries.py`, `clipping.py`, `sensitivity.py` and `noise.py`, seventy lines
# in all. Read them. The package releases three statistics of the weights of a clinic's patients (in kilograms).
# Neighbours: one patient more, or one less. Each query claims to be $\varepsilon$-differentially private. The noise is
# exact, so floats cause none of the flaws.

# %%
from hypothesis import strategies as st

from clinic import queries
from grader import codebase as lab
from subnormal import Claim, add_or_remove, check

weights = st.lists(st.integers(0, 300), max_size=5)


def patients(records):
    return queries.patients(records, 1.0)


print(patients([58, 71, 93]))

# %% [markdown]
# ## Part 1: two neighbours (3 points)
#
# One of the three queries is not private. Let `check` look at them:
#
#     result = check(patients, weights, add_or_remove(), Claim(1.0), seconds=10)
#
# It returns a result with `verdict`, `worlds` and more, and `print(result)` shows everything. Store the two lists of
# weights that it finds, or that you find, in `worlds`.


# %%
### BEGIN SOLUTION
def total_weight(records):
    return queries.total_weight(records, 1.0)


result = check(total_weight, weights, add_or_remove(), Claim(1.0), seconds=60)  # two, on an idle machine
print(result)
worlds = result.worlds
### END SOLUTION

# %%
lab.part_1(worlds)

# %% [markdown]
# ## Part 2: the sensitivity (4 points)
#
# Which function is wrong, and for which neighbours would it be right? Write a correct `sensitivity_of_sum(low, high)`.
# It takes the bounds of one patient's number, which may be negative. The noise must be large enough (2 points), and no
# larger than needed (2 points).


# %%
### BEGIN SOLUTION
def sensitivity_of_sum(low, high):
    return max(abs(low), abs(high))


### END SOLUTION

# %%
lab.part_2(sensitivity_of_sum)

# %% [markdown]
# ## Part 3: missing weights (3 points)
#
# Some weights are missing, and arrive as NaN: `float("nan")`. Check again, with `st.floats()` as the weights. What does
# the sum do with a missing weight? Write a new `clip(value, low, high)`, so that the query keeps its claim for every
# float. It must not change values between the bounds.


# %%
### BEGIN SOLUTION
def clip(value, low, high):
    if value != value:  # only NaN
        return low
    return min(max(value, low), high)


### END SOLUTION

# %%
lab.part_3(clip)

# %% [markdown]
# Put both functions into the package, and run `check` once more. NOT REFUTED is not a proof. How would you prove it?
# (Not graded.)
