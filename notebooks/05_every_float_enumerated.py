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
# # Every float, enumerated
#
# **Claim.** The textbook's Laplace noise in floats breaks its claim at every $\varepsilon$. Some outputs are possible
# for one count only, so they prove it. With 24 random bits most outputs do, at $\varepsilon = 1$ and at 0.01. More
# random bits make them rarer, and the loss stays infinite.
#
# **Mechanism.** One person changes a count $f$ by at most 1. The mechanism adds noise of scale
# $\lambda = 1/\varepsilon$, made from a random sign and a uniform number: $f + S\cdot\lambda\,|\ln U|$.
#
# **You will see** the floats that noise reaches from $f = 0$ and from $f = 1$, all $2^{25}$ strings of bits counted,
# and what the exact laws say of three mechanisms. **To present: 12 minutes**, up to "δ(ε)".

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
EPSILON = 1.0  # the budget claimed, in nats
SMALL_EPSILON = 0.01  # a second one, which allows almost no information
ZOOM_AT = 0.25  # where to look at single floats; positive
RUNS = 100_000  # draws, wherever something is sampled
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
from IPython.display import Markdown, display

from explore import explore
from subnormal.attacks.additive.grid_precision import grid_precision, off_grid_probability
from subnormal.attacks.additive.least_significant_bits import Reachable, guesses_in, least_significant_bits
from subnormal.audit.evidence import exact
from subnormal.audit.statistics.binomial import clopper_pearson
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.families import member
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.privacy import Claim
from subnormal.plots import Panel, picture, ticks

BITS = 24  # of a uniform in float32, beside the sign
EPSILONS = (EPSILON, SMALL_EPSILON)


def law_of(value, epsilon=EPSILON, bits=BITS):
    """The law of float32 value + noise: how many of the 2^(bits + 1) strings lead to each output."""
    return laplace_naive.law(value, 1 / epsilon, float_type=np.float32, uniform_bits=bits)


def reachable_from(value, epsilon=EPSILON, bits=BITS, float_type="float32"):
    """The event: some string leads from the value to this output."""
    return Reachable(value, 1 / epsilon, float_type, bits)


# %% [markdown]
# ## The attack
#
# In real numbers no event tells $f = 1$ from $f = 0$ with an advantage above $\tanh(\varepsilon/2)$. The best attack
# on real Laplace noise only has the advantage $1 - e^{-\varepsilon/2}$. The attack (Mironov 2012) is about floats. $U$
# has 24 or 53 random bits. So there are finitely many outputs from $f = 0$ and from $f = 1$, and they are *not the
# same floats*. The attacker sees one output and asks which count can lead to it.

# %% [markdown]
# ### The gaps

# %% [markdown]
# The picture is a window on the number line, so narrow that single floats can be seen. Grey: all float32 numbers.
# Below: the numbers that noise reaches from 0 (orange) and from 1 (blue). **Black: from both.** A coloured tick proves
# its world.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def floats_between(low, high):
    """All the float32 from low to high, both positive: neighbours have neighbouring bit patterns."""
    first, last = np.array([low, high], dtype=np.float32).view(np.uint32)
    return np.arange(first, last + 1, dtype=np.uint32).view(np.float32)


def window(low, high, epsilon, bits):
    """All floats from low to high, and which of them noise reaches from 0, and from 1."""
    floats = floats_between(low, high)
    return floats, *(reachable_from(value, epsilon, bits)(floats) for value in (0.0, 1.0))


def gaps(epsilon, place, bits):
    """The floats just above a place, and around 1."""
    windows = {
        f"just above {place:g}": (place, place * (1 + 2.0**-17), place),
        "around 1, the true value of the blue world": (1 - 24 * 2.0**-24, 1 + 24 * 2.0**-24, 1.0),
    }
    panels = {}
    for title, (low, high, origin) in windows.items():
        floats, from_0, from_1 = window(low, high, epsilon, bits)
        at = (floats.astype(np.float64) - origin) * 2.0**24
        panels[title] = {
            "every float32": (at, "pale"),
            "from f = 0": (at[from_0], "out"),
            "from f = 1": (at[from_1], "in"),
        }
    return ticks(panels, f"output − the place, in units of $2^{{-24}}$  (ε = {epsilon:g}, {bits} random bits)")


