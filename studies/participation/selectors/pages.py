"""Content of the participant pages: cards, thumbnails, questions with their answers, progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from catalog.item_types import CLIP, EXCERPT, NO_PICTURE, POSTER, SAMPLE, TRAILER, ItemType
from catalog.models import DatasetVersion, Item
from catalog.selectors.items import (
    ShownText,
    excerpt_in,
    facts_of_items,
    headlines_at,
    items_at,
    plot_in,
    poster_url_in,
    title_in,
)
from core.errors import ParallaxError
from studies.design.selectors.placeholders import StudyContent, content_of
from studies.flow_pages import ABOUT, AFTER, CHOICE, COMPARE, ELICIT, END, ITEM_QUESTIONS, LIST, OVERALL, SIDE_BY_SIDE
from studies.instrument.flow import CONSENT, Flow, Place
from studies.known_items import FIVE_STARS, ElicitationScale
from studies.models import Participant, ProfileRating, RecommendedItem, Study
from studies.presentation import text_in

NAMES: dict[str, Promise] = {  # by what a page is for
    ABOUT: _("About you"),
    ELICIT: _("Your ratings"),
    LIST: _("Your recommendations"),
    ITEM_QUESTIONS: _("Each recommendation"),
    OVERALL: _("The list as a whole"),
    CHOICE: _("Your choice"),
    COMPARE: _("Comparison of the lists"),
    AFTER: _("Some more questions"),
    END: _("Thank you"),
}
CHOICES = _("Your choices")  # in the place of the ratings, where items are chosen
FactLines = tuple[tuple[str, ...], ...]  # what a card says of an item, line by line

# Genres common in datasets of films.
GENRES = frozenset({
    gettext_noop("Action"), gettext_noop("Adventure"), gettext_noop("Animation"), gettext_noop("Biography"),
    gettext_noop("Children"), gettext_noop("Comedy"), gettext_noop("Crime"), gettext_noop("Documentary"),
    gettext_noop("Drama"), gettext_noop("Family"), gettext_noop("Fantasy"), gettext_noop("Film-Noir"),
    gettext_noop("History"), gettext_noop("Horror"), gettext_noop("Music"), gettext_noop("Musical"),
    gettext_noop("Mystery"), gettext_noop("Romance"), gettext_noop("Sci-Fi"), gettext_noop("Science fiction"),
    gettext_noop("Sport"), gettext_noop("Thriller"), gettext_noop("War"), gettext_noop("Western"),
})  # fmt: skip
# What a sample is called, the invitation to open it, and that there is none.
SAMPLES: dict[str, tuple[Promise, Promise, Promise]] = {
    TRAILER: (_("Trailer"), _("Watch the trailer (opens in a new tab)"), _("No trailer available.")),
    CLIP: (_("Clip"), _("Listen to the clip (opens in a new tab)"), _("No clip available.")),
    EXCERPT: (_("Excerpt"), _("Read the excerpt (opens in a new tab)"), _("No excerpt available.")),
    SAMPLE: (_("Sample"), _("Open the sample (opens in a new tab)"), _("No sample available.")),
}
NO_TEXT = ShownText("")
# Looks of a card: a drawn poster that shows its title, a picture with the title on it, or words alone.
DRAWN, PICTURED, PLAIN = "drawn", "pictured", "plain"


@dataclass(frozen=True)
class Progress:
    """The steps as shown in the progress bar."""

    position: int
    total: int
    name: Promise | str
    states: tuple[str, ...]


@dataclass(frozen=True)
class Card:
    """An item in a list: one with the participant's rating of it if it can be rated, or one that is recommended."""

    item: Item
    title: ShownText
    facts: FactLines
    poster_url: str
    details_url: str  # empty where the details have nothing to see
    rate_url: str = ""
    rating: int | None = None  # the number of a point of `elicitation`
    suffix: str = ""  # distinguishes ids where an item appears twice on a page
    elicitation: ElicitationScale = FIVE_STARS
    choice: str = ""  # what people did with the item they choose, as "read"; empty where items are rated
    look: str = DRAWN
    # `rank`, `sample`, `explanation`: of a recommended item
    rank: int = 0
    sample: ShownSample | None = None
    explanation: str | None = None  # None in studies that explain nothing: no space is reserved for it then

    @property
    def control(self) -> str:
        return f"participant/parts/{'choice' if self.choice else self.elicitation.unit}.html"

    @property
    def value(self) -> float | None:
        return None if self.rating is None else self.elicitation.value(self.rating)

    @property
    def marks(self) -> list[tuple[int, float]]:
        return [(point, self.elicitation.value(point)) for point in self.elicitation.points]


@dataclass(frozen=True)
class Thumb:
    """A small poster in the row of recommended items."""

    title: ShownText
    poster_url: str
    url: str
    state: str
    is_done: bool


