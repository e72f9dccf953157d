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
# # Side channels
#
# **Claim.** A mechanism can be private to the last bit of its *outcome*, and still reveal everything by its running
# time, its number of random bits, or its number of tries.
#
# **Mechanism.** Ilvento's selection draws a candidate and tries again when it is rejected. Apply the claim to the
# pair (outcome, tries): its exact law decides. Time can only be measured.
#
# **You will see** how the number of tries or of random bits proves the world, how a loop reveals its noise, and what a
# clock can and cannot show. **To present: 12 minutes.**

# %% [markdown]
# ## Change me
#
# The times below were measured on the machine that ran this notebook last, and differ in every run. Everything else is
# exact.

# %%
SEED = 1  # governs draws, and the order of measurements
SECONDS = 1.5  # for each row that a clock decides
MINIMA = (1, 2, 4, 8, 10, 16, 32)  # tries, at least

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math
import sys
from fractions import Fraction

import numpy as np
from IPython.display import Image, Markdown, display

from explore import explore
from subnormal.attacks.side_channels.geometric_trials import geometric_trials
from subnormal.attacks.side_channels.rejection_time import rejection_time
from subnormal.attacks.side_channels.subnormal_time import subnormal_time
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import examine
from subnormal.audit.evidence import exact, exhaustive, side_channels, timing
from subnormal.audit.model import Verdict
from subnormal.audit.report.table import to_markdown
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import image
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.families import member
from subnormal.mechanisms.privacy import Eta
from subnormal.plots import Panel, picture, side_by_side

sys.path.insert(0, "..")  # the benchmarks are in the folder above
from benchmarks.figures import curves, figures


def bars(law_in, law_out, labels, values, **words):
    """Both worlds' laws of a count, side by side."""
    series = {}
    for law, look, label in ((law_in, "in bars", labels[0]), (law_out, "out bars", labels[1])):
        series[label] = values, [float(law.probability(value)[0]) for value in values], look
    limits = {"xlim": (min(values) - 1, max(values) + 1), "ylim": (0, 1.4)}  # room for the legend
    return Panel(curves=series, ticks=values, y="probability", **limits, **words)


# %% [markdown]
# **The question.** A claim of $\varepsilon$-differential privacy is about *outcomes*. An attacker who waits for the
# outcome sees more. Apply the claim to the pair (outcome, what was seen). Is
# $$\Pr_{\text{in}}[E] \le e^{\varepsilon}\,\Pr_{\text{out}}[E]$$
# for every event $E$ about the *pair*?
#
# **Two kinds of channel.** Tries, bits and passes of a loop can be *counted*. Then we can compute the law of the pair,
# like the law of outcomes. Time can only be *measured*, on a machine that also does other things.

# %% [markdown]
# ## 1. Tries
#
# Ilvento's mechanism chooses an index with probability exactly $w_i/T$, without ever dividing (her Algorithm 2): take
# $2^k \ge T$, draw a candidate below $2^k$, and **try again** where it is not below $T$.
#
# Her Figure 9: 256 outcomes, $\eta = 1$. With Alice all utilities are 1, so $T = 256/2 = 128$, a power of two, and no
# candidate is ever rejected. Without her one utility is 0: $T = 128.5$, candidates come from $[0, 256)$, and each is
# accepted with probability $p = 257/512$. The outcomes reveal almost nothing. What do the tries reveal?


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def tries_of(outcomes, eta, minimum):
    """The law of the number of tries: all utilities 1 with Alice, one of them 0 without her, k tries at least."""
    series, counts = {}, range(1, 13)
    weights = {"with Alice": outcomes / 2**eta, "without": (outcomes - 1) / 2**eta + 1}
    for (name, weight), look in zip(weights.items(), ("in bars", "out bars"), strict=True):
        power = 2 ** math.ceil(math.log2(weight))
        miss = 1 - weight / power
        law = [(1 - miss) * miss ** (k - 1) if k > minimum else (k == minimum) * (1 - miss**k) for k in counts]
        series[f"{name}: T = {weight:g} of {power}"] = counts, law, look
    title = f"ε = {2 * eta * math.log(2):.3f}, at least k = {minimum}"
    return picture(Panel(curves=series, ticks=counts, title=title, x="tries", y="probability"))


