"""The runs and models that a study can use: those that a report can join with it.

Asked when conditions are chosen, before the launch, and again by the report itself.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.reported_kinds import ERRORS, kind_at, kind_word, tested_kinds
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import COVERED_PROFILES, LEAST_COVERED, is_pooled, model_rows, reported_metrics
from evaluation.selectors.runs import measured_algorithms, succeeded_runs
from evaluation.selectors.uploads import leak_warning
from recommenders import registry
from studies.models import Study

FEWEST_COMPARED = 2


def check_run(run: EvaluationRun) -> None:
    """Refuse a run that no report can be computed from.

    Raises `report.run_not_finished`, `run.other_protocol`, `run.no_recall`, `run.many_models`.
    """
    if run.status != RunStatus.SUCCEEDED:
        raise ParallaxError(
            "report.run_not_finished",
            f"Run {run.pk} is {run.status}; a report needs a run that has succeeded. Wait for it, or choose another.",
        )
    reported_metrics(run)  # which says why a run has none
    if run.folds:
        cases_of(run)  # which says why a run of several models has no one set of cases


def positions_in(study: Study, run: EvaluationRun) -> list[int | None]:
    """Where each condition's model stands among the algorithms of `run`, by digest; None where it does not."""
    by_digest: dict[str, int] = {}
    for position, algorithm in enumerate(measured_algorithms(run)):
        if algorithm.served is not None:
            by_digest.setdefault(algorithm.served.digest, position)
    digests = study.conditions.order_by("position").values_list("model_digest", flat=True)
    return [by_digest.get(digest) for digest in digests]


def report_problems(study: Study, objective: Any) -> list[str]:
    """What keeps the study's own run from giving the report that is planned, in sentences.

    `objective` is the primary offline metric as settings name it, such as ``recall@profile5``.
    """
    run = study.run
    try:
        check_run(run)
    except ParallaxError as refusal:
        return [str(refusal)]
    conditions = study.conditions.order_by("position")
    problems = [
        f"{condition.label}: its model is not one that run {run.pk} measured. Evaluate the algorithms of all "
        "conditions in one run, which uses the trained models again; then save the conditions once more."
        for condition, position in zip(conditions, positions_in(study, run), strict=True)
        if position is None
    ]
    kind, _at, profile = str(objective).partition("@profile")
    problems += _not_primary(study, kind, int(profile or 0))
    if profile and int(profile) not in run.profile_lengths:
        problems.append(
            f"The primary metric is on profiles of {profile} ratings, which run {run.pk} left out. Choose another "
            "primary metric."
        )
    if kind in ERRORS and kind in reported_metrics(run):
        return problems + _unpredicted(study, kind, int(profile or 0))
    sides = {"recall": ("relevant", run.n_relevant, "fallout"), "fallout": ("irrelevant", run.n_irrelevant, "recall")}
    if kind not in reported_metrics(run):
        problems.append(
            f"The primary metric is {kind_word(kind)}, which {run.protocol['name']} does not measure. Choose "
            f"{kind_word(tested_kinds(run.protocol)[0])} as the primary metric, or another run."
        )
    elif kind in sides and not sides[kind][1]:
        name, _n, instead = sides[kind]
        problems.append(
            f"The primary metric is {kind}, and run {run.pk} has no {name} case to measure it on. Choose {instead} as "
            "the primary metric, or evaluate with other thresholds."
        )
    return problems


def _not_primary(study: Study, kind: str, profile_length: int) -> list[str]:
    """Why models that were learned elsewhere cannot be part of the primary comparison."""
    run, problems = study.run, []
    name, chosen = reported_metrics(run).get(kind, ""), positions_in(study, run)
    rows = model_rows(run, profile_length if profile_length in run.profile_lengths else 0)
    for position, row in enumerate(rows):
        if registry.algorithm(row.algorithm).is_fitted or position not in chosen:
            continue
        warning = leak_warning(row.algorithm, row.params, row.label, {cases_of(run).training_digest}, run.split)
        if warning:
            problems.append(
                f"{warning} The primary comparison cannot include it. Upload it with the training_hash "
                "of the run as the digest of its training rows, or with the statement that it saw no test user of the "
                "split strangers; then evaluate again."
            )
        covered, cell = row.cells.get(COVERED_PROFILES), row.cells.get(name)
        if cell is not None and cell.value is None and cell.reason:
            problems.append(
                f"{row.label}: run {run.pk} has no {kind_word(kind)} of it: {cell.reason}. Evaluate again with the "
                "mode exact of one-plus-random, or with full-ranking."
            )
        elif covered is not None and (covered.value or 0.0) < LEAST_COVERED:
            problems.append(
                f"{row.label} covers {covered.value or 0.0:.0%} of the test profiles of run {run.pk} that the primary "
                f"metric is measured on, which is less than {LEAST_COVERED:.0%}. Upload lists for more of them."
            )
    return problems


