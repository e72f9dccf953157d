"""Two laws aligned atom by atom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.law import ABSENT, CHUNK, Law, block_ends
from subnormal.mechanisms.core.outcome_identity import are_equal, are_numeric, identity, labels_at

TABLE = 1 << 16  # keys that a table can count, chunk by chunk, faster than sorting them


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Two laws over all their atoms, one entry for each pair of blocks, shape (pairs,).

    `count` atoms have the bounds of block `block_in` in one law and of block `block_out` in the other, ABSENT where a
    law does not have them.
    """

    count: NDArray[np.int64]
    block_in: NDArray[np.int64]
    block_out: NDArray[np.int64]


_Blocks = NDArray[np.int64]


def pair(law_in: Law[Any], law_out: Law[Any]) -> Pairing:
    """Align two laws atom by atom.

    Laws over indices, and laws with the same array of atoms, are aligned block by block, whatever the number of atoms.
    Different arrays of numbers are merged; any other atoms are looked up one by one.
    """
    both_indices = isinstance(law_in.atoms, range) and isinstance(law_out.atoms, range)
    if both_indices or are_equal(law_in.atoms, law_out.atoms):
        count, block_in, block_out = _pair_blocks(law_in, law_out)
    elif are_numeric(law_in.atoms, law_out.atoms):
        count, block_in, block_out = _pair_arrays(law_in, law_out)
    else:
        count, block_in, block_out = _pair_atoms(law_in, law_out)
    width = len(law_out.ends) + 1
    keys, inverse = np.unique((block_in - ABSENT) * width + (block_out - ABSENT), return_inverse=True)
    sums = np.bincount(inverse, weights=count).astype(np.int64)  # exact: there are fewer than 2**53 atoms
    return Pairing(sums, keys // width + ABSENT, keys % width + ABSENT)


def _pair_blocks(law_in: Law[Any], law_out: Law[Any]) -> tuple[_Blocks, _Blocks, _Blocks]:
    ends_in, ends_out = (np.asarray(law.ends, dtype=np.int64) for law in (law_in, law_out))
    ends = np.sort(np.concatenate([ends_in, ends_out]), kind="stable")  # merges two sorted arrays
    ends = ends[block_ends(ends) - 1]
    blocks = []
    for law, own in ((law_in, ends_in), (law_out, ends_out)):
        block = np.append(law.alike(), ABSENT)  # beyond its last block a law has no atoms
        blocks.append(block[np.searchsorted(own, ends - 1, side="right")])
    return np.diff(ends, prepend=0), blocks[0], blocks[1]


def _pair_arrays(law_in: Law[Any], law_out: Law[Any]) -> tuple[_Blocks, _Blocks, _Blocks]:
    """Count the atoms of law_out by the kinds of their blocks in both laws, then those that only law_in has."""
    kinds_in, kinds_out = _Kinds.of(law_in), _Kinds.of(law_out)
    width = len(kinds_out.first)
    found = labels_at(np.asarray(law_out.atoms), np.asarray(law_in.atoms), kinds_in.of_atom)  # 0 where law_in has none
    chunks = (slice(start, start + CHUNK) for start in range(0, len(found), CHUNK))
    keys = (found[chunk] * np.int64(width) + kinds_out.of_atom[chunk] - 1 for chunk in chunks)
    keys_found, count = _tally(keys, (1 + len(kinds_in.first)) * width)
    of_in, of_out = keys_found // width - 1, keys_found % width
    shared = np.bincount(of_in[of_in >= 0], weights=count[of_in >= 0], minlength=len(kinds_in.size))
    alone_in = kinds_in.size - shared.astype(np.int64)
    left_in = np.flatnonzero(alone_in)
    return (
        np.concatenate([count, alone_in[left_in]]),
        np.concatenate([np.append(kinds_in.first, ABSENT)[of_in], kinds_in.first[left_in]]),
        np.concatenate([kinds_out.first[of_out], np.full(len(left_in), ABSENT)]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """Blocks with the same bounds form a kind: each kind's first block and number of atoms; each atom's kind + 1."""

    first: _Blocks
    size: NDArray[np.int64]
    of_atom: NDArray[np.integer[Any]]

    @classmethod
    def of(cls, law: Law[Any]) -> _Kinds:
        alike, counts = law.alike(), law.counts()
        is_first = alike == np.arange(len(alike))
        kinds = (np.cumsum(is_first) - 1)[alike]
        size = np.bincount(kinds, weights=counts).astype(np.int64)
        narrow = (kinds + 1).astype(np.min_scalar_type(len(size)))  # mostly one byte an atom
        return cls(np.flatnonzero(is_first), size, np.repeat(narrow, counts))


def _tally(chunks: Iterator[NDArray[np.int64]], size: int) -> tuple[_Blocks, _Blocks]:
    """Return the keys below `size` that occur in the chunks, ascending, and how often each occurs."""
    if size > TABLE:
        keys, counts = np.unique(np.concatenate(list(chunks)), return_counts=True)
        return keys, counts.astype(np.int64)
    table = np.zeros(size, dtype=np.int64)
    for chunk in chunks:
        table += np.bincount(chunk, minlength=size)
    keys = np.flatnonzero(table)
    return keys, table[keys]


def _pair_atoms(law_in: Law[Any], law_out: Law[Any]) -> tuple[_Blocks, _Blocks, _Blocks]:
    block_in, block_out = (np.repeat(law.alike(), law.counts()) for law in (law_in, law_out))
    where_out = {identity(atom): position for position, atom in enumerate(law_out.atoms)}
    matches = np.array([where_out.pop(identity(atom), ABSENT) for atom in law_in.atoms], dtype=np.int64)
    only_out = np.fromiter(where_out.values(), dtype=np.int64, count=len(where_out))
    paired_in = np.append(block_in, np.full(len(only_out), ABSENT))
    paired_out = np.append(np.where(matches == ABSENT, ABSENT, block_out[matches]), block_out[only_out])
    return np.ones(len(paired_in), dtype=np.int64), paired_in, paired_out
