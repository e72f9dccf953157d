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
# # Auditing real libraries
#
# **Claim.** An auditor can refute a library from outside, without its source: with two inputs, one event, many runs,
# and the confidence that the event is too likely in one world. No such audit can show that a library is private.
#
# **Mechanism.** OpenDP, diffprivlib and PyDP add noise to a count of 1 or 0. The attack looks at the last bits of the
# output. Both flaws of released libraries in this notebook were published in 2022.
#
# **You will see** one member convicted and three not, a sum whose rounding reveals a record, and how to tell the
# maintainers. **To present: 12 minutes**, parts 1 to 3.

# %% [markdown]
# ## Change me
#
# Everything below follows from this cell. Libraries use the system's randomness, which no seed controls. So the
# numbers in the outputs differ each time, and the text gives ranges for the values given here.

# %%
EPSILON = 1.0  # the budget claimed, in nats
ALPHA = 1e-6  # the chance, at most, that an examination accuses wrongly
RUNS = 20_000  # runs in each world; slow members draw fewer
SEED = 1  # governs what the audit itself draws

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import json
import shlex
import shutil
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
from IPython.display import Markdown, display

import subnormal
from explore import explore
from subnormal.attacks.additive.grid_precision import grid_precision, off_grid_probability
from subnormal.attacks.additive.sensitivity_underestimation import sensitivity_rounding_float64
from subnormal.audit.check.document import to_json
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.scheduler import examine_all
from subnormal.audit.report import table
from subnormal.audit.statistics.binomial import clopper_pearson
from subnormal.audit.targets.program import program
from subnormal.audit.vectors import attacks as vectors
from subnormal.mechanisms.families import FAMILIES, absent, installed, members
from subnormal.plots import Panel, picture

# %% [markdown]
# **What can be audited.** Anything that returns outcomes: a library installed here, a Python function, a program in
# any language.
#
#     pip install -e '.[libraries]'
#
# installs OpenDP, diffprivlib and PyDP. Without them this notebook says so and continues.
#
# **Flaws of released libraries.** This notebook shows two, both published in 2022 and cited where they appear. Do not
# publish a new flaw in a notebook. The last part says what to do instead.

# %% [markdown]
# ## 1. What is installed
#
# A *member* is one mechanism of a library, with the options that users choose. It claims what the library claims. Its
# name consists of the library and the mechanism. Every report has the version, because a verdict about one version
# says nothing about the next one.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
EVERYONE = [one for of in FAMILIES for one in (*members(of), *absent(of)) if one.package]
HERE = {one.name: one for one in EVERYONE if installed(one.package) is not None}
lines = ["| package | version | members |", "|---|---|---|"]
for package in dict.fromkeys(one.package for one in EVERYONE):
    names = ", ".join(f"`{one.name}`" for one in EVERYONE if one.package == package)
    lines.append(f"| {package} | {installed(package) or '–'} | {names} |")
display(Markdown("\n".join(lines)))
missing = sorted({one.package for one in EVERYONE} - {one.package for one in HERE.values()})
if missing:
    print(f"Not installed: {', '.join(missing)}; going on without. pip install -e '.[libraries]' brings them.")

# %% [markdown]
# ## 2. One attack, four members
#
# **The attack** (grid precision; Haney et al. 2022, [arXiv:2207.13793](https://arxiv.org/abs/2207.13793)). A count is
# 1 with Alice, blue, and 0 without her, orange. The float sum of 1 and any noise is a multiple of $2^{-53}$. Noise
# alone need not be one, because floats below $\frac12$ are closer together. So the attacker looks for one event: *the
# output is no multiple of $2^{-53}$*.
#
# If the program adds value and noise in floats, the event is impossible with Alice and common without her.
#
# On the command line:
#
#     subnormal run --attack grid-precision --mechanism diffprivlib-laplace --mechanism opendp-laplace

