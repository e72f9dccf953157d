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
# # Lab 1: break the exponential mechanism
#
# **You will show** with worlds of your own that the usual code of the exponential mechanism is not private, that a
# common repair does not help, and that the proof in real numbers does not see why.
#
# **Time:** 40 minutes. **Points:** 10. **Before:** lecture 1 of [the course](../../docs/course.md). The
# [explorer](../../docs/explorer.html) shows the same mechanism. Try your ideas there.
#
# **How it is graded.** Write your answer in place of `raise NotImplementedError()`. The cell below it shows your
# points. It computes the exact probabilities of the code, over all $2^{53}$ uniform numbers, on *your* worlds. There
# is more than one right answer. You may try as often as you like.

# %% [markdown]
# ## The mechanism
#
# Outcome $i$ has a utility $u_i$, for example a number of complaints, and a lower one is better. One person changes
# each $u_i$ by at most 1, up or down. The code computes the weights $e^{-\varepsilon u_i/2}$ and their running sums,
# divides by the total, and returns the first outcome whose running sum exceeds a uniform number.
#
# Its claim $\varepsilon$ is your own. It lies between 0.2 and 0.4 and follows from your name, so write your name below.

# %%
import numpy as np

from grader import worlds as lab
from subnormal.mechanisms.exponential import naive

name = "your name"
epsilon = lab.budget(name)
print("your ε:", epsilon, "  the advantage that it allows:", np.tanh(epsilon / 2))
print(naive.weights([0, 1, 2, 3], epsilon))
found = lab.evidence(epsilon, [0, 0], [0, 1])  # the exact evidence on two small worlds
print(found.verdict, found.epsilon, found.total_variation)

# %% [markdown]
# `found.epsilon` is the loss of these two worlds; the claim allows your $\varepsilon$. `found.total_variation` is the
# largest advantage that any event has on them; the claim allows $\tanh(\varepsilon/2)$.

# %% [markdown]
# ## Part 1: worlds that break it (3 points)
#
# Find two neighbours, `data_in` with Alice and `data_out` without her, on which the verdict is VIOLATED. Each is a
# list of integers. At most 1,000 outcomes.

# %%
### BEGIN SOLUTION
# The weight of utility x is just above 2^-1075, half of the least float: it is the last positive one.
x = int(2 * 1075 * np.log(2) / epsilon)
data_in = [x] + [x + 1] * 99
data_out = [x] * 100
### END SOLUTION

# %%
lab.part_1(name, data_in, data_out)

# %% [markdown]
# ## Part 2: the attacker's event (2 points)
#
# The attacker sees one outcome, and guesses "with Alice" if it is in `event`, a set of indices such as `{0, 3}`.
# Choose the event, and worlds in part 1, so that the advantage $|P_{in}(\text{event}) - P_{out}(\text{event})|$ is
# 0.9 or more.

# %%
### BEGIN SOLUTION
event = {0}  # certain with Alice, 1/100 without
### END SOLUTION

# %%
lab.part_2(name, data_in, data_out, event)

# %% [markdown]
# ## Part 3: break the repair (3 points)
#
# Somebody repairs the code: it first subtracts the smallest utility from all utilities. Then the best outcome has the
# weight 1, and no world has a total of 0.

# %%
print(naive.weights([70, 71, 72], epsilon), naive.weights([70, 71, 72], epsilon, variant="shifted"))
found = lab.evidence(epsilon, data_in, data_out, variant="shifted")  # on your worlds of part 1
print(found.verdict, found.epsilon, found.total_variation)

# %% [markdown]
# Find neighbours that break the repaired code. Think of lecture 1: 1 plus a little may be 1.

# %%
### BEGIN SOLUTION
# The weight of utility y is just above 2^-53, half a unit in the last place of 1. That of y + 1 is absorbed.
y = int(2 * 53 * np.log(2) / epsilon)
shifted_in = [0] + [y + 1] * 99
shifted_out = [0] + [y] * 99
### END SOLUTION

# %%
lab.part_3(name, shifted_in, shifted_out)

# %% [markdown]
# ## Part 4: what the proof says (2 points)
#
# Write `real_loss(data_in, data_out, epsilon)`, the loss in real numbers:
# $$\max_i \left|\ln \frac{P_{in}(i)}{P_{out}(i)}\right|, \qquad
# P(i) = \frac{e^{-\varepsilon u_i/2}}{\sum_j e^{-\varepsilon u_j/2}}.$$
# The arguments are numpy arrays of small integers. It is compared with the exact law of a mechanism that does not
# round.


# %%
### BEGIN SOLUTION
def real_loss(data_in, data_out, epsilon):
    log_in, log_out = (-epsilon * world / 2 for world in (data_in, data_out))
    log_in, log_out = (logs - np.log(np.exp(logs).sum()) for logs in (log_in, log_out))
    return np.abs(log_in - log_out).max()


### END SOLUTION

# %%
lab.part_4(real_loss)

# %% [markdown]
# By the proof your worlds of part 3 lose at most $\varepsilon$. Why does `real_loss` not see what the program does?
# (Not graded. Explain it to the student next to you.)
