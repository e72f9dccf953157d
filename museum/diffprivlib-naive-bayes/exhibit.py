"""The number of classes and their counts in a naive Bayes classifier of one feature."""

from diffprivlib.models import GaussianNB
from hypothesis import strategies as st

from subnormal import Claim, change_one


def function(records: list[tuple[float, int]]) -> tuple[list[float], list[float]]:
    model = GaussianNB(epsilon=1.0, bounds=([0.0], [1.0]))
    model.fit([[feature] for feature, _ in records], [label for _, label in records])
    return model.classes_.tolist(), model.class_count_.tolist()


data = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9)), min_size=1, max_size=20)
adjacent = change_one()
claim = Claim(epsilon=1.0)
