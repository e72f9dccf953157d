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
# # Sparse vector in 15 minutes
#
# Many questions, and only the answers "above" cost. Four published versions are not private as claimed. Lab 4 audits
# them.
#
# **To present: 15 minutes**, before lab 4. Each slide says how many.

# %% [markdown]
# ## The task (2 minutes)
#
# - A stream of queries $q_1, q_2, \dots$; one person moves each by at most $\Delta$.
# - Which is the first above the threshold $T$?
# - With fresh noise and a budget for each answer, a thousand queries cost a thousand budgets.
#
# **Ask:** what do we want for free? *The answers "below".*

# %% [markdown]
# ## The algorithm (3 minutes)
#
# $$\text{above} \iff q_i + \nu_i \ge T + \rho$$
#
# $$\rho \sim \mathrm{Lap}(\Delta/\varepsilon_1) \text{ once}, \qquad
# \nu_i \sim \mathrm{Lap}(2\Delta/\varepsilon_2) \text{ for each query}$$
#
# - The threshold gets noise *once*, and each query gets its own.
# - After the first "above" the program stops.
# - It releases the place where it stopped, and never the noisy value.

# %% [markdown]
# ## What comes out (3 minutes)
#
# Eight queries, the threshold is 0. Without Alice each query is 1 higher.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
from IPython.display import Markdown

from subnormal.attacks.sparse_vector.published_variants import no_cutoff, noiseless_answers, noisy_value, unscaled_noise
from subnormal.audit.evidence import exact
from subnormal.mechanisms.families import member
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from subnormal.plots import Panel, picture

EPSILON = 1.0
QUERIES = np.array([-6, -2, -9, 1, -4, 0, 7, 3])
sparse_vector = member("sparse-vector-exact")
public = SparseVectorParameters(epsilon=EPSILON, lower=-10, upper=10, width=40)
curves = {}
for name, queries, look in (("with Alice", QUERIES, "in bars"), ("without", QUERIES + 1, "out bars")):
    law = sparse_vector.law(queries, public)
    atoms = sorted(law.atoms, key=lambda atom: (len(atom), -sum(atom)))
    curves[name] = range(len(atoms)), [float(law.probability(atom)[0]) for atom in atoms], look
ticks = {at: f"query {at + 1}\n({query})" for at, query in enumerate(QUERIES)} | {8: "none"}
picture(Panel(curves=curves, ticks=ticks, x="the first above", y="probability"), size=(12, 4))

# %% [markdown]
# ## The proof (4 minutes)
#
# Without Alice every query may be $\Delta$ higher. Pair each $\rho$ with $\rho + \Delta$.
#
# 1. The pairs cost $\varepsilon_1$, *once*.
# 2. In each pair every "below" is at least as likely in the other world. It costs nothing, however many there are.
# 3. Only the one "above" is less likely. Its own noise $\nu$ must pay $2\Delta$: this costs $\varepsilon_2$.
#
# **Ask:** what if the queries have no noise? If the program never stops? If it releases the noisy value?

# %% [markdown]
# ## Four published mistakes (3 minutes)
#
# | algorithm | what differs | the step that fails |
# |---|---|---|
# | 3 | the noisy value is released | 2: the value tells which $\rho$ are impossible |
# | 4 | $\nu$ has a smaller scale | 3: each "above" costs more than was paid |
# | 5 | no $\nu$, no stop | 3: nothing pays |
# | 6 | smaller $\nu$, no stop | 3, once for every "above" |

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lines = ["| algorithm | largest loss on the worlds of its attack | claimed |", "|---|---|---|"]
for attack in (noisy_value(EPSILON), unscaled_noise(EPSILON), noiseless_answers(EPSILON), no_cutoff(EPSILON)):
    mechanism = member(attack.breaks[0])
    laws = [mechanism.law(data, attack.parameters) for data in attack.worlds()]
    loss = exact.compare(*laws, mechanism.claim(attack.parameters, *attack.worlds()), attack.event).epsilon
    lines.append(f"| {mechanism.name[-1]} | {loss:.4g} | {EPSILON:g} |".replace("inf", "∞"))
Markdown("\n".join(lines))

# %% [markdown]
# Their noise here is exact: the algorithm is broken, and not the arithmetic. **Now lab 4.**
