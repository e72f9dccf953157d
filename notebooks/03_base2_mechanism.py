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
# # The base-2 mechanism: no rounding error anywhere
#
# **Claim.** A selection by the exponential mechanism can be *exact*: each probability of the program is the fraction
# in the proof, so what is proved holds for the program.
#
# **Mechanism.** Ilvento (2020) changes the base of the exponential. Outcome $o$ is chosen with probability
# proportional to $2^{-\eta u(o)}$, where $2^{-\eta}$ is a fraction whose denominator is a power of two. It is
# $2\Delta\eta\ln 2$-differentially private.
#
# **You will see** the cells of a draw without division, every string of bits tried, and three attacks that break
# floats and not this mechanism. **To present: 12 minutes.**

# %% [markdown]
# ## Change me

# %%
import numpy as np

from subnormal.mechanisms.privacy import Eta

EPSILON = 0.5  # the budget, in nats
OUTCOMES = 100  # k, in the attacks at the end
FLOAT_TYPE = np.float64  # of the naive twin that is attacked beside the base-2 mechanism; or np.float32, np.float16
RUNS = 100_000  # draws of the naive twin in each world (a base-2 draw is dear: 4,000 at most)
ETA = Eta(3, 2, 1)  # x, y, z: the rate in the small examples (keep y·z small: every bit string is tried)
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction

from IPython.display import Markdown, display

from explore import explore
from subnormal.attacks.exponential.rounded_addition import rounded_addition
from subnormal.attacks.exponential.truncated_addition import truncated_addition
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.evidence import exhaustive
from subnormal.audit.report.table import to_markdown
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.families import member
from subnormal.mechanisms.numerics.mpfr import InexactError, ceiling_log2, cumulative, exact, fraction
from subnormal.mechanisms.privacy import selection_claim
from subnormal.mechanisms.samplers import normalized
from subnormal.plots import Panel, cells, picture, side_by_side

TITLES = ["mechanism", "claimed ε", "loss ε", "δ at ε", "advantage", "allowed", "exact"]

# %% [markdown]
# ## A rate whose powers are exact
#
# Choose integers $x < 2^y$ and $z$, and let
# $$\eta = -z \log_2 \frac{x}{2^y}, \qquad\text{so that}\qquad B = 2^{-\eta} = \left(\frac{x}{2^y}\right)^z.$$
# Then $2^{-\eta u} = B^u = x^{zu}/2^{yzu}$ is an integer over a power of two for every whole $u \ge 0$: a *dyadic*
# number, with finitely many binary digits. $\eta$ itself is usually irrational, but no program needs it.

# %%
print(f"η = {ETA.bits:.6f} bits per unit of utility,  B = {ETA.base}")
for u in range(7):
    print(f"B^{u} = {ETA.base**u!s:>10}    numerator in binary: {(ETA.base**u).numerator:b}")

# %% [markdown]
# ## Sampling without division
#
# A division by the total $T$ would round. Algorithm 2 of the paper avoids it. Let $2^k$ be the least power of two with
# $2^k \ge T$. Draw $p$ random bits as a point $s \in [0, 2^k)$. If $s \ge T$, try again. Otherwise return the outcome
# whose cell contains $s$. The cells are the exact weights, so each outcome has exactly its probability.
#
# Here are four outcomes, numbered 0 to 3, in two adjacent worlds with utilities $(0, 1, 1, 3)$ and $(0, 0, 0, 2)$.
# Move the sliders. A small budget needs a $B$ near 1, which has more binary digits. The second slider adds digits to
# the fewest that are enough. A division is never needed.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
WORLDS = {"with Alice": np.array([0, 1, 1, 3]), "without": np.array([0, 0, 0, 2])}


def sums_of(eta):
    """The running sums of both worlds, and how many bits they need."""
    bits = 3 * eta.y * eta.z + 2  # a sum up to 4 of weights down to B^3
    with exact(bits):
        return {name: cumulative(base2.weights(world, eta, bits)) for name, world in WORLDS.items()}, bits


def cells_of(epsilon, more_digits):
    """Four outcomes in both worlds, as cells: the largest rate that keeps the budget, of the fewest digits or more."""
    fewest = int(np.ceil(-np.log2(-np.expm1(-epsilon / 2))))  # the least y with e^(−ε/2) ≤ 1 − 2^−y
    eta = Eta.from_epsilon(epsilon / 2, fewest + more_digits)
    rows = {}
    for (name, sums), colour in zip(sums_of(eta)[0].items(), ("in", "out"), strict=True):
        ends = [0.0, *map(float, sums)]
        rows[name] = [(*ends[o : o + 2], f"{o}", colour) for o in range(4)]
        rows[name].append((ends[-1], float(2 ** ceiling_log2(sums[-1])), "try again", ""))
    return cells(rows, f"s, uniform on [0, $2^k$);  B = {eta.base},  ε = {selection_claim(eta).epsilon:.3f}", (11, 3))


