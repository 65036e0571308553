"""Reduction: the metrics of an algorithm are computed from its measurements; the last one ends the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from numpy.typing import NDArray
from scipy.sparse import csr_array

from catalog.selectors.ratings import content_terms, genre_terms
from core import artefacts
from core.errors import ParallaxError
from core.transitions import move
from evaluation.enums import RUN_MOVES, PartKind, PartStatus, RunStatus
from evaluation.metrics.beyond_accuracy import genre_distribution
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun, MetricResult, RunAlgorithm, RunPart
from evaluation.protocols.blocks import Arrays, joined
from evaluation.protocols.cases import Cases
from evaluation.protocols.facts import ModelFacts, popularity_ranks, profile_popularity
from evaluation.protocols.fold_pooling import by_user, pool
from evaluation.protocols.outcomes import Outcome, Outcomes, of_users, outcomes
from evaluation.selectors.cases import RunCases, cases_of, training_rows
from evaluation.selectors.results import COVERED_PROFILES
from evaluation.selectors.runs import DEVELOPMENT, longest_list, measured_algorithms, metric_names
from evaluation.selectors.uploads import opened_upload
from evaluation.services.coverage import OF_LISTS, compared_users
from evaluation.services.parts import Outcome as PartOutcome
from evaluation.services.parts import remove_parts
from recommenders import registry
from recommenders.data import Ratings
from recommenders.uploaded_lists import answer_keys

# Algorithms whose scores are probabilities of the same event for every user.
COMPARABLE = ("aspect", "aspect-content", "lpca", "naive-bayes")


@dataclass(frozen=True)
class TrainingSides:
    """The facts about the training ratings that metrics need."""

    facts: ModelFacts  # but for what a model's scores are
    case_facts: tuple[Arrays, ...]  # of each fold; arrays by case that metrics need, as `protocols.facts` has them

    def of_scores(self, key: str) -> TrainingSides:
        """The same, with what the scores of the algorithm `key` are."""
        kind = registry.algorithm(key)
        is_comparable = kind.score_kind == "rating" or kind.key in COMPARABLE
        return self.of_kind(kind.score_kind, is_comparable=is_comparable, is_partial=kind.is_partial)

    def of_kind(
        self, score_kind: Literal["rating", "order"], *, is_comparable: bool, is_partial: bool = False
    ) -> TrainingSides:
        """The same, with what scores are."""
        facts = replace(self.facts, score_kind=score_kind, is_comparable=is_comparable, is_partial=is_partial)
        return replace(self, facts=facts)


def reduce(part: RunPart, check: Callable[[], None]) -> PartOutcome:
    """Join the measurements of the part's algorithm in the order of the cases and compute every metric.

    The part without an algorithm does so for those that have no results, as in runs of an earlier version of the
    project, and ends the run.
    """
    started = time.perf_counter()
    run, algorithm = part.run, part.algorithm
    algorithms = measured_algorithms(run).filter(results=None) if algorithm is None else [algorithm]
    rows: list[MetricResult] = []
    if algorithms:
        folds = [cases_of(run, fold) for fold in range(len(run.folds) or 1)]
        sides = training_sides(run, folds)
        for each in algorithms:
            for length in (0, *run.profile_lengths):
                check()
                rows += _metrics(run, each, length, folds, sides)

    def store_results() -> None:
        MetricResult.objects.bulk_create(rows)

    if algorithm is not None:
        return PartOutcome(seconds=time.perf_counter() - started, effects=store_results)
    seconds_of = dict(
        RunPart.objects.filter(run=run, kind=PartKind.MEASURE, profile_length=0, algorithm__error="")
        .order_by()
        .values_list("algorithm")
        .annotate(Sum("seconds"))
    )

    def effects() -> None:
        store_results()
        for pk, seconds in seconds_of.items():
            RunAlgorithm.objects.filter(pk=pk).update(score_seconds=seconds)
        finished = EvaluationRun.objects.get(pk=run.pk)
        move(finished, to=RunStatus.SUCCEEDED, allowed=RUN_MOVES, activity="", finished_at=timezone.now())
        transaction.on_commit(partial(remove_parts, run=finished))

    return PartOutcome(seconds=time.perf_counter() - started, effects=effects)


def training_sides(run: EvaluationRun, folds: Sequence[RunCases]) -> TrainingSides:
    """Collect the facts about the training ratings of each fold that the run's metrics need."""
    return sides_of(
        run,
        [
            (fold.cases, training_rows(fold.training_digest), training_rows(fold.profiles_digest), fold.profiled)
            for fold in folds
        ],
    )


