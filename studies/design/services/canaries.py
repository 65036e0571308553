"""Canary profiles: what each remote recommender answers to the same profiles at the launch, and every hour since."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from evaluation.enums import ModelOrigin
from studies.design.selectors.sample_profiles import reserved_profiles
from studies.design.services.condition_serving import recommend_in
from studies.models import Condition, Study
from studies.settings import LONGEST_PREPARATION

N_CANARIES = 20
USUAL = 0.9  # quantile of the answers' seconds that is the preparation time of every condition


def remote_conditions(study: Study) -> Sequence[Condition]:
    """The study's conditions with a remote recommender, in order."""
    remote = study.conditions.filter(model__origin=ModelOrigin.REMOTE)
    return list(remote.select_related("model").order_by("position"))


def canary_lists(
    study: Study, condition: Condition, *, is_repeated: bool = False
) -> tuple[list[dict[str, Any]], list[float]]:
    """The lists of a remote condition for profiles of reserved users, and the seconds that each took.

    `is_repeated`: failed requests are, as a worker does; a launch stops at the first. Raises ParallaxError as
    `evaluation.services.serving.recommend` does.
    """
    lists, seconds = [], []
    for profile in reserved_profiles(study, N_CANARIES):
        n, request = study.design.listed_in(condition.shown), str(uuid4()) if is_repeated else ""
        served = recommend_in(study=study, condition=condition, ratings=profile.ratings, n=n, request=request)
        lists.append({"user": profile.user, "items": list(served.items)})
        seconds.append(served.seconds)
    return lists, seconds


def usual_seconds(seconds: Sequence[float]) -> float:
    """In how many seconds nine of ten lists were there, in whole tenths, and one for the worker and the page.

    Participants of local recommenders wait as long, and so see the same page.
    """
    answers = math.ceil(10 * float(np.quantile(seconds, USUAL))) / 10 if seconds else 0.0
    return min(answers + 1.0, LONGEST_PREPARATION)


def changed_canaries(study: Study, condition: Condition) -> str:
    """Ask again for the lists of the launch; returns what differs in a sentence, and nothing for a service that does
    not promise the same lists. Raises ParallaxError as `canary_lists` does.
    """
    lists, _seconds = canary_lists(study, condition, is_repeated=True)
    if not condition.model.provenance["deterministic"]:
        return ""
    differing = [str(now["user"]) for before, now in zip(condition.canaries, lists, strict=True) if before != now]
    if not differing:
        return ""
    return (
        f"{len(differing)} of {len(lists)} canary profiles get other lists than at the launch, from the same version "
        f"(users {', '.join(differing[:5])}). Start the version of the launch again, or close the study."
    )