# %%
explore(
    gaps,
    epsilon=(EPSILON, [0.01, 0.1, 0.5, 1, 2]),
    place=(ZOOM_AT, [0.125, 0.25, 0.5, 2]),
    bits=(BITS, [20, 22, 24, 53]),
)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
for name, low, high in (
    (f"above {ZOOM_AT:g}", ZOOM_AT, ZOOM_AT * (1 + 2.0**-17)),
    ("around 1", 1 - 24 * 2.0**-24, 1 + 24 * 2.0**-24),
):
    floats, from_0, from_1 = window(low, high, EPSILON, BITS)
    numbers = len(floats), int(from_0.sum()), int(from_1.sum()), int((from_0 & from_1).sum())
    print("{:<12}{} floats; {} reachable from 0, {} from 1, {} from both".format(name, *numbers))

# %% [markdown]
# **Why the gaps?** Neighbouring uniforms are $2^{-24}$ apart, so neighbouring noises are $\lambda\, 2^{-24}/U =
# \lambda \,2^{-24} e^{|\text{noise}|/\lambda}$ apart. Just above 0.25 the floats are half a unit of $2^{-24}$ apart.
# Noise from 0 has steps of $e^{0.25} = 1.28$ units, noise from 1 has steps of $e^{0.75} = 2.12$ units, and each sum is
# rounded to the next float. The two sets of outputs have different steps, so they have only some floats in common.
#
# **Around 1**, noise from 1 is small, has steps of one unit and reaches every float. Noise from 0 is near 1, has steps
# of $e = 2.72$ units, and leaves gaps. Every blue tick that is not black proves $f = 1$.

# %% [markdown]
# ## How many floats can noise reach?
#
# All $2^{25}$ strings, from $f = 0$ and from $f = 1$:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
law_0, law_1 = law_of(0.0), law_of(1.0)
outputs_0, outputs_1 = np.asarray(law_0.atoms), np.asarray(law_1.atoms)
from_1_too, from_0_too = reachable_from(1.0)(outputs_0), reachable_from(0.0)(outputs_1)
for words, count in (
    ("strings of bits", law_0.denominator),
    ("floats reachable from 0", len(outputs_0)),
    ("floats reachable from 1", len(outputs_1)),
    ("from both", int(from_1_too.sum())),
    ("only from 0", int((~from_1_too).sum())),
    ("only from 1", int((~from_0_too).sum())),
):
    print(f"{words:<26}{count:>12,}")

# %% [markdown]
# Two thirds of the outputs of $f = 0$ cannot come from $f = 1$ at all. An attacker who sees one of them *knows* that
# $f = 0$.

# %% [markdown]
# **What is proved here, and what is only sampled.** In float32 there are $2^{25}$ strings of bits, a sign and 24 more.
# We can run them all:
#
# | part | how | status |
# |---|---|---|
# | float32, up to 24 bits | the code is run on every string | *proved*: probabilities are integers over $2^{25}$ |
# | snapping, exact noise | laws in integers, or enclosed by bounds | *proved* |
# | float32 beyond 24 bits, float64 | some 100,000 draws | *sampled*, with an interval |
# | perfectly rounded noise | a closed form with bounds; draws beside it | *proved*, and sampled |

# %% [markdown]
# ### How much of each world is a proof?
#
# The picture shows both laws, with all $2^{25}$ strings of each. Pale: outputs that both worlds can give. Full colour:
# outputs that the other world *cannot* give. **The share in full colour is the probability that one output is a
# proof.**

# %% jupyter={"source_hidden": true} tags=["hide-input"]
CELLS = 0.5 + np.arange(-72, 73) / 16 / EPSILON


