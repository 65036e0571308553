"""The long tail: how the ratings of a catalogue spread over its items. Common arguments: see `charting.marks`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from charting.frame import finished, whole_ticks
from charting.plots import Plot, at, numbers, tip
from charting.theme import LIGHT, Spec, wash_of
from core.errors import DataError

_POINTS_OF_TAIL = 240


def long_tail(rating_counts: Sequence[int], *, title: str) -> Spec:
    """Draw how the ratings of a catalogue spread over its items, the most rated first.

    A hairline marks the fewest items that together hold half of the ratings. Long catalogues are drawn by about 240 of
    their items, dense where the curve bends. Raises DataError for no rating.

    Examples
    --------
    >>> spec = long_tail([1, 8, 1], title="One film holds most ratings")
    >>> spec["usermeta"]["description"]
    'Ratings by item, most rated first: 3 items, 10 ratings. Half of the ratings are of the 1 most rated \
(33%); the median item has 1.'
    """
    ordered = sorted((int(count) for count in rating_counts), reverse=True)
    if not ordered or ordered[0] <= 0:
        raise DataError("The catalogue has no ratings to draw.")
    half = _items_with_half(ordered)
    share = f"{100 * half / len(ordered):.0f}%"
    plot = Plot(
        numbers(
            1,
            max(len(ordered), 2),
            title="items, most rated first",
            values=whole_ticks(1, len(ordered)),
            labelFlush=False,
            format=",d",
        ),
        numbers(0, ordered[0], grid=True, values=whole_ticks(0, ordered[0]), format=",d"),
    )
    points = [{"item": rank, "ratings": ordered[rank - 1]} for rank in _thinned(len(ordered))]
    area = {"type": "area", "color": wash_of("neutral"), "opacity": 1, "aria": False}
    plot.draw(points, area, x="item", y="ratings")
    tooltip = [tip("item", number=",d"), tip("ratings", number=",d")]
    line = {"type": "line", "color": LIGHT.ink, "strokeWidth": 1.8}
    plot.draw(points, line, x="item", y="ratings", tooltip=tooltip)
    says = [
        f"{half:,} {'item' if half == 1 else 'items'} ({share})",
        f"{'holds' if half == 1 else 'hold'} half of the ratings",
    ]
    mark = [{"item": half, "says": says}]
    plot.draw(mark, {"type": "rule", "color": LIGHT.quiet, "strokeDash": [3, 3]}, x="item")
    # The label is on the side with room.
    is_early = half < 0.5 * len(ordered) or len(ordered) < 3
    side = {"align": "left", "dx": 7} if is_early else {"align": "right", "dx": -7}
    words = {"type": "text", "baseline": "top", "dy": 2, "color": LIGHT.quiet, "lineHeight": 16, **side}
    plot.draw(mark, words, x="item", y=at(4), text="says")
    summary = (
        f"Ratings by item, most rated first: {len(ordered):,} items, {sum(ordered):,} ratings. Half of the "
        f"ratings are of the {half:,} most rated ({share}); the median item has "
        f"{ordered[len(ordered) // 2]:,}."
    )
    return finished(
        plot.spec(), title=title, subtitle="Ratings of each item", description=summary, height=240, reading="drawn"
    )


def _items_with_half(ordered: Sequence[int]) -> int:
    half = sum(ordered) / 2
    return next(rank for rank, total in enumerate(itertools.accumulate(ordered), start=1) if total >= half)


def _thinned(length: int) -> list[int]:
    """Return places 1 to `length`: all of them, or some that grow apart as their squares do."""
    if length <= _POINTS_OF_TAIL:
        return list(range(1, length + 1))
    ranks = {1 + round((length - 1) * (step / (_POINTS_OF_TAIL - 1)) ** 2) for step in range(_POINTS_OF_TAIL)}
    return sorted(ranks)
