"""The Bayesian analysis of a report: posteriors of the ranks on both sides, and Bayes factors."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.rankings import OfVariable
from inference.bayes_factors import BayesFactor
from inference.beta_binomial import HitPrior
from inference.convergence import Convergence
from inference.hierarchical_ordinal import OrdinalPrior
from inference.order_bootstrap import PosteriorRanks
from inference.results import Undefined


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Posterior mean and 95% credible interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the draws of the ordinal model were made, and the diagnostics of the quantity that is worst in each."""

    chains: int
    warm_up: int
    draws: int
    acceptance: float  # mean acceptance probability; of the former Gibbs sampler, of moves of thresholds
    divergences: int = 0  # a Gibbs sampler has none
    worst: Convergence

    @property
    def has_converged(self) -> bool:
        """Whether every quantity passes and no transition diverged."""
        return self.worst.has_converged and not self.divergences


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """Both posteriors under one prior.

    `effects` are the conditions' effects on the latent scale around their mean, in residual standard deviations.
    """

    sampling: Sampling
    effects: dict[str, Summary]
    sd_participants: Summary
    sd_items: Summary
    hit_rates: dict[str, Summary]
    ranks: PosteriorRanks


@dataclass(frozen=True, kw_only=True)
class PriorAnalysis:
    """One choice of priors and what follows from it; the first of several is the main one."""

    name: str
    ordinal: OrdinalPrior
    hits: HitPrior
    posterior: Posterior


@dataclass(frozen=True, kw_only=True)
class PairFactor:
    """The Bayes factor of one pair of conditions."""

    a: str
    b: str
    factor: BayesFactor | Undefined


@dataclass(frozen=True, kw_only=True)
class BayesFactors(OfVariable):
    """JZS Bayes factors of one variable: any difference, every pair, and the planned contrast if there is one."""

    anova: BayesFactor | Undefined
    pairs: tuple[PairFactor, ...]
    contrast: BayesFactor | Undefined | None = None


@dataclass(frozen=True, kw_only=True)
class Modelled:
    """What the two models were fitted to; `is_fractional` says whether ties made fractions of hits."""

    kind: str
    profile_length: int
    n: int
    n_participants: int
    n_ratings: int
    n_users: int
    n_cases: int
    is_fractional: bool


@dataclass(frozen=True, kw_only=True)
class PriorAnalyses:
    """The data of the models, and the same analysis under every prior."""

    modelled: Modelled
    priors: tuple[PriorAnalysis, ...]

    @property
    def main(self) -> PriorAnalysis:
        """The analysis under the main priors."""
        return self.priors[0]

    @property
    def has_converged(self) -> bool:
        """Whether the chains of every prior pass the diagnostics."""
        return all(prior.posterior.sampling.has_converged for prior in self.priors)


@dataclass(frozen=True, kw_only=True)
class BayesianResults:
    """Every number of the Bayesian analysis, with its seed and the versions of the software."""

    seed: int
    versions: dict[str, str]
    models: PriorAnalyses | Undefined
    factors: BayesFactors | None
