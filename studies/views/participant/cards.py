"""Cards of items as HTML. But for the participant's token they are the same for everybody, so they are kept."""

from __future__ import annotations

from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from studies.selectors.pages import Card, Links

CARDS_KEPT = 8192
PLACE = "0-place-of-the-token-0"  # no token is written so, and addresses quote nothing of it


def card_html(card: Card, token: str, language: str) -> SafeString:
    """Return a card of the rating page for the participant of `token`, in the language that is active."""
    item = card.item
    facts = (item.pk, item.title, card.facts, card.poster_url, card.rating, card.suffix)
    return mark_safe(_kept(facts, language).replace(PLACE, token))  # noqa: S308 -- rendered by a template; a token is URL-safe


@lru_cache(maxsize=CARDS_KEPT)
def _kept(facts: tuple[int, str, str, str, int | None, str], language: str) -> str:
    pk, title, told, poster_url, rating, suffix = facts
    links = Links(PLACE)
    card = {
        "item": {"pk": pk, "title": title},
        "facts": told,
        "poster_url": poster_url,
        "details_url": links.details_of(pk),
        "rate_url": links.rating_of(pk),
        "rating": rating,
        "suffix": suffix,
        "scale": Card.scale,
    }
    return render_to_string("participant/parts/card.html", {"card": card})
