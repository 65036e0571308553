from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recommenders.content import CONTENT_ARRAYS, Content
from recommenders.data import ItemFeatures

pytestmark = pytest.mark.unit


def test_other_titles_say_nothing_of_what_an_item_is_like():
    counts = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0], [0.0, 1.0, 0.0]]))
    features = ItemFeatures(counts, (("genre", "War"), ("alias", "War and Peace"), ("tag", "long")))
    content = Content.of(features)
    assert content.item_terms.toarray().tolist() == [[1, 0, 0], [0, 0, 2], [0, 0, 0]]
    assert content.item_terms.nnz == 2
    assert features.item_terms.nnz == 5


def test_arrays_give_the_content_back(make_features):
    content = Content.of(make_features(31, 9))
    arrays = content.arrays()
    assert tuple(arrays) == CONTENT_ARRAYS
    again = Content.from_arrays(**arrays, n_features=8)
    np.testing.assert_array_equal(again.item_terms.toarray(), content.item_terms.toarray())
