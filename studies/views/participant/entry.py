"""Entry: the researcher's text and the consent to it, and the personal link back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from core.errors import ParallaxError
from core.networks import network_of
from studies.enums import Entrance, Mode, StudyStatus
from studies.models import Study
from studies.recruiting import exits
from studies.selectors import pages
from studies.selectors import texts as written
from studies.selectors.consent import current_consent
from studies.selectors.kept import participant_by_entry, study_by_slug
from studies.selectors.markdown import rendered
from studies.selectors.recruiting import HowRecruited, recruiting_of
from studies.services import consenting, doors, entrance, leaving, resuming, tokens
from studies.services.entry_limits import CONSENT, DECLINED, OPENED, TooOften, refuse_if_too_often
from studies.services.entry_links import PARAMETER, read_entry
from studies.services.external_ids import known_id
from studies.services.previewing import choose_condition, chosen_ticket
from studies.views.participant import language as spoken
from studies.views.participant.caching import never_kept
from studies.views.participant.calm import calm_page, titled, too_often_page
from studies.views.participant.visit import METHODS, Visit, of_participant

REMEMBER_SALT = "parallax.remember"
REMEMBER_SECONDS = 60 * 24 * 3600
NOT_KEPT = (PARAMETER, spoken.PARAMETER)  # parameters of ours: what else the link has is kept as it came


@login_not_required
@never_kept
@require_http_methods(METHODS)
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the researcher's text; only the press of the button makes a participant."""
    return _at_the_door(request, slug, lambda study, language: _consent(request, study, language))


