"""The sequence of pages after consent, and which of them a participant may open or change.

A participant is always at one `Place`. `may_view` decides which other pages may be opened, and `may_change` which
answers may still be changed. Only services advance a participant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError

CONSENT = "consent"  # before the sequence starts: there is no participant row yet
ABOUT = "about"
RATE = "rate"
RECOMMENDATIONS = "recommendations"
ITEMS = "items"
OVERALL = "overall"
AFTER = "after"  # only in studies with questions at the end
THANKS = "thanks"
STEPS = (ABOUT, RATE, RECOMMENDATIONS, ITEMS, OVERALL, AFTER, THANKS)

WATCHED = "watched"
HEARD = "heard"
TRAILER_SEEN = "trailer_seen"
NEITHER = "neither"
BRANCHES = (WATCHED, TRAILER_SEEN, NEITHER)

IF_WATCHED = ("watched", "rating")
IF_NOT_WATCHED = ("watched", "heard", "trailer_seen", "rating")


@dataclass(frozen=True)
class Place:
    """A page of the sequence.

    Raises ParameterError for an unknown step, a missing rank in "items", or a rank elsewhere.
    """

    step: str  # one of `STEPS`
    rank: int = 0  # rank of the recommended item, from 1, in the step "items"; 0 in other steps

    def __post_init__(self) -> None:
        if self.step not in STEPS:
            raise ParameterError(f"There is no step {self.step!r}; the steps are {', '.join(STEPS)}.")
        if self.step == ITEMS and self.rank < 1:
            raise ParameterError('A place in the step "items" needs the rank of an item, from 1.')
        if self.step != ITEMS and self.rank != 0:
            raise ParameterError(f"The step {self.step!r} has one page and no rank; got rank {self.rank}.")

    @property
    def order(self) -> tuple[int, int]:
        """Position in the sequence, comparable as a tuple."""
        return STEPS.index(self.step), self.rank


def page_sequence(list_length: int, *, has_after: bool = False) -> tuple[Place, ...]:
    """Return all pages in order.

    `has_after`: the study has questions after those about the list. Raises ParameterError for `list_length` < 1.

    Examples
    --------
    >>> [f"{place.step}{place.rank or ''}" for place in page_sequence(2)]
    ['about', 'rate', 'recommendations', 'items1', 'items2', 'overall', 'thanks']
    """
    if list_length < 1:
        raise ParameterError(f"A list has at least one item; got {list_length}.")
    before = tuple(Place(step) for step in (ABOUT, RATE, RECOMMENDATIONS))
    items = tuple(Place(ITEMS, rank) for rank in range(1, list_length + 1))
    last = (Place(OVERALL), *((Place(AFTER),) if has_after else ()), Place(THANKS))
    return (*before, *items, *last)


def next_place(current: Place, list_length: int, *, has_after: bool = False) -> Place:
    """Return the page after the current one; the last page is followed by itself.

    Raises ParameterError when the page is not in the sequence for this list length.

    Examples
    --------
    >>> next_place(Place("items", 5), 5)
    Place(step='overall', rank=0)
    """
    sequence = page_sequence(list_length, has_after=has_after)
    if current not in sequence:
        raise ParameterError(f"Rank {current.rank} is past the end of a list of {list_length}.")
    return sequence[min(sequence.index(current) + 1, len(sequence) - 1)]


def may_view(here: Place, at: Place) -> bool:
    """Whether a participant at `here` may open the page `at`.

    Later pages are closed. After completion only the last page is open. Once the list exists, the form about the
    participant and the rating page are closed because their answers are final.

    Examples
    --------
    >>> may_view(Place("overall"), Place("items", 2)), may_view(Place("rate"), Place("overall"))
    (True, False)
    """
    if at == here:
        return True
    if here.step == THANKS or at.order > here.order:
        return False
    return at.step not in (ABOUT, RATE)


def may_change(here: Place, at: Place) -> bool:
    """Whether a participant at `here` may give or change answers of the page `at`.

    Answers about the participant determine the stratum and ratings determine the list, so both become final when
    their step is left. Answers about items and the list can be changed until completion.

    Examples
    --------
    >>> may_change(Place("items", 3), Place("items", 1)), may_change(Place("items", 3), Place("rate"))
    (True, False)
    """
    if here.step == THANKS:
        return False
    if at.step == ITEMS:
        return here.step in (ITEMS, OVERALL, AFTER) and at.order <= here.order
    if at.step == OVERALL:
        return here.step in (OVERALL, AFTER)
    return at == here


def missing_of_item(answers: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the questions about an item that still need an answer.

    A value None counts as no answer.

    Examples
    --------
    >>> missing_of_item({"watched": False, "rating": 4})
    ('heard', 'trailer_seen')
    """
    watched = answers.get("watched")
    questions = IF_WATCHED if watched else IF_NOT_WATCHED
    if watched is None:
        questions = ("watched", "rating")
    return tuple(key for key in questions if answers.get(key) is None)


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
