from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recommenders.data import Profiles, Scale
from recommenders.positives import positives

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("scale", "positive_from", "expected"),
    [
        (Scale(1, 5, 1), 4.0, [0, 0, 0, 1, 1]),
        (Scale(1, 5, 1), 3.5, [0, 0, 0, 1, 1]),
        (Scale(1, 5, 1), 1.0, [1, 1, 1, 1, 1]),
        (Scale(1, 5, 1), 5.0, [0, 0, 0, 0, 1]),
        (Scale(1, 9, 1), 4.0, [0, 0, 0, 0, 0, 0, 1, 1, 1]),  # three quarters of the way: 7
        (Scale(0.5, 5, 0.5), 4.0, [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]),  # 3.875, so 4
    ],
)
def test_positive_ratings_are_the_same_place_on_every_scale(scale, positive_from, expected):
    points = np.arange(scale.low, scale.high + scale.step / 2, scale.step, dtype=np.float32)
    found = positives(sparse.csr_array(points[np.newaxis]), scale, positive_from)
    assert found.toarray()[0].tolist() == expected
    assert found.nnz == sum(expected)


def test_every_interaction_of_usage_data_is_positive():
    usage = sparse.csr_array(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    assert positives(usage, Scale(1, 1, 1), 5.0).toarray().tolist() == [[1, 0, 1], [0, 0, 0]]


def test_rounding_of_a_mapped_profile_does_not_lose_a_positive_rating():
    seven_of_nine = Profiles.single([0, 1], [7.0, 6.0], 2, Scale(1, 9, 1)).on(Scale(0.1, 0.9, 0.1))
    assert positives(seven_of_nine.user_items, seven_of_nine.scale, 4.0).toarray().tolist() == [[1, 0]]
