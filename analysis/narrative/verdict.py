"""The verdict: which objective metric, if any, ranks the algorithms as participants do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.enums import Metric
from analysis.narrative import contrast, matrix
from analysis.narrative.words import coefficient, in_words, length_words, method, plural, sentences, stability
from analysis.results.comparison import Comparison
from analysis.results.report import Results
from analysis.tables.cells import capital, equals, listed, percent
from documents.tables import Side
from inference.agreement import smallest_exact_p
from inference.results import AgreementResult, Undefined
from studies.design.narrative.plan import level
from studies.simulation.planted_effects import planted_sentence
from studies.usage_data import CHOICE

HARDLY, WEAKLY = 0.2, 0.5
"""Below these τ_b two rankings are said to agree hardly, or only weakly; no test depends on them."""


@dataclass(frozen=True)
class Run:
    """A piece of a heading, and the side whose colour it has."""

    text: str
    side: Side = ""


def headline(results: Results) -> tuple[Run, ...]:
    """The verdict in one sentence."""
    if not results.flow.analysed:
        if results.flow.excluded:
            return (Run("All participants who completed the study are excluded, so there is nothing to compare"),)
        return (Run("No participant has completed the study yet, so there is nothing to compare"),)
    if (planned := results.contrast) is not None:
        before, after = contrast.finding(planned.test)
        runs = (Run(before), Run(planned.variable.in_text, "perceived"), Run(after))
        return tuple(run for run in runs if run.text)
    comparison = results.primary
    if comparison is None:
        return (Run("The planned pair of measures is missing from this report"),)
    variable, metric = Run(comparison.variable.in_text, "perceived"), Run(comparison.metric_word, "objective")
    tau = comparison.tau
    if isinstance(tau, Undefined):
        ending = Run(" does cannot be determined")
        return (Run("Whether "), metric, Run(" ranks the algorithms as "), variable, ending)
    subject = Run(capital(metric.text), "objective")
    if tau.p >= comparison.alpha:
        return (subject, Run(" and "), variable, Run(f" {_agreement(tau.coefficient)}"))
    if tau.coefficient > 0:
        return (subject, Run(" ranks the algorithms much as "), variable, Run(" does"))
    return (subject, Run(" ranks the algorithms in the opposite direction to "), variable)


def _agreement(tau_b: float) -> str:
    """How far two rankings agree whose correlation is not significant; the numbers are shown with it."""
    if tau_b < HARDLY:
        return "did not agree" if round(tau_b, 2) <= 0 else "hardly agreed"
    return "agreed only weakly" if tau_b < WEAKLY else "agreed, but not significantly"


def paragraph(results: Results) -> str:
    """The verdict's numbers: the planned contrast if there is one, and the rank correlation of the primary pair."""
    planned, correlation = results.contrast, _correlation(results)
    if planned is None:
        return correlation
    return sentences(
        (
            contrast.sentence(planned),
            contrast.metric_sentence(planned, results.objective.n),
            "The rank correlations are exploratory.",
            correlation,
        )
    )


def _correlation(results: Results) -> str:
    """Coefficient, exact p, interval, and what could have been detected."""
    comparison, n = results.primary, results.objective.n
    if comparison is None:
        return ""
    variable, metric, tau = comparison.variable.in_text, comparison.metric(n).in_text, comparison.tau
    if isinstance(tau, Undefined):
        return f"There is no rank correlation of {variable} with {metric}. {tau.reason}"
    return sentences(
        (
            f"The rankings of the {in_words(len(comparison.conditions))} algorithms by {metric} and by {variable} were "
            f"{_verb(comparison, tau)}, {_statistics(comparison, tau)}.",
            f"{capital(_association(comparison, tau, n))}." if comparison.is_significant else "",
            _detectable(comparison, tau),
            _directions(comparison),
            exploratory(results),
            prediction(results),
        )
    )


def _verb(comparison: Comparison, tau: AgreementResult) -> str:
    if not comparison.is_significant:
        return "not significantly correlated"
    return "positively correlated" if tau.coefficient > 0 else "negatively correlated"


def _statistics(comparison: Comparison, tau: AgreementResult) -> str:
    """The coefficient with its p values and its interval."""
    parts = [f"τ_b = {coefficient(tau.coefficient)}", f"{method(tau)} p {equals(tau.p)}"]
    if comparison.p_holm is not None:
        parts.append(f"with Holm's correction p {equals(comparison.p_holm)}")
    bootstrap = comparison.tau_bootstrap
    if not isinstance(bootstrap, Undefined):
        parts.append(stability(bootstrap))
    return ", ".join(parts)


def _detectable(comparison: Comparison, tau: AgreementResult) -> str:
    k, least = in_words(len(comparison.conditions)), tau.smallest_detectable
    if least is None:
        ties = "" if smallest_exact_p(tau.n) >= comparison.alpha else " and these ties"
        return (
            f"With {k} algorithms{ties} no correlation could have been significant, so this result is no evidence for "
            "or against a relation."
        )
    bound = f"only |τ_b| ≥ {coefficient(least)} could have been significant"
    if tau.p < comparison.alpha:
        return f"With {k} algorithms, {bound}."
    opening = f"{capital(k)} algorithms are too few to conclude" if least >= WEAKLY else f"With {k} algorithms"
    return f"{opening}: {bound}, so this result does not show that the two are unrelated."


