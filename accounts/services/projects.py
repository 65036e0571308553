"""Projects and their members: create, rename, add, change and remove, and hand over those of a closed account."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.dispatch import receiver

from accounts.enums import ProjectRole
from accounts.models import Project, ProjectMembership, User
from accounts.selectors import active_account
from accounts.services.accounts import account_closing
from core.errors import ParallaxError
from core.transitions import record

LONGEST_NAME = 120


def _checked_name(name: str) -> str:
    name = " ".join(name.replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        raise ParallaxError("project.bad_name", f"A project has a name of 1 to {LONGEST_NAME} characters.")
    return name


@transaction.atomic
def create_project(*, name: str, owner: User) -> Project:
    """Create a project with its first owner; logged. Raises `project.bad_name`."""
    project = Project.objects.create(name=_checked_name(name))
    ProjectMembership.objects.create(project=project, researcher=owner, role=ProjectRole.OWNER)
    record(project, reason="Created.", actor=owner)
    return project


@transaction.atomic
def rename_project(*, project: Project, name: str, actor: Any) -> None:
    """Change the name of a project; logged. Raises `project.bad_name`."""
    project.name = _checked_name(name)
    project.save(update_fields=["name", "updated_at"])
    record(project, reason="Renamed.", actor=actor)


def _locked(project: Project) -> None:
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _require_an_owner(project: Project) -> None:
    if not project.memberships.filter(role=ProjectRole.OWNER, researcher__is_active=True).exists():
        raise ParallaxError("project.last_owner", "A project needs an owner. Make another member an owner first.")


@transaction.atomic
def set_member(*, project: Project, email: str, role: str, actor: Any) -> ProjectMembership:
    """Add a researcher to a project, or change their role; logged.

    Raises `project.unknown_researcher`, `project.unknown_role`, `project.last_owner`.
    """
    if role not in ProjectRole.values:
        raise ParallaxError("project.unknown_role", f"A role is one of {', '.join(ProjectRole.values)}; got {role!r}.")
    researcher = active_account(email)
    if researcher is None:
        raise ParallaxError("project.unknown_researcher", f"There is no account with the address {email.strip()}.")
    _locked(project)
    by_administrator = "" if _is_owner(actor, project) else " By an administrator."
    membership, _created = ProjectMembership.objects.update_or_create(
        project=project, researcher=researcher, defaults={"role": role}
    )
    _require_an_owner(project)
    reason = f"Member added or changed.{by_administrator}"
    record(project, reason=reason, actor=actor, researcher=researcher.pk, role=role)
    return membership


@transaction.atomic
def remove_member(*, project: Project, membership: ProjectMembership, actor: Any) -> None:
    """Remove a researcher from a project; logged. Raises `project.last_owner`."""
    _locked(project)
    researcher_id = membership.researcher_id
    is_own = actor is not None and actor.pk == researcher_id
    by_administrator = "" if is_own or _is_owner(actor, project) else " By an administrator."
    membership.delete()
    _require_an_owner(project)
    record(project, reason=f"Member removed.{by_administrator}", actor=actor, researcher=researcher_id)


def _is_owner(actor: Any, project: Project) -> bool:
    """Whether the actor changes members as an owner, and not as an administrator from outside."""
    return project.memberships.filter(researcher=actor, role=ProjectRole.OWNER).exists()


@receiver(account_closing)
def hand_over_projects(user: User, successor: User | None, actor: Any, **_given: Any) -> None:
    """Make the successor an owner of the projects that only the closing account owns; logged for each.

    Raises `project.last_owner`, which names the projects, if there are any and no successor was named.
    """
    owned = Project.objects.of(user, (ProjectRole.OWNER,)).order_by("pk")
    locked = list(Project.objects.select_for_update(no_key=True).filter(pk__in=owned.values("pk")).order_by("pk"))
    owners = ProjectMembership.objects.filter(
        project__in=locked, role=ProjectRole.OWNER, researcher__is_active=True
    ).exclude(researcher=user)
    shared = set(owners.values_list("project_id", flat=True))
    alone = [project for project in locked if project.pk not in shared]
    if alone and successor is None:
        names = ", ".join(f"“{project}”" for project in alone)
        raise ParallaxError(
            "project.last_owner",
            f"{user.email} is the only active owner of {names}. Choose the account that becomes their owner.",
            {"projects": [project.pk for project in alone]},
        )
    for project in alone:
        ProjectMembership.objects.update_or_create(
            project=project, researcher=successor, defaults={"role": ProjectRole.OWNER}
        )
        record(
            project,
            reason="Handed over by an administrator: the account of the only owner was closed.",
            actor=actor,
            researcher=successor.pk if successor else None,
            role=ProjectRole.OWNER,
        )
