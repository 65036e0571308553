"""The curves of "test observations": pooled over people, means of people's own, and that of the course notes."""

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
POINTS = 60  # of a line whose points are joined as they come


@dataclass(frozen=True, slots=True)
class Drawn:
    """A curve as pages show it.

    Parameters
    ----------
    title : str
    rule : str
        How people are put together, and what becomes of those whose items are of one kind.
    x_title, y_title : str
    is_roc : bool
        Whether it is one rate against another, with a diagonal of chance.
    lines : tuple of str
        Names of the lines that hold for every algorithm, which curves are read against.
    """

    title: str
    rule: str
    x_title: str
    y_title: str
    is_roc: bool
    lines: tuple[str, ...] = ()


KINDS: Mapping[str, Drawn] = MappingProxyType(
    {
        "croc": Drawn(
            "CROC: the same number of recommendations for everyone",
            "Hits and false alarms are summed over people at every length. People whose items are all of one kind "
            "count like the others.",
            "False-alarm rate",
            "Hit rate",
            True,
            ("omniscient", "random"),
        ),
        "mean-roc": Drawn(
            "Mean ROC: each person's own rates at each length, averaged",
            "People whose test items are all good, or all not, have no rates of their own and are left out. The mean "
            "curve has no area; Swets' A of each person is the metric roc-area.",
            "Mean false-alarm rate",
            "Mean hit rate",
            True,
        ),
        "eleven-points": Drawn(
            "Precision at eleven recalls: each person's own, averaged",
            "Precision is interpolated within each person, as TREC does. People without a good item are left out.",
            "Recall",
            "Mean interpolated precision",
            False,
        ),
        "notes": Drawn(
            "Recall against the share of the list that is not good",
            "Some course notes draw this as a ROC. Counts are summed over people at every length; the line may run "
            "back, and no area below it means anything.",
            "False discovery rate",
            "Recall",
            False,
        ),
    }
)


GROC = Drawn(
    "GROC: one list over everyone",
    "Pairs of person and item are ranked in one list, so that people may be recommended more or less.",
    "False-alarm rate",
    "Hit rate",
    True,
)

PRECISION_RECALL = Drawn(
    "Precision and recall: one list over everyone",
    "Pairs of user and item are ranked in one list. The area below the steps is average precision; where an "
    "algorithm has many scores, neighbouring steps are joined and keep their area.",
    "Recall",
    "Precision",
    False,
)


def observation_curves(
    people: NDArray[np.int64], scores: NDArray[np.float64], is_good: NDArray[np.bool_], *, n_users: int
) -> Arrays:
    """Points of every curve of some observations, to be kept beside a run.

    Parameters
    ----------
    people : int array, shape (n_observations,)
        In 0 to n_users - 1.
    scores : float array, shape (n_observations,)
    is_good : bool array, shape (n_observations,)
    n_users : int

    Returns
    -------
    dict of arrays
        For each of `KINDS` and of their lines that exists, its x and y ("croc_x", "mean-roc_y", …); and for those
        of each person's own, the people averaged over and those left out ("mean-roc_people").

    Examples
    --------
    >>> found = observation_curves(np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0]), np.array([True, False, True]),
    ...                            n_users=2)
    >>> found["mean-roc_people"].tolist(), found["croc_y"].tolist()
    ([1, 1], [0.0, 1.0, 1.0])
    """
    found: Arrays = {}
    pooled = croc(people, scores, is_good)
    if pooled is not None:
        lines = {"croc": pooled.curve, "omniscient": pooled.omniscient, "random": pooled.random}
        found |= {f"{name}_{axis}": getattr(line, axis) for name, line in lines.items() for axis in ("x", "y")}
        taken = pooled.tp[1:] + pooled.fp[1:]
        shown = np.unique(np.geomspace(1, len(taken), POINTS).round().astype(np.int64)) - 1
        found |= {"notes_x": (pooled.fp[1:] / taken)[shown], "notes_y": pooled.curve.y[1:][shown]}
    own = {
        "mean-roc": mean_at_lengths(people, scores, is_good),
        "eleven-points": eleven_points(people, scores, is_good, n_users=n_users),
    }
    for name, averaged in own.items():
        if averaged is not None:
            found |= {f"{name}_x": averaged.curve.x, f"{name}_y": averaged.curve.y}
            found[f"{name}_people"] = np.array([averaged.n_people, averaged.n_one_class], dtype=np.int64)
    return found