def cell_shares(law, marked):
    """The probability of the marked outputs in each cell, and of all of them."""
    outputs, weights = np.asarray(law.atoms), np.repeat(law.low, law.counts())
    first = np.searchsorted(outputs, CELLS.astype(np.float32))
    inside = slice(first[0], first[-1])
    starts = first[:-1] - first[0]
    every = np.add.reduceat(weights[inside], starts)
    some = np.add.reduceat(weights[inside] * marked[inside], starts)
    total = law.measure(marked)[0] / law.denominator
    return some / law.denominator, every / law.denominator, total


panels = []
for law, marked, colour, title in ((law_0, ~from_1_too, "out", "f = 0"), (law_1, ~from_0_too, "in", "f = 1")):
    proof, every, total = cell_shares(law, marked)
    middles = (CELLS[:-1] + CELLS[1:]) / 2
    curves = {
        "both worlds can give it": (middles, (proof, every), f"{colour} band"),
        f"proves {title}: {total:.1%}": (middles, (np.zeros_like(proof), proof), f"{colour} full band"),
    }
    legend = "upper left" if law is law_1 else "upper right"
    panels.append(Panel(curves=curves, title=title, x="output", y="probability, in cells of λ/16", legend=legend))
picture(*panels, size=(13, 4.6), share=True)

# %% [markdown]
# ## The advantage, by the exact laws
#
# The event is *"the output can come from $f = 1$"*. If $f$ is 1, it always happens: **the attacker never excludes the
# truth.** If $f$ is 0, it happens with some probability $p$. So the advantage is $1 - p$, and the loss is infinite.
# Below, *total variation* is the largest advantage of any event, so no event is much better. *Real noise* is the
# advantage $1 - e^{-\varepsilon/2}$ that the attacker would have in real numbers.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
FORMAT = "| {:g} | {} | **{:.4f}** | {:.4f} | {:.4f} | {:.4f} | {} |"
lines = ["| ε | verdict | advantage | total variation | claim allows | real noise | loss |", "|" + "---|" * 7]
EPSILON_GRID = {epsilon: np.linspace(0, 2 * epsilon, 33) for epsilon in EPSILONS}
FLOAT32, FLOAT32_CURVE = {}, {}
for epsilon in EPSILONS:
    laws = law_of(1.0, epsilon), law_of(0.0, epsilon)
    evidence = exact.compare(*laws, Claim(epsilon), reachable_from(1.0, epsilon))
    assert evidence.event_in == (1, 1)  # the truth is never excluded, on any string
    FLOAT32[epsilon] = evidence
    FLOAT32_CURVE[epsilon] = exact.curve(*laws, EPSILON_GRID[epsilon].tolist())[0]
    claimed, real = Claim(epsilon).advantage_allowed, -np.expm1(-epsilon / 2)
    found = evidence.verdict, evidence.advantage, evidence.total_variation
    lines.append(FORMAT.format(epsilon, *found, claimed, real, "∞" if np.isinf(evidence.epsilon) else evidence.epsilon))
display(Markdown("\n".join(lines)))

# %% [markdown]
# With a hundredth of the budget the noise is a hundred times larger, but the advantage is still 0.613 instead of
# 0.669. The attack reads only the last bits, and more noise does not change them. The claim would allow 0.005.
#
# ## Do more random bits help?
#
# Here is the same mechanism with uniforms of 8 to 24 bits. Each law is enumerated (dots). Beyond 24 bits the values
# are sampled (circles).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
SWEEP = tuple(range(BITS, 7, -1))  # the largest first, the others take no memory
BEYOND = (25, 26, 28, 32, 40, 53)


def total_variation(epsilon, bits):
    laws = law_of(1.0, epsilon, bits), law_of(0.0, epsilon, bits)
    return exact.compare(*laws, Claim(epsilon)).total_variation


def sampled_advantage(epsilon, bits):
    """The share of outputs from 0 that cannot come from 1, and its interval at 95 %."""
    options = {"float_type": np.float32, "uniform_bits": bits}
    drawn = laplace_naive.sample(0.0, 1 / epsilon, seeded_bits(SEED, f"{epsilon}", f"{bits}"), RUNS, **options)
    betrayed = int((~reachable_from(1.0, epsilon, bits)(drawn)).sum())
    return betrayed / RUNS, *clopper_pearson(betrayed, RUNS, 0.025)


