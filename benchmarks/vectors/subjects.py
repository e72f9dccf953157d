"""Exhibits of the museum as subjects of vectors/runners/python/runner.py: EXHIBIT names one, ROLE is flawed or fixed.

It runs where Subnormal is not installed, and where it is, it makes importing it impossible.
"""

import ast
import json
import math
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

MUSEUM = Path(__file__).resolve().parents[2] / "museum"
FLAWED = os.environ["ROLE"] == "flawed"
sys.modules["subnormal"] = sys.modules["hypothesis"] = None  # an import of them raises


def exhibit(name):
    """Return the names of an exhibit, without those that need Subnormal or Hypothesis."""
    path, names = MUSEUM / name / "exhibit.py", {}
    for statement in ast.parse(path.read_text("utf-8")).body:
        try:
            exec(compile(ast.Module([statement], []), str(path), "exec"), names)
        except (ImportError, NameError):
            continue
    return names


def program(name, command):
    """Return f(data), which asks a program for outcomes, a thousand at a time."""
    process = subprocess.Popen(
        shlex.split(command), cwd=MUSEUM / name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    waiting = {}

    def ask(request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    ask({"protocol": 1})

    def function(data):
        key = json.dumps(data)
        if not waiting.get(key):
            waiting[key] = ask({"data": data, "parameters": {}, "runs": 1000})["outcomes"]
        one = waiting[key].pop()
        return float.fromhex(one) if isinstance(one, str) else one

    return function


def bit(data):
    """Return whether the data are a count of 0 or 1, as attacks on float noise have it."""
    return isinstance(data, int) and 0 <= data <= 1


def laplace_noise(scale):
    return int(random.expovariate(1 / scale)) - int(random.expovariate(1 / scale))


# Queries with noise of scale 1 or deviation 1 on a count of 0 or 1.


def count_with_laplace(function):
    return {
        "MECHANISMS": {
            "laplace": lambda parameters, data: function(data) if bit(data) and parameters["epsilon"] == 1 else None
        }
    }


def count_with_gauss(function):
    return {
        "MECHANISMS": {
            "gaussian": lambda parameters, data: function(data) if bit(data) and parameters["sigma"] == 1 else None
        }
    }


def box_muller():
    return count_with_gauss(lambda data: exhibit("box-muller")["naive"]((data, 0))[0])


def python_random_gauss():
    naive = exhibit("python-random-gauss")["naive"]
    return count_with_gauss(lambda data: naive([True] * data))


def c_rand_laplace():
    return count_with_laplace(program("c-rand-laplace", f"sh run.sh {os.environ['ROLE']}.c"))


def javascript_laplace():
    function = program("javascript-laplace", f"node {os.environ['ROLE']}.js")
    return count_with_laplace(lambda data: function([True] * data))


def numpy_laplace():
    naive = exhibit("numpy-laplace")["naive"]
    return count_with_laplace(lambda data: float(naive([1.0] * data)))


def opendp_0_4_laplace():
    from opendp import meas
    from opendp.mod import enable_features

    enable_features("contrib", "floating-point")
    function = meas.make_base_laplace(1.0)
    return count_with_laplace(lambda data: function(float(data)))


def diffprivlib_94():
    from diffprivlib.mechanisms import Laplace

    return count_with_laplace(Laplace(epsilon=1.0, sensitivity=1.0).randomise)


def statdp_histogram():
    names = exhibit("statdp-histogram")

    def mechanism(parameters, data):
        names["EPSILON"] = parameters["epsilon"]
        return float(names["inverted"]([data])[0]) if bit(data) and parameters["epsilon"] == 0.5 else None

    return {"MECHANISMS": {"laplace": mechanism}}


# Other mechanisms.


def group_by_keys():
    names = exhibit("group-by-keys")
    names["laplace"] = SimpleNamespace(sample=lambda count, scale, bits, n: [count + laplace_noise(scale)])
    names["system_bits"] = lambda: None
    function = names["every_key" if FLAWED else "keys_above_a_threshold"]
    return {
        "MECHANISMS": {
            "threshold": lambda parameters, data: function(
                [key for key, count in data.items() for _ in range(int(count))]
            )
        }
    }


def ilvento_exponential():
    naive = exhibit("ilvento-exponential")["naive"]
    return {
        "MECHANISMS": {
            "exponential": lambda parameters, data: (
                naive([-utility * parameters["epsilon"] for utility in data]) if len(data) <= 100 else None
            )
        }
    }


def local_sensitivity_mean():
    local = exhibit("local-sensitivity-mean")["local"]
    return {"MECHANISMS": {"mean": lambda parameters, data: float(local(data))}}


def statdp_noisy_max():
    function = exhibit("statdp-noisy-max")["value" if FLAWED else "place"]
    return {"MECHANISMS": {"noisy-max": lambda parameters, data: function(data)}}


def sparse_vector(name, flawed):
    names = exhibit(name)
    function = names[flawed if FLAWED else "algorithm_1"]

    def mechanism(parameters, data):
        if parameters["threshold"] or parameters["sensitivity"] != 1 or len(data) > 8:
            return None
        names["EPSILON"], names["POSITIVES"] = parameters["epsilon"], parameters["positives"]
        return [0 if answer is None else int(answer) for answer in function(data)]

    return {"MECHANISMS": {"sparse-vector": mechanism}}


def diffprivlib_107():
    from diffprivlib.tools import quantile

    def mechanism(parameters, data):
        bounds = parameters["lower"], parameters["upper"]
        return float(quantile(data, parameters["quantile"], epsilon=parameters["epsilon"], bounds=bounds))

    return {"MECHANISMS": {"quantile": mechanism}}


# Queries without noise.


def numpy_sum_order():
    function = exhibit("numpy-sum-order")["float_sum" if FLAWED else "correctly_rounded_sum"]
    return {"QUERIES": {"sum": lambda parameters, records: function(records) if unit(parameters, records) else None}}


def unit(parameters, records):
    """Return whether the records are what the exhibits of sums take, and are no more than a hundred."""
    inside = all(0 <= record <= 1 for record in records)
    return inside and (parameters["lower"], parameters["upper"]) == (0.0, 1.0) and len(records) <= 100


def numpy_sum_rounding():
    function = exhibit("numpy-sum-rounding")["float_sum" if FLAWED else "fixed_point_sum"]
    return {"QUERIES": {"sum": lambda parameters, records: function(records) if unit(parameters, records) else None}}


def numpy_sum_overflow():
    names = exhibit("numpy-sum-overflow")
    names["noisy"] = int  # the noise is left out
    function = names["wrapping" if FLAWED else "unbounded"]

    def query(parameters, records):
        return function(records) if (parameters["lower"], parameters["upper"]) == (0, names["MOST"]) else None

    return {"QUERIES": {"integer-sum": query}}


def opendp_314():
    from opendp import trans
    from opendp.mod import enable_features

    enable_features("contrib")

    def made(parameters):
        return trans.make_sized_bounded_sum(parameters["size"], (parameters["lower"], parameters["upper"]))

    def promised(parameters, _):
        return next(moved for moved in range(100) if made(parameters).check(2, moved))

    return {
        "QUERIES": {"sized-sum": lambda parameters, records: made(parameters)(records)},
        "BOUNDS": {"sized-sum": promised},
    }


def opendp_348():
    from opendp import trans
    from opendp.mod import enable_features

    enable_features("contrib", "floating-point")

    def query(parameters, records):
        bounds = parameters["lower"], parameters["upper"]
        inside = 0 < len(records) <= 100 and all(bounds[0] <= record <= bounds[1] for record in records)
        return trans.make_bounded_sum(bounds)(records) if inside else None

    def promised(parameters, bound):
        bounds = parameters["lower"], parameters["upper"]
        return bound if bound and trans.make_bounded_sum(bounds).check(1, bound) else math.inf

    return {"QUERIES": {"sum": query}, "BOUNDS": {"sum": promised}}


# Samplers, by their laws.


def opendp_2638():
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def draws(parameters, n):
        top, _, bottom = parameters["scale"].partition("/")
        space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
        function = dp.m.make_laplace(*space, scale=int(top) / int(bottom or 1))
        return [function(0) for _ in range(n)]

    return {"DRAWS": {"discrete-laplace": draws}}


def response(made, told):
    """Return randomized response of one bit: made(probability of the truth), told(its function, the truth)."""

    def draws(parameters, n):
        if parameters["categories"] != 2 or parameters["probability"] != "3/4":
            return None
        function = made(0.75)
        return [told(function, parameters["truth"]) for _ in range(n)]

    return {"DRAWS": {"randomized-response": draws}}


def opendp_481():
    from opendp import meas
    from opendp.mod import enable_features

    enable_features("contrib")
    return response(meas.make_randomized_response_bool, lambda function, truth: int(function(bool(truth))))


def opendp_2707():
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def made(probability):
        space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
        return dp.m.make_randomized_response_bitvec(*space, f=2 * (1 - probability))

    return response(made, lambda function, truth: function(bytes([truth << 7]))[0] >> 7)


# Maps.


def gaussian_large_epsilon():
    """The classical deviation as a map: ε = √(2 ln(1.25/δ))/σ, which is what the exhibit's noise is scaled by."""

    def epsilon(sigma, steps, delta):
        return math.sqrt(2 * math.log(1.25 / delta)) / sigma if steps == 1 else None

    return {"MAPS": {"gaussian": epsilon}}


def opendp_2922():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    counts = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())

    def delta(scale, threshold):
        return (counts >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)).map(1)[1]

    return {"MAPS": {"threshold": delta}}


