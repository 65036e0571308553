"""A participant at one of their pages: found by the link, in their language, led to where they truly stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.signing import Signer
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from catalog.models import Item
from catalog.selectors.items import item_with_key
from core.errors import ParallaxError
from studies import flow
from studies.enums import Mode, ParticipantStatus, Provenance
from studies.models import Participant, Study
from studies.questionnaires.schema import questionnaire_from
from studies.selectors import pages
from studies.selectors import texts as written
from studies.services import languages, leaving, resuming, standing
from studies.services.entry_limits import TooOften
from studies.services.events import client_time, record_view
from studies.views.participant.caching import never_kept
from studies.views.participant.calm import calm_page, is_part, outcome, titled, too_often_page
from studies.views.participant.language import browser_language, switches, without_language

PROVENANCE_HEADER = "X-Answer-Provenance"
ASIDE = frozenset({"details", "withdraw"})  # pages beside the way
CLIENT_TIME_HEADER = "X-Client-Time"
WANTING = "wanting"  # in the address of a page that the end led back to
METHODS = ["GET", "HEAD", "POST"]


@dataclass
class Visit:
    """A participant at one of their pages."""

    request: HttpRequest
    participant: Participant
    token: str
    since: datetime | None = None  # they came by an id of another site: nothing given before is shown

    @property
    def study(self) -> Study:
        """The study they take part in."""
        return self.participant.study

    @property
    def links(self) -> pages.Links:
        """The addresses of their pages."""
        return pages.Links(self.token)

    @property
    def here(self) -> flow.Place:
        """Where they truly stand."""
        return standing.place_of(self.participant)

    @property
    def language(self) -> str:
        """The language of their pages."""
        return self.participant.language

    @property
    def provenance(self) -> str:
        """Where answers come from: only a simulated participant may say anything but a person."""
        if self.participant.mode != Mode.SIMULATED:
            return Provenance.PERSON
        stated = self.request.headers.get(PROVENANCE_HEADER, "")
        return stated if stated in (Provenance.TRUE, Provenance.MODELLED) else Provenance.MODELLED

    @property
    def is_limited(self) -> bool:
        """Whether they may only go on: the personal link alone shows what was given before."""
        return self.since is not None

    @property
    def withdraw_url(self) -> str:
        """The address where they can withdraw; empty for who has no personal link."""
        return "" if self.is_limited else self.links.withdraw

    def given(self) -> dict[int, dict[str, Any]]:
        """Their answers as they may be shown: rank → question → value."""
        return pages.answers_by_rank(self.participant, since=self.since)

    def thumbs(self, slots: list[pages.Slot], at: int) -> list[pages.Thumb]:
        """The row of small posters, with links to those that may be gone to."""
        given = pages.answers_by_rank(self.participant)  # that something was answered is no answer
        asked, own = questionnaire_from(self.study.questionnaire), given.get(0, {})
        done = {slot.rank for slot in slots if not asked.missing(flow.ITEMS, {**own, **given.get(slot.rank, {})})}
        found = pages.thumbs_of(slots, done, here=self.here, at=at, links=self.links)
        return [replace(thumb, url="") for thumb in found] if self.is_limited else found

    @property
    def is_htmx(self) -> bool:
        """Whether a part of the page asks, rather than the address bar."""
        return is_part(self.request)

    @property
    def client_at(self) -> datetime | None:
        """When the browser says this happened: the script tells it with what it asks for."""
        return client_time(self.request.headers.get(CLIENT_TIME_HEADER) or self.request.GET.get("at"))

    def lead_to(self, place: flow.Place) -> HttpResponse:
        """Send them to a place; a part of a page makes the whole page go there."""
        return self.go(self.links.to(place))

    def go(self, url: str) -> HttpResponse:
        """Send them to an address of theirs."""
        return HttpResponse(headers={"HX-Redirect": url}) if self.is_htmx else HttpResponseRedirect(url)

    def lead_back(self, missing: Mapping[str, Any]) -> HttpResponse:
        """Send them from the end to the first place that wants an answer; `missing` are the questions by rank."""
        ranks = sorted(int(rank) for rank in missing if rank != "0")
        if ranks:
            place = flow.Place(flow.ITEMS, ranks[0])
        else:
            of_list = {question.key for question in questionnaire_from(self.study.questionnaire).block(flow.OVERALL)}
            place = flow.Place(flow.AFTER if of_list.isdisjoint(missing["0"]) else flow.OVERALL)
        return self.go(f"{self.links.to(place)}?{WANTING}={self._mark_of(place)}")

    def is_wanted(self, place: flow.Place) -> bool:
        """Whether the end led them back to this place: the address says so, and nobody else can make it."""
        said = self.request.GET.get(WANTING, "")
        if not said or self.here.step not in (flow.OVERALL, flow.AFTER):
            return False
        return constant_time_compare(said, self._mark_of(place))

    def address_of(self, place: flow.Place) -> str:
        """The address of the page they are at, which still says that the end led them back there."""
        return self.request.get_full_path() if self.is_wanted(place) else self.links.to(place)

    def _mark_of(self, place: flow.Place) -> str:
        return Signer(salt="parallax.wanting").signature(f"{self.token} {place.step} {place.rank}")

    def over(self) -> HttpResponse | None:
        """The calm page of someone who can't go on, or None; a part of a page makes the whole page show it."""
        way = leaving.way_out(participant=self.participant)
        out: dict[str, Any] = {"way": way, "exit_url": self.exit_url(way)}
        page = outcome(self.request, self.participant, withdraw_url=self.withdraw_url, **out)
        if page is not None and self.is_htmx:
            return self.go(reverse("participant:resume", args=[self.token]))
        return page

    def exit_url(self, way: leaving.WayOut | None) -> str:
        """The address that leads out, where there is a way on."""
        if way is None or not way.url:
            return ""
        # Of somebody who withdrew nothing is noted any more, so they go straight on.
        is_gone = self.participant.status == ParticipantStatus.WITHDRAWN
        return way.url if is_gone else reverse("participant:exit", args=[self.token])

    def page(self, template: str, at: str, **context: Any) -> HttpResponse:
        """Show one of their pages; `at` is the step that the bar at the top marks. That it was shown is noted."""
        rank = context.get("rank", 0)
        is_aside = template in ASIDE
        if self.request.method == "GET" and not self.is_htmx and not is_aside:
            record_view(participant=self.participant, kind="page_view", page=at, rank=rank)
        whole = {
            "page_of_events": at,
            "rank": rank,
            "events_url": "" if is_aside else self.links.events,
            "study": titled(self.study, self.language),
            "participant": self.participant,
            "is_limited": self.is_limited,
            "way": pages.way_at(at, has_after=bool(self.study.questionnaire.get("after"))),
            "step": at,
            "withdraw_url": self.withdraw_url,
            "contact": written.contact_of(self.study, self.language),
            "languages": switches(self.request, self.study, self.language),
            **context,
        }
        return render(self.request, f"participant/{template}.html", whole)


