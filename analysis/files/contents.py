"""The study package beside the report: participants' data, the run's results, the design, and the scripts."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from analysis.enums import VARIABLES, Variable
from analysis.models import Report
from analysis.read.inputs import Measured, conditions_of, measured_by, positions_in
from analysis.read.lists import FEATURES, Slots, shown_lists
from analysis.read.responses import analysed_statuses, read_comparisons
from analysis.results.choices import is_of_picks
from analysis.results.comparison import DecidedPairs
from analysis.results.lists_shown import LIST_METRICS
from analysis.results.perceived import PerceivedVariable
from analysis.results.plan import ReportPlan
from core.errors import ParallaxError
from evaluation.reported_kinds import tested_kinds
from inference.ordinal import OrdinalResult
from studies.data.codebook import variable as codebook
from studies.data.codebook.cells import cell
from studies.data.codebook.items import RecommendedRow
from studies.data.codebook.participants import Person
from studies.data.exports.psych_ds import write_materials
from studies.data.exports.rows import Source
from studies.data.exports.table_files import write_table, write_text
from studies.data.exports.tables import Table, tables_of, write_codebook
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.instrument.flow import questionnaire_of
from studies.instrument.outcomes import planned_outcomes
from studies.instrument.questionnaires.schema import ITEMS, Questionnaire
from studies.instrument.scales import ScaleOfStudy, scales_of, score_of_participant
from studies.monitoring.selectors.exclusions import exclusions
from studies.participation.selectors.responses import Record
from studies.settings import SCALE_PREFIX

SCRIPTED_ALPHA = "0.05"  # occurs once in each script
SCRIPTS = Path(__file__).parent / "scripts"
ANSWERS_CHANGED = (
    "The answers have changed since this report was built: a participant has withdrawn, or was excluded or included "
    "again. Build a new report and download its package."
)
Scores = Mapping[str, Callable[[Record], Fraction | None]]  # of scales and outcomes, by key


def write_people(report: Report, folder: Path) -> None:
    """Write participants, their judgements, and the measures of the analysed participants, with codebooks.

    Raises `report.answers_changed` where the answers are not those of the report.
    """
    source, plan, tested = Source(report.study, [report.mode]), report.read_plan(), report.read_results().variables
    people = list(source.people())
    compared = {facts.label for facts in report.read_results().conditions}
    # A participant who had several lists has a row for each.
    judging = [of_list for person in people for of_list in person.lists()]
    analysed = [row for row in judging if _is_analysed(row, plan) and _condition(row) in compared]
    is_in_turn = report.read_results().is_in_turn
    questionnaire = questionnaire_of(report.study)
    scales = {scale.key: scale for scale in scales_of(questionnaire)}
    outcomes = planned_outcomes(questionnaire, report.study.design)
    scales |= {outcome.key: outcome.scale for outcome in outcomes if outcome.scale is not None}
    scores: Scores = {
        **{key: partial(_score, scale) for key, scale in scales.items()},
        **{outcome.key: outcome.value for outcome in outcomes},
    }
    if any(_values(analysed, variable.variable, scores) != _reported_values(variable) for variable in tested):
        raise ParallaxError("report.answers_changed", ANSWERS_CHANGED)
    if report.read_results().preferences:
        _write_preferences(report, folder)
    tables = tables_of(report.study)
    judged = (RecommendedRow(of_list, item) for of_list in judging for item in of_list.record.items)
    of_lists = [("lists", "occasions", judging)] if is_in_turn else []
    for kind, name, rows in (("wide", "participants", people), ("long", "items", judged), *of_lists):
        write_table(folder, f"data/{name}.csv", tables[kind].variables, rows)
        write_codebook(folder, f"data/{name}", tables[kind])
    not_asked = report.read_results().study.not_asked
    measured = [variable for variable in VARIABLES if variable.key not in not_asked]
    variables = [*measured, *(variable.variable for variable in tested if variable.variable.scale)]
    heads = ["participant.id", "condition", *(["position"] if is_in_turn else []), *(each.key for each in variables)]
    lines = []
    for person in analysed:
        values = (_value(person, variable, scores) for variable in variables)
        own = ("" if value is None else float(value) for value in values)
        position = [person.record.occasion] if is_in_turn else []
        lines.append([person.record.public_id, cell(_condition(person)), *position, *own])
    _write_lines(folder / "data" / "analysed.csv", heads, lines)
    if report.read_results().lists_shown is not None:
        write_lists(report, analysed, folder)
    planned = [scales[variable.variable.scale] for variable in tested if variable.variable.scale in scales]
    if planned:
        heads = ["scale", "about", "column", "low", "high", "is_reversed", "least_answered", "score_low", "score_high"]
        members = _members(planned, questionnaire)
        _write_lines(folder / "data" / "scales.csv", heads, members)


def _write_preferences(report: Report, folder: Path) -> None:
    """Write the analysed preferences between lists that differ, with the participants numbered in order of entry."""
    plan = report.read_plan()
    excluded = exclusions(report.study, [report.mode], by_hand=plan.by_hand, rule=plan.exclude)
    answers = read_comparisons(report.study, report.mode, excluded).analysed
    if answers.digest != report.read_provenance().answers_digest:
        raise ParallaxError("report.answers_changed", ANSWERS_CHANGED)
    lines = [
        [key, each.participant, cell(each.left), cell(each.right), answer]
        for each in answers.judged
        for key, answer in each.answers.items()
        if answer is not None and not each.is_identical
    ]
    heads = ["variable", "participant", "left", "right", "preference"]
    _write_lines(folder / "data" / "preferences.csv", heads, lines)


def _members(planned: Iterable[ScaleOfStudy], questionnaire: Questionnaire) -> Iterator[list[Any]]:
    for scale in planned:
        for member in scale.members:
            block = next(
                name for name, own in questionnaire.blocks.items() if any(q.key == member.question for q in own)
            )
            column = f"{'item' if block == ITEMS else block}.{member.name}"
            about = "items" if scale.is_about_items else "participant"
            own = [about, column, member.minimum, member.maximum, int(member.is_reversed)]
            key = scale.key if "." in scale.key else f"{SCALE_PREFIX}{scale.key}"  # an outcome's is whole
            yield [key, *own, scale.least_answered, scale.minimum, scale.maximum]


def write_plan(report: Report, folder: Path) -> None:
    """Write for the scripts the tested variables, those with an ordinal model and the pair of the primary test; and,
    where there are any, the planned contrast, the smallest effect of interest and the pairs that the primary metric
    separates, the better algorithm first.
    """
    results, data = report.read_results(), folder / "data"
    contrast, equivalence, primary = results.contrast, results.equivalence, results.primary
    lines = [["tested", variable.key, ""] for variable in results.variables]
    lines += [["ordinal", effects.key, ""] for effects in results.effects if isinstance(effects.ordinal, OrdinalResult)]
    shares = [each.variable_key for each in results.shares]
    lines += [["picks" if is_of_picks(key) else "counts", key, ""] for key in shares]
    if primary is not None and primary.is_tested:
        lines.append(["primary", primary.variable_key, primary.metric_key])
    _write_lines(data / "plan.csv", ["role", "variable", "metric"], lines)
    if contrast is not None:
        test = contrast.test
        labels = [("higher", label) for label in test.higher] + [("lower", label) for label in test.lower]
        rows = [[contrast.variable_key, name, cell(label), test.sides] for name, label in labels]
        _write_lines(data / "contrast.csv", ["variable", "set", "condition", "sides"], rows)
    if results.factorial is not None:
        rows = [
            [of.variable_key, cell(name), cell(label), weight]
            for of, name, contrast in results.factorial.weighted
            for label, weight in contrast.weights.items()
        ]
        _write_lines(data / "effects.csv", ["variable", "effect", "condition", "weight"], rows)
    if equivalence is not None:
        _write_lines(data / "equivalence.csv", ["variable", "bound"], [[equivalence.variable_key, equivalence.bound]])
    if primary is not None and results.advantage is not None and isinstance(primary.decided, DecidedPairs):
        pairs = [
            [primary.variable_key, primary.metric_key, cell(better), cell(pair.b if better == pair.a else pair.a)]
            for pair in primary.decided.pairs
            if (better := pair.offline_favours) is not None
        ]
        _write_lines(data / "separated.csv", ["variable", "metric", "better", "worse"], pairs)


def _is_analysed(person: Person, plan: ReportPlan) -> bool:
    """Whether the answers about a list are analysed: finished, complete, and of a participant whom the report's plan
    counts.
    """
    participant = person.record.participant
    if plan.by_hand and person.excluded is not None:
        return False
    if set(plan.exclude) & set(person.flags):
        return False
    is_whole = person.record.is_over and person.record.measures is not None and participant.condition is not None
    return is_whole and participant.status in analysed_statuses(plan.tests.values())


def _score(scale: ScaleOfStudy, record: Record) -> Fraction | None:
    return score_of_participant(scale, record.answers, [item.answers for item in record.items])


def _value(person: Person, variable: Variable, scores: Scores) -> Fraction | None:
    """A participant's value; None where too little of a scale was answered for a score."""
    measures, record = person.record.measures, person.record
    if variable.scale:
        return scores[variable.scale](record)
    return Fraction(getattr(measures, variable.sum_field), measures.n_items if measures and variable.per_item else 1)


