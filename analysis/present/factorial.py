"""The factors of a design and the trend over doses: the planned effect, marginal means, interactions."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.enums import Variable
from analysis.present.words import MISSING, cell_of, coverage, decimal, limits, probability
from analysis.results.factorial import Factorial, FactorialVariable, PlannedEffect
from analysis.results.lists_shown import DOSE_METRICS, LIST_METRIC_OF
from analysis.results.report import Results
from charting import marks
from documents.blocks import FigureMaker, Section
from documents.numbers import capital, f_statistic, interval, named_p, number
from documents.tables import Cell, Numbers, Table, Words, table
from inference.factorial import JointTest, MeanContrast
from inference.results import Undefined


def factors_section(results: Results, figure: FigureMaker) -> Section:
    """The planned effect, and every effect of factors and doses on every variable; empty without a design of them."""
    effects = results.factorial
    section = Section("factors", "Factors" if effects is not None and effects.cells else "Doses", "perceived")
    if effects is None or not results.flow.analysed:
        return section
    if effects.planned is not None:
        section.say(planned_sentence(effects.planned, effects.alpha), style="says")
    section.say(
        "Levels of the other factors have equal weights, and each condition has its own variance (Welch, with "
        "Satterthwaite's degrees of freedom). Effects that are not planned are exploratory."
    )
    section.say(*(_sentence(effects, variable) for variable in effects.variables))
    _draw(section, effects, figure)
    for each in _tables(results, effects):
        section.put(each)
    return section


def _draw(section: Section, effects: Factorial, figure: FigureMaker) -> None:
    """The forest of the effects on the first variable, the primary one, with all effects as its table."""
    first, confidence = effects.variables[0], coverage(effects.alpha)
    found = [
        (name, contrast)
        for name, _weights, contrast in effects.contrasts(first)
        if isinstance(contrast, MeanContrast) and name not in ("planned", "trend")
    ]
    if not found:
        section.put(_effects_table(effects))
    else:
        chart = marks.forest(
            [
                marks.Difference(name, "", each.value, *_ends(each), "", each.p_family < effects.alpha)
                for name, each in found
            ],
            title=f"Effects of factors on {first.variable.in_text}",
            x_title=f"Difference of means, with {confidence} CI",
            is_share=first.variable.is_share,
            interval_name=f"{confidence} CI",
        )
        caption = (
            f"Differences of marginal means, and differences of differences for interactions, with {confidence} "
            "intervals, simultaneous for factors and interactions of more than two levels."
        )
        section.draw(figure("factor-effects", chart, caption, _effects_table(effects)))


def _ends(contrast: MeanContrast) -> tuple[float, float]:
    return contrast.family_interval.low, contrast.family_interval.high


# Sentences


def planned_of(results: Results) -> PlannedEffect | None:
    """The planned effect on the primary variable."""
    return None if results.factorial is None else results.factorial.planned


def finding(planned: PlannedEffect, alpha: float) -> tuple[str, str]:
    """The words before and after the variable's name in a headline."""
    effect, result = planned.planned, planned.result
    if isinstance(result, Undefined):
        return "The planned effect could not be tested in ", ""
    is_found = result.p < alpha
    if effect.interaction:
        first, second = effect.interaction
        return f"{'The' if is_found else 'No evidence that the'} effect of {first} on ", f" depends on {second}"
    if effect.trend:
        if not is_found:
            return "No evidence of a trend in ", " over the strength of the re-ranking"
        return f"Stronger re-ranking went with {'higher' if result.value > 0 else 'lower'} ", ""
    a, b = planned.levels
    if not is_found:
        return "No evidence of a difference in ", f": {a} against {b}"
    return f"{'Higher' if result.value > 0 else 'Lower'} ", f" with {a} than with {b}"


def planned_sentence(planned: PlannedEffect, alpha: float) -> str:
    """The planned effect with its interval and test."""
    opening = f"Planned effect (primary test) on {planned.variable.in_text}, {planned.planned.words}"
    if isinstance(planned.result, Undefined):
        return f"{opening}: no result. {planned.result.reason}"
    unit = " for each unit of λ" if planned.planned.trend else ""
    return f"{opening}: {_numbers(planned.result, planned.variable, alpha, unit)}, {_t(planned.result)}."


