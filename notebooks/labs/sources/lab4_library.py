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
# # Lab 4: audit a library
#
# **You will show** which of six versions of one algorithm keep their promise. Five were published, four of these with
# a wrong proof. The sixth is a careful one, with bounded integers. You find the worlds; nobody tells you which event
# to look for.
#
# **Time:** 60 minutes. **Points:** 10. **Before:** lecture 2 of [the course](../../docs/course.md), and its 15 minutes
# on the sparse vector technique. [Notebook 10](../10_sparse_vector.ipynb) has the algorithm, and some answers.
#
# **How it is graded.** Write your answer in place of `raise NotImplementedError()`. The cell below it shows your
# points. It computes the exact laws of the implementation on *your* worlds.

# %% [markdown]
# ## The sparse vector technique
#
# An analyst asks many queries, one after the other. The program only answers whether the query reaches a threshold (1)
# or not (0), with noise, and stops after the first 1. The negative answers should cost nothing.
#
#     noisy_threshold = 0 + ρ
#     for query in queries:
#         answer 1 if query + ν >= noisy_threshold else 0        # a fresh ν for each query
#         stop after the first 1
#
# One person changes each query by at most 1, up or down. All six claim $\varepsilon = 1$. The noise is integer Laplace
# noise of the given scale, drawn exactly, so floats cause none of the flaws.
#
# | name | scale of ρ | scale of ν | stops | what is released |
# |---|---|---|---|---|
# | `lyu`, Lyu, Su and Li 2017 | 2 | 4 | at the first 1 | 0 and 1 |
# | `bounded`, the same | 2, at most ±8 | 4, at most ±8 | at the first 1 | 0 and 1 |
# | `roth`, lecture notes 2011 | 2 | 2 | at the first 1 | 0, or 1 and the noisy value of the query |
# | `lee`, Lee and Clifton 2014 | 4 | 4/3 | at the first 1 | 0 and 1 |
# | `stoddard`, Stoddard et al. 2014 | 2 | no ν | never | 0 and 1 |
# | `chen`, Chen et al. 2015 | 2 | 2 | never | 0 and 1 |
#
# (`roth` compares and releases the same noisy value. `lyu` is written for integers in base 2, so its scales are
# slightly larger, and it has its own bounds, with a proof that they do no harm.)

# %%
import numpy as np

from grader import library as lab
from subnormal import system_bits

print(lab.IMPLEMENTATIONS["chen"].sample(np.array([0, 0, 3, 1]), lab.PARAMETERS, system_bits(), 4))
found = lab.audit("chen", [0, 1], [1, 1])
print(found.verdict, found.epsilon)

# %% [markdown]
# `lab.audit(name, queries_in, queries_out)` is the exact evidence for one implementation. `epsilon` is the loss.
#
# Each answer below is a pair of neighbours, for example `([0, 1], [1, 1])`, or `None` if you accept the
# implementation. Use at most 7 queries, between -20 and 20.
#
# ## Part 1: `stoddard` (2 points)

# %%
### BEGIN SOLUTION
stoddard = ([0, 1], [1, 0])  # 0, then 1: impossible without Alice
### END SOLUTION

# %%
lab.part_1(stoddard)

# %% [markdown]
# ## Part 2: `lee` (2 points)

# %%
### BEGIN SOLUTION
lee = ([0, 0, 0, 1], [1, 1, 1, 0])
### END SOLUTION

# %%
lab.part_2(lee)

# %% [markdown]
# ## Part 3: `chen` (2 points)

# %%
### BEGIN SOLUTION
chen = ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
### END SOLUTION

# %%
lab.part_3(chen)

# %% [markdown]
# ## Part 4: `roth` (2 points)

# %%
### BEGIN SOLUTION
roth = ([0, 0, 0, 1], [1, 1, 1, 0])  # the value 1 bounds the noisy threshold
### END SOLUTION

# %%
lab.part_4(roth)

# %% [markdown]
# ## Part 5: the two that remain (2 points)
#
# No search can show that an implementation is private. Here one of the two has a proof. Decide for both.

# %%
### BEGIN SOLUTION
lyu = None
bounded = ([-16], [-17])  # -16 + 8 reaches 0 - 8, and -17 + 8 does not
### END SOLUTION

# %%
lab.part_5(lyu, bounded)

# %% [markdown]
# For more (not graded): `pip install -e '.[libraries]'` installs three libraries that people use, and [notebook
# 08](../08_auditing_real_libraries.ipynb) audits them.
