"""The ratings of items with participants and items as random effects, to generalise over both."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.compute.rankings import ALPHA
from analysis.read.inputs import Answers
from inference.average_advantage import MeanEstimates
from inference.item_effects import ItemAnswers, ItemEffectsResult, fit_items
from inference.results import Undefined


def nested_model(
    answers: Answers, alpha: float = ALPHA
) -> tuple[ItemEffectsResult | Undefined, MeanEstimates | Undefined]:
    """Fit the ratings behind perceived accuracy with items nested in conditions; the result and its estimates."""
    sizes = [person.n_items for person in answers.people]
    if not sizes:
        return (Undefined("No participant has judged an item yet."),) * 2
    if sum(sizes) != len(answers.shown):
        return (Undefined("The ratings of single items are incomplete."),) * 2
    ratings = ItemAnswers(
        values=[slot.rating for slot in answers.shown],
        conditions=[slot.condition for slot in answers.shown],
        # Slots are ordered by participant, in the order of entry.
        persons=np.repeat(np.arange(len(sizes)), sizes).tolist(),
        items=[slot.item for slot in answers.shown],
        names=answers.conditions,
    )
    # One thread: sums over threads differ in their last bits, and so would the end of the fit.
    with threadpool_limits(limits=1, user_api="blas"):
        fitted = fit_items(ratings)
        return (fitted, fitted) if isinstance(fitted, Undefined) else (fitted.result(alpha), fitted.means)
