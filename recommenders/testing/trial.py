"""An algorithm under test with the data it is fitted on, and how a check states what it requires."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings
from recommenders.progress import Progress, silent
from recommenders.testing.sample_data import new_profiles, sample_features, sample_ratings

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
        progress: Progress = silent,
    ) -> Algorithm:
        """Fit a model on the trial's data or on others, always with the same seed."""
        described = self.features if features is None else features
        return self.algorithm.fit(
            self.ratings if ratings is None else ratings,
            self.algorithm.Params.from_mapping({**self.algorithm.small, **self.options, **(options or {})}),
            features=described if self.algorithm.needs_features else None,
            rng=np.random.default_rng(SEED),
            progress=progress,
        )


def require(is_met: bool | np.bool_, message: str) -> None:
    """Raise AssertionError with the message unless the requirement is met."""
    if not is_met:
        raise AssertionError(message)


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
