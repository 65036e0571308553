"""The study's own measures: perceived accuracy, first- and second-order novelty, satisfaction.

Measures are stored as integer sums with the number of items, so that means and all results derived from them are
exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from core.errors import DataError
from studies.settings import PERCEIVED

WATCHED = "watched"
HEARD = "heard"
TRAILER_SEEN = "trailer_seen"
NEITHER = "neither"
BRANCHES = (WATCHED, TRAILER_SEEN, NEITHER)
RATING_LOW = 1
RATING_HIGH = 5


@dataclass(frozen=True)
class ItemMeasures:
    """Measures of one recommended item."""

    # Each is None where the study does not ask for it
    rating: int | None  # 1 (low) .. 5 (high).
    # `fon`, `son`: first- and second-order novelty, 0 or 1; `son` <= `fon` always
    fon: int | None
    son: int | None
    branch: str | None  # the wording of the rating: "watched", "trailer_seen" or "neither"


@dataclass(frozen=True)
class ParticipantMeasures:
    """Measures of one participant, as integer sums over the recommended items; None where the study does not ask."""

    n_items: int  # items answered about, >= 1
    # `accuracy_sum`, `fon_sum`, `son_sum`: sums over the items of rating (1..5), first- and second-order novelty (0
    # or 1)
    accuracy_sum: int | None
    fon_sum: int | None
    son_sum: int | None
    # `n_liking`, `liking_sum`: number of watched items and the sum of their ratings (liking)
    n_liking: int | None
    liking_sum: int | None
    # `n_interest`, `interest_sum`: number of items not watched and the sum of their ratings (interest)
    n_interest: int | None
    interest_sum: int | None
    satisfaction: int | None  # global satisfaction with the list, 1..5

    @property
    def accuracy(self) -> float | None:
        """Perceived accuracy: the mean rating of the items, 1..5."""
        return _mean(self.accuracy_sum, self.n_items)

    @property
    def fon(self) -> float | None:
        """First-order novelty: the share of items not watched, 0..1."""
        return _mean(self.fon_sum, self.n_items)

    @property
    def son(self) -> float | None:
        """Second-order novelty: the share of items neither watched nor heard of, 0..1."""
        return _mean(self.son_sum, self.n_items)

    @property
    def liking(self) -> float | None:
        """Mean rating of the watched items, 1..5; None if none was watched."""
        return _mean(self.liking_sum, self.n_liking)

    @property
    def interest(self) -> float | None:
        """Mean rating of the items not watched, 1..5; None if all were watched."""
        return _mean(self.interest_sum, self.n_interest)


def _mean(total: int | None, n: int | None) -> float | None:
    return total / n if total is not None and n else None


def item_measures(
    *,
    watched: bool | None = None,
    rating: int | None = None,
    heard: bool | None = None,
    trailer_seen: bool | None = None,
    measures: Collection[str] = PERCEIVED,
) -> ItemMeasures:
    """Score the answers about one item; `measures` are those that the study asks for.

    First-order novelty is 1 if the item was not watched; second-order novelty is 1 if it was neither watched nor heard
    of. The rating, 1 to 5, is the liking of a watched item, otherwise interest. `heard` and `trailer_seen` are ignored
    if the item was watched. Raises DataError for a rating off the scale, or an answer that a measure lacks. Sources:
    Cremonesi et al. (2011), section 3.3. The paper once prints "FON = 0" for an item never watched; its definition,
    used here, is the opposite.

    Examples
    --------
    >>> item_measures(watched=False, heard=False, trailer_seen=False, rating=4)
    ItemMeasures(rating=4, fon=1, son=1, branch='neither')
    """
    if "accuracy" not in measures:
        rating = None
    elif rating is None or not RATING_LOW <= rating <= RATING_HIGH:
        raise DataError(f"A rating is {RATING_LOW} to {RATING_HIGH}; got {rating}.")
    if "fon" not in measures:
        return ItemMeasures(rating, None, None, None)
    if watched is None:
        raise DataError("First-order novelty needs the answer `watched`.")
    if "son" not in measures:
        return ItemMeasures(rating, int(not watched), None, branch_of(watched, trailer_seen))
    if watched:
        return ItemMeasures(rating, 0, 0, WATCHED)
    if heard is None or trailer_seen is None:
        raise DataError("An item whose answer `watched` is no needs the answers `heard` and `trailer_seen`.")
    return ItemMeasures(rating, 1, 0 if heard else 1, branch_of(watched, trailer_seen))


def participant_measures(items: Sequence[ItemMeasures], satisfaction: int | None) -> ParticipantMeasures:
    """Sum the measures of a participant's items.

    There is one item for each recommended item; the satisfaction is 1 to 5, None where it is not asked. Raises
    DataError for no items, or a satisfaction off the scale. Source: Cremonesi et al. (2011), section 3.3: each variable
    of a participant is the mean over the list.

    Examples
    --------
    >>> liked = item_measures(watched=True, rating=5)
    >>> new = item_measures(watched=False, heard=True, trailer_seen=False, rating=2)
    >>> measures = participant_measures([liked, new], satisfaction=4)
    >>> measures.accuracy, measures.fon, measures.son, measures.liking, measures.interest
    (3.5, 0.5, 0.0, 5.0, 2.0)
    """
    if not items:
        raise DataError("A participant without answers about items has no measures.")
    if satisfaction is not None and not RATING_LOW <= satisfaction <= RATING_HIGH:
        raise DataError(f"Satisfaction is {RATING_LOW} to {RATING_HIGH}; got {satisfaction}.")
    accuracy_sum, n_new = _sum(item.rating for item in items), _sum(item.fon for item in items)
    liking_sum = None if n_new is None else _sum(item.rating for item in items if item.branch == WATCHED)
    return ParticipantMeasures(
        n_items=len(items),
        accuracy_sum=accuracy_sum,
        fon_sum=n_new,
        son_sum=_sum(item.son for item in items),
        n_liking=None if n_new is None else len(items) - n_new,
        liking_sum=None if accuracy_sum is None else liking_sum,
        n_interest=n_new,
        interest_sum=None if accuracy_sum is None or liking_sum is None else accuracy_sum - liking_sum,
        satisfaction=satisfaction,
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def branch_of(watched: bool, trailer_seen: bool | None) -> str:
    """Return the branch that determines the wording of an item's rating question.

    The trailer is ignored if the item was watched. The result is "watched", "trailer_seen" or "neither". Source:
    Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), "Looking for 'good' recommendations", section 3.

    Examples
    --------
    >>> branch_of(False, True)
    'trailer_seen'
    """
    if watched:
        return WATCHED
    return TRAILER_SEEN if trailer_seen else NEITHER