# %%
explore(cells_of, epsilon=(0.6, [0.1, 0.25, 0.5, 0.6, 1, 1.4, 2, 3]), more_digits=(0, [0, 1, 2, 4, 8, 14]))

# %% [markdown]
# (Algorithm 4 of the paper treats "try again" as an outcome ⊥ of weight $2^k - T$. Some notes about the paper, on the
# web, also use this number as the running sum of ⊥. That sum must be $2^k$: otherwise no point beyond $T$ has a cell.)

# %% [markdown]
# ### Every bit string
#
# A sample can only suggest that the code is right. These examples are small, so we can run the sampler on **every**
# string of random bits that is long enough for two tries. Strings that are rejected twice stay unresolved. So the
# results are bounds, $\text{lower} \le \Pr \le \text{lower} + \text{unresolved}$. Every further try is like the first
# one, so the true law is the law of a single try, given that it is accepted. If "try again" is one more outcome, a
# single try is always decided, and under this condition its law has exactly the fractions of the formula.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
SUMS, bits_a_try = sums_of(ETA)
depth = 2 * bits_a_try
for name, sums in SUMS.items():
    walked = exhaustive.law(lambda bits, sums=sums: normalized.all_bits(sums, bits, bits_a_try, 1)[0], depth)
    padded = [*sums, type(sums[-1])(2 ** ceiling_log2(sums[-1]))]  # the last outcome is "try again"
    accepted = exhaustive.law(
        lambda bits, sums=padded: normalized.all_bits(sums, bits, bits_a_try, 1)[0],
        bits_a_try,
        condition=lambda outcome: outcome < 4,
    )
    formula = base2.law(WORLDS[name], ETA)
    print(f"{name}: {2**depth:,} strings of {depth} bits, unresolved {walked.rest} = {float(walked.rest):.4f}")
    for outcome in range(4):
        (lower, _), (law, _) = walked.probability(outcome), formula.probability(outcome)
        assert lower <= law <= lower + walked.rest
        print(f"   outcome {outcome}:  {float(lower):.5f} ≤ {law!s:>7} = {float(law):.5f}", end="")
        exactly = accepted.probability(outcome)
        print(f" ≤ {float(lower + walked.rest):.5f}    given that it is accepted == law: {exactly == (law, law)}")

# %% [markdown]
# ### What the outcome does not say
#
# The *outcome* has the right law. But the two worlds reject points with different probabilities: look at the hatched
# areas. An attacker who counts the random bits, or measures the time, learns the number of tries:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
panels = []
for minimum in (1, 2):
    curves = {}
    for look, (name, sums) in zip(("in bars", "out bars"), SUMS.items(), strict=True):

        def draw(bits, sums=sums, minimum=minimum):
            return normalized.all_bits(sums, bits, bits_a_try, 1, minimum)[0]

        consumed = exhaustive.bits_consumed(draw, depth)
        chances = [float(consumed.probability(tries * bits_a_try)[0]) for tries in (1, 2)] + [float(consumed.rest)]
        curves[name] = range(3), chances, look
    title, ticks = f"at least {minimum} {'try' if minimum == 1 else 'tries'}", {0: "1 try", 1: "2 tries", 2: "more"}
    panels.append(Panel(curves=curves, title=title, ticks=ticks, numbers="{:.3f}", x="", y="probability"))
picture(*panels, share=True)

# %% [markdown]
# After $t$ rejected tries the likelihood ratio is $(69/28)^t$. It has no bound, so the loss is infinite: a side
# channel. The paper's solution is to make at least $K$ tries always, and to keep the first accepted one. Then the
# number of tries depends on the data with probability at most $2^{-K}$. On the right, $K = 2$: only the last pair of
# bars differs.
#
# (The same notes print this loop, with $c$ tries made, as *while $s \ge T$ and $c < K$*. It ends with the first
# accepted point, or after $K$ tries without one. The right condition is: while no point is accepted yet, *or* $c <
# K$.)

# %% [markdown]
# ## How many digits it needs

# %% [markdown]
# The digits of a weight grow with $u$, by at most $z\,b_x$ bits for each step ($b_x$ is the number of bits of $x$). A
# float has 53 bits, so from some power on it rounds:

