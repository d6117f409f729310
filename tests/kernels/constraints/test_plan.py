"""The order of elimination: its cost grows linearly with ladders in every choice of the tree, and both orders agree."""

import numpy as np
import pytest
from mechanisms import hinged_rope_ladder, ladder, rope_ladder

import leastaction as la
from leastaction.compiled import compile_model
from leastaction.constraint_plan import Graph, lay_out, order_by_ancestors

MAKE = {"posts": lambda n: ladder(n)[0], "rail": lambda n: ladder(n, "rail")[0], "rope": rope_ladder,
        "hinges": hinged_rope_ladder}


@pytest.mark.parametrize("kind", MAKE)
def test_the_cost_is_exactly_linear(kind):
    """Every further loop costs the same, in multiplications and in memory."""
    counts = np.array([16, 24, 32, 128, 512])
    plans = [compile_model(MAKE[kind](count)).plan for count in counts]
    for numbers in ([plan.cost for plan in plans], [plan.size for plan in plans]):
        each = np.diff(numbers) / np.diff(counts)
        assert len(set(each)) == 1 and each[0] > 0
    assert all(plan.early == (kind != "posts") for plan in plans)
    assert max(plan.width for plan in plans) <= 12


@pytest.mark.parametrize("kind", ["rope", "hinges"])
def test_a_rope_ladder_swings(kind):
    """Closed, and with its energy."""
    model = MAKE[kind](24)
    v = 0.1 * np.random.default_rng(3).normal(size=model.nv)
    sim = la.Simulator(model, *la.assemble(model, model.q0, v), dt=1e-3)
    assert sim._engine.compiled.plan.early
    energy, q = sim.energy, sim.q
    for _ in range(5):
        sim.step(60)
        assert la.closure(model, sim.q).max() < 1e-13
        assert np.abs(la.constraint_jacobian(model, sim.q) @ sim.v).max() < 1e-12
        assert abs(sim.energy - energy) < 1e-4
    assert np.abs(sim.q - q).max() > 0.02


def test_the_order_by_ancestors_is_not_linear_on_a_rail():
    """Else there would be no need for the other."""
    costs = []
    for count in (8, 16, 32):
        c = compile_model(ladder(count, "rail")[0])
        graph = Graph(c.tree, c.acting_rows)
        costs.append(lay_out(graph, order_by_ancestors(graph), set()).cost)
    assert costs[2] > 5 * costs[1] > 25 * costs[0]


def test_rows_that_keep_a_plane_are_zero():
    c = compile_model(ladder(3)[0])
    assert c.idle == 3
    assert c.plan.width == 4


@pytest.mark.parametrize("kind", ["posts", "rail"])
def test_a_ladder_swings_as_a_pendulum(kind):
    """Exact for every number of bars: posts stay parallel, so θ̈ = −g cos θ (½(N + 1) + N) / (⅓(N + 1) + N)."""
    count, dt, time = 7, 0.01, 0.5
    model, q, v = ladder(count, kind)
    sim = la.Simulator(model, q, v, dt=dt, integrator=la.Variational(order=6))
    assert sim._engine.compiled.plan.early == (kind == "rail")
    sim.step(round(time / dt))
    k = 9.81 * (0.5 * (count + 1) + count) / ((count + 1) / 3 + count)
    y, h = np.array([np.pi / 2, -1.0]), time / 4000

    def rate(y):
        return np.array([y[1], -k * np.cos(y[0])])

    for _ in range(4000):  # Runge–Kutta 4, error 1e-14
        a = rate(y)
        b = rate(y + 0.5 * h * a)
        c = rate(y + 0.5 * h * b)
        y = y + h / 6 * (a + 2 * (b + c) + rate(y + h * c))
    assert abs(y[0] - np.pi / 2) > 0.4
    assert sim.q[0] == pytest.approx(y[0], abs=1e-9)
    assert sim.v[0] == pytest.approx(y[1], abs=1e-9)
    assert la.closure(model, sim.q).max() < 1e-13
