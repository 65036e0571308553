"""The plan that a report is built under, and its deviations from the one that was frozen at the launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.enums import VARIABLE_OF, Metric
from analysis.read.plans import FrozenPlan
from analysis.results import plan as results
from analysis.results.plan import Deviation, ReportPlan
from analysis.results.sample import Flow
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
                "outcomes": planned.outcomes,
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
    )


def deviations(
    *,
    frozen: FrozenPlan,
    plan: ReportPlan,
    run: EvaluationRun,
    flow: Flow,
    versions: Sequence[tuple[str, str]],
) -> tuple[Deviation, ...]:
    """Every deviation, in the order of the plan; empty where there is none."""
    planned, launch, primary = frozen.analysis, frozen.versions, plan.primary
    differences: list[Deviation] = []
    if planned.alpha != plan.alpha:
        differences.append(results.OtherAlpha(planned=planned.alpha, actual=plan.alpha))
    if primary.perceived not in plan.tested:
        differences.append(results.MissingPrimary(lacks="variable", key=primary.perceived))
    if primary.objective not in plan.metrics:
        differences.append(results.MissingPrimary(lacks="metric", key=primary.objective))
    if omitted := tuple(key for key in VARIABLE_OF if key in planned.variables and key not in plan.variables):
        differences.append(results.OmittedVariables(omitted=omitted))
    if planned.exclude != plan.exclude:
        differences.append(results.OtherRule(planned=planned.exclude, actual=plan.exclude))
    if not plan.by_hand:
        differences.append(results.HandExclusionsIgnored())
    if n := sum(reason.n for reason in flow.excluded_for if reason.how == "hand"):
        differences.append(results.HandExclusions(n=n, words=planned.exclude_words))
    differences += [*_participants(frozen, flow), *frozen.reopenings, *_run(frozen, run)]
    changed = tuple(
        results.OtherSetting(name=name, planned=launch[name], actual=version)
        for name, version in versions
        if launch.get(name, version) != version
    )
    return (*differences, results.OtherVersions(changed=changed)) if changed else tuple(differences)


def _participants(frozen: FrozenPlan, flow: Flow) -> list[Deviation]:
    extended = {target.condition for extension in frozen.extensions for target in extension.targets}
    sizes = [
        results.ConditionSize(
            condition=condition.condition,
            target=target,
            analysed=condition.analysed,
            extended=condition.target if condition.condition in extended else None,
        )
        for condition in flow.by_condition
        if (target := frozen.targets.get(condition.condition, condition.target)) != condition.analysed
        or condition.condition in extended
    ]
    if not sizes:
        return []
    return [
        results.OtherSize(
            target=sum(frozen.targets.get(condition.condition, condition.target) for condition in flow.by_condition),
            analysed=flow.analysed,
            under_way=flow.under_way,
            conditions=tuple(sizes),
            extended=sum(condition.target for condition in flow.by_condition) if frozen.extensions else None,
            extensions=frozen.extensions,
        )
    ]


def _run(frozen: FrozenPlan, run: EvaluationRun) -> list[Deviation]:
    """Another run than the pinned one; a run of the same inputs is the same measurement."""
    if frozen.run == run.inputs_hash:
        return []
    planned = {"n": frozen.plan["n"], "profile_lengths": frozen.plan["profile_lengths"]}
    actual = {"n": run.n, "profile_lengths": list(run.profile_lengths)}
    settings = tuple(
        results.OtherSetting(name=name, planned=planned[name], actual=actual[name])
        for name in planned
        if planned[name] != actual[name]
    )
    return [results.OtherRun(planned=frozen.run, actual=run.inputs_hash, settings=settings)]
