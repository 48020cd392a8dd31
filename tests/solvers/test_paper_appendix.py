"""The paper's appendix, executable: its two trees, their matrices, their paths, and the naive formulation.

        1 (feature 1)                  6 (feature 2)
       /  \\                          /        \\
      2    3 (feature 2)   7 (feature 1)      10 (feature 3)
          /  \\                /  \\             /  \\
         4    5              8    9          11    12

One example goes to the leaves 4 and 11. Nodes and features are counted from 1, as in the paper.
"""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy.optimize import linprog

from budgetprune.costs import FeatureCosts
from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem
from budgetprune.solvers import lp as _lp

from .oracles import enumerate_prunings

pytestmark = pytest.mark.uncompiled

EXAMPLE = np.array([[1.0, 0.5, 0.0]])
LAM = 0.05
N_NODES, N_INCIDENCES = 12, 4
TREE_1 = {"rows": slice(0, 5), "columns": [*range(5), 12, 13]}
TREE_2 = {"rows": slice(5, 11), "columns": [*range(5, 12), 14, 15]}

# As printed; columns are z_1 .. z_5, w^(1)_11, w^(1)_21, and z_6 .. z_12, w^(2)_21, w^(2)_31.
PRINTED_1 = [
    [1, 1, 0, 0, 0, 0, 0],
    [1, 0, 1, 1, 0, 0, 0],
    [1, 0, 1, 0, 1, 0, 0],
    [1, 0, 1, 0, 0, 0, 1],
    [1, 0, 0, 0, 0, 1, 0],
]
PRINTED_2 = [
    [1, 1, 1, 0, 0, 0, 0, 0, 0],
    [1, 1, 0, 1, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 1, 1, 0, 0, 0],
    [1, 0, 0, 0, 1, 0, 1, 0, 0],
    [1, 0, 0, 0, 1, 0, 0, 0, 1],
    [1, 0, 0, 0, 0, 0, 0, 1, 0],
]
NETWORK_1 = [
    [-1, -1, 0, 0, 0, 0, 0],
    [0, 1, -1, -1, 0, 0, 0],
    [0, 0, 0, 1, -1, 0, 0],
    [0, 0, 0, 0, 1, 0, -1],
    [0, 0, 1, 0, 0, -1, 1],
    [1, 0, 0, 0, 0, 1, 0],
]
NETWORK_2 = [
    [-1, -1, -1, 0, 0, 0, 0, 0, 0],
    [0, 0, 1, -1, 0, 0, 0, 0, 0],
    [0, 1, 0, 1, -1, -1, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, -1, 0, 0],
    [0, 0, 0, 0, 0, 0, 1, 0, -1],
    [0, 0, 0, 0, 1, 0, 0, -1, 1],
    [1, 0, 0, 0, 0, 0, 0, 1, 0],
]


def build_forest():
    """The two trees, with training rows of two classes that the splits tell apart a little."""
    tree_1 = [[9, 7], [5, 1], [4, 6], [4, 0], [0, 6]]
    tree_2 = [[9, 7], [6, 1], [6, 0], [0, 1], [3, 6], [1, 6], [2, 0]]
    class_weight = np.array([*tree_1, *tree_2], dtype=float)
    weight = class_weight.sum(axis=1)
    return Forest(
        tree_start=[0, 5, 12],
        parent=[-1, 0, 0, 2, 2, -1, 5, 6, 6, 5, 9, 9],
        left=[1, -1, 3, -1, -1, 6, 7, -1, -1, 10, -1, -1],
        right=[2, -1, 4, -1, -1, 9, 8, -1, -1, 11, -1, -1],
        feature=[0, -1, 1, -1, -1, 1, 0, -1, -1, 2, -1, -1],
        threshold=[0, np.nan, 1, np.nan, np.nan, 0, 0, np.nan, np.nan, 0.5, np.nan, np.nan],
        missing_left=np.zeros(12),
        category_set=np.full(12, -1),
        category_start=[0],
        category_bits=[],
        value=class_weight / weight[:, np.newaxis],
        weight=weight,
        class_weight=class_weight,
        variance=None,
        tree_output=[-1, -1],
        base=[0, 0],
        divisor=2.0,
        link="identity",
        label_rule="argmax",
        classes=np.array([0, 1]),
        n_features=3,
        feature_names=None,
        input_dtype=np.dtype(np.float32),
        missing="forbidden",
        origin=None,
        origin_node=np.arange(12),
    )


@pytest.fixture(scope="module")
def problem():
    return PruningProblem(build_forest(), EXAMPLE, costs=FeatureCosts([1.0, 2.0, 3.0]))


@pytest.fixture(scope="module")
def program(problem):
    return _lp.Program.of(problem, LAM)


def of_tree(program, tree):
    return program.equality.toarray()[tree["rows"]][:, tree["columns"]]


