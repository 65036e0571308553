"""What the participant pages show: cards, thumbs, questions with their answers, the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from catalog.models import Feature, Item
from studies import flow
from studies.enums import Role
from studies.models import Participant, ProfileRating, RecommendedItem, Study
from studies.questionnaires import schema
from studies.selectors.markdown import rendered

STARS = (1, 2, 3, 4, 5)
INTERFACE_LANGUAGES = tuple(code for code, _name in settings.LANGUAGES)
NAMES: dict[str, Promise] = {
    "consent": _("Consent"),
    flow.ABOUT: _("About you"),
    flow.RATE: _("Films you know"),
    flow.RECOMMENDATIONS: _("Your recommendations"),
    flow.ITEMS: _("Each film in turn"),
    flow.OVERALL: _("The list as a whole"),
    flow.THANKS: _("Thank you"),
}

GENRES: dict[str, Promise] = {
    "Action": _("Action"),
    "Adventure": _("Adventure"),
    "Animation": _("Animation"),
    "Biography": _("Biography"),
    "Children": _("Children"),
    "Comedy": _("Comedy"),
    "Crime": _("Crime"),
    "Documentary": _("Documentary"),
    "Drama": _("Drama"),
    "Family": _("Family"),
    "Fantasy": _("Fantasy"),
    "Film-Noir": _("Film-Noir"),
    "History": _("History"),
    "Horror": _("Horror"),
    "Music": _("Music"),
    "Musical": _("Musical"),
    "Mystery": _("Mystery"),
    "Romance": _("Romance"),
    "Sci-Fi": _("Sci-Fi"),
    "Science fiction": _("Science fiction"),
    "Sport": _("Sport"),
    "Thriller": _("Thriller"),
    "War": _("War"),
    "Western": _("Western"),
}


@dataclass(frozen=True)
class Way:
    """The seven steps as the bar at the top shows them."""

    position: int
    total: int
    name: Promise
    states: tuple[str, ...]


@dataclass
class Card:
    """An item as it stands in a list, with the participant's rating of it where it may be rated."""

    item: Item
    facts: str
    poster_url: str
    details_url: str
    rate_url: str = ""
    rating: int | None = None
    suffix: str = ""  # keeps ids apart where an item shows twice on a page
    error: str = ""
    is_echo: bool = False  # the same item's stars elsewhere on the page, swapped along
    scale: tuple[int, ...] = STARS


@dataclass(frozen=True)
class Slot:
    """A recommended item on the participant's pages."""

    rank: int
    item: Item
    facts: str
    poster_url: str
    details_url: str
    trailer_url: str


@dataclass(frozen=True)
class Thumb:
    """A small poster in the row of recommended items."""

    item: Item
    poster_url: str
    url: str
    state: str
    is_done: bool


@dataclass(frozen=True)
class Option:
    """One radio button."""

    value: str
    label: Any
    is_chosen: bool
    aside: str = ""


@dataclass(frozen=True)
class Conditional:
    """Words or a question that show only after certain answers.

    `when` is what the page's script looks at: conditions joined by "&", each ``name`` (answered), ``name=value``
    or ``name!=value``; empty for always. `is_hidden` is how it stands with the answers stored so far, for
    readers without the script.
    """

    text: str
    when: str = ""
    is_hidden: bool = False


@dataclass(frozen=True)
class Asked:
    """A question as a page asks it; where it has several wordings, one of them shows at a time."""

    key: str
    wordings: tuple[Conditional, ...]
    options: tuple[Option, ...]
    layout: str
    when: str = ""
    is_hidden: bool = False
    hint: Any = ""
    ends: tuple[str, str] | None = None
    problem: Any = ""


@dataclass(frozen=True)
class OpenQuestion:
    """A question answered in one's own words."""

    key: str
    text: str
    value: str
    required: bool
    longest: int
    problem: Any = ""


