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
# # Truncated addition, and rounded addition
#
# **Claim.** The exponential mechanism in floats is broken even if every weight is positive: a sum ignores a small
# weight that is added to it, or counts it twice. No $\varepsilon$ helps.
#
# **Mechanism.** Weights $w_i = e^{-\varepsilon u_i/2}$, their running sums $c_i$, and the first outcome whose share
# $c_i/T$ exceeds a uniform number. The probability of an outcome is how much the sum *grows* there.
#
# **You will see** a sum that does not move, outcomes that become impossible, why no sample can prove that at
# $\varepsilon = 37$, and a thousand rounding errors of one sign. **To present: 12 minutes.**

# %% [markdown]
# ## Change me

# %%
import numpy as np

EPSILON = 37.0  # truncated addition: the budget claimed, in nats
OUTCOMES = 1000  # and the number of outcomes
FLOAT_TYPE = np.float64  # or np.float32 (ε = 17 is enough), np.float16 (ε = 8)

ROUNDED_EPSILON = 0.02  # rounded addition: any ε will do
OTHERS = 1024  # k, the outcomes beside the first
ROUNDED_TYPE = np.float16  # with np.float32 try ε = 0.001 and k = 2**22

RUNS = 100_000  # draws in each world (base 2: 4,000 at most)
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from IPython.display import Markdown, display

from explore import explore
from subnormal.attacks.exponential.float_boundaries import last_added
from subnormal.attacks.exponential.rounded_addition import rounded_addition
from subnormal.attacks.exponential.truncated_addition import truncated_addition
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.evidence import exact
from subnormal.audit.report.table import to_markdown
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.families import member
from subnormal.mechanisms.privacy import Claim
from subnormal.mechanisms.samplers import float_uniforms
from subnormal.plots import Panel, picture, side_by_side, ticks

TITLES = ["mechanism", "claimed ε", "loss ε", "δ at ε", "advantage", "allowed", "ε ≥", "exact", "sampled"]


def audited(attack, *names, runs=RUNS):
    """A row for each of the named members: its exact laws, and draws."""
    return [examine(Crossing(attack, member(name)), seed=SEED, runs=runs, alpha=0.05) for name in names]


def table(rows):
    return Markdown(to_markdown(rows, TITLES))


# %% [markdown]
# ## Floats of five bits
#
# This is the paper's Equation 5, in the floats of 5 significant bits of notebook 01. Between 8 and 16 they are
# $\frac12$ apart. The number 11.5, $1.0111_2\cdot 2^3$, needs all five bits. Adding less than half a step to it
# changes nothing. A tie goes to the float whose last bit is 0, here 12:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
TOY = [k * 2.0**-8 for k in range(16)] + [k * 2.0**e for e in range(-8, 0) for k in range(16, 32)]


def in_toy(number):
    """The nearest of these floats, and of two equally near the one whose last bit is 0."""
    return TOY[min(range(len(TOY)), key=lambda at: (abs(TOY[at] - number), at % 2))]


added = [0.0625, 0.1875, 0.25, 0.3125]
sums = {"floats": ([one for one in TOY if 11 <= one <= 12.5], "pale")}
for weight, ink in zip(added, ("grey", "black", "claim", "exact"), strict=True):
    sums[f"11.5 + {weight}"] = [11.5 + weight], ink
display(ticks({f"all {len(TOY)} floats": {"floats": (TOY, "pale")}, "around 11.5": sums}, size=(13, 5)))
print(*(f"11.5 + {weight} = {in_toy(11.5 + weight)}" for weight in added), sep="    ")

# %% [markdown]
# ## One plus something is one
#
# A binary64 number has 53 significant bits, so the floats after 1 are $1 + 2^{-52}$, $1 + 2\cdot 2^{-52}$, and so on.
# A sum is rounded to the nearest of them, a tie to the even one. Adding half a unit or less to 1 gives 1:

# %%
1 + 2.0**-53 == 1, 1 + 1.0000001 * 2.0**-53 == 1 + 2.0**-52

# %% jupyter={"source_hidden": true} tags=["hide-input"]
precision = float_uniforms.uniform_bits(FLOAT_TYPE)
half_unit = 2.0**-precision
small = np.linspace(0, 6, 4001)
one = np.ones((), FLOAT_TYPE)
gained = (one + (small * half_unit).astype(FLOAT_TYPE) - one).astype(float) / half_unit
steps = np.where(np.diff(gained, prepend=gained[0]) > 0, np.nan, gained)
curves = {"on paper": (small, small, "grey line"), f"in {np.dtype(FLOAT_TYPE).name}": (small, steps, "black line")}
notes = {(0.5, 0, 0.5, 1.35): "absorbed", (1.05, 2, 0.75, 3.2): "rounded up\nto double"}
labels = {"x": f"weight w added to 1, in units of $2^{{-{precision}}}$", "y": "what the sum gains"}
picture(Panel(curves=curves, notes=notes, legend="lower right", **labels))

