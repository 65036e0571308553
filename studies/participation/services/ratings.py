"""Ratings or choices of known items, stored at once: the profile that the recommendations are computed from.

A rating sent twice has the same result. A request out of order is refused with `study.out_of_order` and the
participant's current step.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.formats import number_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from catalog.item_words import agreed
from catalog.models import Item
from core.errors import ParallaxError
from studies.design.selectors.placeholders import content_of
from studies.enums import Provenance
from studies.flow_pages import ELICIT
from studies.models import Participant, ProfileRating
from studies.participation.selectors.participant_rows import ratings_given
from studies.participation.services.events import record_event
from studies.participation.services.participant_state import (
    kind_of_page,
    lock_open,
    out_of_order,
    place_of,
    require_active,
    touch,
)
from studies.participation.services.preparing import is_requested
from studies.settings import USED, StudySettings


@transaction.atomic
def rate_item(
    *,
    participant: Participant,
    item: Item,
    rating: int | None,
    provenance: str = Provenance.PERSON,
    client_at: datetime | None = None,
) -> ProfileRating | None:
    """Rate a known item, change that rating, or clear it with None; a change is recorded as an event too.

    The rating is the number of a point on the study's elicitation scale. Where participants choose items, that of a
    chosen item is `USED`, and None removes it.

    Raises `study.bad_rating`, `study.bad_item`, `study.enough_ratings`, `study.out_of_order`,
    `study.not_active`.
    """
    lock_open(participant)
    require_active(participant)
    if kind_of_page(participant) != ELICIT or is_requested(participant):
        raise out_of_order(participant)
    design = participant.study.design
    _require_value(design, rating)
    if item.version_id != participant.study.dataset_version_id:
        raise ParallaxError("study.bad_item", _("This is not part of the study."), {"item": item.pk})
    ratings, scale = ratings_given(participant), design.scale
    row = ratings.get(item.pk)
    if (row and row.rating) != rating:
        touch(participant)
    if row is not None and row.rating != rating:
        record_event(
            participant=participant,
            kind="rating_changed",
            at=place_of(participant),
            facts={"item": item.external_id, "from": scale.value(row.rating), "to": rating and scale.value(rating)},
            client_at=client_at,
        )
    if rating is None:
        if row is not None:
            row.delete()
        return None
    if row is None:
        if len(ratings) >= design.items_asked.most:
            text = _("You have already rated %(n)s. To rate another, clear a rating first.")
            if design.is_choice:
                text = _("You have already chosen %(n)s. To choose another, remove a choice first.")
            gender = content_of(participant.study).words[get_language() or "en"].gender
            most = {"n": design.items_asked.most}
            raise ParallaxError("study.enough_ratings", agreed(text % most, gender), most)
        return ProfileRating.objects.create(participant=participant, item=item, rating=rating, provenance=provenance)
    if row.rating != rating:
        row.rating, row.provenance, row.n_changes = rating, provenance, row.n_changes + 1
        row.save()
    elif design.is_choice:
        row.save(update_fields=["changed_at"])  # shown again to those who came back by an id and chose it again
    return row


def _require_value(design: StudySettings, rating: int | None) -> None:
    scale, values = design.scale, (USED,) if design.is_choice else design.scale.points
    if rating is not None and not (type(rating) is int and rating in values):
        text = _("An item can only be chosen or removed.")
        if not design.is_choice:
            ends = {"low": number_format(scale.value(1)), "high": number_format(scale.value(scale.n_points))}
            text = _("A rating is a point of the scale from %(low)s to %(high)s.") % ends
        raise ParallaxError("study.bad_rating", text, {"rating": str(rating)})
