"""An algorithm under test with the small data it is fitted on, and how a check states what it requires."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.items import Items
from recommenders.progress import Progress, no_progress

HALF_STARS = Scale(0.5, 5.0, 0.5)
N_USERS, N_ITEMS = 14, 10
KINDS = ("genre", "director", "tag", "country")


def random_ratings(seed: int, n_users: int, n_items: int, density: float = 0.5, scale: Scale = HALF_STARS) -> Ratings:
    """Random points of the scale; the last user and the last item have none."""
    rng = np.random.default_rng(seed)
    is_rated = rng.random((n_users, n_items)) < density
    is_rated[-1, :] = is_rated[:, -1] = False
    users, items = np.nonzero(is_rated)
    steps = round((scale.high - scale.low) / scale.step)
    values = scale.low + scale.step * rng.integers(0, steps + 1, users.size)
    return Ratings.from_triples(users, items, values, n_users, n_items, scale=scale)


def random_features(seed: int, n_items: int, n_terms: int = 8) -> ItemFeatures:
    """Random counts of terms of four kinds; the first item has none."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, (n_items, n_terms)).astype(np.float32)
    counts[0] = 0
    terms = tuple((KINDS[term % len(KINDS)], f"value {term}") for term in range(n_terms))
    return ItemFeatures(sparse.csr_array(counts), terms)


def uniform_features(n_items: int) -> ItemFeatures:
    """One term that every item has."""
    return ItemFeatures(sparse.csr_array(np.ones((n_items, 1), dtype=np.float32)), (("genre", "Drama"),))


def sample_ratings() -> Ratings:
    """The training ratings of the checks."""
    return random_ratings(1, N_USERS, N_ITEMS)


def sample_features() -> ItemFeatures:
    """Features of the same items."""
    return random_features(2, N_ITEMS)


def new_profiles() -> Profiles:
    """Six profiles of people who are not in the training data; the last is empty."""
    return Profiles(random_ratings(3, 6, N_ITEMS, density=0.4).user_items, HALF_STARS)


def sample_items(
    numbers: NDArray[np.integer[Any]], features: ItemFeatures, id_of: Callable[[int], str] = "item-{}".format
) -> Items:
    """Every field of the items with these numbers; `features` are those of the same items."""
    fields: dict[str, Any] = {
        "ids": tuple(id_of(int(number)) for number in numbers),
        "titles": tuple(f"Title {number}" for number in numbers),
        "years": 1990 + numbers % 30,
        "texts": {"": tuple(f"A story about {number % 3} and {number}." if number else "" for number in numbers)},
        "images": ("",) * len(numbers),
        "features": features,
    }
    return Items({name: partial(fields.get, name) for name in fields})


def sample_times(ratings: Ratings) -> NDArray[np.int64]:
    """A time of each rating; some users have two of the same second."""
    users, items, _ = ratings.triples()
    return np.asarray(10**9 + 60 * ((7 * items + 3 * users) % 11), dtype=np.int64)


def timed(profiles: Profiles) -> Profiles:
    """The same profiles with times."""
    times = sample_times(Ratings(profiles.user_items, profiles.scale))
    return replace(profiles, times=times, order_kind="consumption")


def checkerboard(n_users: int = 24, n_items: int = 12) -> tuple[Ratings, ItemFeatures]:
    """Ratings and features in which even users love even items and hate odd ones, and odd users the reverse.

    Each user has one item of either kind left to rate.
    """
    users, items = (side.ravel() for side in np.indices((n_users, n_items)))
    is_hidden = (items // 2) == (users // 2) % (n_items // 2)
    values = np.where((users + items) % 2 == 0, 5.0, 1.0)
    ratings = Ratings.from_triples(
        users[~is_hidden], items[~is_hidden], values[~is_hidden], n_users, n_items, scale=Scale(1, 5, 1)
    )
    parity = np.zeros((n_items, 2), dtype=np.float32)
    parity[np.arange(n_items), np.arange(n_items) % 2] = 1
    return ratings, ItemFeatures(sparse.csr_array(parity), (("genre", "even"), ("genre", "odd")))


SEED = 5


@dataclass(frozen=True, eq=False)
class Trial:
    """One algorithm and the small data of a check; each check gets a trial of its own."""

    algorithm: type[Algorithm]
    options: Mapping[str, Any] = field(default_factory=dict)  # parameters besides the class's `small`
    ratings: Ratings = field(default_factory=sample_ratings)
    features: ItemFeatures = field(default_factory=sample_features)
    profiles: Profiles = field(default_factory=new_profiles)

    def fit(
        self,
        ratings: Ratings | None = None,
        features: ItemFeatures | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        progress: Progress = no_progress,
    ) -> Algorithm:
        """Fit a model on the trial's data or on others, always with the same seed."""
        described = self.features if features is None else features
        return self.algorithm.fit(
            self.complete(self.ratings if ratings is None else ratings, described),
            self.algorithm.Params.from_mapping({**self.algorithm.small, **self.options, **(options or {})}),
            features=described if self.algorithm.needs_features else None,
            rng=np.random.default_rng(SEED),
            progress=progress,
        )

    def complete(self, ratings: Ratings, features: ItemFeatures) -> Ratings:
        """The ratings with the item fields and times that the class asks for, unless they have them."""
        if self.algorithm.item_fields - ratings.items.fields:
            ratings = replace(ratings, items=sample_items(np.arange(ratings.n_items), features))
        if self.algorithm.needs_times and ratings.times is None:
            ratings = replace(ratings, times=sample_times(ratings))
        return ratings


def require(is_met: bool | np.bool_, message: str) -> None:
    """Raise AssertionError with the message unless the requirement is met."""
    if not is_met:
        raise AssertionError(message)


def advise(is_met: bool | np.bool_, message: str) -> None:
    """Warn of what forms and tables would show badly, unless the advice is followed."""
    if not is_met:
        warnings.warn(message, stacklevel=2)


def require_close(actual: NDArray[Any], expected: NDArray[Any], tolerance: float, message: str) -> None:
    """Require equal arrays up to an absolute tolerance; -inf equals itself."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance, err_msg=message)


def require_refusal(kind: type[Exception], words: str, what: str, call: Callable[[], object]) -> None:
    """Require that a call raises such an error, whose message contains the words."""
    try:
        call()
    except kind as refusal:
        require(words in str(refusal), f"The error for {what} should contain {words!r}; it is: {refusal}")
        return
    raise AssertionError(f"{kind.__name__} expected for {what}; none was raised.")


def contents(arrays: Mapping[str, NDArray[Any]]) -> dict[str, bytes]:
    """The bytes of each array of a state."""
    return {name: array.tobytes() for name, array in arrays.items()}
