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
# # Zero rounding in 20 minutes
#
# A proof of differential privacy is about real numbers. The program computes with floats. We break a correct proof
# with one float that becomes 0.
#
# **To present: 20 minutes.** Each slide says how many.

# %% [markdown]
# ## The claim (3 minutes)
#
# - Two *worlds*: the data with Alice, and without her.
# - $\varepsilon$-differential privacy: for every event $E$, in both directions, $P(E) \le e^{\varepsilon}\, Q(E)$.
# - So no event has a larger *advantage* $P(E) - Q(E)$ than $\tanh(\varepsilon/2)$: 0.245 at $\varepsilon = 0.5$.
# - And an outcome that is possible in one world is possible in the other.
#
# **Ask:** which $\varepsilon$ allows an outcome that is impossible without Alice? *None.*

# %% [markdown]
# ## The mechanism (3 minutes)
#
# A hundred candidates. $u(o)$ counts the complaints against candidate $o$; Alice's form changes each by at most 1.
#
# 1. weights $w(o) = e^{-\varepsilon u(o)/2}$
# 2. their running sums, divided by the total
# 3. one uniform number: the first candidate whose running sum exceeds it
#
# **Ask:** which of these steps rounds? *All three.*

# %% [markdown]
# ## A weight becomes 0 (4 minutes)
#
# In binary64 no number lies between 0 and $2^{-1074}$. A number below half of that is rounded to 0.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np

from subnormal.attacks.exponential.zero_rounding import zero_rounding, zero_rounding_refusal
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.mechanisms.exponential import naive
from subnormal.mechanisms.families import member
from subnormal.plots import Panel, picture, side_by_side

EPSILON, OUTCOMES = 0.5, 100


def rows(attack, *names):
    """The exact laws of both worlds, for each of the named members."""
    return [examine(Crossing(attack, member(name)), seed=1, runs=0, alpha=0.05) for name in names]


utilities = np.arange(2972, 2990)
on_paper = 2.0 ** (1074 - EPSILON * utilities / 2 / np.log(2))
in_floats = naive.weights(utilities, EPSILON, float_type=np.float64) / 2.0**-1074
curves = {
    "in the proof": (utilities, on_paper, "grey line"),
    "in float64": (utilities, in_floats, "black dots"),
    "_half": (None, 0.5, "pale dotted"),
}
notes = {(2980, 1, 2982, 3): "u = 2980: the last positive weight", (2981, 0, 2983, 1.8): "u = 2981: zero"}
picture(Panel(curves=curves, notes=notes, x="complaints u", y="weight, in units of $2^{-1074}$"), size=(11, 4))

# %% [markdown]
# The proof is about the grey line. The program computes the dots.

# %% [markdown]
# ## The attack (5 minutes)
#
# Without Alice every candidate has 2980 complaints. Alice complains about everyone but the first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
attack = zero_rounding(EPSILON, OUTCOMES)
side_by_side(rows(attack, "exponential-naive-float64", "exponential-base2"))

# %% [markdown]
# - In floats, with Alice, only the first candidate can be chosen. The advantage is 0.99, and the loss is ∞.
# - In the exact mechanism the loss is 0.247, for the same data.
#
# **Let the class try it** in the [explorer](../../docs/explorer.html): float64, and add 2980 to all utilities.

# %% [markdown]
# ## Two repairs that fail (3 minutes)
#
# **Raise an error if a weight is 0.** The error is an outcome too. With Alice it always comes, without her never.
#
# **Subtract the best utility first.** This attack fails. Truncated addition does not need a weight of 0, and succeeds.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
refusal = zero_rounding_refusal(EPSILON, OUTCOMES)
side_by_side(rows(refusal, "exponential-naive-positive") + rows(attack, "exponential-naive-shifted"))

# %% [markdown]
# ## What helps (2 minutes)
#
# - More digits do not. They move the last positive weight: 69 complaints in float16, 2980 in float64.
# - Exact weights do: in base 2, $2^{-\eta u}$ with $2^{-\eta} = x/2^y$ is an integer over a power of two.
# - A program that computes the numbers of the proof needs no second proof.
#
# **Remember:** an impossible outcome breaks every $\varepsilon$.
