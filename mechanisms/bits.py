"""All randomness is an argument, and all of it is bits: one stream, most significant bit first, counted."""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Callable
from threading import RLock
from typing import Never
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 13  # 64-bit words that a buffered source produces at a time
REKEY_AFTER = 1 << 30  # bytes of keystream from one key
AHEAD = 64  # words that are made ready for calls that ask for a single one

Draw = Callable[[int], NDArray[np.uint64]]  # the next words of a stream


class OutOfBitsError(Exception):
    """A scripted source has no bits left."""


class BitSource:
    """One stream of random bits, most significant first. `consumed` counts the bits handed out.

    take and words read the same stream: words(1, 8) and take(8) hand out the same bits. word_bits is the size of a
    word where the caller names none; samplers that read words are walked exhaustively by shrinking it.

    Samplers whose work depends on what they drew count it here, next to `consumed`, so that side channels can be
    measured: `tries`, the candidates drawn, rejected ones included, and `steps`, the passes of a loop that may stop
    early.

    Threads that share a source never get the same bits. A source cannot be copied: both copies would repeat them.
    """

    __slots__ = (
        "__weakref__",
        "_ahead",
        "_counted",
        "_draw",
        "_lock",
        "_pending",
        "_pending_bits",
        "_ready",
        "exhausted",
        "steps",
        "tries",
        "word_bits",
    )

    def __init__(self, draw: Draw, word_bits: int = 64, pending: tuple[int, int] = (0, 0), ahead: int = 1) -> None:
        """draw(n) returns the next n 64-bit words of the stream; pending is (value, bits) to hand out before them.

        ahead: how many words are drawn where a single one is asked for. Raises ValueError for word_bits outside 1 … 64.
        """
        if not 1 <= word_bits <= 64:
            raise ValueError(f"word_bits must be between 1 and 64, got {word_bits}")
        self._draw = draw
        self._lock = RLock()
        self._pending, self._pending_bits = pending
        self._ready: list[NDArray[np.uint64]] = []  # words drawn ahead, of shape (1,), the next one last
        self._ahead = ahead
        self.word_bits = word_bits
        self._counted = self.tries = self.steps = 0
        self.exhausted = False

    @property
    def consumed(self) -> int:
        """The bits handed out. Words that were drawn ahead are counted beforehand."""
        return self._counted - 64 * len(self._ready)

    def take(self, count: int) -> int:
        """Return the next `count` bits as an integer, the first of them the most significant.

        Raises ValueError for a negative count.
        """
        if count == 64 and self._ready and not self._pending_bits:
            try:
                return self._ready.pop().item()  # one step, so that no thread needs the lock
            except IndexError:  # another thread took the last
                pass
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        with self._lock:
            return self._take(count)

    def _take(self, count: int) -> int:
        missing = count - self._pending_bits
        if missing == 64 == count:  # the usual single draw
            return self._one().item()
        if missing > 0:
            size = (missing + 63) // 64
            fresh = self._fresh(size)
            value = int(fresh[0]) if size == 1 else int.from_bytes(fresh.astype(">u8").tobytes(), "big")
            self._pending = self._pending << (64 * size) | value
            self._pending_bits += 64 * size
        self._pending_bits -= count
        value = self._pending >> self._pending_bits
        self._pending &= (1 << self._pending_bits) - 1
        self._counted += count
        return value

    def _one(self) -> NDArray[np.uint64]:
        """Return the next word, counted, and draw others ahead."""
        words = self._fresh(self._ahead)
        self._counted += words.nbytes * 8
        if len(words) == 1:
            return words
        ahead = list(words[::-1].reshape(-1, 1))
        one = ahead.pop()
        self._ready[:0] = ahead
        return one

    def _fresh(self, count: int) -> NDArray[np.uint64]:
        """Return the next words, those drawn ahead first. The caller counts them."""
        ahead: list[NDArray[np.uint64]] = []
        try:
            while self._ready and len(ahead) < count:
                ahead.append(self._ready.pop())
        except IndexError:  # another thread took the last
            pass
        self._counted -= 64 * len(ahead)
        try:
            fresh = self._draw(count - len(ahead))
        except OutOfBitsError:
            self.exhausted = True  # a sampler may swallow the exception; the walk must know all the same
            raise
        return np.concatenate([*ahead, fresh]) if ahead else fresh

    def words(self, count: int, width: int | None = None) -> NDArray[np.uint64]:
        """Return the next `count` integers of `width` bits each (word_bits where not given), shape (count,).

        Raises ValueError for a negative count and for a width outside 1 to 64.
        """
        if count == 1 and width is None and self._ready and not self._pending_bits:
            try:
                return self._ready.pop()
            except IndexError:  # another thread took the last
                pass
        width = self.word_bits if width is None else width
        if not 1 <= width <= 64:
            raise ValueError(f"width must be between 1 and 64, got {width}")
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        with self._lock:
            if width == 64 and self._pending_bits == 0 and count > 0:
                if count == 1:
                    return self._one()
                fresh = self._fresh(count)
                self._counted += 64 * count
                return fresh
        if count == 1:
            return np.array([self.take(width)], dtype=np.uint64)
        total = count * width
        padding = -total % 64
        packed = (self.take(total) << padding + 64).to_bytes((total + padding) // 8 + 8, "big")
        whole = np.frombuffer(packed, dtype=">u8").astype(np.uint64)
        first = np.arange(0, total, width)
        place, offset = first >> 6, (first & 63).astype(np.uint64)
        # A field begins in one word and may end in the next, which the last shift leaves out where it does not.
        left: NDArray[np.uint64] = whole[place] << offset | whole[place + 1] >> np.uint64(1) >> (np.uint64(63) - offset)
        left >>= np.uint64(64 - width)
        return left

    def forget(self) -> None:
        """Drop the bits drawn and not yet returned, and release the lock: for the child of a fork."""
        self._lock = RLock()
        self._counted = self.consumed
        self._ready = []
        self._pending = self._pending_bits = 0

    def __reduce_ex__(self, protocol: object) -> Never:
        """Raise TypeError: a copy would return the same bits again."""
        raise TypeError("a source of random bits cannot be copied or pickled: the copy would hand out the same bits")


class _Keystream:
    """AES-256 in counter mode, keyed from the operating system, into a buffer that is used again and again."""

    def __init__(self) -> None:
        self._buffer = np.empty(CHUNK, dtype=np.uint64)
        self._zeros = memoryview(bytes(8 * CHUNK))  # its slices are no copies
        self.rekey()

    def rekey(self) -> None:
        """Take a new key, and drop what the old one made."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher = Cipher(algorithms.AES256(os.urandom(32)), modes.CTR(os.urandom(16)))
        self._encryptor = cipher.encryptor()
        self._left = REKEY_AFTER
        self._position = CHUNK

    def _fill(self, words: NDArray[np.uint64]) -> None:
        if self._left < words.nbytes:
            self.rekey()
        self._left -= words.nbytes
        self._encryptor.update_into(self._zeros[: words.nbytes], words.view(np.uint8).data)

    def draw(self, count: int) -> NDArray[np.uint64]:
        """Return the next words; a copy, so that the buffer can be used again."""
        end = self._position + count
        if end <= CHUNK:
            drawn = self._buffer[self._position : end].copy()
            self._position = end
            return drawn
        drawn = np.empty(count, dtype=np.uint64)
        done = CHUNK - self._position
        drawn[:done] = self._buffer[self._position :]
        while count - done >= CHUNK:
            self._fill(drawn[done : done + CHUNK])
            done += CHUNK
        self._fill(self._buffer)
        self._position = count - done
        drawn[done:] = self._buffer[: self._position]
        return drawn


_released: WeakSet[BitSource] = WeakSet()  # the sources whose bits may be released
_keystreams: WeakSet[_Keystream] = WeakSet()


def _after_fork_in_child() -> None:
    for keystream in _keystreams:
        keystream.rekey()
    for source in _released:
        source.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def system_bits(word_bits: int = 64) -> BitSource:
    """Return a source of cryptographic random bits, the default for anything that is released.

    An AES-256 counter-mode keystream, indistinguishable from uniform for anyone who cannot break AES. It has a fresh
    key from the operating system for every source, after every GiB, and in the child after a fork. Anyone who reads
    this process's memory learns the bits of its present key, past ones too. Threads may share a source.
    In bulk it is more than ten times faster than asking the operating system (`make bench`); a single word costs less
    too, nearly all of it Python's: words are drawn ahead.

    Args:
        word_bits: the size of a word, 1 to 64, where a sampler that reads words names none.

    Returns:
        The source: `take(k)` returns k bits as an integer, `words(n)` n words as an array.

    Raises:
        ValueError: word_bits is not between 1 and 64.
    """
    keystream = _Keystream()
    source = BitSource(keystream.draw, word_bits, ahead=AHEAD if word_bits == 64 else 1)
    _keystreams.add(keystream)
    _released.add(source)
    return source


def seeded_bits(
    seed: int, attack: str = "", mechanism: str = "", world: str = "", batch: int = 0, *, word_bits: int = 64
) -> BitSource:
    """Return a reproducible stream, independent for every combination of the labels. Not cryptographic.

    >>> seeded_bits(1).take(8) == seeded_bits(1).take(8)
    True
    """
    label = json.dumps([operator.index(seed), attack, mechanism, world, batch]).encode()
    key = int.from_bytes(hashlib.blake2b(label, digest_size=16).digest(), "big")
    return BitSource(np.random.Philox(key=key).random_raw, word_bits)


def scripted_bits(script: str, word_bits: int = 64) -> BitSource:
    """Return a source that replays a string of 0s and 1s, and raises OutOfBitsError when it has run out.

    Raises ValueError for a script with any other character.

    >>> scripted_bits("110").take(2)
    3
    """
    if set(script) - {"0", "1"}:
        raise ValueError(f"script must consist of 0s and 1s, got {script!r}")

    def run_out(size: int) -> NDArray[np.uint64]:
        raise OutOfBitsError(f"the script has only {len(script)} bits")

    return BitSource(run_out, word_bits, (int(script or "0", 2), len(script)))


def require_draws(n: int) -> None:
    """Raise ValueError unless the number of draws is 0 or more."""
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