def network_form(matrix):
    """-r_1, then r_1 - r_2, r_2 - r_3, and so on, and last r_m."""
    padded = np.vstack([np.zeros(matrix.shape[1]), matrix, np.zeros(matrix.shape[1])])
    return padded[:-1] - padded[1:]


def is_integral(x):
    return np.allclose(x, np.rint(x), atol=1e-9)


# --- Transformation to network matrices and shortest paths --------------------------------------------------


def test_example_goes_to_leaves_4_and_11(problem):
    assert np.array_equal(problem.forest.apply(EXAMPLE) + 1, [[4, 11]])


def test_equality_constraints_are_those_printed(program):
    assert np.array_equal(of_tree(program, TREE_1), PRINTED_1)
    assert np.array_equal(of_tree(program, TREE_2), PRINTED_2)
    assert program.equality.nnz == np.count_nonzero(PRINTED_1) + np.count_nonzero(PRINTED_2)


def test_global_feature_usage(program):
    """w^(1)_11 <= w_11, w^(1)_21 <= w_21, w^(2)_21 <= w_21, w^(2)_31 <= w_31."""
    expected = np.zeros((N_INCIDENCES, N_NODES + N_INCIDENCES + 3))
    expected[range(4), [12, 13, 14, 15]] = 1
    expected[range(4), [16, 17, 17, 18]] = -1
    assert np.array_equal(program.coupling.toarray(), expected)


