"""Sentences on the agreement of both sides, pair by pair."""

from __future__ import annotations

from analysis.narrative.words import in_words, plural, tau_b
from analysis.results.comparison import Comparison
from analysis.tables.cells import capital, equals, relation
from inference.agreement import Verdict
from inference.results import Undefined

KENDALL = "Kendall’s τ"


def contradictions(comparison: Comparison, n: int, consumed: str) -> list[str]:
    """Significant differences in opposite directions, pair by pair; `consumed` is the study's participle."""
    variable, metric = comparison.variable, comparison.metric(n)

    def finding(better: str, worse: str) -> str:
        if variable.adjective:
            return f"Participants found {better} more {variable.adjective.format(consumed=consumed)} than {worse}"
        return f"Participants scored {better} higher than {worse} in {variable.in_text}"

    return [
        f"{finding(pair.a, pair.b)}, p {_p(pair.perceived_p)}; the difference in {metric.in_text} was in the opposite "
        f"direction, p {_p(pair.objective_p)}."
        for pair in comparison.pairs(Verdict.CONTRADICTED)
    ]


def _p(p: float | None) -> str:
    return "not tested" if p is None else equals(p)


def agreement(comparison: Comparison) -> str:
    """How many pairs of algorithms differ significantly on each side, and in which direction."""
    counts = comparison.orders.counts
    total = sum(counts.values())
    if not total:
        return "There are no two algorithms that both sides measured."
    return (
        f"Of {plural(total, 'pair')} of algorithms, {counts['agreed']} differed significantly in the same direction on "
        f"both sides, {counts['contradicted']} in opposite directions, {counts['perceived only']} for participants "
        f"only, {counts['objective only']} in {comparison.metric_word} only, and {counts['neither']} on neither side."
    )


def same_direction(comparison: Comparison) -> str:
    """The pairs of algorithms that differ significantly in the same direction on both sides."""
    pairs = comparison.pairs(Verdict.AGREED)
    if not pairs:
        return ""
    subject = "One pair" if len(pairs) == 1 else f"{capital(in_words(len(pairs)))} pairs"
    listed_pairs = relation([(pair.a, pair.b) for pair in pairs])
    return f"{subject} differed significantly in the same direction on both sides: {listed_pairs}."


def directions(comparison: Comparison) -> str:
    """The pairs that the metric and participants order in opposite directions, significantly or not."""
    result = comparison.directions
    if isinstance(result, Undefined):
        return ""
    x, y = comparison.ranks.perceived, comparison.ranks.objective
    names = sorted(comparison.conditions, key=lambda name: (x[name], y[name]))
    reversed_pairs = [
        (above, below)
        for position, above in enumerate(names)
        for below in names[position + 1 :]
        if x[above] < x[below] and y[above] > y[below]
    ]
    ties = f", with {result.tied} tied on one side" if result.tied else ""
    sentence = (
        f"Regardless of significance, {comparison.metric_word} and participants ordered {result.same} of "
        f"{plural(result.n_pairs, 'pair')} in the same direction{ties}; the "
        "pairs are not independent, which the permutation test of τ_b takes into account."
    )
    if not reversed_pairs:
        return sentence
    return (
        f"{sentence} {capital(comparison.metric_word)} reverses the participants' order of {relation(reversed_pairs)}."
    )


def slope_title(comparison: Comparison) -> str:
    """The finding of the two rankings side by side."""
    result, kind, variable = comparison.directions, capital(comparison.metric_word), comparison.variable.in_text
    if isinstance(result, Undefined):
        return f"Rankings by {variable} and {comparison.metric_word}"
    if result.opposite == 0:
        return f"{kind} and {variable} order no pair of algorithms in opposite directions"
    return f"{kind} and {variable} order {result.opposite} of {plural(result.n_pairs, 'pair')} in opposite directions"


def scatter_title(comparison: Comparison, n: int) -> str:
    """The finding of one point per algorithm."""
    variable, metric, tau = comparison.variable.in_text, comparison.metric(n).in_text, comparison.tau
    if isinstance(tau, Undefined):
        return f"{capital(variable)} against {metric}"
    if tau.p >= comparison.alpha:
        return f"No evidence that {variable} is correlated with {metric} ({tau_b(tau, KENDALL)})"
    sign = "positively" if tau.coefficient > 0 else "negatively"
    return f"{capital(variable)} is {sign} correlated with {metric} ({tau_b(tau, KENDALL)})"
