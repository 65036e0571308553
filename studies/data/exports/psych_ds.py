"""A package in Psych-DS format: dataset_description.json, data/, materials/, README, CHANGES."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.models import LogEntry
from core.provenance import CODE_VERSION
from documents.markdown import escaped
from studies.allocation.selectors.assignment_seed import seed_facts
from studies.data.codebook.cells import iso_time
from studies.data.codebook.variable import property_value
from studies.data.exports.rows import Source
from studies.data.exports.table_files import Written, write_json, write_text
from studies.data.exports.tables import Options, Table, write_whole
from studies.design.selectors.placeholders import filled
from studies.design.selectors.texts import languages_of, texts_of
from studies.enums import Mode
from studies.flow_pages import IN_TURN, ONE, SIDE_BY_SIDE
from studies.models import Study
from studies.simulation.planted_effects import planted_sentence

SCHEMA_VERSION = "Psych-DS 0.4.0"
# The standard's file names are pairs of keyword and value; a value has letters and digits alone.
TABLES = {
    "wide": ("participants", "one row per participant who gave consent"),
    "long": ("items", "one row per participant and recommended item"),
    "lists": ("lists", "one row per list of a participant, in the order in which they met them"),
    "comparisons": ("comparisons", "one row per question of which of two lists a participant prefers"),
    "choices": ("choices", "one row per participant who picked one of the recommended items, or none"),
    "ratings": ("ratings", "one row per rating of a known item"),
    "events": ("events", "one row per event on a page"),
    "pages": ("pagetimes", "one row per page that a participant finished, with oTree column names"),
    "page-medians": ("pagemedians", "one row per page and mode: median and quartiles of time"),
    "allocation": ("allocation", "the allocation log, from which the assignment can be replayed"),
    "list-requests": ("listrequests", "one row per request for a list, with the answer of the remote recommender"),
}
DESIGNS = {
    ONE: "A between-subjects comparison of recommenders: each participant rated items they know, was shown the "
    "recommendations of one of them, and said what they thought of each.",
    IN_TURN: "A within-subjects comparison of recommenders: each participant rated items they know, was shown the "
    "recommendations of each of them in turn, and said what they thought of each list.",
    SIDE_BY_SIDE: "A paired comparison of recommenders: each participant rated items they know, was shown the "
    "recommendations of two of them side by side, and said which list they prefer.",
}


def write_package(
    study: Study, tables: Mapping[str, Table], source: Source, options: Options, folder: Path
) -> list[Written]:
    """Write the package; every table is in data/ with its codebooks."""
    files: list[Written] = []
    described: dict[str, dict[str, Any]] = {}
    word = re.sub(r"[^a-zA-Z0-9]", "", study.slug)
    mark = "_identifiable-true" if options.include_external_ids else ""
    for kind, (name, _words) in TABLES.items():
        if kind not in tables:
            continue
        table = tables[kind]
        files += write_whole(folder, f"data/study-{word}{mark}_description-{name}", table, source)
        for variable in table.variables:
            described.setdefault(variable.name, property_value(variable))
    files += write_materials(study, folder, "materials")
    files.append(write_json(folder, "dataset_description.json", _description(study, list(described.values()), source)))
    files.append(write_text(folder, "README.md", _readme(study, files, source, options)))
    files.append(write_text(folder, "CHANGES.md", _changes(study)))
    return files


def write_materials(study: Study, folder: Path, name: str) -> list[Written]:
    """Write the newest design, the questionnaire and the texts that participants read to the folder of that name."""
    version = study.versions.order_by("-number").first()
    design = version.snapshot if version else {"settings": study.settings, "seed": study.seed, **seed_facts(study)}
    return [
        write_json(folder, f"{name}/design.json", {"design_hash": study.design_hash, "design": design}),
        write_json(folder, f"{name}/questionnaire.json", filled(study.questionnaire, study.design)),
        *(
            write_text(folder, f"{name}/{kind}-{language}.md", f"{text.rstrip()}\n")
            for language in sorted(languages_of(study))
            for kind in ("consent", "debriefing")
            if (text := texts_of(study, language).get(kind))
        ),
    ]


def _description(study: Study, variables: list[dict[str, Any]], source: Source) -> dict[str, Any]:
    simulated = (
        " It holds simulated participants, marked in participant.mode." if Mode.SIMULATED in source.modes else ""
    )
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.title,
        "description": f"{DESIGNS[study.design.flow.lists.shown]}{simulated}",
        "schemaVersion": SCHEMA_VERSION,
        "identifier": study.design_hash or study.slug,
        "version": str(study.versions.count()),
        "keywords": ["recommender systems", "user study", "perceived quality"],
        "measurementTechnique": "online questionnaire",
        "creator": {"@type": "SoftwareApplication", "name": "Parallax", "softwareVersion": CODE_VERSION},
        "variableMeasured": variables,
    }


def _readme(study: Study, files: list[Written], source: Source, options: Options) -> str:
    planted = study.design.planted_effects if Mode.SIMULATED in source.modes else {}
    lines = [
        f"# {escaped(study.title)}",
        "",
        f"Data of the study `{study.slug}`, design hash `{study.design_hash or 'not launched yet'}`.",
        "",
        f"Participants: {' and '.join(source.modes)}."
        + (" Simulated participants are no evidence about people." if Mode.SIMULATED in source.modes else ""),
        *([planted_sentence(planted)] if planted else ()),
        "Participants excluded by the researcher or by the plan of the launch are not included."
        if options.without_excluded
        else "Participants excluded by the researcher are marked by `participant.is_excluded`, with the reason; those "
        "excluded by the plan of the launch are marked by `participant.is_left_out_by_plan`.",
        "This package identifies people. Do not share it."
        if options.include_external_ids
        else "Ids are generated for publication and cannot be traced back to participants.",
        "",
        "## Files",
        "",
    ]
    for file in files:
        if file.name.endswith("_data.csv"):
            name = file.name.removesuffix("_data.csv").rsplit("description-", 1)[1]
            lines.append(f"- `{file.name}`: {dict(TABLES.values())[name]} ({file.n_rows} rows)")
    lines += [
        "- `materials/`: the frozen design, the questionnaire, the texts shown to participants",
        "",
        "Each table has a codebook beside it (`_codebook.csv`, `_codebook.json`, `_schema.json`). An empty cell means "
        "no value, 1 and 0 mean yes and no, and times are in UTC.",
        "",
    ]
    return "\n".join(lines)


def _changes(study: Study) -> str:
    lines = ["# Changes", ""]
    for entry in LogEntry.objects.filter(kind="studies.study", object_id=study.pk).order_by("at", "id"):
        if entry.facts.get("act") == "exported":
            continue  # else every export would differ from the one before
        lines.append(f"- {iso_time(entry.at)}: {escaped(entry.reason.strip()) or entry.to_status}")
    return "\n".join([*lines, ""])
