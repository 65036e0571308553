"""Tables of the Bayesian analysis."""

from __future__ import annotations

from analysis.results.bayesian import BayesFactors, PriorAnalyses
from analysis.results.comparison import Half
from analysis.tables.cells import MISSING, decimal, interval, limits, share_cell, whole
from documents.tables import Cell, Column, Numbers, Row, Table, Words, table, text
from evaluation.reported_kinds import kind_name
from inference.order_bootstrap import RankProbabilities
from inference.results import Undefined

LARGEST = 1e6


def ranks_table(ranks: RankProbabilities, half: Half) -> Table:
    """The posterior probability of every rank on one side, the best on top."""
    rows = sorted(zip(ranks.names, ranks.probabilities, ranks.mean_ranks, strict=True), key=lambda row: row[2])
    columns = (Column("Algorithm"), *(Column(f"Rank {rank}", True, half) for rank in range(1, len(rows) + 1)))
    return Table(
        f"posterior-ranks-{half}",
        f"Posterior probability of each rank, {half}",
        columns,
        tuple(Row((text(name), *map(share_cell, probabilities))) for name, probabilities, _rank in rows),
    )


def pairs_table(models: PriorAnalyses) -> Table:
    """Every pair: the probability of its order on either side, and of agreement under every prior."""
    by_prior = [prior.posterior.ranks.pairs for prior in models.priors]
    rows = tuple(
        Row(
            (
                text(pairs[0].a),
                text(pairs[0].b),
                decimal(pairs[0].perceived, 2, is_share=True),
                decimal(pairs[0].objective, 2, is_share=True),
                *(decimal(pair.agree, 2, is_share=True) for pair in pairs),
            )
        )
        for pairs in zip(*by_prior, strict=True)
    )
    names = [f"Agreement, {prior.name.lower()} priors" for prior in models.priors]
    columns = (
        Column("A"), Column("B"), Column("A better, perceived", True, "perceived"),
        Column("A better, objective", True, "objective"), *(Column(name, True) for name in names),
    )  # fmt: skip
    note = "Posterior probabilities; the orders are those under the main priors."
    return Table("posterior-pairs", "Posterior probability of agreement on every pair", columns, rows, note)


def estimates_table(models: PriorAnalyses) -> Table:
    """Effects and hit rates of every algorithm under the main priors."""
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
        Numbers("95% CrI", lambda name: interval(rates[name].low, rates[name].high, 3), "objective"),
        note="Effects on the latent scale around their mean, in residual standard deviations; the other spreads on "
        f"this scale: {spread}. Posterior means and 95% credible intervals (CrI).",
    )


def priors_table(models: PriorAnalyses) -> Table:
    """The same conclusions under every prior, with the diagnostics of its chains."""
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
        Numbers("95% CrI", lambda row: interval(row[1].ci_low, row[1].ci_high, is_share=True)),
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


def factors_table(factors: BayesFactors) -> Table:
    """Bayes factors of every pair of algorithms."""
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
    if value > LARGEST:
        return Cell(f"> {LARGEST:,.0f}", None)
    return decimal(value, 2 if value >= 0.01 else 4)