def exclusion_sentence(planned: PlannedEffect, alpha: float) -> str:
    """Whether the conclusion depends on the exclusions."""
    analysed, completers = planned.result, planned.completers
    if not isinstance(analysed, MeanContrast) or not isinstance(completers, MeanContrast):
        return "The planned effect cannot be compared: it has no result on one side."
    signs = [(each.value > 0) - (each.value < 0) if each.p < alpha else 0 for each in (analysed, completers)]
    return (
        f"The conclusion of the planned effect {'is the same' if signs[0] == signs[1] else 'changes'} ({_t(analysed)} "
        f"with exclusions, {_t(completers)} without)."
    )


def sentences(effects: Factorial) -> list[str]:
    """The planned effect, and the effects on every variable."""
    planned = [planned_sentence(effects.planned, effects.alpha)] if effects.planned is not None else []
    return [*planned, *(_sentence(effects, variable) for variable in effects.variables)]


def _sentence(effects: Factorial, of: FactorialVariable) -> str:
    """The effects on one variable: of each factor, whether it depends on others, and the trend."""
    variable, alpha = of.variable, effects.alpha
    if of.reason:
        return f"{capital(variable.in_text)}: {of.reason}"
    parts = []
    for factor in of.factors:
        if len(factor.pairs) > 1:
            parts.append(f"{capital(variable.in_text)} by {factor.factor}: {_joint(factor.joint)}.")
        elif isinstance(factor.pairs[0].contrast, MeanContrast):
            (pair,), contrast = factor.pairs, factor.pairs[0].contrast
            direction = "higher" if contrast.value >= 0 else "lower"
            parts.append(
                f"{capital(variable.in_text)} was {number(abs(contrast.value), 2, variable.is_share)}"
                f"{_points(variable)} {direction} with {pair.a} than with {pair.b} ({factor.factor}), "
                f"{_interval(contrast, variable, alpha)}, {named_p(contrast.p)}."
            )
    for crossed in of.interactions:
        first, second = crossed.factors
        tested = crossed.joint if len(crossed.contrasts) > 1 else crossed.contrasts[0].contrast
        evidence = _numbers(tested, variable, alpha) if isinstance(tested, MeanContrast) else _joint(tested)
        is_found = not isinstance(tested, Undefined) and tested.p < alpha
        opening = "The" if is_found else "We found no evidence that the"
        parts.append(f"{opening} effect of {first} {'depended' if is_found else 'depends'} on {second} ({evidence}).")
    if of.trend is not None and isinstance(of.trend.slope, MeanContrast):
        departure = ""
        if isinstance(of.trend.departure, JointTest):
            departure = f" Departure from a straight line: {_joint(of.trend.departure)}."
        in_sd = f" ({number(of.trend.in_sd)} SD from the lowest to the highest dose)"
        parts.append(
            f"{capital(variable.in_text)} changed by {_numbers(of.trend.slope, variable, alpha, ' for each unit of λ')}"
            f"{in_sd}, {_t(of.trend.slope)}.{departure}"
        )
    return " ".join(parts)


def _points(variable: Variable) -> str:
    return "" if variable.is_share else " points"


def _numbers(contrast: MeanContrast, variable: Variable, alpha: float, unit: str = "") -> str:
    value = number(contrast.value, 2, variable.is_share)
    return f"{value}{_points(variable)}{unit}, {_interval(contrast, variable, alpha)}"


def _interval(contrast: MeanContrast, variable: Variable, alpha: float) -> str:
    return f"{coverage(alpha)} CI {interval(contrast.interval.low, contrast.interval.high, 2, variable.is_share)}"


def _t(contrast: MeanContrast) -> str:
    return f"t({number(contrast.df)}) = {number(contrast.t)}, {named_p(contrast.p)}"


def _joint(test: JointTest | Undefined) -> str:
    return (
        test.reason
        if isinstance(test, Undefined)
        else f"{f_statistic(test.df, test.df_within, test.f)}, {named_p(test.p)}"
    )


# Tables


