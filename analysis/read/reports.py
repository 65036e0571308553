"""The reports that a researcher may read: owners and analysts of a study read them, interviewers do not.

A report also shows its run, so that of a project's run is only read by those who see the run.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import BooleanField, Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from analysis.models import Report
from evaluation.models import EvaluationRun
from jobs.models import Job
from studies.enums import Mode, ParticipantStatus, Role, StudyStatus
from studies.models import Exclusion, Participant, Study

READERS = (Role.OWNER, Role.ANALYST)


def studies_to_report(researcher: Any) -> QuerySet[Study]:
    """The studies whose reports a researcher may read, newest first: launched ones, and drafts that were piloted.

    They see the runs of these studies too.
    """
    piloted = Participant.objects.filter(study=OuterRef("pk"), mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED)
    return (
        Study.objects.filter(memberships__researcher=researcher, memberships__role__in=READERS)
        .filter(~Q(status=StudyStatus.DRAFT) | Exists(piloted), run__in=_runs_shown_to(researcher))
        .order_by("-created_at", "-pk")
    )


def reports_of(researcher: Any) -> QuerySet[Report]:
    """The reports a researcher may read, newest first; each says whether it `is_out_of_date`.

    It is once a participant whose answers it may hold has withdrawn (the consent text promises that this shows), or
    was excluded or included again, or recruitment was reopened. A pilot is once its draft is launched, or changed,
    which removes its simulated participants.
    """
    withdrawn_since = Participant.objects.filter(
        study=OuterRef("study"),
        mode=OuterRef("mode"),
        status=ParticipantStatus.WITHDRAWN,
        completed_at__lt=OuterRef("created_at"),
        updated_at__gt=OuterRef("created_at"),
    )
    decided_since = Exclusion.objects.filter(
        Q(excluded_at__gt=OuterRef("created_at")) | Q(undone_at__gt=OuterRef("created_at")),
        participant__study=OuterRef("study"),
        participant__mode=OuterRef("mode"),
        participant__completed_at__lt=OuterRef("created_at"),
    )
    walked = Participant.objects.filter(
        study=OuterRef("study"), mode=OuterRef("mode"), completed_at__lt=OuterRef("created_at")
    )
    reopened_since = Q(mode=Mode.LIVE, study__reopened_at__gt=F("created_at"))
    overtaken = Q(is_pilot=True) & (~Q(study__status=StudyStatus.DRAFT) | ~Exists(walked))
    return (
        Report.objects.filter(study__memberships__researcher=researcher, study__memberships__role__in=READERS)
        .filter(run__in=_runs_shown_to(researcher))
        .annotate(
            is_out_of_date=Case(
                When(Exists(withdrawn_since) | Exists(decided_since) | reopened_since | overtaken, then=Value(True)),
                default=Value(False),
                output_field=BooleanField(),
            )
        )
        .select_related("study", "run", "made_by")
        .order_by("-created_at", "-pk")
    )


def _runs_shown_to(researcher: Any) -> QuerySet[Any]:
    return EvaluationRun.objects.visible_to(researcher).order_by().values("pk")


def has_changed_since(report: Report, moment: datetime) -> bool:
    """Whether a participant of the report has withdrawn since, was erased by the retention limit, or was excluded or
    included again."""
    people = Participant.objects.filter(study=report.study_id, mode=report.mode)
    decided = Exclusion.objects.filter(
        Q(excluded_at__gt=moment) | Q(undone_at__gt=moment),
        participant__study=report.study_id,
        participant__mode=report.mode,
    )
    gone = Q(status=ParticipantStatus.WITHDRAWN, updated_at__gt=moment) | Q(erased_at__gt=moment)
    return people.filter(gone).exists() or decided.exists()


def requests_of(researcher: Any) -> QuerySet[Job]:
    """The researcher's requests to workers, for reports and packages, on studies whose reports they may read."""
    jobs = Job.objects.filter(kind__in=("report", "package"), owner=researcher)
    return jobs.about(studies_to_report(researcher)).prefetch_related("subject")


def report_of(job: Job) -> Report | None:
    """The report that a request has built, or whose package it stores; None before, and where it was deleted."""
    pk: Any = {**job.payload, **job.result}.get("report")
    return Report.objects.select_related("study").filter(pk=pk).first()


def sample_reports() -> QuerySet[Report]:
    """The reports that anyone may read without an account, newest first, as the public reads them; none is of
    participants, or of a project's data.
    """
    samples = Report.objects.filter(
        is_sample=True, mode=Mode.SIMULATED, run__project=None, run__version__dataset__project=None
    )
    samples = samples.annotate(is_public=Value(True, output_field=BooleanField()))
    return samples.select_related("study", "run").order_by("-created_at", "-pk")
