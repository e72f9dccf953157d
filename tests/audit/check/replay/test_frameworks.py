"""Replay of what draws in torch, jax, OpenDP and pydp. Each is tested where it is installed; the others are named.

False alarms: each function that keeps its claim is accused with a probability of at most 1e-6.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Gdp, check
from subnormal.audit.check.function import Function, isolated
from subnormal.audit.check.replay.proof import exceeded
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.check.replay.releases import Seen
from subnormal.audit.randomness.arrays import as_numpy
from subnormal.audit.randomness.catalogue import FUNCTIONS, METHODS
from subnormal.audit.randomness.primitives import drawn_from, intercepted
from subnormal.audit.randomness.repetition import Repetition
from tests.support.replays import accused, shown, suspected

FORTH = np.zeros(3), np.array([0.6, 0.0, -0.8])


def seen(function: Callable[[Any], Any], pair: Any = FORTH) -> Seen:
    found = shown(function, pair)
    assert found is not None
    return found


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def jax() -> Any:
    return pytest.importorskip("jax", reason="jax is not installed")


TORCH: dict[str, Callable[[Any], Callable[[Any], Any]]] = {  # with noise of scale 1
    "normal": lambda torch: lambda x: x + torch.normal(0.0, 1.0, (3,)),
    "normal of tensors": lambda torch: lambda x: torch.normal(x, torch.ones(3)),
    "randn": lambda torch: lambda x: x + torch.randn(3),
    "randn_like": lambda torch: lambda x: [3, x + torch.randn_like(x)],
    "Tensor.normal_": lambda torch: lambda x: torch.empty(3).normal_(0.0, 2.0).div_(2.0).add_(x),
    "distribution": lambda torch: lambda x: torch.distributions.Normal(x, 1.0).sample(),
    "rsample": lambda torch: lambda x: torch.distributions.Normal(x.requires_grad_(), 1.0).rsample(),
    "bfloat16 before": lambda torch: lambda x: x + torch.randn(3, dtype=torch.bfloat16).double(),
    "a generator": lambda torch: with_generator(torch, torch.Generator()),
}


def with_generator(torch: Any, given: Any) -> Callable[[Any], Any]:
    def function(x: Any, own: Any = given) -> Any:
        return x + torch.randn(3, generator=own)

    return function


def of_tensors(torch: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(torch.tensor(x, dtype=torch.float64))


@pytest.mark.parametrize("name", TORCH)
def test_noise_of_torch_convicts_above_its_loss(torch: Any, name: str) -> None:
    function = of_tensors(torch, TORCH[name](torch))
    assert suspected(function, Gdp(0.9), FORTH) is not None
    assert suspected(function, Gdp(1.01), FORTH) is None


@pytest.mark.parametrize("name", ["normal", "Tensor.normal_", "a generator"])
def test_noise_of_torch_is_drawn_again_where_runs_confirm(torch: Any, name: str) -> None:
    assert accused(of_tensors(torch, TORCH[name](torch)), Gdp(0.7), FORTH, range(1))


@pytest.mark.parametrize("draw", ["sample", "rsample"])
def test_laplace_noise_of_torch(torch: Any, draw: str) -> None:
    law = torch.distributions.Laplace(torch.zeros(2), torch.tensor([1.0, 4.0]))
    found = seen(of_tensors(torch, lambda x: x[:2] + getattr(law, draw)()))
    assert found.loss == pytest.approx(0.6, rel=1e-3)
    assert [str(one.call.primitive) for one in found.countable()] == ["torch.distributions.Laplace.rsample"] * 2


@pytest.mark.parametrize(
    "draw",
    [
        lambda torch: torch.randn(2, 3),
        lambda torch: torch.randn(3, dtype=torch.bfloat16),
        lambda torch: torch.empty(3, dtype=torch.float64).normal_(),
        lambda torch: torch.randperm(5),
        lambda torch: torch.rand(()),
    ],
)
def test_a_replay_of_torch_gives_what_was_drawn_in_its_type(torch: Any, draw: Callable[[Any], Any]) -> None:
    given: list[Any] = []

    def function(x: float) -> float:
        given.append(draw(torch))
        given[-1] += 1  # in place, as people write it: what is recorded stays
        return x

    recorder = Recorder(Function(function, "function"))
    with isolated(1), intercepted(function, recorder.intercept):
        first = recorder.run(0.0)
        recorder.run(1.0, first)
        recorder.run(1.0)
    assert {(type(one), one.dtype, one.shape) for one in given} == {
        (type(draw(torch)), draw(torch).dtype, given[0].shape)
    }
    assert np.array_equal(as_numpy(given[0]), as_numpy(given[1]))
    assert not np.array_equal(as_numpy(given[0]), as_numpy(given[2]))


def test_torch_is_seeded_while_a_check_lasts_and_given_back(torch: Any) -> None:
    own, before = torch.Generator(), torch.default_generator.get_state()
    function = Function(lambda x: (torch.rand(3).tolist(), torch.rand(3, generator=own).tolist()), "function")
    state, drawn = own.get_state(), list[Any]()
    for seed in (1, 1, 2):
        with isolated(seed, function):
            drawn.append(function.outcome(0))
            repetition = Repetition(function.function)
            with repetition.once():
                once = function.outcome(0)
            with repetition.again():
                assert function.outcome(0) == once
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[2][0]
    assert drawn[0][1] != drawn[2][1]
    assert torch.equal(torch.default_generator.get_state(), before)
    assert torch.equal(own.get_state(), state)


def test_who_draws_otherwise_in_torch_is_not_accused(torch: Any) -> None:
    dropped = of_tensors(torch, lambda x: torch.nn.functional.dropout(x + 1, 0.5) + torch.randn(3))  # no primitive
    assert shown(dropped, FORTH) is None
    assert seen(of_tensors(torch, lambda x: x * (torch.rand(()) < 0.5) + torch.randn(3))).countable() == ()
    seeded = of_tensors(torch, lambda x: x + torch.randn(3, generator=torch.Generator().manual_seed(7)))
    assert not accused(seeded, Gdp(0.5), FORTH, range(1))


def test_a_check_of_torch_names_the_primitive_and_its_line(torch: Any) -> None:
    def noisy_sum(records: list[float], bound: float = 1e9) -> Any:
        total = sum((torch.full((3,), one).clamp(-bound, bound) for one in records), torch.zeros(3))
        return total + torch.normal(0.0, 3.0**0.5, (3,))

    options: Any = {"pairs": [([], [4.0])], "claim": Gdp(1.01), "seconds": 60}
    broken = check(noisy_sum, **options)
    assert (str(broken.verdict), broken.stage) == ("VIOLATED", "replay")
    said = re.sub(r"\s+", " ", str(broken))
    assert re.search(r"test_frameworks\.py:\d+, torch\.normal \(3 numbers, along what moved\) of scale 1\.732", said)
    kept = check(lambda records: noisy_sum(records, 1.0), **options, runs=3000, grid=0.01)  # without the last bits
    assert (str(kept.verdict), "modelled" in kept.evidence) == ("NOT REFUTED", False)


def test_noise_of_opacus_is_a_release(torch: Any) -> None:
    """The optimizer sums what it is given for each example, and adds noise of 2·1.5."""
    optimizers = pytest.importorskip("opacus.optimizers", reason="opacus is not installed")

    def step(x: Any) -> Any:
        weight = torch.nn.Parameter(torch.zeros(3))
        plain = torch.optim.SGD([weight], lr=1.0)
        optimizer = optimizers.DPOptimizer(
            plain, noise_multiplier=1.5, max_grad_norm=2.0, expected_batch_size=1, loss_reduction="sum"
        )
        weight.grad_sample = torch.tensor(10 * x[np.newaxis], dtype=torch.float32)
        optimizer.step()
        return weight.detach()

    found: Any = shown(step, FORTH)
    assert found.loss == pytest.approx(2.0 / 3.0, rel=1e-3)  # it clips to 2
    assert found.countable()[-1].call.site.startswith("optimizer.py")


def keyed(jax: Any, kind: str, seed: Callable[[], int] = lambda: secrets.randbits(31)) -> Callable[[Any], Any]:
    return lambda x: x + getattr(jax.random, kind)(jax.random.key(seed()), (3,))


@pytest.mark.parametrize(("kind", "loss"), [("normal", 1.0), ("laplace", 1.4)])
def test_noise_of_jax_is_a_release(jax: Any, kind: str, loss: float) -> None:
    for seed in (lambda: secrets.randbits(31), lambda: np.random.randint(1 << 31)):
        found = seen(keyed(jax, kind, seed))
        assert found.loss == pytest.approx(loss, rel=1e-3)
        assert found.countable()[0].call.primitive.name == kind
    uniform = seen(keyed(jax, "uniform"))
    assert (uniform.located, uniform.countable()) == (False, ())


def test_noise_of_jax_convicts_where_runs_confirm(jax: Any) -> None:
    assert suspected(keyed(jax, "normal"), Gdp(1.01), FORTH) is None
    assert accused(keyed(jax, "normal"), Gdp(0.7), FORTH, range(1))


def test_who_draws_otherwise_in_jax_is_not_accused(jax: Any) -> None:
    def released(x: Any) -> Any:
        return [x + jax.random.normal(jax.random.key(seed := secrets.randbits(31)), (3,)), seed]

    def coin(x: Any) -> Any:
        return x * (secrets.randbits(8) > 9) + jax.random.normal(jax.random.key(secrets.randbits(31)), (3,))

    compiled = jax.jit(lambda x, key: x + jax.random.normal(key, (3,)))
    assert shown(released, FORTH) is None  # the seed is no noise alone
    assert seen(coin).countable() == ()
    assert seen(lambda x: x * (secrets.randbits(8) > 9) + jax.random.normal(jax.random.key(7), (3,))).countable() == ()
    in_jit = Function(lambda x: compiled(x, jax.random.key(secrets.randbits(31))), "in_jit")
    recorder = Recorder(in_jit)
    with intercepted(in_jit.function, recorder.intercept):
        assert list(recorder.run(FORTH[0]).outcome.shapes.values()) == [(3,)]  # it is compiled as ever
    assert shown(in_jit.function, FORTH) is None  # no draw is seen
    assert not accused(keyed(jax, "normal", lambda: 7), Gdp(0.5), FORTH, range(1))


def test_a_rare_coin_in_compiled_code_of_jax_is_left_out_of_nothing(jax: Any) -> None:
    """Noise that hides nothing, around a bit that a coin turns: it keeps 9.02, and few runs see the coin."""
    turned = jax.jit(lambda key, x: jax.numpy.where(jax.random.bernoulli(key, 1 / 8192), 1 - x, x))

    def coin(x: float, draw: Callable[[Any], Any]) -> float:
        one, other = jax.random.split(jax.random.key(secrets.randbits(31)))
        return float(turned(one, x) + 0.05 * draw(other))

    draws: list[Callable[[Any], Any]] = [lambda key: jax.random.laplace(key), lambda key: np.random.laplace()]
    for draw in draws:
        found = seen(partial(coin, draw=draw), (0.0, 1.0)).countable()
        assert exceeded(found, Claim(4.5)) is not None
        assert exceeded(found, Claim(9.02)) is None
    without = seen(lambda x: x + 0.05 * np.random.laplace(), (0.0, 1.0)).countable()
    assert exceeded(without, Claim(9.02)) is not None


def test_measurements_of_opendp_are_known_and_prove_nothing() -> None:
    dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    dp.enable_features("contrib")
    measurement = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    drawn, is_all = drawn_from(measurement, lambda: measurement(1.0))
    assert ([str(one) for one in drawn], is_all) == (["opendp.core.measurement_invoke"], True)
    assert seen(lambda x: measurement(x) + np.random.laplace(), (0.0, 1.0)).countable() == ()


@pytest.mark.parametrize("kind", ["LaplaceMechanism", "GaussianMechanism"])
def test_mechanisms_of_pydp_guide_the_search_and_prove_nothing(kind: str) -> None:
    mechanisms = pytest.importorskip("pydp.algorithms.numerical_mechanisms", reason="pydp is not installed")
    mechanism = getattr(mechanisms, kind)(*((1.0, 2.0) if kind == "LaplaceMechanism" else (1.0, 1e-6, 2.0)))
    scale = 2.0 if kind == "LaplaceMechanism" else mechanism.std
    found = seen(lambda x: mechanism.add_noise(x), (0.0, 1.0))
    assert found.releases[0].scales == pytest.approx((scale, scale))
    assert found.loss == pytest.approx(1 / scale, rel=1e-3)
    assert not accused(lambda x: mechanism.add_noise(x), Claim(0.0, 0.01), (0.0, 1.0), range(1))  # its own source


@pytest.mark.parametrize("name", ["torch", "jax.random", "torch:Tensor"])
def test_every_name_of_a_primitive_is_there(name: str) -> None:
    module, _, kind = name.partition(":")
    found = pytest.importorskip(module, reason=f"{module} is not installed")
    holder = getattr(found, kind) if kind else found
    assert all(hasattr(holder, one.name) for one in (*FUNCTIONS, *METHODS) if one.holder == name)
