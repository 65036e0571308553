"""The recommended items with liking beside interest, and the lists that participants saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.present import covariates
from analysis.present.matrix import column_labels
from analysis.present.words import MISSING, decimal, interval_cell, limits, probability, share_cell, whole
from analysis.results.lists_shown import (
    DOSE_METRICS,
    LIST_METRIC_OF,
    SMALLEST_DOSE,
    CorrelatedLists,
    Dose,
    ListChange,
    ListsShown,
)
from analysis.results.perceived import FrequentItem, ItemsOfCondition, Liking
from analysis.results.report import ItemWords, Results
from charting import marks
from documents.blocks import Figure, FigureMaker, Section
from documents.numbers import capital, coefficient, interval, listed, named_p, number, number_word, percent, plural
from documents.tables import Cell, Numbers, Table, Words, table
from inference.correlation import CorrelationResult
from inference.results import AgreementResult, Undefined
from studies.design.narrative.plan import level


def distributions_section(results: Results) -> Section:
    """The recommended items and the kinds of rating behind the means."""
    section = Section("behind", "Distributions", "perceived")
    if not results.flow.analysed or not results.items:
        return section
    section.head("Recommended items")
    section.say(*item_warnings(results.items), style="warning")
    items = table(
        "items",
        "Recommended items by algorithm",
        results.items,
        Words("Algorithm", lambda condition: condition.condition),
        Numbers("Slots", lambda condition: whole(condition.n_slots)),
        Numbers("Distinct items", lambda condition: whole(condition.n_distinct)),
        Numbers("Share of the most frequent", lambda condition: share_cell(condition.share_of_most_shown)),
        Numbers("Filled by popularity", lambda condition: whole(condition.n_filled)),
        Words(
            "Most frequent" if "accuracy" in results.study.not_asked else "Most frequent, mean rating",
            lambda condition: "; ".join(map(_frequent, condition.top)),
        ),
    )
    section.put(items)
    if results.liking:
        section.head("Liking and interest")
        section.say(liking(results.liking, results.study.words.consumed))
        section.put(liking_table(results.liking, results.study.words))
    return section


# Sentences


def item_warnings(conditions: Sequence[ItemsOfCondition]) -> list[str]:
    """A warning for each condition with few items, and one for slots that popularity filled."""
    sentences = []
    for condition in conditions:
        name = condition.condition
        if condition.is_dominated_by_few and condition.share_of_most_shown is not None:
            sentences.append(
                f"{name} recommended few items: {condition.n_distinct} distinct items fill its "
                f"{condition.n_slots:,} slots, and the most frequent make up {percent(condition.share_of_most_shown)} "
                "of them. Conclusions about this algorithm rest on these items."
            )
        if condition.n_filled:
            sentences.append(
                f"{name} had no score for enough items: {condition.n_filled:,} of its {condition.n_slots:,} slots "
                "were filled by popularity."
            )
    return sentences


def liking(conditions: Sequence[Liking], consumed: str) -> str:
    """How much of perceived accuracy is liking, and how much interest; `consumed` is the study's participle."""
    n_watched = sum(condition.n_watched for condition in conditions)
    n_slots = n_watched + sum(condition.n_not_watched for condition in conditions)
    if not n_slots:
        return "No participant has judged an item yet."
    mixture = (
        f"Perceived accuracy combines liking, for the {percent(n_watched / n_slots)} of items that participants had "
        f"{consumed}, and expected interest in the others."
    )
    shares = [condition.share_watched for condition in conditions if condition.share_watched is not None]
    if len(shares) < 2:
        return mixture
    low, high = percent(min(shares)), percent(max(shares))
    if low == high:
        return f"{mixture} The share {consumed} is {low} for every algorithm, to the nearest percent."
    return (
        f"{mixture} The share {consumed} ranges from {low} to {high} between algorithms, so a difference in accuracy "
        "may be a difference in this mixture."
    )


# Tables


def _frequent(item: FrequentItem) -> str:
    rating = "" if item.mean_rating is None else f", M\u00a0{number(item.mean_rating)}"
    return f"{item.title} ({item.n}×{rating})"


