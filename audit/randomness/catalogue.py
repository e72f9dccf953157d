"""The primitives that are known: functions that draw noise, and what their arguments say about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Where = Callable[..., tuple[Any, Any]]  # (location, scale) of the arguments of a call


@dataclass(frozen=True, slots=True)
class Primitive:
    """A function that draws.

    holder: its module, or "module:Class" for a method. kind: "Laplace" or "Gaussian", whose loss is known; "key" makes
    a key of a seed, and draws nothing; any other is replayed only, and guides the search where it says where its noise
    lies. where: the location and the scale, from the arguments of a call.
    """

    holder: str
    name: str
    kind: str = "other"
    where: Where | None = None

    def __str__(self) -> str:
        return f"{self.holder.replace(':', '.')}.{self.name}"

    @property
    def is_of_tensors(self) -> bool:
        """Whether it draws tensors of torch or arrays of jax."""
        return self.holder.startswith(("torch", "jax"))


def _loc_scale(loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tuple[Any, Any]:
    return loc, scale


def _mu_sigma(mu: Any = 0.0, sigma: Any = 1.0) -> tuple[Any, Any]:
    return mu, sigma


def _standard(*arguments: Any, **options: Any) -> tuple[Any, Any]:
    return 0.0, 1.0


def _of_method(where: Where) -> Where:
    return lambda self, *arguments, **options: where(*arguments, **options)


def _of_scipy(
    self: Any, *arguments: Any, size: Any = None, random_state: Any = None, **options: Any
) -> tuple[Any, Any]:
    return _loc_scale(*arguments, **options)


def _of_diffprivlib(self: Any, value: Any) -> tuple[Any, Any]:
    return value, self.sensitivity / (self.epsilon - np.log1p(-getattr(self, "delta", 0.0)))


def _number(of_torch: Any) -> Any:
    return of_torch.detach().cpu().numpy() if hasattr(of_torch, "detach") else of_torch


def _of_torch(mean: Any = 0.0, std: Any = 1.0, *size: Any, **options: Any) -> tuple[Any, Any]:
    return _number(mean), _number(std)


def _of_pydp(self: Any, result: Any) -> tuple[Any, Any]:
    return result, self.diversity if hasattr(self, "diversity") else self.std


# All that draw: one that is not known here might decide, unseen, what is released.
_NUMPY = """beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric logistic
    lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f pareto
    permutation poisson power random rayleigh shuffle standard_cauchy standard_exponential standard_gamma standard_t
    triangular uniform vonmises wald weibull zipf"""
_GENERATOR = f"{_NUMPY} integers multivariate_hypergeometric permuted"
_LEGACY = f"{_NUMPY} rand randint random_integers random_sample ranf sample tomaxint"
_PYTHON = """betavariate binomialvariate choice choices expovariate gammavariate getrandbits lognormvariate
    paretovariate randbytes randint random randrange sample shuffle triangular uniform vonmisesvariate weibullvariate"""
_SECRETS = "choice randbelow randbits token_bytes token_hex token_urlsafe"
_DIFFPRIVLIB_BOUNDED = "LaplaceTruncated LaplaceFolded GeometricTruncated GeometricFolded"  # a fold has a smaller loss
_DIFFPRIVLIB_OTHERS = "LaplaceBoundedDomain LaplaceBoundedNoise Exponential PermuteAndFlip Binary Uniform Vector"
_TORCH = "bernoulli binomial multinomial poisson rand rand_like randint randint_like randperm"
_TENSOR = "bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial random_ uniform_"
_JAX = """ball bernoulli beta binomial bits categorical cauchy chisquare choice dirichlet double_sided_maxwell
    exponential f gamma generalized_normal geometric gumbel loggamma logistic lognormal maxwell multinomial
    multivariate_normal orthogonal pareto permutation poisson rademacher randint rayleigh t triangular
    truncated_normal uniform wald weibull_min"""

FUNCTIONS = (  # of modules
    Primitive("random", "gauss", "Gaussian", _mu_sigma),
    Primitive("random", "normalvariate", "Gaussian", _mu_sigma),
    *(Primitive("random", name) for name in _PYTHON.split()),
    Primitive("numpy.random", "normal", "Gaussian", _loc_scale),
    Primitive("numpy.random", "laplace", "Laplace", _loc_scale),
    Primitive("numpy.random", "randn", "Gaussian", _standard),
    Primitive("numpy.random", "standard_normal", "Gaussian", _standard),
    *(Primitive("numpy.random", name) for name in _LEGACY.split()),
    *(Primitive("secrets", name) for name in _SECRETS.split()),
    Primitive("os", "urandom"),
    Primitive("torch", "normal", "Gaussian", _of_torch),
    Primitive("torch", "randn", "Gaussian", _standard),
    Primitive("torch", "randn_like", "Gaussian", _standard),
    *(Primitive("torch", name) for name in _TORCH.split()),
    Primitive("jax.random", "normal", "Gaussian", _standard),
    Primitive("jax.random", "laplace", "Laplace", _standard),
    *(Primitive("jax.random", name) for name in _JAX.split()),
    *(Primitive("jax.random", name, "key") for name in ("key", "PRNGKey")),
    Primitive("opendp.core", "measurement_invoke"),  # what a measurement released: its law cannot be read off it
)
METHODS = (  # of classes written in Python
    Primitive("random:Random", "gauss", "Gaussian", _of_method(_mu_sigma)),
    Primitive("random:Random", "normalvariate", "Gaussian", _of_method(_mu_sigma)),
    *(Primitive("random:Random", name) for name in _PYTHON.split()),
    *(Primitive("random:SystemRandom", name) for name in ("random", "getrandbits", "randbytes")),
    Primitive("diffprivlib.mechanisms:Laplace", "randomise", "Laplace", _of_diffprivlib),
    Primitive("diffprivlib.mechanisms:Geometric", "randomise", "other", _of_diffprivlib),
    *(
        Primitive(f"diffprivlib.mechanisms:{name}", "randomise", "other", _of_diffprivlib)
        for name in _DIFFPRIVLIB_BOUNDED.split()
    ),
    *(
        Primitive(f"diffprivlib.mechanisms:{name}", "randomise", "Gaussian", lambda self, value: (value, self._scale))
        for name in ("Gaussian", "GaussianAnalytic")
    ),
    *(Primitive(f"diffprivlib.mechanisms:{name}", "randomise") for name in _DIFFPRIVLIB_OTHERS.split()),
    Primitive("scipy.stats._continuous_distns:laplace_gen", "rvs", "Laplace", _of_scipy),
    Primitive("scipy.stats._continuous_distns:norm_gen", "rvs", "Gaussian", _of_scipy),
    Primitive("torch:Tensor", "normal_", "Gaussian", _of_method(_of_torch)),
    *(Primitive("torch:Tensor", name) for name in _TENSOR.split()),
    Primitive(
        "torch.distributions:Laplace",
        "rsample",
        "Laplace",
        lambda self, *shape, **options: (_number(self.loc), _number(self.scale)),
    ),
    *(
        Primitive("pydp._pydp._mechanisms:" + name, "add_noise", kind, _of_pydp)
        for name, kind in (("LaplaceMechanism", "Laplace"), ("GaussianMechanism", "Gaussian"))
    ),
    *(Primitive("pydp.algorithms._algorithm:MetaAlgorithm", name) for name in ("quick_result", "result")),
    Primitive("scipy.stats:rv_continuous", "rvs"),
    Primitive("scipy.stats:rv_discrete", "rvs"),
)
GENERATOR = (  # of numpy's generators, whose class cannot be changed
    Primitive("numpy.random:Generator", "normal", "Gaussian", _loc_scale),
    Primitive("numpy.random:Generator", "laplace", "Laplace", _loc_scale),
    Primitive("numpy.random:Generator", "standard_normal", "Gaussian", _standard),
    *(Primitive("numpy.random:Generator", name) for name in _GENERATOR.split()),
)
BITS = Primitive("numpy.random:Generator", "bit_generator")  # with them, a function may draw unrecorded
RANDOM_STATE = (  # of numpy's older generators, likewise
    Primitive("numpy.random:RandomState", "normal", "Gaussian", _loc_scale),
    Primitive("numpy.random:RandomState", "laplace", "Laplace", _loc_scale),
    Primitive("numpy.random:RandomState", "randn", "Gaussian", _standard),
    Primitive("numpy.random:RandomState", "standard_normal", "Gaussian", _standard),
    *(Primitive("numpy.random:RandomState", name) for name in _LEGACY.split() if hasattr(np.random.RandomState, name)),
)
