"""Studies, members, runs and notices for the console's lists."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce

from core.models import LogEntry
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.results import REPORTED_PROTOCOLS
from studies.enums import Mode, ParticipantStatus, Role
from studies.models import Condition, NoticeReceipt, Sequence, Study, StudyMembership


def studies_of(researcher: Any) -> QuerySet[Study]:
    """Return a researcher's studies, newest first, each with `role`, `n_completed` and `n_wanted`."""
    studies: QuerySet[Study] = _listed(researcher).filter(role__isnull=False)
    return studies


def ownerless_studies() -> QuerySet[Study]:
    """Return the studies without an active owner, newest first, for administrators to take over."""
    return Study.objects.filter(_is_ownerless()).order_by("-created_at", "-pk")


def studies_shown_to(researcher: Any) -> QuerySet[Study]:
    """As `studies_of`; administrators also see the studies without an owner, whose `role` may be None."""
    if not researcher.is_superuser:
        return studies_of(researcher)
    studies: QuerySet[Study] = _listed(researcher).filter(Q(role__isnull=False) | Q(_is_ownerless()))
    return studies


def _is_ownerless() -> Any:
    owners = StudyMembership.objects.filter(study=OuterRef("pk"), role=Role.OWNER, researcher__is_active=True)
    return ~Exists(owners)


def _listed(researcher: Any) -> Any:
    own = StudyMembership.objects.filter(study=OuterRef("pk"), researcher=researcher)
    # Where each person has several lists, those of the sequences; each condition has all participants then.
    wanted = [
        Subquery(
            arms.objects.filter(study=OuterRef("pk"))
            .order_by()
            .values("study")
            .annotate(n=Sum("target"))
            .values("n")[:1]
        )
        for arms in (Sequence, Condition)
    ]
    is_completed = Q(participants__mode=Mode.LIVE, participants__status=ParticipantStatus.COMPLETED)
    return (
        Study.objects.annotate(role=Subquery(own.values("role")[:1]))
        .annotate(n_completed=Count("participants", filter=is_completed, distinct=True))
        .annotate(n_wanted=Coalesce(*wanted))
        .select_related("dataset_version__dataset")
        .order_by("-created_at", "-pk")
    )


def membership_of(researcher: Any, slug: str) -> StudyMembership | None:
    """Return a researcher's membership in the study with that slug, or None."""
    return (
        StudyMembership.objects.filter(researcher=researcher, study__slug=slug)
        .select_related("study__dataset_version__dataset", "study__run")
        .first()
    )


def readable_studies(researcher: Any) -> QuerySet[Study]:
    """Return the studies that a researcher owns or analyses, by title."""
    roles = (Role.OWNER, Role.ANALYST)
    return Study.objects.filter(memberships__researcher=researcher, memberships__role__in=roles).order_by("title", "pk")


def members_of(study: Study) -> QuerySet[StudyMembership]:
    """Return the members of a study, owners first."""
    return study.memberships.select_related("researcher", "condition").order_by("-role", "researcher__email")


def log_of(study: Study, n: int = 20) -> QuerySet[LogEntry]:
    """Return the newest entries of a study's log: status, design and member changes."""
    entries = LogEntry.objects.filter(kind="studies.study", object_id=study.pk)
    return entries.select_related("actor").order_by("-at", "-id")[:n]


def runs_to_study(researcher: Any) -> QuerySet[EvaluationRun]:
    """Return the visible runs whose models can be used in a study: those with recall of single items first, and each
    newest first.
    """
    return (
        EvaluationRun.objects.visible_to(researcher)
        .filter(status=RunStatus.SUCCEEDED, folds=[], protocol__name__in=REPORTED_PROTOCOLS)
        .select_related("version__dataset")
        .annotate(n_algorithms=Count("algorithms"))
        .order_by(Case(When(protocol__name="one-plus-random", then=0), default=1), "-finished_at", "-pk")
    )


def notices_of(researcher: Any) -> QuerySet[NoticeReceipt]:
    """Return the researcher's notices, unread first, then newest first, without those of former studies."""
    return (
        NoticeReceipt.objects.filter(researcher=researcher, notice__study__memberships__researcher=researcher)
        .select_related("notice__study")
        .order_by(F("read_at").desc(nulls_first=True), "-notice__at", "-pk")
    )


def n_unread(researcher: Any) -> int:
    """Count the researcher's unread notices."""
    return notices_of(researcher).filter(read_at__isnull=True).count()


def unread_of_study(researcher: Any, study: Study, n: int = 5) -> QuerySet[NoticeReceipt]:
    """Return the researcher's newest unread notices about one study."""
    return notices_of(researcher).filter(notice__study=study, read_at__isnull=True)[:n]


def owned_by(researcher: Any) -> QuerySet[StudyMembership]:
    """Return the researcher's memberships as an owner, with their e-mail preferences and studies."""
    owned = StudyMembership.objects.filter(researcher=researcher, role=Role.OWNER)
    return owned.select_related("study").order_by("study__archived_at", "-study__created_at", "-study__pk")
