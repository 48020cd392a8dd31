"""What is to be optimised, and the proof that it was: errors, costs and certificates of prunings."""

from budgetprune.problem.certificate import Certificate
from budgetprune.problem.problem import PruningProblem

__all__ = ["Certificate", "PruningProblem"]
