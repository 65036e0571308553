"""The Bayesian analysis."""

from __future__ import annotations

import re
from collections.abc import Callable

from analysis.present.words import MISSING, decimal, interval_cell, limits, share_cell, whole
from analysis.results.bayesian import BayesFactors, BayesianResults, PriorAnalyses
from analysis.results.comparison import Half
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import interval, listed, number, number_word, plural
from documents.tables import Cell, Column, Numbers, Row, Table, Words, table, text
from evaluation.reported_kinds import LOWER_IS_BETTER, kind_name, kind_word
from inference.bayes_factors import BayesFactor
from inference.order_bootstrap import PairAgreement, PosteriorRanks, RankProbabilities
from inference.results import Undefined

KEY, TITLE = "bayesian", "Bayesian analysis"


def bayesian_section(results: Results, numbers: BayesianResults | None, error: str) -> Section:
    """Posteriors of the ranks and Bayes factors, or what keeps them from being there."""
    section = Section(KEY, TITLE)
    if not results.flow.analysed:
        return section
    if numbers is None:
        section.say(_failure(error) if error else PENDING)
        return section
    if not results.is_live:
        section.say(LABEL)
    if isinstance(models := numbers.models, Undefined):
        section.say(_failure(models.reason))
    else:
        section.say(_model_sentence(models), convergence_sentence(models))
        if models.has_converged:
            ranks = models.main.posterior.ranks
            section.put(_ranks_table(ranks.perceived, "perceived"))
            section.put(_ranks_table(ranks.objective, "objective"))
            section.say(_best_sentence(models), _tau_sentence(models), pairs_sentence(ranks), style="says")
            section.put(_pairs_table(models), is_folded=True)
            section.put(_estimates_table(models), is_folded=True)
        section.put(_priors_table(models))
        section.say(_limits_sentence(models))
    if numbers.factors is not None:
        section.head("Bayes factors")
        section.say(_factor_sentence(numbers.factors), style="says")
        section.put(_factors_table(numbers.factors), is_folded=True)
    section.say(seed_sentence(numbers))
    return section


# Sentences


CERTAIN = 0.95
MOST_PAIRS = 6  # by name; the table has all
LARGEST = 1000.0  # of a Bayes factor that is written out
PENDING = (
    "The Bayesian analysis is not complete. A worker computes it after the report is built; the page of the report "
    "shows its progress, and files created after that include it."
)
_INSTALLING = re.compile(r" Run `[^`]*`[^.]*\.")
LABEL = "The answers are simulated, so these posteriors describe the simulation and not people."


def without_installing(error: str) -> str:
    """An error for readers: how to install what is missing is for administrators."""
    return _INSTALLING.sub("", error)


def _failure(error: str) -> str:
    return f"The Bayesian analysis could not be computed. {without_installing(error)}"


def _model_sentence(models: PriorAnalyses) -> str:
    data = models.modelled
    profiles = f" with profiles of {data.profile_length} ratings" if data.profile_length else ""
    return (
        f"Perceived side: a hierarchical ordinal (cumulative probit) model of {data.n_ratings:,} ratings by "
        f"{plural(data.n_participants, 'participant')}, with participants and items within algorithms as random "
        f"effects. Objective side: a beta-binomial model of {data.kind} at {data.n}{profiles} over "
        f"{data.n_cases:,} cases of {plural(data.n_users, 'test user')}."
    )


def _limits_sentence(models: PriorAnalyses) -> str:
    fractions = (
        " Ties at the end of a list count as fractions of hits, which enter the likelihood by its gamma functions."
        if models.modelled.is_fractional
        else ""
    )
    return (
        "The model of hits treats the algorithms as independent although the same users tested them, so it ignores "
        f"their correlation over users.{fractions}"
    )


def convergence_sentence(models: PriorAnalyses) -> str:
    """The diagnostics of the chains under the worst of the priors."""
    samplings = [prior.posterior.sampling for prior in models.priors]
    worst = max(samplings, key=lambda each: each.worst.r_hat)
    ess = min(min(each.worst.ess_bulk, each.worst.ess_tail) for each in samplings)
    divergences = sum(each.divergences for each in samplings)
    numbers = (
        f"largest R̂ = {number(worst.worst.r_hat, 3)}, smallest effective sample size {ess:,.0f}, "
        f"{plural(divergences, 'divergent transition') if divergences else 'no divergent transitions'}"
    )
    if models.has_converged:
        return f"The {number_word(worst.chains)} chains converged under every prior ({numbers})."
    return (
        f"The {number_word(worst.chains)} chains did not converge under every prior ({numbers}; required are R̂ of at "
        "most 1.01, 400 effective draws and no divergent transitions), so this report draws no conclusion from them."
    )


