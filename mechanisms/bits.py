"""All randomness is an argument, and all of it is bits: one stream, most significant bit first, counted."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16  # bytes that a buffered source produces at a time


class OutOfBitsError(Exception):
    """A scripted source has handed out its whole script."""


class BitSource:
    """One stream of random bits, most significant first. `consumed` counts the bits handed out.

    take and words read the same stream: words(1, 8) and take(8) hand out the same bits. word_bits is the size of a
    word where the caller names none; samplers that read words are walked exhaustively by shrinking it.
    """

    __slots__ = ("_draw", "_pending", "_pending_bits", "consumed", "exhausted", "word_bits")

    def __init__(self, draw: Callable[[int], bytes], word_bits: int = 64, pending: tuple[int, int] = (0, 0)) -> None:
        """draw(n) returns the next n bytes of the stream; pending is (value, bits) to hand out before them."""
        if not 1 <= word_bits <= 64:
            raise ValueError(f"word_bits must be between 1 and 64, got {word_bits}")
        self._draw = draw
        self._pending, self._pending_bits = pending
        self.word_bits = word_bits
        self.consumed = 0
        self.exhausted = False

    def take(self, count: int) -> int:
        """Return the next `count` bits as an integer, the first of them the most significant."""
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        missing = count - self._pending_bits
        if missing > 0:
            size = (missing + 7) // 8
            try:
                fresh = self._draw(size)
            except OutOfBitsError:
                self.exhausted = True  # a sampler may swallow the exception; the walk must know all the same
                raise
            self._pending = self._pending << (8 * size) | int.from_bytes(fresh, "big")
            self._pending_bits += 8 * size
        self._pending_bits -= count
        value = self._pending >> self._pending_bits
        self._pending &= (1 << self._pending_bits) - 1
        self.consumed += count
        return value

    def words(self, count: int, width: int | None = None) -> NDArray[np.uint64]:
        """Return the next `count` integers of `width` bits each (word_bits where not given), shape (count,)."""
        width = self.word_bits if width is None else width
        if not 1 <= width <= 64:
            raise ValueError(f"width must be between 1 and 64, got {width}")
        if width == 64 and self._pending_bits == 0 and not self.exhausted:
            self.consumed += 64 * count
            return np.frombuffer(self._draw(8 * count), dtype=">u8").astype(np.uint64)
        total = count * width
        padding = -total % 8
        packed = (self.take(total) << padding).to_bytes((total + padding) // 8, "big")
        fields = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=total).reshape(count, width)
        left_padded = np.zeros((count, 64), dtype=np.uint8)
        left_padded[:, 64 - width :] = fields
        return np.packbits(left_padded, axis=1).view(">u8").reshape(count).astype(np.uint64)


def system_bits(word_bits: int = 64) -> BitSource:
    """Return bits from the operating system's cryptographic generator: the default for anything released."""
    return BitSource(os.urandom, word_bits)


def seeded_bits(seed: int, attack: str = "", mechanism: str = "", world: str = "", batch: int = 0) -> BitSource:
    """Return a reproducible stream, independent for every combination of the arguments. Not cryptographic.

    >>> seeded_bits(1).take(8) == seeded_bits(1).take(8)
    True
    """
    label = json.dumps([seed, attack, mechanism, world, batch]).encode()
    key = int.from_bytes(hashlib.blake2b(label, digest_size=16).digest(), "big")
    generator = np.random.Philox(key=key)
    return BitSource(_buffered(lambda size: generator.random_raw(size // 8).astype("<u8").tobytes()))


def scripted_bits(script: str, word_bits: int = 64) -> BitSource:
    """Return a source that replays a string of 0s and 1s, and raises OutOfBitsError when it has run out.

    >>> scripted_bits("110").take(2)
    3
    """
    if set(script) - {"0", "1"}:
        raise ValueError(f"script must consist of 0s and 1s, got {script!r}")

    def run_out(size: int) -> bytes:
        raise OutOfBitsError(f"the script has only {len(script)} bits")

    return BitSource(run_out, word_bits, (int(script or "0", 2), len(script)))


def _buffered(refill: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Return a draw function over whole blocks, so that the stream does not depend on how it is cut up."""
    buffer, position = b"", 0

    def draw(size: int) -> bytes:
        nonlocal buffer, position
        if size > len(buffer) - position:
            wanted = size - (len(buffer) - position)
            buffer = buffer[position:] + refill(-(-wanted // BLOCK) * BLOCK)
            position = 0
        position += size
        return buffer[position - size : position]

    return draw
