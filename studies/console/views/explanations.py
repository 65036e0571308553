"""Texts that explain items, uploaded for the conditions of a study."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.outcomes import refusals_in
from studies.console.forms.explanations import ExplanationsForm
from studies.console.views.questionnaires import may_edit
from studies.console.views.workspace import study_page
from studies.design.selectors.launch_overview import CONDITIONS
from studies.design.services.conditions import explain_by_texts
from studies.team.permissions import FORM, OWNERS, Membership, for_members


@for_members(OWNERS, FORM)
def study_explanations(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Store a text per item, and cross the conditions with lists without and with them."""
    study = membership.study
    if not may_edit(membership):
        messages.error(request, "The design was frozen at the launch and cannot be changed any more.")
        return redirect("studies:conditions", slug=study.slug)
    form = ExplanationsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "file"):
            stored = explain_by_texts(study=study, file=form.cleaned_data["file"], actor=request.user)
            n, of = f"{stored.n_items:,}", f"{study.dataset_version.n_items:,}"
            messages.success(request, f"{n} of {of} items have a text in {', '.join(stored.languages)}.")
            return redirect("studies:conditions", slug=study.slug)
    return study_page(request, membership, "console/studies/explanations.html", {"form": form}, tab=CONDITIONS)
