"""The share of users with a long enough uploaded list, which a launch requires to be everyone."""

from __future__ import annotations

import numpy as np

from evaluation.selectors.models import algorithm_of
from evaluation.selectors.uploads import opened_upload
from recommenders.uploaded_lists import EVERYONE, SEGMENT
from studies.design.selectors.sample_profiles import reserved_profiles
from studies.design.services.condition_serving import recommend_in
from studies.models import Condition, Study

MOST_USERS = 100  # of the measured share


def coverage_problems(study: Study) -> list[str]:
    """What keeps uploaded lists from serving every participant, in sentences.

    Lists of a profile or a participant may be missing: then there is one for everyone, as long as any profile needs.
    """
    conditions = study.conditions.select_related("model").order_by("position")
    return [
        problem
        for condition in conditions
        if (kind := algorithm_of(condition.model)) is not None and kind.is_partial
        for problem in _problems(study, condition)
    ]


def _problems(study: Study, condition: Condition) -> list[str]:
    model, n = condition.model, study.design.listed_in(condition.shown)
    lists = opened_upload(study.dataset_version, model.algorithm, model.params).arrays
    needed = study.design.items_asked.most + n
    sizes = dict(zip(lists["list_keys"].tolist(), np.diff(lists["list_indptr"]).tolist(), strict=True))
    short = [key for key, size in sizes.items() if key.startswith((EVERYONE, SEGMENT)) and size < needed]
    if EVERYONE in sizes and not short:
        return []
    profiles = [profile.ratings for profile in reserved_profiles(study, MOST_USERS)]
    served = [recommend_in(study=study, condition=condition, ratings=ratings, n=n) for ratings in profiles]
    n_covered = sum(not any(each.is_filled) for each in served)
    share = f" ({int(100 * n_covered / len(profiles))}%)" if profiles else ""
    lacking = f"The list of {short[0]} has {sizes[short[0]]:,}." if short else "There is no list for everyone (*)."
    return [
        f"{condition.label}: its uploaded lists cover {n_covered:,} of {len(profiles):,} reserved users{share}. "
        f"{lacking} Upload lists with the key * in which it and every segment have at least {needed:,} items: "
        f"participants rate up to {study.design.items_asked.most:,}, and {n:,} others are recommended. Lists of "
        "participants (participant:ID) serve none before their ratings have been exported."
    ]
