"""Who sees a dataset once it is moved, and what that means for the runs and studies on it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from accounts.models import Project, ProjectMembership, User
from accounts.selectors import members_of_project
from catalog.models import Dataset
from evaluation.models import EvaluationRun
from studies.models import Study


@dataclass(frozen=True)
class Audience:
    """The effects of a move. `members` are empty where everyone will see the dataset.

    `n_runs_of_others` and `n_studies_of_others` belong to researchers outside the project, who lose sight of them: of
    the runs altogether, of the studies only the reports.
    """

    members: tuple[ProjectMembership, ...]
    n_researchers: int
    n_versions: int
    n_runs: int
    n_runs_of_others: int = 0
    n_studies_of_others: int = 0


def audience_of(dataset: Dataset, project: Project | None) -> Audience:
    """Count what a move of the dataset into the project, or to everyone, would show and hide."""
    runs = EvaluationRun.objects.filter(version__dataset=dataset).comparable_in(dataset.project_id)
    n_versions, n_runs = dataset.versions.count(), runs.count()
    if project is None:
        return Audience((), User.objects.filter(is_active=True).count(), n_versions, n_runs)
    inside = project.memberships.order_by().values("researcher")
    outside = Q(memberships__isnull=False) & ~Q(memberships__researcher__in=inside)
    return Audience(
        members=tuple(members_of_project(project)),
        n_researchers=project.memberships.count(),
        n_versions=n_versions,
        n_runs=n_runs,
        n_runs_of_others=runs.exclude(owner=None).exclude(owner__in=inside).count(),
        n_studies_of_others=Study.objects.filter(outside, dataset_version__dataset=dataset).distinct().count(),
    )
