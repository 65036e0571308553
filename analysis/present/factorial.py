"""The factors of a design and the trend over doses: the planned effect, marginal means, interactions."""

from __future__ import annotations

from analysis.enums import Variable
from analysis.present.words import coverage, decimal, interval_cell, probability
from analysis.results.factorial import TREND, Factorial, FactorialVariable, PlannedEffect
from analysis.results.report import Results
from charting import marks
from documents.blocks import FigureMaker, Section
from documents.numbers import capital, f_statistic, interval, named_p, number
from documents.tables import Numbers, Table, Words, table
from inference.ancova import FTest
from inference.factorial import TIMES, MeanContrast, Term
from inference.results import Undefined


def factors_section(results: Results, figure: FigureMaker) -> Section:
    """The planned effect, and every effect of factors and doses on every variable; empty without a design of them."""
    section, effects = Section("factors", "Factors and doses", "perceived"), results.factorial
    if effects is None or not results.flow.analysed:
        return section
    section.say(*sentences(effects), style="says")
    if not effects.variables:  # lists in turn have the planned effect alone
        return section
    section.say(
        "Levels of the other factors have equal weights, and each condition has its own variance (Welch, with "
        "Satterthwaite's degrees of freedom). Effects that are not planned are exploratory."
    )
    first, confidence, numbers = effects.variables[0].variable, coverage(effects.alpha), _table(effects)
    differences = [
        _difference(name, each, effects.alpha, is_alone=len(of.terms[name.partition(": ")[0]].contrasts) == 1)
        for of, name, each in effects.contrasts
        if of is effects.variables[0] and not name.startswith(TREND)
    ]
    if not differences:
        section.put(numbers)
        return section
    chart = marks.forest(
        differences,
        title=f"Effects of factors on {first.in_text}",
        x_title=f"Difference of means, with {confidence} CI",
        is_share=first.is_share,
        interval_name=f"{confidence} CI",
    )
    caption = "Marginal differences, and differences of differences for interactions; intervals hold for each family."
    section.draw(figure("factor-effects", chart, caption, numbers))
    return section


def _difference(name: str, contrast: MeanContrast, alpha: float, *, is_alone: bool) -> marks.Difference:
    """A row of the forest, whose label has room for a name of its own: that of an interaction of one contrast."""
    term, _, label = name.partition(": ")
    ends, p = contrast.family_interval, named_p(contrast.p_family).removeprefix("p ")
    shown = term if is_alone and TIMES in term else label
    return marks.Difference(shown, "", contrast.value, ends.low, ends.high, p, contrast.p_family < alpha)


# Sentences


def finding(effect: PlannedEffect, alpha: float) -> tuple[str, str]:
    """The words before and after the variable's name in a headline."""
    planned, result = effect.planned, effect.result
    if isinstance(result, Undefined):
        return "The planned effect could not be tested in ", ""
    is_found, direction = result.p < alpha, "higher" if result.value > 0 else "lower"
    if planned.interaction:
        first, second = planned.interaction
        return f"{'The' if is_found else 'No evidence that the'} effect of {first} on ", f" depends on {second}"
    if planned.trend:
        if is_found:
            return f"Stronger re-ranking went with {direction} ", ""
        return "No evidence of a trend in ", " over the strength of the re-ranking"
    a, b = planned.levels
    if is_found:
        return f"{capital(direction)} ", f" with {a} than with {b}"
    return "No evidence of a difference in ", f": {a} against {b}"


def planned_sentence(effect: PlannedEffect, alpha: float) -> str:
    """The planned effect with its interval and test."""
    opening = f"Planned effect (primary test) on {effect.variable.in_text}, {effect.planned.words}"
    if isinstance(effect.result, Undefined):
        return f"{opening}: no result. {effect.result.reason}"
    return f"{opening}: {_numbers(effect.result, effect.variable, alpha, is_trend=bool(effect.planned.trend))}."


