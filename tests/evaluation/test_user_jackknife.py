"""Metrics of a run without groups of its users, which claims are tested with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.experiments.yaml_loader import parse
from evaluation.selectors.cases import cases_of
from evaluation.selectors.results import model_rows, user_values
from evaluation.services.user_jackknife import GROUPS, values_without_groups
from inference.bootstrap import UserInterval, mean_interval
from inference.claim_estimates import group_jackknife
from tests.evaluation.test_experiments_services import CURVES, finished
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


@pytest.mark.parametrize("key", ["croc", "groc", "lists"])
def test_every_metric_is_near_its_whole_value_without_any_group(key: str) -> None:
    plan = CURVES.replace("[croc-area, ", "[serendipity@2, croc-area, ").replace(
        "recall@5]", "recall@5, serendipity@5, arp@5, popularity-lift@5]"
    )
    run = finished(parse(plan, "mine.yaml"), make_version())[key]
    found = values_without_groups(run)
    for row, values in zip(model_rows(run), found, strict=True):
        for metric, cell in row.cells.items():
            without = values[metric]
            assert len(without) == GROUPS
            assert cell.value is not None
            assert np.ptp(without) > 0 or cell.value in (0, 0.5, 1), (row.label, metric)  # a group takes part in it
            assert without.mean() == pytest.approx(cell.value, abs=0.02)
    assert [values.keys() for values in values_without_groups(run)] == [values.keys() for values in found]


def test_standard_error_of_a_mean_over_users_is_that_of_the_bootstrap() -> None:
    run = finished(parse(CURVES, "mine.yaml"), make_version(n_users=400))["lists"]
    users = user_values(run, "recall@5").values[:, 0]
    users = users[~np.isnan(users)]
    value = float(users.mean())
    jackknife = group_jackknife(value, values_without_groups(run)[0]["recall@5"])
    bootstrap = mean_interval(users, 1000, np.random.default_rng(1))
    assert isinstance(bootstrap, UserInterval)
    half = (bootstrap.high - bootstrap.low) / 2
    of_jackknife = jackknife.interval(0.95).high - value
    assert of_jackknife == pytest.approx(half, rel=0.4)
    error = of_jackknife / stats.t.ppf(0.975, GROUPS - 1)
    assert error == pytest.approx(users.std(ddof=1) / np.sqrt(len(users)), rel=0.35)


def test_too_few_users_to_group_give_no_test() -> None:
    experiment = parse(CURVES.replace("test_users: 0", "test_users: 19"), "mine.yaml")
    run = finished(experiment, make_version())["lists"]
    assert len(np.unique(cases_of(run).cases.users)) < GROUPS
    assert values_without_groups(run) == ()
