"""A condition's recommendations for a profile of ratings: one way for participants, previews and the launch."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.services.serving import Served, recommend
from recommenders.data import History
from studies.models import Condition, Study
from studies.usage_data import is_usage


def recommend_in(
    *,
    study: Study,
    condition: Condition,
    ratings: Mapping[int, int],
    n: int,
    rated_at: Mapping[int, float] | None = None,
    context: Mapping[str, str] | None = None,
) -> Served:
    """Return the `n` best items of the condition's model for ratings by item index, none of them rated.

    `ratings` are numbers of points on the study's elicitation scale; the model maps their values to its own scale. On
    usage data the profile holds the items rated at or above the study's threshold; without such an item every slot is
    filled by popularity, and marked so, unless the model needs no profile. `rated_at`: seconds since 1970 of each
    rating, by item index, for models that read the order of rating; unknown in previews. Raises ArtefactError or
    ParallaxError as `evaluation.services.serving.recommend` does.
    """
    rated = sorted(ratings)  # models that read the order get it with the times

    def history_of(items: list[int]) -> History:
        times = None if rated_at is None else [rated_at[index] for index in items]
        return History("rating", times, context=context or {})

    if not is_usage(study.dataset_version):
        elicitation = study.design.scale
        values = [float(elicitation.value(ratings[index])) for index in rated]
        scale = (elicitation.scale.low, elicitation.scale.high, elicitation.scale.step)
        history = history_of(rated)
        return recommend(model=condition.model, items=rated, ratings=values, scale=scale, n=n, history=history)
    version = study.dataset_version
    profile = [index for index in rated if study.design.is_taken(ratings[index])]
    return recommend(
        model=condition.model,
        items=profile,
        ratings=[version.scale_high] * len(profile),
        scale=(version.scale_low, version.scale_high, version.scale_step),
        n=n,
        left_out=[index for index in rated if index not in profile],
        history=history_of(profile),
    )
