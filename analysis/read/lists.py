"""Metrics of the lists that participants saw: popularity, diversity, novelty, predicted ratings and overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from analysis.read.inputs import Answers, conditions_of
from catalog.models import Item
from catalog.selectors.ratings import content_terms
from evaluation.enums import ModelOrigin
from evaluation.metrics.beyond_accuracy import diversity, novelty
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.models import algorithm_of
from studies.models import Study
from studies.usage_data import is_usage

Floats = NDArray[np.float64]
Lists = NDArray[np.int64]
FEATURES, CO_RATING = "features", "co-rating"
ONLY_RANKS = "scores rank items and are not on the rating scale"
NO_RATINGS = "the dataset holds usage data, without ratings"
NOT_INSTALLED = "the algorithm is not installed here, so the scale of its scores is unknown"
DECIMALS = 6
HIGHEST_SHARE = 100.0  # popularity is in percent of training users


@dataclass(frozen=True)
class Slots:
    """The slots of all lists, list after list: external ids and scores; conditions and lengths are of the lists."""

    conditions: Sequence[str]
    sizes: Sequence[int]
    items: Sequence[str]
    scores: Sequence[float | None]

    @classmethod
    def of(cls, answers: Answers) -> Slots | None:
        """The lists of analysed participants in their order; None where items are missing."""
        sizes = [person.n_items for person in answers.people]
        if sum(sizes) != len(answers.shown):
            return None
        return cls(
            conditions=[person.condition for person in answers.people],
            sizes=sizes,
            items=[slot.item for slot in answers.shown],
            scores=[slot.score for slot in answers.shown],
        )

    def as_rows(self, values: Sequence[Any], empty: float) -> NDArray[Any]:
        """One row per list, `empty` after the end of a short one; shape (n_lists, longest)."""
        rows = np.full((len(self.sizes), max(self.sizes)), empty)
        rows[np.arange(rows.shape[1]) < np.array(self.sizes)[:, np.newaxis]] = values
        return rows


@dataclass(frozen=True)
class ShownLists:
    """Every metric of every list, shape (n_lists,), NaN where a list has no value.

    Popularity is the mean share of training users who rated an item, in percent. Diversity is one minus the mean cosine
    of all pairs of items: of their features as in offline runs, or, where no item has any, of the training users who
    rated them. Novelty is the mean self-information in bits as in offline runs. Predicted ratings are means of stored
    scores, without slots that popularity filled; `unscored` says why conditions have none. Overlap is the mean share of
    the list in common with the lists of other participants of the condition, and of the other conditions.
    """

    popularity: Floats
    diversity: Floats
    novelty: Floats
    predicted_rating: Floats
    overlap_within: Floats
    overlap_between: Floats
    diversity_by: str
    unscored: Mapping[str, str]

    def column(self, metric: str) -> Floats:
        """The values of one metric, rounded so that sums in any order are the same and ties are ties."""
        values: Floats = np.round(getattr(self, metric), DECIMALS)
        return values


def shown_lists(study: Study, run: EvaluationRun, slots: Slots) -> ShownLists:
    """Measure lists, of which there is at least one, on the training side of the run; no model is used."""
    training = training_rows(cases_of(run).training_digest)
    names = sorted(set(slots.items))
    version = study.dataset_version
    columns = dict(Item.objects.filter(version=version, external_id__in=names).values_list("external_id", "index"))
    row_of = {name: row for row, name in enumerate(names)}
    index = np.array([columns[name] for name in names], dtype=np.int64)
    lists = slots.as_rows([row_of[name] for name in slots.items], -1).astype(np.int64)
    counts = training.item_counts[index]
    shares = HIGHEST_SHARE * counts / training.n_users
    terms, source = content_terms(version), FEATURES
    if terms is None:
        raters = training.user_items[:, index]
        terms, source = (
            sparse.csr_array((np.ones(raters.nnz), raters.indices, raters.indptr), shape=raters.shape).T.tocsr(),
            CO_RATING,
        )
    else:
        terms = terms[index]
    longest = lists.shape[1]
    within, between = _overlaps(lists, slots.conditions)
    unscored = {label: why for label, why in _unscored(study).items() if label in slots.conditions}
    scores = slots.as_rows([np.nan if score is None else score for score in slots.scores], np.nan)
    scores[[condition in unscored for condition in slots.conditions]] = np.nan
    is_scored = ~np.isnan(scores)
    n = is_scored.sum(axis=1)
    predicted = np.where(n > 0, np.where(is_scored, scores, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)
    return ShownLists(
        popularity=np.where(lists >= 0, shares[lists], 0.0).sum(axis=1) / np.array(slots.sizes),
        diversity=diversity(lists, terms, longest),
        novelty=novelty(lists, counts, training.n_users, longest),
        predicted_rating=predicted,
        overlap_within=within,
        overlap_between=between,
        diversity_by=source,
        unscored=unscored,
    )


def _unscored(study: Study) -> dict[str, str]:
    """The conditions whose stored scores are not predicted ratings, each with the reason."""
    conditions = conditions_of(study)
    if is_usage(study.dataset_version):
        return {condition.label: NO_RATINGS for condition in conditions}
    reasons: dict[str, str] = {}
    for condition in conditions:
        kind = algorithm_of(condition.model)
        if kind is None and condition.model.origin != ModelOrigin.REMOTE:
            reasons[condition.label] = NOT_INSTALLED
        elif kind is None or kind.score_kind != "rating":
            reasons[condition.label] = ONLY_RANKS
    return reasons


def _overlaps(lists: Lists, conditions: Sequence[str]) -> tuple[Floats, Floats]:
    """The mean share of each list in common with the others of its condition, and with those of other conditions."""
    labels, condition = np.unique(np.array(conditions), return_inverse=True)
    is_item = lists >= 0
    counts = np.zeros((len(labels), lists.max() + 1), dtype=np.int64)  # lists of a condition that hold an item
    np.add.at(counts, (np.broadcast_to(condition[:, np.newaxis], lists.shape)[is_item], lists[is_item]), 1)
    # An item is once in a list, so the items that a list shares with all others are counts of its items.
    own = np.where(is_item, counts[condition[:, np.newaxis], lists], 0).sum(axis=1)
    everywhere = np.where(is_item, counts.sum(axis=0)[lists], 0).sum(axis=1)
    n_same = np.bincount(condition)[condition]
    parts = ((own - is_item.sum(axis=1), n_same - 1), (everywhere - own, len(lists) - n_same))
    within, between = (np.where(n > 0, shared / lists.shape[1] / np.maximum(n, 1), np.nan) for shared, n in parts)
    return within, between
