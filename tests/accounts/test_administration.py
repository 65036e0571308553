"""Accounts for administrators: roles, deactivation, deletion; and no study is left without an owner."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Invitation, User
from accounts.services import create_token
from accounts.services.accounts import deactivate, delete_account, reactivate, set_administrator
from accounts.services.invitations import invite
from core.errors import ParallaxError
from core.models import LogEntry
from studies.enums import Role
from studies.models import Study
from studies.team.selectors.studies import ownerless_studies
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.console import signed_in
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
GET = ("researchers", "researcher")
POST = ("researcher_role", "researcher_deactivate", "researcher_reactivate", "researcher_delete", "invitation_revoke")


@pytest.fixture
def administrator() -> User:
    return UserFactory(email="boss@example.org", is_superuser=True, is_staff=True)


def post(actor: User, name: str, user: User, **fields: Any) -> Any:
    return signed_in(actor).post(reverse(f"accounts:{name}", args=[user.pk]), fields)


@pytest.mark.parametrize("name", [*GET, *POST])
def test_every_page_is_for_administrators(administrator: User, name: str) -> None:
    user = UserFactory()
    invitation, _key = invite(actor=administrator)
    arguments = [] if name == "researchers" else [invitation.pk if name == "invitation_revoke" else user.pk]
    url = reverse(f"accounts:{name}", args=arguments)
    for client, status in ((Client(), 302), (signed_in(user), 403)):
        assert (client.get if name in GET else client.post)(url).status_code == status
    answer = (signed_in(administrator).get if name in GET else signed_in(administrator).post)(url)
    assert answer.status_code in (200, 302)
    assert not str(answer.headers.get("Location", "")).startswith(reverse("accounts:sign_in"))


def test_the_list_is_linked_for_administrators_only(administrator: User) -> None:
    user = UserFactory()
    url = reverse("accounts:researchers")
    assert url in signed_in(administrator).get(reverse("accounts:account")).text
    assert url not in signed_in(user).get(reverse("accounts:account")).text
    assert user.email in signed_in(administrator).get(url).text


def test_the_last_administrator_stays(administrator: User) -> None:
    user = UserFactory()
    refused = post(administrator, "researcher_role", administrator, administrator="no")
    assert refused.url == reverse("accounts:account")
    administrator.refresh_from_db()
    assert administrator.is_superuser
    post(administrator, "researcher_role", user, administrator="yes")
    user.refresh_from_db()
    assert (user.is_superuser, user.is_staff) == (True, True)
    set_administrator(user=user, is_administrator=True, actor=administrator)  # changes nothing
    assert LogEntry.objects.filter(kind="accounts.user", object_id=user.pk).count() == 1
    assert post(administrator, "researcher_role", administrator, administrator="no").url == reverse("accounts:account")
    with pytest.raises(ParallaxError, match="only administrator"):
        set_administrator(user=user, is_administrator=False, actor=user)
    with pytest.raises(ParallaxError, match="only administrator"):
        deactivate(user=user, actor=administrator)
    with pytest.raises(ParallaxError, match="your own account"):
        deactivate(user=user, actor=user)


def test_deactivation_ends_sign_ins_tokens_and_invitations_and_is_undone(administrator: User) -> None:
    user = UserFactory(is_superuser=True, is_staff=True)
    client = signed_in(user)
    _token, text = create_token(owner=user, name="a script")
    invite(actor=user)
    assert post(administrator, "researcher_deactivate", user).url == reverse("accounts:researchers")
    assert client.get(reverse("studies:list")).status_code == 302
    assert Client(headers={"authorization": f"Bearer {text}"}).get("/api/v1/studies/").status_code == 401
    assert not Invitation.objects.get().is_open
    page = signed_in(administrator).get(reverse("accounts:researcher", args=[user.pk])).text
    assert "Reactivate" in page
    deactivate(user=user, actor=administrator)  # a second time changes nothing
    post(administrator, "researcher_reactivate", user)
    reactivate(user=user, actor=administrator)
    assert [entry.reason for entry in LogEntry.objects.filter(kind="accounts.user", object_id=user.pk)] == [
        "Deactivated.", "Reactivated."
    ]  # fmt: skip
    assert client.get(reverse("studies:list")).status_code == 200


@pytest.mark.parametrize("name", ["researcher_deactivate", "researcher_delete"])
def test_the_only_owner_is_not_closed_without_a_successor(administrator: User, name: str) -> None:
    study = make_study()
    owner, successor = study.memberships.get().researcher, UserFactory()
    add_member(study=study, email=successor.email, role=Role.ANALYST)
    if name == "researcher_delete":
        assert "Deactivate" in post(administrator, name, owner, successor=successor.email).text
        User.objects.filter(pk=owner.pk).update(is_active=False)  # as before this rule
    for successor_given in ({}, {"successor": "no@example.org"}):
        assert post(administrator, name, owner, **successor_given).status_code != 302
    assert User.objects.filter(pk=owner.pk).exists()
    assert post(administrator, name, owner, successor=successor.email).status_code == 302
    assert study.memberships.get(researcher=successor).role == Role.OWNER
    assert not ownerless_studies().exists()
    assert User.objects.filter(pk=owner.pk).exists() == (name == "researcher_deactivate")
    entry = LogEntry.objects.filter(kind="studies.study", object_id=study.pk).latest("pk")
    assert (entry.actor, entry.facts["researcher"]) == (administrator, successor.pk)
    with pytest.raises(ParallaxError, match="no other active account"):
        deactivate(user=successor, actor=administrator, successor="no@example.org")


def test_a_study_with_another_active_owner_needs_no_successor(administrator: User) -> None:
    study = make_study()
    first, second = study.memberships.get().researcher, UserFactory()
    add_member(study=study, email=second.email, role=Role.OWNER)
    deactivate(user=second, actor=administrator)
    with pytest.raises(ParallaxError, match="only active owner"):
        deactivate(user=first, actor=administrator)
    with pytest.raises(ParallaxError, match="needs an owner"):  # an inactive owner does not count
        add_member(study=study, email=first.email, role=Role.ANALYST)
    delete_account(user=second, actor=administrator)
    assert list(Study.objects.get().memberships.values_list("researcher", flat=True)) == [first.pk]


def test_the_admin_site_closes_no_account(administrator: User) -> None:
    client, user = signed_in(administrator), UserFactory()
    assert client.get(reverse("admin:accounts_user_delete", args=[user.pk])).status_code == 403
    page = client.get(reverse("admin:accounts_user_change", args=[user.pk])).text
    assert 'name="is_active"' not in page
    assert 'name="is_superuser"' not in page
