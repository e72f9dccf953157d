"""The inputs of the company's statistics."""

from hypothesis import strategies as st
from hypothesis.extra import pandas as frames_of

from benchmarks.company.sound import AGE_BANDS, ANSWERS, BITS, MODES, PARTIES, STEPS, STORES

ages = st.lists(st.integers(0, 100), max_size=50)
incomes = st.lists(st.integers(0, 100), max_size=20)
values = st.lists(st.floats(0.0, 200.0), max_size=20)
modes = st.lists(st.sampled_from(MODES), max_size=20)
words = st.lists(st.sampled_from(["cold", "cough", "fever", "flu", "rash"]), max_size=50)
ballots = st.lists(st.lists(st.sampled_from(PARTIES), unique=True, max_size=4), max_size=20)
answers = st.lists(st.tuples(st.sampled_from(AGE_BANDS), st.sampled_from(ANSWERS)), max_size=20)
value = st.integers(0, BITS - 1)
examples = st.lists(st.tuples(st.floats(-10.0, 10.0), st.floats(-10.0, 10.0), st.floats(-10.0, 10.0)), max_size=20)
events = st.lists(st.integers(0, 1), min_size=STEPS, max_size=STEPS)
sales = frames_of.data_frames(
    columns=[
        frames_of.column("user", elements=st.integers(1, 5), dtype=int),
        frames_of.column("store", elements=st.sampled_from(STORES), dtype=object),
        frames_of.column("amount", elements=st.floats(0.0, 200.0), dtype=float),
    ],
    index=frames_of.range_indexes(max_size=20),
)


def changed(one: int, other: int) -> bool:
    """Any two values are neighbours."""
    return one != other