del law_0, law_1, outputs_0, outputs_1, laws
panels = []
for epsilon in EPSILONS:
    proved = [FLOAT32[epsilon].total_variation, *(total_variation(epsilon, bits) for bits in SWEEP[1:])]
    beyond = np.array([sampled_advantage(epsilon, bits) for bits in BEYOND])
    claimed, real = Claim(epsilon).advantage_allowed, -np.expm1(-epsilon / 2)
    curves = {
        "proved: total variation": (SWEEP, proved, "black joined"),
        "sampled: the event's advantage": (BEYOND, beyond[:, 0], "black rings"),
        "_interval": (BEYOND, beyond[:, 1:].T, "black band"),
        f"claim allows {claimed:.3f}": (None, claimed, "claim dashed"),
        f"real noise {real:.3f}": (None, real, "grey line"),
    }
    title, legend = f"ε = {epsilon:g}", "upper right" if claimed < 0.2 else "lower left"
    bits, labels = [8, 16, 24, 32, 40, 53], {"x": "random bits of a uniform", "y": "advantage"}
    panels.append(Panel(curves=curves, title=title, ticks=bits, ylim=(-0.03, 1.05), legend=legend, **labels))
    for kind, all_bits, values in (("proved ", SWEEP[::4], proved[::4]), ("sampled", BEYOND, beyond[:, 0])):
        told = (f"{bits} bits {value:.4f}" for bits, value in zip(all_bits, values, strict=True))
        print(f"ε = {epsilon:<5g} {kind}  {'   '.join(told)}")
picture(*panels, size=(13, 4.8), share=True)

# %% [markdown]
# With 8 bits the two worlds have almost no output in common. Each further bit fills gaps, until float32 has no more
# numbers to fill. But the curve does not reach that of real noise, because the product $\lambda\,|\ln U|$ and the
# *sum* $f + n$ are still rounded. On the left the advantage falls below what the claim allows. The mechanism is still
# not private: an output that one world cannot give has an infinite loss, even if it is rare.

# %% [markdown]
# ## δ(ε): which claim would be true?
#
# For every $\varepsilon'$ the picture has the least $\delta$ with which this pair of laws is $(\varepsilon',
# \delta)$-private. To the right of the claimed $\varepsilon$ (shaded) the claim needs $\delta = 0$. All members have
# the same budget:
#
# - **naive float32**, enumerated;
# - **snapping** (Mironov 2012), which clamps, uses *every* float of $(0, 1)$ as a uniform, and rounds off the low bits
#   of the sum;
# - **exact**: discrete Laplace noise on a grid, from integers (Canonne, Kamath, Steinke 2020).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
MEMBERS = (
    ("laplace-snapping", "snapping", "exact line"),
    ("laplace-exact-base-e", "exact", "claim dashed"),
)


def public(epsilon):
    """Bounds at ten scales or more, and a grid of some 2,000 points between them, for the members that want them."""
    places = max(6, int(np.ceil(np.log2(10 / epsilon))))
    return LaplaceParameters(epsilon=epsilon, grid=min(0, places - 10), lower=-(2.0**places), upper=2.0**places)


lines = ["| ε | member | verdict | loss ε | δ at the claim | total variation |", "|" + "---|" * 6]
panels = []
for epsilon in EPSILONS:
    grid = EPSILON_GRID[epsilon]
    curves = {
        "_claimed": (np.array([epsilon, grid[-1]]), (1e-6, 2), "pale band"),
        "naive float32": (grid, FLOAT32_CURVE[epsilon], "black line"),
    }
    rows = [("naive float32", FLOAT32[epsilon])]
    finely = np.union1d(np.linspace(0, epsilon, 25), epsilon * (1 - np.geomspace(1e-4, 0.1, 12)))
    for name, label, look in MEMBERS:
        laws = [member(name).law(world, public(epsilon)) for world in (1.0, 0.0)]
        rows.append((label, exact.compare(*laws, Claim(epsilon))))
        low, high = exact.curve(*laws, finely.tolist())
        curves[label] = finely[low > 0], low[low > 0], look
    curves["real noise"] = finely, -np.expm1((finely - epsilon) / 2), "grey dotted"
    curves["_claimed ε"] = epsilon, None, "black line"
    labels = {"x": "ε′ (nats)", "y": "δ(ε′)", "title": f"ε = {epsilon:g}", "notes": {(epsilon, 1.3e-5): "claimed ε"}}
    limits = {"xlim": (0, 2 * epsilon), "ylim": (1e-5, 1.5)}
    panels.append(Panel(curves=curves, log="y", legend="lower left", **limits, **labels))
    for label, evidence in rows:
        loss = "∞" if np.isinf(evidence.epsilon) else f"{evidence.epsilon:.6f}"
        told = f"{evidence.delta:.4f}" if evidence.delta else "0"
        lines.append(
            f"| {epsilon:g} | {label} | {evidence.verdict} | {loss} | {told} | {evidence.total_variation:.4f} |"
        )
