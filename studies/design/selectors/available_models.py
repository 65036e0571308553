"""The models that a draft can have as conditions: all that runs on its dataset version measured."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from core.errors import ParallaxError
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.selectors.results import is_pooled
from evaluation.selectors.runs import measured_algorithms, succeeded_runs
from studies.design.selectors.reportability import check_run
from studies.models import Study


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
            if algorithm.model is not None:
                models.setdefault(algorithm.model.digest, AvailableModel(algorithm.label, algorithm.model, run))
    return list(models.values())


def run_with(study: Study, digests: Collection[str], researcher: Any) -> EvaluationRun | None:
    """The study's own run if it measured all of these models, else the newest that did, with recall of single items if
    there is one; None where none did. `researcher` as of `available_models`.
    """
    for run in _own_first(study, researcher):
        measured = {algorithm.model.digest for algorithm in measured_algorithms(run) if algorithm.model is not None}
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
