"""Invitations: by e-mail or link, accepted once, by a new account or an existing one."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Invitation, User
from accounts.services.invitations import accept, invite
from core.errors import ParallaxError
from core.models import LogEntry
from studies.design.services.archiving import delete_study
from studies.enums import Role
from studies.models import Study, StudyMembership
from studies.team.services.members import add_member, invite_to_study, remove_member
from tests.factories.accounts import UserFactory
from tests.factories.console import signed_in
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
PASSWORD = "correct horse battery"
NEW = {"name": "Ada", "password": PASSWORD, "again": PASSWORD}


@pytest.fixture
def administrator() -> User:
    return UserFactory(email="boss@example.org", is_superuser=True, is_staff=True)


def link_in(text: str) -> str:
    found = re.search(r"/account/invitation/[\w-]+/", text)
    assert found is not None
    return found[0]


def test_a_link_creates_an_administrators_account_once(administrator: User, client: Client) -> None:
    page = signed_in(administrator).post(reverse("accounts:researchers"), {"is_administrator": "on", "by": "mail"})
    assert not mail.outbox  # there is neither an address nor a mail server
    link = link_in(page.text)
    assert link not in signed_in(administrator).get(reverse("accounts:researchers")).text
    form = client.get(link)
    assert "An administrator’s account" in form.text
    assert "no-store" in form.headers["Cache-Control"]
    assert User.objects.count() == 1  # opening the link creates nothing
    answer = client.post(link, {**NEW, "email": "New@Example.org"})
    assert answer.status_code == 302
    user = User.objects.get(email="new@example.org")
    assert (user.is_superuser, user.is_staff, user.name) == (True, True, "Ada")
    assert client.get(reverse("accounts:researchers")).status_code == 200  # signed in, and an administrator
    again = Client().get(link)
    assert again.status_code == 410
    assert "not valid" in again.text
    key = link.rsplit("/", 2)[1]
    assert key not in "".join(str(entry.__dict__) for entry in LogEntry.objects.all())
    assert not Invitation.objects.filter(digest=key).exists()
    assert Client().get(reverse("accounts:invitation", args=["no-such-key"])).status_code == 404


def test_an_invitation_by_mail_is_for_its_address_and_says_the_role(
    settings: Any, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example.org", "https://lab.example.org"
    study = make_study()
    owner = study.memberships.get().researcher
    fields = {"invite-email": "ana@example.org", "invite-role": "analyst", "by": "mail"}
    page = signed_in(owner).post(reverse("studies:member-invite", args=[study.slug]), fields)
    assert "Invitation sent" in page.text
    assert "/account/invitation/" not in page.text
    (letter,) = mail.outbox
    assert letter.to == ["ana@example.org"]
    assert f"“{study.title}”" in letter.body
    assert "https://lab.example.org/account/invitation/" in letter.body
    link = link_in(letter.body)
    assert link not in caplog.text
    assert client.post(link, {**NEW, "email": "other@example.org"}).status_code == 302  # the field is not read
    assert StudyMembership.objects.get(study=study, researcher__email="ana@example.org").role == Role.ANALYST


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"again": "another one"}, "The two passwords differ"),
        ({"password": "1234", "again": "1234"}, "This password is too short"),
        ({"email": "boss@example.org"}, "An account for boss@example.org already exists"),
        ({"email": ""}, "This field is required"),
    ],
)
def test_a_refused_account_leaves_the_invitation_open(
    administrator: User, client: Client, given: dict[str, str], problem: str
) -> None:
    _invitation, key = invite(actor=administrator)
    page = client.post(reverse("accounts:invitation", args=[key]), {"email": "a@example.org", **NEW, **given})
    assert problem in page.text
    assert Invitation.objects.get().is_open
    assert User.objects.count() == 1


def test_an_existing_account_signs_in_and_accepts_and_no_other_can(client: Client) -> None:
    study = make_study()
    owner, invited, other = study.memberships.get().researcher, UserFactory(), UserFactory()
    _invitation, key = invite_to_study(study=study, role=Role.OWNER, email=invited.email, actor=owner)
    link = reverse("accounts:invitation", args=[key])
    assert client.post(link, {**NEW, "email": invited.email}).status_code == 200
    assert signed_in(other).post(link).status_code == 200
    assert study.memberships.count() == 1
    assert signed_in(invited).post(link).url == reverse("home")
    assert study.memberships.get(researcher=invited).role == Role.OWNER
    with pytest.raises(ParallaxError) as refusal:
        accept(key=key, user=invited)
    assert refusal.value.code == "invitation.not_valid"


def test_an_invitation_that_cannot_be_kept_is_refused_and_stays_open() -> None:
    study = make_study()
    owner = study.memberships.get().researcher
    _invitation, key = invite_to_study(study=study, role=Role.ANALYST, actor=owner)  # the only owner opens it
    assert signed_in(owner).post(reverse("accounts:invitation", args=[key])).status_code == 200
    assert study.memberships.get().role == Role.OWNER
    assert Invitation.objects.get().is_open


def test_expired_and_revoked_invitations_do_nothing(client: Client) -> None:
    study = make_study()
    owner = study.memberships.get().researcher
    expired, first = invite_to_study(study=study, role=Role.ANALYST, actor=owner)
    Invitation.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    revoked, second = invite_to_study(study=study, role=Role.ANALYST, email="a@example.org", actor=owner)
    page = signed_in(owner).get(reverse("studies:members", args=[study.slug])).text
    assert "a@example.org" in page
    signed_in(owner).post(reverse("studies:invitation-revoke", args=[study.slug, revoked.pk]))
    for key in (first, second):
        assert client.get(reverse("accounts:invitation", args=[key])).status_code == 410
    stranger = make_study(slug="other", run=study.run, owner=UserFactory())
    other = stranger.memberships.get().researcher
    assert signed_in(other).post(reverse("studies:invitation-revoke", args=["other", expired.pk])).status_code == 404


def test_invitations_end_with_their_inviter_and_their_study() -> None:
    study = make_study(status="draft")
    owner, second = study.memberships.get().researcher, UserFactory()
    add_member(study=study, email=second.email, role=Role.OWNER)
    invitation, _key = invite_to_study(study=study, role=Role.ANALYST, actor=second)
    remove_member(study=study, membership=study.memberships.get(researcher=second), actor=owner)
    invitation.refresh_from_db()
    assert not invitation.is_open
    invite_to_study(study=study, role=Role.ANALYST, actor=owner)
    delete_study(study=Study.objects.get(pk=study.pk), actor=owner)
    assert not Invitation.objects.exists()


def test_a_member_is_not_invited_again_and_a_letter_that_fails_shows_the_link(settings: Any) -> None:
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # nobody listens there
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    study = make_study()
    owner = study.memberships.get().researcher
    url = reverse("studies:member-invite", args=[study.slug])
    signed_in(owner).post(url, {"invite-email": owner.email, "invite-role": "analyst"})
    signed_in(owner).post(url, {"invite-role": "boss"})
    assert not Invitation.objects.exists()
    page = signed_in(owner).post(url, {"invite-email": "a@example.org", "invite-role": "analyst", "by": "mail"})
    assert link_in(page.text)
    with pytest.raises(ParallaxError, match="role"):
        invite_to_study(study=study, role="boss", actor=owner)


def test_only_administrators_invite_to_the_installation(administrator: User) -> None:
    with pytest.raises(ParallaxError, match="Only administrators"):
        invite(actor=UserFactory())
    url = reverse("accounts:researchers")
    assert signed_in(UserFactory()).post(url, {}).status_code == 403
    signed_in(administrator).post(url, {"email": administrator.email})
    assert not Invitation.objects.exists()