def liking_table(liking: Sequence[Liking], words: ItemWords) -> Table:
    """Liking of consumed items and interest in the others, with their shares."""
    trailers = Numbers[Liking](
        f"Items not {words.consumed}, trailer seen before", lambda row: whole(row.branches.get("trailer_seen"))
    )
    return table(
        "liking",
        "Perceived accuracy by kind of rating",
        liking,
        Words("Algorithm", lambda row: row.condition),
        Numbers(capital(words.consumed), lambda row: share_cell(row.share_watched)),
        Numbers(f"Items {words.consumed}", lambda row: whole(row.n_watched)),
        Numbers("Liking, M", lambda row: decimal(row.liking), "perceived"),
        Numbers(f"Items not {words.consumed}", lambda row: whole(row.n_not_watched)),
        Numbers("Interest, M", lambda row: decimal(row.interest), "perceived"),
        *((trailers,) if words.has_trailers else ()),
    )


Correlation = CorrelationResult | AgreementResult


def dose_section(results: Results) -> Section:
    """What re-ranking did to the lists shown, as a manipulation check; empty without re-ranked conditions."""
    section = Section("dose", "Manipulation check: lists", "perceived")
    if not results.doses:
        return section
    section.say(
        "The strength λ of a re-ranking is the planned dose. The lists that participants saw show whether it arrived: "
        f"differences of less than {number(SMALLEST_DOSE, 1, is_share=True)} SD from the lists of the same model "
        "without re-ranking count as none."
    )
    section.say(*dose_sentences(results.doses), style="says")
    lines = [
        (dose, change)
        for metric in DOSE_METRICS
        for dose in results.doses
        for change in dose.changes
        if change.metric == metric
    ]
    if lines:
        section.put(_doses_table(lines))
    return section


def lists_section(results: Results, figure: FigureMaker) -> Section:
    """Metrics by condition, correlations with the measures, and parts of differences; empty in older reports."""
    section = Section("shown-lists", "Lists shown", "perceived")
    lists = results.lists_shown
    if lists is None:
        return section
    section.say(_definitions(lists), missing(lists))
    section.put(_means_table(lists))
    section.say(*findings(lists), style="says")
    section.say(ASSOCIATION)
    chart = _figure(lists, figure)
    section.draw(chart)
    section.put(None if chart else _correlations_table(lists), is_folded=True)  # the figure has it
    covariates.put_list_parts(section, results)
    return section


def _figure(lists: ListsShown, figure: FigureMaker) -> Figure | None:
    if all(isinstance(pair.within, Undefined) for pair in lists.correlations):
        return None
    column_of = column_labels(lists.variables)
    values: dict[str, dict[str, float | None]] = {}
    reasons: dict[tuple[str, str], str] = {}
    for pair in lists.correlations:
        row, column = LIST_METRIC_OF[pair.metric].name, column_of[pair.variable_key]
        if isinstance(pair.within, Undefined):
            reasons[row, column] = pair.within.reason
        values.setdefault(row, {})[column] = None if isinstance(pair.within, Undefined) else pair.within.coefficient
    emphasised = lists.significant_within
    chart = marks.matrix(
        values,
        title=title(lists),
        subtitle="Correlation r of each metric of a participant's list with each measure, within conditions",
        emphasised=[(LIST_METRIC_OF[pair.metric].name, column_of[pair.variable_key]) for pair in emphasised],
        reasons=reasons,
        coefficient="r",
        side="perceived",
    )
    caption = (
        "Pearson's r of deviations from the mean of the condition, pooled over conditions. An asterisk marks a "
        f"significant correlation after Holm's correction over {lists.n_family:,} correlations, those between the "
        "means of conditions included. Associations, not effects."
    )
    return figure("list-correlations", chart, caption, _correlations_table(lists))


# Sentences


