"""The exploratory family: the average advantages of the measures and metrics beside the primary pair."""

from __future__ import annotations

from analysis.results.report import Results
from analysis.tables.cells import decimal, interval, probability, whole
from analysis.tables.levels import coverage
from documents.numbers import capital, listed, number, plural
from documents.tables import Column, Row, Table, text


def exploratory_table(results: Results) -> Table | None:
    """Every test of the family; None where there is none."""
    family = results.exploratory
    if family is None or not family.tests:
        return None
    n = results.objective.n
    metrics = {comparison.metric_key: comparison.metric(n).in_text for comparison in results.comparisons}
    variables = {comparison.variable_key: comparison.variable for comparison in results.comparisons}
    rows = []
    for test in family.tests:
        advantage, variable = test.advantage, variables[test.measure]
        limits = advantage.interval
        rows.append(
            Row(
                (
                    text(variable.name),
                    text(capital(listed([metrics[key] for key in test.metrics]))),
                    whole(advantage.n_pairs),
                    decimal(advantage.value, 2, variable.is_share),
                    interval(limits.low, limits.high, 2, variable.is_share),
                    probability(advantage.p),
                    probability(test.p),
                ),
                is_quiet=test.p >= family.alpha,
            )
        )
    columns = (
        Column("Measure", side="perceived"), Column("Metric", side="objective"),
        Column("Separated pairs", True, "objective"), Column("Average advantage", True, "perceived"),
        Column(f"{coverage(family.alpha)} CI", True), Column("p", True), Column("p, Holm", True),
    )  # fmt: skip
    least = family.smallest_p_below
    bound = "" if least is None else f"; the smallest p had to be below {number(least, 4, is_share=True)}"
    undefined = sorted(set(family.undefined.values()))
    return Table(
        "exploratory",
        "Exploratory family: average advantages of other measures and metrics",
        columns,
        tuple(rows),
        f"{plural(len(family.tests), 'test')}{bound}. Metrics that order the algorithms alike are one test. Limits are "
        f"for each test separately.{' ' if undefined else ''}{' '.join(undefined)}",
    )
