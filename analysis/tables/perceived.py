"""Tables of what participants perceived."""

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
    listed,
    probability,
    text,
    whole,
    written,
)
from analysis.tables.levels import level_of, simultaneous
from studies.plans import in_text

Result = Mapping[str, Any]
TIER_NAMES = {
    "maximal": "Maximal",
    "intermediate": "Intermediate",
    "minimal": "Minimal",
    "unordered": "Unordered: told apart from nobody",
}
MARK = "†"


def described(variable: Result) -> Table:
    """n, mean, sd, interval and quartiles of each condition."""
    is_share = variable_of(variable["key"], variable).is_share
    rows = []
    for name in variable["conditions"]:
        found = variable["described"].get(name)
        if found is None:
            rows.append(Row((text(name), whole(0), *(Cell(NONE, None) for _ in range(7))), is_quiet=True))
            continue
        rows.append(
            Row(
                (
                    text(name),
                    whole(found["n"]),
                    decimal(found["mean"], 2, is_share),
                    decimal(found["sd"], 2, is_share),
                    interval(found["ci_low"], found["ci_high"], 2, is_share),
                    *(decimal(found[key], 2, is_share) for key in ("median", "q1", "q3")),
                    interval(found["minimum"], found["maximum"], 2, is_share),
                )
            )
        )
    columns = (
        Column("Algorithm"), Column("n", True), Column("M", True, "perceived"), Column("SD", True),
        Column("95 % CI of M", True), Column("Median", True), Column("Quartile 1", True), Column("Quartile 3", True),
        Column("Range", True),
    )  # fmt: skip
    return Table(f"{variable['key']}-described", f"{variable['name']} by algorithm", columns, tuple(rows))


def anova_table(variable: Result) -> Table | None:
    """The table of the analysis of variance; None where it has none."""
    found = variable["anova"]
    if not found["is_defined"]:
        return None
    total = found["ss_between"] + found["ss_within"]
    none = Cell("", None)
    rows = (
        Row(
            (
                text("Between algorithms"),
                decimal(found["ss_between"]),
                whole(found["df_between"]),
                decimal(found["ms_between"]),
                decimal(found["f"]),
                probability(found["p"]),
                decimal(found["eta_squared"], 2, True),
                decimal(max(0.0, found["omega_squared"]), 2, True),
            )
        ),
        Row(
            (
                text("Within algorithms"), decimal(found["ss_within"]), whole(found["df_within"]),
                decimal(found["ms_within"]), none, none, none, none,
            )
        ),
        Row(
            (
                text("Total"), decimal(total), whole(found["df_between"] + found["df_within"]), none, none, none,
                none, none,
            )
        ),
    )  # fmt: skip
    columns = (
        Column("Source"), Column("SS", True), Column("df", True), Column("MS", True), Column("F", True),
        Column("p", True), Column("η²", True), Column("ω²", True),
    )  # fmt: skip
    return Table(f"{variable['key']}-anova", f"Analysis of variance, {in_text(variable['name'])}", columns, rows)


def pairs_table(variable: Result) -> Table | None:
    """Every pair by Tukey's test, with what the two robust tests say; None where Tukey's has no result."""
    tukey = variable["tests"]["tukey"]
    if not tukey["is_defined"]:
        return None
    is_share = variable_of(variable["key"], variable).is_share
    beside = {
        key: {(pair["a"], pair["b"]): pair["p"] for pair in variable["tests"][key].get("pairs", ())}
        for key in ("games_howell", "dunn_holm")
    }
    rows = tuple(
        Row(
            (
                text(pair["a"]),
                text(pair["b"]),
                decimal(pair["difference"], 2, is_share),
                interval(pair["ci_low"], pair["ci_high"], 2, is_share),
                probability(pair["p"]),
                probability(beside["games_howell"].get((pair["a"], pair["b"]))),
                probability(beside["dunn_holm"].get((pair["a"], pair["b"]))),
            ),
            is_quiet=not pair["is_significant"],
        )
        for pair in tukey["pairs"]
    )
    columns = (
        Column("Algorithm"), Column("and"), Column("Difference of means", True, "perceived"),
        Column(f"Simultaneous {simultaneous(variable)} CI", True), Column("p, Tukey", True),
        Column("p, Games-Howell", True), Column("p, Dunn-Holm", True),
    )  # fmt: skip
    n = len(rows)
    return Table(
        f"{variable['key']}-pairs",
        f"All {n} pairs, {in_text(variable['name'])}" if n > 1 else f"The one pair, {in_text(variable['name'])}",
        columns,
        rows,
        "Every p is adjusted for all pairs of this variable; a dash means that the pair could not be tested.",
    )


