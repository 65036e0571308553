"""Covariance structures: means and covariances that a linear model of latent variables implies, with derivatives; their
estimates, by maximum likelihood or by diagonally weighted least squares of correlations; and how well these fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from inference.results import Floats, Undefined

Matrix = Literal["loadings", "residuals", "covariances", "paths", "intercepts", "means"]


@dataclass(frozen=True)
class Entry:
    """A free entry of a matrix; entries with the same parameter are equal."""

    matrix: Matrix
    row: int
    column: int  # 0 for vectors
    parameter: int  # position in the vector of parameters


@dataclass(frozen=True)
class Structure:
    """The matrices of one group; `entries` are estimated, all other numbers are fixed."""

    loadings: Floats  # shape (items, latents)
    residuals: Floats  # variances, shape (items,)
    covariances: Floats  # of latents, or of their disturbances; shape (latents, latents), symmetric
    paths: Floats  # among latents, shape (latents, latents): from the column to the row
    intercepts: Floats  # shape (items,)
    means: Floats  # of latents, or their intercepts; shape (latents,)
    entries: tuple[Entry, ...]

    @classmethod
    def of_zeros(cls, n_items: int, n_latents: int) -> Structure:
        """A structure without a free entry, all of whose numbers are 0."""
        square = np.zeros((n_latents, n_latents))
        items = np.zeros(n_items)
        return cls(np.zeros((n_items, n_latents)), items, square, square, items, np.zeros(n_latents), ())

    def at(self, parameters: Floats) -> Structure:
        """The matrices at values of the parameters."""
        matrices: dict[str, Any] = {name: getattr(self, name).copy() for name in get_args(Matrix)}
        for entry in self.entries:
            matrix, value = matrices[entry.matrix], parameters[entry.parameter]
            if matrix.ndim == 1:
                matrix[entry.row] = value
            else:
                matrix[entry.row, entry.column] = value
            if entry.matrix == "covariances":
                matrix[entry.column, entry.row] = value
        return replace(self, **matrices)

    def latent_covariance(self) -> Floats:
        """Covariances of the latents themselves, at fixed matrices; shape (latents, latents)."""
        total = np.linalg.inv(np.eye(len(self.means)) - self.paths)
        return np.asarray(total @ self.covariances @ total.T)


@dataclass(frozen=True)
class Moments:
    """Implied means and covariances with their derivatives by each parameter, the first axis of `by_*`."""

    covariance: Floats
    mean: Floats
    by_covariance: Floats
    by_mean: Floats


def covariance_of(structure: Structure, parameters: Floats) -> tuple[Floats, Floats]:
    """The implied covariances and means of the items, without derivatives.

    Examples
    --------
    >>> free = [("loadings", 0), ("loadings", 1), ("residuals", 0), ("residuals", 1)]
    >>> entries = tuple(Entry(matrix, row, 0, index) for index, (matrix, row) in enumerate(free))
    >>> structure = replace(Structure.of_zeros(2, 1), covariances=np.eye(1), entries=entries)
    >>> covariance_of(structure, np.array([0.8, 0.6, 0.36, 0.64]))[0].round(2).tolist()
    [[1.0, 0.48], [0.48, 1.0]]
    """
    at = structure.at(parameters)
    total = np.linalg.inv(np.eye(len(at.means)) - at.paths)
    covariance = at.loadings @ at.latent_covariance() @ at.loadings.T + np.diag(at.residuals)
    return covariance, at.intercepts + at.loadings @ total @ at.means


def moments_of(structure: Structure, parameters: Floats) -> Moments:
    r"""Moments of the items under a structure, with derivatives.

    .. math::
        \Sigma = \Lambda (I - B)^{-1} \Psi (I - B)^{-T} \Lambda^T + \Theta, \quad
        \mu = \nu + \Lambda (I - B)^{-1} \alpha

    Source: Bollen (1989), Structural Equations with Latent Variables, chapter 8.
    """
    at = structure.at(parameters)
    n_items, n_latents = at.loadings.shape
    total = np.linalg.inv(np.eye(n_latents) - at.paths)
    latent_covariance, latent_mean = total @ at.covariances @ total.T, total @ at.means
    effects = at.loadings @ total  # of disturbances on items
    shared = latent_covariance @ at.loadings.T  # of latents with items
    unit = np.eye(n_items)
    by_covariance = np.zeros((len(parameters), n_items, n_items))
    by_mean = np.zeros((len(parameters), n_items))
    for entry in structure.entries:
        row, column = entry.row, entry.column
        match entry.matrix:
            case "loadings":
                change = np.outer(unit[row], shared[column])
                by_mean[entry.parameter] += unit[row] * latent_mean[column]
            case "paths":
                change = np.outer(effects[:, row], shared[column])
                by_mean[entry.parameter] += effects[:, row] * latent_mean[column]
            case "covariances":
                # The transpose is added below; a variance stands on the diagonal once and would count twice.
                change = np.outer(effects[:, row], effects[:, column]) / (2 if row == column else 1)
            case "residuals":
                # Halved for the same reason: it is symmetric already when its transpose is added.
                change = np.outer(unit[row], unit[row]) / 2
            case "intercepts":
                by_mean[entry.parameter] += unit[row]
                continue
            case _:  # "means"
                by_mean[entry.parameter] += effects[:, row]
                continue
        by_covariance[entry.parameter] += change + change.T
    covariance = effects @ at.covariances @ effects.T + np.diag(at.residuals)
    return Moments(covariance, at.intercepts + at.loadings @ latent_mean, by_covariance, by_mean)


class FreeParameters:
    """Free entries of matrices, counted, with their starting values."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def entry(self, matrix: Matrix, row: int, column: int, start: float) -> Entry:
        """A free entry with a parameter of its own."""
        self.values.append(start)
        return Entry(matrix, row, column, len(self.values) - 1)

    @property
    def start(self) -> Floats:
        """The starting values."""
        return np.array(self.values)


