"""Artefacts that rows name: present, and byte for byte what their digest says."""

from __future__ import annotations

from collections.abc import Iterator

from core import artefacts
from core.errors import ArtefactError
from evaluation.models import EvaluationRun, MetricResult, TrainedModel
from parallax.integrity.findings import Finding
from studies.design.services.launch import design_snapshot
from studies.enums import StudyStatus
from studies.models import Condition, StudyVersion


def check_artefacts() -> Iterator[Finding]:
    """Open every artefact that a row names, and read all of it."""
    wanted: dict[tuple[str, str], str] = {}
    for model in TrainedModel.objects.order_by("pk"):
        wanted.setdefault(("models", model.digest), f"model {model.label}")
        wanted.setdefault(("training", model.training_digest), f"the training rows of model {model.label}")
    for run in EvaluationRun.objects.exclude(cases_digest="").order_by("pk"):
        for digest in [fold["cases"] for fold in run.folds] or [run.cases_digest]:
            wanted.setdefault(("cases", digest), f"the cases of run {run.pk}")
    rows = MetricResult.objects.exclude(users_digest="").order_by("pk").select_related("algorithm")
    for row in rows:
        wanted.setdefault(("results", row.users_digest), f"results of run {row.algorithm.run_id}")
    for (kind, digest), what in wanted.items():
        try:
            artefacts.verify(kind, digest)
        except (ArtefactError, OSError) as problem:
            yield Finding(
                getattr(problem, "code", "artefact.unreadable"), what, str(problem),
                "Restore the folder from a backup; studies that pin it stay paused until then.",
                {kind: [digest]},
            )  # fmt: skip


def check_pins() -> Iterator[Finding]:
    """What studies pinned at their launch is what they have now."""
    for condition in Condition.objects.select_related("model", "study").order_by("study_id", "position"):
        if condition.model.digest != condition.model_digest:
            yield Finding(
                "pin.differs", condition.study.slug,
                f"{condition.label} pins model {condition.model_digest[:12]}, "
                f"and its model is {condition.model.digest[:12]}.",
                "Pause the study: participants would meet a model that the design does not name.",
                {"condition": [condition.pk]},
            )  # fmt: skip
    newest: dict[int, StudyVersion] = {}
    for version in StudyVersion.objects.select_related("study__dataset_version", "study__run").order_by("number"):
        newest[version.study_id] = version
    for version in newest.values():
        study = version.study
        if study.status == StudyStatus.DRAFT:
            continue
        differences = {
            key: value for key, value in design_snapshot(study).items() if version.snapshot.get(key) != value
        }
        if differences or study.design_hash != version.design_hash:
            parts = ", ".join(sorted(differences)) or "the hash"
            yield Finding(
                "design.differs", study.slug, f"The design differs from the frozen version {version.number}: {parts}.",
                "A frozen design changes by a new version alone: find out who wrote past it.",
                {"study": [study.pk]},
            )  # fmt: skip
