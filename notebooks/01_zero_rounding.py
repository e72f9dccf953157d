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
# # Zero rounding
#
# **Claim.** A program of the exponential mechanism claims $\varepsilon = 0.5$, and its output tells with certainty
# whether Alice's record is in the data. Its proof is right, and every line of the program looks right.
#
# **Mechanism.** A hundred candidates; $u(o)$ counts the complaints against candidate $o$. One is chosen with
# probability proportional to $e^{-\varepsilon u(o)/2}$. One form, Alice's, changes each $u(o)$ by at most 1.
#
# **You will see** a weight that is positive in the proof and zero in the machine, an attack with the advantage 0.99
# where 0.245 is allowed, and two repairs that fail. **To present: 12 minutes.**

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
import numpy as np

EPSILON = 0.5  # the budget claimed, in nats
OUTCOMES = 100  # k, the number of candidates
FLOAT_TYPE = np.float64  # or np.float32, np.float16
RUNS = 100_000  # draws in each world (base 2: 4,000 at most)
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from IPython.display import Markdown, display

from explore import explore
from subnormal.attacks.exponential.float_boundaries import last_positive
from subnormal.attacks.exponential.zero_rounding import zero_rounding, zero_rounding_refusal, zero_rounding_two_outcomes
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.report.table import to_markdown
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.families import member
from subnormal.plots import Panel, picture, side_by_side, ticks

TITLES = ["mechanism", "claimed ε", "loss ε", "advantage", "allowed", "sampled advantage", "exact", "sampled"]


def audited(attack, *names, runs=RUNS):
    """A row for each of the named members: its exact laws, and draws."""
    return [examine(Crossing(attack, member(name)), seed=SEED, runs=runs, alpha=0.05) for name in names]


def table(rows):
    return Markdown(to_markdown(rows, TITLES))


# %% [markdown]
# ## Floats of five bits
#
# The paper explains rounding with floats of 5 significant bits (its Equation 1). The picture has all of them from 0 to
# 15.5: 16 in each interval between powers of two, down to $2^{-4}$, and below that equal steps of $2^{-8}$. The
# product of two positive floats can lie at half of the first step. Then it is rounded to 0:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
TOY = [k * 2.0**-8 for k in range(16)] + [k * 2.0**e for e in range(-8, 0) for k in range(16, 32)]


def in_toy(number):
    """The nearest of these floats, and of two equally near the one whose last bit is 0."""
    return TOY[min(range(len(TOY)), key=lambda at: (abs(TOY[at] - number), at % 2))]


product = 2.0**-4 * 2.0**-5
near = {
    "floats": (TOY[:13], "pale"),
    r"$2^{-4}\cdot 2^{-5}$": ([product], "exact"),
    "in floats": ([in_toy(product)], "claim"),
}
every = {f"all {len(TOY)} floats": {"floats": (TOY, "pale")}, "the first 13": near}
display(ticks(every, size=(13, 3.6)))
print(f"2^-4 · 2^-5 = {product}, in floats {in_toy(product)};   2^-4 · 2^-4 = {in_toy(2.0**-8)}")

# %% [markdown]
# ## The least positive float
#
# There is no float between 0 and the least positive one. In binary64 that is $2^{-1074}$, and a number below half of
# it, $2^{-1075} = e^{-745.13\ldots}$, is rounded to zero.

