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
# # Sparse vector: a mechanism that was published wrongly four times
#
# **Claim.** A mechanism can answer many questions and pay only for the answers "yes". Four published versions of it
# are not private, and the sound one fails in floats, or with finite noise.
#
# **Mechanism.** For each query the mechanism says whether it lies below a threshold (⊥) or reaches it (⊤). The
# threshold gets noise once, and each query gets its own. After the $c$-th ⊤ it stops. ⊥ costs nothing.
#
# **You will see** the law of eight queries, the exact loss of each published mistake, and a threshold that absorbs all
# noise. **To present: 12 minutes**, part 1. Part 2 is for reading.

# %% [markdown]
# ## Change me
#
# Everything below depends on this cell. (The numbers in the text are for the values given here.)

# %%
EPSILON = 1.0  # the budget claimed, in nats
RUNS = 20_000  # outcomes drawn for the first picture
SEED = 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import dataclasses
import math
from itertools import product

import numpy as np
from IPython.display import Markdown, display

from explore import explore
from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.attacks.sparse_vector.absorbed_threshold import absorbed_threshold
from subnormal.attacks.sparse_vector.clamped_noise import clamped_noise, finite_threshold
from subnormal.attacks.sparse_vector.published_variants import no_cutoff, noiseless_answers, noisy_value, unscaled_noise
from subnormal.audit.evidence import exact
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential import gumbel_max_naive, permute_and_flip
from subnormal.mechanisms.families import member
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.sparse_vector import exact as sparse_vector_exact
from subnormal.mechanisms.sparse_vector.exact import Setting
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from subnormal.plots import Panel, picture


def told(outcome):
    """An outcome as symbols: ⊥, ⊤, and what was released with a ⊤ in brackets."""
    text, numbers = "", list(outcome)
    while numbers:
        text += "⊤" if numbers.pop(0) else "⊥"
        while numbers and numbers[0] not in (0, 1):
            text += f"({numbers.pop(0):g})"
    return text


def judged(attack, name):
    """What the two exact laws of a member prove of its claim."""
    mechanism = member(name)
    laws = [mechanism.law(data, attack.parameters) for data in attack.worlds()]
    return laws, exact.compare(*laws, mechanism.claim(attack.parameters, *attack.worlds()), attack.event)


# %% [markdown]
# **The mechanism.** Queries $q_1, q_2, \dots$ come one after the other; one person moves each of them by at most
# $\Delta$.
# $$\text{⊤} \iff q_i + \nu_i \ge T + \rho, \qquad \rho \sim \mathrm{Lap}(\Delta/\varepsilon_1) \text{ once},\quad
# \nu_i \sim \mathrm{Lap}(2c\Delta/\varepsilon_2) \text{ for each query}.$$
# It is $(\varepsilon_1+\varepsilon_2)$-differentially private, for any number of ⊥. This is surprising, and many
# people get it wrong.
#
# **Source.** Lyu, Su and Li, *Understanding the Sparse Vector Technique for Differential Privacy*
# ([arXiv:1603.01699](https://arxiv.org/abs/1603.01699)), compare six versions, four of which are not private as
# claimed. The exact member follows a working paper on the discrete sparse vector mechanism.

# %% [markdown]
# ## Part 1, to show
#
# ### Eight queries, one positive
#
# The exact member counts in steps of a grid, here of 1. Its noise has weights $2^{-\eta|k|}$, which are exact
# fractions. It does not draw the noise of a query. The probability that the noise reaches $t$ has a closed form,
# $\sum_{k\ge t} B^{|k|} = B^t/(1-B)$ for $t \ge 0$, and the program compares a random word with it. The law is a sum
# over the threshold's noise:
# $$\Pr[a] = \sum_z \Pr[\rho = z] \prod_i \Pr[a_i \mid \rho = z].$$

