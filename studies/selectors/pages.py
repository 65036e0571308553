"""What the participant pages show: cards, thumbs, questions with their answers, the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db.models import F
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.models import DatasetVersion, Item
from catalog.selectors.items import headlines_at, items_at
from core.errors import ParallaxError
from studies import flow
from studies.models import Participant, ProfileRating, RecommendedItem
from studies.selectors.compiled import Compiled
from studies.selectors.kept import answers_of

STARS = (1, 2, 3, 4, 5)
_profile: Compiled[Any] = Compiled(
    lambda pk: (
        ProfileRating.objects.filter(participant=pk)
        .annotate(index=F("item__index"))
        .only("rating", "changed_at")
        .order_by("rated_at", "id")
    )
)
_recommended: Compiled[Any] = Compiled(
    lambda pk: (
        RecommendedItem.objects.filter(recommendation_list__participant=pk)
        .annotate(index=F("item__index"))
        .only("rank")
        .order_by("rank")
    )
)
NAMES: dict[str, Promise] = {
    "consent": _("Consent"),
    flow.ABOUT: _("About you"),
    flow.RATE: _("Your ratings"),
    flow.RECOMMENDATIONS: _("Your recommendations"),
    flow.ITEMS: _("Each recommendation"),
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


@lru_cache(maxsize=64)
def _shape(name: str) -> tuple[str, str, str]:
    """What stands before, between and after token and number in an address: a page has a hundred of them."""
    number = "0" if name in NUMBERED else ""
    address = reverse(f"participant:{name}", args=["TOKEN", number] if number else ["TOKEN"])
    before, _token, rest = address.partition("TOKEN")
    between, _number, after = rest.rpartition(number) if number else (rest, "", "")
    return before, between, after


NUMBERED = frozenset({"item", "details", "trailer", "rate_item"})


@dataclass(frozen=True)
class Links:
    """The addresses of one participant's pages."""

    token: str

    def _of(self, name: str, number: int | str = "") -> str:
        before, between, after = _shape(name)
        return f"{before}{self.token}{between}{number}{after}"

    def to(self, place: flow.Place) -> str:
        """Return the address of a place on the way."""
        return self._of("item", place.rank) if place.step == flow.ITEMS else self._of(place.step)

    @property
    def withdraw(self) -> str:
        """Return the address where the participant can withdraw."""
        return self._of("withdraw")

    @property
    def events(self) -> str:
        """Return the address that takes what the pages' script tells."""
        return self._of("events")

    def details(self, item: Item) -> str:
        """Return the address of an item's details."""
        return self.details_of(item.pk)

    def details_of(self, item_id: int) -> str:
        """Return the address of the details of the item with that key."""
        return self._of("details", item_id)

    def trailer(self, item: Item) -> str:
        """Return the address that records the click and leads to the trailer."""
        return self._of("trailer", item.pk)

    def rating(self, item: Item) -> str:
        """Return the address that takes a rating of the item."""
        return self.rating_of(item.pk)

    def rating_of(self, item_id: int) -> str:
        """Return the address that takes a rating of the item with that key."""
        return self._of("rate_item", item_id)


def way_at(step: str, *, has_after: bool = False) -> Way:
    """Return the bar with everything before `step` done."""
    steps = ("consent", *(one for one in flow.STEPS if has_after or one != flow.AFTER))
    position = steps.index(step)
    states = tuple("done" if i < position else "now" if i == position else "" for i in range(len(steps)))
    return Way(position + 1, len(steps), NAMES[step], states)


def genre_name(genre: str) -> str:
    """Return a genre as participants read it: those that data sets commonly name are translated."""
    return str(GENRES.get(genre, genre))


def facts_of(version: DatasetVersion, items: Sequence[Item]) -> dict[int, str]:
    """Return year, first genre and first director of each item, by its primary key."""
    found = headlines_at(version, [item.index for item in items])
    told: dict[int, str] = {}
    for item in items:
        genre, director = found[item.index]
        told[item.pk] = " · ".join(filter(None, (str(item.year or ""), genre_name(genre), director)))
    return told


def profile_of(participant: Participant, since: datetime | None = None) -> dict[int, int]:
    """Return the participant's ratings by the item's index, in the order given; only newer ones than `since`."""
    rows = _profile.rows(participant.pk)
    return {row.index: row.rating for row in rows if since is None or row.changed_at >= since}


def cards_of(
    version: DatasetVersion, items: Sequence[Item], *, links: Links, profile: Mapping[int, int], suffix: str = ""
) -> list[Card]:
    """Return the items as cards that may be rated; `profile` holds the ratings by the item's index."""
    facts = facts_of(version, items)
    return [
        Card(
            item,
            facts[item.pk],
            item.poster_url,
            links.details(item),
            links.rating(item),
            profile.get(item.index),
            suffix,
        )
        for item in items
    ]


def rated_cards(version: DatasetVersion, profile: Mapping[int, int], *, links: Links) -> list[Card]:
    """Return what the participant has rated, for the tray; `profile` as `profile_of` gives it."""
    items = items_at(version, list(profile))
    return [Card(item, "", item.poster_url, links.details(item), rating=profile[item.index]) for item in items]


def slots_of(participant: Participant, *, links: Links) -> list[Slot]:
    """Return the participant's list as the pages show it; raises `study.no_list` before there is one."""
    version = participant.study.dataset_version
    ranked = [(row.rank, row.index) for row in _recommended.rows(participant.pk)]
    if not ranked:
        raise ParallaxError("study.no_list", str(_("There are no recommendations yet: the ratings come first.")))
    items = items_at(version, [index for _rank, index in ranked])
    facts = facts_of(version, items)
    return [
        Slot(rank, item, facts[item.pk], item.poster_url, links.details(item), links.trailer(item))
        for (rank, _index), item in zip(ranked, items, strict=True)
    ]


def answers_by_rank(participant: Participant, since: datetime | None = None) -> dict[int, dict[str, Any]]:
    """Return the participant's answers: rank (0: about the person or the list) → question → value.

    With `since`, only those given or changed after it.
    """
    found: dict[int, dict[str, Any]] = {}
    for row in answers_of(participant):
        if since is None or row.answered_at >= since:
            found.setdefault(row.rank, {})[row.question] = row.value
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