display(picture(*panels, size=(13, 5), share=True), Markdown("\n".join(lines)))

# %% [markdown]
# The black line is almost flat. No $\varepsilon'$ brings $\delta$ below the advantage of the event above, because no
# factor covers an output that one world cannot give. The two other curves reach 0 at the claimed $\varepsilon$, and
# their HOLDS is proved. The exact member is real noise on a grid. Snapping lies below it: it rounds to multiples of
# $\Lambda$, the next power of two above $\lambda$. So it reveals a little less, and its answers are coarser.
#
# ## float64: no law, but a verdict on every single output
#
# In float64 there are $2^{53}$ strings, too many to run. But for *one* output $y$ and a guess $f$, the noise $y - f$
# tells which uniforms could have produced it, up to a few neighbours. The attacker runs the mechanism's own arithmetic
# on these. If none of them gives $y$, then $y$ is impossible from $f$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
NAIVE64 = member("laplace-naive-float64")


def draws(value, epsilon, runs):
    bits = seeded_bits(SEED, "float64", f"{value}", f"{epsilon}")
    return NAIVE64.sample(value, LaplaceParameters(epsilon=epsilon), bits, runs)


print(f"noise of scale {1 / SMALL_EPSILON:g}; which one was f, 0 or 1?\n")
ANSWERS = {(True, False): "f = 0", (False, True): "f = 1", (True, True): "either", (False, False): "neither?"}
both_worlds = np.stack([draws(0.0, SMALL_EPSILON, 5), draws(1.0, SMALL_EPSILON, 5)], axis=1).ravel()
can = [reachable_from(value, SMALL_EPSILON, 52, "float64")(both_worlds).tolist() for value in (0.0, 1.0)]
for truth, output, *answer in zip([0, 1] * 5, both_worlds.tolist(), *can, strict=True):
    print(f"   {output:>24.17g}   the attack says: {ANSWERS[tuple(answer)]:<9} truth: f = {truth}")

# %% [markdown]
# If only one value is possible, the attacker guesses it. If both are, the attacker guesses the nearer one. The shares
# are **sampled**, so they have intervals (at 99 %, hardly wider than the dots).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
GRADES = tuple(sorted({0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, *EPSILONS}))
shares, excluded = [], 0
for epsilon in GRADES:
    attack, right = least_significant_bits(epsilon), 0
    runs = RUNS if epsilon in EPSILONS else RUNS // 10
    for value in (1.0, 0.0):
        outputs = draws(value, epsilon, runs)
        right += int((guesses_in(outputs, attack) == (value == 1)).sum())
        excluded += int((~reachable_from(value, epsilon, 52, "float64")(outputs)).sum()) if epsilon in EPSILONS else 0
    shares.append((right / (2 * runs), *clopper_pearson(right, 2 * runs, 0.005)))
    if epsilon in EPSILONS:
        allowed = (1 + Claim(epsilon).advantage_allowed) / 2
        print(f"ε = {epsilon:<6g} {shares[-1][0]:.2%} of {2 * runs:,} guesses right, where ε allows {allowed:.2%}")