def offline_values(study: Study) -> dict[str, dict[str, float | None]]:
    """The primary offline metric, and the diversity of lists where the study's run measured it: the values by model
    digest, by the metric's name. No values where the run did not measure the primary metric.
    """
    kind, _at, profile = str(study.design.primary.objective).partition("@profile")
    name = kind_at(kind, study.run.n) + (f" ({profile} ratings)" if profile else "")
    try:
        metrics, rows = {name: reported_metrics(study.run)[kind]}, model_rows(study.run, int(profile or 0))
    except (ParallaxError, KeyError):
        return {name: {}}
    if (diversity := f"diversity@{study.run.n}") in rows[0].cells:
        metrics["Diversity"] = diversity
    served = [algorithm.served for algorithm in measured_algorithms(study.run)]
    return {
        name: {model.digest: row.cells[metric].value for model, row in zip(served, rows, strict=True) if model}
        for name, metric in metrics.items()
    }


def _unpredicted(study: Study, kind: str, profile_length: int) -> list[str]:
    run = study.run
    if profile_length not in (0, *run.profile_lengths):
        return []
    rows, name = model_rows(run, profile_length), reported_metrics(run)[kind]
    positions = [position for position in positions_in(study, run) if position is not None]
    n = sum(rows[position].cells[name].value is not None for position in positions)
    if n >= FEWEST_COMPARED:
        return []
    return [
        f"The primary metric is {kind_word(kind)}, and {n or 'none'} of the conditions predict{'s' if n == 1 else ''} "
        f"ratings in run {run.pk}. Choose {FEWEST_COMPARED} conditions that do or more, or a run with one-plus-random."
    ]


@dataclass(frozen=True)
class AvailableModel:
    """A model with the newest run that measured it; the study's own run comes first."""

    label: str
    model: TrainedModel
    run: EvaluationRun


def available_models(study: Study, researcher: Any) -> list[AvailableModel]:
    """The models of all runs that a report can use, each once, those of the study's own run first.

    `researcher` sees these runs or is a member of the study, for its own run; None, for commands: all.
    """
    models: dict[str, AvailableModel] = {}
    for run in _own_first(study, researcher):
        for algorithm in measured_algorithms(run):
            if algorithm.served is not None:
                models.setdefault(algorithm.served.digest, AvailableModel(algorithm.label, algorithm.served, run))
    return list(models.values())


def run_with(study: Study, digests: Collection[str], researcher: Any) -> EvaluationRun | None:
    """The study's own run if it measured all of these models, else the newest that did, with recall of single items if
    there is one; None where none did. `researcher` as of `available_models`.
    """
    for run in _own_first(study, researcher):
        measured = {algorithm.served.digest for algorithm in measured_algorithms(run) if algorithm.served is not None}
        if measured.issuperset(digests):
            return run
    return None


def _own_first(study: Study, researcher: Any) -> list[EvaluationRun]:
    runs = EvaluationRun.objects.all()
    if researcher is not None:
        runs = EvaluationRun.objects.visible_to(researcher) | EvaluationRun.objects.filter(pk=study.run_id)
    reportable = filter(_is_reportable, succeeded_runs(runs).filter(version=study.dataset_version))  # newest first
    return sorted(reportable, key=lambda run: (run.pk != study.run_id, not is_pooled(run)))


def _is_reportable(run: EvaluationRun) -> bool:
    try:
        check_run(run)
    except ParallaxError:
        return False
    return not run.folds
