"""A condition's recommendations for a profile in stars: one way for participants, previews and the launch."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.services.serving import Served, recommend
from studies.instrument.measures import RATING_HIGH, RATING_LOW
from studies.models import Condition, Study
from studies.usage_data import is_usage, taken_from

SCALE = (float(RATING_LOW), float(RATING_HIGH), 1.0)


def recommend_in(*, study: Study, condition: Condition, ratings: Mapping[int, int], n: int) -> Served:
    """Return the `n` best items of the condition's model for stars by item index, none of them rated.

    On usage data the profile holds the items rated at or above the study's threshold; without such an item every slot
    is filled by popularity, and marked so, unless the model needs no profile. Raises ArtefactError or ParallaxError as
    `evaluation.services.serving.recommend` does.
    """
    rated = sorted(ratings)  # the order in which they were given does not matter to a model
    if not is_usage(study.dataset_version):
        stars = [float(ratings[index]) for index in rated]
        return recommend(model=condition.model, items=rated, ratings=stars, scale=SCALE, n=n)
    version = study.dataset_version
    profile = [index for index in rated if ratings[index] >= taken_from(study.settings)]
    return recommend(
        model=condition.model,
        items=profile,
        ratings=[version.scale_high] * len(profile),
        scale=(version.scale_low, version.scale_high, version.scale_step),
        n=n,
        left_out=[index for index in rated if index not in profile],
    )