# %%
np.exp(-745.0), np.exp(-745.25)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
least = np.finfo(FLOAT_TYPE).smallest_subnormal
x = last_positive(EPSILON, FLOAT_TYPE)
reach = 4.2 / EPSILON
utilities = np.arange(np.ceil(x - reach), x + reach)
finely = np.linspace(x - reach, x + reach, 4000)
exponent = -np.log2(float(least))
on_paper = np.exp(exponent * np.log(2) - EPSILON * finely / 2)
in_floats = exponential_naive.weights(utilities, EPSILON, float_type=FLOAT_TYPE).astype(float) / float(least)
curves = {
    r"in the proof: $e^{-εu/2}$": (finely, on_paper, "grey line"),
    f"in {np.dtype(FLOAT_TYPE).name}": (utilities, in_floats, "black dots"),
    "_half": (None, 0.5, "pale dotted"),
}
notes = {
    (x, 1, x + 0.28 * reach, 2.4): f"u = {x}: the last positive",
    (x + 1, 0, x + 0.28 * reach + 1, 1.4): f"u = {x + 1}: zero",
}
picture(
    Panel(
        curves=curves,
        notes=notes,
        ticks=utilities[1::3],
        x="utility u",
        y=f"weight, in units of $2^{{-{exponent:.0f}}}$",
    )
)

# %% [markdown]
# The dots lie on whole numbers, because each of these floats is a whole multiple of $2^{-1074}$. The true weight falls
# below one half (dotted) between $u = 2980$ and $u = 2981$, and from there on the float is 0. In general the last
# utility with a positive weight is the last $x$ with $e^{-\varepsilon x/2}$ above half the least float: near
# $2 \cdot 1075 \ln 2 / \varepsilon$ in binary64.

# %% [markdown]
# ## The attack
#
# Without Alice every candidate has $x$ complaints. Alice complains about everyone but the first:
#
# | world | utilities | weights |
# |---|---|---|
# | **in**, with Alice | $(x,\ x+1,\ \dots,\ x+1)$ | $(2^{-1074},\ 0,\ \dots,\ 0)$ |
# | **out**, without | $(x,\ x,\ \dots,\ x)$ | $(2^{-1074},\ 2^{-1074},\ \dots,\ 2^{-1074})$ |
#
# On paper the two worlds hardly differ. In floats, with Alice, only the first candidate can be chosen. The attacker
# looks for one event: *the first candidate was chosen*.

# %%
attack = zero_rounding(EPSILON, OUTCOMES, FLOAT_TYPE)
rows = audited(attack, attack.breaks[0], "exponential-base2")
side_by_side(rows)

# %%
table(rows)

# %% [markdown]
# Lines are the exact law of the code, dots are draws (fewer on the right, where a draw takes thousands of random
# bits). Where a world has no line, the outcome is impossible in that world.
#
# - **Left, in floats.** With Alice (blue) a single point: outcome 0 has probability 1, the rest are *impossible*.
#   Without her (orange) each has about $1/100$. The advantage is $1 - 1/100 = 0.99$ against 0.2449 allowed. The
#   privacy loss $\ln(\Pr_\text{out}/\Pr_\text{in})$ of any other outcome is $\ln(0.01/0) = \infty$: an attacker who
#   sees candidate 7 knows for certain that Alice did not complain as described.
# - **Right, in base 2.** The data and the budget are the same, and the weights are exact. The two laws are almost
#   equal, and the loss, 0.247, is within the claim. This is proved in rational numbers.

# %% [markdown]
# ### What the claim allows
#
# $\varepsilon$-differential privacy: for every event $E$, in both directions, $\Pr_{\text{in}}[E] \le
# e^{\varepsilon}\,\Pr_{\text{out}}[E]$. Let $p = \Pr_{\text{in}}[E]$ and $q = \Pr_{\text{out}}[E]$. The claim bounds
# the event and its complement: $p \le e^{\varepsilon} q$ and $1 - q \le e^{\varepsilon}(1 - p)$. The difference $p -
# q$ is largest when both are equalities, at $p = \frac{e^\varepsilon}{1+e^\varepsilon}$ and $q =
# \frac{1}{1+e^\varepsilon}$:
# $$p - q \;\le\; \frac{e^\varepsilon-1}{e^\varepsilon+1} = \tanh(\varepsilon/2).$$
# No attacker who guesses whether Alice's form is in the box has a larger *advantage*. At $\varepsilon = 0.5$ the
# largest is 0.2449. The attack above has 0.99.