print(f"the truth was excluded {excluded} times in {2 * RUNS * len(EPSILONS):,}")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
shares = np.array(shares)
finely = np.geomspace(GRADES[0] / 1.3, GRADES[-1] * 1.3, 200)
allowed = 100 * np.exp(finely) / (1 + np.exp(finely))
curves = {
    "what ε allows": (finely, allowed, "claim dashed"),
    "_allowed": (finely, (50, allowed), "claim band"),
    "the attack on naive float64": (GRADES, 100 * shares[:, 0], "black dots"),
    "_interval": (GRADES, 100 * shares[:, 1:].T, "black band"),
}
picture(Panel(curves=curves, log="x", ticks=GRADES, ylim=(48, 100), x="claimed ε (nats)", y="guesses right (%)"))

# %% [markdown]
# At $\varepsilon = 0.01$ a guess should be right in 50.25 % of the cases, almost like a fair coin. It is right in 90
# %, from *one* answer. More noise does not help: the dots do not come down.
#
# The attacker never excludes the truth, and this has a reason. The noise never grows when the uniform does, so the
# search cannot miss the uniform that was used. The count above confirms it.

# %% [markdown]
# ## Perfect noise does not help
#
# "Then make better noise." Suppose we have Laplace noise $n$ with its true distribution, rounded once to the nearest
# float64. The program computes $f + n$ in floats. Haney, Desfontaines, Hartman, Shrestha and Hay (2022) observed that
# $1 + n$ is *always* a multiple of $2^{-53}$, for every float $n$. But $0 + n = n$ is often no such multiple if $n$ is
# small. So an output off that grid proves $f = 0$. Its probability has a closed form:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
for epsilon in (EPSILON, EPSILON / 10):
    attack = grid_precision(epsilon)
    low, high = off_grid_probability(attack.parameters.scale)
    assert round(low, 12) == round(high, 12)
    print(f"ε = {epsilon:g}:   P(off the grid | f = 0) = {float(low):.4f} proved;  P(off the grid | f = 1) = 0 proved")
    for value in (0, 1):
        outputs = member("laplace-rounded").sample(value, attack.parameters, seeded_bits(SEED, f"{value}"), RUNS)
        seen = int(attack.event(outputs).sum())
        print(f"      sampled, f = {value}:  {seen:>6,} of {RUNS:,}, so the probability lies in ", end="")
        print("[{:.4f}, {:.4f}] at 99 %".format(*clopper_pearson(seen, RUNS, 0.005)))

# %% [markdown]
# The sum reveals the value. So better noise is no repair; the *last step* must change. Snapping rounds the sum to
# multiples of $\Lambda$. Exact noise adds whole steps of a grid that does not depend on $f$. (At $\varepsilon = 0.1$
# the advantage is 0.033, and the claim allows 0.050. The claim is broken all the same, because some outputs are
# possible in one world only.)

