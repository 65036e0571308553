"""Actions on a study, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.outcomes import perform
from studies.console.forms.data import ReasonForm
from studies.design.selectors.text_warnings import literal_number_warnings
from studies.models import Study
from studies.team.permissions import OWNERS, POST, Membership, StudyView, for_members


def reason_given(request: HttpRequest) -> str:
    """The reason that was posted; empty where there is none, which the services refuse."""
    form = ReasonForm(request.POST)
    return form.cleaned_data["reason"] if form.is_valid() else ""


def button(
    act: Callable[..., object],
    success: str,
    *,
    reason: str = "",
    page: str = "studies:detail",
    even_when_archived: bool = False,
) -> StudyView:
    """A view that performs an action on the study, for its owners, and returns to a page of the study.

    `reason` is the action's parameter for the reason that the owner states, where it takes one.
    """

    @for_members(OWNERS, POST, even_when_archived=even_when_archived)
    def pressed(request: HttpRequest, membership: Membership) -> HttpResponse:
        facts = {reason: reason_given(request)} if reason else {}
        perform(request, act, success, study=membership.study, **facts)
        return redirect(page, slug=membership.study.slug)

    return pressed


def warn_of_numbers(request: HttpRequest, study: Study) -> None:
    """Say which numbers in the texts and questions, as they are saved now, disagree with the settings."""
    for _place, warning in literal_number_warnings(Study.objects.get(pk=study.pk)):
        messages.warning(request, warning)
