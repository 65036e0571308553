"""The plan that a report is built under: the frozen one, or what an analyst chose instead of parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.enums import Metric
from analysis.selectors.plans import FrozenPlan
from core.errors import ParallaxError, ParameterError
from evaluation.models import EvaluationRun
from studies.plans import AnalysisPlan


@dataclass(frozen=True)
class Overrides:
    """What an analyst wants otherwise than the frozen plan; None leaves the plan's.

    `leave_out` are planned variables that are not tested, `exclude` the quality flags that leave a participant out,
    and `by_hand` says whether exclusions by hand count.
    """

    alpha: float | None = None
    leave_out: Sequence[str] = ()
    exclude: Sequence[str] | None = None
    by_hand: bool | None = None


AS_PLANNED = Overrides()


def plan_of(frozen: FrozenPlan, run: EvaluationRun, overrides: Overrides = AS_PLANNED) -> dict[str, Any]:
    """The plan of a report on `run`, with every name that it is hashed by. Raises `report.bad_plan`."""
    planned = frozen.plan
    try:
        chosen = AnalysisPlan(
            alpha=planned["alpha"] if overrides.alpha is None else overrides.alpha,
            variables=tuple(key for key in planned["variables"] if key not in overrides.leave_out),
            scales=tuple(planned["scales"]),
            exclude=tuple(planned["exclude"] if overrides.exclude is None else overrides.exclude),
            exclude_words=planned["exclude_words"],
            resamples=planned["resamples"],
        ).in_order()
    except ParameterError as problem:
        raise ParallaxError("report.bad_plan", str(problem)) from problem
    primary = planned["primary"]
    return {
        **chosen.as_plain(),
        "by_hand": True if overrides.by_hand is None else overrides.by_hand,
        "metrics": [
            Metric(kind, length, run.n).key for length in (0, *run.profile_lengths) for kind in ("recall", "fallout")
        ],
        "n": run.n,
        "list_length": planned["list_length"],
        "profile_lengths": list(run.profile_lengths),
        "tests": planned["tests"],
        "primary": {key: primary[key] for key in ("perceived", "objective", "contrast") if key in primary},
    }