# %% [markdown]
# ## Exercises
#
# **1.** "The leak is in the last bits, so round them off." Round the outputs of naive float32 down to a grid $\gamma$.
# Is the advantage then within the claim? Is the mechanism private? What if you also clamp the outputs to $[-8, 8]$?
#
# **2.** Attack `numpy.random.Generator.laplace` itself. Its code draws a uniform $U = m\cdot 2^{-53}$ and returns
# $f - \lambda\ln(2 - U - U)$ where $U \ge \frac12$, and $f + \lambda\ln(U + U)$ below, in that order of
# operations. For an output, find about which $m$ it must have been, and try the neighbours.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# For the *advantage* a very fine grid is enough: at $\gamma = 2^{-16}$ it is 0.394, and 0.462 is allowed. But the loss
# stays infinite on any grid. The largest noise that 24 bits can make is $24\ln 2\,\lambda = 16.6\,\lambda$, and beyond
# it there are outputs that only one world can give. Clamping removes these ends. On a fine grid some cells still have
# no string. On a coarse grid the loss is finite, and a little above the claim, because a rare output has few strings,
# and their number is whole.
#
# **Rounding alone does not make a mechanism private.** The snapping mechanism rounds, clamps, uses uniforms with
# enough bits, and has a larger scale $\lambda$ for what remains.
#
# ```python
# from subnormal.mechanisms.core.law import exact_law
#
# FINEST, LIMIT = -16, 8
#
#
# def down(outputs, grid):
#     """Outputs rounded down to multiples of 2^grid: exact in floats."""
#     return np.ldexp(np.floor(np.ldexp(outputs, -grid)), grid)
#
#
# def merged(outputs, strings):
#     """Add up the strings of equal neighbours."""
#     first = np.flatnonzero(np.append(True, outputs[1:] != outputs[:-1]))
#     return outputs[first], np.add.reduceat(strings, first)
#
#
# def on_finest_grid(law):
#     return merged(down(np.asarray(law.atoms), FINEST), np.repeat(law.low, law.counts()))
#
#
# def rounded_law(outputs, strings, grid, limit=np.inf):
#     """The law of the rounded and clamped outputs: integers, over the same 2^25 strings."""
#     outputs, strings = merged(np.clip(down(outputs, grid), -limit, limit), strings)
#     return exact_law(outputs, np.arange(1, len(outputs) + 1), strings, 2 << BITS)
#
#
# fine = [on_finest_grid(law_of(value)) for value in (1.0, 0.0)]
# print(f"naive float32, ε = {EPSILON:g}, allowed advantage {Claim(EPSILON).advantage_allowed:.4f}\n")
# print(f"grid    best event  {'rounded: loss, δ at ε':<25}clamped too: loss, δ at ε")
# for grid in range(FINEST, 1, 4):
#     rounded, clamped = (
#         exact.compare(*(rounded_law(*one, grid, limit) for one in fine), Claim(EPSILON)) for limit in (np.inf, LIMIT)
#     )
#     losses = (f"{evidence.epsilon:<10.6g}{evidence.delta:<15.1e}" for evidence in (rounded, clamped))
#     print(f"2^{grid:<6}{rounded.total_variation:<12.4f}{''.join(losses)}")
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# From the noise $y - f$: $U \approx \frac12 e^{-|y-f|/\lambda}$ where it is negative, and 1 minus that where it is
# positive. Eight neighbours on either side are enough. It is right in about nine cases of ten, at either
# $\varepsilon$. (Here the attacker rarely excludes the truth: the generator calls the logarithm of the C library,
# numpy's arrays use another one, and the two sometimes differ in the last bit. Other builds may differ too. So this
# attack is no proof, but it does not need to be one.)
#
# ```python
# def numpy_output(m, value, scale):
#     uniform = m * 2.0**-53
#     with np.errstate(all="ignore"):
#         upper, lower = value - scale * np.log(2.0 - uniform - uniform), value + scale * np.log(uniform + uniform)
#     return np.where(uniform >= 0.5, upper, lower)
#
#
# def numpy_can_give(outputs, value, scale):
#     tail = np.exp(-np.abs(outputs - value) / scale) / 2
#     m = np.rint(np.where(outputs < value, tail, 1 - tail) * 2.0**53)
#     return np.any([numpy_output(m + step, value, scale) == outputs for step in range(-8, 9)], axis=0)
#
#
# generator = np.random.default_rng(SEED)
# for epsilon in EPSILONS:
#     right = excluded = 0
#     for value in (0.0, 1.0):
#         outputs = generator.laplace(value, 1 / epsilon, RUNS)
#         from_0, from_1 = (numpy_can_give(outputs, one, 1 / epsilon) for one in (0.0, 1.0))
#         guess = np.where(from_0 == from_1, outputs > 0.5, from_1)
#         right, excluded = right + int((guess == value).sum()), excluded + int((~(from_1 if value else from_0)).sum())
#     share, low, high = right / (2 * RUNS), *clopper_pearson(right, 2 * RUNS, 0.005)
#     print(f"numpy, ε = {epsilon:g}: {share:.1%} of the guesses right ([{low:.1%}, {high:.1%}] at 99 %), ", end="")
#     print(f"allowed {(1 + Claim(epsilon).advantage_allowed) / 2:.2%}; truth excluded in {excluded / (2 * RUNS):.2%}")
# ```
#
# </details>
