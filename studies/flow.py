"""The participant's way: the steps after consent, which may be looked at and which may be changed.

A participant always stands at one `Place`. `may_look` says which others may be opened, and `may_change` whose
answers may still be given. Only services move a participant on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError

CONSENT = "consent"  # before the way begins: the participant does not exist yet
ABOUT = "about"
RATE = "rate"
RECOMMENDATIONS = "recommendations"
ITEMS = "items"
OVERALL = "overall"
AFTER = "after"  # only in a study that asks something there
THANKS = "thanks"
STEPS = (ABOUT, RATE, RECOMMENDATIONS, ITEMS, OVERALL, AFTER, THANKS)

WATCHED = "watched"
TRAILER_SEEN = "trailer_seen"
NEITHER = "neither"
BRANCHES = (WATCHED, TRAILER_SEEN, NEITHER)

IF_WATCHED = ("watched", "rating")
IF_NOT_WATCHED = ("watched", "heard", "trailer_seen", "rating")


@dataclass(frozen=True)
class Place:
    """A page of the way.

    Parameters
    ----------
    step : str
        One of `STEPS`.
    rank : int
        The recommended item in question, from 1, in the step "items"; 0 in every other step.

    Raises
    ------
    ParameterError
        An unknown step, a missing rank in "items", or a rank elsewhere.
    """

    step: str
    rank: int = 0

    def __post_init__(self) -> None:
        if self.step not in STEPS:
            raise ParameterError(f"There is no step {self.step!r}; the steps are {', '.join(STEPS)}.")
        if self.step == ITEMS and self.rank < 1:
            raise ParameterError('A place in the step "items" needs the rank of an item, from 1.')
        if self.step != ITEMS and self.rank != 0:
            raise ParameterError(f"The step {self.step!r} has one page and no rank; got rank {self.rank}.")

    @property
    def order(self) -> tuple[int, int]:
        """How far along the way this place is; compares as tuples do."""
        return STEPS.index(self.step), self.rank


def places(list_length: int, *, has_after: bool = False) -> tuple[Place, ...]:
    """Every place of the way, in order.

    Parameters
    ----------
    list_length : int
        Number of recommended items, >= 1.
    has_after : bool
        Whether the study asks something after the questions about the list.

    Returns
    -------
    tuple of Place

    Raises
    ------
    ParameterError
        `list_length` < 1.

    Examples
    --------
    >>> [f"{place.step}{place.rank or ''}" for place in places(2)]
    ['about', 'rate', 'recommendations', 'items1', 'items2', 'overall', 'thanks']
    """
    if list_length < 1:
        raise ParameterError(f"A list has at least one item; got {list_length}.")
    before = tuple(Place(step) for step in (ABOUT, RATE, RECOMMENDATIONS))
    items = tuple(Place(ITEMS, rank) for rank in range(1, list_length + 1))
    last = (Place(OVERALL), *((Place(AFTER),) if has_after else ()), Place(THANKS))
    return (*before, *items, *last)


def next_place(place: Place, list_length: int, *, has_after: bool = False) -> Place:
    """The place after this one; the last place is followed by itself.

    Parameters
    ----------
    place : Place
        Where one is.
    list_length : int
        Number of recommended items, >= 1.
    has_after : bool
        Whether the study asks something after the questions about the list.

    Returns
    -------
    Place

    Raises
    ------
    ParameterError
        The place is not on the way of a list this long.

    Examples
    --------
    >>> next_place(Place("items", 5), 5)
    Place(step='overall', rank=0)
    """
    way = places(list_length, has_after=has_after)
    if place not in way:
        raise ParameterError(f"Rank {place.rank} is past the end of a list of {list_length}.")
    return way[min(way.index(place) + 1, len(way) - 1)]


def may_look(here: Place, at: Place) -> bool:
    """Whether someone who stands `here` may open the page `at`.

    What lies ahead stays closed; at the end only the last page is left, and who has a list no longer sees the
    form about themselves or the rating page, which can't be changed any more.

    Parameters
    ----------
    here, at : Place
        Where the participant stands; the page asked for.

    Returns
    -------
    bool

    Examples
    --------
    >>> may_look(Place("overall"), Place("items", 2)), may_look(Place("rate"), Place("overall"))
    (True, False)
    """
    if at == here:
        return True
    if here.step == THANKS or at.order > here.order:
        return False
    return at.step not in (ABOUT, RATE)


def may_change(here: Place, at: Place) -> bool:
    """Whether someone who stands `here` may give or change answers of the page `at`.

    The answers about the person decide the stratum, and the ratings the list, so both close when their step
    is left. Answers about items and about the list stay open until the study is completed.

    Parameters
    ----------
    here, at : Place
        Where the participant stands; the page that asks.

    Returns
    -------
    bool

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


def questions_of_item(watched: bool | None) -> tuple[str, ...]:
    """The questions an item asks, given the answer to the first of them.

    Parameters
    ----------
    watched : bool or None
        Whether the item was watched; None while that is not answered.

    Returns
    -------
    tuple of str
        Keys of questions in the order they are asked.

    Examples
    --------
    >>> questions_of_item(True)
    ('watched', 'rating')
    """
    if watched is None:
        return ("watched",)
    return IF_WATCHED if watched else IF_NOT_WATCHED


def missing_of_item(answers: Mapping[str, Any]) -> tuple[str, ...]:
    """Questions of an item that still want an answer.

    Parameters
    ----------
    answers : mapping
        Question key to value; a value None counts as no answer.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> missing_of_item({"watched": False, "rating": 4})
    ('heard', 'trailer_seen')
    """
    watched = answers.get("watched")
    asked = IF_WATCHED if watched else IF_NOT_WATCHED
    if watched is None:
        asked = ("watched", "rating")
    return tuple(key for key in asked if answers.get(key) is None)


def branch_of(watched: bool, trailer_seen: bool | None) -> str:
    """Which of the three wordings the rating of an item was asked in.

    Parameters
    ----------
    watched : bool
        Whether the item was watched.
    trailer_seen : bool or None
        Whether its trailer had been seen already; not asked, and ignored, where the item was watched.

    Returns
    -------
    str
        "watched", "trailer_seen" or "neither".

    References
    ----------
    Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), "Looking for 'good' recommendations", section 3.

    Examples
    --------
    >>> branch_of(False, True)
    'trailer_seen'
    """
    if watched:
        return WATCHED
    return TRAILER_SEEN if trailer_seen else NEITHER
