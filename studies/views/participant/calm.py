"""Calm pages: for someone whose part is over, and for whom there is nothing to do now."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.enums import ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.selectors import texts as written
from studies.selectors.markdown import rendered
from studies.selectors.recruiting import has_timed_out
from studies.services.entrance import is_trial
from studies.services.entry_limits import TooOften
from studies.services.leaving import WayOut
from studies.views.participant.language import switches

# What is said where the researcher wrote nothing of their own for an outcome.
OUTCOMES = {
    ParticipantStatus.SCREENED_OUT: gettext_lazy("The study ends here for you. That says nothing about you."),
    ParticipantStatus.QUOTA_FULL: gettext_lazy("We have reached the number of people we need."),
    ParticipantStatus.WITHDRAWN: gettext_lazy("You have withdrawn. What you gave us is erased."),
    ParticipantStatus.RETURNED: gettext_lazy("You gave your place back, so the study ends here for you."),
    ParticipantStatus.ATTENTION_FAILED: gettext_lazy("The study ends here for you."),
}
TIMED_OUT = gettext_lazy("The time that the site you came from gives has run out, so the study ends here for you.")


def is_part(request: HttpRequest) -> bool:
    """Whether a part of a page asks, rather than the address bar."""
    return bool(request.headers.get("HX-Request"))


def titled(study: Study, language: str) -> Study:
    """The study with the title that participants see, which is the researcher's text in their language."""
    study.public_title = written.texts_of(study, language).get("title") or study.title  # type: ignore[attr-defined]
    return study


def calm_page(
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
    **context: Any,
) -> HttpResponse:
    """One calm page: what happened, what to do, whom to ask."""
    about = participant.study if participant else study
    spoken = participant.language if participant else language
    shown = {
        "heading": heading,
        "text": text,
        "text_html": rendered(markdown) if markdown else "",
        "step": "message",
        "code": participant.code if participant else "",
        "study": titled(about, spoken) if about else None,
        "contact": written.contact_of(about, spoken) if about else "",
        "installation_contact": "" if about else settings.CONTACT,
        "languages": switches(request, about, spoken) if about else (),
        "action_url": action_url,
        **context,
    }
    return render(request, "participant/message.html", shown, status=status)


def too_often_page(request: HttpRequest, refusal: TooOften, *, study: Study, language: str) -> HttpResponse:
    """Say when to try again; a form that was sent comes along, to be sent again as it is."""
    if is_part(request):
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
    request: HttpRequest, participant: Participant, *, withdraw_url: str, way: WayOut | None = None, exit_url: str = ""
) -> HttpResponse | None:
    """The page of someone whose part is over or whose study rests, or None while they may go on."""
    study, status = participant.study, participant.status
    texts = written.texts_of(study, participant.language)
    if status in OUTCOMES:
        # A panel's timed-out submissions are among those returned; nobody gave anything back.
        is_late = status == ParticipantStatus.RETURNED and has_timed_out(participant)
        own = (way.text.get(participant.language) if way else "") or texts.get("timed_out" if is_late else status, "")
        said = TIMED_OUT if is_late else OUTCOMES[ParticipantStatus(status)]
        words: dict[str, Any] = {"markdown": own} if own else {"text": said}
        left = "" if status == ParticipantStatus.WITHDRAWN else withdraw_url
        out: dict[str, Any] = {"way_out": way, "exit_url": exit_url, "withdraw_url": left}
        return calm_page(request, _("Thank you"), participant=participant, **out, **words)
    if status == ParticipantStatus.COMPLETED or study.status == StudyStatus.LIVE:
        return None
    if is_trial(study, participant.mode):
        return None
    if study.status == StudyStatus.CLOSED:
        return calm_page(
            request,
            _("This study has ended"),
            participant=participant,
            markdown=texts.get("closed", ""),
            withdraw_url=withdraw_url,
        )
    if study.archived_at is not None:
        return calm_page(
            request,
            _("This study is not running"),
            text=_("It takes no answers any more. What you gave is kept; you can write to us, or withdraw."),
            participant=participant,
            withdraw_url=withdraw_url,
        )
    return calm_page(
        request,
        _("The study is resting"),
        text=_("Your answers are kept. Please come back later by the same address."),
        participant=participant,
        withdraw_url=withdraw_url,
    )
