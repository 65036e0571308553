"""What items are worth: estimated from training rows alone, and counted where hidden rows are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from catalog.selectors.ratings import features_of, item_utilities, mean_utilities, ratings_of, utilities_of
from core.errors import ParallaxError
from evaluation.metrics.registry import metric
from evaluation.run_spec import named_settings
from evaluation.selectors.cases import cases_of, training_rows, training_utilities
from evaluation.selectors.results import model_rows
from evaluation.services.training import features_for, train_on_everything
from recommenders.expected_utility import UTILITY_KIND
from tests.evaluation.test_experiments_services import usage
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
PROFIT = ("expected-utility", {"utility": "given"})


def prices(parsed: Any) -> np.ndarray:
    """Another price in each row, about the item's number."""
    noise = np.random.default_rng(5).uniform(0.5, 1.5, len(parsed.items_rated))
    return (parsed.items_rated + 1.0) * noise


def run_on(version: Any, **protocol: Any) -> Any:
    settings = {"name": "full-ranking", "utility": "given", **protocol}
    split = {"name": "random-per-user", "test_users": 0}
    return make_run(
        version=version,
        algorithms=[("itemitem", {}), PROFIT],
        split=split,
        protocol=settings,
        task="utility",
        metrics=["half-life(alpha=5)", "utility@5", "half-life(viewed=1x3:.5)"],
        reserve=0.0,
        profile_lengths=(),
    )


def test_models_learn_what_items_were_worth_in_training_alone() -> None:
    version = usage(worth=prices)
    run = work_off(run_on(version))
    found = cases_of(run)
    learnt = training_utilities(found.training_digest)
    ratings, worths = ratings_of(version), utilities_of(version)
    users = np.repeat(np.arange(ratings.n_users), np.diff(ratings.user_items.indptr))
    hidden = set(zip(found.cases.users.tolist(), found.cases.items.tolist(), strict=True))
    sums, counts = np.zeros(version.n_items), np.zeros(version.n_items)
    for user, item, worth in zip(users.tolist(), ratings.user_items.indices.tolist(), worths.tolist(), strict=True):
        if (user, item) not in hidden:
            sums[item] += worth
            counts[item] += 1
    np.testing.assert_allclose(learnt, sums / np.maximum(counts, 1))
    assert not np.allclose(learnt, mean_utilities(version))
    told = features_for(version=version, training_digest=found.training_digest, algorithm=PROFIT[0], params=PROFIT[1])
    column = told.item_terms[:, [len(told.terms) - 1]]
    np.testing.assert_allclose(column.toarray()[:, 0], learnt, rtol=1e-6)
    assert told.terms[-1] == (UTILITY_KIND, "given")
    assert features_for(version=version, training_digest=found.training_digest, algorithm="itemitem", params={}) is None


def test_hidden_rows_count_what_they_brought() -> None:
    version = usage(worth=prices)
    run = work_off(run_on(version))
    cases = cases_of(run).cases
    ratings, worths = ratings_of(version), utilities_of(version)
    table = ratings.user_items.copy()
    table.data = worths.astype(np.float32)
    np.testing.assert_allclose(cases.values, [table[u, i] for u, i in zip(cases.users, cases.items, strict=True)])
    assert cases.is_relevant.all()
    likely, worth_it = model_rows(run)
    name = str(metric("half-life(alpha=5)"))
    assert worth_it.cells[name].value > likely.cells[name].value
    known = str(metric("half-life(viewed=1x3:.5)"))
    assert 0 < likely.cells[known].value < worth_it.cells[known].value < 1
    assert worth_it.label == "ExpUtility (utility=given)"


def test_rows_that_brought_nothing_are_left_out_and_counted() -> None:
    version = usage(worth=lambda parsed: np.where(parsed.items_rated % 4 == 0, 0.0, 2.0))
    run = work_off(run_on(version))
    assert run.left_out["hidden rows that were worth nothing"] > 0
    assert (cases_of(run).cases.items % 4 != 0).all()


def test_prices_of_a_list_serve_where_rows_have_none() -> None:
    version = make_version()
    for item in version.items.all():
        item.features.create(kind=UTILITY_KIND, value=repr(float(item.index + 1)))
    features_of.__globals__["_features"].cache_clear()
    np.testing.assert_allclose(item_utilities(version), np.arange(version.n_items) + 1.0)
    assert mean_utilities(version) is None
    run = work_off(run_on(version, relevant=4.0, irrelevant=2.0))
    found = cases_of(run)
    assert training_utilities(found.training_digest) is None
    np.testing.assert_allclose(found.cases.values, found.cases.items + 1.0)
    # What is relevant is still said by the ratings.
    assert 0 < found.cases.is_relevant.sum() < len(found.cases)
    features_of.__globals__["_features"].cache_clear()


def test_data_without_utilities_are_refused_before_the_run_with_what_to_do() -> None:
    version = make_version()
    with pytest.raises(ParallaxError, match="utility=ratings"):
        run_on(version, relevant=4.0, irrelevant=2.0)
    assert item_utilities(version) is None


def test_model_on_everything_learns_from_every_row() -> None:
    version = usage(worth=prices)
    trained = train_on_everything(version=version, algorithm=PROFIT[0], params=PROFIT[1], seed=1, threads=1)
    learnt = training_utilities(trained.model.training_digest)
    np.testing.assert_allclose(learnt, mean_utilities(version))
    assert training_rows(trained.model.training_digest).n_ratings == version.n_ratings


def test_usage_has_one_limit_and_no_other() -> None:
    version = usage()
    run = make_run(
        version=version,
        split={"name": "probe", "share": 0.2},
        protocol={"name": "one-plus-random", "negatives": 10},
    )
    assert (run.protocol["relevant"], run.protocol["irrelevant"]) == (1.0, 0.0)
    work_off(run)
    assert run.n_relevant
    assert run.n_irrelevant == 0
    with pytest.raises(ParallaxError, match="relevant=4"):
        make_run(version=version, protocol={"name": "one-plus-random", "relevant": 4})


def test_whole_numbers_of_a_command_stay_whole() -> None:
    assert named_settings("random-per-user:test_users=200") == {"name": "random-per-user", "test_users": 200}
    assert named_settings("probe:share=.1")["share"] == 0.1
