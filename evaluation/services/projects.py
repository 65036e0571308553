"""Moves a dataset and its runs into a project, or out of one."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import Project
from catalog.models import Dataset
from core.models import LogEntry
from evaluation.models import EvaluationRun


@transaction.atomic
def move_dataset(*, dataset: Dataset, project: Project | None, actor: Any = None) -> int:
    """Move a dataset with all its versions and runs into a project, or make them public; return the number of runs.

    Runs of a third project stay in it. The move is logged.
    """
    current = Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    before = current.project_id
    current.project = project
    current.save(update_fields=["project", "updated_at"])
    runs = EvaluationRun.objects.filter(version__dataset=current).comparable_in(before)
    n_runs = runs.update(project=project, updated_at=timezone.now())
    LogEntry.objects.create(
        kind="catalog.dataset",
        object_id=current.pk,
        actor=actor,
        reason="Moved into a project." if project is not None else "Made public.",
        facts={"from": before, "to": project.pk if project is not None else None, "runs": n_runs},
    )
    dataset.project = project
    return n_runs
