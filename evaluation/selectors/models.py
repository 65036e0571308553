"""Trained models with the runs they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from catalog.models import DatasetVersion
from evaluation.enums import ModelOrigin
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart, TrainedModel


@dataclass(frozen=True)
class ModelLine:
    """A model and the runs that trained or reused it, oldest first; none if it was trained outside a run."""

    model: TrainedModel
    runs: tuple[int, ...]

    @property
    def origin(self) -> str:
        """The origin as text, which distinguishes models with the same label."""
        if not self.runs:
            return "trained outside a run"
        return f"run{'s' if len(self.runs) > 1 else ''} {', '.join(map(str, self.runs))}"


def models_on(version: DatasetVersion, researcher: Any) -> list[ModelLine]:
    """Return the visible models trained on `version` except models of folds, in two queries.

    Models are ordered by run, newest first, and by position in the run; models outside runs come last, newest first.
    """
    ranked = []
    for model in listed_models(researcher).filter(version=version).order_by("-created_at", "-pk"):
        uses = sorted(model.uses.all(), key=lambda use: use.run_id)
        rank = (-uses[-1].run_id, uses[-1].position) if uses else (1, 0)
        ranked.append((rank, line_of(model)))
    return [line for _, line in sorted(ranked, key=lambda entry: entry[0])]


def line_of(model: TrainedModel) -> ModelLine:
    """Return the model with its runs."""
    return ModelLine(model, tuple(sorted({use.run_id for use in model.uses.all()})))


def listed_models(researcher: Any) -> QuerySet[TrainedModel]:
    """Return the visible models that can be served, newest first, with dataset and visible uses: all except models of
    folds and remote ones.
    """
    of_fold = Exists(RunPart.objects.filter(model=OuterRef("pk"))) & ~Exists(
        RunAlgorithm.objects.filter(model=OuterRef("pk"))
    )
    runs = EvaluationRun.objects.visible_to(researcher).order_by()
    uses = Prefetch("uses", queryset=RunAlgorithm.objects.filter(run__in=runs.values("pk")))
    return models_by_time(researcher).exclude(of_fold).exclude(origin=ModelOrigin.REMOTE).prefetch_related(uses)


def models_by_time(researcher: Any) -> QuerySet[TrainedModel]:
    """Return the visible trained models, including models of folds, newest first, with their datasets."""
    return TrainedModel.objects.visible_to(researcher).select_related("version__dataset").order_by("-pk")
