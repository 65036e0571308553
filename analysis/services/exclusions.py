"""With and without exclusions: what of each conclusion depends on who was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.enums import Metric, Variable, described_in_results
from analysis.selectors.answering import Reading
from analysis.selectors.inputs import Answers
from analysis.services.perceived import LEAST_N, groups_of
from analysis.services.rankings import Ranking, told
from inference.agreement import kendall
from inference.anova import one_way
from inference.descriptive import describe
from inference.partial_order import PartialOrder, partial_order
from inference.posthoc import tukey_hsd
from inference.results import Undefined


@dataclass(frozen=True)
class _Side:
    """One variable over one set of people."""

    order: PartialOrder
    means: Mapping[str, float]
    told: dict[str, Any]
    p: float | None

    @property
    def relation(self) -> set[tuple[str, str]]:
        return {(above, below) for above, others in self.order.dominates.items() for below in others}

    def conclusion(self, alpha: float) -> tuple[bool | None, set[tuple[str, str]]]:
        """Whether the conditions differ, and which is above which."""
        return None if self.p is None else self.p < alpha, self.relation


def with_and_without(
    reading: Reading,
    tested: Sequence[tuple[Variable, dict[str, Any], Ranking]],
    objective: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    alpha: float,
) -> dict[str, Any] | None:
    """Each variable and the primary pair, over those who are analysed and over everybody who completed.

    `tested` are the variables as they were tested, with their results and rankings. None where nobody is left out, so
    that both are the same.
    """
    if not reading.n_left_out:
        return None
    sides = {
        variable: (_as_tested(result, ranking), _side(reading.everybody, variable, alpha))
        for variable, result, ranking in tested
    }
    found = [_compared(variable, *both, alpha) for variable, both in sides.items()]
    return {
        "conditions": list(reading.kept.conditions),  # a database may give the keys of a mapping back in any order
        "n": {"kept": len(reading.kept.people), "everybody": len(reading.everybody.people)},
        "reasons": [{"how": how, "reason": reason, "n": n} for how, reason, n in reading.reasons],
        "variables": found,
        "primary": _primary(sides, objective, primary, alpha),
    }


def _as_tested(result: Mapping[str, Any], ranking: Ranking) -> _Side:
    """What has been computed of one variable already."""
    return _Side(
        order=ranking.order,
        means=ranking.values,
        told={
            "n": {name: len(result["points"][name]) for name in result["conditions"]},
            "means": dict(ranking.values),
            "anova": result["anova"],
            "tiers": dict(ranking.order.tiers),
        },
        p=result["anova"]["p"] if result["anova"]["is_defined"] else None,
    )


def _side(answers: Answers, variable: Variable, alpha: float) -> _Side:
    groups = groups_of(answers, variable)
    described = describe(groups)
    means = {name: one.mean for name, one in described.items()}
    tukey = tukey_hsd(groups, alpha, least_n=LEAST_N)
    order = partial_order(means, () if isinstance(tukey, Undefined) else tukey)
    anova = one_way(groups, least_n=LEAST_N)
    return _Side(
        order=order,
        means=means,
        told={
            "n": {name: len(values) for name, values in groups.items()},
            "means": dict(means),
            "anova": told(anova),
            "tiers": dict(order.tiers),
        },
        p=None if isinstance(anova, Undefined) else anova.p,
    )


def _compared(variable: Variable, kept: _Side, everybody: _Side, alpha: float) -> dict[str, Any]:
    names = list(kept.told["n"])

    def in_order(relation: set[tuple[str, str]]) -> list[list[str]]:
        return [list(pair) for pair in sorted(relation, key=lambda pair: tuple(map(names.index, pair)))]

    return {
        "key": variable.key,
        **described_in_results(variable),
        "kept": kept.told,
        "everybody": everybody.told,
        "only_kept": in_order(kept.relation - everybody.relation),
        "only_everybody": in_order(everybody.relation - kept.relation),
        "n_ordered": {"kept": len(kept.relation), "everybody": len(everybody.relation)},
        # Without a test there is no conclusion that could survive.
        "survives": None if kept.p is None else kept.conclusion(alpha) == everybody.conclusion(alpha),
    }


def _primary(
    sides: Mapping[Variable, tuple[_Side, _Side]],
    objective: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    alpha: float,
) -> dict[str, Any] | None:
    """Kendall's τ_b of the primary pair both ways; None where the report has not both its sides."""
    variable = next((one for one in sides if one.key == primary[0]), None)
    metric = next((one for one in objective if one.key == primary[1]), None)
    if variable is None or metric is None:
        return None
    ranking = objective[metric]
    sign = 1 if ranking.higher_is_better else -1
    found: dict[str, Any] = {"variable": variable.key, "metric": metric.key}
    verdicts = []
    for name, side in zip(("kept", "everybody"), sides[variable], strict=True):
        both = [label for label in side.means if label in ranking.values]
        tau = told(kendall([side.means[one] for one in both], [sign * ranking.values[one] for one in both], alpha))
        found[name] = tau
        verdicts.append(_verdict(tau, alpha))
    return {**found, "verdicts": verdicts, "survives": verdicts[0] == verdicts[1]}


def _verdict(tau: Mapping[str, Any], alpha: float) -> str:
    """Which way the primary pair comes out: alike, against, open, or none at all."""
    if not tau["is_defined"]:
        return "none"
    if tau["p"] >= alpha:
        return "open"
    return "alike" if tau["coefficient"] > 0 else "against"