# %% [markdown]
# This picture has both attacks. Truncated addition uses weights on the flat step at zero. Rounded addition uses
# weights on both sides of the jump at $w = 2^{-53}$, where the sum gains nothing or twice the weight.

# %% [markdown]
# ## Truncated addition
#
# Let $g$ be the least whole utility whose weight is absorbed, $1 + e^{-\varepsilon g/2} = 1$. It is near
# $2 \cdot 53 \ln 2/\varepsilon$. Alice's form is exchanged for another one that differs in every answer:
#
# | world | utilities | running sums in floats |
# |---|---|---|
# | **in**, with Alice | $(0,\ g,\ \dots,\ g)$ | $1, 1, 1, \dots, 1$: nothing moves |
# | **out**, without | $(1,\ g-1,\ \dots,\ g-1)$ | they move at every step |
#
# At $\varepsilon = 37$ the weight of $g = 2$ is absorbed, because $e^{-37} < 2^{-53}$: the vectors are
# $(0, 2, \dots, 2)$ and $(1, 1, \dots, 1)$.

# %%
g = last_added(EPSILON, FLOAT_TYPE) + 1
attack = truncated_addition(EPSILON, OUTCOMES, FLOAT_TYPE)
law_in, law_out = (member(attack.breaks[0]).law(world, attack.parameters) for world in attack.worlds())
print(f"g = {g}")
for name, law in (("in ", law_in), ("out", law_out)):
    print(f"{name}  P(first) = {float(law.probability(0)[0]):.6f}   P(second) = {float(law.probability(1)[0]):.6f}")

# %%
rows = audited(attack, *attack.breaks, "exponential-base2")
side_by_side([rows[0], rows[-1]])

# %%
table(rows)

# %% [markdown]
# ### Move the sliders
#
# The picture shows the exact laws of the attack, without draws. The attack also works at $\varepsilon = 1$: look at
# how many outcomes one world cannot reach.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def laws(epsilon, outcomes, float_type):
    """Both worlds of truncated addition: the naive mechanism in these floats, and the exact one."""
    attack = truncated_addition(epsilon, outcomes, float_type)
    return side_by_side(audited(attack, attack.breaks[0], "exponential-base2", runs=0))


# %%
explore(
    laws,
    epsilon=(EPSILON, [0.5, 1, 5, 10, 20, 30, 37]),
    outcomes=(OUTCOMES, [2, 10, 100, 1000]),
    float_type=(FLOAT_TYPE, [np.float16, np.float32, np.float64]),
)

# %% [markdown]
# The attack also breaks the two "repairs" of notebook 01. No weight is zero, so "refuse" raises no error. The best
# utility is 0 already, so "shift" changes nothing. On the right is the exact twin: the 999 others keep their tiny
# probability $2^{-\eta u}$ (blue, at the bottom), the loss is 30.08, and the claim holds.
#
# ### Why the sample is UNDERPOWERED
#
# Look at the base-2 row again: its advantage is 0.999 too. A claim of $\varepsilon = 37$ allows nearly everything,
# $\tanh(18.5) = 1 - 1.7\cdot 10^{-16}$. So it is no evidence that the two worlds look different. The claim is broken
# because some outcomes are *impossible* in one world. A private mechanism may make them as rare as $0.999 \cdot
# e^{-37}$, and no sample can distinguish impossible from very rare.
#
# Suppose the event happens in all of $n$ runs of one world and in none of the other. This is the strongest evidence
# that $n$ runs can give. At confidence $1-\alpha$ the first probability is at least $L = (\alpha/4)^{1/n}$, the second
# at most $1 - L$, and the sample shows no more than
# $$\varepsilon \;\ge\; \ln\frac{L}{1-L} \;\approx\; \ln\frac{n}{\ln(4/\alpha)}.$$

# %% jupyter={"source_hidden": true} tags=["hide-input"]
runs = np.geomspace(10, 1e18, 60)
log_low = np.log(0.05 / 4) / runs
log_low_here = np.log(RUNS / np.log(80))
curves = {
    "what a sample can show": (runs, log_low - np.log(-np.expm1(log_low)), "black line"),
    f"{RUNS:,} runs: ε ≈ {log_low_here:.1f}": ([RUNS], [log_low_here], "black rings"),
    f"the claim, ε = {EPSILON:g}": (None, EPSILON, "claim dashed"),
}
display(picture(Panel(curves=curves, log="x", x="runs in each world", y="largest ε that can be shown")))
enough = np.log(80) * np.exp(EPSILON)
print(f"{RUNS:,} runs: underpowered at ε = 10.03? {binomial.underpowered(RUNS, 0.05, 10.03, 0)}", end="; ")
print(f"at 10.04? {binomial.underpowered(RUNS, 0.05, 10.04, 0)}")
print(f"runs needed for ε = {EPSILON:g}: {enough:.1e}, or {enough / 1e9 / 3.156e7:.1f} years at a billion a second")