# %% jupyter={"source_hidden": true} tags=["hide-input"]
QUERIES = np.array([-6, -2, -9, 1, -4, 0, 7, 3])  # the threshold is 0
sparse_vector = member("sparse-vector-exact")


def answers(epsilon, width, draws=0):
    """The law of which query is answered ⊤, with Alice and without her: without her each query is 1 higher."""
    public = SparseVectorParameters(epsilon=epsilon, lower=-10, upper=10, width=width)
    atoms = sorted(sparse_vector.law(QUERIES, public).atoms, key=lambda atom: (len(atom), -sum(atom)))
    curves = {}
    for name, queries, look in (("with Alice", QUERIES, "in bars"), ("without", QUERIES + 1, "out bars")):
        law = sparse_vector.law(queries, public)
        curves[f"{name}: the law"] = range(len(atoms)), [float(law.probability(atom)[0]) for atom in atoms], look
    if draws:  # to release one: subnormal.mechanisms.bits.system_bits()
        drawn = sparse_vector.sample(QUERIES, public, seeded_bits(SEED), draws)
        shares = [drawn.count(atom) / draws for atom in atoms]
        curves[f"with Alice: {draws:,} draws"] = np.arange(len(atoms)) - 0.2, shares, "black dots"
    assert sum(law.probability(atom)[0] for atom in atoms) == 1  # in fractions
    labels = [f"{len(atom) - sum(atom)}×⊥{', ⊤' * sum(atom)}" for atom in atoms]
    ticks = {
        at: f"{label}\n({query})" for at, (label, query) in enumerate(zip(labels, [*QUERIES, "none"], strict=True))
    }
    labels = {"x": f"outcome, and the query that was answered ⊤  (ε = {epsilon:g})", "y": "probability"}
    return picture(Panel(curves=curves, ticks=ticks, **labels), size=(13, 4.4))


# %%
explore(answers, epsilon=(EPSILON, [0.1, 0.5, 1, 2, 5]), width=(40, [5, 10, 20, 40]), draws=(RUNS, [0, 1000, RUNS]))

# %% [markdown]
# ### The proof, and its published mistakes
#
# Without Alice every query may be $\Delta$ higher. Pair each value of the threshold's noise with one that is $\Delta$
# higher too: $\rho \to \rho + \Delta$. This costs $\varepsilon_1$, once. Now every ⊥ is *at least* as likely, so it
# costs nothing. Only a ⊤ becomes less likely. Its noise must make up for $2\Delta$, and $c$ of them cost
# $\varepsilon_2$.
#
# Every published mistake breaks one step of this proof:
#
# | | published | what differs | so that |
# |---|---|---|---|
# | **3** | Roth, lecture notes, 2011 | the noisy *value* is released with ⊤ | it tells which $\rho$ are impossible |
# | **4** | Lee and Clifton, 2014 | $\nu \sim \mathrm{Lap}(\Delta/\varepsilon_2)$ | each ⊤ costs as much as $c$ should |
# | **5** | Stoddard et al., 2014 | no $\nu$, no stop | ⊤ has no noise that could make up for anything |
# | **6** | Chen et al., 2015 | $\nu \sim \mathrm{Lap}(\Delta/\varepsilon_2)$, no stop | any number of ⊤ |
#
# (Algorithm 3 also halves the scale of $\nu$.) Here they have exact discrete noise, so the algorithm is broken and not
# the arithmetic.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lines = ["| algorithm | with Alice | without | outcome | its loss | largest loss | claimed |", "|" + "---|" * 7]
for attack in (noisy_value(EPSILON), unscaled_noise(EPSILON), noiseless_answers(EPSILON), no_cutoff(EPSILON)):
    (law_in, law_out), evidence = judged(attack, attack.breaks[0])
    (outcome,) = attack.event.outcomes
    low, high = law_in.probability(outcome)[0], law_out.probability(outcome)[1]
    loss = math.inf if high < 1e-60 else math.log(low / high)
    worlds = ["".join(map(str, data.tolist())) for data in attack.worlds()]
    shown = told(outcome) if attack.breaks[0][-1] != "3" else f"⊥⊥⊥⊥⊤, value {outcome[-1]}"
    losses = f"{loss:.4g} | {evidence.epsilon:.4g}".replace("inf", "∞")
    lines.append(f"| {attack.breaks[0][-1]} | {' | '.join(worlds)} | {shown} | {losses} | {EPSILON:g} |")
    assert evidence.verdict == "VIOLATED"
