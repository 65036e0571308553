"""Limits of relevant and irrelevant ratings that follow from a dataset's ratings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from catalog.importers.base import RatingScale
from catalog.models import DatasetVersion
from catalog.services.dataset_import import import_parsed
from evaluation.services.run_inputs import complete_protocol, limits_of
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_parsed, make_usage_version
from tests.factories.evaluation import make_run
from tests.sentences import assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def version_with(scale: RatingScale, shares: dict[float, int]) -> DatasetVersion:
    """A version with as many ratings of each value as `shares` says, of every hundred."""
    parsed = make_parsed(n_users=20, per_user=15)
    values = np.repeat(list(shares), [3 * share for share in shares.values()]).astype(np.float32)
    parsed = replace(parsed, values=values, scale=scale)
    return import_parsed(parsed=parsed, name="limits", title="Limits", source_format="factory", is_synthetic=True)


@pytest.mark.parametrize(
    ("scale", "shares", "expected"),
    [
        pytest.param((1, 5, 1), {1: 1, 3: 98, 5: 1}, (5, 1), id="the paper's, wherever they were given"),
        pytest.param((0.5, 5, 0.5), {0.5: 10, 1: 10, 4: 60, 5: 20}, (5, 1), id="the paper's on half stars"),
        pytest.param((1, 5, 1), {2: 3, 3: 27, 4: 50, 5: 20}, (5, 3), id="nobody gave a 1"),
        pytest.param((1, 5, 1), {1: 30, 2: 50, 3: 5, 4: 15}, (3, 1), id="nobody gave a 5"),
        pytest.param((1, 10, 1), {1: 4, 2: 1, 6: 75, 9: 15, 10: 5}, (9, 2), id="exactly a fifth and a twentieth"),
        pytest.param((1, 7, 1), {7: 100}, (7, 1), id="one value alone: the ends of the scale"),
        pytest.param((2, 5, 1), {2: 5, 3: 25, 4: 51, 5: 19}, (4, 2), id="2 to 5 is not the paper's scale"),
        pytest.param((0.5, 5, 0.5), {0.5: 95, 1: 5}, (1, 0.5), id="nearly all ratings are the lowest"),
        pytest.param((1, 10, 1), {5: 3, 9: 97}, (9, 5), id="hardly any rating is below relevant"),
    ],
)
def test_limits(scale: tuple[float, float, float], shares: dict[float, int], expected: tuple[float, float]) -> None:
    limits = limits_of(version_with(RatingScale(*scale), shares))
    assert (limits["relevant"], limits["irrelevant"]) == expected


def test_usage_data_has_no_limits() -> None:
    assert limits_of(make_usage_version()) == {}


def test_a_stated_limit_wins_and_the_run_says_which_followed_from_the_ratings() -> None:
    version = version_with(RatingScale(1, 5, 1), {2: 10, 3: 20, 4: 50, 5: 20})
    complete = complete_protocol(version, {"name": "one-plus-random", "relevant": 4})
    assert (complete["relevant"], complete["irrelevant"]) == (4, 2)
    run = make_run(version=version, protocol={"name": "one-plus-random", "negatives": 5})
    assert (run.protocol["relevant"], run.protocol["irrelevant"]) == (5, 2)
    assert_sentences_approved("sentences/limits", {"no rating of 1": run.comments[-1:]})


@pytest.mark.parametrize(
    ("scale", "shares", "comments"),
    [
        ((1, 5, 1), {1: 10, 4: 70, 5: 20}, []),
        (
            (1, 10, 1),
            {1: 4, 2: 1, 5: 75, 9: 15, 10: 5},
            [
                "Scale of 1 to 10: relevant is 9 or higher, which 20% of ratings reach; "
                "irrelevant is 2 or lower, which 5% of ratings reach."
            ],
        ),
        (
            (1, 5, 1),
            {2: 7, 3: 63, 4: 30},
            [
                "No rating of 5 on this scale: relevant is 4 or higher, which 30% of ratings reach. No rating of 1 on "
                "this scale: irrelevant is 2 or lower, which 7% of ratings reach."
            ],
        ),
    ],
)
def test_the_run_says_which_limits_are_not_the_paper_s(
    scale: tuple[float, float, float], shares: dict[float, int], comments: list[str]
) -> None:
    version = version_with(RatingScale(*scale), shares)
    assert make_run(version=version, protocol={"name": "one-plus-random", "negatives": 5}).comments == comments


def test_the_run_page_draws_the_ratings_with_both_limits(client: Client) -> None:
    version = version_with(RatingScale(1, 5, 1), {2: 10, 3: 20, 4: 50, 5: 20})
    run = make_run(version=version, protocol={"name": "one-plus-random", "negatives": 5})
    client.force_login(UserFactory())
    page = client.get(reverse("evaluation:detail", args=[run.pk])).text
    assert "20% of all" in page
    usage = make_run(version=make_usage_version(), protocol={"name": "one-plus-random", "negatives": 5})
    assert "Relevant from" not in client.get(reverse("evaluation:detail", args=[usage.pk])).text