MOST_NAMED = 6  # in a sentence; the table has all
DIVERSITY_BY = {
    "features": "by the items' features",
    "co-rating": "by the training users who rated the items, as no item has features",
}
ASSOCIATION = (
    "Lists were not randomised within conditions: participants of a condition saw different lists because they rated "
    "different items. These correlations are associations and do not show what changing the lists would change."
)


def dose_sentences(doses: Sequence[Dose]) -> list[str]:
    """Whether each dose changed the lists, and by how much."""
    sentences = []
    for dose in doses:
        name = f"{dose.condition} (λ = {dose.strength:g})"
        known = [change for change in dose.changes if change.in_sd is not None]
        if not dose.base:
            sentences.append(f"{name}: its model without re-ranking is not compared here, so the change is unknown.")
        elif not known:
            sentences.append(f"{name}: the lists do not vary, so the change from {dose.base} has no unit.")
        elif dose.is_unchanged:
            sentences.append(
                f"{name}: the dose did not change the lists. In every metric they differ from those of {dose.base} by "
                f"less than {number(SMALLEST_DOSE, 1, is_share=True)} SD."
            )
        else:
            parts = [f"{LIST_METRIC_OF[change.metric].in_text} by {_signed(change.in_sd)} SD" for change in known]
            sentences.append(f"{name} changed {listed(parts)}, compared with {dose.base}.")
    return sentences


def _signed(value: float | None) -> str:
    return number(value) if value is None or value < 0 else f"+{number(value)}"


def _definitions(lists: ListsShown) -> str:
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
    within = [
        _correlation_phrase(lists, pair, "r", pair.within, pair.p_holm_within) for pair in lists.significant_within
    ]
    between = [
        _correlation_phrase(lists, pair, "τ_b", pair.between, pair.p_holm_between) for pair in lists.significant_between
    ]
    if not within and not between:
        at = f"significant at α = {level(lists.alpha)} after {family}"
        return [f"No correlation of a list metric with a measure was {at}."]
    return [
        _sentence("Within conditions", within, f"was significant after {family}"),
        _sentence("Between the means of conditions", between, "was significant after the same correction"),
    ]


def _sentence(where: str, correlations: Sequence[str], test: str) -> str:
    if not correlations:
        return f"{where}, no correlation {test}."
    more = f" The table has {len(correlations) - MOST_NAMED} more." if len(correlations) > MOST_NAMED else ""
    words = test.replace("was", "were", 1) if len(correlations) > 1 else test
    subject = f"{number_word(len(correlations))} correlations" if len(correlations) > 1 else "one correlation"
    return f"{where}, {subject} {words}: {'; '.join(correlations[:MOST_NAMED])}.{more}"


def _correlation_phrase(
    lists: ListsShown, pair: CorrelatedLists, symbol: str, result: Correlation | Undefined, p: float | None
) -> str:
    if isinstance(result, Undefined) or p is None:
        return ""
    limits = result.interval if isinstance(result, CorrelationResult) else None
    ends = f", 95% CI {interval(limits.low, limits.high, is_share=True)}" if limits else ""
    names = f"{LIST_METRIC_OF[pair.metric].in_text} with {lists.variable(pair).in_text}"
    return f"{names}, {symbol} = {coefficient(result.coefficient)}{ends}, corrected {named_p(p)}"


def title(lists: ListsShown) -> str:
    """The finding of the figure, which shows correlations within conditions."""
    n = len(lists.significant_within)
    if not n:
        return "No list metric is significantly correlated with a measure within conditions"
    pairs = "pair of a list metric and a measure is" if n == 1 else "pairs of a list metric and a measure are"
    return f"{capital(number_word(n))} {pairs} significantly correlated within conditions"


# Tables


