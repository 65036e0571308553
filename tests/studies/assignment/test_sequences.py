"""Williams squares: every condition at every place, and after every other one, equally often."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ParameterError
from studies.allocation.assignment.sequences import williams_square

pytestmark = pytest.mark.unit

numbers = st.integers(2, 6)


@given(numbers)
def test_every_sequence_has_every_condition_once_and_no_sequence_is_twice(k: int) -> None:
    square = williams_square(k)
    assert [sorted(row) for row in square] == [list(range(k))] * len(square)
    assert len(set(square)) == len(square) == (k if k % 2 == 0 else 2 * k)


@given(numbers)
def test_every_condition_is_equally_often_at_each_place(k: int) -> None:
    square = williams_square(k)
    assert all(Counter(column) == dict.fromkeys(range(k), len(square) // k) for column in zip(*square, strict=True))


@given(numbers)
def test_every_condition_follows_every_other_equally_often(k: int) -> None:
    square = williams_square(k)
    following = Counter(pair for row in square for pair in pairwise(row))
    assert following == dict.fromkeys(permutations(range(k), 2), len(square) // k)


def test_four_conditions_have_one_sequence_and_its_shifts() -> None:
    assert williams_square(4) == ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))


@pytest.mark.parametrize("k", [-1, 0, 1, 7])
def test_other_numbers_of_conditions_are_refused(k: int) -> None:
    with pytest.raises(ParameterError, match=f"2 to 6 conditions in turn; got {k}"):
        williams_square(k)
