import os
import tempfile

import opendp.smartnoise.core as sn

SIZE, CATEGORIES = 6, ["no", "yes"]
SPENT = {"epsilon": 1.0}
PATH = os.path.join(tempfile.mkdtemp(), "data.csv")

waiting = {"data": None, "count": 1, "made": []}


def function(answers):
    """Return both noisy counts.

    An analysis costs as much as hundreds of histograms, each with noise of its own: more and more of them are made at
    once for the same answers.
    """
    if answers != waiting["data"]:
        waiting.update(data=answers, count=1, made=[])
    if not waiting["made"]:
        waiting.update(count=min(200, 2 * waiting["count"]), made=noisy_histograms(answers, waiting["count"]))
    return waiting["made"].pop()


def noisy_histograms(answers, count):
    with open(PATH, "w") as file:
        file.write("\n".join(["x", *answers]) + "\n")
    with sn.Analysis() as analysis:
        column = sn.to_string(sn.Dataset(path=PATH, column_names=["x"])["x"])
        column = sn.resize(sn.clamp(column, categories=CATEGORIES, null_value="no"), number_rows=SIZE)
        counts = sn.histogram(column)
        made = [sn.simple_geometric_mechanism(counts, lower=0, upper=SIZE, privacy_usage=SPENT) for _ in range(count)]
        analysis.release()
    return [[int(noisy) for noisy in one.value] for one in made]
