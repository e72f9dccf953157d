"""DP-Auditorium: its hockey-stick tester on the named pair, in both directions."""

import sys
from importlib.machinery import PathFinder
from types import ModuleType

for name in ("dp_auditorium", "dp_auditorium.testers"):  # without their __init__, which imports Vizier and PipelineDP
    path = sys.modules["dp_auditorium"].__path__ if "." in name else None
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = PathFinder.find_spec(name, path).submodule_search_locations

from dp_auditorium.configs import privacy_property, property_tester_config  # noqa: E402
from dp_auditorium.testers import hockey_stick_tester  # noqa: E402

from benchmarks.adversary.tools import ALPHA, Runs, answer  # noqa: E402


def convicts(runs: Runs, count: int) -> bool:
    claim = runs.problem.claim
    config = property_tester_config.HockeyStickPropertyTesterConfig(
        training_config=hockey_stick_tester.make_default_hs_training_config(),
        approximate_dp=privacy_property.ApproximateDp(epsilon=claim.epsilon, delta=claim.delta),
    )
    tester = hockey_stick_tester.HockeyStickPropertyTester(config, hockey_stick_tester.make_default_hs_base_model())
    drawn = runs.many(0, count), runs.many(1, count)
    return any(tester.reject_property(tester.estimate_lower_bound(*each, ALPHA)) for each in (drawn, drawn[::-1]))


if __name__ == "__main__":
    answer(convicts)