Markdown("\n".join(lines))

# %% [markdown]
# Longer streams lose more. For Algorithm 3, take $m$ zeros and a 1 against $m$ ones and a 0. The outcome $(\text{⊥}^m,
# 0)$ loses exactly $(m-1)\,\varepsilon/2$, and $(\text{⊥}^m, 1)$ loses $(m+1)\,\varepsilon/2$, the most of all.
# (*Why*: the value 1 says that $\rho \le 1$. For such $\rho$ each ⊥ is $e^{\varepsilon/2}$ times as likely with Alice,
# and so is the value.)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
LENGTHS = range(2, 13, 2)
losses = {"Algorithm 3": [], "Algorithm 4, c = 1": [], "Algorithm 6": [], "sound and exact": []}
zeros = []
for m in LENGTHS:
    laws, evidence = judged(noisy_value(EPSILON, m), "sparse-vector-algorithm-3")
    losses["Algorithm 3"].append(evidence.epsilon)
    zero = [law.probability((*((0,) * m), 1, 0)) for law in laws]
    zeros.append(math.log(zero[0][0] / zero[1][1]))
    losses["Algorithm 4, c = 1"].append(judged(unscaled_noise(EPSILON, m, 1), "sparse-vector-algorithm-4")[1].epsilon)
    losses["sound and exact"].append(judged(noisy_value(EPSILON, m), "sparse-vector-exact")[1].epsilon)
    if m <= 4:
        losses["Algorithm 6"].append(judged(no_cutoff(EPSILON, m), "sparse-vector-algorithm-6")[1].epsilon)

looks = ("claim joined", "grey joined squares", "black joined", "exact joined")
curves = {name: (LENGTHS[: len(some)], some, look) for (name, some), look in zip(losses.items(), looks, strict=True)}
curves["Algorithm 3, the outcome (⊥…⊥, 0)"] = LENGTHS, zeros, "claim dotted"
curves["claimed"] = None, EPSILON, "black dashed"
labels = {"x": "m, the number of ⊥ before the first ⊤", "y": "loss ε (nats)"}
display(picture(Panel(curves=curves, ticks=LENGTHS, **labels)))
assert all(abs(loss - (m - 1) * EPSILON / 2) < 1e-9 for m, loss in zip(LENGTHS, zeros, strict=True))
assert all(abs(loss - (m + 1) * EPSILON / 2) < 1e-9 for m, loss in zip(LENGTHS, losses["Algorithm 3"], strict=True))
for m, zero, loss in zip(LENGTHS, zeros, losses["Algorithm 3"], strict=True):
    print(f"m = {m:>2}: (⊥^m, 0) loses {zero:.4g}, the most that is lost is {loss:.4g}")
print(f"Algorithm 4, c = 1: {losses['Algorithm 4, c = 1'][-1]:.6f}, and never beyond (1+6c)/4·ε = {7 / 4 * EPSILON:g}")

