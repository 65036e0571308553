"""Rules for notices: first participant, targets reached, flags, failed exports, a nearly full disk, retention."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Q
from django.utils import timezone

from jobs.models import Job, JobStatus
from studies.allocation.selectors.allocations import ARM, arms_of
from studies.enums import HOLDS_SLOT, Mode, NoticeKind, ParticipantStatus, StudyStatus
from studies.models import ExternalId, Notice, Participant, Study
from studies.monitoring.selectors.quality import flags_by_participant
from studies.participation.selectors.responses import identifying_answers, public_ids
from studies.team.services.notices import notify_owners

RUNNING = (StudyStatus.LIVE, StudyStatus.PAUSED)
FLAGS_EVERY = timedelta(minutes=5)  # flags read every answer of a study
NEARLY_FULL = 500 * 2**20  # bytes left: enough for days of answers, and for this notice
RETENTION_AHEAD = timedelta(days=14)
DueNotices = Iterator[tuple[Study, str, str, str]]  # study, kind, key, text


def notify_due(*, now: datetime | None = None) -> int:
    """Notify owners of everything that is due, each once; return the number of new notices.

    Safe to run at any time and by two workers at once.
    """
    moment = now or timezone.now()
    n_new = 0
    running = list(Study.objects.filter(status__in=RUNNING, archived_at__isnull=True).order_by("pk"))
    known = set(Notice.objects.filter(study__in=running).order_by().values_list("study_id", "key"))
    for study, kind, key, text in (
        *_counted(running),
        *_flagged(running, moment),
        *_failed_exports(),
        *_short_of_disk(running, moment),
        *_retained(moment),
    ):
        if (study.pk, key) not in known and notify_owners(study=study, kind=kind, key=key, text=text) is not None:
            n_new += 1
    return n_new


def _counted(studies: Collection[Study]) -> DueNotices:
    people = Participant.objects.filter(study__in=studies, mode=Mode.LIVE).order_by()
    rows = people.values_list("study_id", ARM).annotate(
        n=Count("pk"),
        # A slot that the plan's rule has opened again counts towards nothing.
        n_completed=Count("place", filter=Q(status=ParticipantStatus.COMPLETED)),
        n_held=Count("place", filter=Q(status__in=HOLDS_SLOT)),
    )
    counted: dict[int, dict[int | None, tuple[int, int]]] = {}
    for study_id, arm_id, _n, n_completed, n_held in rows:
        counted.setdefault(study_id, {})[arm_id] = (n_completed, n_held)
    for study in studies:
        if study.pk not in counted:
            continue
        by_arm = counted[study.pk]
        yield study, NoticeKind.FIRST_PARTICIPANT, "first_participant", "The first participant has entered."
        arms = arms_of(study)
        for arm in arms:
            if by_arm.get(arm.pk, (0, 0))[0] >= arm.target:
                text = f"{arm.label} has reached its target of {arm.target} completed."
                yield study, NoticeKind.TARGET_REACHED, f"target:{arm.pk}:{arm.target}", text
        is_full = all(by_arm.get(arm.pk, (0, 0))[1] >= arm.target for arm in arms)
        if arms and is_full:
            n_slots = sum(arm.target for arm in arms)
            text = f"The study is full: all {n_slots} slots are held. Further participants are turned away with thanks."
            yield study, NoticeKind.STUDY_FULL, f"full:{n_slots}", text


def _flagged(studies: Collection[Study], moment: datetime) -> DueNotices:
    for study in studies:
        before = study.flags_looked_at
        if before is not None and moment - before < FLAGS_EVERY:
            continue
        people = Participant.objects.filter(study=study, mode=Mode.LIVE)
        if not (people if before is None else people.filter(updated_at__gt=before)).exists():
            continue
        # Only the worker that writes the time checks the flags.
        if not Study.objects.filter(pk=study.pk, flags_looked_at=before).update(flags_looked_at=moment):
            continue
        ids = public_ids(study)
        for pk, flags in flags_by_participant(study, [Mode.LIVE]).items():
            for flag in flags:
                text = f"Participant {ids[pk]} has a flag, {flag.name.lower()}: {flag.reason}"
                yield study, NoticeKind.FLAG, f"flag:{pk}:{flag.key}", text


def _failed_exports() -> DueNotices:
    failed = Job.objects.filter(kind="export", status=JobStatus.FAILED).order_by("pk").prefetch_related("subject")
    known = set(Notice.objects.filter(key__startswith="export:").values_list("key", flat=True))
    for job in failed:
        if f"export:{job.pk}" not in known:
            text = f"The export {job.payload['format']} could not be made: {job.error} Ask for it again."
            yield job.subject, NoticeKind.FAULT, f"export:{job.pk}", text


def _short_of_disk(studies: Collection[Study], moment: datetime) -> DueNotices:
    free = shutil.disk_usage(settings.VAR_DIR).free
    if free >= NEARLY_FULL:
        return
    text = (
        f"The server's disk has {free // 2**20} MB left. When it is full, no answer can be stored. Ask the "
        "administrator to free some space, and pause the study if that takes long."
    )
    for study in studies:
        yield study, NoticeKind.FAULT, f"disk:{moment:%Y-%m-%d}", text


def _retained(moment: datetime) -> DueNotices:
    limits = Q(external_ids_kept_days__isnull=False) | Q(answers_kept_days__isnull=False)
    for study in Study.objects.filter(limits, closed_at__isnull=False).order_by("pk"):
        identifying = (ExternalId.objects.filter(study=study), identifying_answers(study))
        of_answers = (Participant.objects.filter(study=study, erased_at__isnull=True),)
        limits_of_study = (
            ("external ids", study.external_ids_kept_days, identifying),
            ("answers", study.answers_kept_days, of_answers),
        )
        for what, days, kinds in limits_of_study:
            if days is None or study.closed_at is None:
                continue
            date = study.closed_at + timedelta(days=days)
            key = f"retention:{what}:{date:%Y-%m-%d}"
            is_near = date - RETENTION_AHEAD <= moment < date
            is_told = Notice.objects.filter(study=study, key=key).exists()
            if is_near and not is_told and any(rows.exists() for rows in kinds):
                text = f"The {what} are erased on {date:%d %B %Y} (UTC), as the retention limit says."
                yield study, NoticeKind.RETENTION, key, text