def test_costs_of_the_variables(problem, program):
    """Errors of nodes, nothing for what single trees use, lambda c_k / N for what the forest uses."""
    errors, use_in_trees, use = np.split(program.cost, [N_NODES, N_NODES + N_INCIDENCES])
    lost = [7, 1, 4, 0, 0, 7, 1, 0, 0, 3, 1, 0]
    assert errors == pytest.approx(np.array(lost) / (2 * 16))
    assert not use_in_trees.any()
    assert use == pytest.approx(LAM * np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(("tree", "printed"), [(TREE_1, NETWORK_1), (TREE_2, NETWORK_2)])
def test_row_operations_give_the_network_matrices_printed(program, tree, printed):
    matrix = network_form(of_tree(program, tree))
    assert np.array_equal(matrix, printed)
    assert np.all((matrix == 1).sum(axis=0) == 1)
    assert np.all((matrix == -1).sum(axis=0) == 1)


def paths(network):
    """All ways from the first row to the last, as lists of columns; each leads from its -1 to its 1."""
    tail, head = np.argmin(network, axis=0), np.argmax(network, axis=0)
    found, unfinished = [], [(0, [])]
    while unfinished:
        node, arcs = unfinished.pop()
        if node == len(network) - 1:
            found.append(arcs)
        unfinished += [(head[arc], [*arcs, int(arc)]) for arc in np.flatnonzero(tail == node)]
    return found


def test_path_1_2_5_6_prunes_tree_1_at_node_3():
    nodes = [1, 2, 5, 6]
    network = np.array(NETWORK_1)
    tail, head = np.argmin(network, axis=0) + 1, np.argmax(network, axis=0) + 1
    arcs = [int(np.flatnonzero((tail == a) & (head == b))[0]) for a, b in pairwise(nodes)]
    names = np.array(["z_1", "z_2", "z_3", "z_4", "z_5", "w_11", "w_21"])
    assert names[arcs].tolist() == ["z_2", "z_3", "w_11"]
    assert arcs in paths(network)


@pytest.mark.parametrize(("tree", "network"), [(TREE_1, NETWORK_1), (TREE_2, NETWORK_2)])
def test_paths_are_the_prunings(problem, tree, network):
    """Each path sets the variables of one pruning to 1, and each pruning has its path."""
    forest = problem.forest
    expected = set()
    for keep in enumerate_prunings(problem, EXAMPLE).keep:
        z = ~keep & ((forest.parent < 0) | keep[forest.parent])
        w = np.repeat(keep[problem.use_node], np.diff(problem.use_start))
        expected.add(tuple(np.flatnonzero(np.concatenate([z, w])[tree["columns"]]).tolist()))
    found = [tuple(sorted(arcs)) for arcs in paths(np.array(network))]
    assert len(set(found)) == len(found)
    assert set(found) == expected


def test_shortest_path_is_the_best_pruning_of_the_tree(problem, program):
    """With beta on its arcs, the shortest path of each tree is as long as the recursion says."""
    beta = np.array([0.01, 0.08, 0.02, 0.11])
    arc_cost = np.concatenate([problem.error, beta])
    length = sum(
        min(sum(arc_cost[tree["columns"]][arcs]) for arcs in paths(np.array(network)))
        for tree, network in ((TREE_1, NETWORK_1), (TREE_2, NETWORK_2))
    )
    left_of_prices = LAM * np.array([1.0, 2.0, 3.0]) - [beta[0], beta[1] + beta[2], beta[3]]
    assert problem.bound(beta, LAM) == pytest.approx(length + np.minimum(left_of_prices, 0).sum())


# --- Theorem 3.2 --------------------------------------------------------------------------------------------


def assert_unimodular(matrix, choices):
    """Determinants of the chosen square submatrices, given as pairs of rows and columns, are -1, 0 or 1."""
    rows, columns = (np.array(part) for part in zip(*choices, strict=True))
    determinant = np.linalg.det(matrix[rows[:, :, np.newaxis], columns[:, np.newaxis, :]])
    assert is_integral(determinant)
    assert np.all(np.abs(determinant) < 1.5)


@pytest.mark.parametrize("tree", [TREE_1, TREE_2])
def test_all_square_submatrices_of_a_tree_are_unimodular(program, tree):
    matrix = of_tree(program, tree)
    for size in range(1, len(matrix) + 1):
        rows, columns = (combinations(range(n), size) for n in matrix.shape)
        assert_unimodular(matrix, list(product(rows, columns)))


@pytest.mark.parametrize("size", range(2, 16))
def test_square_submatrices_of_the_program_are_unimodular(program, size):
    """With the constraints that join the trees; there are too many submatrices to take them all."""
    matrix = np.vstack([program.equality.toarray(), program.coupling.toarray()])
    rng = np.random.default_rng(size)
    choices = [[rng.choice(n, size, replace=False) for n in matrix.shape] for _ in range(2000)]
    assert_unimodular(matrix, choices)


def minimise(cost, program):
    """The relaxation of (IP), with any costs; the upper bounds keep it finite."""
    return linprog(
        cost,
        A_ub=program.coupling.toarray(),
        b_ub=np.zeros(program.coupling.shape[0]),
        A_eq=program.equality.toarray(),
        b_eq=np.ones(program.equality.shape[0]),
        bounds=(0, 1),
        method="highs-ds",
    )


@pytest.mark.parametrize("seed", range(50))
def test_vertices_are_integral(program, seed):
    assert is_integral(minimise(np.random.default_rng(seed).normal(size=19), program).x)


# --- A naive pruning formulation ----------------------------------------------------------------------------

# Tree 1 alone; columns are z_1 .. z_5, w_11, w_21.
NAIVE_EQUALITY = np.array([[1, 0, 1, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 0, 0]])
NAIVE_COUPLING = np.array([[0, 0, 0, 1, 0, -1, 0], [0, 0, 1, 0, 0, -1, 0], [0, 0, 0, 1, 0, 0, -1]])
FRACTIONAL = np.array([0, 1, 0.5, 0.5, 0.5, 0.5, 0.5])
# Node 1 must be split; the split of node 3 gains as much as feature 2 costs.
COST = np.array([10.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0])


def test_naive_formulation_has_the_fractional_extreme_point():
    """The seven constraints that the paper lists are active, and no other point has them all active."""
    bounds = np.eye(7)[:2]  # z_1 = 0, z_2 = 1
    active = np.vstack([NAIVE_EQUALITY[:2], NAIVE_COUPLING, bounds])
    assert np.array_equal(active @ FRACTIONAL, [1, 1, 0, 0, 0, 0, 1])
    assert np.array_equal(NAIVE_EQUALITY @ FRACTIONAL, [1, 1, 1])
    assert np.linalg.matrix_rank(active) == 7


def test_naive_relaxation_is_better_than_every_pruning():
    prunings = [[1, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 1, 0], [0, 1, 0, 1, 1, 1, 1]]
    result = linprog(
        COST,
        A_ub=NAIVE_COUPLING,
        b_ub=np.zeros(3),
        A_eq=NAIVE_EQUALITY,
        b_eq=np.ones(3),
        bounds=(0, 1),
        method="highs-ds",
    )
    assert result.x == pytest.approx(FRACTIONAL)
    assert result.fun == pytest.approx(1.5)
    assert min(np.array(prunings) @ COST) == 2


def test_ip_does_not_have_it(program):
    """In (IP), half a stop at node 3 and half one at node 4 use all of feature 1, and half of feature 2."""
    z, w = FRACTIONAL[:5], FRACTIONAL[5:]
    assert not np.allclose(of_tree(program, TREE_1) @ FRACTIONAL, 1)
    use = 1 - np.array([z[0], z[0] + z[2]])
    assert np.array_equal(use, [1, 0.5])
    assert use[0] > w[0]
    # The costs for which the naive relaxation is better than every pruning; tree 2 is for free.
    cost = np.zeros(19)
    cost[:5], cost[16:18] = COST[:5], COST[5:]
    result = minimise(cost, program)
    assert is_integral(result.x)
    assert result.fun == pytest.approx(2)
