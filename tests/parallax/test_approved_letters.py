"""Every e-mail that the product sends: its subject and its words."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts.models import User
from accounts.services.accounts import deactivate
from accounts.services.invitations import BY_MAIL, deliver, invite
from accounts.services.letters import send_waiting
from accounts.services.library_adapters import EVENTS, AccountAdapter
from accounts.services.second_factor import reset_second_factor
from core.errors import ParallaxError
from jobs.models import JobStatus
from parallax.backup.results import log_result, report_missing
from studies.design.services.launch import close_study
from studies.enums import NoticeKind, NoticeMail, Role
from studies.models import ExternalId, Notice, Study, StudyMembership
from studies.monitoring.services.notice_mail import send_due
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.services.ratings import rate_item
from studies.participation.services.recommending import finish_rating
from studies.recruitment.services.recruitment import set_limits
from studies.team.services.members import add_member, change_members, invite_to_study, take_over
from studies.team.services.notices import notify_owners
from tests.approval import assert_letter_approved
from tests.factories.accounts import UserFactory
from tests.factories.studies import assigned, completed, items_of, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
SITE = "https://study.example.org"


@pytest.fixture(autouse=True)
def installation(settings: Any) -> None:
    settings.EMAIL_HOST, settings.SITE_URL, settings.BACKUP_HOURS = "mail.example.org", SITE, 30


def ada() -> User:
    return UserFactory(email="ada@example.org", name="Ada")


def boss() -> User:
    return UserFactory(email="boss@example.org", name="The boss", is_superuser=True)


def send_invitation_to_a_study() -> None:
    invitation, key = invite_to_study(study=make_study(), role=Role.ANALYST, email="ana@example.org", actor=ada())
    deliver(invitation=invitation, key=key, site=SITE, by=BY_MAIL)


def send_invitation_to_the_installation() -> None:
    invitation, key = invite(actor=boss(), email="ana@example.org", is_administrator=True)
    deliver(invitation=invitation, key=key, site=SITE, by=BY_MAIL)


def send_password_reset() -> None:
    Client().post("/account/password/reset/", {"email": ada().email})
    send_waiting()


def sign_in(password: str, network: str) -> None:
    Client(REMOTE_ADDR=network).post("/account/sign-in/", {"username": "ada@example.org", "password": password})


def send_lock_of_new_networks() -> None:
    ada()
    for n in range(5):
        sign_in("wrong", f"198.51.100.{n}")
    send_waiting()


def send_lock_of_a_known_network() -> None:
    owner = ada()
    owner.set_password("correct horse battery")
    owner.save()
    for password in ("correct horse battery", *5 * ["wrong"]):
        sign_in(password, "192.0.2.10")
    send_waiting()


def send_attempts_at_many_accounts() -> None:
    boss()
    for n in range(40):
        Client(REMOTE_ADDR="198.51.100.7").post(
            "/account/sign-in/", {"username": f"somebody{n}@example.org", "password": "wrong"}
        )


def _reset_second_factor(actor: User | None) -> None:
    owner = ada()
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={})
    reset_second_factor(user=owner, actor=actor)


def send_reset_by_an_administrator() -> None:
    _reset_second_factor(boss())


def send_reset_by_a_command() -> None:
    _reset_second_factor(None)


def send_missing_backup() -> None:
    boss()
    report_missing(now=timezone.now() + timedelta(hours=31))


def send_failed_backup() -> None:
    boss()
    log_result(is_good=True, words="")
    log_result(is_good=False, words="pg_dump failed: the disk is full")
    report_missing()


def _noted_study(**given: Any) -> Study:
    study = make_study(**given)
    StudyMembership.objects.update(notices_by_mail=NoticeMail.AT_ONCE)
    return study


def _send_notices() -> None:
    Notice.objects.update(at=datetime(2030, 5, 2, 12, tzinfo=UTC))
    send_due(now=datetime(2030, 5, 2, 13, tzinfo=UTC))


def send_notices_of_a_full_study() -> None:
    study = _noted_study(per_condition=1)
    for _condition in range(2):
        completed(study)
    study.jobs.create(kind="export", payload={"format": "wide"}, status=JobStatus.FAILED, error="The disk is full.")
    notify_due()
    _send_notices()


def send_notice_of_a_retention_date() -> None:
    study = _noted_study()
    completed(study)
    participant = study.participants.get()
    ExternalId.objects.create(study=study, participant=participant, name="PROLIFIC_PID", value="known")
    close_study(study=study)
    study.refresh_from_db()
    assert study.closed_at is not None
    Study.objects.update(answers_kept_days=30, external_ids_kept_days=30)
    notify_due(now=study.closed_at + timedelta(days=17))
    _send_notices()


def send_notices_of_two_studies() -> None:
    study = _noted_study()
    other = make_study(slug="other", run=study.run, owner=study.memberships.get().researcher)
    StudyMembership.objects.update(notices_by_mail=NoticeMail.AT_ONCE)
    for each in (study, other):
        notify_owners(study=each, kind=NoticeKind.STUDY_FULL, key="k", text="The study is full.")
    _send_notices()


def send_notices_of_a_failing_model() -> None:
    study = _noted_study()
    person = assigned(study)
    for item in items_of(study, 5):
        rate_item(participant=person, item=item, rating=4)
    study.conditions.update(model_digest="0" * 64)
    with pytest.raises(ParallaxError):
        finish_rating(participant=person)
    _send_notices()


def send_notices_of_an_unusual_rate() -> None:
    study = _noted_study(per_condition=6)
    set_limits(study=study, pause_at=6)
    for _participant in range(6):
        assigned(study)
    _send_notices()


def send_notices_of_a_full_disk() -> None:
    _noted_study()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=100 * 2**20))
        notify_due()
    _send_notices()


def send_notices_of_an_administrator() -> None:
    study = make_study()
    administrator, analyst = boss(), ada()
    add_member(study=study, email=analyst.email, role=Role.ANALYST)
    membership = StudyMembership(study=study, researcher=administrator, role=Role.ANALYST)
    change_members(study=study, added=[membership], removed=[], actor=administrator)
    owner = study.memberships.get(role=Role.OWNER).researcher
    deactivate(user=owner, actor=administrator, successor="boss@example.org")
    User.objects.filter(pk=administrator.pk).update(is_active=False)
    take_over(study=study, actor=UserFactory(email="second@example.org", is_superuser=True))
    StudyMembership.objects.filter(researcher=analyst).update(notices_by_mail=NoticeMail.AT_ONCE)
    _send_notices()


LETTERS: dict[str, Callable[[], None]] = {
    "invitation-to-a-study": send_invitation_to_a_study,
    "invitation-to-the-installation": send_invitation_to_the_installation,
    "password-reset": send_password_reset,
    "account-locked-on-new-networks": send_lock_of_new_networks,
    "account-locked-on-a-known-network": send_lock_of_a_known_network,
    "passwords-are-guessed": send_attempts_at_many_accounts,
    "second-factor-reset-by-an-administrator": send_reset_by_an_administrator,
    "second-factor-reset-by-a-command": send_reset_by_a_command,
    "backup-missing": send_missing_backup,
    "backup-failed": send_failed_backup,
    "notices-of-a-full-study": send_notices_of_a_full_study,
    "notice-of-a-retention-date": send_notice_of_a_retention_date,
    "notices-of-a-failing-model": send_notices_of_a_failing_model,
    "notices-of-an-unusual-rate": send_notices_of_an_unusual_rate,
    "notices-of-a-full-disk": send_notices_of_a_full_disk,
    "notices-of-an-administrator": send_notices_of_an_administrator,
    "notices-of-two-studies": send_notices_of_two_studies,
}
VARIABLE = {
    r"(?<=Participant )\w+": "ID",
    r"(?<=locked out for )\d+": "N",  # until the end of a period of the clock
    r"Took [\d.]+ seconds?": "Took N seconds",
    r"/(reset|invitation)/\S+": r"/\1/KEY/",
}


@pytest.mark.parametrize("name", LETTERS)
def test_every_letter_is_approved(
    name: str, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=2**40))
    with django_capture_on_commit_callbacks(execute=True):
        LETTERS[name]()
    (letter,) = mail.outbox
    assert_letter_approved(f"letters/{name}", letter, VARIABLE)


@pytest.mark.parametrize("event", EVENTS)
def test_every_change_of_the_sign_in_is_a_letter(event: str, rf: RequestFactory) -> None:
    AccountAdapter(rf.get("/")).send_notification_mail(f"mfa/email/{event}", ada())
    (letter,) = mail.outbox
    assert letter.to == ["ada@example.org"]
    assert_letter_approved(f"letters/sign-in-{event.replace('_', '-')}", letter)
