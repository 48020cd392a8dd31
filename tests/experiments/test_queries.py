"""Documents stay with their query, labels are binary, and prices keep their proportions."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from budgetprune.datasets import TEST, TRAIN, VALIDATION
from budgetprune.errors import InvalidInputError
from budgetprune_experiments.figure1c import made_documents
from budgetprune_experiments.queries import drawn_prices, drawn_queries, split_by_query


@pytest.fixture
def documents():
    """Queries of very different lengths, in no order, with grades 0 to 2."""
    random = np.random.default_rng(0)
    data = made_documents(0)
    order = random.permutation(len(data.y))
    qid = np.repeat(np.arange(40), random.integers(1, 40, 40))[: len(order)]
    qid = np.pad(qid, (0, len(order) - qid.size), constant_values=40)
    split = np.where(qid % 4 == 3, TEST, TRAIN).astype(np.int8)
    return replace(data, qid=qid[order], split=split[order], y=random.integers(0, 3, len(order)))


@pytest.mark.parametrize("seed", range(3))
def test_no_query_is_in_two_parts(documents, seed):
    split = split_by_query(documents, seed)
    parts = [set(rows.qid.tolist()) for rows in (split.train, split.val, split.test)]
    assert parts[0] | parts[1] | parts[2] == set(documents.qid.tolist())
    assert sum(map(len, parts)) == len(set(documents.qid.tolist()))
    assert parts[2] == set(documents.qid[documents.split == TEST].tolist())
    assert len(parts[1]) == round(0.3 * (len(parts[0]) + len(parts[1])))
    assert sum(split.sizes.values()) == len(documents.y)


def test_rows_keep_their_labels_and_queries(documents):
    split = split_by_query(documents, 0)
    known = {row.tobytes(): (int(y >= 1), q) for row, y, q in zip(*documents_of(documents), strict=True)}
    for rows in (split.train, split.val, split.test):
        for row, y, q in zip(rows.X, rows.y, rows.qid, strict=True):
            assert known[row.tobytes()] == (y, q)


def documents_of(data):
    return data.X, data.y, data.qid


def test_seeds_draw_other_queries(documents):
    drawn = [tuple(drawn_queries(documents.qid, 0.3, seed)) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_validation_rows_of_the_source_stay(documents):
    role = np.where((documents.split == TRAIN) & (documents.qid % 4 == 0), VALIDATION, documents.split)
    split = split_by_query(replace(documents, split=role.astype(np.int8)), 5)
    assert set(split.val.qid.tolist()) == set(documents.qid[role == VALIDATION].tolist())


def test_divided_queries_are_refused(documents):
    role = documents.split.copy()
    role[np.flatnonzero(documents.qid == 3)[0]] = TRAIN
    with pytest.raises(InvalidInputError, match="query 3 has documents in several"):
        split_by_query(replace(documents, split=role), 0)
    with pytest.raises(InvalidInputError, match="which query"):
        split_by_query(replace(documents, qid=None), 0)


def test_prices_keep_their_proportions():
    values = np.repeat([1.0, 5.0, 20.0], [60, 30, 10])
    first, second = (drawn_prices(values, 20, seed) for seed in (0, 1))
    assert Counter(first.tolist()) == Counter(second.tolist()) == {1.0: 12, 5.0: 6, 20.0: 2}
    assert not np.array_equal(first, second)
    assert set(drawn_prices(values, 1, 0)) == {1.0}