def _best_sentence(models: PriorAnalyses) -> str:
    ranks = models.main.posterior.ranks
    perceived, objective = ranks.perceived.best(), ranks.objective.best()
    a, b = max(perceived, key=perceived.__getitem__), max(objective, key=objective.__getitem__)
    # The objective side is signed, so the best has the smallest fallout.
    best = "lowest" if models.modelled.kind in LOWER_IS_BETTER else "highest"
    return (
        f"{a} has the highest perceived accuracy with a posterior probability of {share(perceived[a])}, and {b} the "
        f"{best} {kind_word(models.modelled.kind)} with {share(objective[b])}."
    )


def _tau_sentence(models: PriorAnalyses) -> str:
    tau = models.main.posterior.ranks.tau
    main, *rest = [share(prior.posterior.ranks.tau.share_positive) for prior in models.priors]
    is_positive = f"{main} under all {number_word(len(models.priors))} priors"
    if not rest or any(each != main for each in rest):
        names = [prior.name.lower() for prior in models.priors[1:]]
        alternatives = [f"{each} under the {name} priors" for name, each in zip(names, rest, strict=True)]
        is_positive = f"{main}; {listed(alternatives)}"
    return (
        f"With uncertainty on both sides, the rank correlation τ has a posterior mean of "
        f"{number(tau.mean, 2, is_share=True)}, 95% credible interval "
        f"{interval(tau.ci_low, tau.ci_high, is_share=True)}. The probability that it is positive is "
        f"{is_positive}."
    )


def pairs_sentence(ranks: PosteriorRanks) -> str:
    """For how many pairs the two sides agree or disagree with a probability of at least .95."""
    n = len(ranks.pairs)
    alike = [pair for pair in ranks.pairs if pair.agree >= CERTAIN]
    opposite = [pair for pair in ranks.pairs if pair.agree <= 1 - CERTAIN]
    rest = n - len(alike) - len(opposite)
    sentence = (
        f"Of {plural(n, 'pair')} of algorithms, the two sides agree on the order of {_count(len(alike))} and "
        f"disagree on that of {_count(len(opposite))} with a posterior probability of at least {share(CERTAIN)}; "
        f"{_count(rest)} remain{'s' if rest == 1 else ''} undecided."
    )
    if not opposite:
        return sentence
    orders = [
        f"{pair.a if pair.perceived > 0.5 else pair.b} over {pair.b if pair.perceived > 0.5 else pair.a}"
        for pair in opposite[:MOST_PAIRS]
    ]
    if (n_more := len(opposite) - MOST_PAIRS) > 0:
        orders.append(f"{number_word(n_more)} more")
    return f"{sentence} Opposite, in the order of perceived accuracy: {listed(orders)}."


def _count(n: int) -> str:
    return number_word(n) if n else "none"


def _factor_sentence(factors: BayesFactors) -> str:
    sentences = []
    for factor, effect, none in (
        (factors.anova, f"some difference between the algorithms in {factors.variable.in_text}", "no difference"),
        (factors.contrast, "a difference in the planned contrast", "none"),
    ):
        if isinstance(factor, BayesFactor):
            value, likely, unlikely, symbol = factor.alternative, effect, none, "BF₁₀"
            if factor.log < 0:
                value, likely, unlikely, symbol = factor.null, none, effect, "BF₀₁"
            sentences.append(
                f"The data are {times(value)} as likely under {likely} as under {unlikely} "
                f"({symbol} {equal_to(value)}, JZS prior of scale {number(factor.scale, 2)})."
            )
        elif isinstance(factor, Undefined):
            sentences.append(f"There is no Bayes factor for {effect}. {factor.reason}")
    return " ".join(sentences)


def times(value: float) -> str:
    """A factor in words.

    Examples
    --------
    >>> times(3.456), times(123456.0)
    ('3.46 times', 'more than 1,000 times')
    """
    return f"{number(value)} times" if value <= LARGEST else f"more than {LARGEST:,.0f} times"


def equal_to(value: float) -> str:
    """A factor with its sign, to follow its letters.

    Examples
    --------
    >>> equal_to(3.456), equal_to(123456.0)
    ('= 3.46', '> 1,000')
    """
    return f"= {number(value)}" if value <= LARGEST else f"> {LARGEST:,.0f}"


def share(probability: float) -> str:
    """A posterior probability, never shown as 0 or 1.

    Examples
    --------
    >>> share(0.8765), share(1.0), share(0.0004)
    ('.88', '> .99', '< .01')
    """
    if probability > 0.99:
        return "> .99"
    return "< .01" if probability < 0.01 else number(probability, 2, is_share=True)