# %% [markdown]
# The law of the code needs no sample. It counts, for each outcome, how many of the $2^{53}$ uniforms lead to it. In
# the world with Alice the count for outcome 2 is 0, and $\ln(0.001/0) = \infty$.
#
# ### Small budgets
#
# A large $\varepsilon$ only makes the attack visible. The loss is infinite at *every* $\varepsilon$. With a smaller
# $\varepsilon$ the impossible outcomes are rarer in the other world. Their probability there is the $\delta$ that the
# claim would need:

# %%
for epsilon in (0.5, 1, 5, 10, 20, 30, 37):
    pair = truncated_addition(epsilon, 1000)
    laws = [exponential_naive.law(world, epsilon) for world in pair.worlds()]
    evidence = exact.compare(*laws, Claim(epsilon), pair.event)
    print(f"ε = {epsilon:<5} g = {pair.worlds()[0][1]:<4} loss = {evidence.epsilon}   δ at ε = {evidence.delta:.2g}")

# %% [markdown]
# ### The demonstration that accompanies the paper
#
# Utilities need not be whole. The [demonstration](https://github.com/cilvento/b2_exponential_mechanism) of the author
# who introduced the attack takes $\varepsilon = 30$ and 1,000 outcomes: utility $-\frac12$ for one of them, the first
# here, and 2 for each of the others, against $\frac12$ and 1. Their difference is 2.5 in the first world
# ($e^{-15\cdot 2.5} = 5\cdot 10^{-17}$, absorbed) and 0.5 in the second ($e^{-7.5} = 5.5\cdot 10^{-4}$).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
demonstration = np.full((2, 1000), [[2.0], [1.0]])
demonstration[:, 0] = -0.5, 0.5
laws = [exponential_naive.law(world, 30.0) for world in demonstration]
on_paper = 1 / (1 + 999 * np.exp(-15 * (demonstration[:, 1] - demonstration[:, 0])))
for name, law, real in zip(("in ", "out"), laws, on_paper, strict=True):
    low, _ = law.probability(0)
    print(f"{name}  P(first) = {float(low):.4f} in floats, {real:.16f} on paper    impossible others: {low == 1}")
print(exact.compare(*laws, Claim(30.0)).verdict, "with a loss of", exact.compare(*laws, Claim(30.0)).epsilon)

# %% [markdown]
# 1 against 0.6441. (The demonstration prints no probability, but the average number of the outcome in 100 draws: 1.0
# against 208.76.) On paper the first world leaves $5\cdot 10^{-14}$ to the others, and $\ln(0.3559 / 5.2\cdot
# 10^{-14}) = 29.6$ is within the claim. In floats it leaves 0.

