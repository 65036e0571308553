"""Items on participant pages: cards, ratings on every scale, filters, the tray, lists and details."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from catalog.item_types import CLIP, TRAILER
from catalog.models import Item
from catalog.posters import poster_svg
from catalog.selectors.item_texts import ShownText
from parallax.design.components import Section, State
from studies.known_items import FIVE_STARS, HALF_STARS, LIKES, SEVEN_POINTS, TEN_POINTS, ElicitationScale, ItemsAsked
from studies.participation.selectors.pages import Card, Thumb
from studies.participation.selectors.samples import INVITATIONS, NAMES, NONE, ShownSample

HERE = "#specimen"
TITLES = ("Alien", "Cinema Paradiso", "The Matrix", "Spirited Away", "Metropolis")
LONG_TITLE = "Dr. Strangelove or: How I Learned to Stop Worrying and Love the Bomb"
PLOT = "A crew answers a call from an empty moon, and what they find there comes back with them."


def poster(title: str) -> str:
    """The drawn poster of a title as an address that holds it."""
    return f"data:image/svg+xml,{quote(poster_svg(title, 1979, title))}"


def card(pk: int, title: str = TITLES[0], **fields: Any) -> Card:
    """An item in a list, with `fields` of its card."""
    shown = ShownText(title, fields.pop("lang", ""))
    facts = (("1979", "Science fiction"), ("Ridley Scott",))
    return Card(Item(pk=pk, title=title), shown, facts, poster(title), HERE, HERE, **fields)


def ratings() -> tuple[Section, ...]:
    """The controls that rate or choose an item, at every value."""
    scales: tuple[ElicitationScale, ...] = (FIVE_STARS, LIKES, SEVEN_POINTS, TEN_POINTS, HALF_STARS)
    sections = []
    for number, scale in enumerate(scales):
        cards = [card(100 * number + point, rating=point or None, elicitation=scale) for point in (0, *scale.points)]
        states = [_control(f"{each.value:g}" if each.value is not None else "not rated", each) for each in cards]
        sections.append(Section(scale.key, scale.key.replace("-", " ").capitalize(), tuple(states)))
    error = "We could not save your rating. Press again."
    choosing = (
        _control("not chosen", card(901, choice="I have read it")),
        _control("chosen", card(902, choice="I have read it", rating=1)),
        _control("problem", card(903, choice="I have read it", error="You have chosen 15 already.")),
        _control("problem of a rating", card(904, rating=3, error=error)),
    )
    return (*sections, Section("choosing", "Choices and problems", choosing))


def _control(label: str, shown: Card) -> State:
    return State(label, shown.control, {"card": shown})


def sections() -> tuple[Section, ...]:
    """Cards and filters."""
    cards = (card(1), card(2, LONG_TITLE, rating=4), card(3, "Il postino", lang="it", rating=2, error="Not saved."))
    pictures = ("", "square", "wide", "none")
    grids = tuple(
        State(
            picture or "poster",
            "design/items.html",
            {"cards": [_again(each, 10 * n) for each in cards], "picture": picture},
        )
        for n, picture in enumerate(pictures)
    )
    genres = [("drama", "Drama", False), ("comedy", "Comedy", True)]
    filters = State(
        "one chosen", "participant/parts/filters.html", {"genres": genres, "decades": [("1970", "1970s", False)] * 2}
    )
    empty = State("nothing found", "design/results.html", {"page": {"total": 0}, "is_filtered": True})
    return (
        Section("cards", "Cards by the shape of pictures", grids, wide=True),
        Section("filters", "Filters and empty results", (filters, empty)),
    )


def lists() -> tuple[Section, ...]:
    """The tray, the row of recommendations, and details."""
    return (
        Section("tray", "Ratings so far", tuple(_trays()), wide=True),
        Section(
            "thumbs",
            "Recommendations answered so far",
            (State("", "participant/parts/thumbs.html", {"thumbs": _thumbs()}),),
        ),
        Section("details", "Details", tuple(_details()), wide=True),
    )


def _again(shown: Card, number: int) -> Card:
    return card(
        shown.item.pk + number,
        shown.title.text,
        lang=shown.title.lang,
        rating=shown.rating,
        error=shown.error,
        suffix=f"-{number}",
    )


def _trays() -> list[State]:
    number = ItemsAsked(5, 5)
    rated = [card(50 + n, title, rating=n + 1) for n, title in enumerate(TITLES)]
    shown = {"asked": number, "gender": "m", "rate_url": HERE, "hidden_slots": []}
    some = {**shown, "rated": rated[:2], "n_rated": 3, "hidden_slots": [1], "open_slots": [1, 2], "to_go": 2}
    enough = {**shown, "rated": rated, "n_rated": 5, "may_continue": True, "refusal": "You can rate at most 5."}
    return [
        State("two to go", "participant/parts/tray.html", some),
        State("enough", "participant/parts/tray.html", enough),
    ]


def _thumbs() -> list[Thumb]:
    states = ("done", "done", "now", "", "")
    return [
        Thumb(ShownText(title), poster(title), HERE if state else "", state, state == "done")
        for title, state in zip(TITLES, states, strict=True)
    ]


def _details() -> list[State]:
    facts = [{"label": "Director", "values": ["Ridley Scott"]}, {"label": "Length", "values": ["117 minutes"]}]
    states = []
    for number, (label, sample) in enumerate(_samples().items()):
        shown = card(70 + number, rating=4, suffix="-details")
        details = {"title": shown.title, "item": Item(year=1979), "plot": ShownText(PLOT)}
        context = {"details": details, "facts": facts, "sample": sample, "card": shown, "poster_url": shown.poster_url}
        states.append(State(label, "design/details.html", context))
    return states


def _samples() -> dict[str, ShownSample]:
    """What is offered beside the facts, by what it is."""
    return {
        "trailer": ShownSample(NAMES[TRAILER], INVITATIONS[TRAILER], url=HERE),
        "clip and excerpt": ShownSample(
            NAMES[CLIP],
            INVITATIONS[CLIP],
            url="/no-clip",
            player="audio",
            excerpt=ShownText("It was a dark night.\n\nNobody slept."),
        ),
        "none": ShownSample(NAMES[TRAILER], INVITATIONS[TRAILER], none=NONE[TRAILER]),
    }
