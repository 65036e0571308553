"""The participant's pages: load, lead to the true step, hand the answer to a service, show the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.models import Item
from catalog.selectors.datasets import decades_of, genres_of, item_details
from catalog.selectors.search import search_items
from core.errors import ParallaxError
from core.provenance import derived_seed
from studies import flow
from studies.enums import Mode, ParticipantStatus, Provenance, StudyStatus
from studies.forms.participant import AboutForm, value_of, whole_number
from studies.models import Participant, Study
from studies.questionnaires.schema import questionnaire_from
from studies.selectors import pages
from studies.selectors.markdown import rendered
from studies.services import answers, enrolment, privacy
from studies.services.entry_links import PARAMETER, read_entry

PAGE_SIZE = 24
REMEMBER_SALT = "parallax.remember"
REMEMBER_SECONDS = 60 * 24 * 3600
PROVENANCE_HEADER = "X-Answer-Provenance"
NUMBER_WORDS = {
    2: gettext_lazy("two"),
    3: gettext_lazy("three"),
    4: gettext_lazy("four"),
    5: gettext_lazy("five"),
    6: gettext_lazy("six"),
    7: gettext_lazy("seven"),
}


@dataclass
class Visit:
    """A participant at one of their pages."""

    request: HttpRequest
    participant: Participant
    token: str

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
        return answers.place_of(self.participant)

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
    def is_htmx(self) -> bool:
        """Whether a part of the page asks, rather than the address bar."""
        return bool(self.request.headers.get("HX-Request"))

    def lead_to(self, place: flow.Place) -> HttpResponse:
        """Send them to a place; a part of a page makes the whole page go there."""
        return _go(self.request, self.links.to(place))

    def page(self, template: str, at: str, **context: Any) -> HttpResponse:
        """Show one of their pages; `at` is the step that the bar at the top marks."""
        whole = {
            "study": _titled(self.study, self.language),
            "participant": self.participant,
            "way": pages.way_at(at),
            "step": at,
            "withdraw_url": self.links.withdraw,
            **context,
        }
        return render(self.request, f"participant/{template}.html", whole)


ParticipantView = Callable[..., HttpResponse]


def _go(request: HttpRequest, url: str) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)


def _titled(study: Study, language: str) -> Study:
    """The study with the title that participants see, which is the researcher's text in their language."""
    texts = _texts(study, language)
    study.public_title = texts.get("title") or study.title  # type: ignore[attr-defined]
    return study


def _texts(study: Study, language: str) -> dict[str, Any]:
    return study.texts.get(language) or next(iter(study.texts.values()), {})


def _message(
    request: HttpRequest, heading: str, *, text: str = "", markdown: str = "", status: int = 200, **context: Any
) -> HttpResponse:
    """One calm page."""
    shown = {"heading": heading, "text": text, "text_html": rendered(markdown) if markdown else "", "step": "message"}
    return render(request, "participant/message.html", {**shown, **context}, status=status)


def _outcome(visit: Visit) -> HttpResponse | None:
    """The page of someone whose part is over, or None while it is open."""
    texts = _texts(visit.study, visit.language)
    heading = _("Thank you")
    status = visit.participant.status
    common: dict[str, Any] = {"study": _titled(visit.study, visit.language), "code": visit.participant.code}
    if status in (ParticipantStatus.SCREENED_OUT, ParticipantStatus.QUOTA_FULL, ParticipantStatus.WITHDRAWN):
        return _message(visit.request, heading, markdown=texts.get(status, ""), **common)
    if status in (ParticipantStatus.RETURNED, ParticipantStatus.ATTENTION_FAILED, ParticipantStatus.ABANDONED):
        return _message(visit.request, heading, markdown=texts.get("closed", ""), **common)
    is_open = visit.study.status == StudyStatus.LIVE or visit.participant.mode == Mode.PREVIEW
    if not is_open and status != ParticipantStatus.COMPLETED:
        return _message(
            visit.request,
            _("The study is resting") if visit.study.status == StudyStatus.PAUSED else heading,
            text=_("Your answers are kept. Please come back later by the same address."),
            **common,
        )
    return None


