"""The figures beside the verdict: the best algorithm on either side, their agreement, and the participants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.narrative.words import coefficient, method, plural
from analysis.results.comparison import Comparison
from analysis.results.report import Results
from analysis.tables.cells import equals, f_statistic, listed, written
from documents.tables import Side
from evaluation.reported_kinds import ERRORS, LOWER_IS_BETTER
from inference import apa
from inference.results import Undefined


@dataclass(frozen=True)
class Fact:
    """A figure beside the verdict: its heading, its side, the number or name, and the evidence for it."""

    heading: str
    side: Side
    number: str
    evidence: str


def facts(results: Results) -> list[Fact]:
    """The figures beside the verdict, the answer first: the algorithm that participants prefer, and the metric's."""
    comparison = results.primary
    if comparison is None:
        return [_participants(results)]
    return [
        *_perceived(results, comparison),
        *_objective(results, comparison),
        *_agreement(comparison),
        _participants(results),
    ]


def _participants(results: Results) -> Fact:
    sizes = [condition.n for condition in results.conditions]
    each = f"{sizes[0]}" if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
    heading = "Participants" if results.is_live else "Simulated participants"
    return Fact(heading, "", f"{results.flow.analysed:,}", f"{each} in each of {len(sizes)} conditions")


def _first(ranks: Mapping[str, float]) -> list[str]:
    """The algorithms with the best rank."""
    return [name for name in ranks if ranks[name] == min(ranks.values())]


def _perceived(results: Results, comparison: Comparison) -> list[Fact]:
    variable = results.variable(comparison.variable_key)
    best = _first(comparison.ranks.perceived)
    if variable is None or isinstance(variable.anova, Undefined) or not best:
        return []
    anova, tukey = variable.anova, variable.tests.tukey
    pairs = () if isinstance(tukey, Undefined) else tukey.pairs
    n_significant = sum(pair.is_significant for pair in pairs)
    mean = written(variable.described[best[0]].mean, 2, variable.variable.is_share)
    above = ""
    if len(best) == 1 and pairs:
        n_below = len(variable.orders.tukey.dominates[best[0]])
        above = f"; significantly above {n_below} of {len(variable.conditions) - 1} others"
    omega = apa.share(max(0.0, anova.omega_squared))
    return [
        Fact(
            f"Highest {variable.variable.in_text}",
            "perceived",
            listed(best),
            f"M = {mean}{above}. Tukey: {n_significant} of {plural(len(pairs), 'pair')} differ; "
            f"{f_statistic(anova.df_between, anova.df_within, anova.f)}, p {equals(anova.p)}, ω² = {omega}",
        )
    ]


def _objective(results: Results, comparison: Comparison) -> list[Fact]:
    metric = comparison.metric(results.objective.n)
    length = results.objective.at(metric.length)
    values, best = length.defined_values(metric.kind), _first(comparison.ranks.objective)
    if not values or not best:
        return []
    tests = length.tests(metric.kind)
    pairs = () if isinstance(tests.sign_tests, Undefined) else tests.sign_tests.pairs
    n_significant = sum(pair.is_significant for pair in pairs)
    counted = f"{tests.n_users:,} users" if length.is_by_user else f"{tests.n_cases:,} cases"
    is_share = metric.kind not in ERRORS
    own, low, high = (written(v, 2, is_share) for v in (values[best[0]], min(values.values()), max(values.values())))
    ranks = listed([f"{comparison.ranks.perceived[name]:g}" for name in best])
    return [
        Fact(
            f"{'Lowest' if metric.kind in LOWER_IS_BETTER else 'Highest'} {metric.in_text}",
            "objective",
            listed(best),
            f"{own} (all: {low} to {high}); ranked {ranks} of {len(comparison.conditions)} by participants. "
            f"{n_significant} of {plural(len(pairs), 'pair')} differ (sign tests, {counted})",
        )
    ]


def _agreement(comparison: Comparison) -> list[Fact]:
    tau, bootstrap = comparison.tau, comparison.tau_bootstrap
    if isinstance(tau, Undefined):
        return []
    parts = [f"{method(tau)} p {equals(tau.p)}"]
    if not isinstance(bootstrap, Undefined):
        low, high = coefficient(bootstrap.ci_low), coefficient(bootstrap.ci_high)
        parts.append(f"{low} to {high} in 95% of resamples: its stability, not a confidence interval")
    return [Fact("Agreement of the two rankings", "", f"τ_b = {coefficient(tau.coefficient)}", "; ".join(parts))]
