"""Artefacts and algorithms that rows name: present, byte for byte what their digest says, and in the version that
trained the models.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from core import artefacts
from core.errors import ArtefactError, ParameterError
from evaluation.enums import ModelOrigin
from evaluation.models import EvaluationRun, ExternalScores, MetricResult, TrainedModel
from evaluation.selectors.runs import recorded_package
from parallax.integrity.findings import ADVICE, Finding, finding
from recommenders import registry
from studies.design.services.launch import design_snapshot
from studies.enums import StudyStatus
from studies.models import Condition, StudyVersion


def check_artefacts() -> Iterator[Finding]:
    """Open every artefact that a row names, and read all of it."""
    wanted: dict[tuple[str, str], str] = {}
    for model in TrainedModel.objects.order_by("pk"):
        wanted.setdefault(("models", model.digest), f"model {model.label}")
        if model.training_digest:
            wanted.setdefault(("training", model.training_digest), f"the training rows of model {model.label}")
        if model.algorithm in registry.uploaded_keys():
            wanted.setdefault(("uploads", model.params["upload"]), f"the upload of model {model.label}")
    for run in EvaluationRun.objects.exclude(cases_digest="").order_by("pk"):
        for digest in [fold["cases"] for fold in run.folds] or [run.cases_digest]:
            wanted.setdefault(("cases", digest), f"the cases of run {run.pk}")
    rows = MetricResult.objects.exclude(users_digest="").order_by("pk").select_related("algorithm")
    for row in rows:
        wanted.setdefault(("results", row.users_digest), f"results of run {row.algorithm.run_id}")
    for scores in ExternalScores.objects.order_by("pk"):
        wanted.setdefault(("scores", scores.scores_digest), f"the external scores {scores.name} of run {scores.run_id}")
        wanted.setdefault(("results", scores.users_digest), f"results of run {scores.run_id}")
    for condition in Condition.objects.select_related("study").order_by("study_id", "position"):
        if condition.shown.texts:
            what = f"the texts of {condition.label} in {condition.study.slug}"
            wanted.setdefault(("explanations", condition.shown.texts), what)
    for (kind, digest), what in wanted.items():
        try:
            artefacts.verify(kind, digest)
        except (ArtefactError, OSError) as problem:
            code = getattr(problem, "code", "artefact.unreadable")
            yield finding(code, what, str(problem), advice=ADVICE["artefact"], **{kind: [digest]})
    yield from _check_bases()


def _check_bases() -> Iterator[Finding]:
    """A re-ranked model opens the model that its row names."""
    over_a_base = TrainedModel.objects.exclude(base=None).exclude(origin=ModelOrigin.LISTS)
    for model in over_a_base.select_related("base").order_by("pk"):
        try:
            opened = str(artefacts.load("models", model.digest).meta.get("base"))
        except (ArtefactError, OSError):
            continue  # found above
        if model.base is not None and opened != model.base.digest:
            what = f"It re-ranks the lists of model {opened[:12]}, and its row names model {model.base.digest[:12]}."
            yield finding("model.other_base", f"model {model.label}", what, model=[model.pk])


def check_algorithms() -> Iterator[Finding]:
    """Load the algorithm of every model, and compare versions for the models that studies use."""
    models: dict[str, list[TrainedModel]] = defaultdict(list)
    for model in TrainedModel.objects.exclude(origin=ModelOrigin.REMOTE).order_by("pk"):
        models[model.algorithm].append(model)
    conditions: dict[str, list[Condition]] = defaultdict(list)
    for condition in Condition.objects.select_related("model", "study").order_by("study_id", "position"):
        conditions[condition.model.algorithm].append(condition)
    for key, of_key in models.items():
        try:
            version = registry.algorithm(key).version
        except (ParameterError, ImportError, AttributeError) as problem:
            yield from _missing(key, of_key, conditions[key], str(problem))
            continue
        for condition in conditions[key]:
            trained = condition.model.algorithm_version
            if trained != version:
                what = (
                    f"{condition.label} was trained by version {trained} of the algorithm {key}, and version {version} "
                    "is installed: its model cannot be opened."
                )
                advice = f"Install the version of the package that has version {trained} of {key}."
                where = condition.study.slug
                yield finding("condition.other_version", where, what, advice=advice, condition=[condition.pk])


def _missing(key: str, models: list[TrainedModel], conditions: list[Condition], problem: str) -> Iterator[Finding]:
    recorded = recorded_package(key)
    command = registry.install_command(key) or (f".venv/bin/pip install {recorded}" if recorded else None)
    advice = (
        f"Install the package it came with: {command}."
        if command
        else f"Install the package that provides it (an entry point named {key} in the group "
        f"{registry.ENTRY_POINT_GROUP}), in the version that trained the models."
    )
    what = f"{len(models)} {'model' if len(models) == 1 else 'models'} of it cannot be opened. {problem}"
    yield finding("model.no_algorithm", f"algorithm {key}", what, advice=advice, model=[model.pk for model in models])
    advice = f"{advice} Until then no participant can get the lists of this condition."
    for condition in conditions:
        what = f"{condition.label} cannot be served: its algorithm {key} cannot be loaded."
        where = condition.study.slug
        yield finding("condition.no_algorithm", where, what, advice=advice, condition=[condition.pk])


def check_pins() -> Iterator[Finding]:
    """What studies pinned at their launch is what they have now."""
    for condition in Condition.objects.select_related("model", "study").order_by("study_id", "position"):
        if condition.model.digest != condition.model_digest:
            pinned, present = condition.model_digest[:12], condition.model.digest[:12]
            what = f"{condition.label} pins model {pinned}, and its model is {present}."
            yield finding("pin.differs", condition.study.slug, what, condition=[condition.pk])
    versions = StudyVersion.objects.select_related("study__dataset_version", "study__run").order_by("number")
    for version in {version.study_id: version for version in versions}.values():  # the newest of each study
        study = version.study
        if study.status == StudyStatus.DRAFT:
            continue
        differing = [key for key, value in design_snapshot(study).items() if version.snapshot.get(key) != value]
        if differing or study.design_hash != version.design_hash:
            parts = ", ".join(sorted(differing)) or "the hash"
            what = f"The design differs from the frozen version {version.number}: {parts}."
            yield finding("design.differs", study.slug, what, study=[study.pk])
