"""The chapter of the Bayesian analysis."""

from __future__ import annotations

from analysis.charts import bayesian as charts
from analysis.narrative import bayesian as narrative
from analysis.results.bayesian import BayesianResults, PriorAnalyses
from analysis.results.comparison import Half
from analysis.results.report import Results
from analysis.tables import bayesian as tables
from documents.blocks import Figure, FigureMaker, Section
from inference.results import Undefined

KEY, TITLE = "bayesian", "Bayesian analysis"


def bayesian_section(
    results: Results, numbers: BayesianResults | None, error: str, figure: FigureMaker, run_figure: FigureMaker
) -> Section:
    """Posteriors of the ranks and Bayes factors, or what keeps them from being there."""
    section = Section(KEY, TITLE)
    if not results.flow.analysed:
        return section
    if numbers is None:
        section.say(narrative.failure(error) if error else narrative.PENDING)
        return section
    if not results.is_live:
        section.say(narrative.LABEL)
    if isinstance(numbers.models, Undefined):
        section.say(narrative.failure(numbers.models.reason))
    else:
        _put_models(section, numbers.models, figure, run_figure)
    if numbers.factors is not None:
        section.head("Bayes factors")
        section.say(narrative.factor_sentence(numbers.factors), "says")
        section.put(tables.factors_table(numbers.factors), is_folded=True)
    section.say(narrative.seed_sentence(numbers))
    return section


def _put_models(section: Section, models: PriorAnalyses, figure: FigureMaker, run_figure: FigureMaker) -> None:
    section.say(narrative.model_sentence(models))
    section.say(narrative.convergence_sentence(models))
    if models.has_converged:
        ranks = models.main.posterior.ranks
        section.draw(_strip(models, "perceived", figure), _strip(models, "objective", run_figure))
        section.say(narrative.best_sentence(models), "says")
        section.say(narrative.tau_sentence(models), "says")
        section.say(narrative.pairs_sentence(ranks), "says")
        section.put(tables.pairs_table(models), is_folded=True)
        section.put(tables.estimates_table(models), is_folded=True)
    section.put(tables.priors_table(models))
    section.say(narrative.limits_sentence(models))


def _strip(models: PriorAnalyses, half: Half, figure: FigureMaker) -> Figure | None:
    ranks = models.main.posterior.ranks
    side = ranks.perceived if half == "perceived" else ranks.objective
    measure = "perceived accuracy" if half == "perceived" else f"{models.modelled.kind} at {models.modelled.n}"
    return figure(
        f"posterior-ranks-{half}",
        charts.posterior_strip(
            side, half, narrative.strip_title(ranks, half), f"Rank by {measure}, posterior probability in %"
        ),
        f"Posterior probability of each rank by {measure}, under the main priors.",
        tables.ranks_table(side, half),
    )
