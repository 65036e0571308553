"""Studies and their owners: a command names the owner, and an administrator takes over a study that has none."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.services.accounts import deactivate
from core.errors import ParallaxError
from core.models import LogEntry
from studies.enums import Role
from studies.models import Notice, NoticeReceipt, Study, StudyMembership
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
    with pytest.raises(CommandError, match="create_account"):
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
    with pytest.raises(CommandError, match=r"me@example\.org"):
        call_command("create_study", "more", dataset="small", owner="me@example.org")


def test_administrators_see_ownerless_studies_and_nobody_else_does(ownerless: Study) -> None:
    make_study(slug="owned", run=ownerless.run)
    listed = _client(_administrator()).get(reverse("studies:list")).content.decode()
    assert reverse("studies:take-over", args=[ownerless.slug]) in listed
    assert reverse("studies:take-over", args=["owned"]) not in listed
    for other in (UserFactory(), User.objects.get(email="analyst@example.org")):
        seen = _client(other).get(reverse("studies:list")).content.decode()
        assert reverse("studies:take-over", args=[ownerless.slug]) not in seen


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
    assert not ownerless.memberships.filter(researcher=boss).exists()
    assert client.post(page).url == reverse("studies:detail", args=[ownerless.slug])
    assert ownerless.memberships.get(role=Role.OWNER).researcher == boss
    entry = LogEntry.objects.filter(kind="studies.study", object_id=ownerless.pk).latest("pk")
    assert entry.actor == boss
    assert client.get(page).status_code == 404, "it has an owner now"


def test_nobody_else_takes_over_and_nothing_that_has_an_owner(ownerless: Study) -> None:
    page = reverse("studies:take-over", args=[ownerless.slug])
    assert _client(UserFactory()).post(page).status_code == 404
    assert _client(User.objects.get(email="analyst@example.org")).post(page).status_code == 403
    owned = make_study(slug="owned", run=ownerless.run)
    assert _client(_administrator()).post(reverse("studies:take-over", args=["owned"])).status_code == 404
    with pytest.raises(ParallaxError) as refusal:
        take_over(study=owned, actor=User.objects.get(email="boss@example.org"))
    assert refusal.value.code == "study.has_owner"
    with pytest.raises(ParallaxError) as refusal:
        take_over(study=ownerless, actor=UserFactory())
    assert refusal.value.code == "study.not_administrator"
    assert not ownerless.memberships.filter(role=Role.OWNER).exists()


def test_a_study_whose_owners_account_is_closed_is_without_an_owner() -> None:
    study = make_study(status="draft")
    User.objects.filter(memberships__study=study).update(is_active=False)
    boss = _administrator()
    take_over(study=study, actor=boss)
    assert study.memberships.filter(role=Role.OWNER, researcher=boss).exists()


def notices_of(user: User) -> list[str]:
    return [row.notice.text for row in NoticeReceipt.objects.filter(researcher=user).select_related("notice")]


def test_a_takeover_is_a_notice_to_all_members(ownerless: Study) -> None:
    boss = _administrator()
    take_over(study=ownerless, actor=boss)
    analyst = User.objects.get(email="analyst@example.org")
    (text,) = notices_of(analyst)
    assert boss.email in text
    assert not notices_of(boss)
    assert text in _client(analyst).get(reverse("studies:notices")).text


def test_a_handover_is_a_notice_to_all_members() -> None:
    boss, study = _administrator(), make_study()
    owner, analyst = study.memberships.get().researcher, UserFactory(email="analyst@example.org")
    StudyMembership.objects.create(study=study, researcher=analyst, role=Role.ANALYST)
    deactivate(user=owner, actor=boss, successor=boss.email)
    (text,) = notices_of(analyst)
    assert owner.email in text
    assert notices_of(owner) == [text]


def _admin_form(study: Study, **rows: Any) -> dict[str, Any]:
    first = study.memberships.order_by("pk")[0].pk
    counts = {"INITIAL_FORMS": 1, "TOTAL_FORMS": 1, "MIN_NUM_FORMS": 0, "0-id": first, "0-study": study.pk}
    return {**{f"memberships-{name}": value for name, value in counts.items()}, **rows}


def test_an_administrator_who_seats_themselves_leaves_a_line_and_a_notice() -> None:
    boss, study = _administrator(), make_study()
    owner = study.memberships.get().researcher
    url = reverse("admin:studies_study_change", args=[study.pk])
    client = _client(boss)
    added = {"memberships-TOTAL_FORMS": 2, "memberships-1-id": "", "memberships-1-study": study.pk,
             "memberships-1-researcher": boss.pk, "memberships-1-role": "analyst"}  # fmt: skip
    assert client.post(url, _admin_form(study, **added)).status_code == 302
    assert study.memberships.get(researcher=boss).role == Role.ANALYST
    entry = LogEntry.objects.filter(kind="studies.study", object_id=study.pk).latest("pk")
    assert (entry.actor, entry.facts["researcher"]) == (boss, boss.pk)
    (text,) = notices_of(owner)
    assert text.count("boss@example.org") == 2


def test_the_administration_leaves_no_study_without_an_owner_and_changes_no_role() -> None:
    boss, study = _administrator(), make_study()
    owner = study.memberships.get()
    url = reverse("admin:studies_study_change", args=[study.pk])
    refused = _client(boss).post(url, _admin_form(study, **{"memberships-0-DELETE": "on"}))
    assert refused.status_code == 200
    assert study.memberships.get() == owner
    changed = {"memberships-0-researcher": boss.pk, "memberships-0-role": "analyst"}
    _client(boss).post(url, _admin_form(study, **changed))
    assert study.memberships.get() == owner
    assert study.memberships.get().role == Role.OWNER
    assert not Notice.objects.exists()