def _doses_table(lines: Sequence[tuple[Dose, ListChange]]) -> Table:
    def digits(line: tuple[Dose, ListChange]) -> tuple[int, bool]:
        metric = LIST_METRIC_OF[line[1].metric]
        return metric.digits, metric.is_share

    return table(
        "list-doses",
        "Lists of re-ranked conditions and of the same model without re-ranking",
        lines,
        Words("Condition", lambda line: line[0].condition),
        Numbers("λ", lambda line: decimal(line[0].strength, 2, is_share=True)),
        Words("Compared with", lambda line: line[0].base),
        Numbers("M without", lambda line: decimal(line[1].base_mean, *digits(line))),
        Numbers("M", lambda line: decimal(line[1].mean, *digits(line))),
        Numbers("Difference, SD", lambda line: decimal(line[1].in_sd)),
        note="SD within both conditions, pooled.",
        group_name="Metric",
        group=lambda line: LIST_METRIC_OF[line[1].metric].title,
    )


def _means_table(lists: ListsShown) -> Table:
    lines = [
        (LIST_METRIC_OF[measured.metric], row)
        for measured in lists.metrics
        for row in measured.conditions
        if measured.metric != "predicted_rating" or row.condition not in lists.unscored
    ]
    return table(
        "list-means",
        "Metrics of the lists shown",
        lines,
        Words("Algorithm", lambda line: line[1].condition),
        Numbers("M", lambda line: decimal(line[1].mean, line[0].digits, line[0].is_share)),
        Numbers(
            "95% CI",
            lambda line: interval_cell(line[1].ci_low, line[1].ci_high, line[0].digits, line[0].is_share),
        ),
        Numbers("SD", lambda line: decimal(line[1].sd, line[0].digits, line[0].is_share)),
        Numbers("Lists", lambda line: whole(line[1].n)),
        note="Limits by Student's t over participants. Overlaps share lists with each other, so the limits of both "
        f"are approximate. {_unscored(lists)}".rstrip(),
        group_name="Metric",
        group=lambda line: line[0].title,
        is_quiet=lambda line: line[1].mean is None,
    )


def _unscored(lists: ListsShown) -> str:
    """The conditions without predicted ratings by reason, in the order of the design."""
    names: dict[str, list[str]] = {}
    for row in lists.metrics[0].conditions:
        if row.condition in lists.unscored:
            names.setdefault(lists.unscored[row.condition], []).append(row.condition)
    return " ".join(f"No predicted rating for {listed(own)}: {reason}." for reason, own in names.items())


def _correlations_table(lists: ListsShown) -> Table:
    lines: list[tuple[str, CorrelatedLists, Correlation | Undefined, float | None]] = [
        *(("Within conditions, Pearson", pair, pair.within, pair.p_holm_within) for pair in lists.correlations),
        *(("Between conditions, Kendall", pair, pair.between, pair.p_holm_between) for pair in lists.correlations),
    ]
    return table(
        "list-correlations",
        "Correlations of list metrics with measures",
        lines,
        Words("List metric", lambda line: LIST_METRIC_OF[line[1].metric].name),
        Words("Measure", lambda line: lists.variable(line[1]).name, "perceived"),
        Numbers("Correlation", lambda line: _cell(line[2], lambda r: decimal(r.coefficient, 2, is_share=True))),
        Numbers("95% limits", lambda line: _cell(line[2], _limits)),
        Numbers("n", lambda line: _cell(line[2], lambda result: whole(result.n))),
        Numbers("p", lambda line: _cell(line[2], lambda result: probability(result.p))),
        Numbers("p, Holm", lambda line: probability(line[3])),
        Words("Without a value", lambda line: line[2].reason if isinstance(line[2], Undefined) else ""),
        note="Within conditions: Pearson's r of deviations from the mean of the condition, pooled, n participants, "
        "with 95% confidence limits by Fisher's z. Between conditions: τ_b of the means of n conditions, p by "
        f"permutation. Holm's correction is over the {lists.n_family:,} exploratory correlations of this table. "
        "Overlaps of participants share lists, so their p values are approximate.",
        group_name="Level",
        group=lambda line: line[0],
        is_quiet=lambda line: isinstance(line[2], Undefined),
    )


def _cell(result: Correlation | Undefined, write: Callable[[Correlation], Cell]) -> Cell:
    return MISSING if isinstance(result, Undefined) else write(result)


def _limits(result: Correlation) -> Cell:
    return limits(result.interval, 2, True) if isinstance(result, CorrelationResult) else MISSING