# %%
first = next(u for u in range(1, 1000) if Fraction(float(ETA.base) ** u) != ETA.base**u)
print(f"in binary64, B^{first} is the first power that is not exact")

# %% [markdown]
# ### Nats and bits: from ε to η
#
# A budget is given as $\varepsilon$, and the mechanism needs $x, y, z$. Each unit of utility may cost $\eta\ln 2 \le
# \varepsilon/(2\Delta)$, that is $B \ge e^{-\varepsilon/(2\Delta)}$. So $x$ is that number rounded **up** to $y$
# binary digits, and the mechanism never overspends the budget. With more digits it wastes less of it.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
print(f"{'y':>4} {'x':>12} {'promised 2Δη ln 2':>20} {'of the budget unused':>22}")
for resolution in (3, 4, 8, 16, 32):
    eta = Eta.from_epsilon(EPSILON / 2, resolution)
    promised = selection_claim(eta).epsilon
    print(f"{eta.y:>4} {eta.x:>12} {promised:>20.15f} {1 - promised / EPSILON:>22.1e}")

# %% [markdown]
# ### Exact or not at all
#
# The program computes with MPFR at a working precision of $p$ bits, with a *trap*: if a result does not fit, the
# operation raises an error instead of rounding. So no rounding error stays unnoticed. (An error is an outcome too, and
# could leak. So $p$ is fixed beforehand, from public values only, and is large enough for all possible data.)

# %%
powers = np.arange(12)
for precision in (16, 24):
    try:
        last = base2.weights(powers, ETA, precision)[-1]
        print(f"p = {precision}: B^{powers[-1]} = {fraction(last)}, exactly")
    except InexactError as error:
        print(f"p = {precision}: InexactError: {error}")

# %% [markdown]
# How many bits are enough? The mechanism adds weights and draws from their sum. There are two ways to choose $p$:
#
# - **theoretical**, by a formula: with utilities in $[0, u_{\max}]$ and at most $o_{\max}$ outcomes,
#   $p = (u_{\max} + 1)\cdot z\,(y + b_x) + o_{\max}$;
# - **empirical**, by trial: double $p$ until the largest possible sums raise no error. This uses only public bounds,
#   no data.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
u_max = np.unique(np.geomspace(1, 600, 60).astype(int))
curves = {}
for eta, colour in ((ETA, "black"), (Eta.from_epsilon(EPSILON / 2, 8), "grey")):
    for method, form in (("theoretical", "dashed"), ("empirical", "stairs")):
        needed = [base2.working_precision(eta, Limits(0, int(u), 16), method) for u in u_max]
        curves[f"{method}, B = {eta.x}/$2^{{{eta.y}}}$"] = u_max, needed, f"{colour} {form}"
curves["_binary64"] = None, 53, "claim dotted"
labels = {"x": "largest utility $u_{max}$  (16 outcomes)", "y": "working precision p (bits)"}
picture(Panel(curves=curves, notes={(50, 53): "binary64: 53 bits"}, log="xy", ticks=(1, 10, 100, 600), **labels))

# %% [markdown]
# ## Utilities that are not whole
#
# $2^{-\eta u}$ is dyadic for whole $u$ only. The program rounds a real utility at random: up with probability $u -
# \lfloor u\rfloor$, else down, so that it is right on average. For each fixed outcome of these coins, two utilities at
# most 1 apart become integers at most 1 apart, so the claim stays the same. Only the accuracy changes: every
# probability is within a factor of $2^{\pm 2\eta}$ of the unrounded one. The exact law is the mixture over all
# roundings:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
steep, real = Eta(1, 2, 1), np.array([0.5, 1.0, 1.5, 2.25])
rounded = [float(base2.law(real, steep).probability(outcome)[0]) for outcome in range(4)]
unrounded = float(steep.base) ** real / np.sum(float(steep.base) ** real)
draws = base2.sample(real, steep, seeded_bits(SEED), 4000, limits=Limits(0, 3, 4))
curves = {
    "unrounded, on paper": (range(4), unrounded, "pale bars"),
    "rounded at random: the law": (range(4), rounded, "black hollow bars"),
    "4,000 draws": (np.arange(4) + 0.2, np.bincount(draws, minlength=4) / len(draws), "black dots"),
}
ticks = {at: f"u = {u:g}" for at, u in enumerate(real)}
display(picture(Panel(curves=curves, ticks=ticks, x="", y="probability")))
print("rounded / unrounded:", *(f"{one / other:.3f}" for one, other in zip(rounded, unrounded, strict=True)))
print(f"allowed: between {2 ** (-2 * steep.bits):g} and {2 ** (2 * steep.bits):g}")

