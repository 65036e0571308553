"""What the participant pages show: cards, thumbs, questions with their answers, the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.models import Feature, Item
from studies import flow
from studies.models import Participant, ProfileRating, RecommendedItem

STARS = (1, 2, 3, 4, 5)
NAMES: dict[str, Promise] = {
    "consent": _("Consent"),
    flow.ABOUT: _("About you"),
    flow.RATE: _("Films you know"),
    flow.RECOMMENDATIONS: _("Your recommendations"),
    flow.ITEMS: _("Each film in turn"),
    flow.OVERALL: _("The list as a whole"),
    flow.AFTER: _("Some more questions"),
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
    """The steps as the bar at the top shows them."""

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


def way_at(step: str, *, has_after: bool = False) -> Way:
    """Return the bar with everything before `step` done."""
    steps = ("consent", *(one for one in flow.STEPS if has_after or one != flow.AFTER))
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
    done: AbstractSet[int],
    *,
    here: flow.Place,
    at: int,
    links: Links,
) -> list[Thumb]:
    """Return the row of small posters; those that may be gone to are links. `done` are the ranks answered."""
    thumbs = []
    for slot in slots:
        place = flow.Place(flow.ITEMS, slot.rank)
        is_done = slot.rank in done
        state = "now" if slot.rank == at else "done" if is_done else ""
        url = links.to(place) if flow.may_look(here, place) else ""
        thumbs.append(Thumb(slot.item, slot.poster_url, url, state, is_done))
    return thumbs