# %% [markdown]
# ### In floats, a large threshold absorbs all noise
#
# The textbook's algorithm is sound in real numbers. Here it runs in float64, with a counter near $2^{62}$ and the
# threshold at $2^{62}$. Floats just below the threshold are 512 apart. The noise at $\varepsilon = 1$ is at most
# $52\ln 2 \cdot 4 = 144$, so the sum rounds it away. The answer then depends only on how the query is rounded: a query
# of $2^{62} - 257$ is rounded down, and one of $2^{62} - 256$ is rounded up (a tie, to even).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
attack = absorbed_threshold(EPSILON)
curves = {"floats": (np.array([-512, 0]), np.array([0.0, 0.0]), "black rings")}
for data, colour, label, height in zip(attack.worlds(), ("in", "out"), ("with Alice", "without"), (2, 1), strict=True):
    place, rounded = int(data[0]) - (1 << 62), int(float(data[0])) - (1 << 62)
    name = f"{label}: {place}, as a float {rounded}"
    curves[name] = np.array([place, rounded]), np.array([height, 0.0]), f"{colour} joined"
    reach = np.array([rounded - 144, rounded + 144])
    curves[f"_{label}: the noise"] = (
        reach,
        (np.full(2, height / 8 - 0.1), np.full(2, height / 8 + 0.1)),
        f"{colour} band",
    )
labels = {"x": "distance from the threshold (bands: how far the noise reaches)", "legend": "upper left"}
panel = Panel(curves=curves, ticks=(-512, -257, 0), xlim=(-900, 220), ylim=(-0.3, 2.9), bare=True, **labels)
display(picture(panel, size=(12, 3.4)))
for name in ("sparse-vector-naive", "sparse-vector-exact"):
    _, evidence = judged(attack, name)
    print(f"{name}: {evidence.verdict}; ⊤ has probability", end=" ")
    print(f"{evidence.event_in[0]:.3g} with Alice, {evidence.event_out[0]:.3g} without")

# %% [markdown]
# The exact member first subtracts the threshold, in integers. Then −257 and −256 are neighbours like any others.

# %% [markdown]
# ## Part 2, to read
#
# ### Finite noise breaks the textbook's proof
#
# A program's noise is finite. If $\rho$ is clamped to a range, its largest value has no partner $\rho + \Delta$. There
# are two cases.
#
# **Both noises clamped** to $\pm w$. A query of $2w - 1$ is answered ⊥ only if $\rho = w$ *and* $\nu = -w$. A query of
# $2w$ is never answered ⊥. One ⊥ tells the worlds apart for certain.
#
# **Only $\rho$ clamped.** Nothing becomes impossible. But if $\rho$ is at the end of its range in both worlds, each ⊥
# costs something. The loss grows with the stream and has no bound.
#
# The working paper repairs this in one line: clamp $\rho$ *a second time, for each query*, to $[q - w, q + w]$, and
# give $\rho$ itself the range from $Q_{\min} - w$ to $Q_{\max} + w$. The inner clamp hides the effect of the outer
# one. So the law is the same as for an infinite $\rho$, and every value has its partner again.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
attack = clamped_noise(EPSILON)
for name in ("sparse-vector-clamped-noise", "sparse-vector-exact"):
    _, evidence = judged(attack, name)
    print(f"{name}: {evidence.verdict}, loss {evidence.epsilon:.4g};", end=" ")
    print(f"⊥ has {evidence.event_in[0]:.4g} with Alice, {evidence.event_out[0]:.4g} without")
STREAMS = (1, 8, 16, 24, 32, 40, 48)
finite = [judged(finite_threshold(EPSILON, m), "sparse-vector-unclamped")[1] for m in STREAMS]
clamped = [judged(finite_threshold(EPSILON, m), "sparse-vector-exact")[1] for m in STREAMS]
w = 2
rho = np.arange(-3 * w, 5 * w)
needed = {}
for query, colour in ((0, "in"), (1, "out")):
    inner = np.clip(rho, query - w, query + w) - query
    outer = np.clip(rho, -w, 1 + w) - query
    needed[f"query {query}: ρ clamped once"] = rho, outer, f"{colour} dashed"
    needed[f"query {query}: and for the query"] = rho, inner, f"{colour} joined"