# %%
explore(tries_of, outcomes=(256, [16, 64, 256, 1024]), eta=(1, [0.25, 0.5, 1, 2]), minimum=(1, [1, 2, 4, 8, 10]))

# %% [markdown]
# The law of the pair decides, in fractions:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
rejection = rejection_time()
by_tries = side_channels.traced(member("exponential-base2"), "tries")
pairs = [by_tries.law(data, rejection.parameters) for data in rejection.worlds()]
tries = [image(law, lambda pair: pair[1]) for law in pairs]
miss = Fraction(255, 512)
assert all(tries[1].probability(k)[0] == (1 - miss) * miss ** (k - 1) for k in range(1, 9))  # the picture's formula


claim = by_tries.claim(rejection.parameters, *rejection.worlds())
found = exact.compare(*pairs, claim)
advantage = tries[0].probability(1)[0] - tries[1].probability(1)[0]
assert advantage == Fraction(255, 512) == curves.tries_advantage(1)
assert found.verdict is Verdict.VIOLATED
print(f"advantage of an attacker who counts tries: {advantage} = {float(advantage):.4f}")
print(f"the claim, ε = {claim.epsilon:.4f}, would allow {claim.advantage_allowed:.4f}; but the loss is {found.epsilon}")

# %% [markdown]
# A second try *proves* that Alice is not there, and no budget covers a proof. The size of the advantage does not
# matter for the verdict.
#
# **A small budget does not help.** Take two outcomes with utilities $(m, m)$ or $(m-1, m)$, and choose $m$ so that
# $2B^m$ lies just below 1. Then one total is just below a power of two, and the other just above it:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
tiny = Eta((1 << 15) - 1, 15, 1)
base, m = tiny.base, 22_713
assert 2 * base**m <= 1 < 2 * base ** (m - 1)
totals = 2 * base**m, base ** (m - 1) + base**m
assert 1 < totals[1] < 2
rejected = [1 - total / 2**power for total, power in zip(totals, (0, 1), strict=True)]
print(f"ε = 2η·ln 2 = {2 * tiny.nats:.2g}: outcomes tell at most {math.tanh(tiny.nats):.1e}")
print(f"rejected with probability {float(rejected[0]):.6f} or {float(rejected[1]):.6f}")
print(f"advantage of an attacker who counts tries: {float(rejected[1] - rejected[0]):.5f}")
assert 0.49998 < rejected[1] - rejected[0] < 0.5

# %% [markdown]
# ## 2. At least $k$ tries
#
# The repair (Proposition 3.8): always make $k$ tries, keep the first candidate that was accepted. The count tells
# something only if all $k$ were rejected, with probability $(1-p)^k$: below 0.001 from $k = 10$ on. It costs time.
# Left: the advantage of an attacker who counts, exactly. Right: the processor time of the same draws (medians and
# quartiles), as in Figure 9.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
plan = curves.PLANS[-1]
measured = figures.measure(plan, rounds=7, seed=SEED)
for minimum in MINIMA:
    print(f"k = {minimum:>2}: advantage {float(curves.tries_advantage(minimum)):.2e}")
assert curves.tries_advantage(10) < Fraction(1, 1000) < curves.tries_advantage(9)
Image(figures.to_png(measured))

# %% [markdown]
# The right side needs many measurements to show what the left side proves. So count what can be counted. Another
# repair is a sampler **without rejection**: `exponential-exact` decides with one word, and needs another one with
# probability below $256 \cdot 2^{-64}$, for all data.
#
# ## 3. Bits
#
# Algorithm 4 draws one bit at a time and stops as soon as only one outcome is possible. It saves bits, and the number
# of bits reveals how concentrated the weights are. Here are two worlds of the *same* total weight. The code runs on
# every string of bits:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
FLAT, STEEP, ETA = np.array([1, 1, 1, 1]), np.array([0, 1, 2, 2]), Eta(1, 1, 1)
LIMITS = Limits(0, 2, 4)


def walked(data, sampler):
    """The law of the bits of one draw."""

    def draw(bits):
        return int(base2.sample(data, ETA, bits, 1, limits=LIMITS, sampler=sampler)[0])

    return exhaustive.bits_consumed(draw, depth=base2.working_precision(ETA, LIMITS))


