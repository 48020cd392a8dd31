"""OR-tools' maximum flow on the graph of our exact solver, for comparison.

OR-tools cannot share a process with every build of HiGHS, so this file is run as a script, by its path. It
does not import `budgetprune`, so that its process only uses the memory of OR-tools.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ortools.graph.python.max_flow import SimpleMaxFlow


class FlowGraph(NamedTuple):
    """A closure problem in integers.

    Attributes
    ----------
    gain : int64 array of shape (n_blocks,)
    parent : int32 array of shape (n_blocks,)
        -1 at roots.
    arc_start, arc_pair : integer arrays
        Block u needs the pairs ``arc_pair[arc_start[u]:arc_start[u + 1]]``.
    price : float64 array of shape (n_pairs,)
        In units of gain, at lambda 1.
    """

    gain: NDArray[np.int64]
    parent: NDArray[np.int32]
    arc_start: NDArray[Any]
    arc_pair: NDArray[np.int32]
    price: NDArray[np.float64]

    def capacity(self, lam: float) -> NDArray[np.int64]:
        """Cost of each pair, rounded up as in our solver."""
        return np.ceil(lam * self.price).astype(np.int64)

    def value(self, keep: NDArray[np.bool_], lam: float) -> int:
        """Value of a closed set of blocks."""
        is_paid = np.zeros(len(self.price), np.bool_)
        is_paid[self.arc_pair[np.repeat(keep, np.diff(self.arc_start))]] = True
        return int(self.gain[keep].sum() - self.capacity(lam)[is_paid].sum())


def build_flow(graph: FlowGraph, lam: float) -> tuple[SimpleMaxFlow, int, int]:
    """Pass the graph to OR-tools in pieces, to limit the memory of temporary arrays.

    Returns
    -------
    flow : SimpleMaxFlow
    origin, sink : int
    """
    n_blocks, n_pairs = len(graph.gain), len(graph.price)
    origin, sink = n_blocks + n_pairs, n_blocks + n_pairs + 1
    blocks, pairs = np.arange(n_blocks), np.arange(n_pairs)
    capacity = graph.capacity(lam)
    earns, loses, has_parent = graph.gain > 0, graph.gain < 0, graph.parent >= 0
    flow = SimpleMaxFlow()

    def add(tail: Any, head: Any, capacity: Any) -> None:
        arrays = np.broadcast_arrays(np.int32(tail), np.int32(head), np.int64(capacity))
        flow.add_arcs_with_capacity(*arrays)

    add(origin, blocks[earns], graph.gain[earns])
    add(blocks[loses], sink, -graph.gain[loses])
    add(blocks[has_parent], graph.parent[has_parent], graph.gain[earns].sum())
    # Arcs from blocks to pairs could have any large capacity; OR-tools is fastest with that of the pair.
    add(
        np.repeat(np.int32(blocks), np.diff(graph.arc_start)),
        n_blocks + graph.arc_pair,
        capacity[graph.arc_pair],
    )
    add(n_blocks + pairs, sink, capacity)
    return flow, origin, sink


def solve_flow(flow: SimpleMaxFlow, origin: int, sink: int) -> float:
    """Time OR-tools' `solve` alone."""
    start = perf_counter()
    status = flow.solve(origin, sink)
    elapsed = perf_counter() - start
    if status != flow.OPTIMAL:
        raise RuntimeError(f"OR-tools ended with {status}.")
    return elapsed


def answer_file(file: str | os.PathLike[str], lam: float, answer: str | os.PathLike[str]) -> None:
    """Solve one lambda of a stored graph; save the time, the minimum cut and the maximum flow.

    The cut is a mask of the kept blocks; the flow is an array with a number for each entry of `arc_pair`.
    """
    with np.load(file) as stored:
        graph = FlowGraph(**stored)
    start = perf_counter()
    flow, origin, sink = build_flow(graph, lam)
    solve_flow(flow, origin, sink)
    elapsed = perf_counter() - start
    n_arcs, n_pairs = len(graph.arc_pair), len(graph.price)
    first = flow.num_arcs() - n_pairs - n_arcs
    side = np.array(flow.get_source_side_min_cut(), dtype=np.int64)
    keep = np.zeros(len(graph.gain), np.bool_)
    keep[side[side < keep.size]] = True
    np.savez(
        answer,
        seconds=elapsed,
        keep=keep,
        flow=flow.flows(np.arange(first, first + n_arcs, dtype=np.int32)),
    )


if __name__ == "__main__":
    answer_file(sys.argv[1], float(sys.argv[2]), sys.argv[3])
