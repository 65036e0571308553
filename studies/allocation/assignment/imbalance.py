"""Expected imbalance between conditions, overall, by trait and within strata, and how well assignments can be guessed.

Both are simulated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from studies.allocation.assignment.methods import LEAST_FILLED, METHODS, PARTS, PERMUTED_BLOCKS, SIMPLE, Method
from studies.allocation.assignment.strata import Strata, traits_of

MOST_PARTICIPANTS = 3000
REPETITIONS = 200
TIE = 1e-9  # shares of targets that differ by less are equal

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Spread:
    """Largest difference between two conditions, summarised over the simulated studies."""

    mean: float  # mean, in participants
    high: int  # 95th percentile


@dataclass(frozen=True)
class Imbalance:
    """Expected imbalance of one assignment method.

    Source of the guesser: Blackwell & Hodges (1957), Annals of Mathematical Statistics 28(2):449-460.
    """

    # `n_participants`, `repetitions`: planned participants, and number of simulated studies
    n_participants: int
    repetitions: int
    # share of assignments guessed right by an observer who has seen all earlier ones and always names the condition
    # furthest from its target, overall or within the stratum, whichever is right more often
    guessed: float
    # `halfway`, `full`: over all participants, when half of them and when all of them are enrolled. In a full study
    # every condition is at its target, so `full` is the difference between the targets.
    halfway: Spread
    full: Spread
    # `trait_halfway`, `trait_full`: the same among participants who share a trait (women, or one age band), for the
    # most uneven trait
    trait_halfway: Spread
    trait_full: Spread
    # `within_halfway`, `within_full`: the same within a stratum, for the most uneven stratum
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
    """Simulate studies without dropout, and measure the imbalance between conditions.

    The targets are at least 1, and 3,000 in total at most. `shares` are those of the unmerged strata, normalised to sum
    to 1; `merged` has the merged names of sparse ones (`Strata.merged`). All randomness comes from `rng`. All studies
    are simulated in parallel, one participant at a time; drawing from the remaining slots of a block is equivalent to
    following its random order. Raises ParameterError for too few conditions, a target below 1, too many participants,
    or no stratum.

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
    simulation = _Simulation(method, goal, list(shares), merged or {}, repetitions, rng=rng)
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
    return Imbalance(n, repetitions, float(simulation.guessed.max() / (n * repetitions)), *spreads)


def _check(targets: Sequence[int], shares: Mapping[str, float], repetitions: int) -> None:
    if len(targets) < 2 or min(targets) < 1:
        raise ParameterError(f"The simulation needs two or more conditions, each with a target; got {list(targets)}.")
    if sum(targets) > MOST_PARTICIPANTS:
        raise ParameterError(
            f"The imbalance is simulated for up to {MOST_PARTICIPANTS:,} participants; {sum(targets):,} are planned."
        )
    if not shares or min(shares.values()) < 0 or not sum(shares.values()) > 0 or repetitions < 1:
        raise ParameterError("The simulation needs the expected share of each stratum and at least one repetition.")


def _spread(counts: Counts) -> Spread:
    """Summarise the largest difference within each study, over all groups of participants."""
    largest = (counts.max(axis=2) - counts.min(axis=2)).max(axis=1)
    return Spread(float(largest.mean()), int(np.quantile(largest, 0.95, method="inverted_cdf")))


def _groups(labels: Sequence[Sequence[object]]) -> Counts:
    """Return an indicator matrix: one row per label, 1 for each stratum with that label."""
    every = list(dict.fromkeys(label for own in labels for label in own))
    return np.array([[label in own for own in labels] for label in every], dtype=np.int64)


