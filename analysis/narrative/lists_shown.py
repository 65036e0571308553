"""Sentences on the lists that participants saw: what was measured, and what the correlations show."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.lists_shown import LIST_METRIC_OF, CorrelatedLists, ListsShown
from documents.numbers import capital, coefficient, interval, listed, number_word, p_with_sign, plural
from inference.results import Undefined
from studies.design.narrative.plan import level

MOST_NAMED = 6  # in a sentence; the table has all
DIVERSITY_BY = {
    "features": "by the items' features",
    "co-rating": "by the training users who rated the items, as no item has features",
}
ASSOCIATION = (
    "Lists were not randomised within conditions: participants of a condition saw different lists because they rated "
    "different items. These correlations are associations and do not show what changing the lists would change."
)


def definitions(lists: ListsShown) -> str:
    """What each metric of a list is."""
    predicted = (
        "The predicted rating is the mean score that the model stored for the items, on the dataset's rating scale and "
        "without items that popularity filled in. "
        if any(measured.metric == "predicted_rating" and measured.n_without < lists.n for measured in lists.metrics)
        else ""
    )
    return (
        f"Metrics of the lists of {plural(lists.n, 'participant')}. Popularity is the mean percentage of training "
        "users whose data include an item. Diversity is one minus the mean cosine similarity of all pairs of items, "
        f"{DIVERSITY_BY[lists.diversity_by]}. Novelty is the mean self-information in bits: the rarer the items "
        f"in the training data, the higher. {predicted}Overlap is the mean share of a list that was also in the list "
        "of another participant, of the same condition or of the others. List novelty describes the list; first- and "
        "second-order novelty are what participants answered."
    )


def missing(lists: ListsShown) -> str:
    """How many lists have no value of a metric that depends on the list."""
    parts = [
        f"{LIST_METRIC_OF[measured.metric].in_text} for {plural(measured.n_without, 'list')}"
        for measured in lists.metrics
        if measured.n_without and measured.metric in ("diversity", "novelty")
    ]
    return f"There is no value of {listed(parts)}." if parts else ""


def findings(lists: ListsShown) -> list[str]:
    """What is significant within and between conditions after Holm's correction, each level in a sentence."""
    if not lists.n_family:
        return ["No list metric could be correlated with a measure."]
    family = f"Holm's correction over {plural(lists.n_family, 'exploratory correlation')}"
    within = [_within(lists, pair) for pair in lists.significant_within]
    between = [_between(lists, pair) for pair in lists.significant_between]
    if not within and not between:
        at = f"significant at α = {level(lists.alpha)} after {family}"
        return [f"No correlation of a list metric with a measure was {at}."]
    return [
        _sentence("Within conditions", within, f"was significant after {family}"),
        _sentence("Between the means of conditions", between, "was significant after the same correction"),
    ]


def _sentence(where: str, named: Sequence[str], test: str) -> str:
    if not named:
        return f"{where}, no correlation {test}."
    more = f" The table has {len(named) - MOST_NAMED} more." if len(named) > MOST_NAMED else ""
    words = test.replace("was", "were", 1) if len(named) > 1 else test
    subject = f"{number_word(len(named))} correlations" if len(named) > 1 else "one correlation"
    return f"{where}, {subject} {words}: {'; '.join(named[:MOST_NAMED])}.{more}"


def _within(lists: ListsShown, pair: CorrelatedLists) -> str:
    if isinstance(pair.within, Undefined) or pair.p_holm_within is None:
        return ""
    limits = pair.within.interval
    ends = f", 95% CI {interval(limits.low, limits.high, is_share=True)}" if limits else ""
    return (
        f"{_names(lists, pair)}, r = {coefficient(pair.within.coefficient)}{ends}, corrected p "
        f"{p_with_sign(pair.p_holm_within)}"
    )


def _between(lists: ListsShown, pair: CorrelatedLists) -> str:
    if isinstance(pair.between, Undefined) or pair.p_holm_between is None:
        return ""
    return (
        f"{_names(lists, pair)}, τ_b = {coefficient(pair.between.coefficient)}, corrected p "
        f"{p_with_sign(pair.p_holm_between)}"
    )


def _names(lists: ListsShown, pair: CorrelatedLists) -> str:
    return f"{LIST_METRIC_OF[pair.metric].in_text} with {lists.variable(pair).in_text}"


def title(lists: ListsShown) -> str:
    """The finding of the figure, which shows correlations within conditions."""
    n = len(lists.significant_within)
    if not n:
        return "No list metric is significantly correlated with a measure within conditions"
    pairs = "pair of a list metric and a measure is" if n == 1 else "pairs of a list metric and a measure are"
    return f"{capital(number_word(n))} {pairs} significantly correlated within conditions"
