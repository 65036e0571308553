"""Tables of effect sizes, of the ordinal model, of correlations, and of persons and items as random effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import variable_of
from analysis.tables.cells import (
    NONE,
    Cell,
    Column,
    Row,
    Table,
    decimal,
    interval,
    probability,
    share_cell,
    text,
    whole,
)
from studies.plans import in_text

Result = Mapping[str, Any]


def hedges_table(found: Result) -> Table:
    """Hedges' g of every pair of one variable or scale; the reason where there is none."""
    has_reasons = any(not pair["is_defined"] for pair in found["hedges"])
    rows = []
    for pair in found["hedges"]:
        limits = pair.get("interval")
        cells = [
            text(pair["a"]),
            text(pair["b"]),
            decimal(pair.get("g")),
            interval(limits["low"], limits["high"]) if limits else Cell(NONE, None),
        ]
        rows.append(
            Row(
                (*cells, text(pair.get("reason", ""))) if has_reasons else tuple(cells), is_quiet=not pair["is_defined"]
            )
        )
    columns = [
        Column("Algorithm"), Column("and"), Column("Hedges' g", True, "perceived"), Column("95 % CI", True),
    ]  # fmt: skip
    if has_reasons:
        columns.append(Column("Why not"))
    return Table(
        f"{found['key']}-hedges",
        f"Effect sizes of all pairs, {in_text(found['name'])}",
        tuple(columns),
        tuple(rows),
        "g is the difference of means in pooled standard deviations of the two, without its bias (exact correction); "
        "limits by the noncentral t distribution, each pair for itself.",
    )


def intervals_table(found: Result, variable: Result) -> Table:
    """Three intervals of each mean: by Student's t, percentile, and BCa."""
    is_share = variable_of(found["key"], found).is_share
    rows = []
    for name in variable["conditions"]:
        described, drawn = variable["described"].get(name), found["intervals"].get(name)
        if described is None or drawn is None:
            continue
        bca = drawn["bca"].get("interval")
        rows.append(
            Row(
                (
                    text(name),
                    decimal(described["mean"], 2, is_share),
                    interval(described["ci_low"], described["ci_high"], 2, is_share),
                    interval(drawn["percentile"]["low"], drawn["percentile"]["high"], 2, is_share),
                    interval(bca["low"], bca["high"], 2, is_share) if bca else Cell(NONE, None),
                )
            )
        )
    columns = (
        Column("Algorithm"), Column("M", True, "perceived"), Column("Student's t", True),
        Column("Bootstrap, percentile", True), Column("Bootstrap, BCa", True),
    )  # fmt: skip
    return Table(
        f"{found['key']}-intervals",
        f"95 % intervals of the means three ways, {in_text(found['name'])}",
        columns,
        tuple(rows),
        "Participants are resampled within their condition. A dash: all of them answered alike.",
    )


def ordinal_table(found: Result) -> Table | None:
    """Shifts of the ordinal model beside the reference; None where it has no result."""
    model = found["ordinal"]
    if not model or not model["is_defined"]:
        return None
    rows = [
        Row(
            (
                text(one["condition"]),
                decimal(one["estimate"]),
                decimal(one["se"]),
                interval(one["ci_low"], one["ci_high"]),
                decimal(one["odds_ratio"]),
                probability(one["p"]),
            )
        )
        for one in model["effects"]
    ]
    columns = (
        Column("Algorithm"), Column("Shift, log odds", True, "perceived"), Column("SE", True), Column("95 % CI", True),
        Column("Odds ratio", True), Column("p", True),
    )  # fmt: skip
    return Table(
        f"{found['key']}-ordinal",
        f"Ordinal model, {in_text(found['name'])}: every algorithm beside {model['reference']}",
        columns,
        tuple(rows),
        "Cumulative logit model: an odds ratio of 2 doubles the odds of an answer above any step of the scale. "
        "p by Wald's test, not adjusted.",
    )