def sides_of(run: EvaluationRun, folds: Sequence[tuple[Cases, Ratings, Ratings, NDArray[np.int64]]]) -> TrainingSides:
    """As `training_sides`, of each fold's cases, training rows and profiles, with the user of each profile."""
    keys = {named_metric(name).key for name in metric_names(run)}
    of_cases = keys if run.protocol["name"] == "full-ranking" else ()
    genres = genre_terms(run.version) if "calibration" in of_cases else None
    facts = [_case_facts(*fold, keys=of_cases, item_genres=genres) for fold in folds]
    trainings = [ratings for _, ratings, _, _ in folds]
    return TrainingSides(
        ModelFacts(
            score_kind="order",
            is_comparable=False,
            low=trainings[0].scale.low,
            high=trainings[0].scale.high,
            popularity=np.stack([ratings.item_counts for ratings in trainings]),
            n_users=np.array([ratings.n_users for ratings in trainings], dtype=np.int64),
            item_terms=content_terms(run.version) if "diversity" in keys else None,
            item_genres=genres,
        ),
        tuple(facts),
    )


def _case_facts(
    cases: Cases,
    ratings: Ratings,
    profiles: Ratings,
    profiled: NDArray[np.int64],
    *,
    keys: Collection[str],
    item_genres: csr_array | None,
) -> Arrays:
    """Compute the arrays by case, or by list, that the metrics `keys` of whole lists need beside the measurements."""
    facts: Arrays = {}
    if "serendipity" in keys:
        facts["popularity_ranks"] = popularity_ranks(cases, ratings.item_counts)
    if "popularity-lift" in keys:
        of_profiles = profile_popularity(profiles.user_items, ratings.item_counts)
        facts["profile_popularity"] = of_profiles[np.searchsorted(profiled, cases.users)]
    if item_genres is not None:
        rows = np.searchsorted(profiled, np.unique(cases.users))
        facts["list_profile_genres"] = genre_distribution(profiles.user_items[rows], item_genres)
    return facts


def _metrics(
    run: EvaluationRun, algorithm: RunAlgorithm, length: int, folds: Sequence[RunCases], sides: TrainingSides
) -> list[MetricResult]:
    sides = sides.of_scores(algorithm.algorithm)
    measured = [
        _joined(run, algorithm, length, fold, n_cases=len(run_cases.cases)) | sides.case_facts[fold]
        for fold, run_cases in enumerate(folds)
    ]
    users = [compared_users(run, run_cases, length) for run_cases in folds]
    compared = [
        (run_cases.cases, arrays) if own is None else of_users(run_cases.cases, arrays, own)
        for run_cases, arrays, own in zip(folds, measured, users, strict=True)
    ]
    if run.folds:
        pooled = pool(run.protocol, *zip(*compared, strict=True))
        arrays = pooled.arrays
        whole = by_user(outcomes_of(run, pooled.cases, arrays, sides), pooled.n_lists)
        models = algorithm.parts.filter(kind=PartKind.FIT).order_by("fold").values_list("model__digest", flat=True)
        model_digests: dict[str, Any] = {"models": list(models)}
    else:
        arrays = measured[0]
        cases, of_cases = compared[0]
        whole = outcomes_of_run(run, of_cases, replace(folds[0], cases=cases), sides)
        model_digests = {"model": algorithm.model.digest if algorithm.model else ""}
    if registry.algorithm(algorithm.algorithm).is_partial and run.protocol["name"] in OF_LISTS:
        is_compared = any(own is not None for own in users)
        whole = _with_coverage(run, algorithm, whole, folds, measured, is_compared=is_compared)
    digest = store_outcomes(run, arrays, whole, {**model_digests, "profile_length": length})
    return [
        MetricResult(
            algorithm=algorithm,
            profile_length=length,
            metric=result.metric,
            value=result.value,
            reason=result.reason,
            by_n=list(result.by_n),
            users_digest=digest,
        )
        for result in whole.values
    ]


