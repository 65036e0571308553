"""How uneven conditions are expected to be, by simulation: overall, and within strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from studies.assignment.methods import LEAST_FILLED, METHODS, PERMUTED_BLOCKS, SIMPLE, Method
from studies.assignment.minimisation import PARTS
from studies.assignment.strata import Strata
from studies.assignment.traits import traits_of

MOST_PARTICIPANTS = 3000
REPETITIONS = 200
TIE = 1e-9  # shares of targets that differ by less are equal

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Spread:
    """The largest difference between two conditions, over the simulated studies.

    Parameters
    ----------
    mean : float
        Its mean, in participants.
    high : int
        What 95 of 100 studies do not exceed.
    """

    mean: float
    high: int


@dataclass(frozen=True)
class Imbalance:
    """What to expect of one method.

    Parameters
    ----------
    n_participants, repetitions : int
        The planned number, and how many studies were simulated.
    halfway, full : Spread
        Over all participants when half of them, and all of them, have come. Once the study is full every
        condition stands at its target, so `full` is the difference of the targets.
    trait_halfway, trait_full : Spread
        The same among those who share a trait (women, or one age band), where it is largest.
    within_halfway, within_full : Spread
        The same within the stratum where it is largest.
    """

    n_participants: int
    repetitions: int
    halfway: Spread
    full: Spread
    trait_halfway: Spread
    trait_full: Spread
    within_halfway: Spread
    within_full: Spread


def expected_imbalance(
    method: Method,
    targets: Sequence[int],
    shares: Mapping[str, float],
    *,
    rng: np.random.Generator,
    merged: Mapping[str, str] | None = None,
    repetitions: int = REPETITIONS,
) -> Imbalance:
    """Simulate studies in which nobody leaves, and measure how far conditions come apart.

    Parameters
    ----------
    method : Method
        The method.
    targets : sequence of int
        Participants each condition is to have, >= 1; together at most 3,000.
    shares : mapping of str to float
        Expected share of each unmerged stratum, taken in proportion.
    rng : numpy.random.Generator
        The only source of randomness.
    merged : mapping of str to str, optional
        The names that sparse strata go by; see `studies.assignment.strata.Strata.merged`.
    repetitions : int
        Studies to simulate, >= 1.

    Returns
    -------
    Imbalance

    Raises
    ------
    ParameterError
        Too few conditions, a target below 1, too many participants, or no stratum.

    Notes
    -----
    Every simulated study moves one participant on at a time, all of them together. Drawing from what is left of
    a block is the same as walking along its drawn order.

    Examples
    --------
    >>> expected_imbalance(Method(), [6, 6], {"all": 1.0}, rng=np.random.default_rng(1)).halfway.mean
    0.0
    """
    _check(targets, shares, repetitions)
    goal = np.asarray(targets, dtype=np.int64)
    n = int(goal.sum())
    share = np.array(list(shares.values()), dtype=np.float64)
    arrivals = rng.choice(len(share), size=(n, repetitions), p=share / share.sum())
    simulation = _Simulation(method, goal, list(shares), merged or {}, repetitions, rng)
    halfway = simulation.counts
    for number, arriving in enumerate(arrivals, start=1):
        simulation.join(arriving)
        if number == (n + 1) // 2:
            halfway = simulation.counts.copy()
    spreads = [
        _spread(np.einsum("gs,rsk->rgk", groups, counts))
        for groups in (simulation.all, simulation.traits, simulation.blocks)
        for counts in (halfway, simulation.counts)
    ]
    return Imbalance(n, repetitions, *spreads)


def _check(targets: Sequence[int], shares: Mapping[str, float], repetitions: int) -> None:
    if len(targets) < 2 or min(targets) < 1:
        raise ParameterError(f"A simulation needs two conditions or more, each with a target; got {list(targets)}.")
    if sum(targets) > MOST_PARTICIPANTS:
        raise ParameterError(
            f"The imbalance is simulated for up to {MOST_PARTICIPANTS:,} participants; {sum(targets):,} are planned."
        )
    if not shares or min(shares.values()) < 0 or not sum(shares.values()) > 0 or repetitions < 1:
        raise ParameterError("A simulation needs the expected share of each stratum, and one repetition or more.")


def _spread(counts: Counts) -> Spread:
    """Take the largest difference within each study, in the group of participants where it is largest."""
    largest = (counts.max(axis=2) - counts.min(axis=2)).max(axis=1)
    return Spread(float(largest.mean()), int(np.quantile(largest, 0.95, method="inverted_cdf")))


def _groups(labels: Sequence[Sequence[object]]) -> Counts:
    """Make a row a label, with 1 for each stratum that bears it."""
    every = list(dict.fromkeys(label for own in labels for label in own))
    return np.array([[label in own for own in labels] for label in every], dtype=np.int64)


class _Simulation:
    """All simulated studies: `counts` and `left` of shape (repetitions, strata or merged strata, conditions)."""

    def __init__(
        self,
        method: Method,
        targets: Counts,
        names: Sequence[str],
        merged: Mapping[str, str],
        repetitions: int,
        rng: np.random.Generator,
    ) -> None:
        self.method, self.targets, self.rng = method, targets, rng
        self.weights = np.asarray(method.weights or [1] * len(targets), dtype=np.int64)
        self.every = np.arange(repetitions)
        self.counts: Counts = np.zeros((repetitions, len(names), len(targets)), dtype=np.int64)
        traits = [list(enumerate(traits_of(name))) for name in names]
        self.all, self.traits = _groups([["all"]] * len(names)), _groups(traits)
        self.blocks = _groups([[merged.get(name, name)] for name in names])
        self.block_of = self.blocks.argmax(axis=0)
        self.left: Counts = np.zeros((repetitions, len(self.blocks), len(targets)), dtype=np.int64)
        # For each stratum and margin, which strata share the trait; the last margin is everybody.
        margins = np.concatenate([self.traits, self.all])
        self.alike = np.stack([margins[margins[:, stratum] == 1] for stratum in range(len(names))])

    def join(self, arriving: Counts) -> None:
        """Let one newcomer of the stratum `arriving` join each study."""
        self.counts[self.every, arriving, self.choose(arriving)] += 1

    def choose(self, arriving: Counts) -> Counts:
        """Return the condition that each study gives to the newcomer of the stratum `arriving`."""
        is_open = self.counts.sum(axis=1) < self.targets
        if self.method.name == PERMUTED_BLOCKS:
            return self._from_block(arriving, is_open)
        if self.method.name == SIMPLE:
            return self._drawn(is_open)
        if self.method.name == LEAST_FILLED:
            filled = self.counts.sum(axis=1) / self.targets
            return self._drawn(_lowest(filled, is_open))
        return self._minimised(arriving, is_open)

    def _drawn(self, among: NDArray[np.bool_]) -> Counts:
        """Draw one of the conditions that are True in each row, each equally likely."""
        chosen: Counts = np.where(among, self.rng.random(among.shape), -1.0).argmax(axis=1)
        return chosen

    def _from_block(self, arriving: Counts, is_open: NDArray[np.bool_]) -> Counts:
        block = self.block_of[arriving]
        left = self.left[self.every, block]
        is_spent = ~((left > 0) & is_open).any(axis=1)
        multiples = np.asarray(self.method.multiples)
        fresh = multiples[self.rng.integers(len(multiples), size=len(left))]
        left = np.where(is_spent[:, None], fresh[:, None] * self.weights, left)
        # Every slot of a full condition is passed over, so only open ones are drawn from.
        weight = np.where(is_open, left, 0)
        drawn = self.rng.random(len(left)) * weight.sum(axis=1)
        chosen: Counts = (np.cumsum(weight, axis=1) <= drawn[:, None]).sum(axis=1)
        left[self.every, chosen] -= 1
        self.left[self.every, block] = left
        return chosen

    def _minimised(self, arriving: Counts, is_open: NDArray[np.bool_]) -> Counts:
        margins = np.einsum("rms,rsk->rmk", self.alike[arriving], self.counts)
        unit = self.targets.max() / self.targets
        counts = margins * unit
        total, squares = counts.sum(axis=2, keepdims=True), np.square(counts).sum(axis=2, keepdims=True)
        joined = len(unit) * (squares + 2 * unit * counts + unit**2) - (total + unit) ** 2
        best = self._drawn(_lowest(joined.sum(axis=1), is_open))
        others = is_open.copy()
        others[self.every, best] = False
        is_other = (self.rng.random(len(best)) >= round(self.method.probability * PARTS) / PARTS) & others.any(axis=1)
        chosen: Counts = np.where(is_other, self._drawn(others), best)
        return chosen


def _lowest(values: NDArray[np.float64], is_open: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the open conditions whose value is lowest, ties with it too."""
    held = np.where(is_open, values, np.inf)
    lowest: NDArray[np.bool_] = is_open & (held <= held.min(axis=1, keepdims=True) + TIE)
    return lowest


def of_every_method(
    targets: Sequence[int], chosen: Method, strata: Strata, *, seed: int, repetitions: int = REPETITIONS
) -> dict[str, Imbalance]:
    """What to expect of each method for one design, all from the same simulated arrivals.

    Parameters
    ----------
    targets : sequence of int
        Participants each condition is to have.
    chosen : Method
        The design's method; its parameters serve the others.
    strata : Strata
        The design's strata and their expected shares.
    seed : int
        The same design gives the same numbers.
    repetitions : int
        Studies to simulate.

    Returns
    -------
    dict of str to Imbalance
        In the order of `METHODS`.

    Examples
    --------
    >>> list(of_every_method([4, 4], Method(), Strata((), {}), seed=1, repetitions=20))
    ['permuted_blocks', 'minimisation', 'least_filled', 'simple']
    """
    return {
        name: expected_imbalance(
            replace(chosen, name=name),
            targets,
            strata.expected(),
            rng=np.random.default_rng(seed),
            merged=strata.merged(),
            repetitions=repetitions,
        )
        for name in METHODS
    }
