"""Columns of exports, as the codebook of a study from the shipped template lists them."""

from __future__ import annotations

import re

from catalog.models import DatasetVersion
from reference.markdown import code, table
from studies.data.codebook.variable import line
from studies.data.exports.tables import Table, tables_of
from studies.design.presets.loader import load_preset
from studies.models import Study

TEMPLATE = "cremonesi-2011"
NO_ROW = 0  # the key of no row of any database
HEADS = ("column", "meaning", "type", "values", "derivation", "identifies")
TITLES = {
    "long": "One row per participant and recommended item",
    "wide": "One row per participant",
    "events": "One row per event",
    "pages": "Page times",
    "page-medians": "Medians of page times",
    "ratings": "One row per known item",
    "profiles": "Profiles with their keys, one row per known item",
    "allocation": "Allocation log",
}


LATER = re.compile(r"\.(?:[2-9]|\d\d+)\.")  # numbered columns after the first of their kind


def tables() -> dict[str, Table]:
    """The tables of a study from the template, on a dataset with ratings; it is in no database."""
    preset = load_preset(TEMPLATE)
    study = Study(
        pk=NO_ROW,
        slug="study",
        settings=preset.settings,
        questionnaire=preset.questionnaire,
        texts=preset.texts,
        dataset_version=DatasetVersion(pk=NO_ROW, scale_low=1.0, scale_high=5.0),
    )
    return tables_of(study, with_identifying=True)


def entries() -> str:
    """Every table with its columns; of columns with a number, those numbered 1."""
    parts = []
    for kind, exported in tables().items():
        lines = [line(variable) for variable in exported.variables if not LATER.search(variable.name)]
        rows = [
            (code(each["name"]), each["meaning"], each["type"], each["values"], each["derivation"], each["identifies"])
            for each in lines
        ]
        parts.append(f"## {TITLES[kind]} (`{kind}`)\n\n{table(HEADS, rows)}")
    return "\n\n".join(parts)
