"""Covariates of participants and of items."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.present.words import ESTIMATED, PAIR, cell_of, decimal, limits, probability, share_cell, whole
from analysis.results import covariates as results_covariates
from analysis.results.report import ItemWords, Results
from documents.blocks import Section
from documents.numbers import (
    coefficient,
    f_statistic,
    interval,
    listed,
    named_p,
    number,
    number_word,
    percent,
    plural,
)
from documents.tables import Cell, Numbers, Table, Words, table
from inference.aggregation import AggregationResult, LevelSlope
from inference.ancova import Estimate, FTest
from inference.attrition import CHI_SQUARED, EXACT, AttritionResult
from inference.attrition_bounds import Bounds
from inference.item_effects import AdjustedItems, ItemEffectsResult, ItemPair
from inference.mediation import MediatedPair
from inference.results import Undefined
from studies.plans import in_text


def covariate_sections(results: Results) -> list[Section]:
    """All of them, in the order of a report; none in reports of versions without them."""
    if results.covariates is None:
        return []
    sections = (_adjusted, _attrition, _known_items, _lists)
    return [section(results, results.covariates) for section in sections]


def _name(results: Results, key: str) -> str:
    variable = results.variable(key)
    return "Perceived accuracy" if variable is None else variable.name


def _adjusted(results: Results, analyses: results_covariates.CovariateAnalyses) -> Section:
    section = Section("adjusted", "Adjusted comparisons", "perceived")
    adjustment, primary = analyses.adjustment, results.plan.primary.perceived
    section.say(*_adjustment_sentences(adjustment, results.plan.alpha))
    models = [(variable.name, variable.ancova) for variable in adjustment.variables]
    tests = table(
        "adjusted-tests",
        "Comparisons without and with covariates",
        [(name, model) for name, model in models if not isinstance(model, Undefined)],
        Words("Variable", lambda row: row[0]),
        Numbers("n", lambda row: whole(row[1].n)),
        Numbers("F", lambda row: decimal(row[1].unadjusted.f)),
        Numbers("p", lambda row: probability(row[1].unadjusted.p)),
        Numbers("F, adjusted", lambda row: decimal(row[1].adjusted.f)),
        Numbers("p, adjusted", lambda row: probability(row[1].adjusted.p)),
        Numbers("Partial η², adjusted", lambda row: decimal(row[1].partial_eta_squared, is_share=True)),
        Numbers("Residual SD", lambda row: decimal(row[1].sd_unadjusted)),
        Numbers("Residual SD, adjusted", lambda row: decimal(row[1].sd_adjusted)),
        note="Adjusted: analysis of covariance with the stratification factors and declared covariates.",
    )
    section.put(tests)
    for variable in adjustment.variables:
        if variable.key == primary:
            section.put(_means_table(variable), is_folded=True)
        section.put(_pairs_table(variable), is_folded=True)
    if adjustment.ratings is not None and (adjustment.factors or adjustment.covariates):
        section.say(ratings(adjustment.ratings, results.nested, results.plan.alpha))
        section.put(ratings_table(adjustment.ratings, results.nested), is_folded=True)
    section.enumerate(interviewers(adjustment))
    return section


def _attrition(results: Results, analyses: results_covariates.CovariateAnalyses) -> Section:
    section = Section("attrition", "Attrition", "perceived")
    if (attrition := analyses.attrition) is None:
        return section
    section.say(*_attrition_sentences(attrition, results.plan.alpha))
    if isinstance(attrition.test, Undefined):
        return section
    rates = table(
        "attrition",
        "Participants lost after assignment",
        attrition.test.rates,
        Words("Algorithm", lambda rate: rate.condition),
        Numbers("Assigned", lambda rate: whole(rate.n_assigned)),
        Numbers("Not analysed", lambda rate: whole(rate.n_lost)),
        Numbers("Share", lambda rate: share_cell(rate.share)),
        Numbers("95% CI", lambda rate: limits(rate.interval, is_share=True)),
        note="Limits after Wilson.",
    )
    section.put(rates)
    bounds = table(
        "attrition-bounds",
        f"{_name(results, attrition.variable)}: bounds of the differences under attrition",
        attrition.pairs,
        *PAIR,
        Numbers("Difference", lambda pair: decimal(pair.observed), "perceived"),
        Numbers("Lee's bounds", lambda pair: limits(pair.lee)),
        Numbers("95% CI, Lee", lambda pair: cell_of(pair.lee, _uncertainty)),
        Numbers("Worst-case bounds", lambda pair: limits(pair.worst_case)),
        Numbers("95% CI, worst case", lambda pair: cell_of(pair.worst_case, _uncertainty)),
        note="Confidence intervals of the difference after Imbens and Manski (2004), for each pair separately.",
    )
    section.put(bounds, is_folded=True)
    return section


def _known_items(results: Results, analyses: results_covariates.CovariateAnalyses) -> Section:
    section = Section("known-items", "Known and unknown items", "perceived")
    if analyses.items is None:
        return section
    section.say(*items(analyses.items, results.study.words, results.plan.alpha))
    if isinstance(analyses.items.model, Undefined):
        return section
    numbers = table(
        "known-items",
        f"Ratings of items at equal shares of items {results.study.words.consumed} and heard of",
        analyses.items.model.model.conditions,
        Words("Algorithm", lambda mean: mean.condition),
        Numbers("Ratings", lambda mean: whole(mean.n_answers)),
        Numbers("Adjusted mean", lambda mean: decimal(mean.mean), "perceived"),
        *ESTIMATED,
        note="Random intercepts of participants and of items within algorithms; every participant has the same weight.",
    )
    section.put(numbers, is_folded=True)
    return section


def _lists(results: Results, analyses: results_covariates.CovariateAnalyses) -> Section:
    """Parts of differences in reports of versions that did not describe the lists shown."""
    section = Section("list-mediation", "Popularity and diversity of the lists", "perceived")
    if results.lists_shown is None:
        if isinstance(analyses.lists, Undefined):
            section.say(f"The lists that participants saw were not measured. {analyses.lists.reason}")
        put_list_parts(section, results)
    return section


def put_list_parts(section: Section, results: Results) -> None:
    """The parts of differences in the primary variable that go along with popularity and diversity of the lists."""
    lists = None if results.covariates is None else results.covariates.lists
    if not isinstance(lists, results_covariates.ListEffects):
        return
    name, model = _name(results, lists.variable), lists.mediation
    section.say(mediation(lists, in_text(name)))
    if isinstance(model, Undefined):
        return
    parts = table(
        "list-parts",
        f"{name}: parts of the differences that go along with list characteristics",
        model.pairs,
        *PAIR,
        Numbers("Difference", lambda pair: decimal(pair.total), "perceived"),
        *(column for index, slope in enumerate(model.slopes) for column in _part(index, slope.mediator)),
        Numbers("Remainder", lambda pair: decimal(pair.direct)),
        Numbers("95% CI, remainder", lambda pair: limits(pair.direct_interval)),
        note="Percentile intervals of the bootstrap, for each pair separately. Associations, not causes.",
    )
    section.put(parts, is_folded=True)


# Sentences


NO_FACTORS = (
    "The comparisons are not adjusted: the design has no stratification factors, and the plan names no covariates."
)
STRATUM = " (stratum)"  # behind the names of factors, which questions may have too
MOST_PAIRS = 3  # by name; the table has all


def _f(test: FTest) -> str:
    within: float = int(test.df_within) if float(test.df_within).is_integer() else test.df_within
    return f"{f_statistic(test.df, within, test.f)}, {named_p(test.p)}"


def _adjustment_sentences(results: results_covariates.Adjustment, alpha: float) -> list[str]:
    if not results.factors and not results.covariates:
        return [NO_FACTORS]
    return [_adjusted_for(results), *filter(None, (_variable(variable, alpha) for variable in results.variables))]


def _adjusted_for(results: results_covariates.Adjustment) -> str:
    parts = []
    if results.factors:
        parts.append(f"the stratification factors ({listed([name.removesuffix(STRATUM) for name in results.factors])})")
    if results.covariates:
        parts.append(f"the covariates that the plan names ({listed(results.covariates)})")
    opening = f"Analyses of covariance compare the algorithms at equal values of {listed(parts)}."
    models = [variable.ancova for variable in results.variables if not isinstance(variable.ancova, Undefined)]
    if not models:
        return opening
    of_missing = ((entry.name, entry.n_missing) for entry in models[0].covariates if entry.n_missing)
    if missing := [f"{name}, {plural(n, 'participant')}" for name, n in of_missing]:
        opening += f" Missing numbers have the mean, missing choices are a level of their own: {listed(missing)}."
    return " ".join([opening, *(f"Not used: {entry.name}. {entry.reason}" for entry in models[0].unused)])


def _variable(variable: results_covariates.AdjustedVariable, alpha: float) -> str:
    if isinstance(variable.ancova, Undefined):
        return f"{variable.name} could not be adjusted. {variable.ancova.reason}"
    before, after, name = variable.ancova.unadjusted, variable.ancova.adjusted, variable.name
    tests = f"(unadjusted {_f(before)}; adjusted {_f(after)})"
    if (before.p < alpha) != (after.p < alpha):
        change = "with" if after.p < alpha else "without"
        outcome = f": the difference between the algorithms is significant only {change} the adjustment"
    elif after.p < alpha:
        outcome = " differed significantly between the algorithms with and without the adjustment"
    else:
        outcome = ": we found no significant difference between the algorithms, with or without the adjustment"
    sentence = f"{name}{outcome} {tests}."
    changed = [
        f"{pair.a} and {pair.b}"
        for pair in variable.ancova.pairs
        if pair.unadjusted.is_significant != pair.adjusted.is_significant
    ]
    if changed:
        pairs = changed[:MOST_PAIRS] + ([f"{len(changed) - MOST_PAIRS} more"] if len(changed) > MOST_PAIRS else [])
        sentence += f" The adjustment changes the significance of {plural(len(changed), 'pair')}: {listed(pairs)}."
    slopes = variable.ancova.slopes
    if slopes is not None and slopes.p < alpha:
        sentence += (
            f" The covariates relate to {in_text(name)} differently in different algorithms, {_f(slopes)}, so the "
            "adjusted differences are averages over participants."
        )
    return sentence


def ratings(adjusted: AdjustedItems | Undefined, unadjusted: ItemEffectsResult | Undefined | None, alpha: float) -> str:
    """The mixed model of single ratings with the covariates beside the one without; empty without the latter."""
    if unadjusted is None or isinstance(unadjusted, Undefined):
        return ""
    if isinstance(adjusted, Undefined):
        return f"The mixed model of single ratings could not be adjusted. {adjusted.reason}"
    with_them = adjusted.model
    verb = "differed significantly" if with_them.p < alpha else "did not differ significantly"
    return (
        f"In the mixed model of single ratings the algorithms {verb} at equal values of the covariates "
        f"(unadjusted {_wald(unadjusted)}; adjusted {_wald(with_them)})."
    )


def _wald(model: ItemEffectsResult) -> str:
    return f"{f_statistic(model.df, model.df_denominator or 0.0, model.f)}, {named_p(model.p)}"


def interviewers(results: results_covariates.Adjustment) -> list[str]:
    """The share of interviewers in the variance, and the comparison that accounts for it."""
    sentences = []
    for name, model in ((variable.name, variable.interviewers) for variable in results.variables):
        if isinstance(model, Undefined):
            sentences.append(f"{name}: effects of interviewers could not be estimated. {model.reason}")
        elif model is not None:
            sentences.append(
                f"{name}: {number_word(model.n_clusters)} interviewers account for {percent(model.icc)} of the "
                f"variance within algorithms (likelihood ratio {number(model.likelihood_ratio)}, "
                f"{named_p(model.p_clusters)}); with interviewers as a random effect the algorithms compare by "
                f"{_f(model.test)}."
            )
    return sentences


def _attrition_sentences(results: results_covariates.Attrition, alpha: float) -> list[str]:
    test = results.test
    if isinstance(test, Undefined):
        return [f"Differential attrition was not tested. {test.reason}"]
    n = sum(rate.n_assigned for rate in test.rates)
    lost = sum(rate.n_lost for rate in test.rates)
    opening = (
        f"{lost:,} of {n:,} assigned participants who are no longer under way are not analysed ({percent(lost / n)}): "
        "they left, withdrew or are excluded. "
    )
    if test.p < alpha:
        opening += f"Their share differed significantly between the algorithms, {_attrition_test(test)}."
    else:
        opening += (
            f"We found no significant difference of their share between the algorithms, {_attrition_test(test)}; that "
            "does not show that losses are unrelated to the outcome."
        )
    lee = [pair.lee for pair in results.pairs if not isinstance(pair.lee, Undefined)]
    worst = [pair.worst_case for pair in results.pairs if not isinstance(pair.worst_case, Undefined)]
    n_lee, n_worst = (sum(not each.interval.low <= 0 <= each.interval.high for each in own) for own in (lee, worst))
    return [
        opening,
        f"The 95% CI of Lee's bounds excludes 0 for {n_lee} of {plural(len(lee), 'pair')}, that of the worst-case "
        f"bounds for {n_worst} of {len(worst)}; each pair is taken alone, without correction. Lee's bounds are of "
        "participants who would stay with either algorithm, and assume that an algorithm affects staying in one "
        "direction only; the worst case gives every lost participant the lowest or the highest value.",
    ]


def _attrition_test(test: AttritionResult) -> str:
    if test.p_method == CHI_SQUARED:
        return f"χ²({test.df}) = {number(test.chi_squared)}, {named_p(test.p)}, V = {coefficient(test.cramers_v)}"
    how = "exact" if test.p_method == EXACT else test.p_method
    return f"Fisher-Freeman-Halton {how} {named_p(test.p)}, V = {coefficient(test.cramers_v)}"


def items(view: results_covariates.ItemView, words: ItemWords, alpha: float) -> list[str]:
    """Ratings by knowledge of the item, and whether the relation is the same at every level."""
    sentences = []
    if isinstance(view.model, Undefined):
        sentences.append(f"Ratings could not be compared at equal knowledge of the items. {view.model.reason}")
    else:
        model = view.model.model
        verb = "differed significantly" if model.p < alpha else "did not differ significantly"
        slopes = [
            f"{slope.name}, b = {number(slope.estimate)}, 95% CI "
            f"{interval(slope.interval.low, slope.interval.high)}, {named_p(slope.p)}"
            for slope in view.model.slopes
        ]
        sentences.append(
            f"At equal shares of items {words.consumed} and heard of, the ratings of single items {verb} between the "
            f"algorithms, {_wald(model)} (items "
            f"nested in algorithms). Relative to items never heard of: {'; '.join(slopes)}. Knowing an item is itself "
            "a consequence of what an algorithm recommends, so this comparison describes and does not replace the "
            "unadjusted one."
        )
    known = _levels(f"items {words.consumed} or heard of", view.known)
    return [*sentences, _levels(words.consumed_items, view.watched), known]


def _levels(name: str, result: AggregationResult | Undefined) -> str:
    if isinstance(result, Undefined):
        return f"Whether {name} are rated differently cannot be said. {result.reason}"
    opening = f"Over all answers, {name} were rated {_points(result.total)}"
    within = result.within_conditions
    if isinstance(within, Undefined):
        return f"{opening}. There is no relation within algorithms: {within.reason}"
    sentence = f"{opening}; within algorithms {_points(within)}."
    signs = "the same sign, so no reversal is seen"
    if result.is_reversed:
        signs = "opposite signs, both significantly (Simpson's paradox)"
    elif within.estimate * result.total.estimate < 0:
        signs = "opposite signs, not both significantly"
    sentence += f" The two have {signs}."
    if result.is_reversed_between and result.between_slope is not None:
        tested = "not tested" if isinstance(result.between, Undefined) else f"{named_p(result.between.p)}"
        sentence += (
            f" The relation between the means of the algorithms has the opposite sign (b = "
            f"{number(result.between_slope)}, {tested})."
        )
    if result.opposite:
        sentence += f" Opposite in sign to the overall relation: {listed(result.opposite)}."
    return sentence


def _points(slope: LevelSlope) -> str:
    size, direction = number(abs(slope.estimate)), "higher" if slope.estimate >= 0 else "lower"
    compared = f"{size} points {direction} than others" if size.strip("0.") else "the same as others"
    return (
        f"{compared} (b = {number(slope.estimate)}, 95% CI "
        f"{interval(slope.interval.low, slope.interval.high)}, {named_p(slope.p)})"
    )


def mediation(results: results_covariates.ListEffects, variable: str) -> str:
    """The share of differences that goes along with popularity and diversity of the lists."""
    model = results.mediation
    if isinstance(model, Undefined):
        return f"Differences were not split into parts that go along with the lists. {model.reason}"
    slopes = [
        f"{slope.mediator}, b = {number(slope.estimate)}, 95% CI {interval(slope.interval.low, slope.interval.high)}"
        for slope in model.slopes
    ]
    n_clear = {slope.mediator: 0 for slope in model.slopes}
    for part in (part for pair in model.pairs for part in pair.indirect):
        n_clear[part.mediator] += not part.interval.low <= 0 <= part.interval.high
    clear = listed([f"{name} for {n} of {plural(len(model.pairs), 'pair')}" for name, n in n_clear.items()])
    return (
        f"Within algorithms, {variable} relates to {'; to '.join(slopes)}. The 95% bootstrap CI ({model.resamples:,} "
        "resamples, each pair alone) of the part of a difference that goes along with list characteristics excludes "
        f"0 for {clear}. Lists are not randomised within algorithms, so these are associations, not causes."
    )


# Tables


EACH_PAIR = "Limits for each pair separately."


def _means_table(variable: results_covariates.AdjustedVariable) -> Table | None:
    if isinstance(variable.ancova, Undefined):
        return None
    return table(
        f"adjusted-means-{variable.key}",
        f"{variable.name}: observed and adjusted means",
        variable.ancova.means,
        Words("Algorithm", lambda mean: mean.condition),
        Numbers("n", lambda mean: whole(mean.n)),
        Numbers("Mean", lambda mean: decimal(mean.mean), "perceived"),
        Numbers("Adjusted mean", lambda mean: decimal(mean.adjusted), "perceived"),
        *ESTIMATED,
        note="Adjusted to the mean of every covariate.",
    )


def _pairs_table(variable: results_covariates.AdjustedVariable) -> Table | None:
    if isinstance(variable.ancova, Undefined):
        return None
    title = f"{variable.name}: pairwise comparisons without and with covariates"
    pairs = [((pair.a, pair.b), pair.unadjusted, pair.adjusted) for pair in variable.ancova.pairs]
    return _paired(f"adjusted-pairs-{variable.key}", title, pairs, EACH_PAIR)


def ratings_table(
    adjusted: AdjustedItems | Undefined, unadjusted: ItemEffectsResult | Undefined | None
) -> Table | None:
    """Every pair by the mixed model of single ratings, without and with covariates; None where either has no result."""
    if isinstance(adjusted, Undefined) or unadjusted is None or isinstance(unadjusted, Undefined):
        return None
    without = {(pair.a, pair.b): pair for pair in unadjusted.pairs.pairs}
    pairs = [
        ((pair.a, pair.b), without[pair.a, pair.b], pair)
        for pair in adjusted.model.pairs.pairs
        if (pair.a, pair.b) in without
    ]
    note = f"Random intercepts of participants and of items within algorithms. {EACH_PAIR}"
    return _paired("adjusted-ratings", "Ratings of items: mixed models without and with covariates", pairs, note)


def _paired(
    key: str,
    title: str,
    pairs: Sequence[tuple[tuple[str, str], Estimate | ItemPair, Estimate | ItemPair]],
    note: str,
) -> Table:
    return table(
        key,
        title,
        pairs,
        Words("Algorithm", lambda pair: pair[0][0]),
        Words("and", lambda pair: pair[0][1]),
        Numbers("Difference", lambda pair: decimal(pair[1].difference), "perceived"),
        Numbers("95% CI", lambda pair: limits(pair[1].interval)),
        Numbers("p, Holm", lambda pair: probability(pair[1].p)),
        Numbers("Adjusted difference", lambda pair: decimal(pair[2].difference), "perceived"),
        Numbers("95% CI, adjusted", lambda pair: limits(pair[2].interval)),
        Numbers("p, Holm, adjusted", lambda pair: probability(pair[2].p)),
        note=note,
        is_quiet=lambda pair: not pair[2].is_significant,
    )


def _uncertainty(bounds: Bounds) -> Cell:
    return limits(bounds.interval)


def _part(index: int, mediator: str) -> tuple[Numbers[MediatedPair], Numbers[MediatedPair]]:
    return (
        Numbers(f"With {mediator}", lambda pair: decimal(pair.indirect[index].estimate)),
        Numbers(f"95% CI, {mediator}", lambda pair: limits(pair.indirect[index].interval)),
    )
