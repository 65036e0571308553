"""Search for the parameters of an algorithm on the development users of a split. Stores nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import features_of
from core.errors import DataError, ParallaxError, ParameterError
from core.provenance import rng_for
from evaluation.metrics.registry import metric as named_metric
from evaluation.models import EvaluationRun
from evaluation.run_spec import RunSpec
from evaluation.selectors.paired_tests import case_interval, interval_of_mean
from evaluation.selectors.runs import metric_names
from evaluation.services.feasibility import feasible_algorithms
from evaluation.services.measurement import measure_users
from evaluation.services.numerics import numeric_threads
from evaluation.services.optional_inputs import has_times, profile_rows, with_optional
from evaluation.services.reduction import outcomes_of, sides_of
from evaluation.services.run_holdout import Holdout, build_holdouts, draw_candidates
from evaluation.services.run_inputs import complete_spec
from evaluation.services.training import fit
from evaluation.splitting.registry import spec_of
from inference.bootstrap import UserInterval
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures
from recommenders.data_limits import TrainingSize
from recommenders.expected_utility import with_utilities
from recommenders.progress import Progress, no_progress, within
from recommenders.search_space import Setting, Space, code

DEVELOPMENT = "dev-eval"
FIT_SHARE = 0.9  # of a trial's progress
OUT_OF_FITS, OUT_OF_TIME, INTERRUPTED = "number of fits", "time", "interrupted"


@dataclass(frozen=True)
class Budget:
    """The most fits and seconds of a search; None for no limit. One setting is measured whatever the time."""

    fits: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Trial:
    """A setting that was tried. `reason` says why it has no value; intervals are bootstrapped over users."""

    setting: Setting
    value: float | None
    low: float | None = None
    high: float | None = None
    n_users: int = 0
    fit_seconds: float = 0.0
    reason: str = ""
    best_so_far: float | None = None


@dataclass(frozen=True)
class Search:
    """The result of a search; `trials` in the order in which they were tried, `left` the settings that were not."""

    algorithm: str
    name: str
    fixed: Setting
    metric: str
    is_higher_better: bool
    split: str
    protocol: Mapping[str, Any]
    reserve: float
    seed: int
    n: int
    n_development: int
    n_evaluation: int
    trials: tuple[Trial, ...]
    left: tuple[Setting, ...]
    stopped_by: str  # the limit that ended it; empty if every setting was tried
    chosen: int  # index of the best trial, of equal ones the first

    @property
    def best(self) -> Trial:
        """The chosen trial."""
        return self.trials[self.chosen]

    @property
    def code(self) -> str:
        """The chosen algorithm as `evaluate` takes it."""
        return code(self.algorithm, {**self.fixed, **self.best.setting})


class _TimeIsUpError(Exception):
    """The time of the search has run out during a fit."""


def search(
    *,
    version: DatasetVersion,
    spec: RunSpec,
    space: Space,
    budget: Budget,
    development: float = 0.5,
    progress: Progress = no_progress,
) -> Search:
    """Fit an algorithm in several settings and compare them by a metric on development users.

    `spec` has one algorithm, with the parameters of all settings, and at most one metric. A split that is not dev-eval
    is wrapped in it. Models are fitted as a run of the same split and seed fits them, without any hidden rating, and
    only the hidden ratings of development users are measured. A run of `split` in the result reports the other users.
    Settings that cannot be fitted, or have no value, are listed with the reason. Raises ParallaxError with code
    ``tuning.bad_input``: an invalid input; ``tuning.no_value``: no setting has a value.
    """
    try:
        ((key, fixed),) = spec.algorithms
        run = _planned_run(version, spec, development)
        measure = named_metric(run.metrics[0])
        if measure.definition.direction == "neither":
            raise ParameterError(f"Neither high nor low values of {measure} are better, so it cannot choose a setting.")
        (holdout,) = build_holdouts(run=run)
        holdout = replace(holdout, cases=draw_candidates(run, holdout.cases))
        bench = _Bench(run, key, fixed, holdout)
        settings = space.settings(key, fixed, lambda: bench.size(bench.features({})), rng_for(run.seed, "tune", key))
    except (ParameterError, DataError) as refusal:
        raise ParallaxError("tuning.bad_input", str(refusal)) from refusal
    is_higher = measure.definition.direction == "higher"
    trials, stopped_by = _try_all(bench, settings, budget, progress, better=max if is_higher else min)
    best = trials[-1].best_so_far
    if best is None:
        reasons = " ".join(dict.fromkeys(trial.reason for trial in trials))
        raise ParallaxError("tuning.no_value", f"No setting has a value of {measure}. {reasons}")
    return Search(
        algorithm=key,
        name=registry.algorithm(key).name,
        fixed=fixed,
        metric=str(measure),
        is_higher_better=is_higher,
        split=str(spec_of(run.split)),
        protocol=run.protocol,
        reserve=run.reserve,
        seed=run.seed,
        n=run.n,
        n_development=len(bench.users),
        n_evaluation=len(np.setdiff1d(holdout.cases.users, holdout.development)),
        trials=tuple(trials),
        left=tuple(settings[len(trials) :]),
        stopped_by=stopped_by,
        chosen=[trial.value for trial in trials].index(best),
    )


def _planned_run(version: DatasetVersion, spec: RunSpec, development: float) -> EvaluationRun:
    """Return the run that would measure one setting, checked as `evaluate` checks it but not saved."""
    split, metrics = spec.split, spec.metrics
    if split["name"] != DEVELOPMENT:
        split = {**split, "name": DEVELOPMENT, "of": split["name"], "development": development}
    if not metrics and spec.protocol["name"] == "one-plus-random":
        metrics = (f"recall@{spec.n}",)
    wrapped = RunSpec.of(**{**dict(spec), "split": split, "metrics": metrics})
    complete, _ = complete_spec(version=version, spec=wrapped)
    run = EvaluationRun(version=version, **complete.model_dump(mode="json", exclude={"algorithms"}))
    run.metrics = metric_names(run)[:1]
    return run


class _Bench:
    """What all settings share: the training side, the cases of the development users, and the facts about both."""

    def __init__(self, run: EvaluationRun, key: str, fixed: Setting, holdout: Holdout) -> None:
        self.run, self.key, self.fixed, self.holdout = run, key, fixed, holdout
        self.fitted: list[Mapping[str, Any]] = []  # the parameters of each fit so far
        self.cases, _ = holdout.cases.of_users(holdout.development)
        self.users: NDArray[np.integer[Any]] = np.unique(self.cases.users)
        if not len(self.users):
            raise DataError("No development user has a test case. Hide a larger share, or more development users.")
        training = holdout.training
        self.profiles = training if holdout.profiles is None else holdout.profiles
        self.profiled = holdout.trained if holdout.profiled is None else holdout.profiled
        self.sides = sides_of(run, [(self.cases, training, self.profiles, self.profiled)])

    def size(self, features: ItemFeatures | None) -> TrainingSize:
        """The size of the training side."""
        training, is_timed = self.holdout.training, has_times(self.run.version)
        return TrainingSize(training.n_users, training.n_items, features, training.counts is not None, is_timed)

    def features(self, setting: Setting) -> ItemFeatures:
        """The item features of the version for a setting, with utilities of the training rows."""
        params = registry.params_of(self.key, {**self.fixed, **setting})
        titles, utilities = registry.algorithm(self.key).title_words(params), self.holdout.utilities
        features = features_of(self.run.version, titles)
        return features if utilities is None else with_utilities(features, utilities)

    def trial(self, setting: Setting, progress: Progress) -> Trial:
        """Fit and measure one setting; what cannot be fitted is a trial without a value."""
        try:
            ((_, params),), _ = feasible_algorithms(
                version=self.run.version,
                algorithms=[(self.key, {**self.fixed, **setting})],
                split=self.run.split,
                reserved=self.run.reserve,
                seed=self.run.seed,
            )
            if params in self.fitted:
                raise ParameterError("The same as an earlier setting.")
            kind, chosen = registry.algorithm(self.key), registry.params_of(self.key, params)
            features = self.features(setting) if kind.uses_features(chosen) else None
            kind.check(chosen, self.size(features))
            self.fitted.append(params)
            model, seconds = fit(
                ratings=with_optional(kind, self.holdout.training, self.run.version, self.holdout.trained),
                features=features,
                algorithm=self.key,
                params=params,
                seed=self.run.seed,
                threads=self.run.threads,
                progress=within(progress, 0.0, FIT_SHARE),
            )
            progress(FIT_SHARE, f"Measuring {kind.label(chosen)}")
            return replace(self._measured(model, params), setting=setting, fit_seconds=seconds)
        except (ParameterError, DataError, ParallaxError) as refusal:
            return Trial(setting, None, reason=str(refusal))

    def _measured(self, model: Algorithm, params: Mapping[str, Any]) -> Trial:
        run = self.run
        with numeric_threads(run.threads):
            ratings = profile_rows(type(model), self.profiles, run.version, self.profiled)
            arrays = measure_users(run, self.cases, self.users, model=model, ratings=ratings, profiled=self.profiled)
        arrays |= self.sides.case_facts[0]
        results = outcomes_of(run, self.cases, arrays, self.sides.of_scores(self.key), are_curves_kept=False)
        name = run.metrics[0]
        (result,) = (result for result in results.values if result.metric == name)
        if result.value is None:
            return Trial({}, None, reason=f"{name} is undefined: {result.reason or 'no development user has a value'}.")
        interval = self._interval(name, result.value, results.arrays)
        if interval is None:
            return Trial({}, result.value, n_users=len(self.users), reason=result.reason)
        return Trial({}, result.value, interval.low, interval.high, interval.n_users, reason=result.reason)

    def _interval(self, name: str, value: float, arrays: Mapping[str, NDArray[Any]]) -> UserInterval | None:
        """Return the bootstrap interval of the metric; None if it is no mean over users or ratio of their sums."""
        rng = rng_for(self.run.seed, "intervals")
        if "recall_values" in arrays:
            measure = named_metric(name)
            return case_interval(arrays, measure.key, n=measure.n or self.run.n, g=self.run.protocol["g"], rng=rng)
        if "user_values" not in arrays:
            return None
        return interval_of_mean(value, arrays["user_values"][:, 0], rng=rng)


def _try_all(
    bench: _Bench, settings: Sequence[Setting], budget: Budget, progress: Progress, better: Callable[..., float]
) -> tuple[list[Trial], str]:
    """Try the settings in their order until the budget is spent; return the trials, and what ended them.

    `better`: max or min, by which each trial gets the best value up to it.
    """
    started = time.monotonic()
    trials: list[Trial] = []
    values: list[float] = []

    def check_time() -> None:
        if budget.seconds is not None and values and time.monotonic() - started >= budget.seconds:
            raise _TimeIsUpError

    def in_time(share: float, what: str, /) -> None:
        check_time()
        progress(share, what)

    for at, setting in enumerate(settings):
        part = within(in_time, at / len(settings), (at + 1) / len(settings))
        try:
            check_time()
            if len(bench.fitted) == budget.fits:
                return trials, OUT_OF_FITS
            trial = bench.trial(setting, part)
        except _TimeIsUpError:
            return trials, OUT_OF_TIME
        except KeyboardInterrupt:
            if not values:
                raise
            return trials, INTERRUPTED
        values += [] if trial.value is None else [trial.value]
        trials.append(replace(trial, best_so_far=better(values, default=None)))
    progress(1.0, "Compared all settings")
    return trials, ""
