"""Cards of items as HTML, cached since they differ between participants only in the token."""

from __future__ import annotations

from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from catalog.models import Item
from catalog.selectors.item_texts import ShownText
from studies.known_items import ElicitationScale
from studies.participation.selectors.pages import Card, FactLines, Links

CARDS_CACHED = 8192
PLACE = "0-place-of-the-token-0"  # never a valid token, and needs no quoting in addresses


def card_html(card: Card, token: str, language: str) -> SafeString:
    """Return a card of the rating page for the participant of `token`, in the active language."""
    item = card.item
    poster_url = card.poster_url.replace(token, PLACE)  # where the poster is of a project
    details_url = card.details_url.replace(token, PLACE)
    facts = (item.pk, card.title, card.facts, poster_url, details_url, card.rating, card.suffix, card.choice)
    html = _cached_html(facts, card.elicitation, language)
    return mark_safe(html.replace(PLACE, token))  # noqa: S308 -- rendered by a template; a token is URL-safe


@lru_cache(maxsize=CARDS_CACHED)
def _cached_html(
    facts: tuple[int, ShownText, FactLines, str, str, int | None, str, str],
    elicitation: ElicitationScale,
    language: str,
) -> str:
    pk, title, fact_lines, poster_url, details_url, rating, suffix, choice = facts
    links, item = Links(PLACE), Item(pk=pk)
    shown = (item, title, fact_lines, poster_url, details_url, links.rating(pk), rating, suffix)
    card = Card(*shown, choice=choice, elicitation=elicitation)
    return render_to_string("participant/parts/card.html", {"card": card})
