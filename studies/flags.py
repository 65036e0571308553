"""Quality flags: what in a participant's answers asks for a second look. A flag never excludes anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Any

from core.errors import ParameterError

TOO_FAST = "too_fast"
STRAIGHT_LINED = "straight_lined"
ALL_RATINGS_ALIKE = "all_ratings_alike"
ATTENTION_FAILED = "attention_failed"
SAME_EXTERNAL_ID = "same_external_id"
KEYS = (TOO_FAST, STRAIGHT_LINED, ALL_RATINGS_ALIKE, ATTENTION_FAILED, SAME_EXTERNAL_ID)
NAMES = {
    TOO_FAST: "Too fast",
    STRAIGHT_LINED: "Straight-lined",
    ALL_RATINGS_ALIKE: "All ratings alike",
    ATTENTION_FAILED: "Attention check failed",
    SAME_EXTERNAL_ID: "Same external id",
}
FEWEST_IN_ONE_DIRECTION = 10  # so many statements alike that do not contradict one another may be an honest answer
FEWEST_FOR_MEDIAN = 5  # with fewer completed participants a share of their median says nothing


@dataclass(frozen=True)
class Thresholds:
    """When a flag is raised.

    Parameters
    ----------
    fastest_seconds : float
        Shortest time from consent to the end that raises no flag, in seconds, >= 0; 0 for no such limit.
    fastest_share : float
        The same as a share of the study's median time, 0 to 1; 0 for no such limit.
    alike_items : int
        Fewest recommended items answered in one and the same way that count as straight-lined, >= 2.
    alike_statements : int
        Fewest statements of one block, on equally many points, that count as straight-lined where all have the same
        point and some are reverse-scored, >= 2; where none is or all are, at least `FEWEST_IN_ONE_DIRECTION`.
    alike_ratings : int
        Fewest ratings, of known and of recommended items together, that may not all be equal, >= 2.

    Raises
    ------
    ParameterError
        A value out of its range.
    """

    fastest_seconds: float = 60.0
    fastest_share: float = 1 / 3
    alike_items: int = 3
    alike_statements: int = 6
    alike_ratings: int = 6

    def __post_init__(self) -> None:
        if self.fastest_seconds < 0:
            raise ParameterError(f"The shortest time is 0 seconds or more; got {self.fastest_seconds}.")
        if not 0 <= self.fastest_share <= 1:
            raise ParameterError(f"The share of the median time is from 0 to 1; got {self.fastest_share}.")
        for name in ("alike_items", "alike_statements", "alike_ratings"):
            if getattr(self, name) < 2:
                raise ParameterError(f"The threshold {name} is a whole number from 2; got {getattr(self, name)}.")

    def fewest_statements(self, *, is_mixed: bool) -> int:
        """From how many statements on the same point somebody is straight-lined.

        Parameters
        ----------
        is_mixed : bool
            Whether some of the statements are reverse-scored and some are not.

        Returns
        -------
        int
        """
        return self.alike_statements if is_mixed else max(self.alike_statements, FEWEST_IN_ONE_DIRECTION)


@dataclass(frozen=True)
class Marked:
    """The points that somebody marked in one block, in what it asks on equally many points.

    Parameters
    ----------
    where : str
        The block in words, as in "asked after the list".
    n_points : int
        Points of each statement.
    points : sequence of (int, bool)
        The point of each statement answered, not turned round, and whether the statement is reverse-scored.
    """

    where: str
    n_points: int
    points: Sequence[tuple[int, bool]]

    def is_alike(self, thresholds: Thresholds) -> bool:
        """Whether all have the same point, and are too many for that.

        Parameters
        ----------
        thresholds : Thresholds
            The study's.

        Returns
        -------
        bool

        Examples
        --------
        >>> Marked("after the list", 5, [(3, False), (3, True)] * 3).is_alike(Thresholds())
        True
        """
        fewest = thresholds.fewest_statements(is_mixed=len({is_reversed for _, is_reversed in self.points}) == 2)
        return len(self.points) >= fewest and len({point for point, _ in self.points}) == 1


@dataclass(frozen=True)
class Given:
    """What flags are raised from, of one participant.

    Parameters
    ----------
    seconds : float or None
        Time from consent to the end; None unless completed.
    items : sequence of tuple
        The answers about each recommended item, in one order of questions.
    ratings : sequence of int
        Every rating given, of known and of recommended items.
    failed_checks : sequence of str
        Attention checks answered otherwise than asked for.
    same_id : sequence of str
        Others who came with the same external id, by the ids that are shown.
    marked : sequence of Marked
        What was marked on points in the blocks that are not about items.
    """

    seconds: float | None
    items: Sequence[tuple[Any, ...]]
    ratings: Sequence[int]
    failed_checks: Sequence[str] = ()
    same_id: Sequence[str] = ()
    marked: Sequence[Marked] = ()


@dataclass(frozen=True)
class Flag:
    """One raised flag: its key, the reason as a sentence, and the numbers behind it."""

    key: str
    reason: str
    numbers: Mapping[str, float]

    @property
    def name(self) -> str:
        """What the flag is called on pages."""
        return NAMES[self.key]


def thresholds_from(settings: Mapping[str, Any]) -> Thresholds:
    """The thresholds that a study's settings give under ``quality``.

    Parameters
    ----------
    settings : mapping
        The study's settings; thresholds not named there have their defaults.

    Returns
    -------
    Thresholds

    Raises
    ------
    ParameterError
        An unknown threshold, one that is no number, or one out of range.

    Examples
    --------
    >>> thresholds_from({"quality": {"fastest_seconds": 90}}).fastest_seconds
    90
    """
    given = dict(settings.get("quality") or {})
    known = {field.name for field in fields(Thresholds)}
    if unknown := sorted(set(given) - known):
        raise ParameterError(f"There is no threshold {unknown[0]!r}; they are {', '.join(sorted(known))}.")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParameterError(f"The threshold {name} is a number; got {value!r}.")
    return Thresholds(**given)


def shortest_time(seconds: Sequence[float], thresholds: Thresholds) -> float:
    """The time below which a participant was too fast.

    Parameters
    ----------
    seconds : sequence of float
        Times of everybody who completed, any order.
    thresholds : Thresholds
        The limits; the higher of the two holds. The share counts from five participants on.

    Returns
    -------
    float
        Seconds; 0 where nobody can be too fast.

    Examples
    --------
    >>> shortest_time([300, 300, 600, 900, 900], Thresholds(fastest_seconds=60, fastest_share=0.25))
    150.0
    """
    of_median = thresholds.fastest_share * median(seconds) if len(seconds) >= FEWEST_FOR_MEDIAN else 0.0
    return max(float(thresholds.fastest_seconds), of_median)


def _straight_lined(given: Given, thresholds: Thresholds) -> list[Flag]:
    """At most one flag, with a sentence for each part that was answered alike. Which answer it was is not said."""
    said, numbers = [], {}
    if len(given.items) >= thresholds.alike_items and len(set(given.items)) == 1:
        numbers["items"] = len(given.items)
        said.append(f"Answered every question alike for all {len(given.items)} items.")
    for one in given.marked:
        if not one.is_alike(thresholds):
            continue
        n, n_reversed = len(one.points), sum(is_reversed for _, is_reversed in one.points)
        numbers["statements"] = numbers.get("statements", 0) + n
        numbers["reversed"] = numbers.get("reversed", 0) + n_reversed
        ending = f", {n_reversed} of them reverse-scored" if n_reversed else ""
        said.append(f"Marked the same of {one.n_points} points for all {n} statements asked {one.where}{ending}.")
    return [Flag(STRAIGHT_LINED, " ".join(said), numbers)] if said else []


def flags_of(given: Given, thresholds: Thresholds, shortest: float) -> tuple[Flag, ...]:
    """Every flag of one participant, in the order of `KEYS`.

    Parameters
    ----------
    given : Given
        What they answered.
    thresholds : Thresholds
        The study's.
    shortest : float
        From `shortest_time`, in seconds.

    Returns
    -------
    tuple of Flag

    Examples
    --------
    >>> found = flags_of(Given(30.0, [], [3, 4]), Thresholds(), 60.0)
    >>> found[0].key, found[0].reason
    ('too_fast', 'Took 30 seconds; below 60 seconds is too fast.')
    """
    found = []
    if given.seconds is not None and given.seconds < shortest:
        found.append(
            Flag(
                TOO_FAST,
                f"Took {given.seconds:.0f} seconds; below {shortest:.0f} seconds is too fast.",
                {"seconds": round(given.seconds, 3), "shortest": round(shortest, 3)},
            )
        )
    found += _straight_lined(given, thresholds)
    if len(given.ratings) >= thresholds.alike_ratings and len(set(given.ratings)) == 1:
        # Which rating it is would be an outcome, and reasons are shown while outcomes are blinded.
        n, rating = len(given.ratings), given.ratings[0]
        found.append(Flag(ALL_RATINGS_ALIKE, f"All {n} ratings are the same.", {"ratings": n, "rating": rating}))
    if given.failed_checks:
        checks = ", ".join(given.failed_checks)
        found.append(
            Flag(ATTENTION_FAILED, f"Attention checks failed: {checks}.", {"failed": len(given.failed_checks)})
        )
    if given.same_id:
        others = ", ".join(given.same_id)
        found.append(
            Flag(SAME_EXTERNAL_ID, f"Came with the same external id as {others}.", {"others": len(given.same_id)})
        )
    return tuple(found)