def dp_accounting_378():
    from dp_accounting import GaussianDpEvent, NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    def epsilon(sigma, steps, delta):
        """A replaced record of norm 1 moves the sum by 2: noise of deviation 2σ protects as σ does a move by 1."""
        accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
        return float(accountant.compose(GaussianDpEvent(2 * sigma), steps).get_epsilon(delta))

    return {"MAPS": {"gaussian": epsilon}}


def opacus_384():
    return {
        "MAPS": {
            "sampled-gaussian": lambda sigma, sampling, steps, delta: exhibit("opacus-384")[
                "analysis"
            ].compute_eps_poisson(steps=steps, noise_multiplier=sigma, sample_rate=sampling, delta=delta)
        }
    }


SUBJECTS = {
    "lyu-svt-noiseless": lambda: sparse_vector("lyu-svt-noiseless", "algorithm_5"),
    "lyu-svt-numeric": lambda: sparse_vector("lyu-svt-numeric", "algorithm_3"),
    "lyu-svt-unlimited": lambda: sparse_vector("lyu-svt-unlimited", "algorithm_6"),
    "lyu-svt-unscaled": lambda: sparse_vector("lyu-svt-unscaled", "algorithm_4"),
    "opendp-2638-law": opendp_2638,
}
NAME = os.environ["EXHIBIT"]
globals().update(SUBJECTS.get(NAME, globals().get(NAME.replace("-", "_")))())