def _directions(comparison: Comparison) -> str:
    result = comparison.directions
    if isinstance(result, Undefined):
        return ""
    return (
        f"{capital(comparison.metric_word)} and participants ordered {result.same} of "
        f"{plural(result.n_pairs, 'pair')} of algorithms in the same direction."
    )


def _association(comparison: Comparison, tau: AgreementResult, n: int) -> str:
    """What the sign of a rank correlation means: how the variable changes with the better of the metric."""
    metric = comparison.metric(n)
    better = "higher" if metric.higher_is_better else "lower"
    change = "higher" if tau.coefficient > 0 else "lower"
    return f"algorithms with {better} {metric.in_text} had {change} {comparison.variable.in_text}"


def exploratory(results: Results) -> str:
    """What the exploratory correlations show after Holm's correction: of all metrics, where the report has them."""
    if results.matrix is not None:
        return matrix.exploratory(results.matrix)
    n = results.objective.n
    family = [comparison for comparison in results.comparisons if comparison.p_holm is not None]
    if not family:
        return ""
    significant = [
        f"{comparison.metric(n).in_text} with {comparison.variable.in_text} (τ_b = {coefficient(tau.coefficient)}, "
        f"corrected p {equals(comparison.p_holm)}: {_association(comparison, tau, n)})"
        for comparison in family
        if comparison.p_holm is not None
        and comparison.p_holm < comparison.alpha
        and not isinstance(tau := comparison.tau, Undefined)
    ]
    if significant:
        return f"Significant exploratory correlations after Holm's correction: {listed(significant)}."
    after = f"significant at α = {level(family[0].alpha)} after Holm's correction"
    if len(family) == 1:
        return f"The one exploratory correlation was not {after}."
    return f"All {in_words(len(family))} exploratory correlations were non-{after}."


def prediction(results: Results) -> str:
    """Which metrics were compared with which variables, where no rank correlation of them was positive."""
    if results.matrix is not None:
        return matrix.prediction(results.matrix)
    defined = [comparison for comparison in results.comparisons if not isinstance(comparison.tau, Undefined)]
    significant = [
        comparison.tau.coefficient
        for comparison in defined
        if comparison.is_significant and not isinstance(comparison.tau, Undefined)
    ]
    if not defined:
        return ""
    if not significant:
        return f"{_uncorrelated(defined, results.objective.n)}; no other metric was compared."
    if max(significant) < 0:
        return "No significant correlation was positive."
    return ""


def _uncorrelated(comparisons: Sequence[Comparison], n: int) -> str:
    """That no metric was correlated with any variable, each by its name."""
    kinds = list(dict.fromkeys(Metric(comparison.kind, 0, n).in_text for comparison in comparisons))
    lengths = list(dict.fromkeys(comparison.profile_length for comparison in comparisons))
    profiles = "" if lengths == [0] else f", {' or '.join(map(length_words, lengths))},"
    names = list(dict.fromkeys(comparison.variable.in_text for comparison in comparisons))
    variables = listed(names, last="or")
    if len(kinds) == 1:
        return f"{capital(kinds[0])}{profiles} was not significantly correlated with {variables}"
    return f"Neither {' nor '.join(kinds)}{profiles} was significantly correlated with {variables}"


def simulated_notice(results: Results) -> str:
    """The notice at the top of a report on simulated participants; empty for people."""
    if results.is_live:
        return ""
    counts, shares = results.answers, ""
    if counts.n:
        true = counts.n_true / counts.n
        own = "choices" if results.study.elicitation == CHOICE else "ratings"
        shares = (
            f" Of their {counts.n:,} answers, {percent(true)} are the users' own {own} and "
            f"{100 - round(100 * true)}% are modelled."
        )
    planted = planted_sentence(results.planted_effects)
    planted = f" {planted} The effects found below were planted." if planted else ""
    pilot = ""
    if results.is_pilot:
        pilot = (
            "PILOT of a draft that has not been launched: no participant has taken part, and the design may still "
            "change. "
        )
    return (
        f"{pilot}These participants are simulated: they answer from the ratings of users held out from every model, so "
        f"this report shows that the study runs and is no evidence about people.{shares}{planted}"
    )


def limitations(results: Results) -> list[str]:
    """What limits the whole report: an empty condition, one participant, one condition."""
    limits: list[str] = []
    empty = [condition.label for condition in results.conditions if condition.n == 0]
    single = [condition.label for condition in results.conditions if condition.n == 1]
    if len(results.conditions) < 2:
        limits.append("The study has one condition, so there is nothing to compare it with.")
    if empty and results.flow.analysed:
        limits.append(f"No participant has completed the study with {listed(empty)}.")
    if single:
        limits.append(f"Only one participant has completed the study with {listed(single)}, so no test includes it.")
    return limits
