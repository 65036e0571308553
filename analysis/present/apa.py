"""Every test of a report as a sentence in the style of APA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from analysis.enums import Metric
from analysis.present import contrast, factorial, side_by_side
from analysis.present.lists_shown import findings
from analysis.present.words import coverage, f_test, tau_b
from analysis.results.comparison import Comparison
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from documents.numbers import coefficient, interval, named_p, number, plural
from evaluation.reported_kinds import ERRORS, kind_name, kind_word
from inference.results import AnovaResult, KruskalResult, PairwiseResult, Undefined

Part = tuple[str, list[str]]
T = TypeVar("T")


def apa_sentences(results: Results) -> list[Part]:
    """Headings, each with its sentences: variables, metrics, lists shown, planned contrast, rank correlations."""
    n = results.objective.n
    parts = [(variable.variable.name, of_variable(variable)) for variable in results.variables]
    parts += [
        (Metric(kind, length.profile_length, n).name, of_metric(length, kind))
        for length in results.objective.lengths
        for kind in results.objective.tested
    ]
    if results.lists_shown is not None:
        parts.append(("Lists shown", findings(results.lists_shown)))
    if results.contrast is not None:
        parts.append(("Planned contrast", [contrast.sentence(results.contrast)]))
    if results.factorial is not None:
        parts.append(("Factors", factorial.sentences(results.factorial)))
    parts += [
        (each.variable.name, side_by_side.sentences(each, results.plan.alpha, is_primary=not number))
        for number, each in enumerate(results.preferences)
    ]
    parts.append(("Perceived and objective quality", [_agreement(comparison, n) for comparison in results.comparisons]))
    return [(heading, sentences) for heading, sentences in parts if sentences]


def of_variable(variable: PerceivedVariable) -> list[str]:
    """Means, the analysis of variance, the robust tests, and every pair."""
    defined = variable.variable
    if not variable.described:
        return [f"No participant has completed the study, so there is no {defined.in_text} to report."]
    return [
        f"{_means(variable)}.",
        _test(variable.welch, "Welch's analysis of variance", f_test),
        _test(variable.anova, "A one-way analysis of variance with equal variances", _anova),
        _test(variable.brown_forsythe, "The Brown-Forsythe test of equal variances", f_test),
        _test(variable.kruskal, "The Kruskal-Wallis test", kruskal),
        *_pairs(variable.tests.games_howell, "Games-Howell", is_share=defined.is_share),
        *_pairs(variable.tests.tukey, "Tukey's HSD", is_share=defined.is_share),
    ]


def _means(variable: PerceivedVariable) -> str:
    defined = variable.variable
    parts = []
    for name in variable.conditions:
        if (numbers := variable.described.get(name)) is None:
            continue
        spread = "" if numbers.sd is None else f", SD = {number(numbers.sd, 2, defined.is_share)}"
        parts.append(f"{name} (M = {number(numbers.mean, 2, defined.is_share)}{spread}, n = {numbers.n})")
    return f"{defined.name} by algorithm: {'; '.join(parts)}"


def _test(result: T | Undefined, name: str, statistic: Callable[[T], str]) -> str:
    if isinstance(result, Undefined):
        return f"{name} could not be computed. {result.reason}"
    return f"{name} gave {statistic(result)}."


def anova(result: AnovaResult) -> str:
    """A one-way analysis of variance; the interval is effectsize's.

    Examples
    --------
    >>> from inference.anova import one_way
    >>> anova(one_way({"A": [1, 2, 3], "B": [3, 4, 5]}))
    'F(1, 4) = 6.00, p = .070, η² = .60, 95% CI [.00, .86]'
    """
    limits = result.eta_squared_ci
    of_interval = "" if limits is None else f", 95% CI {interval(limits.low, limits.high, is_share=True)}"
    return f"{f_test(result)}, η² = {coefficient(result.eta_squared)}{of_interval}"


def kruskal(result: KruskalResult) -> str:
    """A Kruskal-Wallis test; ε² is the rank epsilon squared."""
    return f"H({result.df}) = {number(result.h)}, {named_p(result.p)}, ε² = {coefficient(result.rank_epsilon_squared)}"


def _anova(result: AnovaResult) -> str:
    return f"{anova(result)}, ω² = {coefficient(max(0.0, result.omega_squared))}"


def _pairs(tests: PairwiseResult | Undefined, name: str, *, is_share: bool) -> list[str]:
    if isinstance(tests, Undefined):
        return []
    sentences = []
    for pair in tests.pairs:
        if pair.p is None:
            continue
        above, below, sign = (pair.a, pair.b, 1) if pair.difference > 0 else (pair.b, pair.a, -1)
        limits = ""
        if pair.ci_low is not None and pair.ci_high is not None:
            low, high = sorted((sign * pair.ci_low, sign * pair.ci_high))
            limits = f", {coverage(tests.alpha)} CI {interval(low, high, 2, is_share)}"
        difference = number(sign * pair.difference, 2, is_share)
        sentences.append(f"{name}: {above} above {below}, mean difference {difference}{limits}, {named_p(pair.p)}.")
    if not any(pair.is_significant for pair in tests.pairs):
        sentences.insert(0, f"{name} found no significant differences between algorithms.")
    return sentences


def of_metric(length: ProfileLength, kind: str) -> list[str]:
    """Values with intervals, and the pairs that differ significantly by sign tests over users."""
    values, is_share = [], kind not in ERRORS
    for line in length.table:
        if (value := line.value(kind)) is None:
            continue
        bounds = line.intervals[kind]
        limits = "" if bounds is None else f", 95% CI {interval(*bounds, 3, is_share)}"
        values.append(f"{line.condition} {number(value, 3, is_share)}{limits}")
    means = ", mean over users," if length.is_by_user else ""
    sentences = [f"{kind_name(kind)}{means} by algorithm, intervals by resampling users: {'; '.join(values)}."]
    tests = length.tests(kind).sign_tests
    if isinstance(tests, Undefined):
        return [*(sentences if values else []), f"There is no sign test. {tests.reason}"]
    for pair in tests.pairs:
        if pair.p is not None:
            (more, above), (fewer, below) = sorted(((pair.n_a, pair.a), (pair.n_b, pair.b)), reverse=True)
            sentences.append(
                f"Of {plural(more + fewer, 'user')} whose {kind_word(kind)} differed, {more} had the higher with "
                f"{above} and {fewer} with {below}, exact sign test with Holm's correction, {named_p(pair.p)}."
            )
    return sentences if values else sentences[1:]


def _agreement(comparison: Comparison, n: int) -> str:
    role = "primary pair" if comparison.is_primary else "exploratory"
    if not comparison.is_tested:
        role = "primary pair, exploratory beside the primary test" if comparison.is_primary else role
    opening = f"{comparison.variable.name} and {comparison.metric(n).in_text} ({role})"
    tau, rho = comparison.tau, comparison.rho
    if isinstance(tau, Undefined):
        return f"{opening}: no rank correlation. {tau.reason}"
    of_rho = "" if isinstance(rho, Undefined) else f", {tau_b(rho, 'ρ')}"
    return f"{opening}, {tau.n} algorithms: {tau_b(tau)}{of_rho}."


def as_text(parts: Sequence[Part], title: str, notices: Sequence[str] = ()) -> str:
    """The sentences as plain text."""
    lines = [title, "", *notices, *([""] if notices else [])]
    for heading, sentences in parts:
        lines += [heading, *sentences, ""]
    return "\n".join(lines)
