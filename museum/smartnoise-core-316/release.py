import os
import tempfile

import opendp.smartnoise.core as sn

SIZE, BOUNDS = 10, {"lower": 0.0, "upper": 1.0}
SPENT = {"epsilon": 1.0, "delta": 1e-5}
PATH = os.path.join(tempfile.mkdtemp(), "data.csv")

waiting = {"data": None, "count": 1, "sums": []}


def function(numbers):
    """Return a noisy sum, rounded: the low bits of float noise are a flaw of their own.

    An analysis costs as much as hundreds of sums, each with noise of its own: more and more of them are made at once
    for the same numbers.
    """
    if numbers != waiting["data"]:
        waiting.update(data=numbers, count=1, sums=[])
    if not waiting["sums"]:
        waiting.update(count=min(200, 2 * waiting["count"]), sums=noisy_sums(numbers, waiting["count"]))
    return waiting["sums"].pop()


def noisy_sums(numbers, count):
    with open(PATH, "w") as file:
        file.write("\n".join(["x", *map(repr, numbers)]) + "\n")
    with sn.Analysis(protect_floating_point=False) as analysis:
        column = sn.impute(sn.to_float(sn.Dataset(path=PATH, column_names=["x"])["x"]), **BOUNDS)
        total = sn.sum(sn.resize(sn.clamp(column, **BOUNDS), number_rows=SIZE, **BOUNDS))
        made = [sn.gaussian_mechanism(total, privacy_usage=SPENT) for _ in range(count)]
        analysis.release()
    return [round(float(one.value), 3) for one in made]
