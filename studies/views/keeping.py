"""A study copied, put away, brought back or deleted, the consent texts it has had, and the versions of its design."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from core.errors import ParallaxError
from studies.enums import StudyStatus
from studies.forms.data import ExportForm, ReasonForm
from studies.forms.keeping import ConsentForm, DeleteForm, DuplicateForm, RewordForm, TargetsForm
from studies.forms.texts import NotesForm
from studies.permissions import OWNERS, READERS, Seat, seated
from studies.questionnaires.document import write_document
from studies.selectors.consent import consent_lines
from studies.selectors.markdown import rendered
from studies.selectors.placeholders import filled
from studies.selectors.usage import usage_of
from studies.selectors.versions import design_lines
from studies.services.amending import RUNNING, extend_targets, mend_texts, reword_questionnaire
from studies.services.archiving import archive_study, restore_study
from studies.services.consent_texts import change_consent
from studies.services.deleting import delete_study
from studies.services.duplicating import duplicate_study, free_slug
from studies.services.reopening import reopen_study
from studies.views.number_warnings import warn_of_numbers

METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(METHODS)
@seated(READERS, even_when_archived=True)
def study_duplicate(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Make a draft with the same design; whoever makes it owns it."""
    study = seat.study
    initial = {"title": f"{study.title} (copy)"[:200], "slug": free_slug(study.slug)}
    form = DuplicateForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = duplicate_study(study=study, actor=request.user, **form.cleaned_data)
        except ParallaxError as refusal:
            form.add_error("slug" if "slug" in refusal.code else None, str(refusal))
        else:
            messages.success(request, "The copy is made. It is a draft of your own, with nobody's data.")
            return redirect("studies:detail", slug=made.slug)
    return render(request, "console/studies/duplicate.html", {"study": study, "form": form})


def _done(request: HttpRequest, seat: Seat, act: Callable[..., object], said: str) -> HttpResponse:
    try:
        act(study=seat.study, actor=request.user)
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, said)
    return redirect("studies:detail", slug=seat.study.slug)


@require_POST
@seated(OWNERS, even_when_archived=True)
def study_archive(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Put the study away."""
    return _done(request, seat, archive_study, "The study is archived: it can be read, and restored.")


@require_POST
@seated(OWNERS, even_when_archived=True)
def study_restore(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Bring the study back from the archive."""
    return _done(request, seat, restore_study, "The study is restored.")


@require_POST
@seated(OWNERS)
def study_reopen(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Take participants in a closed study again."""
    form = ReasonForm(request.POST)
    why = form.cleaned_data["reason"] if form.is_valid() else ""
    said = "The study is live again. Outcomes stay open; extend the targets to make room."
    return _done(request, seat, partial(reopen_study, why=why), said)


@require_http_methods(METHODS)
@seated(OWNERS, even_when_archived=True)
def study_delete(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Say what would go and what stays, offer the exports, and delete the study."""
    study = seat.study
    form = DeleteForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            delete_study(study=study, typed=form.cleaned_data["typed"], actor=request.user)
        except ParallaxError as refusal:
            form.add_error("typed" if refusal.code == "study.slug_not_typed" else None, str(refusal))
        else:
            messages.success(request, f"The study {study.title} is deleted.")
            return redirect("studies:list")
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "usage": usage_of(study),
        "is_live": study.status == StudyStatus.LIVE,
        "export_form": ExportForm(is_owner=seat.is_owner),
    }
    return render(request, "console/studies/delete.html", context)


@require_http_methods(METHODS)
@seated(READERS)
def study_consent(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The versions of the consent text, who said yes to which, and a new one by an owner."""
    study = seat.study
    if request.method == "POST" and not seat.is_owner:
        messages.error(request, "The study's owner alone changes the consent text.")
        return redirect("studies:consent", slug=study.slug)
    form = ConsentForm(study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = change_consent(study=study, texts=form.texts(), why=form.cleaned_data["why"], actor=request.user)
        except ParallaxError as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, f"Newcomers are shown version {made.number} from now on.")
            warn_of_numbers(request, study)
            return redirect("studies:consent", slug=study.slug)
    lines = []
    for line in consent_lines(study):
        read = filled(line.version.texts, study.settings)
        texts = [(name, rendered(own["consent"]), own["consent_boxes"]) for name, own in read.items()]
        lines.append((line, texts))
    is_running = study.status in RUNNING
    context = {"study": study, "form": form, "lines": lines, "may_change": seat.may_change and is_running}
    return render(request, "console/studies/consent.html", context)


@require_http_methods(METHODS)
@seated(READERS)
def study_versions(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The versions of the design, who entered under which, and a new one by an owner."""
    study = seat.study
    if request.method == "POST" and not seat.is_owner:
        messages.error(request, "The study's owner alone changes the design.")
        return redirect("studies:versions", slug=study.slug)
    act = request.POST.get("act")
    targets = TargetsForm(study, request.POST if act == "targets" else None)
    words = RewordForm(write_document(study.questionnaire), request.POST if act == "words" else None)
    notes = NotesForm(study, request.POST if act == "notes" else None)
    chosen = {"targets": targets, "words": words, "notes": notes}.get(act or "")
    if chosen is not None and chosen.is_valid():
        why = chosen.cleaned_data["why"]
        try:
            if chosen is targets:
                number = extend_targets(study=study, targets=targets.targets(), why=why, actor=request.user)
            elif chosen is notes:
                number = mend_texts(study=study, texts=notes.texts(), why=why, actor=request.user)
            else:
                text = words.cleaned_data["document"]
                number = reword_questionnaire(study=study, text=text, why=why, actor=request.user)
        except ParallaxError as refusal:
            for problem in refusal.extra.get("problems") or [str(refusal)]:
                chosen.add_error(None, problem)
        else:
            messages.success(request, f"Version {number} of the design holds from now on.")
            warn_of_numbers(request, study)
            return redirect("studies:versions", slug=study.slug)
    context = {
        "study": study,
        "lines": design_lines(study),
        "targets": targets,
        "words": words,
        "notes": notes,
        "may_change": seat.may_change and study.status in RUNNING,
    }
    return render(request, "console/studies/versions.html", context)
