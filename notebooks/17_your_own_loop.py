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
# # Your own loop: which stage is wrong
#
# **Claim.** A loop of DP-SGD can be checked end to end, without annotations, and the check names the stage that is
# wrong.
#
# **Mechanism.** A step draws a batch, clips each gradient to the norm $C$, adds them up, and adds Gaussian noise of
# deviation $\sigma C$. An accountant turns $\sigma$, the sampling rate and the number of steps into
# $(\varepsilon, \delta)$. A record that moves the outcome by $c$, where the noise moves it by $\tau$, has a loss of
# $c/\tau \le 1/\sigma$.
#
# **You will see** a loop that passes, four that do not, and what a record moves in each. **To present: 10 minutes.**

# %% [markdown]
# ## Change me

# %%
CLIP = 1.0  # the norm of a gradient
SIGMA = 1.1  # the noise multiplier
RATE = 0.05  # the probability that a record is in a batch
STEPS = 1_000
DELTA = 1e-5

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np

from explore import explore
from subnormal import Claim, check_training
from subnormal.audit.training.accounting import bounds
from subnormal.audit.training.bench import bench_of
from subnormal.audit.training.loop import Loop
from subnormal.audit.training.records import mapped, records_of
from subnormal.audit.training.sampling import Sampler
from subnormal.plots import Panel, picture

people = np.random.default_rng(5).normal(size=(200, 6))
votes = (people @ np.arange(6) > 0).astype(int)


def gradients(theta, x, y):
    """The gradients of the logistic loss, one in each row."""
    each = (1 / (1 + np.exp(-np.clip(np.nan_to_num(x @ theta), -30, 30))) - y)[:, None] * x
    return np.clip(np.nan_to_num(each), -1e60, 1e60)


# %% [markdown]
# ## A loop
#
# This is an ordinary loop of DP-SGD. No line of it is there for the check.


# %%
def poisson(random, x):
    return np.flatnonzero(random.random(len(x)) < RATE)


def clipped(each):
    return each / np.maximum(1, np.linalg.norm(each, axis=1, keepdims=True) / CLIP)


def gaussian(random, theta):
    return random.normal(0, SIGMA * CLIP, theta.shape)


# %%
def loop(batch=poisson, prepared=lambda x: x, clipped=clipped, noise=gaussian):
    def train(data, steps):
        x, y = data
        random, theta = np.random.default_rng(), np.zeros(x.shape[1])
        for _ in range(steps):
            chosen = batch(random, x)
            each = gradients(theta, prepared(x[chosen]), y[chosen])
            theta = theta - 0.01 * (clipped(each).sum(axis=0) + noise(random, theta))
        return theta

    return train


# %% [markdown]
# ## The check
#
# `check_training` takes the loop, some data, and what the accountant assumes. It runs the loop some 150 times, with
# hooks in front of the functions that draw noise.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
low, up = bounds(Sampler("poisson", RATE), SIGMA, STEPS, DELTA, len(people), "add-or-remove")


def checked(train, **options):
    given = {"clip": CLIP, "noise_multiplier": SIGMA, "steps": STEPS, "sample_rate": RATE, "step_size": 0.01}
    return check_training(train, (people, votes), claim=Claim(up, DELTA), **(given | options))


right = checked(loop())
print(right)

# %% [markdown]
# ## Four pitfalls
#
# Each of these loops differs from the first one in one line. All of them run, and their models look fine.


# %%
def shuffled(random, x):  # batches of a fixed size, as most loaders make them
    return random.permutation(len(x))[: int(RATE * len(x))]


def centred(x):  # with the mean of the batch
    return x - x.mean(axis=0) if len(x) else x


def halves(each):  # each layer to the norm C
    return np.hstack([clipped(each[:, :3]), clipped(each[:, 3:])])


def same(random, theta):  # "for reproducibility"
    return gaussian(np.random.default_rng(0), theta)


# %% jupyter={"source_hidden": true} tags=["hide-input"]
loops = {"shuffled": loop(shuffled), "centred": loop(prepared=centred), "halves": loop(clipped=halves)}
loops["fixed seed"] = loop(noise=same)
found = {name: checked(train) for name, train in loops.items()}
for name, result in found.items():
    (stage,) = result.violated
    print(f"{name:<12}{stage:<12}{result.stage(stage).said[0]}\n")

# %% [markdown]
# ## What a record moves
#
# We make one record of a batch larger and leave the noise as it is. Vertical: how far the sum moves, in clipping
# norms, measured by the noise. At most 1 is allowed.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
SCALES = np.logspace(-2, 4, 25)