def _tables(results: Results, effects: Factorial) -> Iterator[Table]:
    if effects.cells:
        lines = [(of, factor, level) for of in effects.variables for factor in of.factors for level in factor.levels]
        yield table(
            "factor-means",
            "Marginal means",
            lines,
            Words("Factor", lambda line: line[1].factor),
            Words("Level", lambda line: line[2].level),
            Numbers("M", lambda line: decimal(line[2].mean, 2, line[0].variable.is_share), "perceived"),
            Numbers(
                f"{coverage(effects.alpha)} CI", lambda line: limits(line[2].interval, 2, line[0].variable.is_share)
            ),
            note="Means of the conditions' means, each condition weighted alike.",
            group_name="Variable",
            group=lambda line: line[0].variable.name,
        )
        yield _anova_table(effects)
    if effects.doses:
        yield _doses_table(results, effects)


def _effects_table(effects: Factorial) -> Table:
    lines = [(of, *each) for of in effects.variables for each in effects.contrasts(of) if each[0] != "planned"]
    confidence = coverage(effects.alpha)

    def write(line: tuple[FactorialVariable, str, dict[str, float], MeanContrast | Undefined], statistic: str) -> Cell:
        return cell_of(line[3], lambda found: decimal(getattr(found, statistic), 2, line[0].variable.is_share))

    return table(
        "factor-effects",
        "Effects of factors and doses",
        lines,
        Words("Effect", lambda line: line[1]),
        Numbers("Difference", lambda line: write(line, "value"), "perceived"),
        Numbers("SE", lambda line: write(line, "se")),
        Numbers(
            f"{confidence} CI",
            lambda line: cell_of(line[3], lambda found: limits(found.interval, 2, line[0].variable.is_share)),
        ),
        Numbers("df", lambda line: cell_of(line[3], lambda found: decimal(found.df))),
        Numbers("p", lambda line: cell_of(line[3], lambda found: probability(found.p))),
        Numbers("p, family", lambda line: cell_of(line[3], lambda found: probability(found.p_family))),
        note="Of an interaction the difference of differences, of a trend the change for each unit of λ. The family: "
        "all pairs of a factor's levels (Games and Howell's studentized range), or all contrasts of an interaction "
        "(Bonferroni).",
        group_name="Variable",
        group=lambda line: line[0].variable.name,
    )


def _anova_table(effects: Factorial) -> Table:
    lines = [
        (of, of.anova, term)
        for of in effects.variables
        if of.anova is not None and not isinstance(of.anova, Undefined)
        for term in of.anova.terms
    ]
    return table(
        "factor-anova",
        "Type III analysis of variance",
        lines,
        Words("Term", lambda line: line[2].term),
        Numbers("SS", lambda line: decimal(line[2].ss)),
        Numbers("df", lambda line: Cell(f"{line[2].df}, {line[1].df_within}", line[2].df)),
        Numbers("F", lambda line: decimal(line[2].f)),
        Numbers("p", lambda line: probability(line[2].p)),
        note="Sum coding, one pooled variance; shown beside, not the planned test.",
        group_name="Variable",
        group=lambda line: line[0].variable.name,
    )


def _doses_table(results: Results, effects: Factorial) -> Table:
    """The planned doses beside what the lists were and what participants answered."""
    measured = {} if results.lists_shown is None else {each.metric: each for each in results.lists_shown.metrics}

    def of_lists(metric: str, label: str) -> Cell:
        rows = measured[metric].conditions if metric in measured else ()
        unit = LIST_METRIC_OF[metric]
        return next((decimal(row.mean, unit.digits, unit.is_share) for row in rows if row.condition == label), MISSING)

    def answered(key: str, label: str) -> Cell:
        variable = results.variable(key)
        if variable is None or label not in variable.described:
            return MISSING
        return decimal(variable.described[label].mean, 2, variable.variable.is_share)

    def answers(of: FactorialVariable) -> Numbers[str]:
        return Numbers(f"{of.variable.name}, M", lambda label: answered(of.variable_key, label), "perceived")

    def lists(metric: str) -> Numbers[str]:
        return Numbers(LIST_METRIC_OF[metric].title, lambda label: of_lists(metric, label))

    return table(
        "dose-means",
        "Planned and measured doses",
        sorted(effects.doses, key=lambda label: effects.doses[label]),
        Words[str]("Condition", str),
        Numbers("λ", lambda label: decimal(effects.doses[label], 2, is_share=True)),
        *map(lists, DOSE_METRICS),
        *map(answers, effects.variables),
        note="The trend is over the planned doses λ; the measured ones are means of the lists shown, descriptive.",
    )
