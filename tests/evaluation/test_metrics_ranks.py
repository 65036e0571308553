"""Where relevant items stand in lists."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import DataError
from evaluation.metrics.ranks import Ranks

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("arrays", "sizes", "message"),
    [
        (([0], [1, 2], [1.0]), {"n_listed": [5]}, "1 users, 2 ranks and 1 gains"),
        (([1, 0], [1, 1], [1, 1]), {"n_listed": [5, 5]}, "ascend"),
        (([2], [1], [1]), {"n_listed": [5, 5]}, "between 0 and 1"),
        (([0], [-1], [1]), {"n_listed": [5]}, "below 0"),
        (([0], [6], [1]), {"n_listed": [5]}, "beyond the end"),
        (([0], [1], [0]), {"n_listed": [5]}, "positive number"),
        (([0], [1], [np.inf]), {"n_listed": [5]}, "positive number"),
        (([0], [1], [1]), {"n_listed": [5], "n_candidates": [9, 9]}, "2 numbers of candidates for 1 users"),
        (([0], [1], [1]), {"n_listed": [5], "n_candidates": [4]}, "fewer candidates"),
    ],
)
def test_ranks_that_cannot_be_are_refused(arrays, sizes, message):
    with pytest.raises(DataError, match=message):
        Ranks.of(*arrays, **sizes)
