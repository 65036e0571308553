"""The life of a study: pause, close, reopen, copies, archive, deletion; consent texts and design versions."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.outcomes import refusals_in
from studies.console.forms.data import ExportForm
from studies.console.forms.rewording import RewordForm
from studies.console.forms.study_lifecycle import DeleteForm, DuplicateForm, TargetsForm
from studies.console.forms.texts import ConsentForm, NotesForm
from studies.console.views.outcomes import button, warn_of_numbers
from studies.console.views.workspace import SETTINGS, study_page
from studies.design.selectors.launch_overview import LAUNCH, TEXTS
from studies.design.selectors.placeholders import filled
from studies.design.selectors.stated_facts import stated_facts
from studies.design.selectors.texts import language_name, rendered
from studies.design.selectors.usage import usage_of
from studies.design.selectors.versions import consent_lines, design_lines
from studies.design.services import launch
from studies.design.services.amending import (
    RUNNING,
    amend_texts,
    change_consent,
    extend_targets,
    reopen_study,
    replace_wording,
    reword_questionnaire,
)
from studies.design.services.archiving import archive_study, delete_study, restore_study
from studies.design.services.duplicating import duplicate_study, free_slug
from studies.enums import READERS, StudyStatus
from studies.team.permissions import FORM, OWNERS, Membership, for_members, may_see_run, require_run

study_pause = button(launch.pause_study, "The study is paused.")
study_resume = button(launch.resume_study, "The study is live again.")
study_close = button(launch.close_study, "The study is closed.")


@for_members(READERS, FORM, even_when_archived=True)
def study_duplicate(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Create a draft with the same design, owned by the account that duplicates it."""
    study = membership.study
    require_run(request.user, study)
    initial = {"title": f"{study.title} (copy)"[:200], "slug": free_slug(study.slug)}
    form = DuplicateForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "slug", of="slug"):
            copy = duplicate_study(study=study, actor=request.user, **form.cleaned_data)
            messages.success(request, "The copy is created. It is your own draft, without participants or answers.")
            return redirect("studies:detail", slug=copy.slug)
    return study_page(request, membership, "console/studies/duplicate.html", {"form": form}, tab=SETTINGS)


study_archive = button(
    archive_study, "The study is archived. It can still be viewed, and restored.", even_when_archived=True
)
study_restore = button(restore_study, "The study is restored.", even_when_archived=True)
study_reopen = button(
    reopen_study,
    "The study is live again. Outcomes stay unblinded; extend the targets to make room.",
    reason="why",
)


@for_members(OWNERS, FORM, even_when_archived=True)
def study_delete(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show what is deleted and what is kept, offer the exports, and delete the study."""
    study = membership.study
    form = DeleteForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "typed", of="slug_not_typed"):
            delete_study(study=study, typed=form.cleaned_data["typed"], actor=request.user)
            messages.success(request, f"The study {study.title} is deleted.")
            return redirect("studies:list")
    context: dict[str, Any] = {
        "form": form,
        "usage": usage_of(study),
        "sees_run": may_see_run(request.user, study),
        "is_live": study.status == StudyStatus.LIVE,
        "export_form": ExportForm(is_owner=membership.is_owner),
    }
    return study_page(request, membership, "console/studies/delete.html", context, tab=SETTINGS)


@for_members(READERS, FORM)
def study_consent(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The versions of the consent text with their numbers of participants; owners add versions."""
    study = membership.study
    if request.method == "POST" and not membership.is_owner:
        messages.error(request, "Only the study's owners can change the consent text.")
        return redirect("studies:consent", slug=study.slug)
    form = ConsentForm(study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            version = change_consent(study=study, texts=form.texts(), why=form.cleaned_data["why"], actor=request.user)
            messages.success(request, f"New participants see version {version.number} from now on.")
            warn_of_numbers(request, study)
            return redirect("studies:consent", slug=study.slug)
    lines = []
    for line in consent_lines(study):
        read = filled(line.version.texts, study.design, facts=stated_facts(study))
        texts = [
            (name, language_name(name), rendered(own["consent"]), own["consent_boxes"]) for name, own in read.items()
        ]
        lines.append((line, [(language_name(code), n) for code, n in line.by_language], texts))
    is_running = study.status in RUNNING
    context = {"form": form, "lines": lines, "may_change": membership.may_change and is_running}
    return study_page(request, membership, "console/studies/consent.html", context, tab=TEXTS)


@for_members(READERS, FORM)
def study_versions(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The versions of the design with their numbers of participants; owners add versions."""
    study = membership.study
    if request.method == "POST" and not membership.is_owner:
        messages.error(request, "Only the study's owners can change the design.")
        return redirect("studies:versions", slug=study.slug)
    act = request.POST.get("act")
    targets = TargetsForm(study, request.POST if act == "targets" else None)
    words = RewordForm(study, request.POST if act == "words" else None)
    notes = NotesForm(study, request.POST if act == "notes" else None)
    chosen = {"targets": targets, "words": words, "notes": notes}.get(act or "")
    if chosen is not None and chosen.is_valid():
        why = chosen.cleaned_data["why"]
        field = "document" if chosen is words and words.document is not None else None
        with refusals_in(chosen, field):
            if chosen is targets:
                number = extend_targets(study=study, targets=targets.targets(), why=why, actor=request.user)
            elif chosen is notes:
                number = amend_texts(study=study, texts=notes.texts(), why=why, actor=request.user)
            elif words.document is not None:
                number = reword_questionnaire(study=study, text=words.document, why=why, actor=request.user)
            else:
                number = replace_wording(study=study, questionnaire=words.questionnaire(), why=why, actor=request.user)
            messages.success(request, f"Version {number} of the design applies from now on.")
            warn_of_numbers(request, study)
            return redirect("studies:versions", slug=study.slug)
    context = {
        "lines": design_lines(study),
        "targets": targets,
        "words": words,
        "notes": notes,
        "may_change": membership.may_change and study.status in RUNNING,
    }
    return study_page(request, membership, "console/studies/versions.html", context, tab=LAUNCH)