panels = []
for sampler in ("bit-by-bit", "all-bits"):
    laws = walked(FLAT, sampler), walked(STEEP, sampler)
    values = sorted({*laws[0].atoms, *laws[1].atoms})
    panels.append(bars(*laws, ("weights ½, ½, ½, ½", "weights 1, ½, ¼, ¼"), values, title=sampler, x="bits"))
    difference = sum(abs(laws[0].probability(one)[0] - laws[1].probability(one)[0]) for one in values) / 2
    print(f"{sampler}: bits {values}, advantage {difference}")
    assert difference == (Fraction(3, 4) if sampler == "bit-by-bit" else 0)
picture(*panels, size=(13, 4), share=True)

# %% [markdown]
# Taking all bits at once needs more random bits, and their number reveals nothing.
#
# ## 4. Trials that reveal the noise
#
# A textbook makes noise like this: toss coins until one fails. The number of tosses is the magnitude of the noise, and
# one more coin is its sign. An attacker who counts the passes of this loop (a clock does, roughly) subtracts. With the
# output $o$ and $s$ passes, the true value is $o - (s-1)\gamma$ or $o + (s-1)\gamma$ (Jin et al. 2021).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
counting = geometric_trials()
grid = 2.0**counting.parameters.grid
panels = []
for name in ("laplace-textbook", "laplace-exact"):
    by_steps, series = side_channels.traced(member(name), "steps"), {}
    for data, look, world in zip(counting.worlds(), ("in dots", "out crosses"), ("in", "out"), strict=True):
        drawn = by_steps.sample(data, counting.parameters, seeded_bits(SEED, name, world), 300)
        outputs, steps = np.array(drawn, dtype=float).T
        series[f"{world}: the count is {data}"] = outputs, steps, look
        if name == "laplace-textbook":
            told = np.mean(np.abs(outputs - data) == (steps - 1) * grid)
            print(f"{world}: output and steps leave two values, one of them the truth, in {told:.0%} of the draws")
            assert told > 0.9
        else:
            assert len(set(steps)) == 1
    limits = {"xlim": (-12, 13), "ylim": (0, 15) if name == "laplace-textbook" else (None, None)}
    panels.append(Panel(curves=series, title=name, x="output", y="passes of the loop", **limits))
picture(*panels, size=(13, 4.4))

# %% [markdown]
# Each world has its own V, and a point on a V proves the world. (Points above a V are draws of $-0$, which the program
# draws again.) At $\varepsilon = 0.1$ the outputs alone reveal almost nothing. On the right is the same noise from the
# exact mechanism, which makes no trials: one uniform, inverted, whatever the noise is.
#
# ## 5. Time
#
# A processor may need more time for some *numbers*. Floats below $2^{-1022}$ are *subnormal*, and many processors
# handle them slowly (Andrysco et al. 2015). Take naive weights for 100,000 outcomes at $\varepsilon = 1$. In one world
# all utilities are 1416, so every weight is $e^{-708}$, a normal float. In the other all are 1417, so every weight is
# $e^{-708.5}$, a subnormal float. The law of outcomes is uniform in both worlds.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
subnormal = subnormal_time()
rows = [
    examine(Crossing(subnormal, member(name)), seed=SEED, runs=2_000, alpha=0.01, seconds=SECONDS)
    for name in ("exponential-naive-float64", "exponential-exact")
]
for row in rows:
    shown = row.timing
    print(f"{row.mechanism}: {shown.measurements} measurements, ratio of medians", end=" ")
    print(f"{shown.median_in / shown.median_out:.3f}, 95 % within [{shown.ratio[0]:.3f}, {shown.ratio[1]:.3f}]")

# %%
side_by_side(rows, "100,000 outcomes, all of one utility")

# %%
Markdown(to_markdown(rows))

# %% [markdown]
# If the first ratio is near 1, this processor is not slow on subnormal floats. If it is far above 1, **one** draw
# tells the worlds apart, better than a claim for the pair (outcome, time) would allow.
#
# **How a clock can mislead.** Here is equal code on a machine where every second call takes longer, because of what
# the call before left in the caches. If we measure in turn, in, out, in, out, this looks like a leak. So we toss a
# coin for the world of each measurement.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
class EveryOther:
    """A clock, and code that takes no notice of its data."""

    def __init__(self):
        self.now, self.calls, self.noise = 0, 0, np.random.default_rng(SEED)

    def draw(self, data):
        self.calls += 1
        self.now += 10_000 + 300 * (self.calls % 2) + int(self.noise.integers(500))