# %% [markdown]
# What is the law of such a sum, and how many runs refute its claim? The claim allows the grey wedge. The red box has
# the probabilities that the runs leave open, and is very narrow for many runs. If the box is outside of the wedge, the
# runs refute the claim. Move the sliders.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def reached(epsilon, runs):
    """The law of 1 + noise and of 0 + noise in floats, and how far a sample can tell: the interval of so many runs."""
    low = float(off_grid_probability(grid_precision(epsilon).parameters.scale)[0])
    p = np.linspace(0, 1, 401)
    highest = np.minimum(np.exp(epsilon) * p, 1 - (1 - p) / np.exp(epsilon))
    lowest = np.maximum(p / np.exp(epsilon), 1 - np.exp(epsilon) * (1 - p))
    seen = round(low * runs)
    sample, nothing = (clopper_pearson(count, runs, ALPHA / 4) for count in (seen, 0))
    right, (bottom, top) = nothing[1], sample
    curves = {
        f"ε = {epsilon:g} allows": (p, (lowest, highest), "pale band"),
        "_open": (np.array([0, right]), (np.full(2, bottom), np.full(2, top)), "claim band"),
        f"what {runs:,} runs leave open": ([0, right, right, 0, 0], [bottom, bottom, top, top, bottom], "claim line"),
        "the law of noise in floats": ([0], [low], "black points"),
    }
    title = f"P(off the grid) is 0 with Alice, {low:.4f} without"
    labels = {"x": "probability of the event, in", "y": "probability of the event, out"}
    return picture(Panel(curves=curves, title=title, xlim=(-0.02, 1), ylim=(-0.02, 1), **labels), size=(8, 5))


# %%
explore(reached, epsilon=(EPSILON, [0.01, 0.1, 0.5, 1, 2, 4]), runs=(RUNS, [100, 1000, RUNS, 1_000_000]))

# %% [markdown]
# Now the libraries:


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def show(rows):
    """The table of some rows, and below it what went wrong."""
    lines = ["| mechanism | verdict | event, in | event, out | ε is at least | claimed | runs |", "|" + "---|" * 7]
    for row in rows:
        cells, sampled = table.columns(row), row.sampled
        worlds = (None, None) if sampled is None else (sampled.event_in, sampled.event_out)
        verdict = "ERROR" if row.error else cells["sampled"]
        numbers = [*map(table.interval, worlds), cells["ε ≥"], cells["claimed ε"], cells["runs"]]
        lines.append(f"| {cells['mechanism']} | **{verdict}** | {' | '.join(numbers)} |")
    display(Markdown("\n".join(lines)))
    for row in rows:
        if row.error:
            print(f"{row.mechanism}: {row.error}")


# %% jupyter={"source_hidden": true} tags=["hide-input"]
grid = grid_precision(EPSILON)
NAMES = ("diffprivlib-laplace", "diffprivlib-snapping", "opendp-laplace", "pydp-laplace")
met = [Crossing(grid, HERE[name]) for name in NAMES if name in HERE]
compared = examine_all(met, seed=SEED, runs=RUNS, alpha=ALPHA).rows
if compared:
    show(compared)
else:
    print("None of the four is installed: no table and no picture here.")


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def probabilities(rows):
    """The event's probability in both worlds, for each member; a band is its interval."""
    curves = {}
    for place, row in enumerate(rows):
        pairs = ((-0.15, "in", row.sampled.event_in), (0.15, "out", row.sampled.event_out))
        for offset, world, (low, high) in pairs:
            at = np.array([place + offset - 0.1, place + offset + 0.1])
            name = f"{world}: the count is {int(world == 'in')}"
            curves[name if place == 0 else f"_{name}, {place}"] = at[:1] + 0.1, [(low + high) / 2], f"{world} dots"
            curves[f"_{name}, interval {place}"] = at, (np.full(2, low), np.full(2, high)), f"{world} band"
    ticks = {place: "\n".join([*row.mechanism.split("-"), row.sampled.verdict]) for place, row in enumerate(rows)}
    highest = max(max(row.sampled.event_in[1], row.sampled.event_out[1]) for row in rows)
    axes = {"ylim": (-0.03 * highest, 1.4 * highest), "legend": "upper right"}
    return Panel(curves=curves, ticks=ticks, x="", y="probability of the event", **axes)


