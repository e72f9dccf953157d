"""One stream of bits, most significant first, however it is cut up."""

import itertools

import numpy as np
import pytest

from mechanisms.bits import BLOCK, OutOfBitsError, scripted_bits, seeded_bits, system_bits


@pytest.mark.parametrize("width", [1, 3, 8, 11, 24, 53, 57, 58, 63, 64])
def test_words_and_take_read_the_same_stream(width: int) -> None:
    whole = seeded_bits(7).take(3 + 20 * width)
    bits = seeded_bits(7)
    read = [bits.take(3), *bits.words(20, width).tolist()]
    assert read[0] == whole >> (20 * width)
    assert read[1:] == [whole >> (width * (19 - i)) & ((1 << width) - 1) for i in range(20)]
    assert bits.consumed == 3 + 20 * width


def test_a_stream_does_not_depend_on_how_it_is_cut_up() -> None:
    size = 8 * (BLOCK + 100)
    bits, whole = seeded_bits(3), seeded_bits(3).take(2 * size)
    cut = (bits.take(5), bits.take(size - 5), bits.take(size))
    assert ((cut[0] << (size - 5) | cut[1]) << size | cut[2]) == whole


def test_every_argument_gives_an_independent_stream() -> None:
    labels = itertools.product((1, 2), ("", "a"), ("", "m"), ("in", "out"), (0, 1))
    streams = {seeded_bits(*label).take(64) for label in labels}
    assert len(streams) == 32


def test_a_script_is_replayed_and_then_runs_out() -> None:
    bits = scripted_bits("1011", word_bits=2)
    assert bits.words(2).tolist() == [2, 3]
    with pytest.raises(OutOfBitsError, match="4 bits"):
        bits.take(1)
    assert bits.exhausted
    assert bits.consumed == 4


def test_system_bits_are_not_reproducible() -> None:
    assert system_bits().take(256) != system_bits().take(256)


def test_words_are_unsigned_64_bit() -> None:
    assert seeded_bits(1).words(5).dtype == np.uint64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scripted_bits("012"), "script must consist of 0s and 1s"),
        (lambda: system_bits(65), "word_bits must be between 1 and 64, got 65"),
        (lambda: system_bits().words(1, 0), "width must be between 1 and 64, got 0"),
        (lambda: system_bits().take(-1), "count must not be negative, got -1"),
    ],
)
def test_bad_input_is_named_with_its_value(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
