"""The mixed model with items crossed with conditions, from the product's parts: lme4 and theory say more of it."""

from __future__ import annotations

import numpy as np

from inference.item_effects import ItemAnswers, ItemEffectsResult, ItemFit, read_answers
from inference.variance_components import Design, Estimates, Fit, RestrictedLikelihood, model_estimates


def crossed_fit(answers: ItemAnswers) -> tuple[Fit, Estimates]:
    """R's ``lmer(value ~ condition + (1 | person) + (1 | item))``."""
    read = read_answers(answers)
    likelihood = RestrictedLikelihood(
        Design(read.values, read.condition, read.person, read.item, np.zeros_like(read.item))
    )
    fit = likelihood.maximum()
    return fit, model_estimates(likelihood, fit)


def crossed_items(answers: ItemAnswers) -> ItemEffectsResult:
    """The same with every pair of conditions."""
    return ItemFit(read_answers(answers), *crossed_fit(answers)).result()
