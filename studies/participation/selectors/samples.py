"""An item's trailer, clip or excerpt as the participant pages offer it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from catalog.item_types import CLIP, EXCERPT, SAMPLE, TRAILER
from catalog.models import Item
from catalog.selectors.items import ShownText, excerpt_in
from studies.models import Study

NAMES: dict[str, Promise] = {
    TRAILER: _("Trailer"),
    CLIP: _("Clip"),
    EXCERPT: _("Excerpt"),
    SAMPLE: _("Sample"),
}
INVITATIONS: dict[str, Promise] = {
    TRAILER: _("Watch the trailer (opens in a new tab)"),
    CLIP: _("Listen to the clip (opens in a new tab)"),
    EXCERPT: _("Read the excerpt (opens in a new tab)"),
    SAMPLE: _("Open the sample (opens in a new tab)"),
}
NONE: dict[str, Promise] = {
    TRAILER: _("No trailer available."),
    CLIP: _("No clip available."),
    EXCERPT: _("No excerpt available."),
    SAMPLE: _("No sample available."),
}

NO_TEXT = ShownText("")


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
    kind = design.kind_of_item.sample
    if not design.offers_samples:
        return ShownSample(NAMES[kind], INVITATIONS[kind])
    player = ("audio" if item.is_clip_audio else "video") if item.clip else ""
    return ShownSample(
        NAMES[kind],
        INVITATIONS[kind],
        url=url if item.clip or item.trailer_url else "",
        player=player,
        excerpt=excerpt_in(item, get_language() or "", language),
        none="" if item.has_sample else NONE[kind],
    )
