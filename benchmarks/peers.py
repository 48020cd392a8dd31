"""The peer: OR-tools' maximum flow on the graph that our own solver uses.

Imports nothing of ours, so that its process uses only the memory of OR-tools.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from budgetprune_experiments.ortools_flow import FlowGraph, build_flow, solve_flow
else:
    # Load the module from its file, because its package would import many others.
    from importlib.util import module_from_spec, spec_from_file_location

    _file = Path(__file__).resolve().parents[1] / "experiments/budgetprune_experiments/ortools_flow.py"
    _spec = spec_from_file_location("ortools_flow", _file)
    _flow = module_from_spec(_spec)
    _spec.loader.exec_module(_flow)
    FlowGraph, build_flow, solve_flow = _flow.FlowGraph, _flow.build_flow, _flow.solve_flow

__all__ = ["FlowGraph", "build_flow", "solve_file", "solve_flow"]


def solve_file(file: str | os.PathLike[str], lam: float) -> float:
    """Solve one lambda of a stored graph; runs in the peer's process."""
    with np.load(file) as stored:
        flow = build_flow(FlowGraph(**stored), lam)
    return solve_flow(*flow)