def _with_coverage(
    run: EvaluationRun,
    algorithm: RunAlgorithm,
    whole: Outcomes,
    folds: Sequence[RunCases],
    measured: Sequence[Arrays],
    *,
    is_compared: bool,
) -> Outcomes:
    """Add the coverage of uploaded lists; without a profile to compare them on there are no other values."""
    is_covered = np.concatenate([arrays["all_scored"] > 0 for arrays in measured])
    profiles = np.concatenate(
        [run_cases.cases.users.astype(np.int64) * len(folds) + fold for fold, run_cases in enumerate(folds)]
    )
    n_users, n_covered = np.unique(profiles).size, np.unique(profiles[is_covered]).size
    upload = opened_upload(run.version, algorithm.algorithm, algorithm.params)
    shares = {
        COVERED_PROFILES: n_covered / n_users,
        "covered-cases": float(is_covered.mean()),
        "covered-items": float(upload.arrays["is_known"].mean()),
    }
    values, arrays = whole.values, whole.arrays
    if not n_covered or not is_compared:
        reason = "no test profile has a list of every algorithm" if n_covered else "no test profile has a list"
        values = tuple(replace(each, value=None, by_n=(None,) * len(each.by_n), reason=reason) for each in values)
        arrays = {name: np.full_like(own, np.nan) if name.endswith("_values") else own for name, own in arrays.items()}
    words = (
        f"its lists cover {n_covered:,} of {n_users:,} test profiles, {shares['covered-cases']:.1%} of the cases and "
        f"{shares['covered-items']:.1%} of the items"
    )
    if answer_keys(upload.arrays["list_keys"].tolist(), upload.arrays["genres"].tolist()):
        words += "; those by answers to questions are not measured"
    coverage = (Outcome(name, value, reason=words) for name, value in shares.items())
    return Outcomes((*values, *coverage), arrays)


def store_outcomes(run: EvaluationRun, arrays: Arrays, whole: Outcomes, facts: dict[str, Any]) -> str:
    """Store measurements and values by user as the artefact ``results``; return its digest."""
    lengths = list(range(1, longest_list(run) + 1))
    meta = {"cases": run.cases_digest, **facts, "protocol": run.protocol, "n": lengths}
    return artefacts.store("results", {**arrays, **whole.arrays}, meta)


def outcomes_of_run(run: EvaluationRun, arrays: Arrays, run_cases: RunCases, sides: TrainingSides) -> Outcomes:
    """Compute the metrics over all test users; with development users, separately for both groups."""
    if run_cases.development is None:
        return outcomes_of(run, run_cases.cases, arrays, sides)
    evaluation = np.setdiff1d(run_cases.cases.users, run_cases.development)
    evaluated = outcomes_of(run, *of_users(run_cases.cases, arrays, evaluation), sides)
    development = outcomes_of(run, *of_users(run_cases.cases, arrays, run_cases.development), sides)
    values = (
        *evaluated.values,
        *(replace(result, metric=f"{DEVELOPMENT}{result.metric}") for result in development.values),
    )
    return Outcomes(values, evaluated.arrays)


def outcomes_of(
    run: EvaluationRun, cases: Cases, arrays: Arrays, sides: TrainingSides, *, are_curves_kept: bool = True
) -> Outcomes:
    """Compute the run's metrics on some cases from their measurements."""
    return outcomes(
        cases,
        arrays,
        run.protocol,
        names=metric_names(run),
        n=run.n,
        longest=longest_list(run),
        model=sides.facts,
        are_curves_kept=are_curves_kept,
    )


def _joined(run: EvaluationRun, algorithm: RunAlgorithm, length: int, fold: int, *, n_cases: int) -> Arrays:
    parts = list(algorithm.parts.filter(kind=PartKind.MEASURE, profile_length=length, fold=fold).order_by("start"))
    reached = 0
    for part in parts:
        if part.start != reached or part.status != PartStatus.DONE:
            break
        reached = part.stop
    if reached != n_cases:
        raise ParallaxError(
            "run.parts_missing",
            f"The measurements of {algorithm.label} end at case {reached:,} of {n_cases:,}. Start the run again.",
        )
    return joined(run.protocol, [artefacts.load("parts", part.result_digest).arrays for part in parts])
