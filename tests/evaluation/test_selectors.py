"""What other apps read of runs."""

from __future__ import annotations

import numpy as np
import pytest
from django.utils import timezone

from catalog.selectors.ratings import ratings_of
from core.errors import ParallaxError
from evaluation.models import EvaluationRun, MetricResult
from evaluation.selectors.cases import cases_of, reserved_histories, reserved_users, training_means, training_rows
from evaluation.selectors.results import model_rows, user_values
from evaluation.selectors.runs import newest_succeeded_run
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_newest_succeeded_run_is_the_last_that_ended_well() -> None:
    version, other = make_version(), make_version(name="other", seed=2)
    assert newest_succeeded_run(version) is None
    make_run_at("succeeded", version=version)
    newest = make_run_at("succeeded", version=version, seed=2)
    EvaluationRun.objects.filter(pk=newest.pk).update(finished_at=timezone.now())  # factories repeat stored times
    make_run_at("failed", version=version)
    make_run_at("succeeded", version=other)
    assert newest_succeeded_run(version) == newest


def test_no_model_sees_a_reserved_user_and_no_hidden_rating_is_in_training() -> None:
    run = make_run_at("succeeded", reserve=0.25)
    reserved = reserved_users(run)
    assert len(reserved.indexes) == 15
    assert reserved.external_ids == tuple(str(index + 1) for index in reserved.indexes)
    found = cases_of(run)
    assert not np.intersect1d(found.trained, reserved.indexes).size
    assert not np.intersect1d(found.cases.users, reserved.indexes).size
    training = training_rows(found.training_digest)
    assert training.n_users == 45
    assert training.n_ratings == 45 * 15 - round(0.2 * 45 * 15)
    rows = np.searchsorted(found.trained, found.cases.users)
    assert (training.user_items[rows, found.cases.items] == 0).all()


def test_reserved_histories_are_the_whole_histories_in_the_same_order() -> None:
    run = make_run_at("succeeded")
    histories = reserved_histories(run)
    whole = ratings_of(run.version).user_items
    for row, user in enumerate(reserved_users(run).indexes):
        assert (histories.user_items[[row]] != whole[[user]]).nnz == 0


def test_training_means_are_damped_and_of_the_training_side_alone() -> None:
    run = make_run_at("succeeded")
    means = training_means(run)
    training = training_rows(cases_of(run).training_digest)
    _, items, values = training.triples()
    assert means.mu == pytest.approx(float(values.mean()))
    item = int(items[0])
    own = values[items == item].astype(float)
    assert means.item_means[item] == pytest.approx(means.mu + (own - means.mu).sum() / (25 + len(own)))
    assert means.popularity.tolist() == training.item_counts.tolist()


def test_user_values_average_to_the_run_over_the_cases() -> None:
    run = make_run_at("succeeded")
    found = cases_of(run).cases
    for metric, wanted in (("recall", found.is_relevant), ("fallout", ~found.is_relevant)):
        values = user_values(run, metric)
        assert values.labels == ("TopPop", "PureSVD4")
        assert values.user_ids.tolist() == np.unique(found.users).tolist()
        counts = np.array([(found.users[wanted] == user).sum() for user in values.user_ids])
        assert (np.isnan(values.values[:, 0]) == (counts == 0)).all()
        for column, row in enumerate(model_rows(run)):
            mean = np.nansum(values.values[:, column] * counts) / counts.sum()
            assert mean == pytest.approx(row.cells[metric].value, abs=1e-12)


def test_user_values_at_another_profile_length_are_others() -> None:
    run = make_run_at("succeeded")
    whole, short = user_values(run, "recall"), user_values(run, "recall", 5)
    assert (whole.user_ids == short.user_ids).all()
    assert not np.array_equal(whole.values[:, 1], short.values[:, 1], equal_nan=True)
    assert np.array_equal(whole.values[:, 0], short.values[:, 0], equal_nan=True)  # TopPop asks nobody


def test_user_values_of_f_are_refused() -> None:
    with pytest.raises(ParallaxError, match="values by user"):
        user_values(make_run_at("succeeded"), "f")


def test_rows_agree_with_the_stored_results() -> None:
    run = make_run_at("succeeded")
    for length in (0, 5):
        for row in model_rows(run, length):
            stored = MetricResult.objects.get(algorithm__label=row.label, profile_length=length, metric="f")
            assert (row.cells["f"].value, list(row.cells["f"].by_n)) == (stored.value, stored.by_n)
            recall = [value or 0.0 for value in row.cells["recall"].by_n]
            assert len(recall) == 20
            assert recall == sorted(recall)


def test_results_that_are_not_there_are_refused_in_a_sentence() -> None:
    with pytest.raises(ParallaxError, match="it is queued"):
        model_rows(make_run())
    with pytest.raises(ParallaxError, match="whole profile, 5"):
        model_rows(make_run_at("succeeded", seed=2), 10)
    with pytest.raises(ParallaxError, match="no test cases"):
        reserved_users(make_run(seed=3))


def test_table_takes_the_same_queries_for_two_algorithms_and_for_four(django_assert_num_queries: object) -> None:
    two = make_run_at("succeeded")
    four = make_run_at("succeeded", algorithms="toppop,puresvd:factors=2,puresvd:factors=3,puresvd:factors=4")
    for run in (two, four):
        with django_assert_num_queries(3):  # type: ignore[operator]
            model_rows(run)
