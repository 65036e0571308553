"""The scale of ratings: the usual one that holds them, what is no rating among them, and what has to be asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import RatingScale
from catalog.importers.proposal import Question, Values
from core.errors import ParameterError

MOST_STEPS = 200
MOST_OUTLIERS, OUTLIER_SHARE = 3, 0.001  # of all rows
MARKS = (-1.0, 0.0, 99.0, 255.0, 999.0)  # what files write where nothing is rated
PAPER_LIMITS = {"relevant": 5.0, "irrelevant": 1.0}  # Cremonesi et al. (2011), section 5.1
PAPER_SCALES = ((1.0, 5.0), (0.5, 5.0))
LEAST_RELEVANT, LEAST_IRRELEVANT = 0.2, 0.05  # of all ratings
_VALUES_AT_A_TIME = 1 << 16  # what a cache holds
_RANGES_BY_STEP: Mapping[float, Sequence[tuple[float, float]]] = {
    0.5: ((0.5, 4), (0.5, 5), (1, 5), (1, 10)),
    1: ((0, 1), (-1, 1), (1, 3), (1, 5), (1, 7), (1, 10), (0, 5), (0, 10), (0, 100), (-10, 10)),
    2: ((-1, 1),),
}
USUAL = tuple(
    RatingScale(float(low), float(high), float(step), is_declared=False)
    for low, high, step in sorted(
        ((low, high, step) for step, ranges in _RANGES_BY_STEP.items() for low, high in ranges),
        key=lambda scale: ((scale[1] - scale[0]) / scale[2], scale[1] - scale[0]),
    )
)


@dataclass(frozen=True, slots=True)
class ScaleFinding:
    """What is found of a scale; all values are the file's."""

    scale: RatingScale | None  # None where all ratings are one value
    not_rated: tuple[float, ...] = ()
    outliers: tuple[float, ...] = ()
    unused: tuple[float, ...] = ()  # points of a scale without a rating
    question: Question | None = None

    @property
    def add(self) -> int:
        """The whole number that is added to every rating, because 0 is kept for what is not rated."""
        if self.scale is None or self.scale.low > 0:
            return 0
        return math.ceil(1 - self.scale.low)  # the smallest that brings the lowest point to at least 1


def usual_limits(
    low: float, high: float, points: NDArray[np.float64], counts: NDArray[np.integer[Any]]
) -> dict[str, float]:
    """The limits of relevant and irrelevant ratings on a scale, by the ratings that were given (`points`, lowest first)
    and how often each was.

    Relevant is the highest rating that at least a fifth of all ratings reach, irrelevant the lowest below it that at
    least a twentieth do not exceed. Where no rating does, relevant is the second lowest that was given, and irrelevant
    the next below relevant; of a single value, they are the ends of the scale. On scales of 1 to 5 and .5 to 5, 5 and 1
    stay wherever they were given, as in Cremonesi et al. (2011).

    Examples
    --------
    >>> usual_limits(1, 5, np.array([2.0, 3.0, 4.0, 5.0]), np.array([3, 27, 50, 20]))
    {'relevant': 5.0, 'irrelevant': 3.0}
    """
    if len(points) < 2:
        return {"relevant": high, "irrelevant": low}
    at_most = np.cumsum(counts)
    total = at_most[-1]
    of_paper = {name: limit for name, limit in PAPER_LIMITS.items() if (low, high) in PAPER_SCALES and limit in points}
    highest = points[total - at_most + counts >= LEAST_RELEVANT * total].max()
    relevant = of_paper.get("relevant", float(max(highest, points[1])))
    lowest = of_paper.get("irrelevant", float(points[at_most >= LEAST_IRRELEVANT * total].min()))
    return {"relevant": relevant, "irrelevant": min(lowest, float(points[points < relevant].max()))}