lost = {
    "ρ clamped once": (STREAMS, [one.epsilon for one in finite], "grey joined squares"),
    "and for each query": (STREAMS, [one.epsilon for one in clamped], "exact joined"),
    "claimed": (None, EPSILON, "black dashed"),
}
title = "what a query of 0, and one of 1, is compared with"
left = Panel(curves=needed, title=title, x=r"$\rho$, before any clamping", y="noise needed for ⊤")
right = Panel(curves=lost, x="queries, all answered ⊥", y="loss ε (nats)")
display(picture(left, right, size=(13, 4.6)))
assert all(one.verdict == "HOLDS" for one in clamped)
print(f"{STREAMS[-1]} × ⊥: loss {finite[-1].epsilon:.3f};", end=" ")
print(f"but δ({EPSILON:g}) is {finite[-1].delta:.2g}: it is rarely that bad")

# %% [markdown]
# In the left picture, for large ρ, the dashed lines stay one apart and the dots meet: with the second clamp a large ρ
# makes both worlds equal. In the right picture the loss of the dashed line is real but rare. No sample would find it.
# The exact laws do.
#
# ### Is the exact one private? Every short stream, in fractions
#
# One pair of worlds does not prove a claim. At a small size we can try all pairs: streams of up to four queries with
# values 0, 1, 2, every neighbour of each, and every outcome, as fractions.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
HALF = Eta(1, 1, 1)  # one bit a step
setting = Setting(HALF, HALF, positives=1, lower=0, upper=2, width=2, clamp=2)


def largest_ratio(setting):
    streams = [stream for length in range(1, 5) for stream in product(range(3), repeat=length)]
    laws = {stream: sparse_vector_exact.law(stream, setting) for stream in streams}
    worst, pairs = (0, None), 0
    for one in streams:
        for other in product(*(range(max(0, value - 1), min(3, value + 2)) for value in one)):
            pairs += 1
            for atom in laws[one].atoms:
                ratio = laws[one].probability(atom)[0] / laws[other].probability(atom)[0]
                worst = max(worst, (ratio, f"{one} against {other}, {told(atom)}"), key=lambda found: found[0])
    return worst, pairs


(ratio, where), pairs = largest_ratio(setting)
print(f"{pairs:,} pairs: the largest ratio is {ratio} = 2^{math.log2(ratio):.4f}, allowed 2^3 = η₁ + η₂ bits; {where}")
assert ratio <= 2**3
(ratio, where), _ = largest_ratio(dataclasses.replace(setting, width=0))
print(f"without room for ρ beside the bounds: {ratio} = 2^{math.log2(ratio):.4f}; {where}")
assert ratio > 2**3

# %% [markdown]
# ### Noisy max: a million ties
#
# A similar mechanism has no threshold: it adds noise to every score and names the largest. With Gumbel noise,
# $-\ln(-\ln U)$, this *is* the exponential mechanism, in real numbers. In float32 $U$ is one of $2^{24}$ points. With
# probability 98 %, the largest of $k = 2^{20}$ noises is one of the 64 greatest possible ones, which the picture
# shows. So two groups of $k$ equal scores *tie* with probability $\tanh(k/2^{25}) = 0.0312$, and `argmax` returns the
# first group.
#
# Without Alice the scores of the second group are better by $10^{-4}$. This is less than the distance of these noises,
# so the second group wins every tie. A claim of $\varepsilon = 2\cdot10^{-4}$ allows an advantage of
# $\tanh(\varepsilon/2) = 10^{-4}$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
attack = gumbel_ties()
for name in ("noisy-max-naive-float32", "exponential-exact", "permute-and-flip"):
    _, evidence = judged(attack, name)
    print(f"{name:24} {evidence.verdict:9} advantage {evidence.advantage:.6f}, loss {evidence.epsilon:.6f}")
    if name == "noisy-max-naive-float32":
        assert evidence.verdict == "VIOLATED"
        assert abs(evidence.advantage - math.tanh(2**20 / 2**25)) < 1e-4
    else:
        assert evidence.verdict == "HOLDS"
        assert evidence.advantage < 1e-4