def allowed(rows, epsilon, reach):
    """Where a claim lets both probabilities be: the wedge. A mark is a member."""
    p, factor = np.linspace(0, reach, 400), np.exp(epsilon)
    highest = np.minimum(factor * p, 1 - (1 - p) / factor)
    lowest = np.maximum(p / factor, 1 - factor * (1 - p))
    curves = {f"ε = {epsilon:g} allows": (p, (lowest, highest), "pale band")}
    for row, look in zip(rows, ("grey crosses", "black rings", "exact dots", "claim crosses"), strict=False):
        centre = [[sum(bounds) / 2] for bounds in (row.sampled.event_in, row.sampled.event_out)]
        curves[row.mechanism] = *centre, look
    limits = {"xlim": (-0.02 * reach, reach), "ylim": (-0.02 * reach, reach), "legend": "upper right"}
    return Panel(curves=curves, x="probability in", y="probability out", **limits)


judged = [row for row in compared if row.sampled is not None]
if judged:
    likeliest = max(max(row.sampled.event_in[1], row.sampled.event_out[1]) for row in judged)
    wedge = allowed(judged, EPSILON, min(1, 1.7 * likeliest))
    display(picture(probabilities(judged), wedge, size=(15, 5)))

# %% [markdown]
# **How to read it.** The grey wedge has the pairs of probabilities that the claim allows. A mark outside refutes the
# claim if its whole interval (left picture) is outside.
#
# - **diffprivlib, Laplace: VIOLATED.** Without Alice about one output in five is off the grid, with her none is. One
#   such output *proves* that she is not there. This is public since Haney et al. 2022. It does not matter how
#   carefully the library draws the noise (it uses four uniforms): the addition reveals the value.
# - **diffprivlib, Snapping** and **PyDP** always release multiples of a coarser power of two. The event never happens
#   in either world, so it says nothing.
# - **OpenDP** adds value and noise exactly, and then rounds the sum to a float. The event happens in *both* worlds.
#   The two probabilities differ by a factor of about two, and the claim allows $e$. Sound mechanisms differ too.
#
# **What it does not say.** NOT REFUTED does not mean private. It means that *this* attack, on *these* two inputs, with
# so many runs, found nothing. "ε is at least" is a lower bound at confidence $1 - \alpha$, and it grows with the
# number of runs. Where it says 5 or 6 here, the truth is infinite. Slower members get fewer runs, so their intervals
# are wider. UNDERPOWERED, which does not appear here, says that so few runs cannot refute any mechanism.

# %% [markdown]
# ## 3. The sum
#
# **The attack** (Casacuberta et al. 2022, [arXiv:2207.10635](https://arxiv.org/abs/2207.10635)). A private sum of
# records in $[L, U]$ adds noise scaled to $U - L$. In real numbers one exchanged record cannot move the sum by more.
# But floats round every partial sum, and one record can change the direction of many roundings.
#
# Here are 65 records. The last is $U$ with Alice and $L$ without her. $U - L$ is one step of the floats around
# $\frac12$:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
rounding = sensitivity_rounding_float64(EPSILON)
data_in, data_out = rounding.worlds()
low, high = rounding.parameters.record_bounds
promised = Fraction(high) - Fraction(low)
moved = Fraction(float(np.sum(data_in))) - Fraction(float(np.sum(data_out)))
exactly = sum(map(Fraction, data_in.tolist())) - sum(map(Fraction, data_out.tolist()))
print(f"records           {len(data_out)}, between {low!r} and {high!r}")
print(f"U − L             {float(promised):g}")
print(f"the sum moves by  {exactly / promised} × (U − L)   in exact arithmetic")
print(f"                 {moved / promised} × (U − L)   in numpy's floats")

# %% [markdown]
# The noise is scaled to the first number, and should hide the second. `diffprivlib.tools.sum(records, epsilon=…,
# bounds=(L, U))` adds in the same order as numpy:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
summed = ()
if "diffprivlib-sum" in HERE:
    summed = examine_all([Crossing(rounding, HERE["diffprivlib-sum"])], seed=SEED, runs=RUNS, alpha=ALPHA).rows
    show(summed)