@dataclass(frozen=True)
class Links:
    """The addresses of one participant's pages."""

    token: str

    def of(self, name: str, *item: int) -> str:
        """Return the address of a page by its name in `studies.urls`, with the key of the item that it is about."""
        return reverse(f"participant:{name}", args=[self.token, *item])

    def to(self, page: Place) -> str:
        # One page of its kind and one occasion need no numbers.
        numbers = (page.occasion, page.rank) if page.rank or page.occasion > 1 else ()
        return reverse("participant:page", args=[self.token, page.page, *numbers])


def heading_of(flow: Flow, key: str, language: str) -> Promise | str:
    """Return the title of a page: the researcher's own in the participant's language, or that of what it is for."""
    page = flow.page(key)
    own = page.title.get(language) or next(iter(page.title.values()), "")
    return own or NAMES.get(page.part, NAMES[AFTER])


def part_of_lists(content: StudyContent, at: Place) -> str:
    """Return which of several lists a page is about: "List 2 of 3"; empty on other pages, and where there is one."""
    if content.n_occasions == 1 or not content.flow.is_repeated(at.page):
        return ""
    numbers = {"n": at.occasion, "total": content.n_occasions}
    if content.flow.lists.shown == SIDE_BY_SIDE:
        return gettext("Comparison %(n)s of %(total)s") % numbers
    return gettext("List %(n)s of %(total)s") % numbers


def progress_at(content: StudyContent, at: Place, language: str, *, chooses: bool = False) -> Progress:
    """Return the progress bar with everything before a page done; `chooses`: items are chosen and not rated.

    Each of several lists is one step, so that the bar never goes back.
    """
    flow = content.flow
    steps = list(
        dict.fromkeys(part_of_lists(content, each) or each.page for each in flow.places((1,) * content.n_occasions))
    )
    part = part_of_lists(content, at)
    position = 0 if at.page == CONSENT else steps.index(part or at.page) + 1
    is_choice = chooses and position > 0 and flow.page(at.page).kind == ELICIT
    name = part or (CHOICES if is_choice else heading_of(flow, at.page, language) if position else _("Consent"))
    n = len(steps) + 1
    here = position + (position == n - 1)  # on the last page all is done
    states = tuple("done" if i < here else "now" if i == here else "" for i in range(n))
    return Progress(position + 1, n, name, states)


def genre_name(genre: str, kind: ItemType) -> str:
    """Return a genre in the participant's language; genres common in datasets of films are translated."""
    return gettext(genre) if kind.sample == TRAILER and genre in GENRES else genre


def title_of(version: DatasetVersion, item: Item) -> ShownText:
    """Return an item's title in the participant's language, or else its default title."""
    return title_in(item, get_language() or "", version.dataset.item_language)


def plot_of(version: DatasetVersion, item: Item) -> ShownText:
    """Return an item's plot in the participant's language, or else its default plot."""
    return plot_in(item, get_language() or "", version.dataset.item_language)


def poster_of(study: Study, item: Item, links: Links) -> str:
    """Return the address of an item's poster with its title in the participant's language.

    Posters of a project are among the participant's own addresses, because only their token opens them.
    """
    url = poster_url_in(item, get_language() or "")
    if study.dataset_version.dataset.project_id is None:
        return url
    # With the picture's own query, which names its version, so that browsers may keep it.
    return f"{links.of('poster', item.pk)}?{url.partition('?')[2]}"


def clip_of(study: Study, item: Item, links: Links) -> str:
    """Return the address of an item's clip, among the participant's own as that of a poster; empty without a clip."""
    if study.dataset_version.dataset.project_id is None or not item.clip:
        return item.clip_url
    return f"{links.of('clip', item.pk)}?{item.clip_url.partition('?')[2]}"


def facts_of(version: DatasetVersion, items: Sequence[Item], kind: ItemType) -> dict[int, FactLines]:
    """Return the lines of each item's card by its primary key: of films year and first genre, then first director."""
    headlines = headlines_at(version, [item.index for item in items])
    lines: dict[int, FactLines] = {}
    for item in items:
        facts = {**headlines[item.index], "year": str(item.year or "")}
        facts["genre"] = genre_name(facts.get("genre", ""), kind)
        known = (tuple(facts[name] for name in line if facts.get(name)) for line in kind.card)
        lines[item.pk] = tuple(filter(None, known))
    return lines


def details_of(study: Study, items: Sequence[Item], links: Links) -> dict[int, str]:
    """Return the address of each item's details by its primary key; empty without plot, picture, sample and facts."""
    version, design = study.dataset_version, study.design
    bare = [
        item
        for item in items
        if not (item.image or (design.offers_samples and item.has_sample) or plot_of(version, item).text)
    ]
    known, names = facts_of_items(version, bare), design.kind_of_item.details
    empty = {item.pk for item in bare if not any(known[item.pk].get(name) for name in names)}
    return {item.pk: "" if item.pk in empty else links.of("details", item.pk) for item in items}


def profile_of(participant: Participant, since: datetime | None = None) -> dict[int, int]:
    """Return the participant's ratings by the item's index, oldest first; with `since` only those since then."""
    ratings = ProfileRating.objects.filter(participant=participant)
    if since is not None:
        ratings = ratings.filter(changed_at__gte=since)
    return dict(ratings.order_by("rated_at", "id").values_list("item__index", "rating"))


