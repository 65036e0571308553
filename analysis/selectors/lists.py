"""Popularity and diversity of the lists that participants saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from catalog.importers.items import UTILITY_KIND
from catalog.models import Feature, Item
from catalog.selectors.ratings import KINDS_WITHOUT_MEANING
from evaluation.metrics.beyond_accuracy import diversity
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of, training_rows
from studies.models import Study

Floats = NDArray[np.float64]
FEATURES, CO_RATING = "features", "co-rating"
HIGHEST_SHARE = 100.0  # popularity is in percent of training users


@dataclass(frozen=True)
class ShownLists:
    """One value per list, shape (n_lists,); diversity is NaN for lists with fewer than two comparable items.

    Popularity is the mean share of training users who rated an item, in percent. Diversity is one minus the mean cosine
    of all pairs of items: of their features, or, where no item has any, of the training users who rated them.
    """

    popularity: Floats
    diversity: Floats
    diversity_by: str


def shown_lists(study: Study, run: EvaluationRun, items: Sequence[str], sizes: Sequence[int]) -> ShownLists:
    """Measure lists; `items` are the external ids of all slots, list after list, `sizes` the lengths of the lists."""
    training = training_rows(cases_of(run).training_digest)
    names = sorted(set(items))
    version = study.dataset_version
    columns = dict(Item.objects.filter(version=version, external_id__in=names).values_list("external_id", "index"))
    row_of = {name: row for row, name in enumerate(names)}
    index = np.array([columns[name] for name in names], dtype=np.int64)
    lists = np.full((len(sizes), max(sizes)), -1, dtype=np.int64)
    lists[np.arange(lists.shape[1]) < np.array(sizes)[:, np.newaxis]] = [row_of[name] for name in items]
    shares = HIGHEST_SHARE * training.item_counts[index] / training.n_users
    popularity = np.where(lists >= 0, shares[lists], 0.0).sum(axis=1) / np.array(sizes)
    terms, source = _feature_terms(version.pk, columns, row_of), FEATURES
    if not terms.nnz:
        raters = training.user_items[:, index]
        terms, source = (
            sparse.csr_array((np.ones(raters.nnz), raters.indices, raters.indptr), shape=raters.shape).T.tocsr(),
            CO_RATING,
        )
    return ShownLists(popularity, diversity(lists, terms, lists.shape[1]), source)


def _feature_terms(version: int, columns: dict[str, int], row_of: dict[str, int]) -> sparse.csr_array:
    """Genres, people, countries, tags and decades of the items, shape (n_items, n_terms)."""
    rows_of_index = {column: row_of[name] for name, column in columns.items()}
    facts = (
        Feature.objects.filter(item__version=version, item__index__in=list(rows_of_index))
        .exclude(kind__in=[*KINDS_WITHOUT_MEANING, UTILITY_KIND])
        .order_by()
        .values_list("item__index", "kind", "value")
    )
    terms: dict[tuple[str, str], int] = {}
    cells = {(rows_of_index[item], terms.setdefault((kind, value), len(terms))) for item, kind, value in facts}
    rows, numbers = (np.array([cell[axis] for cell in sorted(cells)], dtype=np.int64) for axis in (0, 1))
    return sparse.csr_array((np.ones(len(cells)), (rows, numbers)), shape=(len(row_of), max(len(terms), 1)))
