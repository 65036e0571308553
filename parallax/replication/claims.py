"""The paper's statements, judged on the answers and the run of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.models import Report
from analysis.read.inputs import Measured, Person, measured_by, positions_in
from analysis.read.responses import read_answers
from evaluation.experiments.schema import Quantity
from evaluation.selectors.results import reported_metrics
from evaluation.selectors.runs import measured_algorithms
from evaluation.services.claim_evidence import RunsEvidence
from inference.anova import welch
from inference.average_advantage import MeanEstimates
from inference.claim_estimates import (
    contrast_of_means,
    correlation_estimate,
    effect_estimate,
    group_jackknife,
    median_estimate,
    share_estimate,
)
from inference.claims import WHOLE, Estimate, Pairs, Weights, judge, verdict
from inference.correlation import pearson
from inference.pair_decisions import offline_pairs
from inference.posthoc import games_howell
from inference.results import PairwiseResult, Undefined
from parallax.replication.published import Claim
from studies.monitoring.selectors.exclusions import exclusions

FEWEST = 5  # participants of a condition that is compared
NOT_SCORED = "not scored"
ACCURACY, FON, SON = "perceived accuracy", "first-order novelty", "second-order novelty"
SATISFACTION = "global satisfaction"
EFFECT = "effect on "
Ratings = Sequence[int]
Columns = Mapping[str, NDArray[np.float64]]

# Quantities of one participant, from the sums and the single ratings.
# A replication asks all questions, so no sum is None.
MEANS: Mapping[str, Callable[[Any, Ratings], Fraction | int]] = {
    ACCURACY: lambda person, ratings: Fraction(person.accuracy_sum, person.n_items),
    FON: lambda person, ratings: Fraction(person.fon_sum, person.n_items),
    SON: lambda person, ratings: Fraction(person.son_sum, person.n_items),
    SATISFACTION: lambda person, ratings: person.satisfaction,
    "ratings of 2 or less": lambda person, ratings: Fraction(sum(rating <= 2 for rating in ratings), len(ratings)),
    "items rated 3 or more": lambda person, ratings: sum(rating >= 3 for rating in ratings),
}
SHARES: Mapping[str, Callable[[Any, Ratings], bool]] = {
    "perceived accuracy of 3 or more": lambda person, ratings: person.accuracy_sum >= 3 * person.n_items,
    "no unheard-of item": lambda person, ratings: person.son_sum == 0,
}
MEDIAN = f"median {ACCURACY}"
NOVELTIES_R = "r of both novelties"


def _r(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) and np.ptp(y) else np.nan


def _within(values: NDArray[np.float64], conditions: NDArray[np.str_]) -> float:
    """The root of the sum of squares around the conditions' means; NaN where nothing varies."""
    _names, of = np.unique(conditions, return_inverse=True)
    means = np.bincount(of, values) / np.bincount(of)
    return float(np.linalg.norm(values - means[of])) or np.nan


def _spread(columns: Columns, conditions: NDArray[np.str_]) -> float:
    return float(np.log(_within(columns[SATISFACTION], conditions) / _within(columns[ACCURACY], conditions)))


def _accuracy_over(novelty: str) -> Callable[[Columns, NDArray[np.str_]], float]:
    def statistic(columns: Columns, conditions: NDArray[np.str_]) -> float:
        return _r(columns[SATISFACTION], columns[ACCURACY]) - abs(_r(columns[SATISFACTION], columns[novelty]))

    return statistic


STATISTICS: Mapping[str, Callable[[Columns, NDArray[np.str_]], float]] = {
    "log ratio of the SDs of satisfaction and accuracy": _spread,
    f"r of satisfaction with accuracy less |r| with {FON}": _accuracy_over(FON),
    f"r of satisfaction with accuracy less |r| with {SON}": _accuracy_over(SON),
}


