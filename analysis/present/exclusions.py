"""The tests with and without the excluded participants."""

from __future__ import annotations

from analysis.present import contrast, factorial
from analysis.present.plan import metric_name
from analysis.present.words import MISSING, coverage, probability, tau_b, whole
from analysis.results.exclusions import ComparedAdvantage, ComparedPrimary, ComparedVariable, Exclusions
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import NONE, f_statistic, interval, number, relation
from documents.tables import Cell, Column, Row, Table, text
from inference.results import Undefined


def exclusions_section(results: Results) -> Section:
    """With and without exclusions; nothing where all completers are analysed."""
    section = Section("exclusions", "With and without exclusions", "perceived")
    if (compared := results.exclusions) is not None:
        section.say(*sentences(compared, results))
        section.put(tests(compared))
    return section


# Sentences


VERDICTS = {
    "alike": "ranks the algorithms much as participants do",
    "against": "ranks the algorithms in the opposite direction to participants",
    "open": "gives no evidence of ranking the algorithms as participants do",
    "none": "cannot be compared with the participants' ranking",
}


def sentences(compared: Exclusions, results: Results) -> list[str]:
    """Each variable and the primary pair, with and without exclusions."""
    lines = [
        f"{compared.n.analysed:,} of the {compared.n.completers:,} participants who completed the study are analysed. "
        "This section repeats the analysis with all of them."
    ]
    if compared.n.analysed:
        lines += [_variable(variable) for variable in compared.variables]
        if compared.contrast is not None:
            lines.append(contrast.exclusion_sentence(compared.contrast))
        if (effect := factorial.planned_of(results)) is not None:
            lines.append(factorial.exclusion_sentence(effect, results.plan.alpha))
        if compared.primary is not None and results.plan.primary_test == "rank correlation":
            lines.append(_verdicts(compared.primary, results.objective.n))
        if compared.advantage is not None and results.primary is not None:
            lines.append(_advantage(compared.advantage, is_share=results.primary.variable.is_share))
    return lines


def _advantage(compared: ComparedAdvantage, *, is_share: bool) -> str:
    analysed, completers = compared.analysed, compared.completers
    if isinstance(analysed, Undefined) or isinstance(completers, Undefined):
        return "The average advantage cannot be compared: it has no result on one side."
    before, after = (
        f"{number(result.value, 2, is_share)}, {coverage(result.alpha)} CI "
        f"{interval(result.interval.low, result.interval.high, 2, is_share)}"
        for result in (analysed, completers)
    )
    if analysed.verdict is completers.verdict:
        return f"The verdict on the average advantage is the same ({before} with exclusions; {after} without)."
    return (
        f"The verdict on the average advantage changes from “{completers.verdict}” without exclusions ({after}) to "
        f"“{analysed.verdict}” with them ({before})."
    )


def _variable(variable: ComparedVariable) -> str:
    name = variable.variable.name
    if variable.is_robust is None:
        return f"{name}: no test of the analysed participants, so there is no conclusion to compare."
    if variable.is_robust:
        return f"{name}: the conclusion is the same, with the same significant pairs."
    changes = []
    if isinstance(variable.completers.test, Undefined):
        changes.append("without exclusions there is no test")
    if variable.only_analysed:
        changes.append(f"{relation(variable.only_analysed, 'above')} only with exclusions")
    if variable.only_completers:
        changes.append(f"{relation(variable.only_completers, 'above')} only without exclusions")
    if not changes:
        changes.append("the test of all algorithms is significant only one way")
    return f"{name}: the conclusion changes: {'; '.join(changes)}."


def _verdicts(primary: ComparedPrimary, n: int) -> str:
    metric = metric_name(primary.metric_key, n)
    analysed, completers = primary.verdicts
    before, after = (
        "no τ_b" if isinstance(tau, Undefined) else tau_b(tau) for tau in (primary.analysed, primary.completers)
    )
    numbers = f"{before} with exclusions; {after} without"
    if primary.is_robust:
        return f"The rank correlation leads to the same verdict ({numbers}): {metric} {VERDICTS[analysed]}."
    return (
        f"The verdict on the rank correlation changes ({numbers}): with exclusions {metric} {VERDICTS[analysed]}; "
        f"without them it {VERDICTS[completers]}."
    )


# Tables


SIDES = ("as analysed", "all completers")


def tests(exclusions: Exclusions) -> Table:
    """Welch's test of each variable, and the number of ordered pairs, with and without exclusions."""
    rows = []
    for variable in exclusions.variables:
        cells: list[Cell] = []
        counts = (variable.n_ordered.analysed, variable.n_ordered.completers)
        for side, n_ordered in zip(variable.sides, counts, strict=True):
            test = side.test
            f, p = MISSING, MISSING
            if not isinstance(test, Undefined):
                f, p = Cell(f_statistic(test.df_between, test.df_within, test.f), test.f), probability(test.p)
            cells += [f, p, whole(n_ordered)]
        is_robust = {True: "yes", False: "no", None: NONE}[variable.is_robust]
        rows.append(Row((text(variable.variable.name), *cells, text(is_robust))))
    columns = [Column("Variable", side="perceived")]
    for name in SIDES:
        columns += [Column(f"F, {name}"), Column("p", True), Column("Significant pairs", True)]
    columns.append(Column("Same conclusion"))
    return Table(
        "exclusions-tests",
        "Each variable as analysed, and over all completers",
        tuple(columns),
        tuple(rows),
        "The conclusion is the same where both tests are significant, or neither is, with the same significant pairs.",
    )