else:
    print("diffprivlib is not installed: no table and no picture here.")


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def sums(sketch):
    """Where the releases fall, and the noise that was to hide the one bar behind the other."""
    origin, reach = Fraction(float(np.sum(data_out))), float(moved / promised)
    places = np.array([float((Fraction(end) - origin) / promised) for end in sketch.edges.tolist()])
    finely = np.linspace(-reach / 2, 1.5 * reach, 1001)
    curves = {
        f"{words}": (places[masses > 0], masses[masses > 0], look)
        for masses, look, words in zip(
            sketch.sampled, ("in dots", "out dots"), ("in: the last record is U", "out: it is L"), strict=True
        )
    }
    curves["the noise's shape"] = finely, np.exp(-EPSILON * np.abs(finely)), "grey line"
    labels = {"x": "release − numpy's sum without Alice, in units of U − L", "y": "probability"}
    return picture(Panel(curves=curves, ylim=(0, 1.1), legend="center right", **labels))


if summed and summed[0].sampled is not None:
    display(sums(summed[0].sketch))

# %% [markdown]
# Nearly every release is one float with Alice and another one without her. The floats around the sum are 64 times as
# far apart as the noise is wide, so rounding removes the noise, and the output shows only how the sum was rounded. It
# reveals Alice's record: VIOLATED. This is public since Casacuberta et al. 2022, who found it in many libraries and
# say how to repair it (with integers, or with a larger sensitivity that includes the roundings).

# %% [markdown]
# ## 4. Your own
#
# `subnormal.check` takes a **Python function** from data to one outcome (with `batch=True`, from data and a number of
# runs to that many outcomes), two neighbouring inputs, and a claim. It learns an event by itself. Replace this
# function by yours. It does what many first versions do:

# %%
CLAIM, NEIGHBOURS = subnormal.Claim(EPSILON), [(1, 0)]


def release(data, runs):
    """A count plus Laplace noise, in floats."""
    return data + np.random.default_rng().laplace(scale=1 / EPSILON, size=runs)


mine = subnormal.check(release, pairs=NEIGHBOURS, claim=CLAIM, batch=True, seconds=5, alpha=ALPHA)
print(mine)

# %% [markdown]
# For a function in a module, one line does the same:
#
#     subnormal check my_package.my_module:release --batch --in 1 --out 0 --epsilon 1
#
# Notebook 14 shows how `check` *searches* for the two inputs, in a domain that you describe. `check` starts a
# **program in any language** once and talks to it in JSON lines, one question, one answer (POSIX only):
#
#     → {"protocol": 1}
#     ← {"protocol": 1}
#     → {"data": 1, "parameters": {"epsilon": 1.0, "delta": 0.0}, "runs": 1000}
#     ← {"outcomes": ["0x1.8p+1", "-0x1.0c6f7a0b5ed8dp-20", …]}
#
# This also works for a library that needs another environment. [The protocol](../docs/protocol.md) explains it, and
# `docs/examples` has programs in Python, shell, C and JavaScript. Below are two of them, and the second one again,
# with its output printed by `%g`. On the command line this is `subnormal check "cmd: sh laplace_target.sh %g" …`:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
folders = [
    folder / "docs" / "examples" for folder in (Path(subnormal.__file__).parents[1], Path.cwd(), *Path.cwd().parents)
]
EXAMPLES = next((folder for folder in folders if (folder / "laplace_target.py").exists()), None)
programs = []
if EXAMPLES is None:
    print("docs/examples is not here: it comes with the project's source, not with its wheel.")
else:
    programs.append([sys.executable, str(EXAMPLES / "laplace_target.py")])
    if shutil.which("sh") and shutil.which("awk"):
        shell = [shutil.which("sh"), str(EXAMPLES / "laplace_target.sh")]
        programs += [shell, [*shell, "%g"]]
