"""One stream of bits, most significant first, however it is cut up."""

import copy
import itertools
import os
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from subnormal.mechanisms.bits import CHUNK, OutOfBitsError, scripted_bits, seeded_bits, system_bits


@pytest.mark.parametrize("width", [1, 3, 8, 11, 24, 53, 57, 58, 63, 64])
def test_words_and_take_read_the_same_stream(width: int) -> None:
    whole = seeded_bits(7).take(3 + 20 * width)
    bits = seeded_bits(7)
    read = [bits.take(3), *bits.words(20, width).tolist()]
    assert read[0] == whole >> (20 * width)
    assert read[1:] == [whole >> (width * (19 - i)) & ((1 << width) - 1) for i in range(20)]
    assert bits.consumed == 3 + 20 * width


def test_a_stream_does_not_depend_on_how_it_is_cut_up() -> None:
    size = 8 * (1000 + 100)
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


@pytest.mark.parametrize("cuts", [[1], [7, 1, 5000], [CHUNK], [CHUNK + 1], [3 * CHUNK + 5, 2, CHUNK]])
def test_the_keystream_is_that_of_its_key(cuts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """AES-256-CTR over zeros by one call, against the buffered stream cut up: no word lost, none handed out twice."""
    monkeypatch.setattr("os.urandom", lambda size: bytes(range(size)))
    bits = system_bits()
    drawn = np.concatenate([bits.words(cut) for cut in cuts])
    encryptor = Cipher(algorithms.AES256(bytes(range(32))), modes.CTR(bytes(range(16)))).encryptor()
    assert drawn.tobytes() == encryptor.update(bytes(8 * sum(cuts)))


def test_words_drawn_ahead_keep_their_place_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single words, of which many are drawn ahead, between calls for more: by the keystream of the same key."""
    monkeypatch.setattr("os.urandom", lambda size: bytes(range(size)))
    bits, stream = system_bits(), system_bits().words(400).tolist()
    drawn: list[int] = []
    for count in (1, 1, 5, 1, 70, 1, 1, 200, 1):
        drawn += bits.words(count).tolist() if count > 1 or len(drawn) % 2 else [bits.take(64)]
        assert bits.consumed == 64 * len(drawn)
    assert drawn == stream[: len(drawn)]
    left = stream[len(drawn) :]
    assert bits.take(1) == left[0] >> 63
    shifted = [(word << 1 | following >> 63) & (2**64 - 1) for word, following in itertools.pairwise(left)]
    assert [bits.take(64), *bits.words(1).tolist(), bits.take(64)] == shifted[:3]


def test_what_was_handed_out_is_not_overwritten() -> None:
    bits = system_bits()
    first = bits.words(3)
    kept = first.copy()
    bits.words(2 * CHUNK)
    assert (first == kept).all()


def test_a_new_key_after_the_stated_volume(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[int] = []

    def urandom(size: int) -> bytes:
        keys.append(size)
        return bytes(size)

    monkeypatch.setattr("os.urandom", urandom)
    monkeypatch.setattr("subnormal.mechanisms.bits.REKEY_AFTER", 8 * 2 * CHUNK)
    bits = system_bits()
    for _ in range(6):
        bits.words(CHUNK)
    assert keys == [32, 16] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked on this system")
@pytest.mark.parametrize("before", [5, 64], ids=["leaves-bits-behind", "draws-words-ahead"])
def test_a_child_process_never_repeats_its_parents_bits(before: int) -> None:
    bits = system_bits()
    bits.take(before)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, bits.take(256).to_bytes(32, "big"))
        os._exit(0)
    os.waitpid(child, 0)
    of_the_child = int.from_bytes(os.read(reading, 32), "big")
    of_the_parent = bits.take(256)
    assert of_the_child != of_the_parent
    assert of_the_child >> 220 != of_the_parent >> 220  # not even the bits left behind


def test_threads_that_share_a_source_never_get_the_same_bits() -> None:
    """200-bit draws from four threads that take turns at every chance; two equal ones by chance: below 2^-170."""
    bits, before = system_bits(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            parts = list(threads.map(lambda _: [bits.take(200) for _ in range(1_500)], range(4)))
            words = list(threads.map(lambda _: [int(bits.words(1)[0]) for _ in range(1_500)], range(4)))
    finally:
        sys.setswitchinterval(before)
    assert len({drawn for part in parts for drawn in part}) == 6_000
    assert len({drawn for part in words for drawn in part}) == 6_000  # by chance: below 2^-39
    assert bits.consumed == 6_000 * 264


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_is_not_copied(duplicate: Callable[[object], object]) -> None:
    for bits in (system_bits(), seeded_bits(1), scripted_bits("1")):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            duplicate(bits)


def test_a_seeded_stream_never_changes() -> None:
    # Reports of earlier versions must be reproducible: these are the first words of the stream for ever.
    assert seeded_bits(1).take(64) == 2109235076638130022
    assert seeded_bits(1, "attack", "mechanism", "in", 3).take(64) == 15435095555928244042


def test_bits_left_over_come_before_a_word() -> None:
    whole, bits = seeded_bits(2).take(192), seeded_bits(2)
    assert bits.take(62) == whole >> 130
    assert bits.words(1).tolist() == [whole >> 66 & (2**64 - 1)]
    assert bits.take(66) == whole & (2**66 - 1)


def test_asking_for_nothing_takes_nothing() -> None:
    bits = scripted_bits("")
    assert bits.words(0).shape == (0,)
    assert not bits.exhausted


def test_a_whole_word_that_is_not_there_is_noticed() -> None:
    bits = scripted_bits("1")
    bits.take(1)
    with pytest.raises(OutOfBitsError):
        bits.words(1)
    assert bits.exhausted
    assert bits.consumed == 1
