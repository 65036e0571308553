"""The recommended items, and liking beside interest."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.present.words import decimal, share_cell, whole
from analysis.results.perceived import FrequentItem, ItemsOfCondition, Liking
from analysis.results.report import ItemWords, Results
from documents.blocks import Section
from documents.numbers import capital, number, percent
from documents.tables import Numbers, Table, Words, table


def distributions_section(results: Results) -> Section:
    """The recommended items and the kinds of rating behind the means."""
    section = Section("behind", "Distributions", "perceived")
    if not results.flow.analysed:
        return section
    section.head("Recommended items")
    section.say(*item_warnings(results.items), style="warning")
    section.put(items_table(results.items))
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
        if condition.is_carried_by_few and condition.share_of_most_shown is not None:
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


def items_table(items: Sequence[ItemsOfCondition]) -> Table:
    """How many items each condition recommended, with the most frequent."""
    return table(
        "items",
        "Recommended items by algorithm",
        items,
        Words("Algorithm", lambda condition: condition.condition),
        Numbers("Slots", lambda condition: whole(condition.n_slots)),
        Numbers("Distinct items", lambda condition: whole(condition.n_distinct)),
        Numbers("Share of the most frequent", lambda condition: share_cell(condition.share_of_most_shown)),
        Numbers("Filled by popularity", lambda condition: whole(condition.n_filled)),
        Words("Most frequent, mean rating", lambda condition: "; ".join(map(_frequent, condition.top))),
    )


def _frequent(item: FrequentItem) -> str:
    return f"{item.title} ({item.n}×, M\u00a0{number(item.mean_rating)})"


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