def told_apart(variable: Result, beside: Mapping[str, float | None] | None = None, metric_name: str = "") -> Table:
    """Who is told apart from whom: tiers with means, counts of dominance, letters, and a metric beside."""
    is_share = variable_of(variable["key"], variable).is_share
    order = variable["orders"]["tukey"]
    rows = []
    for tier, title in TIER_NAMES.items():
        for name in order["best_first"]:
            if order["tiers"][name] != tier:
                continue
            found = variable["described"][name]
            rows.append(
                Row(
                    (
                        text(name),
                        decimal(found["mean"], 2, is_share),
                        decimal(found["sd"], 2, is_share),
                        whole(len(order["dominates"][name])),
                        whole(len(order["dominated_by"][name])),
                        text(order["letters"][name]),
                        *(() if beside is None else (decimal(beside.get(name), 3, True),)),
                    ),
                    group=title,
                )
            )
    columns = (
        Column("Algorithm"), Column("M", True, "perceived"), Column("SD", True), Column("Dominates", True),
        Column("Dominated by", True), Column("Letters"),
        *(() if beside is None else (Column(metric_name, True, "objective"),)),
    )  # fmt: skip
    return Table(
        f"{variable['key']}-order",
        f"Who is told apart from whom, {in_text(variable['name'])}",
        columns,
        tuple(rows),
        "One algorithm dominates another where its mean is higher and Tukey's adjusted p is below "
        f"{level_of(variable)}. Two that share a letter were not told apart.",
        "Tier",
    )


def dominated_pairs(order: Result) -> str:
    """The relation in words, for whoever does not see the diagram."""
    told = [
        f"{name} dominates {listed(order['dominates'][name])}" for name in order["names"] if order["dominates"][name]
    ]
    return f"{'; '.join(told)}." if told else "No algorithm dominates another."


def table_1(variables: Sequence[Result], is_one_novelty: bool) -> Table:
    """Table 1 in the paper's layout: three rows, the unordered in the middle one and marked."""
    by_key = {variable["key"]: variable for variable in variables}
    if is_one_novelty:
        chosen = [("accuracy", "Perceived accuracy"), ("fon", "Novelty"), ("satisfaction", "Satisfaction")]
    else:
        chosen = [
            ("accuracy", "Perceived accuracy"), ("fon", "First-order novelty"), ("son", "Second-order novelty"),
            ("satisfaction", "Satisfaction"),
        ]  # fmt: skip
    chosen = [(key, name) for key, name in chosen if key in by_key]
    chosen += [(one["key"], one["name"]) for one in variables if variable_of(one["key"], one).scale]
    rows = []
    for place, tier in enumerate(("maximal", "intermediate", "minimal")):
        cells = [text(TIER_NAMES[tier])]
        for key, _ in chosen:
            row = by_key[key]["orders"]["tukey"]["rows"][place]
            marked = set(row["unordered"])
            names = [f"{name}{MARK}" if name in marked else name for name in row["names"]]
            cells.append(text(", ".join(names) or NONE))
        rows.append(Row(tuple(cells)))
    note = f"{MARK} Told apart from nobody: it has shown nothing, and is not in the middle. Best mean first."
    if is_one_novelty:
        note += " First- and second-order novelty gave the same tiers, so novelty has one column."
    columns = (Column("Algorithms"), *(Column(name, side="perceived") for _, name in chosen))
    return Table("table-1", "Table 1. Partial order of the algorithms", columns, tuple(rows), note)


