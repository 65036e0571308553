"""A condition's recommendations for a profile of ratings: one way for participants, previews and the launch."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.services.serving import Served, recommend
from studies.models import Condition, Study
from studies.usage_data import is_usage


def recommend_in(*, study: Study, condition: Condition, ratings: Mapping[int, int], n: int) -> Served:
    """Return the `n` best items of the condition's model for ratings by item index, none of them rated.

    `ratings` are numbers of points on the study's elicitation scale; the model maps their values to its own scale. On
    usage data the profile holds the items rated at or above the study's threshold; without such an item every slot is
    filled by popularity, and marked so, unless the model needs no profile. Raises ArtefactError or ParallaxError as
    `evaluation.services.serving.recommend` does.
    """
    rated = sorted(ratings)  # the order in which they were given does not matter to a model
    if not is_usage(study.dataset_version):
        elicitation = study.design.scale
        values = [float(elicitation.value(ratings[index])) for index in rated]
        scale = (elicitation.scale.low, elicitation.scale.high, elicitation.scale.step)
        return recommend(model=condition.model, items=rated, ratings=values, scale=scale, n=n)
    version = study.dataset_version
    profile = [index for index in rated if study.design.is_taken(ratings[index])]
    return recommend(
        model=condition.model,
        items=profile,
        ratings=[version.scale_high] * len(profile),
        scale=(version.scale_low, version.scale_high, version.scale_step),
        n=n,
        left_out=[index for index in rated if index not in profile],
    )
