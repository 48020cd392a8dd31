"""Ranking measures for documents within queries, and scorers for scikit-learn.

A pruned forest has few leaves, so many documents of a query get the same score. Their order would then be
the order of the rows, and data sets often list the relevant documents first. So every measure here is the
*expected* value when documents with equal scores come in random order (McSherry and Najork 2008): exact, the
same for any order of the rows, and without an advantage for a model that gives many documents the same score.
"""

from budgetprune.ranking.measures import average_precision_at, ndcg_at
from budgetprune.ranking.scorers import RankingScorer, ap_scorer, ndcg_scorer, predicted_relevance

__all__ = [
    "RankingScorer",
    "ap_scorer",
    "average_precision_at",
    "ndcg_at",
    "ndcg_scorer",
    "predicted_relevance",
]