def moved(train):
    """How far a record of these scales moves the noisy sum, in clipping norms."""
    records, measured = records_of((people, votes)), Loop(train)
    with measured.hooked(records):
        bench = bench_of(measured, records, 1)
        larger = [mapped(records.record(1), lambda one, scale=scale: one * scale) for scale in SCALES]
        nothing = bench.moved({bench.batch[0]: mapped(records.record(1), lambda one: one * 0)})
        return [SIGMA * bench.loss(bench.moved({bench.batch[0]: one}) - nothing) for one in larger]


everything = {"no clipping": loop(clipped=lambda each: each), "correct": loop()}
everything |= {name: loops[name] for name in ("centred", "halves")}
looks = dict(zip(everything, ("grey line", "black dashed", "exact dashed", "grey dotted"), strict=True))
curves = {name: (SCALES, moved(train), looks[name]) for name, train in everything.items()}
panel = Panel(
    curves={**curves, "allowed": (SCALES, 1.0, "claim dotted")},
    x="size of the record",
    y="clipping norms",
    log="xy",
    ylim=(0.01, 30),
)

# %%
picture(panel, size=(10, 4))

# %% [markdown]
# ## What the accountant may say
#
# The true $\varepsilon$ of Poisson sampling lies between certified bounds. Batches of a shuffled order have a larger
# $\varepsilon$: after one epoch its lower bound may exceed what an accountant says for Poisson sampling.


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def epsilons(sigma, rate, delta):
    """Lower and upper bounds over the steps of one epoch of batches."""
    epoch = round(1 / rate)
    steps = [one for one in (1, 2, 5, 10, 20, 50, 100) if one <= epoch]
    size = 1_000 // epoch
    samplers = {"Poisson": Sampler("poisson", rate), "shuffled": Sampler("shuffled", size=size)}
    found = {
        name: np.transpose([bounds(one, sigma, count, delta, 1_000, "add-or-remove") for count in steps])
        for name, one in samplers.items()
    }
    curves = {
        "Poisson, upper bound": (steps, found["Poisson"][1], "grey line"),
        "Poisson, lower bound": (steps, found["Poisson"][0], "black dashed"),
        "shuffled, lower bound": (steps, found["shuffled"][0], "exact dashed"),
    }
    return picture(Panel(curves=curves, x="steps", y="ε", log="x"), size=(10, 4))


# %%
explore(epsilons, sigma=(0.6, [0.4, 0.6, 0.8]), rate=(0.05, [0.02, 0.05]), delta=(DELTA, [1e-6, 1e-5]))

# %% [markdown]
# ## Exercises
#
# **1.** Let the loop return `theta` and the mean gradient of each batch. Which stage is named, and what would make it
# right?
#
# **2.** Divide the sum by `max(1, len(chosen))` instead of a constant. What does the check say? Why is the size of a
# Poisson batch secret?

# %% [markdown]
# <details><summary><b>Solution 1</b></summary>
#
# The stage is *released besides*: the mean of a batch depends on its records and gets no noise. Do not release it, or
# add noise to it and count that release in the accountant too.
#
# ```python
# def with_means(data, steps):
#     x, y = data
#     random, theta, means = np.random.default_rng(), np.zeros(x.shape[1]), []
#     for _ in range(steps):
#         chosen = poisson(random, x)
#         each = gradients(theta, x[chosen], y[chosen])
#         means.append(np.abs(each).mean() if len(each) else 0.0)
#         theta = theta - 0.01 * (clipped(each).sum(axis=0) + gaussian(random, theta))
#     return theta, np.array(means)
#
#
# print(checked(with_means))
# ```
#
# </details>

# %% [markdown]
# <details><summary><b>Solution 2</b></summary>
#
# The stage is *aggregation*: the sum and the noise are divided by a number that depends on the data. If records are
# added or removed, one more record in the batch makes this number larger by one. So the size of the noise tells that
# somebody is in the batch. Divide by the expected size instead.
#
# ```python
# def by_the_batch(data, steps):
#     x, y = data
#     random, theta = np.random.default_rng(), np.zeros(x.shape[1])
#     for _ in range(steps):
#         chosen = poisson(random, x)
#         noisy = clipped(gradients(theta, x[chosen], y[chosen])).sum(axis=0) + gaussian(random, theta)
#         theta = theta - 0.1 * noisy / max(1, len(chosen))
#     return theta
#
#
# print(checked(by_the_batch, step_size=0.1))
# ```
#
# </details>
