"""Profiles of dataset users, as participants with their ratings would have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.selectors.ratings import ratings_of, user_ids_of
from core.errors import ParallaxError
from core.provenance import rng_for
from evaluation.selectors import cases
from recommenders.data import Profiles
from studies.models import Study
from studies.settings import USED

RESERVED, ANY = "reserved", "any"


@dataclass(frozen=True)
class SampleProfile:
    """Sampled ratings of a dataset user by item index; `is_reserved`: no model was trained on the user.

    `ratings` are numbers of points on the elicitation scale, or `USED` where participants choose items.
    """

    user: str
    ratings: dict[int, int]
    is_reserved: bool


def sample_profile(*, study: Study, draw: str, number: int) -> SampleProfile:
    """Return a dataset user with as many ratings as the study requires at least, reproducibly for each number.

    `draw` selects from users reserved from every model (RESERVED) or from all users (ANY). Raises `preview.no_user`.
    """
    users = _users(study, draw)
    if len(users) == 0:
        whose = "users that were reserved" if draw == RESERVED else "users of the dataset"
        raise ParallaxError("preview.no_user", f"None of the {whose} has {study.design.items_asked.fewest} ratings.")
    return _profile_of(study, draw, int(users[number % len(users)]))


def reserved_profiles(study: Study, most: int) -> Iterator[SampleProfile]:
    """The profiles of the first `most` reserved users, in the order in which `sample_profile` draws them."""
    return (_profile_of(study, RESERVED, int(user)) for user in _users(study, RESERVED)[:most])


def _users(study: Study, draw: str) -> NDArray[np.int64]:
    """Users with enough ratings, in random order."""
    ratings = ratings_of(study.dataset_version)
    indexes = cases.cases_of(study.run).reserved if draw == RESERVED else np.arange(ratings.user_items.shape[0])
    counts = np.diff(ratings.user_items.indptr)[indexes]
    fitting = indexes[counts >= study.design.items_asked.fewest]
    return np.asarray(fitting[rng_for(study.seed, "sample-users", draw).permutation(len(fitting))], dtype=np.int64)


def _profile_of(study: Study, draw: str, user: int) -> SampleProfile:
    ratings, wanted = ratings_of(study.dataset_version), study.design.items_asked.fewest
    profile = Profiles.of(ratings, np.array([user]))
    items, values = profile.user_items.indices, profile.user_items.data
    chosen = np.sort(rng_for(study.seed, "sample-items", user).choice(len(items), size=wanted, replace=False))
    scale = study.design.scale
    is_chosen = study.design.is_choice
    profile_ratings = {
        int(items[at]): USED if is_chosen else scale.nearest_point(float(values[at]), ratings.scale) for at in chosen
    }
    return SampleProfile(str(user_ids_of(study.dataset_version)[user]), profile_ratings, draw == RESERVED)
