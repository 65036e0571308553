"""Labels that do not lie on each other."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charting.labels import corners, spread

pytestmark = pytest.mark.unit
positions = st.lists(st.floats(-5, 5), max_size=12)


@given(positions, st.floats(0, 2))
def test_spread_keeps_gap_order_and_mean(wished: list[float], gap: float) -> None:
    moved = spread(wished, gap)
    ranked = sorted(range(len(wished)), key=lambda index: (wished[index], index))
    for one, other in itertools.pairwise(ranked):
        assert moved[other] - moved[one] >= gap - 1e-9
    assert math.isclose(math.fsum(moved), math.fsum(wished), abs_tol=1e-6)


def test_spread_leaves_room_alone() -> None:
    assert spread([5.0, 1.0, 3.0], gap=1.0) == [5.0, 1.0, 3.0]


def test_corners_of_two_close_points_differ() -> None:
    chosen = corners([(0.5, 0.5), (0.52, 0.5)], [["AsySVD"], ["NNCosNgr"]], width=300, height=300)
    assert chosen[0] != chosen[1]


def test_corner_at_the_top_edge_is_a_lower_one() -> None:
    assert corners([(0.5, 1.0)], [["LSA"]], width=300, height=300) == ["lower right"]
