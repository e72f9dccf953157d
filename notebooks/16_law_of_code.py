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
# # The law of your own code: an interval that splits
#
# **Claim.** A program can compute the law of a Python function from its unchanged code. It draws no sample, so it
# *proves* that a claim is broken, even if the event is rare.
#
# **Mechanism.** `random.random()` returns $k \cdot 2^{-53}$ with $k$ uniform on $0, \ldots, 2^{53}-1$. A comparison is
# true on one side of some $k$ and false on the other. So the code cuts the interval of all $k$ into pieces, and the
# length of a piece is a probability.
#
# **You will see** the pieces of randomized response and of a broken sparse vector technique in both worlds, a proof
# from a dozen runs, and a float that only one world can return. **To present: 10 minutes.**

# %% [markdown]
# ## Change me

# %%
EPSILON = 1.0  # the claim, in nats
TRUTH = 0.75  # how often randomized response tells the truth
QUERIES = [0, 1], [1, 0]  # the answers to two queries in both worlds: one record moves each by 1

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math
import random

from explore import explore
from subnormal import Claim, law
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.floats import one_world_only
from subnormal.audit.laws.followed import follow
from subnormal.plots import Panel, cells, picture, ticks

COLOURS = ("exact", "claim", "grey", "pale", "black")  # blue and orange are the two worlds
STRINGS = 1 << 53  # of `random.random()`


def pieces(function, data):
    """Return the pieces (start, end, outcome) of the one number that the function draws, as shares of all."""
    ends, _, _ = follow(function, data, 10.0, 2.0**-40)
    return sorted((*(bound / STRINGS for bound in end.path.boxes[0]), end.outcome) for end in ends)


def joined(function, data):
    """Return the pieces, those side by side with one outcome as one."""
    whole = []
    for start, end, outcome in pieces(function, data):
        if whole and whole[-1][2] == outcome:
            whole[-1] = whole[-1][0], end, outcome
        else:
            whole.append((start, end, outcome))
    return whole


def draw_pieces(function, worlds, words=str, size=(12, 3)):
    """Draw the unit interval in each world, coloured by outcome."""
    found = {name: joined(function, data) for name, data in worlds.items()}
    outcomes = dict.fromkeys(outcome for row in found.values() for *_, outcome in row)  # from left to right
    colour = {outcome: COLOURS[place % len(COLOURS)] for place, outcome in enumerate(outcomes)}
    rows = {
        name: [
            (start, end, words(outcome) if end - start > 0.03 else "", colour[outcome]) for start, end, outcome in row
        ]
        for name, row in found.items()
    }
    return cells(rows, x="what random.random() returns", size=size)


# %% [markdown]
# ## One comparison, two pieces
#
# Randomized response is one line of code with one comparison.


# %%
def respond(answer):
    return answer if random.random() < TRUTH else 1 - answer


draw_pieces(respond, {"in: 1": 1, "out: 0": 0})

# %% [markdown]
# `law` adds up the lengths. They are exact, because the pieces are counted in integers:

# %%
print(law(respond, 1))
found = decide(respond, 1, 0, Claim(EPSILON))
print(found)
loss = math.log(TRUTH / (1 - TRUTH))
assert found.verdict == ("VIOLATED" if loss > EPSILON else "HOLDS")

# %% [markdown]
# ## Textbook noise, rounded
#
# This code makes Laplace noise from a logarithm and rounds it to an integer. `abs`, `math.log` and `round` are
# monotone, so each integer has its piece. The pieces are exact for the *floats* of this code, to the last bit of
# `math.log`. One piece is a single string, $k = 0$: there the code computes the logarithm of 0 and raises an error. An
# error is an outcome too.


# %%
def laplace(scale):
    u = random.random() - 0.5
    noise = -scale * math.log(1 - 2 * abs(u))
    return noise if u > 0 else -noise


def noisy_count(count):
    return round(count + laplace(1 / EPSILON))


draw_pieces(noisy_count, {"in: 1": 1, "out: 0": 0})

# %% jupyter={"source_hidden": true} tags=["hide-input"]
laws = {name: law(noisy_count, count) for name, count in (("in", 1), ("out", 0))}
near = range(-4, 6)
curves = {
    name: (list(near), [float(one.probability(value)[0]) for value in near], f"{name} joined")
    for name, one in laws.items()
}
picture(Panel(curves=curves, x="noisy count", y="probability", log="y"))

# %% [markdown]
# ## A broken sparse vector technique
#
# An analyst asks any number of times: "Is the query above a noisy threshold?" Algorithm 5 of Lyu, Su and Li (2017) has
# noise on the threshold and none on the queries. Then each answer costs budget, but the algorithm counts none.


# %%
def algorithm_5(queries):
    threshold = laplace(2 / EPSILON)
    return tuple(query >= threshold for query in queries)


def signs(outcome):
    return "".join("⊤" if one else "⊥" for one in outcome)


draw_pieces(algorithm_5, {f"in: {QUERIES[0]}": QUERIES[0], f"out: {QUERIES[1]}": QUERIES[1]}, words=signs)

# %% [markdown]
# The piece in the middle has (⊥, ⊤) in one world and (⊤, ⊥) in the other one. Each of these
# outcomes has no piece in the other world, so the loss is infinite:

# %%
broken = decide(algorithm_5, *QUERIES, Claim(EPSILON))
print(broken)
print("only in one world:", [signs(outcome) for outcome in broken.event.outcomes])
print(f"{broken.paths} runs of the code, in both worlds together")
assert broken.evidence.epsilon == math.inf

# %% [markdown]
# A tester that samples must see the event at least once. How likely is it? Move the sliders: with a larger scale of
# the noise the piece becomes shorter, and the proof stays the same.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def sparse_vector(epsilon, queries):
    """The pieces of Algorithm 5 with `queries` answers, 0 first in one world and 1 first in the other."""

    def broken_vector(answers):
        threshold = laplace(2 / epsilon)
        return tuple(answer >= threshold for answer in answers)

    half = queries // 2
    worlds = [0] * half + [1] * (queries - half), [1] * half + [0] * (queries - half)
    names = {f"{name}: {''.join(map(str, world))}": world for name, world in zip(("in", "out"), worlds, strict=True)}
    return draw_pieces(broken_vector, names, words=signs)


# %%
explore(sparse_vector, epsilon=(EPSILON, [0.1, 0.5, 1, 2, 4]), queries=(2, [2, 4, 6]))

# %% [markdown]
# ## Two random numbers
#
# If the query has noise too, a comparison has *two* unknown numbers, and it does not split one interval. The program
# follows both answers, each with the comparison as a constraint. It cuts the square of the two numbers into strips.
# The strips in which the constraint surely holds give the lower bound. Those in which it may hold give the upper
# bound.


# %%
def above(query):
    return query + laplace(4 / EPSILON) >= laplace(2 / EPSILON)


# %% jupyter={"source_hidden": true} tags=["hide-input"]
from subnormal.audit.laws.forest import bounds

paths = [end.path for end in follow(above, 1, 10.0, 2.0**-20)[0]]
strips, widths = [1 << power for power in range(9, 16)], []
for one in strips:
    low, high = zip(*(bounds(path.boxes, path.constraints, one) for path in paths), strict=True)
    widths.append(float(sum(high) - sum(low)))
curves = {"_width": (strips, widths, "black joined")}
picture(Panel(curves=curves, log="xy", x="strips of each number", y="upper bound − lower bound"))

# %%
print(law(above, 1, width=1e-4))

# %% [markdown]
# ## Floats: an outcome that only one world has
#
# If the noise is not rounded, there are too many outcomes for a table: each float has its own piece, of a few $k$. It
# is enough to find one float that has a piece in one world and none in the other.


# %%
def noisy(value):
    return value + laplace(1 / EPSILON)


only = one_world_only(noisy, 1.0, 0.0)
print(f"with Alice, {only.numbers} leads to {only.outcome!r}; without her, no random number does")
assert only is not None


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def floats_near(value, place):
    """Return floats near a place that noisy(value) returns: of 4,096 random numbers around the one that leads there."""
    low, high = 0, STRINGS - 1
    drawn = random.random
    try:

        def released(k):
            random.random = lambda: k / STRINGS
            return noisy(value)

        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if released(middle) < place else (low, middle)
        return {released(k) for k in range(max(0, low - 2048), low + 2048)}
    finally:
        random.random = drawn


place = only.outcome
spacing = math.ulp(place)
window = [place + step * spacing for step in range(-20, 21)]
grid = {
    "with Alice": ([(x - place) / spacing for x in window if x in floats_near(1.0, place)], "in"),
    "without": ([(x - place) / spacing for x in window if x in floats_near(0.0, place)], "out"),
}
ticks({f"what can be released near {place:.6g}": grid}, x="floats from there", size=(12, 3))

# %% [markdown]
# ## What is assumed
#
# The generator's words are uniform and independent. The implementation of `math.log` is monotone; the program tests
# this around each place where it matters. Nothing else is random: the program repeats paths with plain numbers, and
# they must lead to the same outcomes. If `law` cannot follow some code, it raises an error with the line. [The law of
# your own code](../docs/laws.md) has the details.
#
# ## Exercises
#
# **1.** Repair `algorithm_5`: add noise of scale $4/\varepsilon$ to each query, and stop after the first ⊤. Does
# `decide` say HOLDS for the two worlds above, and what is its `rest`?
#
# **2.** Write a function with an event of probability $10^{-8}$ in one world and 0 in the other. Does `decide` find
# it?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# ```python
# def algorithm_1(queries):
#     threshold, answers = laplace(2 / EPSILON), []
#     for query in queries:
#         answers.append(query + laplace(4 / EPSILON) >= threshold)
#         if answers[-1]:
#             break
#     return tuple(answers)
#
#
# kept = decide(algorithm_1, *QUERIES, Claim(EPSILON))
# print(kept, float(kept.rest))
# assert kept.verdict == "HOLDS"
# ```
#
# Each path through the code has a constraint between two numbers, so the bounds are close but not equal. The claim has
# some room: on these two worlds the loss is less than $\varepsilon$.
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# Yes, with two paths. A piece of length $10^{-8}$ is a piece like any other. A test that draws runs would need about
# $10^8$ of them to see the event once.
#
# ```python
# def leaks_rarely(answer):
#     return "leak" if answer and random.random() < 1e-8 else "nothing"
#
#
# rare = decide(leaks_rarely, 1, 0, Claim(EPSILON))
# print(law(leaks_rarely, 1))
# print(rare, "paths:", rare.paths)
# assert rare.verdict == "VIOLATED"
# ```
#
# </details>