# %% [markdown]
# ## Rounded addition
#
# Truncated addition is only visible at large $\varepsilon$. Rounded addition is visible at **any** $\varepsilon$. With
# $p$ bits of precision, choose $g = \lfloor 2p\ln 2/\varepsilon \rfloor$. Then the weight $e^{-\varepsilon u/2}$ falls
# below half a unit, $2^{-p}$, between $g$ and $g+1$:
#
# | world | utilities | each of the $k$ others weighs | so each addition |
# |---|---|---|---|
# | **in**, with Alice | $(0,\ g+1,\ \dots,\ g+1)$ | just below half a unit | is absorbed |
# | **out**, without | $(0,\ g,\ \dots,\ g)$ | just above half a unit | counts as a whole unit, $2^{1-p}$ |
#
# The weights of the two worlds differ by a factor of $e^{\varepsilon/2}$, which is as near to 1 as you like. On paper
# (dotted) the two running sums are almost equal. But rounding errors of the same sign do not average out. They add up.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
rounded = rounded_addition(ROUNDED_EPSILON, 1 + OTHERS, ROUNDED_TYPE)
shown = max(1, OTHERS // 4000)
unit = 2.0 ** (1 - float_uniforms.uniform_bits(ROUNDED_TYPE))
whole, start = {}, {}
for colour, name, world in zip(("in", "out"), ("with Alice", "without"), rounded.worlds(), strict=True):
    weight = exponential_naive.weights(world, ROUNDED_EPSILON, float_type=ROUNDED_TYPE)
    sums = np.cumsum(weight).astype(float)
    paper = np.cumsum(np.exp(-ROUNDED_EPSILON * world / 2))
    added = np.arange(len(world))
    whole[f"{name}, in floats"] = added[::shown], sums[::shown], f"{colour} line"
    whole[f"{name}, on paper"] = added[::shown], paper[::shown], f"{colour} dotted"
    start[f"_{name}, in floats"] = added[:13], (sums[:13] - 1) / unit, f"{colour} stairs"
    start[f"_{name}, on paper"] = added[:13], (paper[:13] - 1) / unit, f"{colour} dotted"
words = {"x": "weights added to the first", "y": "running sum"}
of_all = Panel(curves=whole, title="all the additions", **words)
words["y"] = "(running sum − 1), in units"
picture(of_all, Panel(curves=start, title="the first twelve: a unit each, or nothing", **words), size=(12.5, 4.4))

# %% [markdown]
# With Alice the sum stays 1 and the first outcome is certain. Without her it climbs to $1 + k\cdot 2^{1-p}$, and the
# others have the share that the climb gave them:
# $$\text{advantage} \;=\; \frac{k\,2^{1-p}}{1 + k\,2^{1-p}}.$$
# In binary16 ($p = 11$) with $k = 1024$ that is $\frac12$, beside a claim that allows 0.01. In binary32 ($p = 24$)
# with $k = 2^{22}$ it is $\frac13$. (The formula ends at $k = 2^{p-1}$, where the sum is 2: the unit doubles there,
# the same weights fall below half of it, and the sum stops.)

# %%
rows = audited(rounded, rounded.breaks[0], "exponential-base2")
side_by_side(rows)

# %%
climb = OTHERS * unit
print(f"formula: {climb / (1 + climb):.4f}")
table(rows)

# %% [markdown]
# Here the sample refutes the claim too, because the advantage is far above what 0.02 allows.

# %% [markdown]
# ## Exercises
#
# **1.** "Add the smallest weights first, and none is absorbed." True. Does sorting the weights make the mechanism
# private? Try the worlds of truncated addition, sorted; then $(4, 2, 0)$ against $(5, 1, 1)$ at $\varepsilon = 37$.
#
# **2.** Is binary64 safe from rounded addition? Its unit is $2^{-52}$. How many outcomes does the advantage need in
# order to exceed what $\varepsilon$ allows? Find an $\varepsilon$ for which four million are enough.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# No. The uniform is a multiple of $2^{-53}$. If the cell $[c_{i-1}, c_i)$ of an outcome contains no such multiple, the
# outcome is impossible, even if the sums are exact. In the sorted worlds of the attack the 999 small cells are
# $e^{-37} = 0.77\cdot 2^{-53}$ wide: some 770 of them contain a grid point, and the others none.
#
# In $(4, 2, 0)$ the second cell begins at $e^{-74}$, just after the grid point 0, and ends near $e^{-37}$, before the
# next: it is impossible. In $(5, 1, 1)$ the same outcome has probability one half. Sums and uniform must *both* be
# exact.
#
# ```python
# sorted_worlds = [np.sort(world)[::-1] for world in truncated_addition(37.0, 1000).worlds()]
# for worlds in (sorted_worlds, (np.array([4, 2, 0]), np.array([5, 1, 1]))):
#     laws = [exponential_naive.law(world, 37.0) for world in worlds]
#     evidence = exact.compare(*laws, Claim(37.0))
#     print(
#         f"{len(worlds[0]):>4} outcomes: {evidence.verdict}, loss = {evidence.epsilon}, δ at ε = {evidence.delta:.3f}"
#     )
# print("P(second):", *(float(law.probability(1)[0]) for law in laws))
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# For small numbers the advantage is about $k\,2^{-52}$ and the claim allows about $\varepsilon/2$, so
# $k > \varepsilon\, 2^{51}$ outcomes are needed. Four million, $2^{22}$, suffice when $\varepsilon < 2^{-29}
# \approx 1.9\cdot 10^{-9}$. Nobody claims so little for one release. But the outcomes that Alice makes impossible have
# an infinite loss at any $\varepsilon$; the bound on $k$ is only about the advantage.
#
# ```python
# for epsilon in (1e-6, 1e-9):
#     pair = rounded_addition(epsilon, 1 + (1 << 22), np.float64)
#     row = examine(Crossing(pair, member("exponential-naive-float64")), seed=SEED, runs=0, alpha=0.05)
#     print(f"ε = {epsilon:g}: advantage {row.exact.advantage:.2g}, allowed {row.advantage_allowed:.2g}, ", end="")
#     print(f"{epsilon * 2.0**51:.2g} outcomes needed; loss = {row.exact.epsilon}")
# ```
#
# </details>
