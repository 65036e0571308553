"""A participant's visit to one of their pages: identified by the link, in their language, at their current step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from string import ascii_uppercase
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.signing import Signer
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods

from catalog.models import Item
from catalog.selectors.items import item_with_key
from core.errors import ParallaxError
from studies.design.selectors import texts as written
from studies.design.selectors.placeholders import conditions_of, content_of, presentation_of
from studies.enums import Mode, ParticipantStatus, Provenance, StudyStatus
from studies.flow_pages import END, ITEM_QUESTIONS
from studies.instrument.flow import Flow, Place
from studies.instrument.questionnaires.schema import ITEMS
from studies.models import Participant, Study
from studies.participation.selectors import pages
from studies.participation.selectors.participant_rows import answers_by_rank, questionnaires_of
from studies.participation.services import exit_links, participant_state, resuming
from studies.participation.services.entry_limits import NetworkLimitReached
from studies.participation.services.events import client_time, record_view
from studies.participation.views.language import browser_language, switches, without_language
from studies.participation.views.message_pages import LATE, OUTCOMES, message_page, outcome, titled, too_often_page
from studies.settings import PLAYED

PROVENANCE_HEADER = "X-Answer-Provenance"
ASIDE = frozenset({"details", "withdraw"})  # pages outside the sequence of steps
CLIENT_TIME_HEADER = "X-Client-Time"
AHEAD_HEADER = "X-Ahead"  # of a page that the browser keeps for when it loses its connection
INCOMPLETE = "incomplete"  # in the address of a page to which the end of the study led back
METHODS = ["GET", "HEAD", "POST"]
ON_THEIR_WAY = (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE, ParticipantStatus.COMPLETED)


@dataclass
class Visit:
    """A participant at one of their pages."""

    request: HttpRequest
    participant: Participant
    token: str
    since: datetime | None = None  # arrival by an id of another site: earlier answers are hidden

    @property
    def study(self) -> Study:
        return self.participant.study

    @property
    def links(self) -> pages.Links:
        return pages.Links(self.token)

    @property
    def flow(self) -> Flow:
        return content_of(self.study).flow

    @property
    def list_lengths(self) -> tuple[int, ...]:
        return participant_state.list_lengths(self.participant)

    @property
    def here(self) -> Place:
        return participant_state.place_of(self.participant)

    @property
    def language(self) -> str:
        return self.participant.language

    @property
    def provenance(self) -> str:
        """Provenance of answers; only simulated participants may state anything other than a person."""
        # A header is anyone's to send, so that of a real participant proves nothing.
        if self.participant.mode != Mode.SIMULATED:
            return Provenance.PERSON
        stated = self.request.headers.get(PROVENANCE_HEADER, "")
        return stated if stated in (Provenance.TRUE, Provenance.MODELLED) else Provenance.MODELLED

    @property
    def is_limited(self) -> bool:
        """Whether they may only continue; earlier answers are shown by the personal link alone."""
        return self.since is not None

    @property
    def is_waiting(self) -> bool:
        return self.participant.waiting_since is not None

    @property
    def is_outside(self) -> bool:
        """Whether they have no slot and cannot get one now, so that they may return to the site they came from."""
        is_paused = self.study.status == StudyStatus.PAUSED
        return self.is_waiting or (is_paused and self.participant.status == ParticipantStatus.CONSENTED)

    @property
    def withdraw_url(self) -> str:
        return "" if self.is_limited else self.links.of("withdraw")

    def visible_answers(self, occasion: int = 1) -> dict[int, dict[str, Any]]:
        """Their answers as they may be shown on pages of an occasion: rank → question → value."""
        return answers_by_rank(self.participant, occasion, self.since)

    def cards_at(self, at: Place) -> list[pages.Card]:
        """The cards of the list that a page is about."""
        return pages.recommended_cards(self.participant, at.occasion, links=self.links)

    def lists_shown(self, at: Place) -> list[dict[str, Any]]:
        """The lists of a page from left to right as their conditions show them, for the template of their cards."""
        lists = []
        n_sides = len(conditions_of(self.participant)[at.occasion - 1])
        for side in range(1, n_sides + 1):
            slots = pages.recommended_cards(self.participant, at.occasion, side, links=self.links)
            shown = presentation_of(self.participant, at.occasion, side)
            rows = pages.carousel_rows(self.study, slots, shown.carousel_by) if shown.carousel_by else []
            letter = ascii_uppercase[side - 1] if n_sides > 1 else ""
            lists.append({"slots": slots, "layout": shown.layout, "rows": rows, "letter": letter})
        return lists

    def thumbs(self, cards: list[pages.Card], at: Place) -> list[pages.Thumb]:
        answers = answers_by_rank(self.participant, at.occasion)  # whether an item was answered may be shown
        of_items, own = questionnaires_of(self.participant, at.occasion), answers.get(0, {})
        thumbs = []
        asked_at = self.flow.key_of(ITEM_QUESTIONS)
        for card in cards:
            if not asked_at:
                thumbs.append(pages.Thumb(card.title, card.poster_url, "", "", is_done=False))
                continue
            page = Place(asked_at, card.rank, at.occasion)
            is_done = not of_items(card.rank).missing(ITEMS, {**own, **answers.get(card.rank, {})})
            url = self.links.to(page) if self.flow.may_look(self.here, page) and not self.is_limited else ""
            state = "now" if card.rank == at.rank else "done" if is_done else ""
            thumbs.append(pages.Thumb(card.title, card.poster_url, url, state, is_done))
        return thumbs

    @property
    def is_htmx(self) -> bool:
        """Whether a part of the page asks, rather than the address bar."""
        return "HX-Request" in self.request.headers

    @property
    def is_ahead(self) -> bool:
        """Whether the browser fetches a page of a list that exists, before the participant has come to it."""
        is_asked = self.request.method == "GET" and AHEAD_HEADER in self.request.headers
        return is_asked and not self.is_limited and self.flow.is_after_ratings(self.here)

    @property
    def client_at(self) -> datetime | None:
        return client_time(self.request.headers.get(CLIENT_TIME_HEADER) or self.request.GET.get("at"))

    @property
    def is_leaving(self) -> bool:
        return "continue" in self.request.POST

    def redirect_to_page(self, page: Place) -> HttpResponse:
        return self.go(self.links.to(page))

    def go(self, url: str) -> HttpResponse:
        # htmx follows a plain redirect itself and would put the whole page into a part of this one.
        return HttpResponse(headers={"HX-Redirect": url}) if self.is_htmx else HttpResponseRedirect(url)

    def back_url(self, page: Place) -> str:
        """The address of the page before this one; empty where it cannot be opened any more."""
        before = self.flow.neighbour(page, -1, self.list_lengths)
        is_open = before != page and (self.is_ahead or self.flow.may_look(self.here, before)) and not self.is_limited
        return self.links.to(before) if is_open else ""

    def next_url(self, page: Place) -> str:
        """The address of the page after this one, for browsers that lose their connection; empty where it needs the
        server.
        """
        following = self.flow.neighbour(page, 1, self.list_lengths)
        needs_server = self.flow.page(following.page).kind == END or not self.flow.is_after_ratings(page)
        return "" if needs_server else self.links.to(following)

    def redirect_to_missing(self, missing: Mapping[str, Any]) -> HttpResponse:
        """Redirect to the first page with a missing answer; `missing` are questions by what they are about."""
        questionnaire = content_of(self.study).questionnaire

        def lacks(place: Place) -> bool:
            keys = {question.key for question in questionnaire.block(self.flow.page(place.page).block)}
            return not keys.isdisjoint(missing.get(place.about, ()))

        page = next(filter(lacks, self.flow.places(self.list_lengths)))
        return self.go(f"{self.links.to(page)}?{INCOMPLETE}={self._mark_of(page)}")

    def is_incomplete(self, page: Place) -> bool:
        """Whether the end led them back to this page, as a signature in the address shows."""
        mark = self.request.GET.get(INCOMPLETE, "")
        if not mark or not self.flow.may_look(self.here, page):
            return False
        # In constant time, so that a mark cannot be guessed byte by byte.
        return constant_time_compare(mark, self._mark_of(page))

    def address_of(self, page: Place) -> str:
        """The address of the current page, with its signature if the end led back to it."""
        return self.request.get_full_path() if self.is_incomplete(page) else self.links.to(page)

    def _mark_of(self, page: Place) -> str:
        return Signer(salt="parallax.incomplete").signature(f"{self.token} {page.page} {page.about}")

    def over(self) -> HttpResponse | None:
        """The message page of a participant who cannot continue, or None; htmx requests redirect the whole page."""
        # Asked at every request, so those who are on their way cost nothing: neither texts nor an exit are looked up.
        if self.study.status == StudyStatus.LIVE and self.participant.status in ON_THEIR_WAY and not self.is_waiting:
            return None
        leave = exit_links.exit_without_slot if self.is_outside else exit_links.exit_link_of
        exit_link = leave(participant=self.participant)
        shown = self.shown_exit(exit_link)
        page = outcome(self.request, self.participant, withdraw_url=self.withdraw_url, exit_link=shown)
        is_polled = self.is_waiting and self.study.status == StudyStatus.LIVE
        if page is not None and self.is_htmx and not is_polled:
            late = f"?{LATE}" if self.request.method == "POST" else ""
            page = self.go(self.links.of("resume") + late)
            if late and self.study.status == StudyStatus.PAUSED and self.participant.status not in OUTCOMES:
                page.status_code = 423  # "Locked": the browser keeps what it sent until the study continues
        return page

    def shown_exit(self, exit_link: exit_links.ExitLink | None) -> exit_links.ExitLink | None:
        """The exit as their page shows it: by an address of its own, which records that they left."""
        if exit_link is None or not exit_link.url:
            return exit_link
        # Exits of participants who withdrew are not recorded, and others may still come back: they leave directly.
        is_gone = self.is_outside or self.participant.status == ParticipantStatus.WITHDRAWN
        return exit_link if is_gone else replace(exit_link, url=self.links.of("exit"))

    def page(self, template: str, at: Place, **context: Any) -> HttpResponse:
        """Show one of their pages and record the view; `at` is the page marked in the progress bar."""
        is_aside = template in ASIDE
        if self.request.method == "GET" and not (self.is_htmx or self.is_ahead or is_aside):
            record_view(participant=self.participant, kind="page_view", at=at)
        design, content = self.study.design, content_of(self.study)
        whole = {
            "page_of_events": at.page,
            "kind": "" if is_aside else self.flow.page(at.page).kind,
            "rank": at.rank,
            "occasion": at.occasion,
            "part": pages.part_of_lists(content, at),
            "events_url": "" if is_aside else self.links.of("events"),
            "scope": "" if self.is_limited else self.links.of("resume"),
            "study": titled(self.study, self.language),
            "participant": self.participant,
            "is_limited": self.is_limited,
            "progress": pages.progress_at(content, at, self.language, chooses=design.is_choice),
            "chooses": design.is_choice,
            "step": at.page,
            "picture": design.kind_of_item.picture,
            "withdraw_url": self.withdraw_url,
            "contact": written.contact_of(self.study, self.language),
            "records_played": PLAYED in design.recorded,
            "languages": switches(self.request, self.study, self.language),
            **context,
        }
        return render(self.request, f"participant/{template}.html", whole)


def item_of_study(visit: Visit, item_id: int) -> Item:
    """The item with this key in the study's catalogue; raises Http404."""
    item = item_with_key(visit.study.dataset_version, item_id)
    if item is None:
        raise Http404("The study's catalogue has no such item.")
    return item


