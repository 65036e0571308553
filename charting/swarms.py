"""Points that would lie on each other, laid side by side: their number can be seen and nothing moves at random."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ROWS_OF_POINTS = 60
MOST_POINTS = 300
"""Most points per condition; with more values each point represents several."""

_PITCH = 0.055


def values_per_point(counts: Iterable[int]) -> int:
    """How many values each point represents, so that no condition has more than `MOST_POINTS` points; the same for all
    conditions, so that they can be compared.

    Examples
    --------
    >>> values_per_point([30, 28]), values_per_point([3000])
    (1, 10)
    """
    return max(1, -(-max(counts, default=0) // MOST_POINTS))


def swarm(
    values: Sequence[float], domain: tuple[float, float], room: tuple[float, float], *, per_point: int = 1
) -> list[tuple[float, float]]:
    """Lay points of (nearly) one value side by side, from the first edge of the room to the second.

    `values`, at least one, lie in the domain; `room` is in shares of a condition's slot. Each point stands for
    `per_point` values; a value alone in its row is drawn regardless. Returns place across and value of each point, by
    ascending value.

    Examples
    --------
    >>> swarm([2, 1, 2], (1, 5), (0.1, 0.4))
    [(0.1, 1), (0.1, 2), (0.155, 2)]
    >>> len(swarm([3] * 25, (1, 5), (0.1, 0.4), per_point=10))
    3
    """
    row_height = (domain[1] - domain[0]) / ROWS_OF_POINTS
    by_row: dict[int, list[float]] = {}
    for value in sorted(values):
        by_row.setdefault(round((value - domain[0]) / row_height), []).append(value)
    sampled = {row: own[::per_point] for row, own in by_row.items()}
    longest = max(len(own) for own in sampled.values())
    pitch = min(_PITCH, (room[1] - room[0]) / max(longest - 1, 1))
    return [
        (round(room[0] + pitch * index, 6), value)
        for _, own in sorted(sampled.items())
        for index, value in enumerate(own)
    ]


def with_points_said(subtitle: str, counts: Sequence[int]) -> str:
    """A subtitle that explains the points where they are not single participants.

    Examples
    --------
    >>> with_points_said("Satisfaction, 1 to 5", [30]), with_points_said("Satisfaction", [3000])
    ('Satisfaction, 1 to 5', 'Satisfaction; each point is 10 participants')
    """
    per_point = values_per_point(counts)
    return subtitle if per_point == 1 else f"{subtitle}; each point is {per_point} participants"