# %% [markdown]
# ### Move the sliders
#
# The picture shows the exact laws of the attack, without draws. Choose another budget, other candidates and other
# floats. Can you find a setting in which the attack fails?


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def laws(epsilon, outcomes, float_type):
    """Both worlds of the attack: the naive mechanism in these floats, and the exact one."""
    attack = zero_rounding(epsilon, outcomes, float_type)
    return side_by_side(audited(attack, attack.breaks[0], "exponential-base2", runs=0))


# %%
explore(
    laws,
    epsilon=(EPSILON, [0.1, 0.25, 0.5, 1, 2, 5]),
    outcomes=(OUTCOMES, [2, 5, 10, 100, 1000]),
    float_type=(FLOAT_TYPE, [np.float16, np.float32, np.float64]),
)

# %% [markdown]
# *How exact is "0.99"?* The law counts which of the $2^{53}$ possible uniforms lead to each outcome. Without Alice
# outcome 0 gets $\lceil 2^{53}/100 \rceil$ of them, so the advantage is 0.99 to within $2^{-53}$:

# %%
law_in, law_out = (member(attack.breaks[0]).law(world, attack.parameters) for world in attack.worlds())
(in_low, _), (out_low, _) = law_in.probability(0), law_out.probability(0)
print("with Alice   ", in_low)
print("without Alice", out_low)
print("advantage    ", float(in_low - out_low))

# %% [markdown]
# ## Two candidates are enough
#
# Now Alice's form is *exchanged* for another one. Alice complains about the second candidate, and the other form about
# the first: $(x, x+1)$ against $(x+1, x)$. Each world has one possible outcome, a different one, so the advantage is
# exactly 1. One run is enough.

# %%
two = zero_rounding_two_outcomes(EPSILON)
rows = audited(two, "exponential-naive-float64", "exponential-base2")
side_by_side(rows)

# %%
table(rows)

# %% [markdown]
# ## Two repairs that people reach for
#
# **Refuse.** "If a weight is not positive, raise an error." But an error is an outcome too, and the attacker sees it.
# With Alice the mechanism always raises it, without her never. The advantage rises from 0.99 to 1.
#
# **Shift.** "Subtract the best utility first." On paper the law stays the same, and the largest weight is now 1.
# *This* attack fails.

# %%
refusal, plain = zero_rounding_refusal(EPSILON, OUTCOMES), zero_rounding(EPSILON, OUTCOMES)
rows = audited(refusal, "exponential-naive-positive") + audited(plain, "exponential-naive-shifted")
side_by_side(rows)

# %%
table(rows)

# %% [markdown]
# HOLDS is about this pair of worlds only. The next notebook breaks the shifted mechanism with a pair in which all
# weights are positive. A mechanism that resists one attack can fail against another. The base-2 mechanism of notebook
# 03 keeps its claim, because it makes no rounding error at all.

# %% [markdown]
# ## Smaller floats fail sooner
#
# 2,980 complaints may seem many. Smaller floats need fewer: half the least positive float is $2^{-1075}$ in binary64,
# $2^{-150}$ in binary32 and $2^{-25}$ in binary16.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
epsilons = np.geomspace(0.05, 10, 40)
curves, notes = {}, {}
for kind, half in ((np.float64, 1075), (np.float32, 150), (np.float16, 25)):
    name = np.dtype(kind).name
    curves[f"_{name} on paper"] = epsilons, 2 * half * np.log(2) / epsilons, "pale line"
    curves[f"_{name}"] = epsilons, [last_positive(e, kind) for e in epsilons], "black points"
    notes[epsilons[-1], 2 * half * np.log(2) / epsilons[-1]] = name
