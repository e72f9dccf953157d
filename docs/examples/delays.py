"""Write histograms of delays, two text files with one count a line: python docs/examples/delays.py FOLDER.

They have the shape of the recordings of CoverUp (Sommer et al.), with which privacy buckets were evaluated: how often a
browser took so many milliseconds, for a participant that does no more than it shows, and for one that also sends
messages, which takes a millisecond. The recordings themselves are not ours; these counts are made by a seed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

MILLISECONDS = 300
RECORDED = 10**9  # delays of each participant


def histograms() -> tuple[list[int], list[int]]:
    """Return the counts of both participants: normal around 101 and 100 ms, deviation 20 ms, from 0 to 299 ms."""
    rng, at = np.random.default_rng(1), np.arange(MILLISECONDS)
    weights = [np.exp(-(((at - mean) / 20) ** 2) / 2) for mean in (101, 100)]
    sending, passive = (rng.multinomial(RECORDED, weight / weight.sum()).tolist() for weight in weights)
    return sending, passive


def main(folder: Path) -> None:
    """Write sending.txt and passive.txt."""
    for name, counts in zip(("sending", "passive"), histograms(), strict=True):
        (folder / f"{name}.txt").write_text("".join(f"{count}\n" for count in counts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
