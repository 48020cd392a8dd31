"""Conjugate gradients against a direct solver, and sums against exact ones."""

import math

import numpy as np
import pytest

from budgetprune.refit.conjugate import conjugate_gradients, dot, length


def matrix(n, seed=0):
    """A positive definite matrix with a diagonal of very different entries."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n)) * 10 ** rng.uniform(-1, 1, n)
    return root.T @ root + np.eye(n)


def multiply_by(A):
    def multiply(x, image):
        image[:] = (A @ x.ravel()).reshape(x.shape)

    return multiply


@pytest.mark.uncompiled
@pytest.mark.parametrize("shape", [(1, 1), (12, 1), (4, 3)])
def test_solves(shape):
    A = matrix(math.prod(shape))
    right = np.random.default_rng(1).normal(size=shape)
    x = conjugate_gradients(multiply_by(A), right, np.diag(A).reshape(shape).copy(), 1e-10)
    assert x.ravel() == pytest.approx(np.linalg.solve(A, right.ravel()), rel=1e-6, abs=1e-8)


@pytest.mark.uncompiled
@pytest.mark.parametrize("accuracy", [0.5, 0.1, 1e-3])
def test_residual_is_as_small_as_asked(accuracy):
    A, right = matrix(30), np.random.default_rng(2).normal(size=(30, 1))
    x = conjugate_gradients(multiply_by(A), right, np.diag(A)[:, np.newaxis].copy(), accuracy)
    assert np.linalg.norm(A @ x - right) <= accuracy * np.linalg.norm(right) * (1 + 1e-9)
    assert (x * right).sum() > 0, "downhill"


@pytest.mark.uncompiled
def test_flat_directions_are_left_alone():
    """Of a singular matrix, the part that can be solved is; where all is flat, it points downhill."""
    A = np.diag([2.0, 5.0, 0.0])
    right = np.array([[4.0], [5.0], [0.0]])
    x = conjugate_gradients(multiply_by(A), right, np.array([[2.0], [5.0], [1.0]]), 1e-10)
    assert x == pytest.approx(np.array([[2.0], [1.0], [0.0]]))
    steepest = conjugate_gradients(multiply_by(0 * A), right, np.full((3, 1), 2.0), 1e-10)
    assert np.array_equal(steepest, right / 2)


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-12])
def test_singular_matrices_give_finite_downhill_answers(seed, noise):
    """Half of the eigenvalues are 0 but for rounding, and the right side has a part that cannot be solved.

    The accuracy is out of reach, so that only the flat directions and the divergence of rounding errors end
    the search.
    """
    rng = np.random.default_rng(seed)
    n = 20
    root = rng.normal(size=(n // 2, n)) * 10 ** rng.uniform(-3, 3, n)
    A = root.T @ root
    solvable = A @ (rng.normal(size=n) / np.diag(A))
    right = (solvable + noise * np.linalg.norm(solvable) * rng.normal(size=n))[:, np.newaxis]
    scale = np.diag(A)[:, np.newaxis].copy()
    x = conjugate_gradients(multiply_by(A), right, scale, 1e-30)
    assert np.isfinite(x).all()
    assert (x * right).sum() > 0, "downhill"
    # The best that can be reached along `right`, in the objective that conjugate gradients lower.
    steepest = right / scale
    best = (steepest * right).sum() ** 2 / (steepest * (A @ steepest)).sum() / 2
    reached = (x * right).sum() - (x * (A @ x)).sum() / 2
    assert reached >= best * (1 - 1e-6)


@pytest.mark.uncompiled
@pytest.mark.parametrize("n", [0, 1, 7, 4096, 8199])
def test_inner_products(n):
    a, b = np.random.default_rng(3).normal(size=(2, n))
    assert dot(a, b) == pytest.approx(math.fsum(a * b), abs=1e-10)
    assert length(a) == pytest.approx(math.sqrt(math.fsum(a * a)))
    assert dot(a.reshape(-1, 1), b.reshape(-1, 1)) == dot(a, b)