@dataclass(frozen=True)
class Links:
    """The addresses of one participant's pages."""

    token: str

    def to(self, place: flow.Place) -> str:
        """Return the address of a place on the way."""
        if place.step == flow.ITEMS:
            return reverse("participant:item", args=[self.token, place.rank])
        return reverse(f"participant:{place.step}", args=[self.token])

    @property
    def withdraw(self) -> str:
        """Return the address where the participant can withdraw."""
        return reverse("participant:withdraw", args=[self.token])

    def details(self, item: Item) -> str:
        """Return the address of an item's details."""
        return reverse("participant:details", args=[self.token, item.pk])

    def trailer(self, item: Item) -> str:
        """Return the address that records the click and leads to the trailer."""
        return reverse("participant:trailer", args=[self.token, item.pk])

    def rating(self, item: Item) -> str:
        """Return the address that takes a rating of the item."""
        return reverse("participant:rate_item", args=[self.token, item.pk])


def way_at(step: str) -> Way:
    """Return the bar with everything before `step` done."""
    steps = ("consent", *flow.STEPS)
    position = steps.index(step)
    states = tuple("done" if i < position else "now" if i == position else "" for i in range(len(steps)))
    return Way(position + 1, len(steps), NAMES[step], states)


def genre_name(genre: str) -> str:
    """Return a genre as participants read it: those that data sets commonly name are translated."""
    return str(GENRES.get(genre, genre))


def facts_of(items: Sequence[Item]) -> dict[int, str]:
    """Return year, first genre and first director of each item, by its primary key, in one query."""
    found: dict[int, dict[str, str]] = {item.pk: {} for item in items}
    rows = Feature.objects.filter(item__in=found, kind__in=["genre", "director"]).order_by("kind", "position", "pk")
    for item_id, kind, value in rows.values_list("item_id", "kind", "value"):
        found[item_id].setdefault(kind, value)
    return {
        item.pk: " · ".join(
            part
            for part in (
                str(item.year or ""),
                genre_name(found[item.pk].get("genre", "")),
                found[item.pk].get("director", ""),
            )
            if part
        )
        for item in items
    }


def profile_of(participant: Participant) -> dict[int, int]:
    """Return the participant's ratings by the item's primary key, in the order given."""
    return dict(ProfileRating.objects.filter(participant=participant).values_list("item_id", "rating"))


def cards_of(items: Sequence[Item], *, links: Links, profile: Mapping[int, int], suffix: str = "") -> list[Card]:
    """Return the items as cards that may be rated."""
    facts = facts_of(items)
    return [
        Card(
            item,
            facts[item.pk],
            item.poster_url,
            links.details(item),
            links.rating(item),
            profile.get(item.pk),
            suffix,
        )
        for item in items
    ]


def rated_cards(participant: Participant, *, links: Links) -> list[Card]:
    """Return what the participant has rated, for the tray."""
    rows = ProfileRating.objects.filter(participant=participant).select_related("item")
    return [Card(row.item, "", row.item.poster_url, links.details(row.item), rating=row.rating) for row in rows]


def slots_of(recommended: Iterable[RecommendedItem], *, links: Links) -> list[Slot]:
    """Return the recommended items as the pages show them."""
    rows = list(recommended)
    facts = facts_of([row.item for row in rows])
    return [
        Slot(
            row.rank,
            row.item,
            facts[row.item_id],
            row.item.poster_url,
            links.details(row.item),
            links.trailer(row.item),
        )
        for row in rows
    ]


def answers_by_rank(participant: Participant) -> dict[int, dict[str, Any]]:
    """Return the participant's answers: rank (0: about the person or the list) → question → value."""
    found: dict[int, dict[str, Any]] = {}
    for rank, question, value in participant.responses.values_list("rank", "question", "value"):
        found.setdefault(rank, {})[question] = value
    return found


