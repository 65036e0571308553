"""The charts of a dataset's page with their data tables. Pure; `charting` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charting.marks import bars, histogram, long_tail
from charting.theme import Spec, both_modes


@dataclass(frozen=True)
class Figure:
    """A chart in light and dark, with the numbers it shows."""

    key: str
    title: str
    specs: dict[str, Spec]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def element_id(self) -> str:
        """Id of the element that holds the specification."""
        return f"chart-{self.key}"


def ratings_per_value(values: Sequence[tuple[float, int]], limits: tuple[float, float] | None = None) -> Figure:
    """How often each rating was given: (value, count) from the lowest; `limits`: relevant from, irrelevant up to."""
    total = sum(count for _, count in values)
    commonest, most = max(values, key=lambda pair: pair[1])
    title, y_title = f"The commonest rating is {commonest:g}: {100 * most / total:.0f}% of all", "Ratings of each value"
    if limits is not None:
        relevant, irrelevant = limits
        n_relevant = sum(count for value, count in values if value >= relevant)
        n_irrelevant = sum(count for value, count in values if value <= irrelevant)
        title = (
            f"Relevant from {relevant:g}: {100 * n_relevant / total:.0f}% of all ratings; "
            f"irrelevant up to {irrelevant:g}: {100 * n_irrelevant / total:.0f}%"
        )
        y_title += "; solid: relevant, outlined: irrelevant, grey: neither"
    return Figure(
        key="values",
        title=title,
        specs=both_modes(histogram(dict(values), title=title, x_title="Rating", y_title=y_title, limits=limits)),
        columns=("Rating", "Ratings", "Share"),
        rows=tuple((f"{value:g}", f"{count:,}", f"{100 * count / total:.1f} %") for value, count in values),
    )


def tail(counts: Sequence[int], shares: Sequence[tuple[int, float, float]], half_items: int) -> Figure:
    """How ratings spread over items.

    `counts` are the ratings of each item; `shares` are (items, their share of items, their share of ratings),
    0 to 1, of the most rated; `half_items` is the fewest items that have half of the ratings.
    """
    title = f"The {half_items:,} most rated of {len(counts):,} items have half of the ratings"
    if half_items == 1:
        title = f"The most rated of {len(counts):,} items has half of the ratings"
    return Figure(
        key="tail",
        title=title,
        specs=both_modes(long_tail(counts, title=title)),
        columns=("Most rated items", "Share of items", "Share of ratings"),
        rows=tuple((f"{items:,}", f"{100 * of:.1f} %", f"{100 * have:.1f} %") for items, of, have in shares),
    )


def ratings_by_mean(bins: Sequence[tuple[float, float, int, float]]) -> Figure:
    """Ratings per item by mean rating: (lowest mean, highest mean, items, ratings per item) from the lowest.

    After the first figure of Gunawardana & Shani (2009), which shows whether ratings are missing at random.
    """
    names = [f"{low:g} to {high:g}" for low, high, _, _ in bins]
    most = max(range(len(bins)), key=lambda index: bins[index][3])
    title = f"Items with a mean of {names[most]} have the most ratings: {bins[most][3]:,.1f} each"
    means = {name: (ratings, ratings, ratings) for name, (_, _, _, ratings) in zip(names, bins, strict=True)}
    chart = bars(
        {"ratings an item": means},
        title=title,
        x_title="Ratings of an item, on average, by its mean rating",
        side="neutral",
        decimals=1,
        is_share=False,
    )
    return Figure(
        key="by-mean",
        title=title,
        specs=both_modes(chart),
        columns=("Mean rating", "Items", "Ratings an item"),
        rows=tuple((name, f"{n:,}", f"{each:,.1f}") for name, (_, _, n, each) in zip(names, bins, strict=True)),
    )