@login_not_required
@never_kept
@require_http_methods(METHODS)
def by_personal_link(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """The same by a link that enrols one participant and hands over to their browser, once."""
    return _at_the_door(request, slug, lambda study, language: _personal(request, study, language, key))


@login_not_required
@never_kept
@require_safe
def hand_over(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Between interviewer and interviewee: nobody is signed in on this device any more, and nothing has begun."""

    def page(study: Study, language: str) -> HttpResponse:
        return calm_page(
            request,
            _("Please pass the device on"),
            text=_("The next page is for the person who takes part. The interviewer is signed out of this device."),
            study=study,
            language=language,
            action_url=spoken.with_language(request, reverse("participant:personal", args=[slug, key])),
            action_text=_("I am the one who takes part"),
        )

    return _at_the_door(request, slug, page)


@login_not_required
@never_kept
@require_safe
def declined(request: HttpRequest, slug: str) -> HttpResponse:
    """Thank whoever said no. Loaded again, it counts nobody."""

    def page(study: Study, language: str) -> HttpResponse:
        return calm_page(
            request,
            _("Thank you all the same"),
            markdown=written.texts_of(study, language).get("declined", "") or _("Nothing about you was stored."),
            study=study,
            language=language,
        )

    return _at_the_door(request, slug, page)


def _at_the_door(request: HttpRequest, slug: str, page: Callable[[Study, str], HttpResponse]) -> HttpResponse:
    """A page before consent, in the language that the link, the browser or the study says."""
    study = study_by_slug(slug)
    if study is None:
        with translation.override(spoken.browser_language(request)):
            return calm_page(
                request,
                _("There is no study here"),
                text=_("Please check that the link is complete, or ask the people who sent it to you."),
                status=404,
            )
    language = spoken.first_language(request, study)
    with translation.override(language):
        response = page(titled(study, language), language)
    response.headers["Content-Language"] = language
    return response


def _personal(request: HttpRequest, study: Study, language: str, key: str) -> HttpResponse:
    if not doors.is_personal(study=study, entry_key=key):
        text = _("Please check that the link is complete, or ask the people who sent it to you.")
        return calm_page(request, _("This link does not work"), text=text, study=study, language=language, status=404)
    participant = participant_by_entry(study, tokens.digest_of_key(key))
    may_continue = participant is not None and tokens.may_continue(participant, _browser_key(request, key))
    if may_continue and request.method != "POST":
        token = tokens.link_token(study=study, entry_key=key)
        return redirect(spoken.with_language(request, reverse("participant:resume", args=[token])))
    return _consent(request, study, language, personal=key)


def _consent(request: HttpRequest, study: Study, language: str, *, personal: str = "") -> HttpResponse:
    texts = written.texts_of(study, language)
    source = request.POST if request.method == "POST" else request.GET
    signed = source.get(f"param:{PARAMETER}" if request.method == "POST" else PARAMETER, "")
    try:
        mode, key = read_entry(study=study, signed=signed)
    except ParallaxError as refusal:
        return calm_page(request, _("This link does not work"), text=refusal.message, study=study, language=language)
    key = personal or key
    is_post = request.method == "POST"
    network = network_of(request.META["REMOTE_ADDR"])
    parameters = _parameters(request)
    said = {name: value for name, value in parameters if name not in NOT_KEPT}
    recruiting = recruiting_of(study)
    limited: dict[str, Any] = {"study_id": study.pk, "network": network, "mode": mode, "recruiting": recruiting}
    if not is_post and mode == Mode.LIVE and not key and (token := _remembered(request, study, recruiting, said)):
        return redirect(spoken.with_language(request, reverse("participant:resume", args=[token])))
    entry_key = key or request.POST.get("entry_key", "")
    external = known_id(study=study, panel=recruiting.panel, parameters=said) if mode == Mode.LIVE else None
    # A consent form that was sent before: pressed twice, it leads to the same participant.
    entered = participant_by_entry(study, tokens.digest_of_key(entry_key)) if entry_key else None
    has_entered = entered is not None
    browser_key = _browser_key(request, entry_key)
    if entered is not None and not tokens.may_continue(entered, browser_key):
        if external is not None and external.participant_id == entered.pk:
            return _welcome_back(request, study, language, recruiting, parameters, said)
        return _link_used(request, study, language)
    if personal and not browser_key:
        browser_key = tokens.new_entry_key()
    if external is not None and not has_entered:
        return _welcome_back(request, study, language, recruiting, parameters, said)
    is_looking = mode == Mode.LIVE and recruiting.panel.is_preview(said)
    if not is_looking and request.POST.get("choice") != "no" and not has_entered:
        try:
            doors.door_of(study=study, mode=mode, entry_key=entry_key, parameters=said, recruiting=recruiting)
        except ParallaxError as refusal:
            if refusal.code == "study.took_part_before":
                return _took_part_before(request, study, language, recruiting, said, refusal.message)
            heading = _("This study is by invitation")
            return calm_page(request, heading, text=refusal.message, study=study, language=language)
    if (
        request.POST.get("choice") != "no"
        and not has_entered
        and (shut := _shut(request, study, language, mode, recruiting, said))
    ):
        return shut
    if request.method != "POST":
        if request.method == "GET" and not is_looking:
            try:
                refuse_if_too_often(action=OPENED, **limited)
            except TooOften as refusal:
                return too_often_page(request, refusal, study=study, language=language)
            consenting.note_opened(study=study, mode=mode)
        entry_key = key or tokens.new_entry_key()
        return _consent_page(
            request, study, language, entry_key, parameters, is_looking=is_looking, browser_key=browser_key
        )
    if request.POST.get("choice") == "no":
        back = tokens.link_token(study=study, entry_key=entry_key) if has_entered else ""
        if not back and mode == Mode.LIVE and not key:  # they may have agreed in another tab
            back = _remembered(request, study, recruiting, said)
        if back:
            return redirect("participant:resume", token=back)
        if not is_looking:
            with contextlib.suppress(TooOften):  # who declines is thanked; too many are not counted
                refuse_if_too_often(action=DECLINED, **limited)
                consenting.decline(study=study, entry_key=entry_key, mode=mode)
        done = reverse("participant:declined", args=[study.slug])
        return redirect(f"{done}?{urlencode({spoken.PARAMETER: language})}")
    ticked = request.POST.getlist("box")
    if len(set(ticked)) < len(texts.get("consent_boxes", ())):
        error = _("To take part, please tick every box.")
        return _consent_page(
            request, study, language, entry_key, parameters, ticked=ticked, error=error, browser_key=browser_key
        )
    try:
        if not has_entered:
            refuse_if_too_often(action=CONSENT, **limited)
        entry = consenting.consent(
            study=study,
            entry_key=entry_key,
            mode=mode,
            language=language,
            parameters=said,
            consent_version=_shown_version(request),
            recruiting=recruiting,
            browser_key=browser_key,
        )
    except TooOften as refusal:
        return too_often_page(request, refusal, study=study, language=language)
    except ParallaxError as refusal:
        if refusal.code == "study.link_used":  # by another browser, at the same instant
            return _link_used(request, study, language)
        if refusal.code == "study.known_id":  # from another device, at the same instant
            return _welcome_back(request, study, language, recruiting, parameters, said)
        if refusal.code == "study.consent_changed":
            error = refusal.message
            return _consent_page(request, study, language, entry_key, parameters, error=error, browser_key=browser_key)
        return calm_page(
            request,
            _("One moment, please"),
            text=refusal.message,
            study=study,
            language=language,
            action_url=request.get_full_path(),
        )
    if mode == Mode.PREVIEW and (ticket := chosen_ticket(study=study, signed=signed)) is not None:
        choose_condition(participant=entry.participant, ticket=ticket)
    response = redirect("participant:resume", token=entry.token)
    remembered: dict[str, Any] = {
        "max_age": REMEMBER_SECONDS, "httponly": True, "samesite": "Lax", "secure": request.is_secure()
    }  # fmt: skip
    if mode == Mode.LIVE and not personal:
        response.set_cookie(_cookie_name(study), signing.dumps(entry.token, salt=REMEMBER_SALT), **remembered)
    elif entry.participant.entrance == Entrance.PERSONAL:  # an interview's device is shared, and remembers nobody
        # Only together with the link: the device may be shared, and the study's own link leads nobody here.
        response.set_cookie(_link_cookie(personal), browser_key, path=request.path, **remembered)
    return response


def _took_part_before(
    request: HttpRequest, study: Study, language: str, recruiting: HowRecruited, said: dict[str, str], message: str
) -> HttpResponse:
    """Somebody from an earlier study that this one excludes leaves by the exit of those who are screened out."""
    way = leaving.way_out_at_the_door(
        recruiting=recruiting, outcome=exits.SCREENED_OUT, parameters=said, mode=Mode.LIVE
    )
    heading = _("Thank you for your interest")
    words = way.text.get(language, "")
    shown: dict[str, Any] = {"markdown": words} if words else {"text": message}
    return calm_page(request, heading, study=study, language=language, **shown, way_out=way, exit_url=way.url)


def _browser_key(request: HttpRequest, entry_key: str) -> str:
    """The random key of the browser that opened a personal link: from its consent form, or as it was remembered."""
    return request.POST.get("browser_key", "") or request.COOKIES.get(_link_cookie(entry_key), "")


def _link_cookie(entry_key: str) -> str:
    return f"parallax_link_{tokens.digest_of_key(entry_key)[:16]}"


def _link_used(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    """Say that a personal link has handed over to another browser, and how to continue."""
    text = _(
        "It opens the study once. To continue, use the device and browser where you began, or the address of the page "
        "that you were on. If you have neither, please ask the people who sent you the link."
    )
    heading = _("This link has been used")
    return calm_page(request, heading, text=text, study=study, language=language, status=410)


def _welcome_back(
    request: HttpRequest,
    study: Study,
    language: str,
    recruiting: HowRecruited,
    parameters: list[tuple[str, str]],
    said: dict[str, str],
) -> HttpResponse:
    """Somebody known by an id of another site: a press leads to their next open step, and opening the link to none."""
    context = {"step": "message", "study": study, "contact": written.contact_of(study, language)}
    if request.POST.get("choice") != "resume":
        context |= {"parameters": parameters, "languages": spoken.switches(request, study, language)}
        return render(request, "participant/welcome_back.html", {**context, "language": language})
    try:
        token = resuming.resume_known(study=study, recruiting=recruiting, parameters=said)
    except ParallaxError as refusal:
        return calm_page(request, _("One moment, please"), text=refusal.message, study=study, language=language)
    return redirect("participant:resume", token=token)


def _shut(
    request: HttpRequest, study: Study, language: str, mode: str, recruiting: HowRecruited, said: dict[str, str]
) -> HttpResponse | None:
    """The calm page of a study that takes nobody now, or None; from a full one it leads back to the panel."""
    try:
        entrance.refuse_unless_room(study=study, mode=mode)
    except ParallaxError as refusal:
        texts = written.texts_of(study, language)
        out: dict[str, Any] = {}
        if refusal.code == "study.full":
            way = leaving.way_out_at_the_door(
                recruiting=recruiting, outcome=exits.QUOTA_FULL, parameters=said, mode=mode
            )
            out = {"way_out": way, "exit_url": way.url}
            heading = _("Thank you for your interest")
            words = way.text.get(language) or texts.get("quota_full", "")
        elif study.status == StudyStatus.CLOSED:
            heading, words = _("This study has ended"), texts.get("closed", "")
        elif study.archived_at is not None:
            heading, words = _("This study is not running"), ""
        elif study.status == StudyStatus.PAUSED:
            heading, words = _("The study is resting"), ""
        else:
            heading, words = _("This study has not begun"), ""
        shown = {"markdown": words} if words else {"text": f"{refusal.message} {_what_to_do(study)}".strip()}
        return calm_page(request, heading, study=study, language=language, **shown, **out)
    return None


def _parameters(request: HttpRequest) -> list[tuple[str, str]]:
    """The link's query parameters, which the form sends along."""
    if request.method != "POST":
        return _pairs(request.GET)
    return [(name[6:], value) for name, value in _pairs(request.POST) if name.startswith("param:")]


def _what_to_do(study: Study) -> str:
    """What someone can do who came while nobody is let in."""
    if study.archived_at is not None:
        return _("If somebody sent you this link, please ask them.")
    if study.status in (StudyStatus.PAUSED, StudyStatus.DRAFT):
        return _("Please come back later by the same link.")
    return ""


def _shown_version(request: HttpRequest) -> int | None:
    """The number of the consent text that was on the page, as its form says it."""
    shown = request.POST.get("consent_version", "")
    return int(shown) if shown.isdecimal() and len(shown) < 10 else None


def _pairs(query: QueryDict) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in query.items()]


def _consent_page(
    request: HttpRequest,
    study: Study,
    language: str,
    entry_key: str,
    parameters: list[tuple[str, str]],
    *,
    ticked: list[str] | None = None,
    error: str = "",
    is_looking: bool = False,
    browser_key: str = "",
) -> HttpResponse:
    texts = written.texts_of(study, language)
    version = current_consent(study)
    boxes = [{"key": str(number), "text": text} for number, text in enumerate(texts.get("consent_boxes", ()), 1)]
    context = {
        "study": study,
        "step": "consent",
        "way": pages.way_at("consent", has_after=bool(study.questionnaire.get("after"))),
        "consent_html": rendered(texts.get("consent", "")),
        "boxes": boxes,
        "ticked": ticked or [],
        "entry_key": entry_key,
        "browser_key": browser_key,
        "consent_version": version.number if version else "",
        "parameters": parameters,
        "error": error,
        "is_looking": is_looking,
        "language": language,
        "languages": spoken.switches(request, study, language),
        "contact": written.contact_of(study, language),
    }
    return render(request, "participant/consent.html", context)


def _cookie_name(study: Study) -> str:
    return f"parallax_study_{study.pk}"


def _remembered(request: HttpRequest, study: Study, recruiting: HowRecruited, said: dict[str, str]) -> str:
    """The token that this browser was given for the study, so that the study's own link leads back too.

    A link that names somebody else is theirs: devices are shared.
    """
    try:
        token = str(
            signing.loads(request.COOKIES.get(_cookie_name(study), ""), salt=REMEMBER_SALT, max_age=REMEMBER_SECONDS)
        )
        participant = resuming.resume(token=token)
    except (signing.BadSignature, ParallaxError):
        return ""
    who = recruiting.panel.who(said)
    is_theirs = who is None or participant.external_ids.filter(name=who[0], value=who[1]).exists()
    return token if is_theirs else ""


@of_participant
def resume_by_link(visit: Visit) -> HttpResponse:
    """The personal link: lead to where the participant stands."""
    return visit.lead_to(visit.here)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say calmly that a form came without its cookie; only the forms that no personal link opens ask for one."""
    with translation.override(spoken.browser_language(request)):
        return calm_page(
            request,
            _("Please press once more"),
            text=_("This page was open for long, or your browser kept no cookie of ours. Open it again and go on."),
            action_url=request.get_full_path(),
            status=403,
        )
