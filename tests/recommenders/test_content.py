from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recommenders.data import ItemFeatures
from recommenders.data_limits import informative_terms

pytestmark = pytest.mark.unit


def test_other_titles_say_nothing_of_what_an_item_is_like():
    counts = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0], [0.0, 1.0, 0.0]]))
    features = ItemFeatures(counts, (("genre", "War"), ("alias", "War and Peace"), ("tag", "long")))
    content = informative_terms(features)
    assert content.toarray().tolist() == [[1, 0, 0], [0, 0, 2], [0, 0, 0]]
    assert content.nnz == 2
    assert features.item_terms.nnz == 5
