"""Planned contrasts, and tests of equivalence."""

from __future__ import annotations

from analysis.enums import Metric
from analysis.present.words import coverage
from analysis.results.comparison import Equivalence, PlannedContrast, TestedContrast
from analysis.results.exclusions import ComparedContrast
from documents.numbers import interval, listed, named_p, number
from inference.contrasts import ContrastTest
from inference.equivalence import BoundedPair
from inference.results import Undefined
from studies.design.narrative.plan import contrast_in_words, level
from studies.settings import Contrast


def in_words(test: TestedContrast) -> str:
    """The two sets, such as "LSA against TopPop"."""
    return contrast_in_words(Contrast(higher=test.higher, lower=test.lower))


def finding(test: TestedContrast) -> tuple[str, str]:
    """The words before and after the variable's name in a headline."""
    higher, lower = listed(test.higher), listed(test.lower)
    if isinstance(test.result, Undefined):
        return "The planned contrast could not be tested in ", ""
    if test.is_significant:
        direction = "Higher" if test.result.difference > 0 else "Lower"
        return f"{direction} ", f" with {higher} than with {lower}"
    if test.sides == 1:
        return "No evidence of higher ", f" with {higher} than with {lower}"
    return "No evidence of a difference in ", f": {in_words(test)}"


def t_test(test: ContrastTest) -> str:
    """A t test in the style of APA."""
    df = f"{test.df:.0f}" if test.df == round(test.df) else number(test.df)
    return f"t({df}) = {number(test.t)}, {named_p(test.p)}"


def sentence(contrast: PlannedContrast) -> str:
    """The contrast with its means, interval, effect size, and Welch's version."""
    test, variable = contrast.test, contrast.variable
    result, is_share = test.result, variable.is_share
    opening = f"Planned contrast (primary test) in {variable.in_text}, {in_words(test)}"
    if isinstance(result, Undefined):
        return f"{opening}: no result. {result.reason}"
    sides = "one-sided" if test.sides == 1 else "two-sided"
    welch = f"; with unequal variances (Welch) {t_test(result.welch)}" if result.welch else ""
    return (
        f"{opening}: M = {number(result.higher_mean, 2, is_share)} and {number(result.lower_mean, 2, is_share)}, "
        f"difference {number(result.difference, 2, is_share)}, "
        f"{contrast_interval(result.pooled, test.alpha, is_share)}, "
        f"{t_test(result.pooled)}, {sides}, d = {number(result.d)}{welch}."
    )


def contrast_interval(test: ContrastTest, alpha: float, is_share: bool) -> str:
    """The confidence interval of the difference; of a one-sided test its lower bound."""
    if test.ci_high is None:
        return f"lower {coverage(alpha)} confidence bound {number(test.ci_low, 2, is_share)}"
    return f"{coverage(alpha)} CI {interval(test.ci_low, test.ci_high, 2, is_share)}"


def metric_sentence(contrast: PlannedContrast, n: int) -> str:
    """How the primary metric compares over the same two sets; it is described, not tested."""
    values = contrast.objective
    if values is None:
        return ""
    metric = Metric(values.kind, values.profile_length, n)
    means = f"{number(values.higher_mean, 3, True)} and {number(values.lower_mean, 3, True)}"
    if values.is_better is None:
        return f"Offline, {metric.in_text} is the same for both sides of the contrast ({means})."
    side = "first" if values.is_better else "second"
    return f"Offline, {metric.in_text} is better for the {side} side of the contrast ({means})."


def exclusion_sentence(contrast: ComparedContrast) -> str:
    """Whether the conclusion depends on the exclusions."""
    analysed, completers = contrast.analysed, contrast.completers
    if isinstance(analysed.result, Undefined) or isinstance(completers.result, Undefined):
        return "The planned contrast cannot be compared: it has no result on one side."
    is_same = analysed.is_significant == completers.is_significant and (
        not analysed.is_significant or (analysed.result.difference > 0) == (completers.result.difference > 0)
    )
    return (
        f"The conclusion of the planned contrast {'is the same' if is_same else 'changes'} "
        f"({t_test(analysed.result.pooled)} with exclusions, {t_test(completers.result.pooled)} without)."
    )


MOST_NAMED = 4


def sentences(tested: Equivalence) -> list[str]:
    """What was planned, what the pairs show, and the planned contrast."""
    variable, result = tested.variable, tested.result
    bound = number(tested.bound, 2, variable.is_share)
    opening = f"The plan names {bound} points of {variable.in_text} as the smallest effect of interest."
    if isinstance(result, Undefined):
        return [f"{opening} Equivalence could not be tested. {result.reason}"]
    same = [pair for pair in result.pairs if pair.is_equivalent]
    beyond = [pair for pair in result.pairs if pair.is_beyond]
    n_open = len(result.pairs) - len(same) - len(beyond)
    sentences = [
        f"{opening} Of {len(result.pairs)} pairs of algorithms, {_listed(same)} shown to differ by less (practically "
        f"the same), and {_listed(beyond)} shown to differ by more; for {n_open or 'none'} the data do not decide (two "
        f"one-sided tests and minimum-effect tests, α = {level(tested.alpha)}, each family corrected by Holm)."
    ]
    if tested.contrast is not None:
        test = tested.contrast
        finding = "is" if test.p_equivalence < tested.alpha else "is not"
        limits = interval(test.interval.low, test.interval.high, 2, variable.is_share)
        sentences.append(
            f"The difference of the planned contrast {finding} shown to lie within ± {bound}: "
            f"{coverage(2 * tested.alpha)} CI {limits}, {named_p(test.p_equivalence)} for equivalence."
        )
    return sentences


def _listed(pairs: list[BoundedPair]) -> str:
    if not pairs:
        return "none was"
    names = "; ".join(f"{pair.a} and {pair.b}" for pair in pairs[:MOST_NAMED])
    rest = "; …" if len(pairs) > MOST_NAMED else ""
    return f"{len(pairs)} ({names}{rest}) {'was' if len(pairs) == 1 else 'were'}"