# %% [markdown]
# ## The attacks
#
# We run zero rounding, truncated addition and rounded addition, each against the naive float mechanism and against
# base 2. Both laws are known exactly, and the program compares them as rational numbers. The draws only illustrate
# them.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
FORCED = {np.float64: 37.0, np.float32: 17.0, np.float16: 8.0}[FLOAT_TYPE]  # where truncated addition is easy to see
attacks = (
    zero_rounding(EPSILON, OUTCOMES, FLOAT_TYPE),
    truncated_addition(FORCED, 1000, FLOAT_TYPE),
    rounded_addition(0.02, 1 + 1024, np.float16),
)
rows = []
for attack in attacks:
    pair = [Crossing(attack, member(name)) for name in (attack.breaks[0], "exponential-base2")]
    rows.append([examine(one, seed=SEED, runs=RUNS, alpha=0.05) for one in pair])

# %%
display(Markdown(to_markdown([row for pair in rows for row in pair], ["attack", *TITLES])))
display(*(side_by_side(pair, title=pair[0].attack.split("@")[0]) for pair in rows))

# %% [markdown]
# On the left, with Alice (blue) only outcome 0 is possible, a single point. On the right, both worlds can reach the
# same outcomes. The next figure shows how much privacy is lost: the $\delta$ that an $(\varepsilon, \delta)$ claim
# needs for this pair, at each $\varepsilon$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
panels = []
for naive, twin in rows:
    curves = {
        naive.mechanism.removeprefix("exponential-"): (*naive.sketch.curve, "grey dashed"),
        twin.mechanism.removeprefix("exponential-"): (*twin.sketch.curve, "black line"),
        "claimed": ([naive.claim.epsilon], [naive.claim.delta], "claim rings"),
    }
    title = naive.attack.split("@")[0]
    panels.append(Panel(curves=curves, title=title, x="ε (nats)", y="δ that the pair needs at ε", ylim=(-0.05, 1.05)))
picture(*panels, size=(13, 4.2), share=True)

# %% [markdown]
# In all three panels the black curve reaches 0 before the claim. The dashed grey curve never reaches 0: no
# $\varepsilon$ covers an impossible outcome.
#
# HOLDS is about these three pairs of worlds. A theorem says that *every* pair holds. The theorem is about this
# program, because the program has exactly the probabilities of the theorem. This is why it must be exact.

# %% [markdown]
# ## Exercises
#
# **1.** The simplest rate is $B = \frac12$, `Eta(1, 1, 1)`. What does a selection at this rate promise ($\Delta =
# 1$)? For $\varepsilon = 0.5$, how many binary digits $y$ must $B = x/2^y$ have to waste less than 1 % of the budget?
#
# **2.** Somebody wants to save bits and gives each try of Algorithm 2 two bits fewer than it needs. If the bits leave
# more than one outcome possible, the sampler raises an error. How often does it, in each of the two small worlds? Is
# that private?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# $\eta = 1$ promises $2\ln 2 = 1.386$ nats: an outcome with one complaint fewer is twice as likely, and one person can
# change both outcomes of a ratio. For $\varepsilon = 0.5$ we need the least $x$ with $x/2^y \ge e^{-1/4} = 0.7788$.
# Nine digits, $B = 399/512$, waste 0.25 %; eight waste 1.3 %, because $200/256 = 25/32$ is no better than what five
# digits had.
#
# ```python
# print(f"Eta(1, 1, 1): ε = {selection_claim(Eta(1, 1, 1)).epsilon:.4f}")
# for y in range(3, 13):
#     eta = Eta.from_epsilon(0.25, resolution=y)
#     print(f"y = {y:>2}   x = {eta.x:>4}   unused: {1 - selection_claim(eta).epsilon / 0.5:.3%}")
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# With 6 bits instead of 8 the unit is $4/2^6 = 1/16$. With Alice the total is $187/64 = 46.75/16$: the point $s =
# 46/16$ is accepted, but with further bits it might lie beyond the total, so the sampler raises an error. Without her
# all sums are whole sixteenths, and it never does. So one error proves that Alice is there, and the loss is infinite.
# This is the "refuse" repair of notebook 01 again. The number of bits must follow from public bounds.
#
# ```python
# for name, sums in SUMS.items():
#     few = bits_a_try - 2
#     walked = exhaustive.law(lambda bits, sums=sums, few=few: normalized.all_bits(sums, bits, few, 1)[0], 2 * few)
#     refusals = sum(float(walked.probability(atom)[0]) for atom in walked.atoms if not isinstance(atom, int))
#     print(f"{name:<10}  refuses with probability {refusals:.4f} within two tries")
# ```
#
# </details>