def shares_table(found: Result) -> Table | None:
    """Predicted share of each answer beside the counted one."""
    model = found["ordinal"]
    if not model or not model["is_defined"]:
        return None
    rows = []
    for name in (model["reference"], *(one["condition"] for one in model["effects"])):
        predicted, counts = model["shares"][name], model["counts"][name]
        total = sum(counts)
        cells = [text(name)]
        for share, count in zip(predicted, counts, strict=True):
            cells += [share_cell(share), share_cell(count / total)]
        rows.append(Row(tuple(cells)))
    columns = [Column("Algorithm")]
    for category in model["categories"]:
        columns += [Column(f"{category:g}, predicted", True, "perceived"), Column("counted", True)]
    return Table(
        f"{found['key']}-ordinal-shares",
        f"Shares of each answer by the ordinal model, {in_text(found['name'])}",
        tuple(columns),
        tuple(rows),
    )


PARTS = {"within": "Within algorithms", "between": "Between the means of algorithms", "overall": "All together"}


def correlations_table(found: Sequence[Result]) -> Table:
    """Every pair of variables within conditions, between their means, and over all."""
    rows = tuple(
        Row(
            (text(_both(one)), whole(one[key].get("n")), *_correlation(one[key])),
            group=title,
            is_quiet=not one[key]["is_defined"],
        )
        for key, title in PARTS.items()
        for one in found
    )
    columns = (
        Column("Variables"), Column("n", True), Column("r", True, "perceived"), Column("95 % CI", True),
        Column("p", True),
    )  # fmt: skip
    return Table(
        "correlations",
        "Correlations of every pair of variables",
        columns,
        rows,
        "Within: participants beside others of their algorithm, means taken off. Between: one point an algorithm. "
        "All together mixes the two. Intervals by Fisher's z; a dash where nothing varies.",
        "Part",
    )


def _both(one: Result) -> str:
    return f"{variable_of(one['a'], one).name} and {variable_of(one['b'], one).in_text}"


def _correlation(found: Result) -> list[Cell]:
    if not found["is_defined"]:
        return [Cell(NONE, None)] * 3
    limits = found["interval"]
    return [
        decimal(found["coefficient"], 2, True),
        interval(limits["low"], limits["high"], 2, True) if limits else Cell(NONE, None),
        probability(found["p"]),
    ]


def correlations_by_condition(found: Sequence[Result]) -> Table:
    """The same inside each algorithm alone."""
    rows = []
    for one in found:
        for inside in one["by_condition"]:
            rows.append(
                Row(
                    (text(inside["condition"]), whole(inside.get("n")), *_correlation(inside)),
                    group=_both(one),
                    is_quiet=not inside["is_defined"],
                )
            )
    columns = (
        Column("Algorithm"), Column("n", True), Column("r", True, "perceived"), Column("95 % CI", True),
        Column("p", True),
    )  # fmt: skip
    return Table(
        "correlations-by-algorithm", "Correlations inside each algorithm", columns, tuple(rows), group_name="Variables"
    )


def crossed_table(crossed: Result) -> Table | None:
    """Means over other persons and other items; None where the model has no result."""
    if not crossed["is_defined"]:
        return None
    rows = [
        Row(
            (
                text(one["condition"]),
                whole(one["n_persons"]),
                whole(one["n_items"]),
                whole(one["n_answers"]),
                decimal(one["mean"]),
                decimal(one["se"]),
                interval(one["interval"]["low"], one["interval"]["high"]),
            )
        )
        for one in crossed["conditions"]
    ]
    columns = (
        Column("Algorithm"), Column("Participants", True), Column("Items", True), Column("Ratings", True),
        Column("Mean", True, "perceived"), Column("SE", True), Column("95 % CI", True),
    )  # fmt: skip
    return Table(
        "crossed",
        "Ratings of items with participants and items as random effects",
        columns,
        tuple(rows),
        "Errors hold the sampling of participants and of items; normal limits. REML.",
    )


def crossed_pairs(crossed: Result) -> Table | None:
    """Every pair by the mixed model."""
    if not crossed["is_defined"]:
        return None
    rows = [
        Row(
            (
                text(pair["a"]),
                text(pair["b"]),
                decimal(pair["difference"]),
                decimal(pair["se"]),
                probability(pair["p"]),
            ),
            is_quiet=not pair["is_significant"],
        )
        for pair in crossed["pairs"]["pairs"]
    ]
    columns = (
        Column("Algorithm"), Column("and"), Column("Difference", True, "perceived"), Column("SE", True),
        Column("p, Holm", True),
    )  # fmt: skip
    return Table("crossed-pairs", "All pairs by the model of participants and items", columns, tuple(rows))
