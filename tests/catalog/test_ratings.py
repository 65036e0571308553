"""What algorithms are given of a version."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalog.models import Item
from catalog.selectors import ratings as selectors
from tests.factories.catalog import make_items, make_parsed, make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_ratings_are_those_that_were_parsed() -> None:
    parsed = make_parsed()
    version = make_version()
    ratings = selectors.ratings_of(version)
    users, items, values = ratings.triples()
    order = np.lexsort((parsed.items_rated, parsed.users))
    assert (ratings.n_users, ratings.n_items, ratings.scale.high) == (60, 40, 5.0)
    assert np.array_equal(users, parsed.users[order])
    assert np.array_equal(items, parsed.items_rated[order])
    assert np.array_equal(values, parsed.values[order])
    assert selectors.user_ids_of(version).tolist() == parsed.user_ids.tolist()
    assert selectors.item_ids_of(version).tolist() == [item.external_id for item in parsed.items]
    assert selectors.timestamps_of(version).size == 0
    counts = list(Item.objects.filter(version=version).order_by("index").values_list("n_ratings", flat=True))
    assert counts == ratings.item_counts.tolist()


def test_ratings_are_read_only_maps_opened_once() -> None:
    version = make_version()
    ratings = selectors.ratings_of(version)
    assert selectors.ratings_of(version) is ratings
    with pytest.raises(ValueError, match="read-only"):
        ratings.user_items.data[0] = 1


def test_content_terms_are_the_features_but_for_utilities() -> None:
    items = tuple(replace(item, features=(*item.features, ("utility", "2.5"))) for item in make_items(40))
    version = make_version(name="worth", items=items)
    features, terms = selectors.features_of(version), selectors.content_terms(version)
    assert terms is not None
    assert features.terms[-1] == ("utility", "given")
    assert np.array_equal(terms.toarray(), features.item_terms[:, :-1].toarray())
    bare = tuple(replace(item, features=(("utility", "2.5"),), plot="", year=None) for item in items)
    assert selectors.content_terms(make_version(name="bare", items=bare)) is None