def thumbs_of(
    slots: Sequence[Slot],
    answers: Mapping[int, Mapping[str, Any]],
    *,
    here: flow.Place,
    at: int,
    links: Links,
) -> list[Thumb]:
    """Return the row of small posters; those that may be gone to are links."""
    thumbs = []
    for slot in slots:
        place = flow.Place(flow.ITEMS, slot.rank)
        is_done = not flow.missing_of_item(answers.get(slot.rank, {}))
        state = "now" if slot.rank == at else "done" if is_done else ""
        url = links.to(place) if flow.may_look(here, place) else ""
        thumbs.append(Thumb(slot.item, slot.poster_url, url, state, is_done))
    return thumbs


def _raw(value: Any) -> str:
    """Return an answer as its radio button says it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def holds(when: str, answers: Mapping[str, Any]) -> bool:
    """Return whether the conditions hold for the answers stored so far, as the page's script reads them."""
    for condition in filter(None, when.split("&")):
        name, differs, value = condition.partition("!=")
        if not differs:
            name, _equals, value = condition.partition("=")
        given = answers.get(name)
        is_met = given is not None if not value else (given is not None and _raw(given) == value) != bool(differs)
        if not is_met:
            return False
    return True


WHEN_BRANCH = {
    flow.WATCHED: "watched=yes",
    flow.TRAILER_SEEN: "watched=no&trailer_seen=yes",
    flow.NEITHER: "watched=no&trailer_seen!=yes",
}


def asked(
    question: schema.Question,
    answers: Mapping[str, Any],
    *,
    language: str,
    when: str = "",
    hint: Any = "",
    problem: Any = "",
) -> Asked:
    """Return a yes-or-no or Likert question with its wordings and the answer it has."""

    def in_language(texts: Mapping[str, Any]) -> Any:
        return texts.get(language) or next(iter(texts.values()), "")

    if question.shown_if:
        when = f"{question.shown_if[0]}={_raw(question.shown_if[1])}"
    wordings = tuple(
        Conditional(in_language(question.wordings[branch]), condition, not holds(condition, answers))
        for branch, condition in WHEN_BRANCH.items()
        if branch in question.wordings
    ) or (Conditional(in_language(question.text)),)
    given = answers.get(question.key)
    ends: tuple[str, str] | None = None
    if question.kind == schema.YES_NO:
        options: tuple[Option, ...] = (Option("yes", _("Yes"), given is True), Option("no", _("No"), given is False))
    else:
        low, high = question.minimum or 1, question.maximum or 5
        ends = in_language(question.ends) or ("", "")
        asides = {low: ends[0], high: ends[1]}
        options = tuple(Option(str(p), str(p), given == p, asides.get(p, "")) for p in range(low, high + 1))
    layout = "yes-no" if question.kind == schema.YES_NO else "likert"
    is_hidden = not holds(when, answers)
    return Asked(question.key, wordings, options, layout, when, is_hidden, hint, ends, problem)


def texts_of(study: Study, language: str) -> dict[str, Any]:
    """Return the researcher's texts in a language, or in the first that they are written in."""
    return study.texts.get(language) or next(iter(study.texts.values()), {})


def languages_of(study: Study) -> tuple[str, ...]:
    """Return the languages that both the study and the interface are written in, as the study orders them."""
    order = [*study.settings.get("languages", ()), *study.texts]
    found = tuple(code for code in dict.fromkeys(order) if code in study.texts and code in INTERFACE_LANGUAGES)
    return found or INTERFACE_LANGUAGES[:1]


def contact_of(study: Study, language: str) -> SafeString:
    """Return whom to ask about the study: the researcher's own text, or else the address of its first owner."""
    if own := texts_of(study, language).get("contact"):
        return rendered(own)
    owner = study.memberships.filter(role=Role.OWNER).order_by("pk").values_list("researcher__email", flat=True).first()
    return format_html('<p><a href="mailto:{0}">{0}</a></p>', owner) if owner else SafeString("")


def study_by_slug(slug: str) -> Study | None:
    """Return the study that a link names."""
    return Study.objects.select_related("dataset_version", "run").filter(slug=slug).first()
