"""A condition's recommendations for a profile of ratings: one way for participants, previews and the launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.services.serving import Served, explain, recommend
from recommenders.explanation import Explanation
from studies.models import Condition, Study
from studies.usage_data import is_usage


def recommend_in(*, study: Study, condition: Condition, ratings: Mapping[int, int], n: int) -> Served:
    """Return the `n` best items of the condition's model for ratings by item index, none of them rated.

    `ratings` are numbers of points on the study's elicitation scale; the model maps their values to its own scale. On
    usage data the profile holds the items rated at or above the study's threshold; without such an item every slot is
    filled by popularity, and marked so, unless the model needs no profile. Raises ArtefactError or ParallaxError as
    `evaluation.services.serving.recommend` does.
    """
    profile = _profile(study, ratings)
    return recommend(
        model=condition.model,
        items=profile.items,
        ratings=profile.ratings,
        scale=profile.scale,
        n=n,
        left_out=profile.left_out,
    )


def explain_in(
    *, study: Study, condition: Condition, ratings: Mapping[int, int], of: Sequence[int]
) -> tuple[Explanation | None, ...]:
    """Return what each item of the profile contributed to the scores of the items `of`, for the same profile as
    `recommend_in`; None where the model has no score for an item, or cannot decompose it.
    """
    profile = _profile(study, ratings)
    if not profile.items:
        return (None,) * len(of)
    return explain(model=condition.model, items=profile.items, ratings=profile.ratings, scale=profile.scale, of=of)


@dataclass(frozen=True)
class _Profile:
    """A profile as a model reads it; `left_out` are rated items that do not enter it and are not recommended."""

    items: list[int]
    ratings: list[float]
    scale: tuple[float, float, float]
    left_out: list[int]


def _profile(study: Study, ratings: Mapping[int, int]) -> _Profile:
    rated = sorted(ratings)  # the order in which they were given does not matter to a model
    version = study.dataset_version
    if not is_usage(version):
        elicitation = study.design.scale
        values = [float(elicitation.value(ratings[index])) for index in rated]
        scale = (elicitation.scale.low, elicitation.scale.high, elicitation.scale.step)
        return _Profile(rated, values, scale, [])
    taken = [index for index in rated if study.design.is_taken(ratings[index])]
    scale = (version.scale_low, version.scale_high, version.scale_step)
    left_out = [index for index in rated if index not in taken]
    return _Profile(taken, [version.scale_high] * len(taken), scale, left_out)
