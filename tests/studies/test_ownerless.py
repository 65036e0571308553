"""Studies and their owners: a command names the owner, and an administrator takes over a study that has none."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from core.errors import ParallaxError
from core.models import LogEntry
from studies.enums import Role
from studies.models import Study, StudyMembership
from studies.team.services.members import take_over
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _administrator(email: str = "boss@example.org") -> User:
    return UserFactory(email=email, is_superuser=True, is_staff=True)


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _create(**options: Any) -> str:
    out = io.StringIO()
    call_command("create_study", "films", dataset="small", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def ownerless() -> Study:
    """As a study becomes whose owner's account is deleted; an analyst is still a member."""
    study = make_study(status="draft")
    StudyMembership.objects.create(study=study, researcher=UserFactory(email="analyst@example.org"), role=Role.ANALYST)
    User.objects.get(memberships__role=Role.OWNER).delete()
    return study


def test_create_study_without_an_account_names_the_command_that_creates_one() -> None:
    make_run_at("succeeded")
    with pytest.raises(CommandError, match=r"manage\.py create_account you@example\.org --administrator"):
        _create()
    UserFactory(is_active=False)
    with pytest.raises(CommandError, match="There is no account yet"):
        _create()
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("accounts", "owner"),
    [
        ([("a", False)], "a"),
        ([("a", True), ("b", False)], "a"),
        ([("demo", True), ("me", True)], "me"),
        ([("a", False), ("b", False)], "b"),
    ],
)
def test_create_study_prints_the_owner(accounts: list[tuple[str, bool]], owner: str) -> None:
    make_run_at("succeeded")
    for name, is_administrator in accounts:
        UserFactory(email=f"{name}@example.org", is_superuser=is_administrator)
    said = _create()
    assert f"Owner: {owner}@example.org" in said
    assert ("`--owner EMAIL`" in said) == (len(accounts) > 1)
    assert Study.objects.get().memberships.get().researcher.email == f"{owner}@example.org"


def test_create_study_gives_the_study_to_the_owner_who_is_named() -> None:
    make_run_at("succeeded")
    _administrator()
    UserFactory(email="me@example.org")
    said = _create(owner="Me@Example.org")
    assert "Owner: me@example.org\n" in said
    User.objects.filter(email="me@example.org").update(is_active=False)
    with pytest.raises(CommandError, match=r"no active account with the address me@example\.org"):
        call_command("create_study", "more", dataset="small", owner="me@example.org")


def test_administrators_see_ownerless_studies_and_nobody_else_does(ownerless: Study) -> None:
    make_study(slug="owned", run=ownerless.run)
    listed = _client(_administrator()).get(reverse("studies:list")).content.decode()
    assert "Studies without an owner" in listed
    assert reverse("studies:take-over", args=[ownerless.slug]) in listed
    assert reverse("studies:take-over", args=["owned"]) not in listed
    for other in (UserFactory(), User.objects.get(email="analyst@example.org")):
        assert "Studies without an owner" not in _client(other).get(reverse("studies:list")).content.decode()


def test_the_api_lists_ownerless_studies_for_administrators(ownerless: Study) -> None:
    def listed(user: User) -> dict[str, Any]:
        found = _client(user).get(reverse("api:studies-list")).json()["results"]
        return {study["slug"]: study["role"] for study in found}

    assert listed(_administrator()) == {ownerless.slug: None}
    assert listed(UserFactory()) == {}
    assert listed(User.objects.get(email="analyst@example.org")) == {ownerless.slug: "analyst"}


def test_an_administrator_takes_over_after_a_confirmation(ownerless: Study) -> None:
    boss = _administrator()
    client = _client(boss)
    page = reverse("studies:take-over", args=[ownerless.slug])
    shown = client.get(page).content.decode()
    assert ownerless.title in shown
    assert "You become the owner" in shown
    assert not ownerless.memberships.filter(researcher=boss).exists()
    assert client.post(page).url == reverse("studies:detail", args=[ownerless.slug])
    assert ownerless.memberships.get(role=Role.OWNER).researcher == boss
    entry = LogEntry.objects.filter(kind="studies.study", object_id=ownerless.pk).latest("pk")
    assert (entry.actor, entry.reason) == (boss, "Taken over by an administrator: the study had no owner.")
    assert client.get(page).status_code == 404, "it has an owner now"


def test_nobody_else_takes_over_and_nothing_that_has_an_owner(ownerless: Study) -> None:
    page = reverse("studies:take-over", args=[ownerless.slug])
    assert _client(UserFactory()).post(page).status_code == 404
    assert _client(User.objects.get(email="analyst@example.org")).post(page).status_code == 403
    owned = make_study(slug="owned", run=ownerless.run)
    assert _client(_administrator()).post(reverse("studies:take-over", args=["owned"])).status_code == 404
    with pytest.raises(ParallaxError, match="This study has an owner"):
        take_over(study=owned, actor=User.objects.get(email="boss@example.org"))
    with pytest.raises(ParallaxError, match="Only an administrator"):
        take_over(study=ownerless, actor=UserFactory())
    assert not ownerless.memberships.filter(role=Role.OWNER).exists()


def test_a_study_whose_owners_account_is_closed_is_without_an_owner() -> None:
    study = make_study(status="draft")
    User.objects.filter(memberships__study=study).update(is_active=False)
    boss = _administrator()
    take_over(study=study, actor=boss)
    assert study.memberships.filter(role=Role.OWNER, researcher=boss).exists()