ParticipantView = Callable[..., HttpResponse]


def of_participant(view: Callable[..., HttpResponse], *, even_when_over: bool = False) -> ParticipantView:
    """Open a page to the holder of the token in its address, in their language.

    These pages are opened by their address alone, without a cookie. Another site therefore cannot make a browser act
    for a participant: a CSRF token would protect nothing, and a lost cookie could lose an answer.
    `even_when_over`: also after their part has ended or while the study is paused.
    """

    @login_not_required
    @csrf_exempt
    @never_cache
    @gzip_page  # the page's only secret is its own address, so its length reveals nothing
    @require_http_methods(METHODS)
    @wraps(view)
    def opened(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponse:
        try:
            participant, since = resuming.arrival_of(token=token, network=request.META["REMOTE_ADDR"])
        except resuming.LinkExpired as refusal:
            return _too_late(request, refusal)
        except ParallaxError:
            return _unknown(request)
        visit = Visit(request, participant, token, since)
        if chosen := request.GET.get("lang") if request.method != "POST" else None:
            participant_state.change_language(participant=participant, language=chosen)
            # Redirected, so that a reload, or the address in the history, does not choose the language again.
            return HttpResponseRedirect(without_language(request))
        with translation.override(visit.language):
            is_erased = participant.status == ParticipantStatus.WITHDRAWN
            if (is_erased or not even_when_over) and (over := visit.over()):
                return over
            try:
                response = view(visit, **kwargs)
            except ParallaxError as refusal:
                response = _refused(visit, refusal)
            except Http404:
                response = _not_found(visit)
        response.headers["Content-Language"] = visit.language
        return response

    return opened


def _unknown(request: HttpRequest) -> HttpResponse:
    with translation.override(browser_language(request)):
        # The service wrote its message before the language was known.
        text = _(
            "This link does not belong to any participant. Please check that it is complete, or ask the people who "
            "sent it to you."
        )
        return message_page(request, _("This link is not valid"), text=text, status=404)


def _too_late(request: HttpRequest, refusal: resuming.LinkExpired) -> HttpResponse:
    participant = refusal.participant
    chosen = request.GET.get("lang", "")
    language = chosen if chosen in written.languages_of(participant.study) else participant.language
    with translation.override(language):
        text = str(resuming.TOO_LATE[refusal.code])
        if "HX-Request" in request.headers:
            response = HttpResponse(text, status=409, content_type="text/plain; charset=utf-8")
        else:
            heading = _("Your session has expired")
            response = message_page(request, heading, text=text, study=participant.study, language=language)
    response.headers["Content-Language"] = language
    return response


def _not_found(visit: Visit) -> HttpResponse:
    return message_page(
        visit.request,
        _("Page not found"),
        text=_("The address may be incomplete. Your answers are saved."),
        participant=visit.participant,
        action_url=visit.links.to(visit.here),
        action_text=_("Back to the study"),
        status=404,
    )


def _refused(visit: Visit, refusal: ParallaxError) -> HttpResponse:
    if isinstance(refusal, NetworkLimitReached):
        return too_often_page(visit.request, refusal, study=visit.study, language=visit.language)
    # The refused service may have changed the instance before its transaction was rolled back.
    visit.participant.refresh_from_db()
    if over := visit.over():  # the study or their part in it has ended meanwhile
        return over
    if refusal.code in ("study.out_of_order", "study.not_active"):
        # Another tab or an earlier press was faster.
        return visit.redirect_to_page(visit.here)
    if visit.is_htmx:
        return HttpResponse(refusal.message, status=409, content_type="text/plain; charset=utf-8")
    return message_page(
        visit.request,
        _("One moment, please"),
        text=refusal.message,
        participant=visit.participant,
        action_url=reverse("participant:resume", args=[visit.token]),
    )