class StudyEvidence:
    """A report's evidence, as `inference.claims.Evidence`: participants' answers, and the run with its users.

    `people` are the analysed participants with the paper's name of their algorithm and their single ratings. Pairs of
    participants' values are those of Games and Howell's test, and those of recall and fallout of the report's
    comparisons. Algorithms with fewer than five participants have no intervals and take part in no pair.
    """

    def __init__(
        self,
        people: Sequence[tuple[str, Person, Ratings]],
        offline: RunsEvidence,
        offline_pairs: Mapping[str, Pairs | None],
        alpha: float,
    ) -> None:
        self.alpha = alpha
        self._people, self._offline, self._offline_pairs = people, offline, offline_pairs
        self.pairs = lru_cache(maxsize=None)(self._pairs)  # Games and Howell's test is slow

    @classmethod
    def of(cls, report: Report, names: Mapping[str, str]) -> StudyEvidence:
        """Read a report's answers, exclusions as in the report, and its run; `names` has the paper's by condition."""
        study, run, results = report.study, report.run, report.read_results()
        excluded = exclusions(study, [results.mode], by_hand=results.plan.by_hand, rule=results.plan.exclude)
        answers = read_answers(study, results.mode, excluded).analysed
        shown = iter(answers.shown)
        people = [
            (
                names[person.condition],
                person,
                [rating for _ in range(person.n_items) if (rating := next(shown).rating) is not None],
            )
            for person in answers.people
        ]
        positions = positions_in(study, run)
        measured = measured_by(run, answers.conditions, positions, 0)
        by_position = {at: names[label] for at, label in zip(positions, answers.conditions, strict=True)}
        of_run = [by_position.get(at, "") for at in range(len(measured_algorithms(run)))]
        stored, alpha = reported_metrics(run), results.plan.alpha
        offline = RunsEvidence(
            {"": (run, of_run)}, lambda quantity: stored.get(quantity.metric, quantity.metric), alpha=alpha
        )
        of_users = {kind: _pairs_of_users(measured, kind, names, alpha) for kind in ("recall", "fallout")}
        return cls(people, offline, of_users, alpha)

    def value(self, quantity: str, name: str) -> float | None:
        if name not in WHOLE and quantity in ("recall", "fallout", "f"):
            return self._offline.value(Quantity("", quantity), name)
        estimate = self.contrast(quantity, {name: 1.0})
        return None if estimate is None else estimate.value

    def contrast(self, quantity: str, weights: Weights) -> Estimate | None:
        """A weighted sum of algorithms' values, or a statistic of all participants."""
        if quantity in ("recall", "fallout", "f"):
            return self._offline.contrast(Quantity("", quantity), weights)
        if tuple(weights) == WHOLE:
            return self._overall(quantity)
        groups = self._groups(ACCURACY if quantity == MEDIAN else quantity)
        weights = {name: weight for name, weight in weights.items() if weight}
        if not weights.keys() <= groups.keys():
            return None
        if quantity in MEANS:
            return contrast_of_means(MeanEstimates.of_groups(groups), weights)
        (name,) = weights
        values = np.array(groups[name], dtype=np.float64)
        return share_estimate(values) if quantity in SHARES else median_estimate(values, low=1, high=5)

    def _overall(self, quantity: str) -> Estimate | None:
        if quantity.startswith(EFFECT):
            test = welch(self._groups(quantity.removeprefix(EFFECT)), leave_out_constant=True)
            return None if isinstance(test, Undefined) else effect_estimate(test)
        values_of = {key: [of(person, ratings) for _name, person, ratings in self._people] for key, of in MEANS.items()}
        n = len(self._people)
        if n <= 3:
            return None
        if quantity == NOVELTIES_R:
            r = pearson(values_of[FON], values_of[SON])
            return None if isinstance(r, Undefined) else correlation_estimate(r.coefficient, n)
        columns = {key: np.array(of_key, dtype=np.float64) for key, of_key in values_of.items()}
        conditions, of = np.array([name for name, _person, _ratings in self._people]), STATISTICS[quantity]
        values = []
        for rest in (np.arange(n) != left_out for left_out in range(-1, n)):
            values.append(of({key: column[rest] for key, column in columns.items()}, conditions[rest]))
        return group_jackknife(values[0], values[1:]) if np.isfinite(values).all() else None

    def _pairs(self, quantity: str) -> Pairs | None:
        if quantity == "f":
            return self._offline.pairs(Quantity("", quantity))
        if quantity in self._offline_pairs:
            return self._offline_pairs[quantity]
        return _significant(games_howell(self._groups(quantity), self.alpha))

    def is_lower_better(self, quantity: str) -> bool:
        """Whether it is fallout."""
        return quantity == "fallout"

    def _groups(self, quantity: str) -> dict[str, list[Fraction | int]]:
        of, groups = {**MEANS, **SHARES}[quantity], dict[str, list[Fraction | int]]()
        for name, person, ratings in self._people:
            groups.setdefault(name, []).append(of(person, ratings))
        return {name: values for name, values in groups.items() if len(values) >= FEWEST}


def _pairs_of_users(measured: Measured, kind: str, names: Mapping[str, str], alpha: float) -> Pairs | None:
    if kind not in measured.users:
        return None
    columns = measured.users[kind].T
    values = {names[label]: column for label, column in zip(measured.conditions, columns, strict=True)}
    return _significant(offline_pairs(values, measured.cases[kind], alpha=alpha))


def _significant(tests: PairwiseResult | Undefined) -> Pairs | None:
    if isinstance(tests, Undefined):
        return None
    pairs = (pair for pair in tests.pairs if pair.is_significant)
    return {(pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a) for pair in pairs}


@dataclass(frozen=True)
class Judgement:
    """A statement with its verdict and our numbers."""

    claim: Claim
    verdict: str
    ours: str


def judged(claim: Claim, evidence: StudyEvidence) -> Judgement:
    """Judge a statement; one without a check is shown with our values and not scored."""
    if claim.check is None:
        values = {name: evidence.value(claim.shows, name) for name in claim.names}
        ours = ", ".join(f"{name} {value:.2f}" for name, value in values.items() if value is not None)
        return Judgement(claim, NOT_SCORED, ours)
    check = claim.check
    findings = judge(check.rule, evidence, check.quantities, claim.names, **check.options)
    several = len(check.quantities) > 1
    words = [f"{finding.quantity}: {finding.words}" if several else finding.words for finding in findings]
    return Judgement(claim, verdict(findings), "; ".join(words))
