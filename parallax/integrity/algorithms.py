"""Algorithms of stored models: their classes can be loaded, in the version that trained the models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from core.errors import ParameterError
from evaluation.models import TrainedModel
from evaluation.selectors.runs import recorded_package
from parallax.integrity.findings import Finding
from recommenders import registry
from studies.models import Condition


def check_algorithms() -> Iterator[Finding]:
    """Load the algorithm of every model, and compare versions for the models that studies use."""
    models: dict[str, list[TrainedModel]] = defaultdict(list)
    for model in TrainedModel.objects.order_by("pk"):
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
                yield Finding(
                    "condition.other_version",
                    condition.study.slug,
                    f"{condition.label} was trained by version {trained} of the algorithm {key}, and version {version} "
                    "is installed: its model cannot be opened.",
                    f"Install the version of the package that has version {trained} of {key}.",
                    {"condition": [condition.pk]},
                )


def _missing(key: str, models: list[TrainedModel], conditions: list[Condition], problem: str) -> Iterator[Finding]:
    """Findings for the models, and for each condition, of an algorithm that cannot be loaded."""
    recorded = recorded_package(key)
    command = registry.install_command(key) or (f".venv/bin/pip install {recorded}" if recorded else None)
    advice = (
        f"Install the package it came with: {command}."
        if command
        else f"Install the package that provides it (an entry point named {key} in the group "
        f"{registry.ENTRY_POINT_GROUP}), in the version that trained the models."
    )
    yield Finding(
        "model.no_algorithm",
        f"algorithm {key}",
        f"{len(models)} {'model' if len(models) == 1 else 'models'} of it cannot be opened. {problem}",
        advice,
        {"model": [model.pk for model in models]},
    )
    for condition in conditions:
        yield Finding(
            "condition.no_algorithm",
            condition.study.slug,
            f"{condition.label} cannot be served: its algorithm {key} cannot be loaded.",
            f"{advice} Until then no participant can get the lists of this condition.",
            {"condition": [condition.pk]},
        )
