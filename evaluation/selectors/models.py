"""Trained models: those of a dataset's version, and where each comes from in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from catalog.models import DatasetVersion
from evaluation.models import RunAlgorithm, RunPart, TrainedModel


@dataclass(frozen=True)
class ModelLine:
    """A model and the runs that trained or reused it, oldest first; none if it was trained outside any."""

    model: TrainedModel
    runs: tuple[int, ...]

    @property
    def origin(self) -> str:
        """Where it comes from, in words: what tells two models of one label apart."""
        if not self.runs:
            return "trained outside a run"
        return f"run{'s' if len(self.runs) > 1 else ''} {', '.join(map(str, self.runs))}"


def models_on(version: DatasetVersion) -> list[ModelLine]:
    """Give every model trained on `version`, but for those of folds, in two queries.

    Those of the newest run come first, each run's in its order; those outside any run come last, newest first.
    """
    placed = []
    for model in listed_models().filter(version=version).order_by("-created_at", "-pk"):
        uses = sorted(model.uses.all(), key=lambda use: use.run_id)
        place = (-uses[-1].run_id, uses[-1].position) if uses else (1, 0)
        placed.append((place, line_of(model)))
    return [line for _, line in sorted(placed, key=lambda one: one[0])]


def line_of(model: TrainedModel) -> ModelLine:
    """Give the model with its runs."""
    return ModelLine(model, tuple(sorted({use.run_id for use in model.uses.all()})))


def listed_models() -> QuerySet[TrainedModel]:
    """Give the models that can be tried and served, newest first, with dataset and uses: all but those of folds."""
    of_fold = Exists(RunPart.objects.filter(model=OuterRef("pk"))) & ~Exists(
        RunAlgorithm.objects.filter(model=OuterRef("pk"))
    )
    return models_by_time().exclude(of_fold).prefetch_related("uses")


def models_by_time() -> QuerySet[TrainedModel]:
    """Give every trained model, those of folds too, newest first, with its dataset."""
    return TrainedModel.objects.select_related("version__dataset").order_by("-pk")
