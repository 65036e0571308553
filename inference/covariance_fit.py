"""Estimates of covariance structures: maximum likelihood, and diagonally weighted least squares of correlations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from inference.covariance_models import Structure, covariance_of, moments_of
from inference.results import Floats, Undefined

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


class Discrepancy(Protocol):
    """A distance of implied from observed moments, half of it a sum of squares near its minimum."""

    def value(self, parameters: Floats) -> float:
        """The distance; infinite where the implied covariances are not positive definite."""

    def linearised(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Weighted residuals, and the weighted derivatives of the moments, shape (residuals, parameters)."""


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
                root = np.linalg.cholesky(implied)
            except np.linalg.LinAlgError:
                return math.inf
            distance = np.linalg.solve(root, sample.mean - mean)
            inner = np.linalg.solve(root, np.linalg.solve(root, sample.covariance).T)
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


def minimum_of(discrepancy: Discrepancy, start: Floats) -> Minimum | Undefined:
    """Minimise by Fisher scoring with Levenberg's damping.

    Undefined where the steps do not reach a point of zero gradient, or where the model is not identified there.
    """
    parameters, damping = start, 1e-3
    value = discrepancy.value(parameters)
    for _step in range(MOST_STEPS):
        residuals, jacobian = discrepancy.linearised(parameters)
        gradient, information = jacobian.T @ residuals, jacobian.T @ jacobian
        if np.abs(gradient).max(initial=0) < GRADIENT:
            scale = np.sqrt(np.diag(information))
            if scale.min() > 0:
                eigenvalues = np.linalg.eigvalsh(information / np.outer(scale, scale))
                if eigenvalues[0] > RELATIVE * eigenvalues[-1]:
                    return Minimum(parameters, value, jacobian, information)
            return Undefined("The model is not identified by these data.")
        while damping < MOST_DAMPING:
            ridge = damping * np.diag(np.diag(information) + LEAST_DAMPING)
            proposal = parameters + np.linalg.solve(information + ridge, gradient)
            proposed = discrepancy.value(proposal)
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
    return Sample(len(rows), np.atleast_2d(np.cov(rows, rowvar=False, bias=True)), rows.mean(axis=0))
