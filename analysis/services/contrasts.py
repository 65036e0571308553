"""The planned contrast, where it is the primary test: what participants say, and how the metric stands to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.enums import Metric, Variable, described_in_results
from analysis.selectors.inputs import Answers
from analysis.services.perceived import LEAST_N, groups_of
from analysis.services.rankings import Ranking, told
from inference.contrasts import planned_contrast
from studies.plans import Contrast


def tested_contrast(answers: Answers, variable: Variable, contrast: Contrast, alpha: float) -> dict[str, Any]:
    """The contrast over these answers, or the reason why it has no result."""
    groups = groups_of(answers, variable)
    found = planned_contrast(
        groups, contrast.higher, contrast.lower, alpha=alpha, sides=contrast.sides, least_n=LEAST_N
    )
    return {**contrast.as_plain(), "alpha": alpha, **told(found)}


def study_contrast(
    answers: Answers, variable: Variable, metric: Metric | None, objective: Mapping[Metric, Ranking],
    contrast: Contrast, alpha: float,
) -> dict[str, Any]:  # fmt: skip
    """The contrast of the primary variable, and the same difference of the primary metric, which is only described."""
    return {
        "variable": variable.key,
        **described_in_results(variable),
        **tested_contrast(answers, variable, contrast, alpha),
        "objective": None if metric is None else _measured(objective[metric], metric, contrast),
    }


def _measured(ranking: Ranking, metric: Metric, contrast: Contrast) -> dict[str, Any] | None:
    """The metric's mean over each set, and whether it is better where the variable is expected to be higher."""
    if not {*contrast.higher, *contrast.lower} <= set(ranking.values):
        return None
    higher, lower = (
        sum(ranking.values[label] for label in labels) / len(labels) for labels in (contrast.higher, contrast.lower)
    )
    better = higher - lower if ranking.higher_is_better else lower - higher
    return {
        "metric": metric.key,
        "kind": metric.kind,
        "profile_length": metric.length,
        "higher_mean": higher,
        "lower_mean": lower,
        "is_better": None if better == 0 else better > 0,
    }
