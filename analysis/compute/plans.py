"""The plan that a report is built under: the frozen one, but for what an analyst chose instead of parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.enums import Metric
from analysis.read.plans import FrozenPlan
from analysis.results.plan import ReportPlan
from core.errors import ParallaxError, ParameterError
from core.field_problems import read_model
from evaluation.models import EvaluationRun
from evaluation.reported_kinds import tested_kinds
from studies.settings import AnalysisPlan


@dataclass(frozen=True)
class Overrides:
    """An analyst's deviations from the frozen plan; None leaves the plan's.

    `leave_out` are planned variables that are not tested, `exclude` the quality flags that exclude a participant,
    and `by_hand` says whether exclusions by hand count.
    """

    alpha: float | None = None
    leave_out: Sequence[str] = ()
    exclude: Sequence[str] | None = None
    by_hand: bool | None = None


AS_PLANNED = Overrides()


def plan_of(frozen: FrozenPlan, run: EvaluationRun, overrides: Overrides = AS_PLANNED) -> ReportPlan:
    """The plan of a report on `run`. Raises `report.bad_plan`."""
    planned = frozen.analysis
    try:
        plan = read_model(
            AnalysisPlan,
            {
                "alpha": planned.alpha if overrides.alpha is None else overrides.alpha,
                "variables": tuple(key for key in planned.variables if key not in overrides.leave_out),
                "scales": planned.scales,
                "exclude": planned.exclude if overrides.exclude is None else tuple(overrides.exclude),
                "exclude_words": planned.exclude_words,
                "resamples": planned.resamples,
                "covariates": planned.covariates,
            },
        )
    except ParameterError as problem:
        raise ParallaxError("report.bad_plan", str(problem)) from problem
    return ReportPlan(
        **plan.model_dump(),
        by_hand=True if overrides.by_hand is None else overrides.by_hand,
        metrics=tuple(
            Metric(kind, length, run.n).key
            for length in (0, *run.profile_lengths)
            for kind in tested_kinds(run.protocol)
        ),
        n=run.n,
        list_length=planned.list_length,
        profile_lengths=tuple(run.profile_lengths),
        tests=planned.tests,
        primary=planned.primary,
    )  # fmt: skip
