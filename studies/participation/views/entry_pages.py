"""Pages before consent: the consent text, and why a visitor cannot enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from core.security_log import REFUSED, record_event
from studies.design.selectors import texts as written
from studies.design.selectors.placeholders import content_of
from studies.design.selectors.texts import rendered
from studies.design.selectors.versions import current_consent
from studies.enums import Mode, StudyStatus
from studies.instrument.flow import CONSENT, Place
from studies.participation.selectors import pages
from studies.participation.services import exit_links, resuming
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services.entry_limits import NetworkLimitReached
from studies.participation.views import language as spoken
from studies.participation.views.message_pages import message_page, too_often_page
from studies.recruitment.panels import exits
from studies.recruitment.services import tokens

BY_INVITATION = ("study.by_invitation", "study.closed_link", "study.not_a_guest")


def parameters_of(request: HttpRequest) -> list[tuple[str, str]]:
    """The link's query parameters, repeated in the form."""
    if request.method != "POST":
        return [(name, str(value)) for name, value in request.GET.items()]
    posted = [(name, str(value)) for name, value in request.POST.items()]
    return [(name.removeprefix("param:"), value) for name, value in posted if name.startswith("param:")]


def consent_page(
    request: HttpRequest, attempt: EntryAttempt, *, ticked: Sequence[str] | None = None, error: str = ""
) -> HttpResponse:
    """The researcher's text with its boxes and buttons; with `ticked`, the boxes that are not in it are marked."""
    study, language = attempt.study, attempt.language
    texts = written.texts_of(study, language)
    version = current_consent(study)
    boxes = [{"key": str(number), "text": text} for number, text in enumerate(texts.get("consent_boxes", ()), 1)]
    context: dict[str, Any] = {
        "study": study,
        "step": "consent",
        "is_preview": attempt.mode == Mode.PREVIEW,
        "progress": pages.progress_at(content_of(study), Place(CONSENT), language),
        "consent_html": rendered(texts.get("consent", "")),
        "boxes": boxes,
        "ticked": ticked or (),
        "unticked": [] if ticked is None else [box for box in boxes if box["key"] not in ticked],
        "entry_key": attempt.entry_key or tokens.new_entry_key(),
        "browser_key": attempt.browser_key,
        "consent_version": version.number if version else "",
        "parameters": parameters_of(request),
        "error": error,
        "is_looking": request.method != "POST" and attempt.is_looking,
        "language": language,
        "languages": spoken.switches(request, study, language),
        "contact": written.contact_of(study, language),
    }
    return render(request, "participant/consent.html", context)


def _message(request: HttpRequest, attempt: EntryAttempt, heading: str, **shown: Any) -> HttpResponse:
    return message_page(request, heading, study=attempt.study, language=attempt.language, **shown)


def refused(request: HttpRequest, attempt: EntryAttempt, refusal: ParallaxError) -> HttpResponse:
    """The page for a visitor who cannot enter, chosen by the error code."""
    if isinstance(refusal, NetworkLimitReached):
        return too_often_page(request, refusal, study=attempt.study, language=attempt.language)
    if refusal.code == "study.consent_changed":
        return consent_page(request, attempt, error=refusal.message)
    if refusal.code == "study.known_id":
        return _welcome_back(request, attempt)
    if refusal.code == "study.link_used":
        text = _(
            "It opens the study once. To continue, use the device and browser where you began, or the address of the "
            "page that you were on. If you have neither, please ask the people who sent you the link."
        )
        return _message(request, attempt, _("This link has been used"), text=text, status=410)
    if refusal.code == "study.took_part_before":
        exit_link = exit_links.exit_before_enrolment(
            recruiting=attempt.recruiting, outcome=exits.SCREENED_OUT, parameters=attempt.parameters, mode=Mode.LIVE
        )
        own_text = exit_link.text.get(attempt.language, "")
        shown: dict[str, Any] = {"markdown": own_text} if own_text else {"text": refusal.message}
        return _message(request, attempt, _("Thank you for your interest"), exit_link=exit_link, **shown)
    if refusal.code in ("study.not_open", "study.full"):
        return _shut(request, attempt, refusal)
    if refusal.code in (*BY_INVITATION, "study.bad_signature"):
        record_event("study.entry_refused", outcome=REFUSED, study=attempt.study.slug, reason=refusal.code)
    if refusal.code == "study.bad_signature":
        return _message(request, attempt, _("This link is not valid"), text=refusal.message)
    if refusal.code in BY_INVITATION:
        return _message(request, attempt, _("This study is by invitation only"), text=refusal.message)
    address = request.get_full_path()
    return _message(request, attempt, _("One moment, please"), text=refusal.message, action_url=address)


def _welcome_back(request: HttpRequest, attempt: EntryAttempt) -> HttpResponse:
    # Pressing the button resumes the study, not opening the link: ids of other sites are not secret.
    study, language = attempt.study, attempt.language
    if request.POST.get("choice") != "resume":
        context = {
            "step": "message",
            "study": study,
            "contact": written.contact_of(study, language),
            "parameters": parameters_of(request),
            "languages": spoken.switches(request, study, language),
            "language": language,
        }
        return render(request, "participant/welcome_back.html", context)
    try:
        token = resuming.resume_known(study=study, recruiting=attempt.recruiting, parameters=attempt.parameters)
    except ParallaxError as refusal:
        return _message(request, attempt, _("One moment, please"), text=refusal.message)
    return redirect("participant:resume", token=token)


def _shut(request: HttpRequest, attempt: EntryAttempt, refusal: ParallaxError) -> HttpResponse:
    study, language = attempt.study, attempt.language
    texts = written.texts_of(study, language)
    out: dict[str, Any] = {}
    if refusal.code == "study.full" or study.status in (StudyStatus.PAUSED, StudyStatus.CLOSED):
        exit_link = exit_links.exit_before_enrolment(
            recruiting=attempt.recruiting,
            outcome=exits.QUOTA_FULL,
            parameters=attempt.parameters,
            mode=attempt.mode,
        )
        out = {"exit_link": exit_link}
    if refusal.code == "study.full":
        heading = _("The study is full")
        own_text = exit_link.text.get(language) or texts.get("quota_full", "")
    elif study.status == StudyStatus.CLOSED:
        heading, own_text = _("This study has ended"), texts.get("closed", "")
    elif study.archived_at is not None:
        heading, own_text = _("This study is not running"), ""
    elif study.status == StudyStatus.PAUSED:
        heading, own_text = _("The study is paused"), ""
    else:
        heading, own_text = _("This study has not started yet"), ""
    if own_text:
        return _message(request, attempt, heading, markdown=own_text, **out)
    what_to_do = ""
    if study.archived_at is not None:
        what_to_do = _("If someone sent you this link, please ask them.")
    elif study.status in (StudyStatus.PAUSED, StudyStatus.DRAFT):
        what_to_do = _("Please come back later with the same link.")
    return _message(request, attempt, heading, text=f"{refusal.message} {what_to_do}".strip(), **out)
