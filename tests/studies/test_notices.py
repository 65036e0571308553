"""Notices to owners: each told once, in the console and by e-mail, at once or gathered once a day."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery import current_app
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.errors import ParallaxError
from jobs.models import JobStatus
from studies.design.services.launch import close_study
from studies.enums import Mode, NoticeKind, NoticeMail, Role
from studies.models import Notice, NoticeReceipt, Participant, Study, StudyMembership
from studies.monitoring.services.notice_mail import digest_cutoff, send_due
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.services.ratings import rate_item
from studies.participation.services.recommending import finish_rating
from studies.team.services.members import add_member
from studies.team.services.notices import notify_owners
from tests.factories.accounts import UserFactory
from tests.factories.studies import assigned, completed, enter, items_of, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


def _owner(study: Study) -> Client:
    client = Client()
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _kinds(study: Study) -> list[str]:
    return sorted(study.notices.values_list("kind", flat=True))


def test_a_study_that_fills_is_told_of_step_by_step_and_each_step_once() -> None:
    study = make_study(per_condition=1, settings={"quality": {"fastest_seconds": 0, "fastest_share": 0}})
    enter(study, Mode.SIMULATED)
    assert notify_due() == 0
    enter(study)
    assert notify_due() == 1
    assert _kinds(study) == [NoticeKind.FIRST_PARTICIPANT]
    done = completed(study)
    assigned(study)
    notify_due()
    assert _kinds(study) == [NoticeKind.FIRST_PARTICIPANT, NoticeKind.STUDY_FULL, NoticeKind.TARGET_REACHED]
    reached = study.notices.get(kind=NoticeKind.TARGET_REACHED)
    assert done.condition.label in reached.text  # type: ignore[union-attr]
    assert notify_due() == 0
    assert NoticeReceipt.objects.count() == 3


def test_a_flag_is_told_once_and_looked_for_again_after_somebody_moved() -> None:
    study = make_study()
    person = completed(study)  # in no time at all
    now = timezone.now()
    notify_due(now=now)
    told = study.notices.get(kind=NoticeKind.FLAG)
    assert person.code not in told.text
    Notice.objects.all().delete()
    notify_due(now=now + timedelta(minutes=6))
    assert not study.notices.filter(kind=NoticeKind.FLAG).exists(), "nobody moved since"
    Participant.objects.filter(pk=person.pk).update(updated_at=now + timedelta(minutes=7))
    notify_due(now=now + timedelta(minutes=8))
    assert study.notices.filter(kind=NoticeKind.FLAG).count() == 1


def test_owners_are_told_and_nobody_else() -> None:
    study = make_study()
    second, analyst = UserFactory(), UserFactory()
    add_member(study=study, email=second.email, role=Role.OWNER)
    add_member(study=study, email=analyst.email, role=Role.ANALYST)
    assert notify_owners(study=study, kind=NoticeKind.FAULT, key="k", text="t") is not None
    assert notify_owners(study=study, kind=NoticeKind.FAULT, key="k", text="t") is None
    told = set(NoticeReceipt.objects.values_list("researcher", flat=True))
    assert told == set(study.memberships.filter(role=Role.OWNER).values_list("researcher", flat=True))
    assert analyst.pk not in told


def test_a_model_that_fails_pauses_the_study_and_is_told_of() -> None:
    study = make_study()
    person = assigned(study)
    for item in items_of(study, 5):
        rate_item(participant=person, item=item, rating=4)
    study.conditions.update(model_digest="0" * 64)
    for _twice in range(2):
        with pytest.raises(ParallaxError) as refusal:
            finish_rating(participant=person)
        assert refusal.value.code == "study.model_unavailable"
    study.refresh_from_db()
    assert study.status == "paused"
    told = study.notices.get()
    assert told.kind == NoticeKind.FAULT
    assert person.condition.label in told.text  # type: ignore[union-attr]


def test_an_export_that_failed_is_told_once() -> None:
    study = make_study()
    study.jobs.create(kind="export", payload={"format": "wide"}, status=JobStatus.FAILED, error="Disk full.")
    notify_due()
    notify_due()
    assert "wide" in study.notices.get().text
    assert "Disk full." in study.notices.get().text


def test_a_retention_date_is_told_two_weeks_ahead_and_again_when_it_moves() -> None:
    study = make_study()
    completed(study)
    close_study(study=study)
    Study.objects.filter(pk=study.pk).update(answers_kept_days=30, external_ids_kept_days=30)
    study.refresh_from_db()
    assert study.closed_at is not None
    notify_due(now=study.closed_at + timedelta(days=15))
    assert not study.notices.exists()
    notify_due(now=study.closed_at + timedelta(days=17))
    notify_due(now=study.closed_at + timedelta(days=18))
    told = study.notices.get()  # of answers: there are no external ids to erase
    assert told.kind == NoticeKind.RETENTION
    assert told.key.startswith("retention:answers:")
    Study.objects.filter(pk=study.pk).update(answers_kept_days=31)
    notify_due(now=study.closed_at + timedelta(days=18))
    assert study.notices.count() == 2
    notify_due(now=study.closed_at + timedelta(days=40))
    assert study.notices.count() == 2


def test_letters_go_at_once_or_after_the_hour_of_the_day_and_never_twice() -> None:
    study = make_study()
    owner = study.memberships.get()
    never, at_once = UserFactory(), UserFactory()
    for who, choice in ((never, NoticeMail.NEVER), (at_once, NoticeMail.AT_ONCE)):
        membership = add_member(study=study, email=who.email, role=Role.OWNER)
        StudyMembership.objects.filter(pk=membership.pk).update(notices_by_mail=choice)
    made = notify_owners(study=study, kind=NoticeKind.STUDY_FULL, key="k", text="The study is full.")
    assert made is not None
    noon = datetime(2030, 5, 2, 12, tzinfo=UTC)
    Notice.objects.update(at=noon)
    assert send_due(now=noon + timedelta(minutes=1)) == 1
    assert mail.outbox[0].to == [at_once.email]
    assert f"02 May 2030, 12:00 UTC  {made.text}" in mail.outbox[0].body
    assert send_due(now=noon + timedelta(hours=17)) == 0
    assert send_due(now=noon + timedelta(hours=18)) == 1
    assert mail.outbox[1].to == [owner.researcher.email]
    assert send_due(now=noon + timedelta(days=3)) == 0
    assert len(mail.outbox) == 2


def test_the_day_ends_at_six() -> None:
    assert digest_cutoff(datetime(2030, 5, 2, 5, 59, tzinfo=UTC)) == datetime(2030, 5, 1, 6, tzinfo=UTC)
    assert digest_cutoff(datetime(2030, 5, 2, 6, 0, tzinfo=UTC)) == datetime(2030, 5, 2, 6, tzinfo=UTC)


def test_several_notices_are_one_letter_and_what_was_read_is_not_sent() -> None:
    study = make_study()
    other = make_study(slug="other", run=study.run, owner=study.memberships.get().researcher)
    StudyMembership.objects.update(notices_by_mail=NoticeMail.AT_ONCE)
    for number in range(3):
        notify_owners(study=study, kind=NoticeKind.FLAG, key=str(number), text=f"Flag {number}.")
    notify_owners(study=other, kind=NoticeKind.FAULT, key="x", text="Fault.")
    NoticeReceipt.objects.filter(notice__text="Flag 1.").update(read_at=timezone.now())
    assert send_due() == 1
    letter = mail.outbox[0]
    assert "Flag 0." in letter.body
    assert "Fault." in letter.body
    assert "Flag 1." not in letter.body


def test_a_letter_links_to_its_studies_where_the_site_says_its_address_and_else_says_where_to_look(
    settings: Any,
) -> None:
    study = make_study()
    other = make_study(slug="other", run=study.run, owner=study.memberships.get().researcher)
    StudyMembership.objects.update(notices_by_mail=NoticeMail.AT_ONCE)

    def letter(number: int) -> str:
        for one in (study, other):
            notify_owners(study=one, kind=NoticeKind.FLAG, key=str(number), text=f"Flag {number}.")
        assert send_due() == 1
        return str(mail.outbox[-1].body)

    assert "http" not in letter(1)
    settings.SITE_URL = "https://study.example.org"
    linked = letter(2)
    for one in (study, other):
        assert f"{one.title}\nhttps://study.example.org/studies/{one.slug}/\n- " in linked
    assert linked.endswith(":\nhttps://study.example.org/studies/notices/\n")
    client = _owner(study)
    for address in re.findall(r"https://study\.example\.org(\S+)", linked):
        page = client.get(address)
        assert page.status_code == 200
        assert study.title in page.text


def test_a_letter_that_is_refused_is_tried_again_later(settings: Any) -> None:
    study = make_study()
    StudyMembership.objects.update(notices_by_mail=NoticeMail.AT_ONCE)
    notify_owners(study=study, kind=NoticeKind.FLAG, key="k", text="t")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # nobody listens there
    assert send_due() == 0
    assert NoticeReceipt.objects.get().mailed_at is None
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert send_due() == 0, "not before some minutes have passed"
    cache.clear()
    assert send_due() == 1


def test_the_sweep_tells_and_writes() -> None:
    study = make_study()
    StudyMembership.objects.update(notices_by_mail=NoticeMail.AT_ONCE)
    enter(study)
    sweep = current_app.tasks["studies.sweep"]
    sweep.run()
    sweep.run()
    assert len(mail.outbox) == 1


def test_the_list_shows_unread_first_and_marks_them_read() -> None:
    study = make_study()
    client = _owner(study)
    assert "No notices yet" in client.get(reverse("studies:notices")).content.decode()
    assert client.get(reverse("studies:notice-count")).content.decode().strip() == ""
    for number in range(2):
        notify_owners(study=study, kind=NoticeKind.FLAG, key=str(number), text=f"Flag {number}.")
    first = NoticeReceipt.objects.get(notice__text="Flag 1.")
    assert "2<span" in client.get(reverse("studies:notice-count")).content.decode()
    client.post(reverse("studies:notice-read"), {"notice": first.pk})
    page = client.get(reverse("studies:notices")).content.decode()
    assert page.index("Flag 0.") < page.index("Flag 1.")
    assert page.count('class="is-unread"') == 1
    refused = client.post(reverse("studies:notice-read"), {"notice": "x"}, follow=True).content.decode()
    assert "Choose the notice to mark as read." in refused
    client.post(reverse("studies:notice-read"), {"notice": "all"})
    assert client.get(reverse("studies:notice-count")).content.decode().strip() == ""


def test_nobody_reads_or_marks_anothers_notices_nor_those_of_a_study_they_left() -> None:
    study = make_study()
    notify_owners(study=study, kind=NoticeKind.FLAG, key="k", text="Secret flag.")
    receipt = NoticeReceipt.objects.get()
    stranger = Client()
    stranger.force_login(UserFactory(), backend="django.contrib.auth.backends.ModelBackend")
    stranger.post(reverse("studies:notice-read"), {"notice": receipt.pk})
    receipt.refresh_from_db()
    assert receipt.read_at is None
    assert "Secret flag." not in stranger.get(reverse("studies:notices")).content.decode()
    client = _owner(study)
    study.memberships.all().delete()
    assert "Secret flag." not in client.get(reverse("studies:notices")).content.decode()
    assert send_due(now=timezone.now() + timedelta(days=2)) == 0


def test_an_owner_chooses_when_to_be_written_to() -> None:
    study = make_study()
    client = _owner(study)
    address = reverse("studies:notice-mail")
    client.post(address, {"study": study.slug, "mail": "at_once"})
    assert study.memberships.get().notices_by_mail == NoticeMail.AT_ONCE
    for said in ({"study": "other", "mail": "never"}, {"study": study.slug, "mail": "hourly"}):
        page = client.post(address, said, follow=True).content.decode()
        assert '<li class="error">' in page
    assert study.memberships.get().notices_by_mail == NoticeMail.AT_ONCE
