"""The tables that every format is made of, and their codebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.enums import ModelOrigin
from studies.data.codebook.event_variables import (
    allocation_variables,
    event_variables,
    list_request_variables,
    page_summary_variables,
    page_variables,
    profile_variables,
    rating_variables,
)
from studies.data.codebook.items import long_variables, wide_variables
from studies.data.codebook.participants import choices_variables, comparison_variables, key_variables, list_variables
from studies.data.codebook.variable import HEADS, Variable, as_json, line, shown, table_schema
from studies.data.exports.rows import Source
from studies.data.exports.table_files import Written, write_json, write_lines, write_table
from studies.instrument.flow import whole_flow
from studies.models import Study

KEYS = {
    "long": ("participant.id", "item.rank"),
    "wide": ("participant.id",),
    "choices": ("participant.id",),
    "lists": ("participant.id",),
    "comparisons": ("participant.id", "comparison.question"),
    "events": ("participant.id", "event.order"),
    "pages": ("participant_code", "page_index"),
    "page-medians": ("page_name", "participant_mode"),
    "ratings": ("participant.id", "rating.order"),
    "profiles": ("participant", "item"),
    "allocation": ("allocation.number",),
    "list-requests": ("participant.id",),
}
OF_LIST = ("list.occasion", "list.side", "occasion")


@dataclass(frozen=True)
class Options:
    """What an export includes besides anonymised live data."""

    include_simulated: bool = False
    include_external_ids: bool = False  # and codes; the files' names say so
    without_excluded: bool = False

    @property
    def mark(self) -> str:
        return "identifiable-true_" if self.include_external_ids else ""


@dataclass(frozen=True)
class Table:
    """A table of an export: its columns, and its rows."""

    kind: str
    variables: Sequence[Variable[Any]]
    rows: Callable[[Source], Iterator[Any]]


def tables_of(study: Study, *, with_identifying: bool = False) -> dict[str, Table]:
    """Every table there is, by kind; requests of lists, choices and several lists only in studies that have them."""
    tables = {
        "long": Table("long", long_variables(study, with_identifying=with_identifying), Source.judged),
        "wide": Table("wide", wide_variables(study, with_identifying=with_identifying), Source.people),
        "events": Table("events", event_variables(study), Source.event_rows),
        "pages": Table("pages", page_variables(study), Source.pages),
        "page-medians": Table("page-medians", page_summary_variables(study), Source.page_summaries),
        "ratings": Table("ratings", rating_variables(study), Source.rated),
        "profiles": Table("profiles", profile_variables(study), Source.keyed),
        "allocation": Table("allocation", allocation_variables(study), Source.allotted),
    }
    if study.conditions.filter(model__origin=ModelOrigin.REMOTE).exists():
        tables["list-requests"] = Table("list-requests", list_request_variables(study), Source.requested)
    flow = whole_flow(study.design)
    if flow.choice is not None:
        tables["choices"] = Table("choices", choices_variables(study), Source.choosing)
    if flow.lists.is_several:
        of_lists = shown([*key_variables(), *list_variables(study)], with_identifying=with_identifying)
        tables["lists"] = Table("lists", of_lists, Source.lists)
    if flow.compared:
        tables["comparisons"] = Table("comparisons", comparison_variables(study), Source.compared)
    return tables


def key_of(table: Table) -> tuple[str, ...]:
    """Return the columns that name a row; where there are several lists, the list is among them."""
    names, key = {variable.name for variable in table.variables}, KEYS.get(table.kind, ())
    return (*key[:1], *(name for name in OF_LIST if name in names), *key[1:])


def write_whole(folder: Path, stem: str, table: Table, source: Source) -> list[Written]:
    """A table as CSV, with its codebook."""
    data = write_table(folder, f"{stem}_data.csv", table.variables, table.rows(source))
    return [data, *write_codebook(folder, stem, table)]


def write_codebook(folder: Path, stem: str, table: Table) -> list[Written]:
    """The codebook of a table as CSV, as JSON, and as a Frictionless Table Schema."""
    variables, n = table.variables, len(table.variables)
    return [
        write_lines(folder, f"{stem}_codebook.csv", HEADS, map(line, variables)),
        write_json(folder, f"{stem}_codebook.json", [as_json(variable) for variable in variables], n),
        write_json(folder, f"{stem}_schema.json", table_schema(variables, key=key_of(table)), n),
    ]
