"""Tempered EM for the aspect model: counts of pairs explained by a few latent classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from core.errors import ParameterError
from recommenders.data import Floats
from recommenders.holdout import draw_flags, split
from recommenders.memory import singular_bytes, sparse_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter
from recommenders.progress import Progress, no_progress, within
from recommenders.singular import right_singular_vectors

# Pairs worked on at a time; the two arrays of pairs × classes this takes stay in the processor's cache.
BLOCK_PAIRS = 1 << 12
# Rows folded in at a time.
BLOCK_ROWS = 256
# The free energy counts as risen when it rises by more than this share of itself.
NOTICEABLE = 1e-5
# Steps in a row that may fail to do so before beta is lowered, and lowerings in a row before that ends. Not the
# first: at a beta a little below 1 a model that has begun to learn by heart seldom gets better at once.
PATIENCE = 5
# What the search for the temperature takes of the whole, and the start of either half, about; only the progress
# is told by them.
SEARCH_WORK = 0.6
START_WORK = 0.05


@dataclass(frozen=True, eq=False)
class Aspects:
    """The two sides of an aspect model."""

    classes_of_row: Floats  # shape (n_rows, n_classes); P(z|p): each row adds up to 1
    columns_of_class: Floats  # shape (n_columns, n_classes); P(m|z): each column of the array adds up to 1
    n_steps: int = 0  # steps of EM that led here


@dataclass(frozen=True)
class AspectParameters(Parameters):
    """Parameters that both aspect models have, each with its own words and defaults where they differ."""

    classes: int = parameter(20, description="Number of latent classes; at most min(users, items).", minimum=1)
    iterations: int = parameter(200, description="Steps of EM at most.", minimum=1)
    held_out: float = parameter(
        0.1,
        description="Share of pairs that decides on steps and temperature; 0 for all steps untempered.",
        minimum=0.0,
        maximum=0.5,
    )
    cooling: float = parameter(
        0.9, description="What beta is multiplied by when it is lowered.", minimum=0.01, maximum=0.99
    )
    fold_iterations: int = parameter(30, description="Steps of EM that fold a profile in.", minimum=1)
    positive_from: float = positive_from_parameter()


def learning_bytes(n_rows: int, n_columns: int, n_pairs: int, n_classes: int) -> int:
    """What `learn` takes of memory, the counts it is given apart."""
    sides = 8 * 7 * n_classes * (n_rows + n_columns)
    held_apart = 2 * sparse_bytes(n_rows, n_pairs) + 24 * n_pairs
    start_or_steps = max(sides, singular_bytes(n_rows, n_columns, n_pairs, n_classes))
    return held_apart + start_or_steps + 16 * BLOCK_PAIRS * n_classes


def start(
    counts: sparse.csr_array, n_classes: int, rng: np.random.Generator, progress: Progress = no_progress
) -> Aspects:
    """Begin with classes that lean to what the leading singular vectors tell apart.

    Each class is half the distribution of all columns, half the heavier-signed side of one right singular vector of the
    counts; every row belongs to all classes alike. Nothing here depends on how rows and columns are numbered. Raises
    ParameterError when there are more classes than rows or columns: as many explain any table of counts completely.

    `counts`: sparse float array, shape (n_rows, n_columns); n(p, m), >= 0.
    """
    most = min(counts.shape)
    if n_classes > most:
        raise ParameterError(
            f"{n_classes} classes are more than the data can tell apart: the maximum is {most}, the smaller "
            "side of the table of counts."
        )
    vectors = right_singular_vectors(counts, n_classes, rng, what="rows, columns", progress=progress)
    sides = np.maximum(vectors, 0.0), np.maximum(-vectors, 0.0)
    is_first = (sides[0] ** 2).sum(axis=0) >= (sides[1] ** 2).sum(axis=0)
    lean = _shares(np.where(is_first, *sides), axis=0)
    overall = _shares(np.asarray(counts.sum(axis=0)), axis=0)[:, np.newaxis]
    columns_of_class = _shares(overall + lean * (overall > 0), axis=0)
    return Aspects(np.full((counts.shape[0], n_classes), 1.0 / n_classes), columns_of_class)


def step(counts: sparse.csr_array, now: Aspects, beta: float) -> Aspects:
    r"""One step of tempered EM.

    .. math::
        E: P(z|p,m) \propto [P(z|p) P(m|z)]^\beta \qquad
        M: P(z|p) \propto \sum_m n(p,m) P(z|p,m), \quad P(m|z) \propto \sum_p n(p,m) P(z|p,m)

    A row without counts keeps its classes. `beta` is in (0, 1]; 1 is plain EM. Source: Hofmann (2001), Machine Learning
    42:177-196.
    """
    left, right = now.classes_of_row**beta, now.columns_of_class**beta
    # The counts over the model's weight of their pairs; 0 for pairs that it holds impossible.
    totals = _totals(counts, left, right)
    quotients = np.divide(counts.data, totals, out=np.zeros_like(totals), where=totals > 0)
    ratios = sparse.csr_array((quotients, counts.indices, counts.indptr), shape=counts.shape)
    rows = left * np.asarray(ratios @ right)
    columns = right * np.asarray(ratios.T @ left)
    classes_of_row = _shares(rows, axis=1, otherwise=now.classes_of_row)
    return Aspects(classes_of_row, _shares(columns, axis=0), now.n_steps + 1)


def fold_in(
    counts: sparse.csr_array, columns_of_class: Floats, beta: float, iterations: int, progress: Progress = no_progress
) -> Floats:
    """P(z|p) of rows that took no part in the learning, by the same steps with P(m|z) held fixed.

    `counts`: sparse float64 array, shape (n_rows, n_columns); columns that no class gives a probability are passed
    over. `columns_of_class`: float64 array, shape (n_columns, n_classes); P(m|z). `beta`: the inverse temperature, > 0
    and at most 1. Returns a float64 array, shape (n_rows, n_classes): each row adds up to 1; rows without evidence
    belong to all classes alike.
    """
    right = columns_of_class**beta
    folded = np.empty((counts.shape[0], right.shape[1]))
    for first in range(0, counts.shape[0], BLOCK_ROWS):
        rows = slice(first, first + BLOCK_ROWS)
        progress(first / counts.shape[0], f"Folding in {counts.shape[0]:,} rows")
        folded[rows] = _fold_block(sparse.csr_array(counts[rows]), right, beta, iterations)
    return folded


def _fold_block(counts: sparse.csr_array, right: Floats, beta: float, iterations: int) -> Floats:
    """Fold in rows few enough that the classes of all their pairs fit into memory."""
    owner = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    of_pair = right.take(counts.indices, axis=0, mode="clip")
    # Row by pair; its entries are the ratios of the step at hand.
    parts = (np.zeros(counts.nnz), np.arange(counts.nnz), counts.indptr)
    ratios = sparse.csr_array(parts, shape=(counts.shape[0], counts.nnz))
    even = np.full((counts.shape[0], right.shape[1]), 1.0 / right.shape[1])
    mixture = even
    for _ in range(iterations):
        left = mixture**beta
        totals = np.einsum("nz,nz->n", left.take(owner, axis=0, mode="clip"), of_pair)
        ratios.data[:] = 0.0
        np.divide(counts.data, totals, out=ratios.data, where=totals > 0)
        mixture = _shares(left * np.asarray(ratios @ of_pair), axis=1, otherwise=even)
    return mixture


def free_energy(counts: sparse.csr_array, now: Aspects, beta: float) -> float:
    r"""What a step at this beta never lowers; at beta 1 the log likelihood of the columns, given the rows.

    .. math:: \sum_{p,m} n(p,m) \log \sum_z [P(z|p) P(m|z)]^\beta

    It is the negative of Hofmann's free energy, with the classes at their best for the given probabilities.
    Pairs the model holds impossible are passed over.

    The result is in nats.
    """
    totals = _totals(counts, now.classes_of_row**beta, now.columns_of_class**beta)
    is_possible = totals > 0
    return float(counts.data[is_possible] @ np.log(totals[is_possible]))


def learn(
    counts: sparse.csr_array,
    params: AspectParameters,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> tuple[Aspects, float]:
    """Learn an aspect model; with held-out pairs, cool it for as long as that helps to foretell them.

    Steps are taken at beta 1 until the held-out likelihood no longer rises, then beta is lowered and steps are taken at
    the new one from the best so far, until several lowerings in a row do not help. The steps that led to the best are
    then taken once more, from the start, on all pairs. Returns the model, and the last beta.

    `counts`: sparse float64 array, shape (n_rows, n_columns); counts of pairs, > 0 where stored.
    """
    n_held = int(params.held_out * counts.nnz)
    betas = [1.0] * params.iterations
    searched = SEARCH_WORK if n_held else 0.0
    if n_held:
        is_held = draw_flags(counts.nnz, params.held_out, rng)
        training, held_out = split(counts, is_held)
        betas = _schedule(training, held_out, params, rng=rng, progress=within(progress, 0.0, searched))
    rest = within(progress, searched, 1.0)
    now = start(counts, params.classes, rng, within(rest, 0.0, START_WORK))
    steps = within(rest, START_WORK, 1.0)
    for number, beta in enumerate(betas):
        steps(number / len(betas), f"Step {number + 1} of {len(betas)} on all pairs")
        now = step(counts, now, beta)
    return now, betas[-1]


def _schedule(
    training: sparse.csr_array,
    held_out: sparse.csr_array,
    params: AspectParameters,
    *,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> list[float]:
    """Return the beta of every step on the way to the highest likelihood of the held-out pairs."""
    first = start(training, params.classes, rng, within(progress, 0.0, START_WORK))
    steps = within(progress, START_WORK, 1.0)
    best, betas, highest = first, list[float](), -np.inf
    now, tried, beta, failures = best, list[float](), 1.0, 0
    for number in range(params.iterations):
        what = f"Step {number + 1} of at most {params.iterations} to find the temperature"
        steps(number / params.iterations, what)
        now = step(training, now, beta)
        tried.append(beta)
        reached = free_energy(held_out, now, 1.0)
        if reached - highest > NOTICEABLE * abs(reached):
            best, betas, highest = now, betas + tried, reached
            tried, failures = [], 0
        elif len(tried) == PATIENCE:
            if failures == PATIENCE:
                break
            now, tried, beta, failures = best, [], beta * params.cooling, failures + 1
    return betas


def _totals(counts: sparse.csr_array, left: Floats, right: Floats) -> Floats:
    """Return the product of the two sides, summed over classes, at the stored pairs only."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    totals = np.empty(counts.nnz)
    for first in range(0, counts.nnz, BLOCK_PAIRS):
        part = slice(first, first + BLOCK_PAIRS)
        # "clip" spares a check of every number; none is out of range.
        of_rows = left.take(rows[part], axis=0, mode="clip")
        of_columns = right.take(counts.indices[part], axis=0, mode="clip")
        np.einsum("nz,nz->n", of_rows, of_columns, out=totals[part])
    return totals


def _shares(weights: Floats, *, axis: int, otherwise: Floats | float = 0.0) -> Floats:
    """Return weights brought to sum 1 along an axis, and something else where they are all 0."""
    totals = weights.sum(axis=axis, keepdims=True)
    is_some = totals > 0
    return np.asarray(np.where(is_some, weights / np.where(is_some, totals, 1.0), otherwise))