def _condition(person: Person) -> str:
    condition = person.record.participant.condition
    return condition.label if condition else ""


def _values(people: list[Person], variable: Variable, scores: Scores) -> Counter[tuple[str, Fraction]]:
    values = ((_condition(person), _value(person, variable, scores)) for person in people)
    return Counter((condition, value) for condition, value in values if value is not None)


def _reported_values(result: PerceivedVariable) -> Counter[tuple[str, Fraction]]:
    unit = result.points_per_unit
    return Counter((name, Fraction(point, unit)) for name, points in result.points.items() for point in points)


def write_run(report: Report, folder: Path) -> None:
    """Write the conditions with their models, the run's results for each user at every profile length, and the values
    of the other metrics.
    """
    study, run = report.study, report.run
    results = report.read_results()
    labels, recommenders = tuple(facts.label for facts in results.conditions), results.recommenders
    bases = {dose.condition: dose.base for dose in results.doses}
    lines, positions = [], []
    for condition, position in zip(conditions_of(study), positions_in(study, run), strict=True):
        if condition.label in labels:
            positions.append(position)
            label, model = cell(condition.label), condition.model
            params = "; ".join(f"{name}={value}" for name, value in model.params.items())
            of_model = [model.algorithm, params, condition.model_digest]
            shared = [cell(recommenders[condition.label])] if recommenders else []
            base = [cell(bases.get(condition.label, ""))] if bases else []
            lines.append([condition.position, label, *of_model, condition.target, *base, *shared])
    heads = ["position", "label", "algorithm", "params", "model_digest", "target"]
    heads += [*(["re_ranks"] if bases else []), *(["recommender"] if recommenders else [])]
    _write_lines(folder / "data" / "conditions.csv", heads, lines)
    tested = tested_kinds(run.protocol)
    heads = ["profile_length", "user", *(f"cases.{kind}" for kind in tested)]
    heads += [f"{kind}.{cell(label)}" for kind in tested for label in labels]
    _write_lines(
        folder / "data" / "run-users.csv",
        heads,
        (line for length in (0, *run.profile_lengths) for line in _users(measured_by(run, labels, positions, length))),
    )
    _write_metrics(report, folder)


