"""The tests over users that the claims of an experiment are judged by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.experiments.schema import Place
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import Measured
from evaluation.services.user_jackknife import Values, values_without_groups
from inference.jackknife import JackknifeEstimate, group_jackknife
from inference.paired import sign_test
from inference.results import SignTestResult


class ClaimTests:
    """Jackknife standard errors over groups of users, and sign tests by user, each computed once."""

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._without_groups: dict[tuple[str, int], dict[str, Values]] = {}
        self._by_user: dict[Place, dict[str, NDArray[np.float64]]] = {}

    def value(self, place: Place, name: str) -> JackknifeEstimate | None:
        """An algorithm's value with its standard error; None where the run has no groups of users, or no value."""
        value, values = self._values(place, name)
        return _estimate(value, values)

    def difference(self, place: Place, first: str, second: str) -> JackknifeEstimate | None:
        """The first algorithm's value less the second's; both lack the same users in turn."""
        (a, without_a), (b, without_b) = self._values(place, first), self._values(place, second)
        if a is None or b is None or without_a is None or without_b is None:
            return None
        return _estimate(a - b, without_a - without_b)

    def sign_p(self, place: Place, first: str, second: str) -> float | None:
        """The p of a one-sided sign test by user; None for a metric without values by user."""
        if place not in self._by_user:
            self._by_user[place] = selectors.values_by_user(self._measured, place)
        values = self._by_user[place]
        if first not in values or second not in values:
            return None
        result = sign_test(values[first], values[second])
        return result.p if isinstance(result, SignTestResult) else None

    def _values(self, place: Place, name: str) -> tuple[float | None, NDArray[np.float64] | None]:
        plan = self._measured.experiment.runs[place.run]
        key = (place.run, place.profile_length)
        if key not in self._without_groups:
            found = values_without_groups(self._measured.runs[place.run], place.profile_length)
            self._without_groups[key] = dict(zip(plan.contenders, found, strict=False))  # none for runs with folds
        metric = selectors.measured_name(plan, place.metric)
        value = selectors.numbers_at(self._measured, [place])[place, name]
        return value, self._without_groups[key].get(name, {}).get(metric)


def _estimate(value: float | None, values: NDArray[np.float64] | None) -> JackknifeEstimate | None:
    if value is None or values is None or not np.isfinite(values).all():
        return None
    return group_jackknife(value, values)
