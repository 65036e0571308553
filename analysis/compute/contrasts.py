"""The primary variable's planned contrast, where it is the primary test, and its equivalence within a planned bound."""

from __future__ import annotations

from analysis.compute.perceived import LEAST_N, groups_of
from analysis.compute.rankings import Ranking
from analysis.enums import Metric, Variable
from analysis.read.inputs import Answers
from analysis.results.comparison import ContrastedMetric, Equivalence, TestedContrast
from analysis.results.variables import scale_variables
from inference.contrasts import ContrastResult, planned_contrast
from inference.equivalence import bound_test, equivalence
from inference.groups import in_words
from inference.results import Undefined
from studies.settings import Contrast


def tested_contrast(answers: Answers, variable: Variable, contrast: Contrast, alpha: float) -> TestedContrast:
    """The contrast over these answers, or the reason why it has no result."""
    groups = groups_of(answers, variable)
    result: ContrastResult | Undefined
    # A condition with few participants is left out of the report.
    if missing := [label for label in (*contrast.higher, *contrast.lower) if label not in groups]:
        result = Undefined(f"Too few participants in {in_words(missing)} for the planned contrast.")
    else:
        result = planned_contrast(
            groups, contrast.higher, contrast.lower, alpha=alpha, sides=contrast.sides, least_n=LEAST_N
        )
    return TestedContrast(
        higher=contrast.higher, lower=contrast.lower, sides=contrast.sides, alpha=alpha, result=result
    )  # fmt: skip


def tested_equivalence(
    answers: Answers, variable: Variable, bound: float, alpha: float, contrast: TestedContrast | None
) -> Equivalence:
    """Every pair of conditions, and the contrast if there is one, against the bound."""
    welch = None if contrast is None or isinstance(contrast.result, Undefined) else contrast.result.welch
    return Equivalence(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        alpha=alpha,
        bound=bound,
        result=equivalence(groups_of(answers, variable), bound, alpha),
        contrast=(
            None
            if welch is None or contrast is None or isinstance(contrast.result, Undefined)
            else bound_test(contrast.result.difference, welch.se, welch.df, bound, alpha)
        ),
    )


def contrasted_metric(ranking: Ranking, metric: Metric, contrast: Contrast) -> ContrastedMetric | None:
    """The metric's mean over each set, and whether it is better where the variable is expected to be higher."""
    if not {*contrast.higher, *contrast.lower} <= set(ranking.values):
        return None
    higher, lower = (
        sum(ranking.values[label] for label in labels) / len(labels) for labels in (contrast.higher, contrast.lower)
    )
    better = higher - lower if ranking.higher_is_better else lower - higher
    return ContrastedMetric(
        metric_key=metric.key,
        kind=metric.kind,
        profile_length=metric.length,
        higher_mean=higher,
        lower_mean=lower,
        is_better=None if better == 0 else better > 0,
    )