def of_participant(view: Callable[..., HttpResponse]) -> ParticipantView:
    """Open a page to whoever holds the token in its address, in their language."""

    @login_not_required
    @never_cache
    @wraps(view)
    def opened(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponse:
        try:
            participant = enrolment.resume(token=token)
        except ParallaxError as refusal:
            return _message(request, _("We do not know this link"), text=refusal.message, status=404)
        visit = Visit(request, participant, token)
        with translation.override(visit.language):
            if over := _outcome(visit):
                return over
            try:
                response = view(visit, **kwargs)
            except ParallaxError as refusal:
                response = _refused(visit, refusal)
        response.headers["Content-Language"] = visit.language
        return response

    return opened


def _refused(visit: Visit, refusal: ParallaxError) -> HttpResponse:
    """Lead an early or late request to where the participant truly is; any other becomes a calm page with the code."""
    if refusal.code in ("study.out_of_order", "study.not_active"):
        # Another tab, or the first press of two, came before this one.
        visit.participant.refresh_from_db(fields=["step", "item_rank", "status"])
        return _outcome(visit) or visit.lead_to(visit.here)
    return _message(
        visit.request,
        _("One moment, please"),
        text=refusal.message,
        action_url=reverse("participant:resume", args=[visit.token]),
        action_label=_("Go on"),
        study=_titled(visit.study, visit.language),
        code=visit.participant.code,
        status=200 if not visit.is_htmx else 409,
    )


def true_step(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Lead a stray, old or early request to where the participant truly stands."""

    @wraps(view)
    def guarded(visit: Visit, **kwargs: Any) -> HttpResponse:
        if kwargs.get("rank") == 0:  # ranks begin at 1
            return visit.lead_to(visit.here)
        at = flow.Place(flow.ITEMS, kwargs["rank"]) if "rank" in kwargs else flow.Place(view.__name__)
        if not flow.may_look(visit.here, at):
            return visit.lead_to(visit.here)
        return view(visit, **kwargs)

    return guarded


# Consent --------------------------------------------------------------------------------------------


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the researcher's text; only the press of the button makes a participant."""
    study = get_object_or_404(Study.objects.select_related("dataset_version"), slug=slug)
    language = translation.get_language_from_request(request)[:2]
    language = language if language in study.texts else next(iter(study.texts), "en")
    with translation.override(language):
        return _consent(request, _titled(study, language), language)


def _consent(request: HttpRequest, study: Study, language: str) -> HttpResponse:
    texts = _texts(study, language)
    source = request.POST if request.method == "POST" else request.GET
    signed = source.get(f"param:{PARAMETER}" if request.method == "POST" else PARAMETER, "")
    try:
        mode, key = read_entry(study=study, signed=signed)
        enrolment.refuse_unless_open(study, mode)
    except ParallaxError as refusal:
        heading = _("The study is resting") if study.status == StudyStatus.PAUSED else _("Nothing to do here now")
        return _message(request, heading, text=refusal.message, study=study)
    if request.method != "POST":
        if mode == Mode.LIVE and not key and (token := _remembered(request, study)):
            return redirect("participant:resume", token=token)
        return _consent_page(request, study, texts, key or enrolment.new_entry_key(), _pairs(request.GET))
    if request.POST.get("choice") == "no":
        enrolment.decline(study=study, mode=mode)
        return _message(request, _("Thank you all the same"), markdown=texts.get("declined", ""), study=study)
    parameters = [(name[6:], value) for name, value in _pairs(request.POST) if name.startswith("param:")]
    entry_key = key or request.POST.get("entry_key", "")
    ticked = request.POST.getlist("box")
    if len(set(ticked)) < len(texts.get("consent_boxes", ())):
        error = _("To take part, please tick every box.")
        return _consent_page(request, study, texts, entry_key, parameters, ticked=ticked, error=error)
    try:
        entry = enrolment.consent(
            study=study,
            entry_key=entry_key,
            mode=mode,
            language=language,
            parameters={name: value for name, value in parameters if name != PARAMETER},
        )
    except ParallaxError as refusal:
        return _message(request, _("Nothing to do here now"), text=refusal.message, study=study)
    response = redirect("participant:resume", token=entry.token)
    if mode == Mode.LIVE:
        response.set_cookie(
            _cookie_name(study),
            signing.dumps(entry.token, salt=REMEMBER_SALT),
            max_age=REMEMBER_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
        )
    return response


def _pairs(query: QueryDict) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in query.items()]


def _consent_page(
    request: HttpRequest,
    study: Study,
    texts: dict[str, Any],
    entry_key: str,
    parameters: list[tuple[str, str]],
    *,
    ticked: list[str] | None = None,
    error: str = "",
) -> HttpResponse:
    boxes = [{"key": str(number), "text": text} for number, text in enumerate(texts.get("consent_boxes", ()), 1)]
    context = {
        "study": study,
        "step": "consent",
        "way": pages.way_at("consent"),
        "consent_html": rendered(texts.get("consent", "")),
        "boxes": boxes,
        "ticked": ticked or [],
        "entry_key": entry_key,
        "parameters": parameters,
        "error": error,
    }
    return render(request, "participant/consent.html", context)


def _cookie_name(study: Study) -> str:
    return f"parallax_study_{study.pk}"


def _remembered(request: HttpRequest, study: Study) -> str:
    """The token that this browser was given for the study, so that the study's own link leads back too."""
    try:
        token = str(
            signing.loads(request.COOKIES.get(_cookie_name(study), ""), salt=REMEMBER_SALT, max_age=REMEMBER_SECONDS)
        )
        enrolment.resume(token=token)
    except (signing.BadSignature, ParallaxError):
        return ""
    return token


@of_participant
def resume_by_link(visit: Visit) -> HttpResponse:
    """The personal link: lead to where the participant stands."""
    return visit.lead_to(visit.here)


# About you ------------------------------------------------------------------------------------------


@of_participant
@true_step
def about(visit: Visit) -> HttpResponse:
    """Facts about the participant; accepting them gives a place in a condition."""
    asked = questionnaire_from(visit.study.questionnaire).about
    kept = visit.participant.responses.filter(rank=0).values_list("question", "value")
    before = {
        key: {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value for key, value in kept
    }
    form = AboutForm(asked, visit.language, visit.request.POST or None, initial=before)
    if visit.request.method == "POST" and form.is_valid():
        try:
            after = enrolment.accept_about(
                participant=visit.participant, answers=form.answers(), provenance=visit.provenance
            )
        except ParallaxError as refusal:
            problems = refusal.extra.get("problems")
            if not isinstance(problems, dict):
                raise
            for key in problems:
                form.add_error(key if key in form.fields else None, _("This answer is missing or cannot be used."))
        else:
            moved = Visit(visit.request, after, visit.token)
            return _outcome(moved) or moved.lead_to(moved.here)
    return visit.page("about", flow.ABOUT, form=form)


# Rate -----------------------------------------------------------------------------------------------


@of_participant
@true_step
def rate(visit: Visit) -> HttpResponse:
    """The catalogue, searched and rated; Continue takes the ratings and makes the list."""
    if visit.request.method == "POST":
        try:
            answers.finish_rating(participant=visit.participant)
        except ParallaxError as refusal:
            if refusal.code == "study.model_unavailable":
                raise
            return _rate_page(visit, error=refusal.message)
        return visit.lead_to(flow.Place(flow.RECOMMENDATIONS))
    return _rate_page(visit)


def _rate_page(visit: Visit, *, error: str = "") -> HttpResponse:
    query = visit.request.GET.get("q", "").replace("\x00", "").strip()[:200]  # PostgreSQL keeps no NUL
    show = visit.request.GET.get("show", "")
    offset = max(0, whole_number(visit.request.GET.get("from", "")) or 0)
    kind, _colon, value = show.partition(":")
    version = visit.study.dataset_version
    asked = int(visit.study.settings["ratings_asked"])
    found = search_items(
        version,
        query,
        genre=value if kind == "genre" else None,
        decade=whole_number(value) if kind == "decade" else None,
        order=str(visit.study.settings.get("item_order", "random")),
        seed=derived_seed(visit.study.seed, "browse", visit.participant.code),
        offset=offset,
        limit=PAGE_SIZE,
    )
    if query and not offset:
        answers.record_event(participant=visit.participant, kind="search", facts={"query": query, "found": found.total})
    profile = pages.profile_of(visit.participant)
    rate_url = visit.links.to(flow.Place(flow.RATE))
    following = urlencode({"q": query, "show": show, "from": offset + PAGE_SIZE})
    context = {
        "cards": pages.cards_of(found.items, links=visit.links, profile=profile),
        "page": found,
        "query": query,
        "show": show,
        "chips": _chips(visit),
        "next_url": f"{rate_url}?{following}" if offset + PAGE_SIZE < found.total else "",
        "error": error,
        "asked_in_words": {"n": asked, "words": NUMBER_WORDS.get(asked, str(asked))},
        **_tray(visit),
    }
    return visit.page("rate", flow.RATE, **context)


def _chips(visit: Visit) -> list[dict[str, str]]:
    version = visit.study.dataset_version
    genres = [{"value": f"genre:{genre}", "label": genre} for genre in genres_of(version)]
    decades = [{"value": f"decade:{decade}", "label": f"{decade}s"} for decade in decades_of(version)]
    return genres + decades


def _tray(visit: Visit) -> dict[str, Any]:
    asked = int(visit.study.settings["ratings_asked"])
    rated = pages.rated_cards(visit.participant, links=visit.links)
    return {
        "asked": asked,
        "rated": rated,
        "open_slots": range(max(0, asked - len(rated))),
        "rate_url": visit.links.to(flow.Place(flow.RATE)),
    }


@require_POST
@of_participant
def rate_item(visit: Visit, item_id: int) -> HttpResponse:
    """Take a rating, change it, or take it back; answer with the stars and the tray as they now are."""
    if not flow.may_change(visit.here, flow.Place(flow.RATE)):
        return visit.lead_to(visit.here)
    rated = get_object_or_404(Item, pk=item_id, version_id=visit.study.dataset_version_id)
    raw = visit.request.POST.get("rating", "")
    error = ""
    try:
        answers.rate_item(
            participant=visit.participant,
            item=rated,
            rating=(whole_number(raw) or 0) if raw else None,  # what is no rating is refused like a 0
            provenance=visit.provenance,
        )
    except ParallaxError as refusal:
        error = refusal.message
    if not visit.is_htmx:
        if error:
            return _rate_page(visit, error=error)
        return redirect(f"{visit.links.to(flow.Place(flow.RATE))}#film-{rated.pk}")
    return _rated(visit, rated, error=error, is_taken_back=not raw)


def _rated(visit: Visit, rated: Item, *, error: str, is_taken_back: bool) -> HttpResponse:
    """The tray, and the stars where the page has to be told what they are; elsewhere they show it already."""
    suffix = "-sheet" if visit.request.POST.get("suffix") == "-sheet" else ""
    (card,) = pages.cards_of([rated], links=visit.links, profile=pages.profile_of(visit.participant), suffix=suffix)
    card.error = error
    is_redrawn = bool(error) or is_taken_back
    context = {
        "card": card,
        "echo": replace(card, suffix="", is_echo=True) if suffix else None,
        "is_redrawn": is_redrawn,
        "swap": True,
        "study": visit.study,
        "participant": visit.participant,
        **_tray(visit),
    }
    response = render(visit.request, "participant/parts/rated.html", context)
    if is_redrawn:
        response.headers["HX-Reswap"] = "outerHTML"
    return response


@require_safe
@of_participant
def details(visit: Visit, item_id: int) -> HttpResponse:
    """An item's details, as a sheet over the page or as a page of its own; opening them is noted."""
    shown = get_object_or_404(Item, pk=item_id, version_id=visit.study.dataset_version_id)
    answers.record_event(participant=visit.participant, kind="details_opened", facts={"item": shown.external_id})
    known = item_details(shown)
    facts = [
        {"label": label, "value": ", ".join(values)}
        for label, values in (
            (_("Genre"), known.genres),
            (_("Director"), known.directors),
            (_("Cast"), known.cast),
            (_("Country"), known.countries),
            (_("Tags"), known.tags[:12]),
        )
        if values
    ]
    context: dict[str, Any] = {
        "details": known,
        "facts": facts,
        "poster_url": shown.poster_url,
        "trailer_url": visit.links.trailer(shown),
        "in_sheet": visit.is_htmx,
        "back_url": visit.links.to(visit.here),
    }
    if flow.may_change(visit.here, flow.Place(flow.RATE)):
        profile = pages.profile_of(visit.participant)
        (context["card"],) = pages.cards_of([shown], links=visit.links, profile=profile, suffix="-sheet")
    if visit.is_htmx:
        return render(visit.request, "participant/parts/details.html", context)
    return visit.page("details", visit.here.step, step="details", **context)


@require_safe
@of_participant
def trailer(visit: Visit, item_id: int) -> HttpResponse:
    """Note that the trailer was opened, and lead to where it is."""
    shown = get_object_or_404(
        Item.objects.exclude(trailer_url=""), pk=item_id, version_id=visit.study.dataset_version_id
    )
    answers.record_event(participant=visit.participant, kind="trailer_opened", facts={"item": shown.external_id})
    return HttpResponseRedirect(shown.trailer_url)


# Recommendations ------------------------------------------------------------------------------------


def _slots(visit: Visit) -> list[pages.Slot]:
    made = answers.recommendation_list(visit.participant)
    return pages.slots_of(made.slots.select_related("item").order_by("rank"), links=visit.links)


@of_participant
@true_step
def recommendations(visit: Visit) -> HttpResponse:
    """The list, as it was computed once."""
    if visit.request.method == "POST":
        answers.finish_recommendations(participant=visit.participant)
        return visit.lead_to(flow.Place(flow.ITEMS, 1))
    return visit.page("recommendations", flow.RECOMMENDATIONS, slots=_slots(visit))


@of_participant
@true_step
def item(visit: Visit, rank: int) -> HttpResponse:
    """The questions about one recommended item; each answer is stored as it is given."""
    if visit.request.method == "POST":
        _store_posted(visit, "items", rank)
        if "continue" in visit.request.POST:
            missing = flow.missing_of_item(pages.answers_by_rank(visit.participant).get(rank, {}))
            if not missing:
                answers.finish_item(participant=visit.participant, rank=rank)
                length = int(visit.study.settings["list_length"])
                return visit.lead_to(flow.next_place(flow.Place(flow.ITEMS, rank), length))
            return _item_page(visit, rank, missing=missing)
        # The page shows the answer already; without the script it has to be drawn again.
        return HttpResponse(status=204) if visit.is_htmx else visit.lead_to(flow.Place(flow.ITEMS, rank))
    return _item_page(visit, rank)


def _store_posted(visit: Visit, block: str, rank: int) -> None:
    """Store every answer of the block that the form holds."""
    questions = questionnaire_from(visit.study.questionnaire).block(block)
    posted = {q.key: value_of(q, visit.request.POST[q.key]) for q in questions if q.key in visit.request.POST}
    for question in questions:
        if question.key not in posted:
            continue
        if question.shown_if is not None and question.shown_if[0] in posted and not question.is_shown(posted):
            continue  # an answer left in the form from before the one that hides it was changed
        answers.answer(
            participant=visit.participant,
            question=question.key,
            value=posted[question.key],
            rank=rank,
            provenance=visit.provenance,
        )


def _item_page(visit: Visit, rank: int, *, missing: tuple[str, ...] = ()) -> HttpResponse:
    slots = _slots(visit)
    given = pages.answers_by_rank(visit.participant)
    mine = given.get(rank, {})
    place = flow.Place(flow.ITEMS, rank)
    asked = [
        pages.asked(
            question,
            mine,
            language=visit.language,
            when="watched" if question.wordings else "",
            hint=_hint(question.key, slots[rank - 1]),
            problem=_("Please answer this one.") if question.key in missing else "",
        )
        for question in questionnaire_from(visit.study.questionnaire).items
    ]
    context = {
        "step": "item",
        "slot": slots[rank - 1],
        "questions": asked,
        "here_url": visit.links.to(place),
        "back_url": visit.links.to(flow.Place(flow.ITEMS, rank - 1) if rank > 1 else flow.Place(flow.RECOMMENDATIONS)),
        "thumbs": pages.thumbs_of(slots, given, here=visit.here, at=rank, links=visit.links),
    }
    return visit.page("item", flow.ITEMS, **context)


def _hint(key: str, slot: pages.Slot) -> str:
    if key == "heard":
        return _("Open the details to be sure.")
    if key == "trailer_seen" and not slot.item.trailer_url:
        return _("We have no trailer for this film; say whether you saw it somewhere else.")
    return ""


# Overall and thanks ---------------------------------------------------------------------------------


@of_participant
@true_step
def overall(visit: Visit) -> HttpResponse:
    """The list as a whole, and the end."""
    missing: tuple[str, ...] = ()
    if visit.request.method == "POST":
        _store_posted(visit, "overall", 0)
        if "continue" in visit.request.POST:
            given = pages.answers_by_rank(visit.participant).get(0, {})
            required = (q.key for q in questionnaire_from(visit.study.questionnaire).overall if q.required)
            missing = tuple(key for key in required if given.get(key) is None)
            if not missing:
                answers.finish(participant=visit.participant)
                return visit.lead_to(flow.Place(flow.THANKS))
        elif visit.is_htmx:
            return render(visit.request, "participant/parts/saved.html", {"has_saved": True})
        else:
            return visit.lead_to(flow.Place(flow.OVERALL))
    return _overall_page(visit, missing)


def _overall_page(visit: Visit, missing: tuple[str, ...]) -> HttpResponse:
    slots = _slots(visit)
    given = pages.answers_by_rank(visit.participant)
    mine = given.get(0, {})
    problem = _("Please answer this one.")
    asked = [
        pages.asked(question, mine, language=visit.language, problem=problem if question.key in missing else "")
        for question in questionnaire_from(visit.study.questionnaire).overall
        if question.kind != "text"
    ]
    context = {
        "step": flow.OVERALL,
        "questions": asked,
        "comment": mine.get("comment", ""),
        "here_url": visit.links.to(flow.Place(flow.OVERALL)),
        "back_url": visit.links.to(flow.Place(flow.ITEMS, len(slots))),
        "thumbs": pages.thumbs_of(slots, given, here=visit.here, at=0, links=visit.links),
    }
    return visit.page("overall", flow.OVERALL, **context)


@require_http_methods(["GET", "HEAD", "POST"])
@of_participant
def withdraw(visit: Visit) -> HttpResponse:
    """Ask once more, then erase what is known of the person."""
    if visit.request.method == "POST":
        privacy.withdraw(participant=visit.participant)
        visit.participant.refresh_from_db()
        return _outcome(visit) or visit.lead_to(visit.here)
    return visit.page("withdraw", visit.here.step, step="withdraw", back_url=visit.links.to(visit.here))


@of_participant
@true_step
def thanks(visit: Visit) -> HttpResponse:
    """The debriefing and the completion code."""
    texts = _texts(visit.study, visit.language)
    return visit.page("thanks", flow.THANKS, debriefing_html=rendered(texts.get("debriefing", "")))
