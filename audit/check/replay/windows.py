"""Where thresholds on a release are sought, and between which close values."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from subnormal.audit.check.replay.recorder import Release
from subnormal.audit.check.result import ModelledLoss
from subnormal.mechanisms.privacy import Claim

RESOLUTION = 0.05  # scales: a release is read finely where twice so much always holds a threshold
TAIL = 6.0  # scales beyond both locations up to which a threshold in a tail is sought
CENTRES, SIDES = 5, 2.0  # places at which the resolution is looked at, up to so many scales beyond both locations
NEAR = 0.5  # scales on either side of the best threshold within which one is sought
BEYOND = 1.1  # times the claim's ε: the loss at the threshold that is sought in the tail of Gaussian noise

Number = tuple[int, int]  # of a call, and of its release
Losses = Mapping[Number, ModelledLoss]
Interval = tuple[float, float]


def counted_together(moved: Losses, point: Claim) -> tuple[Number, ...]:
    """Return the Gaussian releases, where there are several and the claim has a δ."""
    gaussian = tuple(one for one, loss in moved.items() if loss.kind == "Gaussian")
    return gaussian if len(gaussian) > 1 and point.delta > 0 else ()


def tails(one: float, other: float, release: Release | ModelledLoss) -> list[Interval]:
    """Return windows in the tails, beyond both locations."""
    (low, high), reach = sorted((one, other)), TAIL * (release.scale or 1.0)
    return [(low - reach, low), (high, high + reach)]


def whole(interval: Interval) -> Interval:
    """Return whole numbers around an interval, with the number below its middle, or at it, and the next in theirs.

    >>> whole((2.0, 2.0)), whole((1.5, 4.5))
    ((2, 3), (1, 6))
    """
    middle, half = math.floor(sum(interval) / 2), math.ceil((interval[1] - interval[0]) / 2)
    return middle - half, middle + half + 1


def windows_of(loss: ModelledLoss, point: Claim) -> list[Interval]:
    """Return where thresholds are sought: in the tails, between the locations, and around the best thresholds.

    The best threshold for δ(ε) lies where one density is e^ε times the other. Noise of scale 0 is found between the
    locations. At δ = 0, that of Gaussian noise lies as far out as makes the loss larger than ε.
    """
    low, high = sorted((loss.location_in, loss.location_out))
    if loss.scale == 0:
        third = (high - low) / 3
        return [(low + third, high - third)]
    is_gaussian, middle = loss.kind == "Gaussian", (low + high) / 2
    size = loss.loss if is_gaussian else 2.0
    step = point.epsilon * loss.scale / size
    windows = [*tails(low, high, loss), (low, high)]
    steps = [step]
    if is_gaussian and point.delta == 0:
        steps.append(BEYOND * step + NEAR * loss.scale)
    near = NEAR * loss.scale
    return windows + [(at - near, at + near) for step in steps for at in (middle - step, middle + step)]


def close_values(release: Release, other: Release, windows: list[Interval]) -> list[Interval]:
    """Return pairs of close values of a release: around the locations, and in the middle of the windows."""
    scale = release.scale or 1.0
    low, high = sorted((release.location, other.location))
    between = np.linspace(low - SIDES * scale, high + SIDES * scale, CENTRES).tolist()
    centres = [*between, *((start + end) / 2 for start, end in windows[2:])]
    return [(at - RESOLUTION * scale, at + RESOLUTION * scale) for at in centres]
