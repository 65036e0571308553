"""Entry: the researcher's text and the consent to it, and the personal link back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from core.errors import ParallaxError
from core.networks import network_of
from studies.design.selectors import texts as written
from studies.enums import Entrance, Mode
from studies.models import Study
from studies.participation.selectors.participant_rows import participant_by_entry, study_by_slug
from studies.participation.services import consenting, entry_gate, resuming
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services.entry_limits import DECLINED, OPENED, NetworkLimitReached
from studies.participation.views import entry_pages
from studies.participation.views import language as spoken
from studies.participation.views.message_pages import message_page, titled
from studies.participation.views.visit import METHODS, Visit, of_participant
from studies.recruitment.services import tokens
from studies.recruitment.services.entry_links import PARAMETER, read_entry

REMEMBER_SALT = "parallax.remember"
REMEMBER_SECONDS = 60 * 24 * 3600
NOT_STORED = (PARAMETER, spoken.PARAMETER)  # our own parameters; all others are stored unchanged


def before_consent(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Open a page of a study to visitors, in the language of the link, the browser or the study."""

    @login_not_required
    @never_cache
    @require_http_methods(METHODS)
    @wraps(view)
    def opened(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        study = study_by_slug(slug)
        if study is None:
            with translation.override(spoken.browser_language(request)):
                text = _("Please check that the link is complete, or ask the people who sent it to you.")
                return message_page(request, _("Study not found"), text=text, status=404)
        language = spoken.first_language(request, study)
        with translation.override(language):
            response = view(request, titled(study, language), language, **kwargs)
        response.headers["Content-Language"] = language
        return response

    return opened


@require_safe
@before_consent
def hand_over(request: HttpRequest, study: Study, language: str, key: str) -> HttpResponse:
    """Between interviewer and interviewee: the interviewer is signed out, and the study has not started."""
    return message_page(
        request,
        _("Please hand over the device"),
        text=_("The next page is for the person who takes part. The interviewer is signed out of this device."),
        study=study,
        language=language,
        action_url=spoken.with_language(request, reverse("participant:personal", args=[study.slug, key])),
        action_text=_("I am the participant"),
    )


@require_safe
@before_consent
def declined(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    """Thank a visitor who declined. Reloading is not counted."""
    words = written.texts_of(study, language).get("declined", "") or _("Nothing about you has been stored.")
    return message_page(request, _("Thank you for your time"), markdown=words, study=study, language=language)


@before_consent
def by_personal_link(request: HttpRequest, study: Study, language: str, key: str) -> HttpResponse:
    """Consent by a personal link, which enrols one participant and is then bound to their browser."""
    if not entry_gate.is_personal(study=study, entry_key=key):
        text = _("Please check that the link is complete, or ask the people who sent it to you.")
        return message_page(request, _("This link is not valid"), text=text, study=study, language=language, status=404)
    participant = participant_by_entry(study, tokens.digest_of_key(key))
    # Participants from before the prefix have their key under the name without it; newcomers' keys are not read there.
    keys = (_browser_key(request, key), request.COOKIES.get(_link_cookie(key), ""))
    may_continue = participant is not None and any(tokens.may_continue(participant, each) for each in keys)
    if may_continue and request.method != "POST":
        token = tokens.link_token(study=study, entry_key=key)
        return redirect(spoken.with_language(request, reverse("participant:resume", args=[token])))
    return _consent(request, study, language, personal=key)


@before_consent
def consent(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    """Show the consent text; only pressing the button creates a participant."""
    return _consent(request, study, language)


def _consent(request: HttpRequest, study: Study, language: str, *, personal: str = "") -> HttpResponse:
    try:
        attempt = _attempt(request, study, language, personal)
    except ParallaxError as refusal:
        return message_page(request, _("This link is not valid"), text=refusal.message, study=study, language=language)
    try:
        if token := _remembered(request, attempt):  # perhaps by another tab, where they consented meanwhile
            return redirect(spoken.with_language(request, reverse("participant:resume", args=[token])))
        if request.method != "POST":
            return _opened(request, attempt)
        if request.POST.get("choice") == "no":
            return _declined(attempt)
        return _agreed(request, attempt, personal)
    except ParallaxError as refusal:
        return entry_pages.refused(request, attempt, refusal)


def _attempt(request: HttpRequest, study: Study, language: str, personal: str) -> EntryAttempt:
    is_post = request.method == "POST"
    signed = request.POST.get(f"param:{PARAMETER}", "") if is_post else request.GET.get(PARAMETER, "")
    mode, signed_key, ticket = read_entry(study=study, signed=signed)
    entry_key = personal or signed_key or request.POST.get("entry_key", "")
    own = {name: value for name, value in entry_pages.parameters_of(request) if name not in NOT_STORED}
    shown = request.POST.get("consent_version", "")
    return EntryAttempt(
        study=study,
        entry_key=entry_key,
        mode=mode,
        language=language,
        parameters=own,
        # Bounded, as it comes from a form: a longer number would overflow the database's integer.
        consent_version=int(shown) if shown.isdecimal() and len(shown) < 10 else None,
        browser_key=_browser_key(request, entry_key) or (tokens.new_entry_key() if personal else ""),
        network=network_of(request.META["REMOTE_ADDR"]),
        is_individual=bool(personal or signed_key),
        ticket=ticket,
    )


def _opened(request: HttpRequest, attempt: EntryAttempt) -> HttpResponse:
    if entry_gate.entered_participant(attempt) is None:
        entry_gate.require_admission(attempt)
    if request.method == "GET" and not attempt.is_looking:
        entry_gate.count_action(attempt, OPENED)
        consenting.note_opened(study=attempt.study, mode=attempt.mode)
    return entry_pages.consent_page(request, attempt)


def _declined(attempt: EntryAttempt) -> HttpResponse:
    study = attempt.study
    if entry_gate.entered_participant(attempt) is not None:
        return redirect("participant:resume", token=tokens.link_token(study=study, entry_key=attempt.entry_key))
    if not attempt.is_looking:
        with contextlib.suppress(NetworkLimitReached):  # beyond the limit, visitors are thanked but not counted
            entry_gate.count_action(attempt, DECLINED)
            consenting.decline(study=study, entry_key=attempt.entry_key, mode=attempt.mode)
    page = reverse("participant:declined", args=[study.slug])
    return redirect(f"{page}?{urlencode({spoken.PARAMETER: attempt.language})}")


def _agreed(request: HttpRequest, attempt: EntryAttempt, personal: str) -> HttpResponse:
    if entry_gate.entered_participant(attempt) is None:
        entry_gate.require_admission(attempt)
    ticked = request.POST.getlist("box")
    boxes = written.texts_of(attempt.study, attempt.language).get("consent_boxes", ())
    # A set, because the same box may be sent several times.
    if len(set(ticked)) < len(boxes):
        return entry_pages.consent_page(
            request, attempt, ticked=ticked, error=_("To take part, please tick every box.")
        )
    entry = consenting.consent(attempt)
    response = redirect("participant:resume", token=entry.token)
    cookie: dict[str, Any] = {
        "max_age": REMEMBER_SECONDS, "httponly": True, "samesite": "Lax",
        "secure": request.is_secure() or bool(settings.COOKIE_PREFIX),
    }  # fmt: skip
    prefix = settings.COOKIE_PREFIX
    if attempt.mode == Mode.LIVE and not personal:
        value = signing.dumps(entry.token, salt=f"{prefix}{REMEMBER_SALT}")
        response.set_cookie(f"{prefix}{_cookie_name(attempt.study)}", value, **cookie)
    elif entry.participant.entrance == Entrance.PERSONAL:  # an interview's device is shared: no cookie
        # Only together with the link: the device may be shared, and the study's own link does not lead here.
        response.set_cookie(f"{prefix}{_link_cookie(personal)}", attempt.browser_key, **cookie)
    return response


def _browser_key(request: HttpRequest, entry_key: str) -> str:
    name = f"{settings.COOKIE_PREFIX}{_link_cookie(entry_key)}"
    return request.POST.get("browser_key", "") or request.COOKIES.get(name, "")


def _link_cookie(entry_key: str) -> str:
    return f"parallax_link_{tokens.digest_of_key(entry_key)[:16]}"


def _cookie_name(study: Study) -> str:
    return f"parallax_study_{study.pk}"


def _remembered(request: HttpRequest, attempt: EntryAttempt) -> str:
    """The token that this browser was given for the study, so that the study's own link leads back too.

    Empty for a link that enrols one participant, and for one that names another person: devices are shared.
    """
    if attempt.mode != Mode.LIVE or attempt.is_individual:
        return ""
    # A cookie from before the prefix has a signature of its own and expires; none can be made from one of today.
    name = _cookie_name(attempt.study)
    prefix = settings.COOKIE_PREFIX if settings.COOKIE_PREFIX + name in request.COOKIES else ""
    try:
        cookie = request.COOKIES.get(f"{prefix}{name}", "")
        token = str(signing.loads(cookie, salt=f"{prefix}{REMEMBER_SALT}", max_age=REMEMBER_SECONDS))
        participant = resuming.resume(token=token, network=attempt.network)
    except (signing.BadSignature, ParallaxError):
        return ""
    who = attempt.recruiting.panel.identify(attempt.parameters)
    is_theirs = who is None or participant.external_ids.filter(name=who[0], value=who[1]).exists()
    return token if is_theirs else ""


@of_participant
def resume_by_link(visit: Visit) -> HttpResponse:
    """The personal link: redirect to the participant's current step."""
    return visit.redirect_to_page(visit.here)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Explain that a form was sent without its cookie; only forms not opened by a personal link need one."""
    with translation.override(spoken.browser_language(request)):
        return message_page(
            request,
            _("Please press the button again"),
            text=_(
                "This page was open for a long time, or your browser did not accept our cookie. "
                "Open it again and continue."
            ),
            action_url=request.get_full_path(),
            status=403,
        )
