"""Trained models: those of a dataset's version, and where each comes from in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from catalog.models import DatasetVersion
from evaluation.models import RunPart, TrainedModel


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
    fits = RunPart.objects.filter(model=OuterRef("pk"))
    of_fold = Q(Exists(fits), uses__isnull=True)
    for model in version.models.exclude(of_fold).prefetch_related("uses").distinct().order_by("-created_at", "-pk"):
        uses = sorted(model.uses.all(), key=lambda use: use.run_id)
        place = (-uses[-1].run_id, uses[-1].position) if uses else (1, 0)
        placed.append((place, ModelLine(model, tuple(dict.fromkeys(use.run_id for use in uses)))))
    return [line for _, line in sorted(placed, key=lambda one: one[0])]


def models_by_time() -> QuerySet[TrainedModel]:
    """Give every trained model, those of folds too, newest first, with its dataset."""
    return TrainedModel.objects.select_related("version__dataset").order_by("-pk")
