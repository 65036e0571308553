"""Permissions in a study by the researcher's membership; for others the study does not exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from evaluation.models import EvaluationRun
from studies.enums import READERS, Role
from studies.models import Study, StudyMembership
from studies.team.selectors.studies import membership_of, ownerless_studies

ANY_ROLE = frozenset(Role.values)
STARTERS = frozenset({Role.OWNER, Role.INTERVIEWER})
OWNERS = frozenset({Role.OWNER})
# What a page of a study answers to: pages only shown, pages with a form, and buttons.
SAFE, FORM, POST = ["GET", "HEAD"], ["GET", "HEAD", "POST"], ["POST"]


def shows_items_to(researcher: Any, version_id: int) -> bool:
    """Whether a study that shows the items of a dataset version has this researcher as a member."""
    return StudyMembership.objects.filter(researcher=researcher, study__dataset_version=version_id).exists()


def may_see_run(researcher: Any, study: Study) -> bool:
    """Whether a member of the study also sees its run, which may belong to a project."""
    return EvaluationRun.objects.visible_to(researcher).filter(pk=study.run_id).exists()


def require_run(researcher: Any, study: Study) -> None:
    """Refuse what makes another study of this one's run to members who may not see the run. Raises PermissionDenied."""
    if not may_see_run(researcher, study):
        raise PermissionDenied(
            "The run of this study belongs to a project that you are not in. Ask one of its owners to add you."
        )


@dataclass(frozen=True)
class Membership:
    """A study, and what the requesting researcher may do in it."""

    study: Study
    role: str

    @property
    def is_owner(self) -> bool:
        return self.role == Role.OWNER

    @property
    def may_change(self) -> bool:
        """Whether the researcher may change the study now; archived studies are read-only."""
        return self.is_owner and self.study.archived_at is None

    @property
    def may_read(self) -> bool:
        return self.role in READERS


StudyView = Callable[..., HttpResponse]
NO_ROLE: frozenset[str] = frozenset()


def membership_for(researcher: Any, slug: str, roles: frozenset[str]) -> Membership:
    """Return the researcher's membership; 404 without a membership, 403 without a sufficient role."""
    stored = membership_of(researcher, slug)
    if stored is None:
        raise Http404("There is no such study.")
    if stored.role not in roles:
        raise PermissionDenied("Your role in this study does not include this page.")
    return Membership(stored.study, stored.role)


def ownerless_study_for(researcher: Any, slug: str) -> Study:
    """Return a study without an owner, for administrators only."""
    if not researcher.is_superuser:
        membership_for(researcher, slug, NO_ROLE)
    study = ownerless_studies().filter(slug=slug).first()
    if study is None:
        raise Http404("There is no such study without an owner.")
    return study


def for_members(
    roles: frozenset[str], methods: Sequence[str] = SAFE, *, even_when_archived: bool = False
) -> Callable[[StudyView], StudyView]:
    """Pass the view a `Membership` instead of the slug; the view's `roles` attribute serves the test of every URL.

    POST requests for an archived study are rejected, unless `even_when_archived`.
    """

    def decorate(view: StudyView) -> StudyView:
        @require_http_methods(methods)
        @wraps(view)
        def checked(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
            membership = membership_for(request.user, slug, roles)
            if request.method == "POST" and membership.study.archived_at is not None and not even_when_archived:
                messages.error(request, "This study is archived and can only be read. Restore it before you change it.")
                return redirect("studies:detail", slug=slug)
            return view(request, membership, **kwargs)

        checked.roles = roles  # type: ignore[attr-defined]
        return checked

    return decorate
