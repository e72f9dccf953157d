"""Our own: the bound from one run, the band around the curve, and assert_private, which refutes claims."""

import numpy as np

from subnormal import NotPrivateError, assert_private, audit_one_run
from subnormal.audit.statistics import binomial, curve_band
from subnormal.mechanisms.privacy import Claim

LADDER = np.linspace(0, 12, 241)  # of ε
CLAIMS = np.linspace(0, 8, 17)  # ε that assert_private is asked about


def one_run(scores, included, delta, alpha):
    return audit_one_run(scores, included, delta=delta, alpha=alpha).epsilon_lower


def all_guesses(scores, included, delta, alpha):
    return audit_one_run(scores, included, delta=delta, alpha=alpha, guesses=len(scores) // 2 * 2).epsilon_lower


def halves(high, low):
    """Return as many scores of each world, the first quarter of them and the rest, with edges from the former."""
    runs = min(len(high), len(low))
    both = [one[:runs] for one in (high, low)]
    edges = np.unique(np.quantile(np.concatenate([one[: runs // 4] for one in both]), np.arange(1, 32) / 32))
    return edges, [one[runs // 4 :] for one in both]


def band(scores, included, delta, alpha):
    """The largest ε of a ladder at which the band's lower curve is above δ."""
    high, low = scores[included], scores[~included]
    edges, rest = halves(high, low)
    bins = tuple(np.bincount(np.searchsorted(edges, one), minlength=len(edges) + 1) for one in rest)
    above = curve_band.band(bins, LADDER.tolist(), alpha).lower > delta
    return float(LADDER[np.flatnonzero(above).max()]) if above.any() else 0.0


def event(scores, included, delta, alpha):
    """The bound that a row of `run` shows: of one event, a half-line that the first quarter of the scores chose."""
    high, low = scores[included], scores[~included]
    edges, rest = halves(high, low)
    runs = min(len(high), len(low))
    first = [np.array([(one[: runs // 4] >= edge).sum() for edge in edges]) for one in (high, low)]
    edge = edges[int(binomial.standard_errors_beyond(*first, (runs // 4, runs // 4), Claim(0.5, delta)).argmax())]
    intervals = [binomial.clopper_pearson(int((one >= edge).sum()), len(one), alpha / 4) for one in rest]
    return binomial.epsilon_lower(*intervals, delta)


def asserted(scores, included, delta, alpha):
    """The largest claim of a ladder that assert_private refutes, by bisection: each call is on the same scores."""
    high, low = scores[included], scores[~included]
    most = min(len(high), len(low))
    runs = min(most - 220, int(most / 1.25) - 20)  # besides them come those that learn an event

    def is_refuted(epsilon):
        left = {1: iter(high.tolist()), 0: iter(low.tolist())}
        try:
            assert_private(
                lambda data: next(left[data[0]]), [1], [0], epsilon=epsilon, delta=delta, runs=runs, alpha=alpha
            )
        except NotPrivateError:
            return True
        except ValueError:  # so few runs could not refute it
            return False
        finally:
            for one in left.values():
                next(one)  # raises where scores were used up: the verdict would be of them
        return False

    refuted, kept = -1, len(CLAIMS)
    while runs > 0 and kept - refuted > 1:
        middle = (refuted + kept) // 2
        refuted, kept = (middle, kept) if is_refuted(CLAIMS[middle]) else (refuted, middle)
    return float(CLAIMS[refuted]) if refuted >= 0 else 0.0


AUDITORS = {
    "audit_one_run": one_run,
    "audit_one_run, all guesses": all_guesses,
    "curve band": band,
    "event, Clopper-Pearson": event,
    "assert_private": asserted,
}
GAUSSIAN = ()
