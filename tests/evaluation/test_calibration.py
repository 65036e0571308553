"""Calibration of a run's lists to the genres of profiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalog.selectors.ratings import features_of
from core import artefacts
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.results import model_rows, user_values
from evaluation.selectors.runs import metric_names
from evaluation.services.user_jackknife import values_without_groups
from tests.factories.catalog import GENRES, make_parsed, make_usage_version, make_version
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
FULL = {"name": "full-ranking", "relevant": 4.0}


def test_run_measures_calibration_by_user() -> None:
    version = make_version()
    run = work_off(make_run(version=version, protocol=FULL, metrics=["calibration@5"], profile_lengths=()))
    (name,) = metric_names(run)
    features = features_of(version)
    columns = [features.terms.index(("genre", genre)) for genre in GENRES]
    of_item = features.item_terms.toarray()[:, columns].argmax(axis=1)
    run_cases = cases_of(run)
    profiles = training_rows(run_cases.profiles_digest).user_items.toarray()
    by_user = user_values(run, name)
    for column, row in enumerate(model_rows(run)):
        arrays = artefacts.load("results", row.users_digest).arrays
        for at, user in enumerate(by_user.user_ids):
            rated = np.flatnonzero(profiles[np.searchsorted(run_cases.profiled, user)])
            p, q = (
                np.bincount(of_item[items], minlength=4) / len(items) for items in (rated, arrays["list_items"][at, :5])
            )
            kept = p > 0
            expected = (p[kept] * np.log(p[kept] / (0.99 * q[kept] + 0.01 * p[kept]))).sum()
            assert by_user.values[at, column] == pytest.approx(expected, abs=1e-9)
        assert row.cells[name].value == pytest.approx(np.nanmean(by_user.values[:, column]))
    assert len(values_without_groups(run)[0][name]) == 20


def test_items_without_genres_have_no_value_but_a_reason() -> None:
    items = tuple(replace(item, features=()) for item in make_parsed().items)
    version = make_usage_version(items=items)
    run = work_off(make_run(version=version, protocol={"name": "full-ranking"}, metrics=["calibration@5"]))
    cells = [next(iter(row.cells.values())) for row in model_rows(run)]
    assert [(cell.value, cell.reason) for cell in cells] == [(None, "the items have no genres")] * 2
