"""Message pages: for participants whose part is over, and for those who cannot continue now."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from accounts.services.device_lock import researcher_of_lock
from studies.design.selectors import texts as written
from studies.design.selectors.texts import rendered
from studies.enums import ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.participation.services.entry_gate import is_trial
from studies.participation.services.entry_limits import NetworkLimitReached
from studies.participation.services.exit_links import ExitLink
from studies.participation.services.slot_queue import queue_length
from studies.participation.views.language import switches
from studies.recruitment.selectors.recruitment import has_timed_out

HEADINGS = {
    ParticipantStatus.QUOTA_FULL: gettext_lazy("The study is full"),
    ParticipantStatus.WITHDRAWN: gettext_lazy("You have left the study"),
}
ENDED = gettext_lazy("Your participation has ended")  # of the other outcomes
# Default texts of outcomes.
OUTCOMES = {
    ParticipantStatus.SCREENED_OUT: gettext_lazy(
        "This study is looking for other participants, so it ends here for you. This is no reflection on you."
    ),
    ParticipantStatus.QUOTA_FULL: gettext_lazy("We have reached the number of participants we need."),
    ParticipantStatus.WITHDRAWN: gettext_lazy("Your answers have been erased."),
    ParticipantStatus.RETURNED: gettext_lazy("You returned your place in the study. Your answers so far are saved."),
    ParticipantStatus.ATTENTION_FAILED: gettext_lazy("Thank you for your time. Your answers so far are saved."),
}
LATE = "late"  # in the address of a page to which an answer led that came after the end
TIMED_OUT = gettext_lazy("The time limit of the site you came from has passed.")


def titled(study: Study, language: str) -> Study:
    """The study with its participant-facing title, in their language."""
    study.public_title = written.texts_of(study, language).get("title") or study.title  # type: ignore[attr-defined]
    return study


def message_page(
    request: HttpRequest,
    heading: str,
    *,
    text: str = "",
    markdown: str = "",
    status: int = 200,
    study: Study | None = None,
    participant: Participant | None = None,
    language: str = "",
    action_url: str = "",
    template: str = "message",
    **context: Any,
) -> HttpResponse:
    """A message page: what happened, what to do, and a contact."""
    about = participant.study if participant else study
    shown_language = participant.language if participant else language
    shown = {
        "heading": heading,
        "text": text,
        "text_html": rendered(markdown) if markdown else "",
        "step": "message",
        "code": participant.code if participant else "",
        "study": titled(about, shown_language) if about else None,
        "contact": written.contact_of(about, shown_language) if about else "",
        "installation_contact": "" if about else settings.CONTACT,
        "languages": switches(request, about, shown_language or get_language() or ""),
        "action_url": action_url,
        "hand_back_url": "" if action_url else hand_back_url(request),
        **context,
    }
    return render(request, f"participant/{template}.html", shown, status=status)


def hand_back_url(request: HttpRequest) -> str:
    """Where a device that an interviewer handed over returns to them; empty on other devices."""
    return reverse("accounts:unlock") if researcher_of_lock(request) else ""


def too_often_page(request: HttpRequest, refusal: NetworkLimitReached, *, study: Study, language: str) -> HttpResponse:
    """Say when to try again; a submitted form is included, so that it can be sent again unchanged."""
    if "HX-Request" in request.headers:
        response = HttpResponse(refusal.message, status=429, content_type="text/plain; charset=utf-8")
    else:
        posted = [(name, value) for name, values in request.POST.lists() for value in values]
        shown = {
            "heading": _("Please wait a moment"),
            "text": refusal.message,
            "fields": [(name, value) for name, value in posted if name != "csrfmiddlewaretoken"],
            "again_url": request.get_full_path(),
            "step": "message",
            "study": titled(study, language),
            "contact": written.contact_of(study, language),
        }
        response = render(request, "participant/too_often.html", shown, status=429)
    response.headers["Retry-After"] = str(refusal.seconds)
    return response


def outcome(
    request: HttpRequest,
    participant: Participant,
    *,
    withdraw_url: str,
    exit_link: ExitLink | None = None,
) -> HttpResponse | None:
    """The page of a participant who is done, who waits, or whose study is paused; None while they may continue."""
    study, status = participant.study, participant.status
    texts = written.texts_of(study, participant.language)
    if status in OUTCOMES:
        # Panels list timed-out submissions as returned, although the participants did not return them.
        is_late = status == ParticipantStatus.RETURNED and has_timed_out(participant)
        own = (exit_link.text.get(participant.language) if exit_link else "") or texts.get(
            "timed_out" if is_late else status, ""
        )
        default_text = TIMED_OUT if is_late else OUTCOMES[ParticipantStatus(status)]
        words: dict[str, Any] = {"markdown": own} if own else {"text": default_text}
        left = "" if status == ParticipantStatus.WITHDRAWN else withdraw_url
        out: dict[str, Any] = {"exit_link": exit_link, "withdraw_url": left}
        if status == ParticipantStatus.WITHDRAWN:
            out["code"] = ""  # its data are erased
        heading = str(HEADINGS.get(ParticipantStatus(status), ENDED))
        return message_page(request, heading, participant=participant, **out, **words)
    if study.status == StudyStatus.LIVE and participant.waiting_since is not None:
        return message_page(
            request,
            _("Please wait for a place"),
            participant=participant,
            template="waiting",
            place=queue_length(study, timezone.now(), participant) + 1,
            here_url=request.path,
            withdraw_url=withdraw_url,
            exit_link=exit_link,
        )
    if status == ParticipantStatus.COMPLETED or study.status == StudyStatus.LIVE or is_trial(study, participant.mode):
        return None
    shown: dict[str, Any] = {"participant": participant, "withdraw_url": withdraw_url}
    if study.status == StudyStatus.CLOSED and (request.method == "POST" or LATE in request.GET):
        text = _("It closed before your last answer arrived, so that answer was not saved. Your earlier answers were.")
        return message_page(request, _("This study is over"), text=text, **shown)
    if study.status == StudyStatus.CLOSED:
        text = _("It ended before you had finished. Your answers so far are saved; you can write to us or withdraw.")
        return message_page(request, _("This study has ended"), text=text, **shown)
    if study.archived_at is not None:
        text = _("It no longer accepts answers. Your answers are saved; you can write to us or withdraw.")
        return message_page(request, _("This study is not running"), text=text, **shown)
    text = _("Your answers are saved. Please come back later at the same address.")
    if LATE in request.GET:
        text = _(
            "Your earlier answers are saved. The last one is kept in this browser, and is sent when you come back at "
            "the same address after the pause."
        )
    elif request.method == "POST":
        text = _("Your answers are saved, except what you sent just now. Please come back later at the same address.")
    return message_page(request, _("The study is paused"), text=text, exit_link=exit_link, **shown)
