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
# # Lab 2: an event for Laplace noise in float32
#
# **You will show** that one output of Laplace noise, the most common mechanism, can prove which value was released.
# First you try all random bits. Then you find an argument that needs no list.
#
# **Time:** 50 minutes. **Points:** 10. **Before:** lecture 2 of [the course](../../docs/course.md), up to "Every
# float, counted", and [notebook 05](../05_every_float_enumerated.ipynb).
#
# **How it is graded.** Write your answer in place of `raise NotImplementedError()`. The cell below it shows your
# points. It computes the exact probability of *your* event in both worlds, over all strings of random bits.

# %% [markdown]
# ## The mechanism
#
# A count is 1 with Alice and 0 without her. Laplace noise of scale $1/\varepsilon$ is added in float32: a random
# sign, and a uniform number $k/2^{16}$, where $k$ goes from 1 to $2^{16}$. (Real generators have 24 bits or more;
# with 16 everything here is fast, and nothing else changes.)

# %%
import numpy as np

from grader import event as lab

BITS = 16


def release(value, epsilon, sign, k):
    """One run: the sign is 1 or -1, and k is an integer, or an array of integers, from 1 to 2^16."""
    scale = np.float32(1 / epsilon)
    noise = scale * np.abs(np.log(np.asarray(k) / 2**BITS).astype(np.float32))
    return np.float32(value) + np.float32(sign) * noise


release(value=0, epsilon=1.0, sign=1, k=[1, 1000, 65535, 65536])

# %% [markdown]
# ## Part 1: all outputs (3 points)
#
# Write `outputs_from(value, epsilon)`. It returns an array of float32 with the outputs of all $2^{17}$ runs: both
# signs, all $k$. If several runs lead to the same output, the array has it several times.


# %%
### BEGIN SOLUTION
def outputs_from(value, epsilon):
    k = np.arange(1, 2**BITS + 1)
    return np.concatenate([release(value, epsilon, sign, k) for sign in (1, -1)])


### END SOLUTION

# %%
lab.part_1(outputs_from)

# %% [markdown]
# ## Part 2: an event (4 points)
#
# Write `event(outputs, epsilon)`. It gets an array of outputs and returns an array of bools, True where the attacker
# guesses "the value is 1". For example, "closer to 1 than to 0":

# %%
example = lab.OwnEvent(lambda outputs: outputs > 0.5, "example")
found = lab.evidence(example, epsilon=1.0)
print(found.advantage, found.total_variation, found.event_in, found.event_out)

# %% [markdown]
# Its advantage is 0.3935. The best event has 0.9985, the total variation, and $\tanh(1/2) = 0.4621$ is allowed. In real
# numbers this event is the best one. In floats there are better ones. Find an event whose advantage is near 1, for
# ε = 1 and for ε = 0.01 (2 points each).


# %%
### BEGIN SOLUTION
def event(outputs, epsilon):
    return np.isin(outputs, outputs_from(1, epsilon))  # the truth is never excluded


### END SOLUTION

# %%
lab.part_2(event)

# %% [markdown]
# ## Part 3: without a list (3 points)
#
# An attacker may not know how many bits the generator has. Write `fine(outputs)` for $\varepsilon = 1$: an event that
# *never* happens from one of the two values, and has a probability of at least 0.25 from the other, for *every*
# number of bits. The grader tries it with 13 and with 18 bits, and on outputs of runs with 30.
#
# The floats between 1/2 and 1 are the multiples of $2^{-24}$. Those between 1/4 and 1/2 are the multiples of
# $2^{-25}$, and so on: the closer to 0, the closer together they are. An output $y$ between $-1/2$ and $1/2$ that comes
# from the value 1 is $1 - n$, for some noise $n$ between 1/2 and 3/2. Which number is it a multiple of?


# %%
### BEGIN SOLUTION
def fine(outputs):
    exact = outputs.astype(np.float64)  # every float32 is a float64, and times 2^24 it still is
    return (np.abs(exact) < 0.5) & (exact * 2**24 % 1 != 0)


### END SOLUTION

# %%
lab.part_3(fine)

# %% [markdown]
# The advantage of `fine` is 0.27. The claim allows that, and the claim is violated all the same. Why? (Not graded.)
