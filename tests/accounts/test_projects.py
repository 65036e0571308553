"""Projects and their members: the pages of owners, the administration, and closed accounts."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.enums import ProjectRole
from accounts.models import Project, ProjectMembership, User
from accounts.services.accounts import deactivate
from accounts.services.projects import create_project, remove_member, set_member
from core.errors import ParallaxError
from core.models import LogEntry
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _roles(project: Project) -> dict[str, str]:
    return dict(project.memberships.values_list("researcher__email", "role"))


def _reasons(project: Project) -> list[str]:
    entries = LogEntry.objects.filter(kind="accounts.project", object_id=project.pk).order_by("pk")
    return list(entries.values_list("reason", flat=True))


@pytest.fixture
def project() -> Project:
    return create_project(name="Film group", owner=UserFactory(email="owner@example.org"))


@pytest.fixture
def owner(project: Project) -> User:
    return User.objects.get(project_memberships__project=project)


def test_a_researcher_creates_a_project_and_adds_changes_and_removes_its_members() -> None:
    founder, colleague = UserFactory(email="founder@example.org"), UserFactory(email="colleague@example.org")
    client = _client(founder)
    assert client.post(reverse("projects:list"), {"name": "  "}).status_code == 400
    answer = client.post(reverse("projects:list"), {"name": "Film group"})
    project = Project.objects.get()
    assert answer["Location"] == project.get_absolute_url()
    members = reverse("projects:member-set", args=[project.pk])
    client.post(members, {"email": "Colleague@example.org", "role": "viewer"})
    assert _roles(project) == {"founder@example.org": "owner", "colleague@example.org": "viewer"}
    client.post(members, {"email": "colleague@example.org", "role": "member"})
    assert _roles(project)["colleague@example.org"] == "member"
    for email, role in (("nobody@example.org", "member"), ("founder@example.org", "viewer")):
        assert client.post(members, {"email": email, "role": role}).status_code == 400
    client.post(reverse("projects:rename", args=[project.pk]), {"name": "Films"})
    membership = project.memberships.get(researcher=colleague)
    client.post(reverse("projects:member-remove", args=[project.pk, membership.pk]))
    assert _roles(project) == {"founder@example.org": "owner"}
    assert len(_reasons(project)) == 5
    page = client.get(project.get_absolute_url()).text
    assert "Films" in page
    assert "Member removed." in page


def test_members_leave_and_the_last_owner_stays(project: Project, owner: User) -> None:
    viewer = UserFactory()
    membership = set_member(project=project, email=viewer.email, role=ProjectRole.VIEWER, actor=owner)
    answer = _client(viewer).post(reverse("projects:member-remove", args=[project.pk, membership.pk]))
    assert answer["Location"] == reverse("projects:list")
    own = project.memberships.get()
    _client(owner).post(reverse("projects:member-remove", args=[project.pk, own.pk]), follow=True)
    assert _reasons(project)[-1] == "Member removed."
    assert project.memberships.get() == own


def test_the_members_of_a_project_are_not_those_of_another(project: Project, owner: User) -> None:
    other = create_project(name="Film group", owner=UserFactory())
    foreign = reverse("projects:member-remove", args=[project.pk, other.memberships.get().pk])
    assert _client(owner).post(foreign).status_code == 404
    assert _client(owner).get(other.get_absolute_url()).status_code == 404
    with pytest.raises(ParallaxError, match="owner, member, viewer"):
        set_member(project=project, email=owner.email, role="boss", actor=owner)


def _admin_form(project: Project, **changed: Any) -> dict[str, Any]:
    membership = project.memberships.get()
    return {
        "memberships-TOTAL_FORMS": 1, "memberships-INITIAL_FORMS": 1, "memberships-0-id": membership.pk,
        "memberships-0-project": project.pk, **changed,
    }  # fmt: skip


def test_an_administrator_who_joins_a_project_leaves_a_line(project: Project, owner: User) -> None:
    boss = UserFactory(is_staff=True, is_superuser=True)
    client, url = _client(boss), reverse("admin:accounts_project_change", args=[project.pk])
    assert client.get(project.get_absolute_url()).status_code == 404
    added = {"memberships-TOTAL_FORMS": 2, "memberships-1-id": "", "memberships-1-project": project.pk,
             "memberships-1-researcher": boss.pk, "memberships-1-role": "viewer"}  # fmt: skip
    assert client.post(url, _admin_form(project, **added)).status_code == 302
    assert _roles(project) == {owner.email: "owner", boss.email: "viewer"}
    entry = LogEntry.objects.filter(kind="accounts.project", object_id=project.pk).latest("pk")
    assert entry.actor == boss
    assert entry.facts == {"researcher": boss.pk, "role": "viewer"}
    assert "By an administrator." in _client(owner).get(project.get_absolute_url()).text


def test_the_administration_leaves_no_project_without_an_owner(project: Project, owner: User) -> None:
    boss = UserFactory(is_staff=True, is_superuser=True)
    url = reverse("admin:accounts_project_change", args=[project.pk])
    refused = _client(boss).post(url, _admin_form(project, **{"memberships-0-DELETE": "on"}))
    assert refused.status_code == 200
    assert _roles(project) == {owner.email: "owner"}
    assert _client(boss).post(reverse("admin:accounts_project_delete", args=[project.pk])).status_code == 403


def test_the_only_owner_of_a_project_is_closed_with_a_successor_only(project: Project, owner: User) -> None:
    boss, heir = UserFactory(is_staff=True, is_superuser=True), UserFactory()
    with pytest.raises(ParallaxError, match="“Film group”"):
        deactivate(user=owner, actor=boss)
    assert User.objects.get(pk=owner.pk).is_active
    deactivate(user=owner, actor=boss, successor=heir.email)
    assert _roles(project)[heir.email] == "owner"
    membership = ProjectMembership.objects.get(project=project, researcher=heir)
    with pytest.raises(ParallaxError, match="needs an owner"):  # the other one has no active account
        remove_member(project=project, membership=membership, actor=boss)
