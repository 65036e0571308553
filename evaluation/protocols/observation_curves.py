"""The curves of "test observations": pooled over users, means over users, and the course-notes curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.customer_curves import croc
from evaluation.metrics.user_curves import eleven_points, mean_at_lengths

Arrays = dict[str, NDArray[Any]]
POINTS = 60  # of a line drawn through its points


@dataclass(frozen=True, slots=True)
class CurveKind:
    """The title, rule and axes of a curve."""

    title: str
    rule: str  # how users are aggregated, and how users whose items are all of one kind are treated
    x_title: str
    y_title: str
    is_roc: bool  # whether it plots one rate against another, with a chance diagonal
    lines: tuple[str, ...] = ()  # names of the reference lines, which are the same for every algorithm


KINDS: Mapping[str, CurveKind] = MappingProxyType(
    {
        "croc": CurveKind(
            "CROC: the same number of recommendations for every user",
            "Hits and false alarms are summed over users at every length. Users whose items are all of one kind are "
            "included.",
            "False-alarm rate",
            "Hit rate",
            True,
            ("omniscient", "random"),
        ),
        "mean-roc": CurveKind(
            "Mean ROC: mean over users of their rates at each length",
            "Users whose test items are all good, or all not, have no rates and are excluded. The area under the mean "
            "curve is not defined; the metric roc-area is the mean of users' Swets' A.",
            "Mean false-alarm rate",
            "Mean hit rate",
            True,
        ),
        "eleven-points": CurveKind(
            "Precision at eleven recalls: mean over users",
            "Precision is interpolated within each user, as in TREC. Users without a good item are excluded.",
            "Recall",
            "Mean interpolated precision",
            False,
        ),
        "notes": CurveKind(
            "Recall against the share of the list that is not good",
            "Some course notes call this a ROC. Counts are summed over users at every length. The line may run "
            "backwards, so an area under it has no meaning.",
            "False discovery rate",
            "Recall",
            False,
        ),
    }
)


GROC = CurveKind(
    "GROC: one list over all users",
    "Pairs of user and item are ranked in one list, so users may get different numbers of recommendations.",
    "False-alarm rate",
    "Hit rate",
    True,
)

PRECISION_RECALL = CurveKind(
    "Precision and recall: one list over all users",
    "Pairs of user and item are ranked in one list. The area under the steps is average precision. If an algorithm "
    "has many scores, neighbouring steps are merged so that their area is unchanged.",
    "Recall",
    "Precision",
    False,
)


def observation_curves(
    people: NDArray[np.int64], scores: NDArray[np.float64], is_good: NDArray[np.bool_], *, n_users: int
) -> Arrays:
    """Compute the points of every curve of some observations, to store with a run.

    Returns, for each existing curve of `KINDS` and its lines, x and y ("croc_x", "mean-roc_y", …); for means over
    users, also the numbers of included and excluded users ("mean-roc_people").

    `people`: int array, shape (n_observations,); in 0 to n_users - 1. `scores`: float array, shape (n_observations,).
    `is_good`: bool array, shape (n_observations,).

    Examples
    --------
    >>> curves = observation_curves(np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]), np.array([True, False, True]),
    ...                             n_users=2)
    >>> curves["mean-roc_people"].tolist(), curves["croc_y"].tolist()
    ([1, 1], [0.0, 1.0, 1.0])
    """
    points: Arrays = {}
    pooled = croc(people, scores, is_good)
    if pooled is not None:
        lines = {"croc": pooled.curve, "omniscient": pooled.omniscient, "random": pooled.random}
        points |= {f"{name}_{axis}": getattr(line, axis) for name, line in lines.items() for axis in ("x", "y")}
        n_recommended = pooled.tp[1:] + pooled.fp[1:]
        shown = np.unique(np.geomspace(1, len(n_recommended), POINTS).round().astype(np.int64)) - 1
        points |= {"notes_x": (pooled.fp[1:] / n_recommended)[shown], "notes_y": pooled.curve.y[1:][shown]}
    own = {
        "mean-roc": mean_at_lengths(people, scores, is_good),
        "eleven-points": eleven_points(people, scores, is_good, n_users=n_users),
    }
    for name, averaged in own.items():
        if averaged is not None:
            points |= {f"{name}_x": averaged.x, f"{name}_y": averaged.y}
            points[f"{name}_people"] = np.array([averaged.n_people, averaged.n_one_class], dtype=np.int64)
    return points
