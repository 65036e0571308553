"""Tests over users on which the verdicts about claims are based."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.experiments.schema import Quantity
from evaluation.selectors import experiments as selectors
from evaluation.selectors.experiments import ExperimentResults
from evaluation.services.user_jackknife import Values, values_without_groups
from inference.jackknife import JackknifeEstimate, group_jackknife
from inference.paired import sign_test
from inference.results import SignTestResult


class ClaimTests:
    """Jackknife standard errors over groups of users, and sign tests over users, each computed once."""

    def __init__(self, results: ExperimentResults) -> None:
        self._results = results
        self._without_groups: dict[tuple[str, int], dict[str, Values]] = {}
        self._by_user: dict[Quantity, dict[str, NDArray[np.float64]]] = {}

    def value(self, quantity: Quantity, name: str) -> JackknifeEstimate | None:
        """Return an algorithm's value with its standard error; None without groups of users or without a value."""
        value, values = self._values(quantity, name)
        return _estimate(value, values)

    def difference(self, quantity: Quantity, first: str, second: str) -> JackknifeEstimate | None:
        """Return the first algorithm's value minus the second's, both without the same groups of users."""
        (a, without_a), (b, without_b) = self._values(quantity, first), self._values(quantity, second)
        if a is None or b is None or without_a is None or without_b is None:
            return None
        return _estimate(a - b, without_a - without_b)

    def sign_p(self, quantity: Quantity, first: str, second: str) -> float | None:
        """Return the p value of a one-sided sign test over users; None for metrics without values by user."""
        if quantity not in self._by_user:
            self._by_user[quantity] = selectors.values_by_user(self._results, quantity)
        values = self._by_user[quantity]
        if first not in values or second not in values:
            return None
        result = sign_test(values[first], values[second], "greater")
        return result.p if isinstance(result, SignTestResult) else None

    def _values(self, quantity: Quantity, name: str) -> tuple[float | None, NDArray[np.float64] | None]:
        plan = self._results.experiment.runs[quantity.run]
        key = (quantity.run, quantity.profile_length)
        if key not in self._without_groups:
            jackknife = values_without_groups(self._results.runs[quantity.run], quantity.profile_length)
            self._without_groups[key] = dict(zip(plan.contenders, jackknife, strict=False))  # none for runs with folds
        metric = selectors.measured_name(plan, quantity.metric)
        value = selectors.numbers_at(self._results, [quantity])[quantity, name]
        return value, self._without_groups[key].get(name, {}).get(metric)


def _estimate(value: float | None, values: NDArray[np.float64] | None) -> JackknifeEstimate | None:
    if value is None or values is None or not np.isfinite(values).all():
        return None
    return group_jackknife(value, values)