for command in programs:
    with program(shlex.join(command), {"epsilon": EPSILON}, timeout=60.0) as asked:
        asked.__qualname__ = " ".join([Path(command[1]).name, *command[2:]])  # a short name
        print(subnormal.check(asked, pairs=NEIGHBOURS, claim=CLAIM, batch=True, seconds=2, alpha=ALPHA), end="\n\n")

# %% [markdown]
# Remember the last one. It is the same broken mechanism as the one above, but NOT REFUTED. `%g` prints six digits, so
# the last bits never reach `check`. If all outcomes fit 15 digits, the result has the **note** above. The note is
# about your experiment, not about the mechanism: print hexadecimal floats (`%a`, `float.hex()`) or 17 digits, and run
# again. (Ignore it if your library itself releases rounded numbers.)

# %% [markdown]
# ## 5. From a test suite
#
# `subnormal.assert_private` calls a function on two neighbouring inputs and raises an `AssertionError` if the claim is
# broken. **You name no event**: it learns one from some runs and judges it on others. Here are three counts of
# records:


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def sound(records):
    """Two-sided geometric noise: the difference of two geometric variates."""
    stop = -np.expm1(-EPSILON)
    return len(records) + int(NOISE.geometric(stop)) - int(NOISE.geometric(stop))


def no_noise_on_one_branch(records):
    """The same, but an empty list gets no noise."""
    return 0 if not records else sound(records)


def noise_in_floats(records):
    """The mechanism of part 4."""
    return len(records) + NOISE.laplace(scale=1 / EPSILON)


NOISE = np.random.default_rng()
for release_of in (sound, no_noise_on_one_branch, noise_in_floats):
    try:
        subnormal.assert_private(release_of, ["Alice"], [], epsilon=EPSILON, runs=RUNS, alpha=ALPHA)
    except AssertionError as error:
        print(f"{release_of.__name__}: {error}\n")
    else:
        print(f"{release_of.__name__}: nothing found on this pair of inputs\n")

# %% [markdown]
# **What the message says.** The two inputs, the event in words, how often it happened on each input, and the
# [e-value](../docs/terms.md), which must reach $1/\alpha$. Then a test to paste. The exception has all of it
# (`error.result`).
#
# For the second function, the event is the outcome 0, which the empty list always gives. For the third one the event
# is about *bits*. Nobody told the audit about grids: from 5,000 runs of each world it usually learns the grid of part
# 2.
#
# In your test suite:
#
#     from subnormal import assert_private
#
#     def test_count_is_private():
#         assert_private(my_library.count, [1, 1], [1], epsilon=1.0)
#
# A private function fails this test at most once in a million times. If the runs are too few to refute any function,
# the test does not pass: it raises a `ValueError` that says how many runs it needs.

# %%
try:
    subnormal.assert_private(sound, ["Alice"], [], epsilon=EPSILON, runs=10, alpha=ALPHA)
except ValueError as error:
    print(error)

# %% [markdown]
# ## 6. Tell the maintainers first
#
# Suppose a row says VIOLATED for a library of others, and you find no paper about it. The library has maintainers, and
# it protects the data of people today. Do this first:
#
# 1. **Check your own work.** Are the two inputs neighbours in the library's own sense? Do ε and the sensitivity mean
#   what you think? Run it again, once, with an α of one in a million.
# 2. **Find out whether it is known**: read the documentation, the issues, the papers. If it is public, say where, and
#    write an ordinary issue.
# 3. **Write in private**: to the address in `SECURITY.md`, with the *Report a vulnerability* button, or to a
#   maintainer by mail. Open no public issue, give no talk, and make no pull request whose title reveals the flaw.
# 4. **Send what they need to reproduce it**: the versions, the result as JSON, the attack as a *vector* file that runs
#    without this project, and one sentence about what an attacker learns.
# 5. **Agree on a date.** 90 days are usual, CERT/CC plans with 45. If the repair changes every output, it may take
#   longer. Offer to test the repair. Publish together, or, if nobody answers, on the date that you named.
# 6. **Publish exactly what you found**: VIOLATED on this pair of inputs, in these versions. Cite earlier work.
#
# This notebook publishes only what was public before, and yours should do the same. This is what you send, here for
# the function of part 4:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
found = json.loads(to_json(mine))
parcel = {"check.json": json.dumps(found, indent=1).encode(), vectors.file_name(grid): vectors.to_json(grid)}
with tempfile.TemporaryDirectory() as folder:  # take a folder of your own
    for name, content in parcel.items():
        (Path(folder) / name).write_bytes(content)
        print(f"{name:<22}{len(content):>6,} bytes")

