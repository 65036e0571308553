"""The numbers and charts of a dataset's page, on ratings counted by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from catalog import charts
from catalog.importers.base import RatingScale
from catalog.models import DatasetVersion
from catalog.selectors.shape import shape_of
from catalog.services import import_parsed
from tests.factories.catalog import make_items, make_parsed
from tests.sentences import assert_sentences_approved


def four_items() -> DatasetVersion:
    """Item 0: 5, 4, 4. Item 1: 1, 2. Item 2: 3. Item 3: nothing."""
    parsed = dataclasses.replace(
        make_parsed(n_users=3, items=make_items(4), per_user=4),
        users=np.array([0, 1, 2, 0, 1, 0], dtype=np.int32),
        items_rated=np.array([0, 0, 0, 1, 1, 2], dtype=np.int32),
        values=np.array([5, 4, 4, 1, 2, 3], dtype=np.float32),
        scale=RatingScale(1, 5, 1),
    )
    return import_parsed(parsed=parsed, name="four", source_format="factory")


@pytest.mark.integration
@pytest.mark.django_db
def test_shape_of_ratings_counted_by_hand() -> None:
    shape = shape_of(four_items())
    assert shape.density == 6 / 12
    assert shape.sparsity_percent == 50
    assert shape.mean_rating == pytest.approx(19 / 6)
    assert (shape.ratings_per_user, shape.n_unrated, shape.half_items) == (2, 1, 1)
    assert shape.values == ((1, 1), (2, 1), (3, 1), (4, 2), (5, 1))
    assert shape.counts.tolist() == [3, 2, 1, 0]
    assert shape.tail == ((1, 0.25, 0.5), (2, 0.5, 5 / 6), (4, 1.0, 1.0))
    assert shape.by_mean == ((1.5, 2, 1, 2), (3, 3.5, 1, 1), (4, 4.5, 1, 3))


@pytest.mark.unit
def test_figures_say_their_finding_and_carry_their_numbers() -> None:
    figure = charts.ratings_per_value([(1, 10), (2, 0), (3, 30)])
    assert figure.rows == (("1", "10", "25.0 %"), ("2", "0", "0.0 %"), ("3", "30", "75.0 %"))
    assert set(figure.specs) == {"light", "dark"}
    tail = charts.tail([8, 1, 1, 0], [(2, 0.5, 0.9)], 1)
    assert tail.rows == (("2", "50.0 %", "90.0 %"),)
    means = charts.ratings_by_mean([(1, 2, 3, 4.25), (2, 3, 1, 1000)])
    titles = [each.title for each in (figure, tail, charts.tail([3, 3, 2], [], 2), means)]
    assert_sentences_approved("sentences/shape", {"titles": titles})
    assert means.rows == (("1 to 2", "3", "4.2"), ("2 to 3", "1", "1,000.0"))
