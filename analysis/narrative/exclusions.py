"""Sentences about exclusions: which conclusions depend on them."""

from __future__ import annotations

from analysis.narrative import contrast
from analysis.narrative.deviations import metric_name
from analysis.narrative.words import tau_b
from analysis.results.exclusions import ComparedPrimary, ComparedVariable, Exclusions
from analysis.tables.cells import relation
from inference.results import AgreementResult, Undefined

VERDICTS = {
    "alike": "ranks the algorithms much as participants do",
    "against": "ranks the algorithms in the opposite direction to participants",
    "open": "gives no evidence of ranking the algorithms as participants do",
    "none": "cannot be compared with the participants' ranking",
}


def exclusions(results: Exclusions, n: int) -> list[str]:
    """Each variable and the primary pair, with and without exclusions."""
    sentences = [
        f"{results.n.analysed:,} of the {results.n.completers:,} participants who completed the study are analysed. "
        "This section repeats the analysis with all of them."
    ]
    if results.n.analysed:
        sentences += [_variable(variable) for variable in results.variables]
        if results.contrast is not None:
            sentences.append(contrast.exclusion_sentence(results.contrast))
        if results.primary is not None:
            sentences.append(_verdicts(results.primary, n))
    return sentences


def _variable(variable: ComparedVariable) -> str:
    name = variable.variable.name
    if variable.survives is None:
        return f"{name}: no test of the analysed participants, so there is no conclusion to compare."
    if variable.survives:
        return f"{name}: the conclusion is the same, with the same significant pairs."
    changes = []
    if isinstance(variable.completers.anova, Undefined):
        changes.append("without exclusions there is no test")
    if variable.only_analysed:
        changes.append(f"{relation(variable.only_analysed, 'above')} only with exclusions")
    if variable.only_completers:
        changes.append(f"{relation(variable.only_completers, 'above')} only without exclusions")
    if not changes:
        changes.append("the analysis of variance is significant only one way")
    return f"{name}: the conclusion changes: {'; '.join(changes)}."


def _verdicts(primary: ComparedPrimary, n: int) -> str:
    metric = metric_name(primary.metric_key, n)
    analysed, completers = primary.verdicts
    numbers = f"{_tau(primary.analysed)} with exclusions; {_tau(primary.completers)} without"
    if primary.survives:
        return f"The verdict on the primary pair is the same both ways ({numbers}): {metric} {VERDICTS[analysed]}."
    return (
        f"The verdict on the primary pair changes ({numbers}): with exclusions {metric} {VERDICTS[analysed]}; without "
        f"them it {VERDICTS[completers]}."
    )


def _tau(tau: AgreementResult | Undefined) -> str:
    return "no τ_b" if isinstance(tau, Undefined) else tau_b(tau)
