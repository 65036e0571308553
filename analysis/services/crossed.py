"""The ratings of items with persons and items as random effects: what holds beyond the items that were shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.selectors.inputs import Answers
from analysis.services.rankings import ALPHA, told
from inference.crossed import CROSSED, crossed_model
from inference.results import Undefined


def study_items(answers: Answers, alpha: float = ALPHA) -> dict[str, Any]:
    """Fit the ratings behind perceived accuracy, one answer a participant and item."""
    sizes = [person.n_items for person in answers.people]
    if not sizes:
        return told(Undefined("Nobody has judged an item yet.", CROSSED))
    if sum(sizes) != len(answers.shown):
        return told(Undefined("The ratings of single items are not all at hand.", CROSSED))
    # Items stand participant by participant, in the order of entry.
    persons = np.repeat(np.arange(len(sizes)), sizes).tolist()
    # One thread: the last bits of a sum over threads would move where the fit stops.
    with threadpool_limits(limits=1, user_api="blas"):
        return told(
            crossed_model(
                [one.rating for one in answers.shown],
                [one.condition for one in answers.shown],
                persons,
                [one.item for one in answers.shown],
                names=answers.conditions,
                alpha=alpha,
            )
        )