def _cards(
    study: Study, items: Sequence[Item], links: Links, more: Callable[[Item], dict[str, Any]], *, has_facts: bool = True
) -> list[Card]:
    """The items as cards, each with what `more` says of it; without facts, every one leads to its details."""
    version = study.dataset_version
    facts = facts_of(version, items, study.design.kind_of_item) if has_facts else {}
    details = details_of(study, items, links) if has_facts else {}
    shape = study.design.kind_of_item.picture
    without_image = DRAWN if shape == POSTER else PLAIN
    return [
        Card(
            item=item,
            title=title_of(version, item),
            facts=facts.get(item.pk, ()),
            poster_url=poster_of(study, item, links),
            details_url=details[item.pk] if has_facts else links.of("details", item.pk),
            elicitation=study.design.scale,
            look=PICTURED if item.image and shape != NO_PICTURE else without_image,
            **more(item),
        )
        for item in items
    ]


def cards_of(
    study: Study, items: Sequence[Item], *, links: Links, profile: Mapping[int, int], suffix: str = ""
) -> list[Card]:
    """Return the items as cards that can be rated; `profile` holds the ratings by the item's index."""
    choice = content_of(study).words[get_language() or "en"].consumed if study.design.is_choice else ""

    def control(item: Item) -> dict[str, Any]:
        own = {"rate_url": links.of("rate_item", item.pk), "rating": profile.get(item.index)}
        return {**own, "suffix": suffix, "choice": choice}

    return _cards(study, items, links, control)


def rated_cards(study: Study, profile: Mapping[int, int], *, links: Links) -> list[Card]:
    """Return the rated items for the tray; `profile` is as returned by `profile_of`."""
    items = items_at(study.dataset_version, list(profile))

    def own_rating(item: Item) -> dict[str, Any]:
        return {"rate_url": links.of("rate_item", item.pk), "rating": profile[item.index]}

    return _cards(study, items, links, own_rating, has_facts=False)


def recommended_cards(participant: Participant, occasion: int = 1, side: int = 1, *, links: Links) -> list[Card]:
    """Return a list of the participant as the pages show it; raises `study.no_list` before there is one."""
    study = participant.study
    recommended = RecommendedItem.objects.filter(
        recommendation_list__participant=participant,
        recommendation_list__occasion=occasion,
        recommendation_list__side=side,
    )
    slots = {
        index: (rank, texts)
        for index, rank, texts in recommended.order_by("rank").values_list("item__index", "rank", "explanation")
    }
    if not slots:
        raise ParallaxError(
            "study.no_list", gettext("There are no recommendations yet. Please finish the previous step first.")
        )

    def card_fields(item: Item) -> dict[str, Any]:
        rank, texts = slots[item.index]
        sample = sample_of(study, item, links.of("trailer", item.pk))
        explanation = text_in(texts, participant.language) if study.design.explains else None
        return {"rank": rank, "sample": sample, "explanation": explanation}

    return _cards(study, items_at(study.dataset_version, list(slots)), links, card_fields)


@dataclass(frozen=True)
class CarouselRow:
    """A row of a carousel: the items that have one value of a kind of features."""

    name: str
    cards: list[Card]


def carousel_rows(study: Study, cards: Sequence[Card], kind: str) -> list[CarouselRow]:
    """Return the cards by their items' first value of this kind, in the order of the list; those without one last."""
    facts = facts_of_items(study.dataset_version, [card.item for card in cards])
    rows: dict[str, list[Card]] = {}
    for card in cards:
        (value, *_others) = facts[card.item.pk].get(kind) or ("",)
        rows.setdefault(value, []).append(card)
    without = rows.pop("", [])
    named = [CarouselRow(genre_name(value, study.design.kind_of_item), own) for value, own in rows.items()]
    return [*named, CarouselRow(gettext("More recommendations"), without)] if without else named


@dataclass(frozen=True)
class ShownSample:
    """What pages offer of an item's sample; false where there is none.

    `url` records that it was opened and leads to it; empty for an excerpt alone. `player` is "video" or "audio"; empty
    for a link. `none` says that there is no sample; empty in studies that offer none.
    """

    name: Promise
    invitation: Promise
    url: str = ""
    player: str = ""
    excerpt: ShownText = NO_TEXT
    none: Promise | str = ""

    def __bool__(self) -> bool:
        return bool(self.url or self.excerpt.text)


def sample_of(study: Study, item: Item, url: str) -> ShownSample:
    """Return an item's sample as a study offers it; `url` records that it was opened and leads to it."""
    design, language = study.design, study.dataset_version.dataset.item_language
    name, invitation, none = SAMPLES[design.kind_of_item.sample]
    if not design.offers_samples:
        return ShownSample(name, invitation)
    player = ("audio" if item.is_clip_audio else "video") if item.clip else ""
    return ShownSample(
        name,
        invitation,
        url=url if item.clip or item.trailer_url else "",
        player=player,
        excerpt=excerpt_in(item, get_language() or "", language),
        none="" if item.has_sample else none,
    )
