"""Means and covariances that a linear model of latent variables implies, with their derivatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from inference.results import Floats

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
                change = np.outer(effects[:, row], effects[:, column]) / (2 if row == column else 1)
            case "residuals":
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
