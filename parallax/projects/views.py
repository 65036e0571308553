"""Pages of projects. To those outside a project it does not exist, administrators included."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.enums import ProjectRole
from accounts.models import Project, ProjectMembership, User
from accounts.selectors import log_of_project, members_of_project, membership_in, memberships_of
from accounts.services import projects
from catalog.models import Dataset
from catalog.permissions import may_move
from catalog.selectors.datasets import dataset_lines, versions_of
from core.errors import ParallaxError
from core.outcomes import perform, refusals_in
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import runs_by_time
from evaluation.services.projects import move_dataset
from parallax.projects.forms import MemberForm, MoveForm, NameForm
from studies.models import Study

RUNS_PER_PAGE = 25


@require_http_methods(["GET", "HEAD", "POST"])
def project_list(request: HttpRequest) -> HttpResponse:
    """The researcher's projects, and the form of a new one."""
    form = NameForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "name"):
            project = projects.create_project(name=form.cleaned_data["name"], owner=request.user)  # type: ignore[arg-type]
            messages.success(request, "The project is created. Add its members, then move datasets into it.")
            return redirect(project)
    context = {"form": form, "memberships": memberships_of(request.user)}
    return render(request, "console/projects/list.html", context, status=400 if form.errors else 200)


def _membership(request: HttpRequest, pk: int) -> ProjectMembership:
    """The researcher's membership. Raises Http404 for strangers."""
    membership = membership_in(request.user, pk)
    if membership is None:
        raise Http404("There is no such project.")
    return membership


def _owned(request: HttpRequest, pk: int) -> ProjectMembership:
    """The membership of an owner. Raises Http404 for strangers and PermissionDenied for other members."""
    membership = _membership(request, pk)
    if membership.role != ProjectRole.OWNER:
        raise PermissionDenied("Only owners of the project choose its members and its name.")
    return membership


@require_safe
def project_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """A project's members, datasets and runs."""
    return _page(request, _membership(request, pk), MemberForm())


def _page(request: HttpRequest, membership: ProjectMembership, form: MemberForm) -> HttpResponse:
    project = membership.project
    runs = runs_by_time(request.user).filter(project=project)
    context = {
        "project": project,
        "is_owner": membership.role == ProjectRole.OWNER,
        "members": members_of_project(project),
        "form": form,
        "name_form": NameForm(initial={"name": project.name}),
        "lines": dataset_lines(Dataset.objects.visible_to(request.user).filter(project=project)),
        "page": Paginator(runs, RUNS_PER_PAGE).get_page(request.GET.get("page")),
        "log": log_of_project(project),
    }
    return render(request, "console/projects/detail.html", context, status=400 if form.errors else 200)


@require_POST
def project_rename(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the name of a project, as its owner."""
    project = _owned(request, pk).project
    perform(
        request, projects.rename_project, "The name is changed.", project=project, name=request.POST.get("name", "")
    )
    return redirect(project)


@require_POST
def member_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a member by e-mail address, or change their role, as an owner."""
    membership = _owned(request, pk)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            projects.set_member(project=membership.project, actor=request.user, **form.cleaned_data)
        except ParallaxError as refusal:
            form.add_error("role" if refusal.code == "project.last_owner" else "email", str(refusal))
        else:
            messages.success(request, f"{form.cleaned_data['email']} is a {form.cleaned_data['role']} of the project.")
            return redirect(membership.project)
    return _page(request, membership, form)


@require_POST
def member_remove(request: HttpRequest, pk: int, membership: int) -> HttpResponse:
    """Remove a member, as an owner; or leave the project, as anyone in it."""
    own = _membership(request, pk)
    removed = get_object_or_404(ProjectMembership, project=own.project, pk=membership)
    if removed != own:
        _owned(request, pk)
    perform(request, projects.remove_member, "The member is removed.", project=own.project, membership=removed)
    return redirect(own.project if membership_in(request.user, pk) else "projects:list")


def _audience(dataset: Dataset, project: Project | None) -> dict[str, Any]:
    """Count what a move of the dataset into the project, or to everyone, would show and hide.

    Runs and studies of others belong to researchers outside the project, who lose sight of them: of the runs
    altogether, of the studies only the reports.
    """
    runs = EvaluationRun.objects.filter(version__dataset=dataset).comparable_in(dataset.project_id)
    counts = {"n_versions": dataset.versions.count(), "n_runs": runs.count()}
    if project is None:
        return {**counts, "n_researchers": User.objects.filter(is_active=True).count()}
    inside = project.memberships.order_by().values("researcher")
    outside = Q(memberships__isnull=False) & ~Q(memberships__researcher__in=inside)
    return {
        **counts,
        "members": members_of_project(project),
        "n_researchers": project.memberships.count(),
        "n_runs_of_others": runs.exclude(owner=None).exclude(owner__in=inside).count(),
        "n_studies_of_others": Study.objects.filter(outside, dataset_version__dataset=dataset).distinct().count(),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def dataset_move(request: HttpRequest, name: str) -> HttpResponse:
    """Choose who sees a dataset; it moves, with its runs, once the effects are confirmed."""
    datasets = Dataset.objects.visible_to(request.user).select_related("project")
    dataset = get_object_or_404(datasets.filter(versions__isnull=False).distinct(), name=name)
    if not may_move(request.user, dataset):
        raise PermissionDenied("Only owners of its project, or of a public dataset its owner and staff, can move it.")
    form = MoveForm(request.POST or None, dataset=dataset, researcher=request.user)
    version = versions_of(dataset)[0]
    context: dict[str, Any] = {"dataset": dataset, "version": version, "form": form}
    if request.method == "POST" and form.is_valid():
        project = form.cleaned_data["project"]
        if form.cleaned_data["is_confirmed"]:
            move_dataset(dataset=dataset, project=project, actor=request.user)
            messages.success(request, f"{dataset} is visible to {project or 'every researcher'} now.")
            return redirect(version)
        context |= {"audience": _audience(dataset, project), "project": project}
    return render(request, "console/projects/move.html", context, status=400 if form.errors else 200)