def seed_sentence(results: BayesianResults) -> str:
    """Seed and versions."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(results.versions.items()))
    return f"Bayesian analysis: seed {results.seed}; {versions}."


# Tables


LARGEST_SHOWN = 1e6


def _ranks_table(ranks: RankProbabilities, half: Half) -> Table:
    rows = sorted(zip(ranks.names, ranks.probabilities, ranks.mean_ranks, strict=True), key=lambda row: row[2])
    columns = (Column("Algorithm"), *(Column(f"Rank {rank}", True, half) for rank in range(1, len(rows) + 1)))
    lines = tuple(Row((text(name), *map(share_cell, probabilities))) for name, probabilities, _rank in rows)
    return Table(f"posterior-ranks-{half}", f"Posterior probability of each rank, {half}", columns, lines)


def _pairs_table(models: PriorAnalyses) -> Table:
    return table(
        "posterior-pairs",
        "Posterior probability of agreement on every pair",
        list(zip(*(prior.posterior.ranks.pairs for prior in models.priors), strict=True)),
        Words("A", lambda pairs: pairs[0].a),
        Words("B", lambda pairs: pairs[0].b),
        Numbers("A better, perceived", lambda pairs: decimal(pairs[0].perceived, 2, is_share=True), "perceived"),
        Numbers("A better, objective", lambda pairs: decimal(pairs[0].objective, 2, is_share=True), "objective"),
        *(
            Numbers(f"Agreement, {prior.name.lower()} priors", _agreement(index))
            for index, prior in enumerate(models.priors)
        ),
        note="Posterior probabilities; the orders are those under the main priors.",
    )


def _agreement(index: int) -> Callable[[tuple[PairAgreement, ...]], Cell]:
    return lambda pairs: decimal(pairs[index].agree, 2, is_share=True)


def _estimates_table(models: PriorAnalyses) -> Table:
    posterior = models.main.posterior
    effects, rates = posterior.effects, posterior.hit_rates
    spread = ", ".join(
        f"{name} SD {summary.mean:.2f} [{summary.low:.2f}, {summary.high:.2f}]"
        for name, summary in (("participants", posterior.sd_participants), ("items", posterior.sd_items))
    )
    return table(
        "posterior-estimates",
        "Posterior of effects and hit rates",
        sorted(effects),  # databases keep keys in orders of their own
        Words[str]("Algorithm", lambda name: name),
        Numbers("Effect", lambda name: decimal(effects[name].mean), "perceived"),
        Numbers("95% CrI", lambda name: limits(effects[name]), "perceived"),
        Numbers(kind_name(models.modelled.kind), lambda name: decimal(rates[name].mean, 3), "objective"),
        Numbers("95% CrI", lambda name: interval_cell(rates[name].low, rates[name].high, 3), "objective"),
        note="Effects on the latent scale around their mean, in residual standard deviations; the other spreads on "
        f"this scale: {spread}. Posterior means and 95% credible intervals (CrI).",
    )


def _priors_table(models: PriorAnalyses) -> Table:
    return table(
        "prior-sensitivity",
        "Sensitivity to the priors",
        [(prior, prior.posterior.ranks.tau, prior.posterior.sampling) for prior in models.priors],
        Words("Priors", lambda row: row[0].name),
        Numbers("SD of effects", lambda row: decimal(row[0].ordinal.effect_sd)),
        Numbers("Scale of spreads", lambda row: decimal(row[0].ordinal.spread_scale)),
        Words("Hit rate", lambda row: _beta(row[0].hits.mean)),
        Words("Correlation within users", lambda row: _beta(row[0].hits.correlation)),
        Numbers("τ", lambda row: decimal(row[1].mean, 2, is_share=True)),
        Numbers("95% CrI", lambda row: interval_cell(row[1].ci_low, row[1].ci_high, is_share=True)),
        Numbers("P(τ > 0)", lambda row: decimal(row[1].share_positive, 2, is_share=True)),
        Numbers("R̂", lambda row: decimal(row[2].worst.r_hat, 3)),
        Numbers("ESS", lambda row: whole(int(min(row[2].worst.ess_bulk, row[2].worst.ess_tail)))),
        Numbers("Divergences", lambda row: whole(row[2].divergences)),
        Numbers("Draws", lambda row: whole(row[2].chains * row[2].draws)),
        note="Effects of algorithms: normal; spreads of participants and items: half-t with 3 degrees of freedom; "
        "thresholds: normal with SD 3, in ascending order. R̂ and ESS (effective sample size) are of the quantity that "
        "is worst; divergences are divergent transitions of the sampler.",
    )


def _beta(parameters: tuple[float, float]) -> str:
    return f"Beta({parameters[0]:g}, {parameters[1]:g})"


def _factors_table(factors: BayesFactors) -> Table:
    return table(
        "bayes-factors",
        f"Bayes factors of pairs, {factors.variable.in_text}",
        [(pair, None if isinstance(pair.factor, Undefined) else pair.factor) for pair in factors.pairs],
        Words("Algorithm", lambda row: row[0].a),
        Words("and", lambda row: row[0].b),
        Numbers("BF₁₀", lambda row: MISSING if row[1] is None else _factor_cell(row[1].alternative)),
        Numbers("BF₀₁", lambda row: MISSING if row[1] is None else _factor_cell(row[1].null)),
        note="Two-sided t tests with the variance pooled over all algorithms; Cauchy prior of scale .71 on the "
        "difference in standard deviations (Rouder et al., 2009). Not corrected for the number of pairs.",
    )


def _factor_cell(value: float) -> Cell:
    if value > LARGEST_SHOWN:
        return Cell(f"> {LARGEST_SHOWN:,.0f}", None)
    return decimal(value, 2 if value >= 0.01 else 4)
