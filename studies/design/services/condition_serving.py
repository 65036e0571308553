"""A condition's recommendations for a profile of ratings: one way for participants, previews and the launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.selectors.ratings import scale_of
from evaluation.services.remote_lists import Served
from evaluation.services.serving import explain, recommend
from recommenders.data import History, Profiles, Scale
from recommenders.explanation import Explanation
from studies.models import Condition, Study
from studies.usage_data import is_usage


def recommend_in(
    *,
    study: Study,
    condition: Condition,
    ratings: Mapping[int, int],
    n: int,
    rated_at: Mapping[int, float] | None = None,
    context: Mapping[str, Any] | None = None,
    left_out: Sequence[int] = (),
    request: str = "",
) -> Served:
    """Return the `n` best items of the condition's model for ratings by item index, none rated or in `left_out`.

    `ratings` are numbers of points on the study's elicitation scale; the model maps their values to its own scale. On
    usage data the profile holds the items rated at or above the study's threshold; without such an item every slot is
    filled by popularity, and marked so, unless the model needs no profile. `rated_at`: seconds since 1970 of each
    rating, by item index, for models that read the order of rating; unknown in previews. `request`: the id under which
    a remote recommender is asked. Raises ArtefactError or
    ParallaxError as `evaluation.services.serving.recommend` does.
    """
    profile = _profile(study, ratings, rated_at, context)
    return recommend(
        model=condition.model,
        items=profile.items,
        ratings=profile.ratings,
        scale=profile.scale,
        n=n,
        left_out=[*profile.left_out, *left_out],
        history=profile.history,
        request=request,
    )


def explain_in(
    *,
    study: Study,
    condition: Condition,
    ratings: Mapping[int, int],
    of: Sequence[int],
    rated_at: Mapping[int, float] | None = None,
    context: Mapping[str, Any] | None = None,
) -> tuple[Explanation | None, ...]:
    """Return what each item of the profile contributed to the scores of the items `of`, for the same profile as
    `recommend_in`; None where the model has no score for an item, or cannot decompose it.
    """
    profile = _profile(study, ratings, rated_at, context)
    if not profile.items:
        return (None,) * len(of)
    return explain(
        model=condition.model,
        items=profile.items,
        ratings=profile.ratings,
        scale=profile.scale,
        of=of,
        history=profile.history,
    )


def profile_of(study: Study, ratings: Mapping[int, int]) -> Profiles:
    """The profile that models read for `ratings` as of `recommend_in`, on the dataset's scale."""
    profile, version = _profile(study, ratings, None, None), study.dataset_version
    elicited = Profiles.single(profile.items, profile.ratings, version.n_items, Scale(*profile.scale))
    return elicited.on(scale_of(version))


@dataclass(frozen=True)
class _Profile:
    """A profile as a model reads it; `left_out` are rated items that do not enter it and are not recommended."""

    items: list[int]
    ratings: list[float]
    scale: tuple[float, float, float]
    left_out: list[int]
    history: History


def _profile(
    study: Study,
    ratings: Mapping[int, int],
    rated_at: Mapping[int, float] | None,
    context: Mapping[str, Any] | None,
) -> _Profile:
    def history_of(items: list[int]) -> History:
        times = None if rated_at is None else [rated_at[index] for index in items]
        return History("rating", times, context=context or {})

    rated = sorted(ratings)  # models that read the order get it with the times
    version = study.dataset_version
    if not is_usage(version):
        elicitation = study.design.scale
        values = [float(elicitation.value(ratings[index])) for index in rated]
        scale = (elicitation.scale.low, elicitation.scale.high, elicitation.scale.step)
        return _Profile(rated, values, scale, [], history_of(rated))
    consumed = [index for index in rated if study.design.is_taken(ratings[index])]
    scale = (version.scale_low, version.scale_high, version.scale_step)
    left_out = [index for index in rated if index not in consumed]
    return _Profile(consumed, [version.scale_high] * len(consumed), scale, left_out, history_of(consumed))
