"""The metrics of every analysed participant's list in the study package, with their codebook."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from analysis.models import Report
from analysis.read.lists import FEATURES, Slots, shown_lists
from analysis.results.lists_shown import LIST_METRICS
from studies.data.codebook.participants import Person
from studies.data.codebook.variable import Variable
from studies.data.exports.table_files import write_table
from studies.data.exports.tables import Table, write_codebook

PREFIX = "list."
WEIGHED = "mean over the items of the list"
Row = dict[str, Any]
DIRECTIONS = {
    "popularity": "items that many users rated",
    "diversity": "items that differ from each other",
    "novelty": "items that few users rated",
    "predicted_rating": "items that the model expects to be rated high",
    "overlap_within": "a list much like those of the same condition",
    "overlap_between": "a list much like those of other conditions",
}


def write_lists(report: Report, people: Sequence[Person], folder: Path) -> None:
    """Write one row per analysed participant with the metrics of the list shown; nothing where there is no list."""
    conditions = [person.record.participant.condition for person in people]
    slots = Slots(
        conditions=[condition.label if condition else "" for condition in conditions],
        sizes=[len(person.record.items) for person in people],
        items=[item.slot.item.external_id for person in people for item in person.record.items],
        scores=[item.slot.score for person in people for item in person.record.items],
    )
    if not slots.items:
        return
    lists = shown_lists(report.study, report.run, slots)
    rows: list[Row] = [
        {"participant.id": person.record.public_id, "condition": condition}
        for person, condition in zip(people, slots.conditions, strict=True)
    ]
    for metric in LIST_METRICS:
        for row, value in zip(rows, lists.column(metric.key).tolist(), strict=True):
            row[f"{PREFIX}{metric.key}"] = None if np.isnan(value) else value
    table = Table("lists", _variables(lists.diversity_by), lambda source: iter(rows))
    write_table(folder, "data/lists.csv", table.variables, rows)
    write_codebook(folder, "data/lists", table)


def _variables(diversity_by: str) -> tuple[Variable[Row], ...]:
    by = "of their features" if diversity_by == FEATURES else "of the training users who rated them"
    derivations = {
        "popularity": f"percentage of training users who rated an item, {WEIGHED}; no logarithm",
        "diversity": f"1 - mean cosine of all pairs of items, {by}",
        "novelty": f"-log2 of the share of training users who rated an item, {WEIGHED}",
        "predicted_rating": "mean of item.score; empty where scores are not on the rating scale",
        "overlap_within": "mean share of the list in common with the lists of the condition's other participants",
        "overlap_between": "mean share of the list in common with the lists of participants of other conditions",
    }
    metrics = [
        Variable[Row](
            f"{PREFIX}{metric.key}",
            f"{metric.title} of the list shown",
            "number",
            itemgetter(f"{PREFIX}{metric.key}"),
            allowed="0 to 1" if metric.is_share else "",
            derivation=derivations[metric.key],
            direction=f"high: {DIRECTIONS[metric.key]}",
            minimum=0 if metric.is_share else None,
            maximum=1 if metric.is_share else None,
        )
        for metric in LIST_METRICS
    ]
    return (
        Variable("participant.id", "Participant, as in the other files", "text", itemgetter("participant.id")),
        Variable("condition", "Condition", "text", itemgetter("condition")),
        *metrics,
    )