curves["this notebook"] = [EPSILON], [x], "claim rings"
axes = {
    "x": "claimed ε (nats)",
    "y": "last positive utility x",
    "log": "xy",
    "ticks": (0.05, 0.1, 0.5, 1, 5, 10),
    "xlim": (0.045, 21),
}
picture(Panel(curves=curves, notes=notes, **axes))

# %%
small = [zero_rounding(EPSILON, OUTCOMES, kind) for kind in (np.float32, np.float16)]
for one in small:
    print(f"{one.breaks[0]}: falls at utility {one.worlds()[0][0] + 1}")
table([row for one in small for row in audited(one, one.breaks[0])])

# %% [markdown]
# In binary16, a type of many accelerators, 70 complaints are enough at $\varepsilon = 0.5$. (There the advantage is
# 0.9897 instead of 0.99, because a uniform of 11 bits cannot be divided into hundredths.)

# %% [markdown]
# ## Exercises
#
# **1.** The advantage of the attack is $1 - 1/k$ with $k$ outcomes. How many outcomes does it need to exceed what
# $\varepsilon$ allows? Does the mechanism keep its claim if there are fewer?
#
# **2.** "Clamp the utilities to the public range $[0, 2980]$, and no weight is ever zero." Clamping never raises the
# sensitivity, so on paper it costs nothing. Does it stop this attack? Is the mechanism private now?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# $1 - \frac1k > \frac{e^\varepsilon-1}{e^\varepsilon+1} = 1 - \frac{2}{1+e^\varepsilon}$ exactly when $k >
# \frac{1+e^\varepsilon}{2}$: 2 outcomes at $\varepsilon = 0.5$, 75 at $\varepsilon = 5$. With fewer outcomes the
# advantage alone proves nothing, but the claim is broken for every $k \ge 2$: an outcome that is possible in one world
# and impossible in the other has an infinite loss.
#
# ```python
# from subnormal.mechanisms.privacy import Claim
#
# ks = np.arange(2, 121)
# missing = []  # from an advantage of 1
# for k in ks:
#     worlds = zero_rounding(EPSILON, int(k)).worlds()
#     p_in, p_out = (exponential_naive.law(world, EPSILON).probability(0)[0] for world in worlds)
#     missing.append(1 - float(p_in - p_out))
# curves = {"the attack: 1/k": (ks, missing, "black points")}
# notes = {}
# for epsilon in (0.5, 1, 2, 3, 4, 5):
#     allowed = 1 - Claim(epsilon).advantage_allowed
#     curves[f"_{epsilon}"] = None, allowed, "claim dashed"
#     notes[2, allowed] = f"allowed at ε = {epsilon}"
# ticks = (2, 5, 10, 20, 50, 75, 100)
# picture(Panel(curves=curves, notes=notes, log="xy", ticks=ticks, x="number of outcomes k", y="1 − advantage"))
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# It stops this attack: both worlds are clamped to the same vector, and equal worlds have no loss. It does not make the
# mechanism private. Truncated addition, the subject of the next notebook, needs no zero weight. Its utilities are far
# below 2980, so the clamp does not change them, and the loss is infinite again. (At $\varepsilon = 0.5$ the event is
# rare, see δ. The next notebook makes it common.)
#
# ```python
# from subnormal.attacks.exponential.truncated_addition import truncated_addition
# from subnormal.audit.evidence import exact
# from subnormal.mechanisms.privacy import Claim
#
# for pair in (zero_rounding(EPSILON, OUTCOMES), truncated_addition(EPSILON, OUTCOMES)):
#     clamped = [np.clip(world, 0, last_positive(EPSILON, np.float64)) for world in pair.worlds()]
#     evidence = exact.compare(
#         *(exponential_naive.law(world, EPSILON) for world in clamped), Claim(EPSILON), pair.event
#     )
#     print(f"{pair.name:<45}{evidence.verdict:<10} loss ε = {evidence.epsilon}   δ at ε = {evidence.delta:.2g}")
# ```
#
# </details>