def _write_metrics(report: Report, folder: Path) -> None:
    """Write the value of every metric of the matrix that users' recall and fallout do not give, by condition."""
    results = report.read_results()
    if results.matrix is None:
        return
    compared = {comparison.metric_key for comparison in results.comparisons}
    labels = [condition.label for condition in results.conditions]
    _write_lines(
        folder / "data" / "run-metrics.csv",
        ["metric", "sign", *(f"value.{cell(label)}" for label in labels)],
        (
            [each.key, each.sign, *("" if (own := each.values.get(name)) is None else own for name in labels)]
            for each in results.matrix.metrics
            if each.key not in compared
        ),
    )


def _users(measured: Measured) -> Iterator[list[Any]]:
    """One line per user, numbered in the order of the dataset: cases of each tested metric, and its values by model."""
    columns = [measured.users[kind] for kind in measured.tested]
    for index in range(len(columns[0])):
        values = [value for column in columns for value in column[index]]
        yield [
            measured.length,
            index + 1,
            *(int(measured.cases[kind][index]) for kind in measured.tested),
            *("" if np.isnan(value) else float(value) for value in values),
        ]


def _write_lines(path: Path, heads: list[str], lines: Iterable[list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(lines)


def write_design(report: Report, folder: Path) -> None:
    """Write the frozen design with its hash, the questionnaire, the participants' texts, and the preregistration."""
    write_materials(report.study, folder, "design")
    write_text(folder, "design/preregistration.md", preregistration(preregistration_plan(report.study)))


def write_scripts(report: Report, folder: Path) -> None:
    """Write the scripts that recompute the main tests, at the report's level."""
    for name in ("recompute.py", "recompute.R"):
        text = (SCRIPTS / name).read_text(encoding="utf-8").replace(SCRIPTED_ALPHA, repr(report.read_plan().alpha))
        write_text(folder, f"scripts/{name}", text)


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


def _variables(diversity_by: str) -> tuple[codebook.Variable[Row], ...]:
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
        codebook.Variable[Row](
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
        codebook.Variable("participant.id", "Participant, as in the other files", "text", itemgetter("participant.id")),
        codebook.Variable("condition", "Condition", "text", itemgetter("condition")),
        *metrics,
    )
