"""The numbers of a report's Bayesian analysis: both models under every prior, and Bayes factors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import metadata
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.compute.in_turn import NOT_INDEPENDENT
from analysis.compute.perceived import LEAST_N, groups_of
from analysis.enums import scale_variables
from analysis.models import Report
from analysis.read import Progress
from analysis.read.inputs import Answers, measured_by, positions_in
from analysis.read.responses import read_answers
from analysis.results import bayesian as bayes
from analysis.results.codec import encode
from analysis.results.report import Results
from core.errors import ParallaxError
from core.provenance import canonical_json, derived_seed, rng_for, versions
from evaluation.reported_kinds import ERRORS
from inference.bayes_factors import BayesFactor, jzs_anova, jzs_contrast
from inference.beta_binomial import HitPrior, hit_rate_draws
from inference.bootstrap import percentile_intervals
from inference.contrasts import planned_contrast
from inference.convergence import Convergence, convergence
from inference.groups import ExactGroups
from inference.hierarchical_ordinal import CHAINS, OrdinalDraws, OrdinalPrior, OrdinalRatings, sample_ordinal
from inference.order_bootstrap import posterior_ranks
from inference.results import Undefined
from studies.monitoring.selectors.exclusions import exclusions

Floats = NDArray[np.float64]

STREAM = "bayesian"
WARM_UP = 500
DRAWS = 1000  # of every chain; chains that do not pass the diagnostics are run again, longer
LONGER = ((1, 0.9), (3, 0.95), (9, 0.99))  # multiples of both and acceptance probabilities, tried in turn
NUMERIC = ("parallax", "python", "numpy", "scipy")
SAMPLERS = ("numpyro", "jax", "jaxlib")
LOWEST, HIGHEST = 1, 5  # the scale of the ratings
# The main priors first; the others show how much the conclusions depend on them.
PRIORS = (
    ("Main", OrdinalPrior(1.0, 1.0), HitPrior((1.0, 1.0), (1.0, 1.0))),
    ("Narrower", OrdinalPrior(0.5, 0.5), HitPrior((2.0, 2.0), (1.0, 9.0))),
    ("Wider", OrdinalPrior(2.0, 2.0), HitPrior((0.5, 0.5), (0.5, 0.5))),
)


@dataclass(frozen=True)
class _Data:
    """Both sides over the conditions that have both."""

    names: tuple[str, ...]
    ratings: OrdinalRatings
    hits: Floats  # (n_users, n_conditions)
    cases: Floats  # (n_users,)
    modelled: bayes.Modelled
    higher_is_better: bool


def compute_bayesian(*, report: Report, progress: Progress) -> dict[str, Any]:
    """Every number of a report's Bayesian analysis, as JSON values; every random draw is from a named stream.

    Raises `report.answers_changed` where the answers are not those of the report, and `bayesian.library_missing` where
    the models need NumPyro and it is not installed.
    """
    progress("Reading the answers")
    answers = _answers_of(report)
    results = report.read_results()
    seed = report.study.seed
    with threadpool_limits(limits=1, user_api="blas"):
        data = _read(report, results, answers)
        models = (
            data
            if isinstance(data, Undefined)
            else bayes.PriorAnalyses(
                modelled=data.modelled, priors=tuple(_under_prior(data, prior, seed, progress) for prior in PRIORS)
            )
        )
        progress("Computing Bayes factors")
        factors = None if answers.occasions else _factors(results, answers)
    numeric = {name: versions()[name] for name in NUMERIC}
    if not isinstance(models, Undefined):
        numeric |= {name: metadata.version(name) for name in SAMPLERS}
    whole = bayes.BayesianResults(seed=derived_seed(seed, STREAM), versions=numeric, models=models, factors=factors)
    plain: dict[str, Any] = json.loads(canonical_json(encode(bayes.BayesianResults, whole)))
    return plain


def _answers_of(report: Report) -> Answers:
    plan, study = report.read_plan(), report.study
    excluded = exclusions(study, [report.mode], by_hand=plan.by_hand, rule=plan.exclude)
    answers = read_answers(study, report.mode, excluded).analysed
    if answers.digest != report.read_provenance().answers_digest:
        raise ParallaxError(
            "report.answers_changed",
            "The answers have changed since this report was built: a participant has completed or withdrawn, or was "
            "excluded or included again. Build a new report.",
        )
    return answers


def _read(report: Report, results: Results, answers: Answers) -> _Data | Undefined:
    primary = results.primary
    if primary is None:
        return Undefined("The planned pair of measures is missing from this report.")
    if answers.occasions:
        return NOT_INDEPENDENT
    if results.recommenders:
        return Undefined(
            "Several conditions share a recommender, and the model has one hit rate and one effect for each condition."
        )
    if any(slot.rating is None for slot in answers.shown):
        return Undefined("The model is of ratings of items, and the study asks for none.")
    rated = {slot.condition for slot in answers.shown}
    names = tuple(name for name in primary.conditions if name in rated)
    if len(names) < 2:
        return Undefined("Fewer than two algorithms have both ratings and measures.")
    if sum(person.n_items for person in answers.people) != len(answers.shown):
        return Undefined("The ratings of single items are incomplete.")
    labels = answers.conditions
    measured = measured_by(report.run, labels, positions_in(report.study, report.run), primary.profile_length)
    if primary.kind in ERRORS:
        return Undefined("The model is of hits, and rating prediction has none.")
    if measured.is_by_user:
        return Undefined(
            f"The {primary.kind} of this run is a mean over users, and the model needs the hits of single cases, which "
            "one-plus-random counts."
        )
    ratings = _ratings(answers, names)
    # Means by user times their cases, of the users with cases.
    n_cases = measured.cases[primary.kind].astype(np.float64)
    columns = measured.users[primary.kind][:, [labels.index(name) for name in names]]
    hits, cases = (np.nan_to_num(columns) * n_cases[:, None])[n_cases > 0], n_cases[n_cases > 0]
    return _Data(
        names=names,
        ratings=ratings,
        hits=hits,
        cases=cases,
        modelled=bayes.Modelled(
            kind=primary.kind,
            profile_length=primary.profile_length,
            n=results.objective.n,
            n_participants=int(ratings.participants.max()) + 1,
            n_ratings=len(ratings.codes),
            n_users=len(cases),
            n_cases=int(cases.sum()),
            is_fractional=bool((np.abs(hits - hits.round()) > 1e-9).any()),
        ),
        higher_is_better=primary.higher_is_better,
    )


def _ratings(answers: Answers, names: tuple[str, ...]) -> OrdinalRatings:
    # Slots are ordered by participant, in the order of entry.
    persons = np.repeat(np.arange(len(answers.people)), [person.n_items for person in answers.people])
    rows = [
        ((slot.rating or LOWEST) - LOWEST, names.index(slot.condition), person, slot.item)
        for slot, person in zip(answers.shown, persons.tolist(), strict=True)
        if slot.condition in names
    ]
    codes, conditions, participants, items = (list(column) for column in zip(*rows, strict=True))
    return OrdinalRatings.of(codes, conditions, participants, items, HIGHEST - LOWEST + 1)


def _under_prior(
    data: _Data, prior: tuple[str, OrdinalPrior, HitPrior], seed: int, progress: Progress
) -> bayes.PriorAnalysis:
    name, of_ratings, of_hits = prior
    draws, sampling = _sampled(data.ratings, of_ratings, rng_for(seed, STREAM, name, "ratings"), name, progress)
    progress(f"{name} priors: modelling hits")
    stream = rng_for(seed, STREAM, name, "hits")
    n = draws.effects.shape[0] * draws.effects.shape[1]
    rates = np.column_stack(
        [hit_rate_draws(column, data.cases, of_hits, draws=n, rng=stream) for column in data.hits.T]
    )
    effects = draws.effects.reshape(n, -1)
    sign = 1 if data.higher_is_better else -1
    ranks = posterior_ranks(effects, sign * rates, data.names, rng=stream)
    if isinstance(ranks, Undefined):  # two conditions or more never tie in every draw
        raise ParallaxError("bayesian.no_ranks", ranks.reason)
    centred = effects - effects.mean(axis=1, keepdims=True)
    posterior = bayes.Posterior(
        sampling=sampling,
        effects=dict(zip(data.names, map(_summary, centred.T), strict=True)),
        sd_participants=_summary(draws.sd_participants.ravel()),
        sd_items=_summary(draws.sd_items.ravel()),
        hit_rates=dict(zip(data.names, map(_summary, rates.T), strict=True)),
        ranks=ranks,
    )
    return bayes.PriorAnalysis(name=name, ordinal=of_ratings, hits=of_hits, posterior=posterior)


def _sampled(
    ratings: OrdinalRatings, prior: OrdinalPrior, rng: np.random.Generator, name: str, progress: Progress
) -> tuple[OrdinalDraws, bayes.Sampling]:
    """Draws that pass the diagnostics, or else those of the longest chains."""
    for longer, acceptance in LONGER:

        def report_share(share: float, of: str = "" if longer == 1 else ", longer chains") -> None:
            progress(f"{name} priors{of}: sampling, {100 * share:.0f}%")

        draws = sample_ordinal(
            ratings,
            prior,
            warm_up=longer * WARM_UP,
            draws=longer * DRAWS,
            rng=rng,
            acceptance=acceptance,
            progress=report_share,
        )
        diagnosed = [convergence(chains) for chains in draws.identified().values()]
        sampling = bayes.Sampling(
            chains=CHAINS,
            warm_up=longer * WARM_UP,
            draws=longer * DRAWS,
            acceptance=draws.acceptance,
            divergences=draws.divergences,
            worst=Convergence(
                r_hat=max(each.r_hat for each in diagnosed),
                ess_bulk=min(each.ess_bulk for each in diagnosed),
                ess_tail=min(each.ess_tail for each in diagnosed),
            ),
        )
        if sampling.has_converged:
            break
    return draws, sampling


def _summary(draws: Floats) -> bayes.Summary:
    (interval,) = percentile_intervals(draws[:, None])
    return bayes.Summary(mean=float(draws.mean()), low=interval.low, high=interval.high)


def _factors(results: Results, answers: Answers) -> bayes.BayesFactors | None:
    variable = results.variable(results.plan.primary.perceived)
    if variable is None:
        return None
    groups = groups_of(answers, variable.variable)
    contrast = results.plan.primary.planned_contrast
    names = [name for name, n in groups.sizes.items() if n >= LEAST_N]
    return bayes.BayesFactors(
        variable_key=variable.variable.key,
        scale_variables=scale_variables([variable.variable]),
        anova=jzs_anova(groups, least_n=LEAST_N),
        pairs=tuple(
            bayes.PairFactor(a=a, b=b, factor=_of_contrast(groups, (a,), (b,))) for a, b in combinations(names, 2)
        ),
        contrast=None if contrast is None else _of_contrast(groups, contrast.higher, contrast.lower),
    )


def _of_contrast(groups: ExactGroups, higher: tuple[str, ...], lower: tuple[str, ...]) -> BayesFactor | Undefined:
    tested = planned_contrast(groups, higher, lower, least_n=LEAST_N)
    if isinstance(tested, Undefined):
        return tested
    return jzs_contrast(tested, [groups.sizes[name] for name in (*higher, *lower)])