def sentences(effects: Factorial) -> list[str]:
    """The planned effect, and the effects on every variable."""
    planned = [planned_sentence(effects.planned, effects.alpha)] if effects.planned is not None else []
    return [*planned, *(_sentence(of, effects.alpha) for of in effects.variables)]


def _sentence(of: FactorialVariable, alpha: float) -> str:
    variable, parts = of.variable, [of.reason] if of.reason else []
    for name, term in of.terms.items():
        contrast = next(iter(term.contrasts.values()))
        tested = contrast if len(term.contrasts) == 1 and isinstance(contrast, MeanContrast) else term.joint
        evidence = _numbers(tested, variable, alpha, is_trend=name == TREND)
        if name in of.anova:
            evidence += f"; type III analysis of variance {_numbers(of.anova[name], variable, alpha)}"
        if name == TREND:
            sd = "" if term.in_sd is None else f"; {number(term.in_sd)} SD from the lowest to the highest dose"
            departure = _numbers(term.joint, variable, alpha)
            parts.append(f"{capital(name)}: {evidence}{sd}. Departure from a straight line: {departure}.")
        elif TIMES not in name:
            against = f"{next(iter(term.contrasts))}, " if len(term.contrasts) == 1 else ""
            parts.append(f"Effect of {name}: {against}{evidence}. Marginal means: {_margins(term, variable)}.")
        else:
            first, second = name.split(TIMES)
            if not isinstance(tested, Undefined) and tested.p < alpha:
                parts.append(f"The effect of {first} depended on {second} ({evidence}).")
            else:
                parts.append(f"We found no evidence that the effect of {first} depends on {second} ({evidence}).")
    return f"{capital(variable.in_text)}. {' '.join(parts)}"


def _margins(term: Term, variable: Variable) -> str:
    """The marginal means, each with its interval where it has one."""
    shown = {level: number(mean, 2, variable.is_share) for level, mean in (term.means or {}).items()}
    for level, own in (term.margins or {}).items():
        if isinstance(own, MeanContrast):
            shown[level] += f" {interval(own.interval.low, own.interval.high, 2, variable.is_share)}"
    return ", ".join(f"{level} {mean}" for level, mean in shown.items())


def _numbers(
    test: MeanContrast | FTest | Undefined, variable: Variable, alpha: float, *, is_trend: bool = False
) -> str:
    """A contrast with its interval and t test, or an F test."""
    if isinstance(test, Undefined):
        return test.reason.removesuffix(".")
    if isinstance(test, FTest):
        return f"{f_statistic(test.df, test.df_within, test.f)}, {named_p(test.p)}"
    ends = interval(test.interval.low, test.interval.high, 2, variable.is_share)
    unit = f"{'' if variable.is_share else ' points'}{' for each unit of λ' if is_trend else ''}"
    t = f"t({number(test.df)}) = {number(test.t)}, {named_p(test.p)}"
    return f"{number(test.value, 2, variable.is_share)}{unit}, {coverage(alpha)} CI {ends}, {t}"


def _table(effects: Factorial) -> Table:
    return table(
        "factor-effects",
        "Effects of factors and doses",
        effects.contrasts,
        Words("Effect", lambda line: line[1]),
        Numbers("Difference", lambda line: decimal(line[2].value, 2, line[0].variable.is_share), "perceived"),
        Numbers(
            f"{coverage(effects.alpha)} CI",
            lambda line: interval_cell(line[2].interval.low, line[2].interval.high, 2, line[0].variable.is_share),
        ),
        Numbers("df", lambda line: decimal(line[2].df)),
        Numbers("p", lambda line: probability(line[2].p)),
        Numbers("p, family", lambda line: probability(line[2].p_family)),
        note="Of an interaction the difference of differences, of a trend the change for each unit of λ. The family: "
        "pairs of a factor's levels (studentized range), or contrasts of an interaction (Bonferroni).",
        group_name="Variable",
        group=lambda line: line[0].variable.name,
    )
