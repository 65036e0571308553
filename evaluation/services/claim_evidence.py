"""What runs say of claims: values, intervals over users, and the pairs of algorithms that these separate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from evaluation.experiments.schema import Quantity
from evaluation.metrics.catalogue import METRICS
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun
from evaluation.selectors.results import ModelRow, model_rows
from evaluation.services.user_jackknife import Values, values_without_groups
from inference.claim_estimates import group_jackknife
from inference.claims import Estimate, Pairs, Weights


class RunsEvidence:
    """The metrics of runs with jackknife standard errors over groups of users, as `inference.claims.Evidence`.

    `runs` has every run with the names of its algorithms, in order, by its key in quantities; `stored_name` is the name
    under which a run stores the metric of a quantity. Without groups of users there are values, but no intervals.
    """

    def __init__(
        self,
        runs: Mapping[str, tuple[EvaluationRun, Sequence[str]]],
        stored_name: Callable[[Quantity], str] = lambda quantity: quantity.metric,
        *,
        alpha: float = 0.05,
    ) -> None:
        self.alpha, self._stored_name = alpha, stored_name

        @cache
        def rows(key: str, profile_length: int) -> dict[str, ModelRow]:
            run, names = runs[key]
            return dict(zip(names, model_rows(run, profile_length), strict=True))

        @cache
        def without_groups(key: str, profile_length: int) -> dict[str, Values]:
            run, names = runs[key]
            return dict(zip(names, values_without_groups(run, profile_length), strict=False))  # empty with folds

        self._rows, self._without_groups = rows, without_groups

    def value(self, quantity: Quantity, name: str) -> float | None:
        """An algorithm's value."""
        cells = self._rows(quantity.run, quantity.profile_length)[name].cells
        metric = self._stored_name(quantity)
        return cells[metric].value if metric in cells else None

    def contrast(self, quantity: Quantity, weights: Weights) -> Estimate | None:
        """A weighted sum of values, all without the same groups of users in turn."""
        of_names, metric = self._without_groups(quantity.run, quantity.profile_length), self._stored_name(quantity)
        values = [self.value(quantity, name) for name in weights]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or any(metric not in of_names.get(name, {}) for name in weights):
            return None
        factors = np.array(list(weights.values()))
        without = factors @ np.array([of_names[name][metric] for name in weights])
        return group_jackknife(float(factors @ known), without) if np.isfinite(without).all() else None

    def pairs(self, quantity: Quantity) -> Pairs | None:
        """The pairs whose difference has an interval without 0, by Bonferroni over all pairs with values."""
        rows = self._rows(quantity.run, quantity.profile_length)
        names = [name for name in rows if self.value(quantity, name) is not None]
        compared = list(combinations(names, 2))
        separated = set()
        for a, b in compared:
            difference = self.contrast(quantity, {a: 1.0, b: -1.0})
            if difference is None:
                return None
            interval = difference.interval(1 - self.alpha / len(compared))
            if interval.low > 0 or interval.high < 0:
                separated.add((a, b) if difference.value > 0 else (b, a))
        return separated

    def is_lower_better(self, quantity: Quantity) -> bool:
        """Whether it is an error or a rate of false alarms."""
        name = self._stored_name(quantity)
        known = METRICS.get(name) or named_metric(name).definition  # recall and similar come without a length
        return known.direction == "lower"
