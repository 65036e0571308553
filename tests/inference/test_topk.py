from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DataError, ParameterError
from inference.topk import top_overlap

NAMES = ("A", "B", "C", "D", "E")


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_chance_level_is_counted_over_all_orders(k: int) -> None:
    overlaps = [top_overlap(NAMES, order, k).overlap for order in permutations(NAMES)]
    one = top_overlap(NAMES, ("B", "A", "E", "D", "C"), k)
    assert one.expected_by_chance == pytest.approx(sum(overlaps) / len(overlaps))
    assert one.p == pytest.approx(sum(found >= one.overlap for found in overlaps) / len(overlaps))


@given(st.permutations(NAMES), st.permutations(NAMES), st.integers(1, 5))
def test_it_does_not_matter_which_ranking_comes_first(a: list[str], b: list[str], k: int) -> None:
    assert top_overlap(a, b, k) == top_overlap(b, a, k)
    assert top_overlap(a, a, k).share == 1


def test_other_names_and_depths_are_refused() -> None:
    with pytest.raises(DataError, match="same names"):
        top_overlap(["A"], ["B"], 1)
    with pytest.raises(DataError, match="once"):
        top_overlap(["A", "A"], ["A", "A"], 1)
    with pytest.raises(ParameterError, match="choose 1 to 2"):
        top_overlap(["A", "B"], ["B", "A"], 3)