def distinct_values(values: NDArray[np.floating[Any]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The different values, lowest first, and how often each comes."""
    parts = [
        np.unique(values[start : start + _VALUES_AT_A_TIME], return_counts=True)
        # Piece by piece, each within the cache: ratings have few distinct values, so merging them costs nothing.
        for start in range(0, len(values), _VALUES_AT_A_TIME)
    ]
    if not parts:
        return np.empty(0), np.empty(0, dtype=np.int64)
    distinct, position = np.unique(np.concatenate([part for part, _ in parts]), return_inverse=True)
    counts = np.bincount(position, weights=np.concatenate([part for _, part in parts]))
    # A number of 32 bits as it was written: .1 and not .10000000149011612.
    exact = [float(str(value)) for value in distinct] if distinct.dtype == np.float32 else distinct
    return np.asarray(exact, dtype=np.float64), counts.astype(np.int64)


def detect_scale(
    distinct: NDArray[np.float64], counts: NDArray[np.int64], chosen: Values, *, column: str = "rating"
) -> ScaleFinding:
    """The scale that ratings seem to be on.

    Examples
    --------
    >>> finding = detect_scale(np.array([2.0, 3.0, 4.0, 5.0]), np.array([9, 9, 9, 9]), Values())
    >>> finding.scale.low, finding.scale.high, finding.unused
    (1.0, 5.0, (1.0,))
    """
    is_rated = ~np.isin(distinct, chosen.not_rated)
    marks = tuple(value for value in chosen.not_rated if value in distinct)
    distinct, counts = distinct[is_rated], counts[is_rated]
    if chosen.scale:
        scale = scale_of_text(chosen.scale)
        return ScaleFinding(scale, marks, unused=_unused(scale, distinct))
    # Repeated, as a file may use more than one mark.
    while (mark := _mark(distinct)) is not None:
        marks += (mark,)
        counts, distinct = counts[distinct != mark], distinct[distinct != mark]
    if len(distinct) < 2:
        return ScaleFinding(None, marks, question=_one_value(distinct, column))
    if chosen.is_observed:
        return ScaleFinding(_observed(distinct), marks)
    # The smallest usual scale that holds all values, and half of whose points are used.
    usual = next(
        (each for each in USUAL if 2 * len(distinct) >= len(each.values()) and each.is_on(distinct).all()), None
    )
    question: Question | None = None
    outliers: tuple[float, ...] = ()
    if usual is None:
        usual, outliers = _usual_but_for(distinct, counts)
        if usual is not None:
            question = _about_outliers(usual, distinct, outliers, int(counts.sum()), counts)
    scale = usual if usual is not None else _observed(distinct)
    has_zero = {0.0, 1.0} < set(distinct.tolist()) and scale.low == 0 and scale.step in (0.5, 1.0)
    if has_zero and scale.high <= 10 and chosen.zero != "rating":
        question = _about_zero(scale, int(counts[distinct == 0][0]), int(counts.sum()))
    return ScaleFinding(scale, marks, outliers, _unused(scale, distinct), question)


def _mark(distinct: NDArray[np.float64]) -> float | None:
    """A value beyond a gap that marks what is not rated."""
    if len(distinct) < 3:
        return None
    gaps = np.diff(distinct)
    for at, rest in ((0, gaps[1:]), (-1, gaps[:-1])):
        is_beyond = gaps[at] > max(rest.max(initial=0) * (1.0 if len(rest) > 2 else 1.5), 1.0)
        if distinct[at] in MARKS and is_beyond and not (distinct[at] == 0 and distinct[1] < 1):
            return float(distinct[at])
    return None


def _usual_but_for(
    distinct: NDArray[np.float64], counts: NDArray[np.int64]
) -> tuple[RatingScale | None, tuple[float, ...]]:
    """The smallest usual scale that holds all rows but very few, and the values of these."""
    room = max(MOST_OUTLIERS, int(OUTLIER_SHARE * counts.sum()))
    for each in USUAL:
        is_on = each.is_on(distinct)
        if 2 * is_on.sum() >= len(each.values()) and 0 < counts[~is_on].sum() <= room < counts[is_on].sum():
            return each, tuple(distinct[~is_on].tolist())
    return None, ()


def _observed(distinct: NDArray[np.float64]) -> RatingScale:
    """Lowest to highest by the largest step that all gaps share; without steps where that takes more than 200."""
    low, high = float(distinct[0]), float(distinct[-1])
    # No step can be larger than the smallest gap, so the search begins there.
    fewest = int((high - low) / float(np.diff(distinct).min()) + 1e-4)
    for steps in range(max(fewest, 1), MOST_STEPS + 1):
        # The step as the whole range divides it: .1 and not .09999999999999964.
        scale = RatingScale(low, high, float(f"{(high - low) / steps:.12g}"), is_declared=False)
        if scale.is_on(distinct).all():
            return scale
    return RatingScale(float(math.floor(low)), float(math.ceil(high)), 0.0, is_declared=False)


def _unused(scale: RatingScale, distinct: NDArray[np.float64]) -> tuple[float, ...]:
    if not scale.step or len(scale.values()) > MOST_STEPS:
        return ()
    values_used = np.asarray(distinct)
    return tuple(value for value in scale.values() if not np.isclose(values_used, value, atol=1e-4 * scale.step).any())


def _one_value(distinct: NDArray[np.float64], column: str) -> Question:
    value = f"{distinct[0]:g}" if len(distinct) else "nothing"
    return Question(
        "scale",
        f"All ratings in column {column} are {value}, so no scale can be seen.",
        (("They are on a scale", "LOW:HIGH:STEP"), ("They only say that an item was used", "usage")),
    )


def _about_outliers(
    scale: RatingScale, distinct: NDArray[np.float64], outliers: Sequence[float], n: int, counts: NDArray[np.int64]
) -> Question:
    off = int(counts[np.isin(distinct, outliers)].sum())
    wide = _observed(distinct)
    listed = ", ".join(f"{value:g}" for value in outliers[:3]) + (", …" if len(outliers) > 3 else "")
    rows = "One row" if off == 1 else f"{off:,} rows"
    verb = "has" if off == 1 else "have"
    return Question(
        "scale",
        f"{rows} of {n:,} {verb} {listed} {{line}}; without {'it' if off == 1 else 'them'} the scale is {scale.low:g} "
        f"to {scale.high:g}, with {'it' if off == 1 else 'them'} {wide.low:g} to {wide.high:g}.",
        (("Leave out", text_of(scale)), (f"Extend the scale to {wide.low:g} to {wide.high:g}", text_of(wide))),
    )


def _about_zero(scale: RatingScale, n_zero: int, n: int) -> Question:
    return Question(
        "zero",
        f"{n_zero:,} of {n:,} ratings are 0: that can mean that an item was not rated, or be the lowest rating.",
        (("Not rated", "0"), ("The lowest rating", text_of(scale))),
    )


def text_of(scale: RatingScale) -> str:
    """A scale as options take it."""
    return f"{scale.low:g}:{scale.high:g}:{f'{scale.step:g}' if scale.step else 'none'}"


def scale_of_text(text: str) -> RatingScale:
    """The scale that a text such as ``1:10:1``, ``1-10`` or ``1:5:none`` declares. Raises ParameterError.

    Examples
    --------
    >>> scale_of_text("0.5:5:0.5").values()[:3], scale_of_text("1-10").step, scale_of_text("1:5:none").step
    ((0.5, 1.0, 1.5), 1.0, 0.0)
    """
    parts = text.split(":") if ":" in text else text.rsplit("-", 1)
    try:
        low, high = (float(number) for number in parts[:2])
        step = 1.0 if len(parts) == 2 else 0.0 if parts[2].strip().lower() == "none" else float(parts[2])
        if len(parts) > 3:
            raise ValueError(text)
    except ValueError:
        raise ParameterError(
            f"A scale is LOWEST:HIGHEST:STEP, as in 1:10:1, 1-10 or 1:5:none; {text!r} is not."
        ) from None
    return RatingScale(low, high, step)
