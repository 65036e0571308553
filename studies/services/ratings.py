"""Ratings of items that somebody knows, stored at once: what their recommendations are made from.

Sent again, a rating has the same result. What is out of order is refused with `study.out_of_order` and the step they
are really at.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from catalog.models import Item
from core.errors import ParallaxError
from studies import flow
from studies.enums import Provenance
from studies.measures import RATING_HIGH, RATING_LOW
from studies.models import Participant, ProfileRating
from studies.selectors.compiled import Inserted
from studies.selectors.kept import ratings_given
from studies.services.events import record_event
from studies.services.standing import locked, mirror, out_of_order, require_active, touch

_new_ratings = Inserted(ProfileRating)


@transaction.atomic
def rate_item(
    *,
    participant: Participant,
    item: Item,
    rating: int | None,
    provenance: str = Provenance.PERSON,
    client_at: datetime | None = None,
) -> ProfileRating | None:
    """Rate a known item, change that rating, or take it back with None; a change is an event too.

    Raises `study.bad_rating`, `study.bad_item`, `study.enough_ratings`, `study.out_of_order`,
    `study.not_active`.
    """
    current = locked(participant)
    require_active(current)
    if current.step != flow.RATE:
        raise out_of_order(current)
    is_whole = isinstance(rating, int) and not isinstance(rating, bool)
    if rating is not None and not (is_whole and RATING_LOW <= rating <= RATING_HIGH):
        raise ParallaxError("study.bad_rating", _("A rating is a whole number from 1 to 5."), {"rating": str(rating)})
    if item.version_id != current.study.dataset_version_id:
        raise ParallaxError("study.bad_item", _("This item is not part of the study."), {"item": item.pk})
    given = ratings_given(current)
    row = given.get(item.pk)
    touch(current)
    mirror(participant, current)
    if row is not None and row.rating != rating:
        record_event(
            participant=current,
            kind="rating_changed",
            page=flow.RATE,
            facts={"item": item.external_id, "from": row.rating, "to": rating},
            client_at=client_at,
        )
    if rating is None:
        if row is not None:
            row.delete()
        return None
    if row is None:
        wanted = int(current.study.settings["ratings_asked"])
        if len(given) >= wanted:
            raise ParallaxError(
                "study.enough_ratings",
                _("You have rated %(n)s already. To rate another, take one back first.") % {"n": wanted},
                {"n": wanted},
            )
        return _new_ratings.insert(ProfileRating(participant=current, item=item, rating=rating, provenance=provenance))
    if row.rating != rating:
        row.rating, row.provenance, row.n_changes = rating, provenance, row.n_changes + 1
        row.save()
    return row
