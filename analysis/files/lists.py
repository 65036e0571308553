"""The metrics of every analysed participant's list in the study package, with their codebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.models import Report
from analysis.read.lists import FEATURES, Floats, ShownLists, Slots, shown_lists
from analysis.results.lists_shown import LIST_METRICS, ListMetric
from studies.data.codebook.participants import Person
from studies.data.codebook.variable import Variable
from studies.data.exports.table_files import write_table
from studies.data.exports.tables import Table, write_codebook

PREFIX = "list."
WEIGHED = "mean over the items of the list"


@dataclass(frozen=True)
class ListRow:
    """The row of one participant; `number` is that of the list."""

    participant: str
    condition: str
    number: int


def write_lists(report: Report, people: Sequence[Person], folder: Path) -> None:
    """Write one row per analysed participant with the metrics of the list shown; nothing where there is no list."""
    slots = Slots(
        conditions=[_condition(person) for person in people],
        sizes=[len(person.record.items) for person in people],
        items=[item.slot.item.external_id for person in people for item in person.record.items],
        scores=[item.slot.score for person in people for item in person.record.items],
    )
    if not slots.items:
        return
    lists = shown_lists(report.study, report.run, slots)
    rows = [
        ListRow(person.record.public_id, condition, number)
        for number, (person, condition) in enumerate(zip(people, slots.conditions, strict=True))
    ]
    table = Table("lists", _variables(lists), lambda source: iter(rows))
    write_table(folder, "data/lists.csv", table.variables, rows)
    write_codebook(folder, "data/lists", table)


def _condition(person: Person) -> str:
    condition = person.record.participant.condition
    return condition.label if condition else ""


def _variables(lists: ShownLists) -> tuple[Variable[ListRow], ...]:
    by = "of their features" if lists.diversity_by == FEATURES else "of the training users who rated them"
    derivations = {
        "popularity": f"percentage of training users who rated an item, {WEIGHED}; no logarithm",
        "diversity": f"1 - mean cosine of all pairs of items, {by}",
        "novelty": f"-log2 of the share of training users who rated an item, {WEIGHED}",
        "predicted_rating": "mean of item.score; empty where scores are not on the rating scale",
        "overlap_within": "mean share of the list in common with the lists of the condition's other participants",
        "overlap_between": "mean share of the list in common with the lists of participants of other conditions",
    }
    return (
        Variable("participant.id", "Participant, as in the other files", "text", lambda row: row.participant),
        Variable("condition", "Condition", "text", lambda row: row.condition),
        *(_variable(metric, lists.column(metric.key), derivations[metric.key]) for metric in LIST_METRICS),
    )


def _variable(metric: ListMetric, column: Floats, derivation: str) -> Variable[ListRow]:
    return Variable(
        f"{PREFIX}{metric.key}",
        f"{metric.title} of the list shown",
        "number",
        _reader(column),
        allowed="0 to 1" if metric.is_share else "",
        derivation=derivation,
        direction=f"high: {DIRECTIONS[metric.key]}",
        minimum=0 if metric.is_share else None,
        maximum=1 if metric.is_share else None,
    )


DIRECTIONS = {
    "popularity": "items that many users rated",
    "diversity": "items that differ from each other",
    "novelty": "items that few users rated",
    "predicted_rating": "items that the model expects to be rated high",
    "overlap_within": "a list much like those of the same condition",
    "overlap_between": "a list much like those of other conditions",
}


def _reader(column: Floats) -> Callable[[ListRow], float | None]:
    return lambda row: None if np.isnan(column[row.number]) else float(column[row.number])