class _Simulation:
    """The simulated studies; `counts` and `left` have shape (repetitions, strata or merged strata, conditions)."""

    def __init__(
        self,
        method: Method,
        targets: Counts,
        names: Sequence[str],
        merged: Mapping[str, str],
        repetitions: int,
        *,
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
        # For each stratum and margin, which strata share the trait; the last margin covers all participants.
        margins = np.concatenate([self.traits, self.all])
        self.guessed = np.zeros(2)  # expected right guesses by the counts of all participants, and of the stratum
        self.alike = np.stack([margins[margins[:, stratum] == 1] for stratum in range(len(names))])

    def join(self, arriving: Counts) -> None:
        """Add one participant of the stratum `arriving` to each study."""
        is_open = self.counts.sum(axis=1) < self.targets
        chosen = self.choose(arriving)
        in_block = self.blocks[self.block_of[arriving]]  # which strata are merged with that of the participant
        for row, counts in enumerate((self.counts.sum(axis=1), np.einsum("rs,rsk->rk", in_block, self.counts))):
            emptiest = _lowest(counts / self.targets, is_open)  # the guesser draws one of them
            self.guessed[row] += (emptiest[self.every, chosen] / emptiest.sum(axis=1)).sum()
        self.counts[self.every, arriving, chosen] += 1

    def choose(self, arriving: Counts) -> Counts:
        is_open = self.counts.sum(axis=1) < self.targets
        if self.method.name == PERMUTED_BLOCKS:
            return self._from_block(arriving, is_open)
        if self.method.name == SIMPLE:
            return self._random_condition(is_open)
        if self.method.name == LEAST_FILLED:
            filled = self.counts.sum(axis=1) / self.targets
            return self._random_condition(_lowest(filled, is_open))
        return self._minimised(arriving, is_open)

    def _random_condition(self, candidates: NDArray[np.bool_]) -> Counts:
        chosen: Counts = np.where(candidates, self.rng.random(candidates.shape), -1.0).argmax(axis=1)
        return chosen

    def _from_block(self, arriving: Counts, is_open: NDArray[np.bool_]) -> Counts:
        block = self.block_of[arriving]
        left = self.left[self.every, block]
        is_spent = ~((left > 0) & is_open).any(axis=1)
        multiples = np.asarray(self.method.multiples)
        fresh = multiples[self.rng.integers(len(multiples), size=len(left))]
        left = np.where(is_spent[:, None], fresh[:, None] * self.weights, left)
        # Slots of full conditions are skipped, so only open conditions are drawn.
        weight = np.where(is_open, left, 0)
        cut = self.rng.random(len(left)) * weight.sum(axis=1)
        chosen: Counts = (np.cumsum(weight, axis=1) <= cut[:, None]).sum(axis=1)
        left[self.every, chosen] -= 1
        self.left[self.every, block] = left
        return chosen

    def _minimised(self, arriving: Counts, is_open: NDArray[np.bool_]) -> Counts:
        margins = np.einsum("rms,rsk->rmk", self.alike[arriving], self.counts)
        unit = self.targets.max() / self.targets
        counts = margins * unit
        total, squares = counts.sum(axis=2, keepdims=True), np.square(counts).sum(axis=2, keepdims=True)
        joined = len(unit) * (squares + 2 * unit * counts + unit**2) - (total + unit) ** 2
        best = self._random_condition(_lowest(joined.sum(axis=1), is_open))
        alternatives = is_open.copy()
        alternatives[self.every, best] = False
        is_alternative = (
            self.rng.random(len(best)) >= round(self.method.probability * PARTS) / PARTS
        ) & alternatives.any(axis=1)
        chosen: Counts = np.where(is_alternative, self._random_condition(alternatives), best)
        return chosen


def _lowest(values: NDArray[np.float64], is_open: NDArray[np.bool_]) -> NDArray[np.bool_]:
    open_values = np.where(is_open, values, np.inf)
    lowest: NDArray[np.bool_] = is_open & (open_values <= open_values.min(axis=1, keepdims=True) + TIE)
    return lowest


def of_every_method(
    targets: Sequence[int], chosen: Method, strata: Strata, *, seed: int, repetitions: int = REPETITIONS
) -> dict[str, Imbalance]:
    """Simulate the expected imbalance of every method for one design, with the same arrivals.

    The parameters of `chosen` hold for the other methods too. The same seed and design give the same numbers. The
    result is in the order of `METHODS`.

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
