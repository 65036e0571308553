"""The scales of the questionnaire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.present.words import MISSING, cell_of, decimal, interval_cell, probability, whole
from analysis.results.constructs import omegas_of
from analysis.results.perceived import QuestionnaireScale
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import f_statistic, listed
from documents.tables import Column, Numbers, Row, Table, Words, table, text
from inference.factor_analysis import OmegaResult
from inference.results import Undefined
from studies.plans import in_text


def scale_sections(results: Results) -> list[Section]:
    """The reliability of each scale of the questionnaire, and the means of those that have no section of their own."""
    if not results.scales or not results.flow.analysed:
        return []
    section = Section("scales", "Scales of the questionnaire", "perceived")
    section.say(planned_words(results.scales))
    section.put(reliability(results.scales, omegas_of(results.constructs)))
    tested = {variable.variable.scale for variable in results.variables}
    section.put(means([scale for scale in results.scales if scale.key not in tested]))
    section.say(*reasons(results.scales))
    return [section]


# Sentences


def planned_words(results: Sequence[QuestionnaireScale]) -> str:
    """Which scales the plan names."""
    planned = [scale.name for scale in results if scale.is_planned]
    unadjusted = "Their p values are not adjusted for one another."
    if not planned:
        return f"These scales are exploratory: the plan names none of them. {unadjusted}"
    if len(planned) == len(results):
        return f"The plan names {'this scale' if len(results) == 1 else 'these scales'}. {unadjusted}"
    return f"The plan names {listed(planned)}; the other scales are exploratory. {unadjusted}"


# Tables


def reliability(scales: Sequence[QuestionnaireScale], omegas: Mapping[str, OmegaResult | Undefined]) -> Table:
    """Reliability of each scale with its interval, and one analysis of variance by algorithm."""
    rows = []
    for scale in scales:
        alpha, anova = scale.reliability, scale.anova
        consistency, test = [MISSING] * 3, [MISSING] * 3
        if not isinstance(alpha, Undefined):
            limits = interval_cell(alpha.ci_low, alpha.ci_high, 2, True)
            consistency = [whole(alpha.n), decimal(alpha.alpha, 2, True), limits]
        if not isinstance(anova, Undefined):
            statistic = f_statistic(anova.df_between, anova.df_within, anova.f)
            test = [text(statistic), probability(anova.p), decimal(anova.eta_squared, 2, True)]
        if omegas:
            omega = omegas.get(scale.key)
            consistency += [
                cell_of(omega, lambda result: decimal(result.omega, 2, True)),
                cell_of(omega, lambda result: interval_cell(result.ci_low, result.ci_high, 2, True)),
            ]
        rows.append(Row((text(scale.name), whole(len(scale.questions)), *consistency, *test)))
    of_omega = (Column("McDonald's ω", True, "perceived"), Column("95% CI of ω", True)) if omegas else ()
    columns = (
        Column("Scale"), Column("Questions", True), Column("n", True), Column("Cronbach's α", True, "perceived"),
        Column("95% CI of α", True), *of_omega, Column("F by algorithm"), Column("p", True), Column("η²", True),
    )  # fmt: skip
    return Table(
        "scales",
        "Reliability of the scales",
        columns,
        tuple(rows),
        "α with Feldt's interval, over participants of all algorithms who answered every question of the scale; "
        "negatively worded questions are reverse-scored."
        + (" ω from the one-factor model, with an interval by the delta method." if omegas else ""),
    )


def means(scales: Sequence[QuestionnaireScale]) -> Table:
    """Mean score and standard deviation of each scale by algorithm."""
    return table(
        "scale-means",
        "Scales by algorithm",
        [(scale, name, scale.described.get(name)) for scale in scales for name in scale.conditions],
        Words("Algorithm", lambda row: row[1]),
        Numbers("n", lambda row: whole(0 if row[2] is None else row[2].n)),
        Numbers("M", lambda row: cell_of(row[2], lambda numbers: decimal(numbers.mean)), "perceived"),
        Numbers("SD", lambda row: cell_of(row[2], lambda numbers: decimal(numbers.sd))),
        Numbers("95% CI of M", lambda row: cell_of(row[2], lambda own: interval_cell(own.ci_low, own.ci_high))),
        group_name="Scale",
        group=lambda row: f"{row[0].name} ({row[0].low} to {row[0].high})",
    )


def reasons(scales: Sequence[QuestionnaireScale]) -> list[str]:
    """Why a scale has no alpha, and how many scores are missing, in sentences."""
    sentences = []
    for scale in scales:
        if isinstance(scale.reliability, Undefined):
            sentences.append(f"{scale.name} has no alpha. {scale.reliability.reason}")
        if n_missing := scale.n - scale.n_scored:
            subject = "1 participant has" if n_missing == 1 else f"{n_missing:,} participants have"
            sentences.append(f"{subject} no score of {in_text(scale.name)}: too few of its questions were answered.")
    return sentences
