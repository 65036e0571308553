"""Pairs side by side: each at every position and on both sides equally often, in every design there is."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest

from core.errors import ParameterError
from studies.allocation.assignment.sequences import pair_sequences

pytestmark = pytest.mark.unit

DESIGNS = [(k, n) for k in (2, 3, 4) for n in range(1, k * (k - 1) // 2 + 1)]


@pytest.mark.parametrize(("k", "n"), DESIGNS)
def test_every_pair_is_equally_often_at_each_position_and_side(k: int, n: int) -> None:
    sequences = pair_sequences(k, n)
    assert len(sequences) == len(set(sequences)) == k * (k - 1)
    assert {len(occasions) for occasions in sequences} == {n}
    for at_position in zip(*sequences, strict=True):
        assert Counter(at_position) == dict.fromkeys(permutations(range(k), 2), 1)


@pytest.mark.parametrize(("k", "n"), DESIGNS)
def test_no_participant_compares_a_pair_twice(k: int, n: int) -> None:
    for occasions in pair_sequences(k, n):
        assert len({frozenset(pair) for pair in occasions}) == n


@pytest.mark.parametrize("k", [2, 3, 4])
def test_each_participant_compares_all_pairs_unless_fewer_are_wanted(k: int) -> None:
    assert pair_sequences(k) == pair_sequences(k, k * (k - 1) // 2)
    for occasions in pair_sequences(k):
        assert {frozenset(pair) for pair in occasions} == {frozenset(pair) for pair in combinations(range(k), 2)}


@pytest.mark.parametrize("k", [3, 4])
def test_sides_of_a_condition_differ_by_one_at_most_for_each_participant(k: int) -> None:
    for occasions in pair_sequences(k):
        sides = Counter((condition, side) for pair in occasions for side, condition in enumerate(pair))
        assert all(abs(sides[condition, 0] - sides[condition, 1]) <= (k - 1) % 2 for condition in range(k))


@pytest.mark.parametrize(("k", "n"), DESIGNS)
def test_turning_all_pairs_round_is_another_sequence_of_the_same_design(k: int, n: int) -> None:
    sequences = set(pair_sequences(k, n))
    assert {tuple(pair[::-1] for pair in occasions) for occasions in sequences} == sequences


@pytest.mark.parametrize(
    ("k", "pairs_each", "problem"),
    [
        (1, None, "2 to 4 conditions are compared side by side; got 1"),
        (5, None, "got 5"),
        (3, 0, "3 conditions have 3 pairs to compare; got 0"),
        (3, 4, "got 4 for each"),
    ],
)
def test_other_designs_are_refused(k: int, pairs_each: int | None, problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        pair_sequences(k, pairs_each)
