"""Notices to the owners of a study: found by looking around, or told by what went wrong; each once."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils import timezone

from core.errors import ParallaxError
from studies.enums import HOLDS_SLOT, ExportStatus, Mode, NoticeKind, NoticeMail, ParticipantStatus, Role, StudyStatus
from studies.models import ExportJob, ExternalId, Notice, NoticeReceipt, Participant, Study, StudyMembership
from studies.selectors.identifying import identifying_answers
from studies.selectors.quality import flags_by_participant
from studies.selectors.responses import public_ids

logger = logging.getLogger(__name__)

RUNNING = (StudyStatus.LIVE, StudyStatus.PAUSED)
FLAGS_EVERY = timedelta(minutes=5)  # flags read every answer of a study
RETENTION_AHEAD = timedelta(days=14)


def note(*, study: Study, kind: str, key: str, text: str) -> Notice | None:
    """Tell the owners of a study something; None where it was told before under the same key."""
    try:
        with transaction.atomic():
            made = Notice.objects.create(study=study, kind=kind, key=key, text=text)
            owners = StudyMembership.objects.filter(study=study, role=Role.OWNER, researcher__is_active=True)
            NoticeReceipt.objects.bulk_create(
                NoticeReceipt(notice=made, researcher_id=pk)
                for pk in owners.order_by("pk").values_list("researcher_id", flat=True)
            )
    except IntegrityError:
        return None
    logger.info("notice study=%s kind=%s key=%s", study.slug, kind, key)
    return made


def look_around(*, now: datetime | None = None) -> int:
    """Find what the owners of studies are to be told, tell it once, and count it.

    Safe to run at any time and twice at once.
    """
    moment = now or timezone.now()
    told = 0
    running = list(Study.objects.filter(status__in=RUNNING, archived_at__isnull=True).order_by("pk"))
    known = _known_keys(running)
    for study, kind, key, text in (
        *_counted(running),
        *_flagged(running, moment),
        *_failed_exports(),
        *_retained(moment),
    ):
        if (study.pk, key) not in known and note(study=study, kind=kind, key=key, text=text) is not None:
            told += 1
    return told


Found = Iterator[tuple[Study, str, str, str]]


def _known_keys(studies: Collection[Study]) -> set[tuple[int, str]]:
    return set(Notice.objects.filter(study__in=studies).order_by().values_list("study_id", "key"))


def _counted(studies: Collection[Study]) -> Found:
    """The first participant, targets reached, studies full: all by counting."""
    people = Participant.objects.filter(study__in=studies, mode=Mode.LIVE).order_by()
    rows = people.values_list("study_id", "condition_id").annotate(
        n=Count("pk"),
        # A slot that the plan's rule has opened again counts towards nothing.
        n_completed=Count("place", filter=Q(status=ParticipantStatus.COMPLETED)),
        n_held=Count("place", filter=Q(status__in=HOLDS_SLOT)),
    )
    counted: dict[int, dict[int | None, tuple[int, int]]] = {}
    for study_id, condition_id, _n, n_completed, n_held in rows:
        counted.setdefault(study_id, {})[condition_id] = (n_completed, n_held)
    for study in studies:
        if study.pk not in counted:
            continue
        found = counted[study.pk]
        yield study, NoticeKind.FIRST_PARTICIPANT, "first_participant", "The first participant has entered."
        conditions = list(study.conditions.order_by("position"))
        for condition in conditions:
            if found.get(condition.pk, (0, 0))[0] >= condition.target:
                text = f"{condition.label} has reached its target of {condition.target} completed."
                yield study, NoticeKind.TARGET_REACHED, f"target:{condition.pk}:{condition.target}", text
        if conditions and all(found.get(one.pk, (0, 0))[1] >= one.target for one in conditions):
            wanted = sum(condition.target for condition in conditions)
            text = f"The study is full: all {wanted} slots are held. Who comes now is thanked and sent away."
            yield study, NoticeKind.STUDY_FULL, f"full:{wanted}", text


def _flagged(studies: Collection[Study], moment: datetime) -> Found:
    """Participants' quality flags, of studies where somebody moved since flags were looked at last."""
    for study in studies:
        before = study.flags_looked_at
        if before is not None and moment - before < FLAGS_EVERY:
            continue
        people = Participant.objects.filter(study=study, mode=Mode.LIVE)
        if not (people if before is None else people.filter(updated_at__gt=before)).exists():
            continue
        # Whoever writes the time looks; another worker at the same instant leaves it to them.
        if not Study.objects.filter(pk=study.pk, flags_looked_at=before).update(flags_looked_at=moment):
            continue
        ids = public_ids(study)
        for pk, flags in flags_by_participant(study, [Mode.LIVE]).items():
            for flag in flags:
                text = f"Participant {ids[pk]} has a flag, {flag.name.lower()}: {flag.reason}"
                yield study, NoticeKind.FLAG, f"flag:{pk}:{flag.key}", text


def _failed_exports() -> Found:
    failed = ExportJob.objects.filter(status=ExportStatus.FAILED).select_related("study").order_by("pk")
    told = set(Notice.objects.filter(key__startswith="export:").values_list("key", flat=True))
    for job in failed:
        if f"export:{job.pk}" not in told:
            text = f"The export {job.kind} could not be made: {job.error} Ask for it again."
            yield job.study, NoticeKind.FAULT, f"export:{job.pk}", text


def _retained(moment: datetime) -> Found:
    """What is erased soon, by the limits that a closed study has."""
    limits = Q(external_ids_kept_days__isnull=False) | Q(answers_kept_days__isnull=False)
    for study in Study.objects.filter(limits, closed_at__isnull=False).order_by("pk"):
        kept = (
            (
                "external ids", study.external_ids_kept_days,
                (ExternalId.objects.filter(study=study), identifying_answers(study)),
            ),
            ("answers", study.answers_kept_days, (Participant.objects.filter(study=study, erased_at__isnull=True),)),
        )  # fmt: skip
        for what, days, kinds in kept:
            if days is None or study.closed_at is None:
                continue
            date = study.closed_at + timedelta(days=days)
            key = f"retention:{what}:{date:%Y-%m-%d}"
            is_near = date - RETENTION_AHEAD <= moment < date
            is_told = Notice.objects.filter(study=study, key=key).exists()
            if is_near and not is_told and any(rows.exists() for rows in kinds):
                text = f"The {what} are erased on {date:%d %B %Y} (UTC), as the retention limit says."
                yield study, NoticeKind.RETENTION, key, text


@transaction.atomic
def mark_read(*, researcher: Any, receipt: int | None = None) -> int:
    """Mark one notice of theirs as read, or all of them; how many were unread."""
    unread = NoticeReceipt.objects.filter(researcher=researcher, read_at__isnull=True)
    if receipt is not None:
        unread = unread.filter(pk=receipt)
    return unread.update(read_at=timezone.now())


@transaction.atomic
def choose_mail(*, researcher: Any, slug: str, mail: str) -> StudyMembership:
    """Say when they are written to about a study of theirs. Raises `notice.unknown_choice`, `notice.not_owner`."""
    if mail not in NoticeMail.values:
        raise ParallaxError("notice.unknown_choice", f"Notices are sent {', '.join(NoticeMail.values)}; got {mail!r}.")
    membership = StudyMembership.objects.filter(researcher=researcher, study__slug=slug, role=Role.OWNER).first()
    if membership is None:
        raise ParallaxError("notice.not_owner", "Notices are sent to the owners of a study.")
    membership.notices_by_mail = mail
    membership.save(update_fields=["notices_by_mail"])
    return membership