def robustness(variables: Sequence[Result]) -> Table:
    """Whether the pairs that Tukey orders are ordered by the robust tests as well."""
    rows = []
    for variable in variables:
        n = sum(len(below) for below in variable["orders"]["tukey"]["dominates"].values())
        cells = [text(variable["name"]), whole(n)]
        for key in ("games_howell", "dunn_holm"):
            found = variable["survives"][key]
            if not found["is_defined"]:
                cells += [Cell(NONE, None)] * 3
                continue
            cells += [whole(len(found["kept"])), whole(len(found["lost"])), whole(len(found["gained"]))]
        rows.append(Row(tuple(cells)))
    columns = [Column("Variable"), Column("Pairs by Tukey", True)]
    for name in ("Games-Howell", "Dunn-Holm"):
        columns += [Column(f"{name}: kept", True), Column("lost", True), Column("only there", True)]
    return Table(
        "robustness",
        "Does the order survive without equal variances, and by ranks?",
        tuple(columns),
        tuple(rows),
        "Pairs that Tukey's test orders, and what becomes of them under tests that assume less.",
    )


def tests_table(variable: Result) -> Table:
    """The classical test with the robust ones beside it, each with its result or the reason why not."""
    rows: list[tuple[tuple[Cell, ...], str]] = []
    for key, title, statistic in (
        ("anova", "One-way ANOVA", "F"), ("welch", "Welch's ANOVA", "F"), ("kruskal", "Kruskal-Wallis", "H"),
        ("brown_forsythe", "Brown-Forsythe (equal spread)", "F"),
        ("shapiro_residuals", "Shapiro-Wilk (residuals)", "W"),
    ):  # fmt: skip
        found = variable[key]
        if key == "welch" and not found["is_defined"] and variable["welch_without_constant"]["is_defined"]:
            found = variable["welch_without_constant"]
            title = f"Welch's ANOVA without {listed(found['left_out'])} (no variance)"
        if found["is_defined"]:
            rows.append(((text(title), text(_statistic(found, statistic)), probability(found["p"])), ""))
        else:
            rows.append(((text(title), Cell(NONE, None), Cell(NONE, None)), found["reason"]))
    columns = [Column("Test"), Column("Statistic"), Column("p", True)]
    has_reasons = any(reason for _, reason in rows)
    if has_reasons:
        columns.append(Column("Why not"))
    return Table(
        f"{variable['key']}-tests",
        f"Tests of {in_text(variable['name'])}",
        tuple(columns),
        tuple(Row((*cells, text(reason)) if has_reasons else cells, is_quiet=bool(reason)) for cells, reason in rows),
    )


def _statistic(found: Result, letter: str) -> str:
    if letter == "F":
        within = found["df_within"]
        df = f"{within}" if isinstance(within, int) else written(within)
        return f"F({found['df_between']}, {df}) = {written(found['f'])}"
    if letter == "H":
        return f"H({found['df']}) = {written(found['h'])}"
    return f"W = {written(found['w'], 3, is_share=True)}"


def box_table(variable: Result) -> Table:
    """The numbers of a box plot."""
    is_share = variable_of(variable["key"], variable).is_share
    rows = []
    for name in variable["conditions"]:
        if name not in variable["described"]:
            continue
        found = variable["described"][name]
        outliers = ", ".join(written(value, 2, is_share) for value in found["outliers"])
        rows.append(
            Row(
                (
                    text(name),
                    *(
                        decimal(found[key], 2, is_share)
                        for key in ("whisker_low", "q1", "median", "q3", "whisker_high", "mean")
                    ),
                    text(outliers or NONE),
                )
            )
        )
    columns = (
        Column("Algorithm"), Column("Lower whisker", True), Column("Quartile 1", True), Column("Median", True),
        Column("Quartile 3", True), Column("Upper whisker", True), Column("Mean", True), Column("Outliers"),
    )  # fmt: skip
    return Table(
        f"{variable['key']}-box", f"Numbers of the box plot, {in_text(variable['name'])}", columns, tuple(rows)
    )