top = np.arange((1 << 24) - 64, 1 << 24)
noises = gumbel_max_naive.gumbel(top, float_type=np.float32, uniform_bits=24)
share = np.diff((np.append(top, 1 << 24) / 2**24) ** 2**20)
labels = {"x": "the largest of $2^{20}$ float32 Gumbel noises (the 64 greatest there are)", "y": "probability"}
picture(Panel(curves={"_noises": (noises, share, "black needles")}, **labels))

# %% [markdown]
# **Permute-and-flip** goes through the outcomes in random order and flips a coin for each, heads with probability
# $2^{-\eta(u - u_{\min})}$. The first outcome with heads wins. This is noisy max with *exponential* noise. It makes
# the same claim as the exponential mechanism, and its expected error is never larger. The program flips dyadic coins
# exactly, and there are no ties, because it compares no noises.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
eta, spread = Eta(3, 2, 1), np.arange(12)
errors = {"exponential mechanism": [], "permute-and-flip": []}
for others in spread.tolist():
    utilities = [0] + [others] * 9
    for name, module in (("exponential mechanism", exponential_exact), ("permute-and-flip", permute_and_flip)):
        law = module.law(utilities, eta)
        errors[name].append(sum(law.probability(at)[0] * utility for at, utility in enumerate(utilities)))
assert all(flip <= weighed for weighed, flip in zip(*errors.values(), strict=True))
curves = {
    name: (spread, [float(one) for one in error], look)
    for (name, error), look in zip(errors.items(), ("grey joined squares", "exact joined"), strict=True)
}
labels = {"x": "utility of nine outcomes (the tenth has 0, the best)", "y": "expected utility, exactly"}
picture(Panel(curves=curves, **labels))

# %% [markdown]
# ## Exercises
#
# **1.** `sparse-vector-exact-gap` also says how far above the noisy threshold a query was: the last of 1, 2, 4, 8 that
# it reached. Algorithm 3 released a value, and its loss has no bound. Why does the gap cost nothing? Compare the
# losses on the worlds of `noisy_value`.
#
# **2.** Algorithm 4 claims $\varepsilon$ and keeps $\frac{1+6c}{4}\varepsilon$. How much noise would it need, with its
# own split $\varepsilon_1 = \varepsilon/4$? Show for $c = 2$ that the exact mechanism with that split holds.

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# The gap is $q + \nu - \rho$. In the pairing $\rho$ moves by $\Delta$, so $\nu$ must move by at most $2\Delta$ for the
# same gap, and the ⊤ has paid for that. The value $q + \nu$ of Algorithm 3 does not move when $\rho$ does. It bounds
# $\rho$ from above, and beyond this bound the pairing fails.
#
# ```python
# for m in (4, 8, 12):
#     pair = [judged(noisy_value(EPSILON, m), f"sparse-vector-exact{suffix}")[1] for suffix in ("", "-gap")]
#     print(
#         f"m = {m}: loss {pair[0].epsilon:.4f} without gaps, {pair[1].epsilon:.4f} with them; both {pair[1].verdict}"
#     )
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# $\nu \sim \mathrm{Lap}(2c\Delta/\varepsilon_2)$ with $\varepsilon_2 = 3\varepsilon/4$: $2c = 4$ times as much.
#
# ```python
# attack = unscaled_noise(EPSILON, 8, 2)
# quarter = dataclasses.replace(attack, parameters=dataclasses.replace(attack.parameters, threshold_share=0.25))
# for of, name in ((attack, "sparse-vector-algorithm-4"), (quarter, "sparse-vector-exact")):
#     _, evidence = judged(of, name)
#     print(f"{name}: loss {evidence.epsilon:.4f}, {evidence.verdict}")
# ```
#
# </details>