def under(coins):
    machine = EveryOther()
    times = timing.measure(machine.draw, (1, 0), coins, 2_000, clock=lambda: machine.now)
    return timing.judge(times, claim, alpha=0.01, seed=SEED)


class InTurn:
    """No coin at all."""

    def words(self, count, width):
        return np.arange(count) % 2


for order, coins in (("in turn", InTurn()), ("by coins", seeded_bits(SEED))):
    shown = under(coins)
    print(f"{order}: worlds differ: {shown.detected}, p = {shown.sign_p:.1g}")
    assert shown.detected is (order == "in turn")

# %% [markdown]
# With our own coins one statement is exact, whatever the machine does: *if the data do not matter, then among two
# measurements in a row with different worlds, a fair coin decides which one is `in`*. So the number of pairs in which
# `in` was slower is binomial. The test stays right if times drift, depend on each other, or come in bursts. (Welch's
# t, which `dudect` uses, assumes independent measurements. A report shows it, and no verdict depends on it.)
#
# ## 6. What a clock can show, and what it cannot
#
# Here are the two worlds of Figure 9 again, now with a clock:

# %%
rows = [
    examine(Crossing(rejection, member(name)), seed=SEED, runs=20_000, alpha=0.01, seconds=SECONDS)
    for name in ("exponential-base2", "exponential-base2-ten-tries", "exponential-exact")
]
display(Markdown(to_markdown(rows, ["mechanism", "time in/out", "worlds differ", "needed", "runs"])))

# %% [markdown]
# Read a row from the left.
#
# - **time in/out** is the ratio of the medians, with its interval at 95 %.
# - **worlds differ** is no verdict. If the claim allows a difference, it is not a violation, and sound mechanisms may
#   differ.
# - **needed** is how many measurements an attacker needs to see the difference with an error of one in twenty. "over
#   1,000" means that 1,000 are too few, and that it is unknown whether any number is enough.
#
# **No row has a verdict.** A bet against the claim asks whether some threshold on the time is too likely in one world.
# The bet is fair whatever the times depend on. But it may win in one run of the notebook and lose in the next,
# depending on how long we measure and what else the machine does. The results that repeat are those that can be
# counted: the tries of section 1.
#
# **No row says that nothing leaks.** A network adds noise, but more measurements remove it. A cache, a branch
# predictor or a power line can serve as a clock too. Ten tries hide the *number* of tries. The comparisons, the
# weights and their sums still take time that may depend on the data. The solution is work that does not depend on the
# data, and a channel that can be counted, so that this can be proved.

# %% [markdown]
# ## Exercises
#
# **1.** How many tries must the mechanism make at least, so that counting them in Figure 9 has an advantage below
# $2^{-40}$? And with the two outcomes at $\varepsilon = 6.1 \cdot 10^{-5}$?
#
# **2.** A draw takes 30 µs in one world and 30.1 µs in the other, and the machine's noise has a standard deviation of
# 1 µs. In what share of pairs is the second world slower? How many measurements does the attacker need?

# %% [markdown]
# <details><summary><b>Solutions</b></summary>
#
# 1: $(255/512)^k < 2^{-40}$ from $k = 40$ on. The probability of a rejection is just below one half, and with two
# outcomes it is too, at any budget. It is never larger, because $T > 2^{k-1}$.
#
# 2: The difference of two times has mean 0.1 and standard deviation $\sqrt 2$, so the share is $\Phi(0.1/\sqrt2)$. The
# attacker needs less than a second.
#
# ```python
# from subnormal.audit.statistics.paired_times import signs_needed
#
# assert curves.tries_advantage(40) < Fraction(1, 2**40) < curves.tries_advantage(39)
# share = (1 + math.erf(0.1 / math.sqrt(2) / math.sqrt(2))) / 2
# print(
#     f"share {share:.4f}: {2 * signs_needed(share):,.0f} measurements, {2 * signs_needed(share) * 30e-6:.2f} seconds"
# )
# ```
#
# </details>