MOST_STEPS = 500
GRADIENT = 1e-8  # at the minimum, of standardised items
LEAST_DAMPING, MOST_DAMPING = 1e-10, 1e10
RELATIVE = 1e-10  # smallest over largest eigenvalue of the information of an identified model
DIFFERENCE = 1e-5  # step of numerical derivatives


@dataclass(frozen=True)
class Sample:
    """Moments of one group, with denominator n."""

    n: int
    covariance: Floats  # shape (items, items), positive definite
    mean: Floats  # shape (items,)


@dataclass(frozen=True)
class NormalLikelihood:
    """The discrepancy of maximum likelihood under normality, over all groups, per participant."""

    samples: Sequence[Sample]
    structures: Sequence[Structure]

    @property
    def n(self) -> int:
        """Participants of all groups."""
        return sum(sample.n for sample in self.samples)

    def value(self, parameters: Floats) -> float:
        """log|Σ| + tr(SΣ⁻¹) - log|S| - p + (m - μ)'Σ⁻¹(m - μ), averaged over groups."""
        total = 0.0
        for sample, structure in zip(self.samples, self.structures, strict=True):
            implied, mean = covariance_of(structure, parameters)
            try:
                # Fails for exactly those parameters whose covariances are not positive definite and so have no
                # likelihood.
                root = np.linalg.cholesky(implied)
            except np.linalg.LinAlgError:
                # Infinite, not an error: the damped step is refused and a shorter one is tried.
                return math.inf
            distance = np.linalg.solve(root, sample.mean - mean)
            inner = np.linalg.solve(root, np.linalg.solve(root, sample.covariance).T)
            # Logarithms of determinants, which themselves leave the range of floats with many items.
            determinants = 2 * np.log(np.diag(root)).sum() - np.linalg.slogdet(sample.covariance)[1]
            total += sample.n * (determinants + np.trace(inner) - len(mean) + distance @ distance)
        return float(total / self.n)

    def linearised(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Residuals and derivatives in units of the implied covariances."""
        residuals, jacobians = [], []
        for sample, structure in zip(self.samples, self.structures, strict=True):
            moments, weight = moments_of(structure, parameters), math.sqrt(sample.n / self.n)
            inverse = np.linalg.inv(np.linalg.cholesky(moments.covariance))
            distance = sample.mean - moments.mean
            # Means that the model misses count as covariance around the implied mean, as in the likelihood.
            beyond = sample.covariance + np.outer(distance, distance) - moments.covariance
            whitened = inverse @ moments.by_covariance @ inverse.T / math.sqrt(2)
            residuals += [weight * (inverse @ beyond @ inverse.T).ravel() / math.sqrt(2), weight * inverse @ distance]
            jacobians += [
                weight * whitened.reshape(len(parameters), -1).T,
                weight * inverse @ moments.by_mean.T,
            ]
        return np.concatenate(residuals), np.concatenate(jacobians)


@dataclass(frozen=True)
class WeightedCorrelations:
    """Least squares of correlations below the diagonal, weighted by the inverse of their variances."""

    correlations: Floats  # shape (pairs of items,), in the order of `numpy.tril_indices`
    weights: Floats  # shape (pairs of items,)
    structure: Structure

    def value(self, parameters: Floats) -> float:
        """The weighted sum of squares."""
        implied, _mean = covariance_of(self.structure, parameters)
        below = implied[np.tril_indices(len(implied), -1)]
        return float(self.weights @ (self.correlations - below) ** 2)

    def linearised(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Residuals and derivatives in units of the correlations' standard errors."""
        moments, roots = moments_of(self.structure, parameters), np.sqrt(self.weights)
        rows, columns = np.tril_indices(len(moments.covariance), -1)
        residuals = roots * (self.correlations - moments.covariance[rows, columns])
        return residuals, roots[:, None] * moments.by_covariance[:, rows, columns].T


@dataclass(frozen=True)
class Minimum:
    """The parameters of least discrepancy."""

    parameters: Floats
    value: float
    jacobian: Floats  # weighted derivatives of the moments
    information: Floats  # of one participant, shape (parameters, parameters)


def minimum_of(discrepancy: NormalLikelihood | WeightedCorrelations, start: Floats) -> Minimum | Undefined:
    """Minimise by Fisher scoring with Levenberg's damping.

    Undefined where the steps do not reach a point of zero gradient, or where the model is not identified there.
    """
    parameters, damping = start, 1e-3
    value = discrepancy.value(parameters)
    for _step in range(MOST_STEPS):
        residuals, jacobian = discrepancy.linearised(parameters)
        gradient, information = jacobian.T @ residuals, jacobian.T @ jacobian
        # Judged by the gradient and not by small steps: damping makes steps small anywhere.
        if np.abs(gradient).max(initial=0) < GRADIENT:
            # Scaled to a correlation matrix, so that parameters in different units do not look unidentified.
            scale = np.sqrt(np.diag(information))
            if scale.min() > 0:
                eigenvalues = np.linalg.eigvalsh(information / np.outer(scale, scale))
                # A flat direction at the minimum: other parameters fit as well, so these would mean nothing.
                if eigenvalues[0] > RELATIVE * eigenvalues[-1]:
                    return Minimum(parameters, value, jacobian, information)
            return Undefined("The model is not identified by these data.")
        while damping < MOST_DAMPING:
            # In units of each parameter's own information (Marquardt), with a floor for one that has none.
            ridge = damping * np.diag(np.diag(information) + LEAST_DAMPING)
            proposal = parameters + np.linalg.solve(information + ridge, gradient)
            proposed = discrepancy.value(proposal)
            # Near the minimum the last steps change the value by rounding only; refusing those would never reach the
            # gradient.
            if proposed <= value + 1e-13 * (1 + abs(value)):
                parameters, value, damping = proposal, proposed, max(damping / 10, LEAST_DAMPING)
                break
            damping *= 10
        else:
            break
    return Undefined("The estimates of the model did not converge.")


def derivatives(function: Callable[[Floats], Floats], parameters: Floats) -> Floats:
    """Central differences of a function of the parameters, shape (values, parameters)."""
    columns = []
    for index in range(len(parameters)):
        step = np.zeros(len(parameters))
        step[index] = DIFFERENCE
        # Central, as its error falls with the square of the step: one-sided differences would need a step that
        # rounding spoils.
        columns.append((function(parameters + step) - function(parameters - step)) / (2 * DIFFERENCE))
    return np.array(columns).T


def log_likelihood(samples: Sequence[Sample], value: float) -> float:
    """The normal log-likelihood at a value of the discrepancy."""
    n = sum(sample.n for sample in samples)
    saturated = sum(
        sample.n * (np.linalg.slogdet(sample.covariance)[1] + len(sample.mean) * (1 + math.log(2 * math.pi)))
        for sample in samples
    )
    return float(-(saturated + n * value) / 2)


def sample_of(rows: Floats) -> Sample:
    """Moments of participants (rows) by items (columns).

    Examples
    --------
    >>> sample_of(np.array([[1.0, 5.0], [3.0, 1.0]])).covariance.tolist()
    [[1.0, -2.0], [-2.0, 4.0]]
    """
    # Divided by n, as the normal likelihood has it; χ² is then n times the discrepancy.
    return Sample(len(rows), np.atleast_2d(np.cov(rows, rowvar=False, bias=True)), rows.mean(axis=0))


CONFIDENCE = 0.90  # of RMSEA, by convention
SMALLEST = 1e-300


@dataclass(frozen=True)
class FitIndices:
    """Test and indices of one model."""

    chi_square: float  # of the model against the saturated model
    df: int
    p: float | None  # None without degrees of freedom, where the model reproduces the data
    cfi: float
    tli: float
    rmsea: float
    # `rmsea_low`, `rmsea_high`: 90% confidence interval
    rmsea_low: float
    rmsea_high: float
    srmr: float
    is_scaled: bool  # whether χ² is scaled and shifted, as least squares of polychoric correlations need


@dataclass(frozen=True)
class ChiSquare:
    """A χ² statistic with its degrees of freedom."""

    statistic: float
    df: int


def indices(
    model: ChiSquare, baseline: ChiSquare, srmr: float, size: tuple[int, int], *, is_scaled: bool = False
) -> FitIndices:
    r"""Indices from the tests of the model and of the baseline, in which the items are uncorrelated.

    .. math::
        \mathrm{CFI} = 1 - \frac{\max(\chi^2 - df, 0)}{\max(\chi^2 - df, \chi^2_0 - df_0, 0)}, \quad
        \mathrm{RMSEA} = \sqrt{G \max\left(\frac{\chi^2 - df}{n\,df}, 0\right)}

    `size` is n and the number of groups G. Sources: Bentler (1990), Psychological Bulletin 107(2):238-246; Steiger
    (1998), Structural Equation Modeling 5(4):411-419.

    Examples
    --------
    >>> round(indices(ChiSquare(5.0, 4), ChiSquare(100.0, 6), 0.03, (200, 1)).cfi, 3)
    0.989
    """
    from scipy import special, stats

    n, groups = size
    excess, of_baseline = model.statistic - model.df, baseline.statistic - baseline.df
    worst = max(excess, of_baseline, 0.0)
    ratio = excess / model.df * baseline.df / of_baseline if model.df and of_baseline else 0.0
    tails = (1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2
    # The interval of RMSEA is that of the noncentrality at which the statistic lies at either tail (Steiger 1998).
    limits = special.chndtrinc(model.statistic, max(model.df, 1), tails)
    # Where the statistic is too small for any noncentrality to have this tail, scipy gives NaN or next to nothing.
    low, high = np.where(limits > SMALLEST, limits, 0.0).tolist()
    rmsea = [math.sqrt(groups * max(value, 0.0) / (n * max(model.df, 1))) for value in (excess, low, high)]
    if not model.df:
        rmsea = [0.0] * 3
    return FitIndices(
        chi_square=model.statistic,
        df=model.df,
        p=float(stats.chi2.sf(model.statistic, model.df)) if model.df else None,
        # Without an excess anywhere the fit is perfect, where the formula would divide 0 by 0.
        cfi=1 - max(excess, 0.0) / worst if worst and model.df else 1.0,
        tli=1 - ratio,
        rmsea=rmsea[0],
        rmsea_low=rmsea[1],
        rmsea_high=rmsea[2],
        srmr=srmr,
        is_scaled=is_scaled,
    )


def normal_fit(
    samples: Sequence[Sample],
    structures: Sequence[Structure],
    minimum: Minimum,
    *,
    n_fixed: int = 0,
    with_means: bool = False,
) -> FitIndices:
    """Indices of a model by maximum likelihood, against the one in which the variables are uncorrelated.

    The last `n_fixed` variables, such as conditions, are fixed; means count if the model restricts them.
    """
    p, n = len(samples[0].mean), sum(sample.n for sample in samples)
    n_own, independence = p - n_fixed, 0.0
    for sample in samples:
        # The baseline leaves covariances among fixed variables free: conditions are chosen by the design and not
        # explained.
        variances = np.log(np.diag(sample.covariance)[:n_own]).sum()
        fixed, whole = (np.linalg.slogdet(sample.covariance[at:, at:])[1] for at in (n_own, 0))
        independence += sample.n * float(variances + fixed - whole)
    n_moments = (p * (p + 1) - n_fixed * (n_fixed + 1)) // 2 + with_means * p
    model = ChiSquare(n * minimum.value, len(samples) * n_moments - len(minimum.parameters))
    baseline = ChiSquare(independence, len(samples) * (n_moments - n_own * (1 + with_means)))
    implied = [covariance_of(structure, minimum.parameters) for structure in structures]
    return indices(model, baseline, srmr_of(samples, implied, with_means=with_means), (n, len(samples)))


def srmr_of(samples: Sequence[Sample], implied: Sequence[tuple[Floats, Floats]], *, with_means: bool = False) -> float:
    """Standardised root mean square residual of covariances (and means), averaged over groups by their n.

    Source: Bentler (1995), EQS Structural Equations Program Manual.
    """
    total, n = 0.0, sum(sample.n for sample in samples)
    for sample, (covariance, mean) in zip(samples, implied, strict=True):
        sd = np.sqrt(np.diag(sample.covariance))
        residuals = ((sample.covariance - covariance) / np.outer(sd, sd))[np.tril_indices(len(sd))]
        if with_means:
            residuals = np.concatenate([residuals, (sample.mean - mean) / sd])
        total += sample.n / n * math.sqrt((residuals**2).mean())
    return total