def found_item(visit: Visit, item_id: int) -> Item:
    """The item of the study's catalogue that an address names; raises Http404."""
    found = item_with_key(visit.study.dataset_version, item_id)
    if found is None:
        raise Http404("The study's catalogue has no such item.")
    return found


ParticipantView = Callable[..., HttpResponse]


def of_participant(view: Callable[..., HttpResponse], *, even_when_over: bool = False) -> ParticipantView:
    """Open a page to whoever holds the token in its address, in their language.

    The address alone opens these pages and no cookie does, so another site can't make a browser act for a
    participant: there is nothing for a CSRF token to protect, and an answer must not be lost with a cookie.
    `even_when_over`: also once their part has ended or while the study rests.
    """

    @login_not_required
    @csrf_exempt
    @never_kept
    @require_http_methods(METHODS)
    @wraps(view)
    def opened(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponse:
        try:
            who = resuming.arrived(token=token)
        except resuming.TooLate as refusal:
            return _too_late(request, refusal)
        except ParallaxError:
            return _unknown(request)
        participant = who.participant
        visit = Visit(request, participant, token, who.since)
        if asked := request.GET.get("lang") if request.method != "POST" else None:
            languages.change_language(participant=participant, language=asked)
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
                response = _not_there(visit)
        response.headers["Content-Language"] = visit.language
        return response

    return opened


def _unknown(request: HttpRequest) -> HttpResponse:
    with translation.override(browser_language(request)):
        # The service's own sentence was made before the language was known.
        text = _(
            "This link belongs to no participant. Please check that it is complete, or ask the people who sent it "
            "to you."
        )
        return calm_page(request, _("We do not know this link"), text=text, status=404)


def _too_late(request: HttpRequest, refusal: resuming.TooLate) -> HttpResponse:
    """Say to somebody who came by an id of another site that it leads on no longer, and what does."""
    participant = refusal.participant
    asked = request.GET.get("lang", "")
    language = asked if asked in written.languages_of(participant.study) else participant.language
    with translation.override(language):
        text = str(resuming.TOO_LATE[refusal.code])
        if is_part(request):
            response = HttpResponse(text, status=409, content_type="text/plain; charset=utf-8")
        else:
            heading = _("Some time has passed")
            response = calm_page(request, heading, text=text, study=participant.study, language=language)
    response.headers["Content-Language"] = language
    return response


def _not_there(visit: Visit) -> HttpResponse:
    return calm_page(
        visit.request,
        _("This page is not here"),
        text=_("The address may be incomplete. Your answers are kept."),
        participant=visit.participant,
        action_url=visit.links.to(visit.here),
        status=404,
    )


def _refused(visit: Visit, refusal: ParallaxError) -> HttpResponse:
    """Lead an early or late request to where the participant truly is; any other becomes a calm page with the code."""
    if isinstance(refusal, TooOften):
        return too_often_page(visit.request, refusal, study=visit.study, language=visit.language)
    visit.participant.refresh_from_db()
    if over := visit.over():  # the study ended meanwhile, or their part in it did
        return over
    if refusal.code in ("study.out_of_order", "study.not_active"):
        # Another tab, or the first press of two, came before this one.
        return visit.lead_to(visit.here)
    if visit.is_htmx:
        return HttpResponse(refusal.message, status=409, content_type="text/plain; charset=utf-8")
    return calm_page(
        visit.request,
        _("One moment, please"),
        text=refusal.message,
        participant=visit.participant,
        action_url=reverse("participant:resume", args=[visit.token]),
    )


def true_step(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Lead a stray, old or early request to where the participant truly stands."""

    @wraps(view)
    def guarded(visit: Visit, **kwargs: Any) -> HttpResponse:
        if "rank" in kwargs and not 1 <= kwargs["rank"] <= standing.list_length(visit.participant):
            return visit.lead_to(visit.here)
        at = flow.Place(flow.ITEMS, kwargs["rank"]) if "rank" in kwargs else flow.Place(view.__name__)
        if not flow.may_look(visit.here, at) or (visit.is_limited and at != visit.here and not visit.is_wanted(at)):
            return visit.lead_to(visit.here)
        return view(visit, **kwargs)

    return guarded
