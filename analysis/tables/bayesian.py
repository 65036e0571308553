"""Tables of the Bayesian analysis."""

from __future__ import annotations

from analysis.results.bayesian import BayesFactors, PriorAnalyses, Summary
from analysis.results.comparison import Half
from analysis.tables.cells import MISSING, decimal, interval, share_cell, whole
from documents.tables import Cell, Column, Row, Table, text
from evaluation.reported_kinds import kind_name
from inference.bayes_factors import BayesFactor
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
    rows = tuple(
        Row((text(name), *_cells(posterior.effects[name], 2), *_cells(posterior.hit_rates[name], 3)))
        for name in sorted(posterior.effects)  # databases keep keys in orders of their own
    )
    columns = (
        Column("Algorithm"), Column("Effect", True, "perceived"), Column("95% CrI", True, "perceived"),
        Column(kind_name(models.modelled.kind), True, "objective"), Column("95% CrI", True, "objective"),
    )  # fmt: skip
    spread = ", ".join(
        f"{name} SD {summary.mean:.2f} [{summary.low:.2f}, {summary.high:.2f}]"
        for name, summary in (("participants", posterior.sd_participants), ("items", posterior.sd_items))
    )
    note = (
        "Effects on the latent scale around their mean, in residual standard deviations; the other spreads on this "
        f"scale: {spread}. Posterior means and 95% credible intervals (CrI)."
    )
    return Table("posterior-estimates", "Posterior of effects and hit rates", columns, rows, note)


def _cells(summary: Summary, digits: int) -> tuple[Cell, Cell]:
    return decimal(summary.mean, digits), interval(summary.low, summary.high, digits)


def priors_table(models: PriorAnalyses) -> Table:
    """The same conclusions under every prior, with the diagnostics of its chains."""
    rows = []
    for prior in models.priors:
        tau, sampling = prior.posterior.ranks.tau, prior.posterior.sampling
        rows.append(
            Row(
                (
                    text(prior.name),
                    decimal(prior.ordinal.effect_sd),
                    decimal(prior.ordinal.spread_scale),
                    text(f"Beta({prior.hits.mean[0]:g}, {prior.hits.mean[1]:g})"),
                    text(f"Beta({prior.hits.correlation[0]:g}, {prior.hits.correlation[1]:g})"),
                    decimal(tau.mean, 2, is_share=True),
                    interval(tau.ci_low, tau.ci_high, is_share=True),
                    decimal(tau.share_positive, 2, is_share=True),
                    decimal(sampling.worst.r_hat, 3),
                    whole(int(min(sampling.worst.ess_bulk, sampling.worst.ess_tail))),
                    whole(sampling.divergences),
                    whole(sampling.chains * sampling.draws),
                )
            )
        )
    columns = (
        Column("Priors"), Column("SD of effects", True), Column("Scale of spreads", True), Column("Hit rate"),
        Column("Correlation within users"), Column("τ", True), Column("95% CrI", True), Column("P(τ > 0)", True),
        Column("R̂", True), Column("ESS", True), Column("Divergences", True), Column("Draws", True),
    )  # fmt: skip
    note = (
        "Effects of algorithms: normal; spreads of participants and items: half-t with 3 degrees of freedom; "
        "thresholds: normal with SD 3, in ascending order. R̂ and ESS (effective sample size) are of the quantity that "
        "is worst; divergences are divergent transitions of the sampler."
    )
    return Table("prior-sensitivity", "Sensitivity to the priors", columns, tuple(rows), note)


def factors_table(factors: BayesFactors) -> Table:
    """Bayes factors of every pair of algorithms."""
    rows = tuple(Row((text(pair.a), text(pair.b), *_factor_cells(pair.factor))) for pair in factors.pairs)
    columns = (Column("Algorithm"), Column("and"), Column("BF₁₀", True), Column("BF₀₁", True))
    note = (
        "Two-sided t tests with the variance pooled over all algorithms; Cauchy prior of scale .71 on the difference "
        "in standard deviations (Rouder et al., 2009). Not corrected for the number of pairs."
    )
    return Table("bayes-factors", f"Bayes factors of pairs, {factors.variable.in_text}", columns, rows, note)


def _factor_cells(factor: BayesFactor | Undefined) -> tuple[Cell, Cell]:
    if isinstance(factor, Undefined):
        return MISSING, MISSING
    return _factor_cell(factor.alternative), _factor_cell(factor.null)


def _factor_cell(value: float) -> Cell:
    if value > LARGEST:
        return Cell(f"> {LARGEST:,.0f}", None)
    return decimal(value, 2 if value >= 0.01 else 4)
