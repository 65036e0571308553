"""Ids as indices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.importers.ids import codes_among, ordered_ids

pytestmark = pytest.mark.unit


@settings(deadline=None)
@given(st.lists(st.integers(-5, 60_000_000) | st.integers(0, 20), min_size=1, max_size=20))
def test_ordered_ids_of_numbers_are_in_order_of_number(ids):
    distinct, codes = ordered_ids(np.array(ids, dtype=np.int64))
    assert distinct.tolist() == [str(one) for one in sorted(set(ids))]
    assert [int(distinct[code]) for code in codes] == ids
    assert codes.dtype == np.int32


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["10", "9", "10", "0"], ["0", "9", "10"]),
        (["10", "9", "09"], ["09", "10", "9"]),  # 09 is no plain number, so all are text
        (["b", "a", "B"], ["B", "a", "b"]),
        (["²", "1"], ["1", "²"]),
        ([], []),
    ],
)
def test_ordered_ids_of_text_are_in_order_of_number_where_all_are_numbers(ids, expected):
    distinct, codes = ordered_ids(np.array(ids, dtype=object))
    assert distinct.tolist() == expected
    assert [str(distinct[code]) for code in codes] == ids


def test_ordered_ids_of_nothing_is_nothing():
    distinct, codes = ordered_ids(np.zeros(0, dtype=np.int64))
    assert len(distinct) == len(codes) == 0


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 10**12) | st.integers(0, 30), min_size=1, max_size=20, unique=True),
    st.lists(st.integers(-3, 40), max_size=20),
)
def test_codes_among_find_known_ids_only(known, asked):
    asked += known
    expected = [known.index(one) if one in known else -1 for one in asked]
    texts = [str(one) for one in known]
    assert codes_among(texts, np.array(asked, dtype=np.int64)).tolist() == expected
    assert codes_among(texts, np.array([str(one) for one in asked], dtype=object)).tolist() == expected
