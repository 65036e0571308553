"""The events of webhooks, which follow from the log of status changes and from notices, in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver

from core.models import LogEntry
from jobs.models import Job, JobStatus
from parallax.webhooks.models import EventType, Webhook
from parallax.webhooks.services import api_address, send
from studies.enums import Mode, NoticeKind, ParticipantStatus, StudyStatus
from studies.models import Notice, Participant, Study

FINISHED = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)
STUDY_EVENTS: dict[tuple[str, str], EventType] = {
    (StudyStatus.DRAFT, StudyStatus.LIVE): EventType.LAUNCHED,
    (StudyStatus.CLOSED, StudyStatus.LIVE): EventType.LAUNCHED,  # a second wave
    (StudyStatus.LIVE, StudyStatus.PAUSED): EventType.PAUSED,
}


@receiver(post_save, sender=LogEntry)
def _on_log_entry(sender: Any, instance: LogEntry, created: bool, **_more: Any) -> None:
    before, after = instance.from_status, instance.to_status
    if not created or before == after:
        return
    if instance.kind == Study._meta.label_lower and (event := STUDY_EVENTS.get((before, after))):
        _send_of_study(event, Study.objects.get(pk=instance.object_id))
    elif instance.kind == Participant._meta.label_lower and after == ParticipantStatus.COMPLETED:
        participant = Participant.objects.select_related("study").get(pk=instance.object_id)
        if participant.mode == Mode.LIVE:
            _send_of_study(EventType.COMPLETED, participant.study)
    elif instance.kind == Job._meta.label_lower and after in FINISHED:
        _send_of_job(Job.objects.get(pk=instance.object_id))


@receiver(post_save, sender=Notice)
def _on_notice(sender: Any, instance: Notice, created: bool, **_more: Any) -> None:
    if created and instance.kind == NoticeKind.STUDY_FULL:
        _send_of_study(EventType.FULL, instance.study)


def _send_of_study(event: str, study: Study) -> None:
    _send(event, {"study": study.slug, "url": api_address("studies-detail", study.slug)}, study)


def _send_of_job(job: Job) -> None:
    study = job.subject if isinstance(job.subject, Study) else getattr(job.subject, "study", None)
    data = {"job": job.pk, "kind": job.kind, "status": job.status, "url": api_address("jobs-detail", job.pk)}
    _send(EventType.JOB_FINISHED, data, study, owner=job.owner_id)


def _send(event: str, data: Mapping[str, Any], study: Study | None, **owner: Any) -> None:
    for webhook in Webhook.objects.entitled(study).filter(**owner):
        if event in webhook.events:
            send(webhook, event, data, study)
