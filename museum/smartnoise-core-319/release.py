import os
import tempfile

import opendp.smartnoise.core as sn

SIZE = 10
SPENT = {"epsilon": 0.2}
PATH = os.path.join(tempfile.mkdtemp(), "data.csv")

waiting = {"data": None, "count": 1, "sums": []}


def function(answers):
    """Return a noisy sum.

    An analysis costs as much as hundreds of sums, each with noise of its own: more and more of them are made at once
    for the same answers.
    """
    if answers != waiting["data"]:
        waiting.update(data=answers, count=1, sums=[])
    if not waiting["sums"]:
        waiting.update(count=min(200, 2 * waiting["count"]), sums=noisy_sums(answers, waiting["count"]))
    return waiting["sums"].pop()


def noisy_sums(answers, count):
    with open(PATH, "w") as file:
        file.write("\n".join(["x", *map(str, answers)]) + "\n")
    with sn.Analysis() as analysis:
        column = sn.to_int(sn.Dataset(path=PATH, column_names=["x"])["x"], lower=0, upper=1)
        total = sn.sum(sn.resize(sn.clamp(column, lower=0, upper=1), number_rows=SIZE, lower=0, upper=1))
        made = [sn.simple_geometric_mechanism(total, lower=0, upper=SIZE, privacy_usage=SPENT) for _ in range(count)]
        analysis.release()
    return [int(one.value) for one in made]
