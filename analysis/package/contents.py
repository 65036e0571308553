"""What a study package holds beside the report: people's data, the run's results, the design, and the scripts."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from analysis.enums import VARIABLES, Variable, variable_of
from analysis.models import Report
from analysis.selectors.inputs import conditions_of, measured_by, positions_in
from core.errors import ParallaxError
from studies.codebook.cells import cell
from studies.codebook.participants import Person
from studies.enums import ParticipantStatus
from studies.exports.rows import Source
from studies.exports.tables import tables_of, write_codebook
from studies.exports.writing import write_json, write_table, write_text
from studies.narrative.preregistration import preregistration
from studies.questionnaires.schema import questionnaire_from
from studies.scales import ScaleOfStudy, scales_of, score_of_participant
from studies.selectors.placeholders import as_read
from studies.selectors.planning import preregistration_plan
from studies.selectors.texts import languages_of, texts_of

SCRIPTED_ALPHA = "0.05"  # stands once in each script
SCRIPTS = Path(__file__).parent / "scripts"
Scales = Mapping[str, ScaleOfStudy]
SETS = ("higher", "lower")
TABLES = {"wide": "participants", "long": "items"}


def write_people(report: Report, folder: Path) -> None:
    """Write who took part, what they judged, and the measures of those who are analysed, with codebooks.

    Raises `report.answers_changed` where the answers are not those that the report was made from.
    """
    source = Source(report.study, [report.mode])
    analysed = [person for person in source.people() if _is_analysed(person, report)]
    scales = {scale.key: scale for scale in scales_of(questionnaire_from(report.study.questionnaire))}
    if any(_values(analysed, one, scales) != _reported(one) for one in report.results["variables"]):
        raise ParallaxError(
            "report.answers_changed",
            "The answers are not those this report was made from: someone has withdrawn, or was excluded or taken in "
            "again. Build a new report, and take its package.",
        )
    tables = tables_of(report.study)
    for kind, name in TABLES.items():
        write_table(folder, f"data/{name}.csv", tables[kind].variables, tables[kind].rows(source))
        write_codebook(folder, f"data/{name}", tables[kind])
    tested = [variable_of(one["key"], one) for one in report.results["variables"]]
    variables = [*VARIABLES, *(variable for variable in tested if variable.scale)]
    heads = ["participant.id", "condition", *(variable.key for variable in variables)]
    lines = [
        [
            person.record.public_id,
            cell(_condition(person)),
            *("" if (value := _value(person, variable, scales)) is None else float(value) for variable in variables),
        ]
        for person in analysed
    ]
    _write_lines(folder / "data" / "analysed.csv", heads, lines)


def write_contrast(report: Report, folder: Path) -> None:
    """Write the planned contrast for the scripts, where it is the primary test: a line a condition."""
    found = report.results.get("contrast")
    if found is not None:
        lines = [[found["variable"], name, cell(label), found["sides"]] for name in SETS for label in found[name]]
        _write_lines(folder / "data" / "contrast.csv", ["variable", "set", "condition", "sides"], lines)


def _is_analysed(person: Person, report: Report) -> bool:
    """Whether a participant is analysed: completed, with every answer, and not left out under the report's plan."""
    plan, participant = report.plan, person.record.participant
    if plan.get("by_hand", True) and person.excluded is not None:
        return False
    if set(plan.get("exclude", ())) & set(person.flags):
        return False
    is_whole = person.record.measures is not None and participant.condition is not None
    return is_whole and participant.status == ParticipantStatus.COMPLETED


def _value(person: Person, variable: Variable, scales: Scales) -> Fraction | None:
    """A participant's value; None where too little of a scale was answered for a score."""
    measures, record = person.record.measures, person.record
    if variable.scale:
        return score_of_participant(scales[variable.scale], record.answers, [item.answers for item in record.items])
    return Fraction(getattr(measures, variable.sum_field), measures.n_items if measures and variable.per_item else 1)


def _condition(person: Person) -> str:
    condition = person.record.participant.condition
    return condition.label if condition else ""


def _values(people: list[Person], reported: Mapping[str, Any], scales: Scales) -> Counter[tuple[str, Fraction]]:
    """How often each value of a variable stands in each condition, among these people."""
    variable = variable_of(reported["key"], reported)
    values = ((_condition(person), _value(person, variable, scales)) for person in people)
    return Counter((condition, value) for condition, value in values if value is not None)


def _reported(reported: Mapping[str, Any]) -> Counter[tuple[str, Fraction]]:
    """The same, as the report holds it."""
    unit = reported["points_per_unit"]
    return Counter((name, Fraction(point, unit)) for name, points in reported["points"].items() for point in points)


def write_run(report: Report, folder: Path) -> None:
    """Write the conditions with their models, and what the run measured of each user, at every profile length."""
    study, run = report.study, report.run
    conditions = conditions_of(study)
    heads = ["position", "label", "algorithm", "params", "model_digest", "target"]
    lines = [
        [one.position, cell(one.label), one.model.algorithm, _params(one.model.params), one.model_digest, one.target]
        for one in conditions
    ]
    _write_lines(folder / "data" / "conditions.csv", heads, lines)
    labels = tuple(condition.label for condition in conditions)
    positions = positions_in(study, run)
    heads = ["profile_length", "user", "cases.recall", "cases.fallout"]
    heads += [f"{kind}.{cell(label)}" for kind in ("recall", "fallout") for label in labels]
    _write_lines(
        folder / "data" / "run-users.csv",
        heads,
        (line for length in (0, *run.profile_lengths) for line in _users(measured_by(run, labels, positions, length))),
    )


def _users(measured: Any) -> Iterator[list[Any]]:
    """A line a user, numbered in the order of the dataset: cases of each kind, then each model's recall and fallout."""
    recall, fallout = measured.users["recall"], measured.users["fallout"]
    for place in range(len(recall)):
        values = [*recall[place], *fallout[place]]
        yield [
            measured.length,
            place + 1,
            int(measured.cases["recall"][place]),
            int(measured.cases["fallout"][place]),
            *("" if np.isnan(value) else float(value) for value in values),
        ]


def _params(params: dict[str, Any]) -> str:
    return "; ".join(f"{name}={value}" for name, value in params.items())


def _write_lines(path: Path, heads: list[str], lines: Iterable[list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(lines)


def write_design(report: Report, folder: Path) -> None:
    """Write the frozen design with its hash, the questionnaire, what people read, and the preregistration text."""
    study = report.study
    version = study.versions.order_by("-number").first()
    design = version.snapshot if version else {}
    write_json(folder, "design/design.json", {"design_hash": study.design_hash, "design": design})
    write_json(folder, "design/questionnaire.json", as_read(study)[1])
    write_text(folder, "design/preregistration.md", preregistration(preregistration_plan(study)))
    for language in sorted(languages_of(study)):
        for name in ("consent", "debriefing"):
            if text := texts_of(study, language).get(name):
                write_text(folder, f"design/{name}-{language}.md", f"{text.rstrip()}\n")


def write_scripts(report: Report, folder: Path) -> None:
    """Write the scripts that recompute the main tests, at the report's level."""
    for name in ("recompute.py", "recompute.R"):
        text = (SCRIPTS / name).read_text(encoding="utf-8").replace(SCRIPTED_ALPHA, repr(report.plan["alpha"]))
        write_text(folder, f"scripts/{name}", text)