print("\nThe result, in part:")
print(json.dumps({name: found[name] for name in ("function", "verdict", "claim", "worlds")}))
print(json.dumps({name: found["evidence"]["sequential"][name] for name in ("alpha", "runs", "event_in", "event_out")}))
print(found["event"]["words"])
vector = vectors.vector(grid)
print("\nThe vector, in part:")
print(json.dumps({name: vector[name] for name in ("id", "source", "data_in", "data_out", "event")}, indent=1))

# %% [markdown]
# The library draws its own randomness, so the maintainers will see other counts. The e-value tells them what to
# expect, and the vector keeps its `id` as long as its inputs, parameters and event stay the same. On the command line:
#
#     subnormal check … --in 1 --out 0 --epsilon 1 --format json > check.json
#     subnormal vectors make --attack grid-precision --out for_the_maintainers
#
# (A check names your function and its inputs, and a report your processor and system. Read them before you send them.)
#
# A letter:
#
# > *Subject: possible privacy flaw in … (please treat as confidential)*
# >
# > In version … (Python …, numpy …) the outputs of … with ε = 1 tell the neighbouring inputs 1 and 0 apart: the event
# > in the attached vector has a probability between … and … on one and below … on the other, at confidence 1 − 10⁻⁶.
# > The claim allows a factor of *e*. Report, vector and ten lines that reproduce it are attached. I know of no
# > publication of it; the technique is that of … . I have told nobody else, propose to publish nothing before … , and
# > would gladly test a repair. If I have misread what the function promises, please tell me.

# %% [markdown]
# ## Exercises
#
# **1.** "Then round the result." Round the outputs of `release` in part 4 to multiples of $2^{-40}$. What does the
# attack say now? Is the function private?
#
# **2.** A library claims $\varepsilon = 8$, and a draw takes a millisecond. How long must you run before the runs
# could refute anything? And at $\varepsilon = 20$?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# NOT REFUTED: no output is off the grid any more. But the function is not $\varepsilon$-private. The noise comes from
# a uniform of 53 bits, so it ends at $\pm 52 \ln 2$ scales. Outputs beyond that, by up to 1, are possible with Alice
# and impossible without her. Their loss is infinite and their probability is near $10^{-16}$, so no sample will ever
# see them. An attack that finds nothing is no proof, and a repair that only stops one attack is no repair. A sound
# repair is exact noise on a grid that does not depend on the data.
#
# ```python
# def rounded(data, runs):
#     return np.ldexp(np.rint(np.ldexp(release(data, runs), 40)), -40)
#
#
# print(subnormal.check(rounded, pairs=NEIGHBOURS, claim=CLAIM, batch=True, seconds=2, alpha=ALPHA))
# print(f"numpy's Laplace noise ends at {52 * np.log(2):.4f} scales")
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# Even an event that always happens in one world and never in the other needs about $\ln(4/\alpha)\,e^{\varepsilon}$
# runs in each world. That is less than a minute at $\varepsilon = 8$, and three months at 20. Beyond that, no sample
# helps. Read the code, or compute its exact law, as the first notebooks do.
#
# ```python
# from subnormal.audit.statistics import binomial
#
# print("   ε       runs needed   at a millisecond each")
# for epsilon in (0.5, 1, 2, 4, 8, 12, 16, 20):
#     needed = binomial.runs_needed(ALPHA, epsilon)
#     seconds = needed / 1000
#     time = f"{seconds:,.1f} seconds" if seconds < 3600 else f"{seconds / 86400:,.1f} days"
#     print(f"{epsilon:>4g}{needed:>18,}   {time}")
# ```
#
# </details>
