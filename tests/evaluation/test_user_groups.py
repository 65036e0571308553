"""Metrics of a run by group of users, on its page and in its files."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from catalog.selectors.ratings import USER_ATTRIBUTES
from core import artefacts
from core.errors import ParallaxError
from evaluation.exports import group_rows
from evaluation.metrics.user_groups import popular_shares
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.results import user_values
from evaluation.selectors.user_groups import LENGTH, POPULARITY, group_tables, grouped_metrics
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
FULL = {"name": "full-ranking", "relevant": 4.0}
HOLDOUT = {"name": "holdout", "share": 0.4}
NAME = "precision@5"


def measured(**kwargs: Any) -> EvaluationRun:
    given = {"protocol": FULL, "metrics": [NAME, "popularity-lift@5"], "split": HOLDOUT, "profile_lengths": ()}
    return make_run_at("succeeded", version=make_version(n_users=120), **{**given, **kwargs})


def test_groups_are_of_the_profiles_that_users_are_scored_by() -> None:
    run = measured()
    by_user = user_values(run, NAME)
    run_cases = cases_of(run)
    training = training_rows(run_cases.training_digest)
    profiles = training.user_items[np.searchsorted(run_cases.profiled, by_user.user_ids)]
    of_length, of_popularity = group_tables(run, NAME)
    assert (of_length.key, of_popularity.key) == (LENGTH, POPULARITY)
    for table, values in (
        (of_length, np.diff(profiles.indptr)),
        (of_popularity, popular_shares(profiles, training.item_counts)),
    ):
        low, high = table.limits
        members = [values <= low, (values > low) & (values <= high), values > high]
        assert table.n_users == tuple(int(of_group.sum()) for of_group in members)
        assert sum(table.n_users) == len(by_user.user_ids)
        for column, line in enumerate(table.lines):
            means = [np.nanmean(by_user.values[of_group, column]) for of_group in members]
            assert line.means == pytest.approx(means)
            assert (line.highest, line.lowest) == (table.names[np.argmax(means)], table.names[np.argmin(means)])
            assert line.gap is not None
            assert line.ratio is not None
            assert line.gap.value == pytest.approx(max(means) - min(means))
            assert line.ratio.value == pytest.approx(min(means) / max(means))
            assert line.gap.low < line.gap.value < line.gap.high


def test_attributes_of_the_users_form_groups() -> None:
    run = measured(split={"name": "holdout", "share": 0.3})
    genders = np.array(["f", "m", ""])[np.arange(run.version.n_users) % 3]
    rare = np.array([f"{at}" for at in range(run.version.n_users)])
    digest = artefacts.store(USER_ATTRIBUTES, {"attribute-0": genders, "attribute-1": rare}, {})
    run.version.report["user_attributes"] = {"digest": digest, "kinds": [["gender", {}], ["zip code", {}]]}
    run.version.save()
    by_user = user_values(run, NAME)
    *_, of_gender = group_tables(run, NAME)
    assert (of_gender.title, of_gender.names) == ("Gender", ("f", "m"))  # of no zip code there are enough users
    members = [genders[by_user.user_ids] == name for name in of_gender.names]
    assert of_gender.n_users == tuple(int(of_group.sum()) for of_group in members)
    for column, line in enumerate(of_gender.lines):
        assert line.means == pytest.approx([np.nanmean(by_user.values[of_group, column]) for of_group in members])


def test_metric_that_can_be_negative_has_no_ratio() -> None:
    lines = [line for table in group_tables(measured(), "popularity-lift@5") for line in table.lines]
    assert all(line.ratio is None and line.gap is not None for line in lines)


def test_users_of_equal_profiles_are_not_divided_by_length() -> None:
    run = measured(split={"name": "strangers", "share": 0.3, "given": 5})
    of_length, of_popularity = group_tables(run, NAME)
    assert "equal values" in of_length.reason
    assert of_length.lines == ()
    assert of_popularity.lines


def test_group_without_a_value_has_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    run = measured(seed=3)
    known = user_values(run, NAME)
    monkeypatch.setattr(
        "evaluation.selectors.user_groups.user_values",
        lambda *_: replace(known, values=np.full(known.values.shape, np.nan)),
    )
    lines = [line for table in group_tables(run, NAME) for line in table.lines]
    assert all(line.means == (None, None, None) and line.gap is None for line in lines)


def test_runs_without_groups_say_why() -> None:
    queued = make_run(protocol=FULL)
    with pytest.raises(ParallaxError, match="no results"):
        group_tables(queued, NAME)
    folded = make_run_at("succeeded", split={"name": "k-fold", "k": 3}, protocol=FULL, profile_lengths=())
    assert grouped_metrics(folded) == []
    with pytest.raises(ParallaxError, match="trained 3 models"):
        group_tables(folded, NAME)
    with pytest.raises(ParallaxError, match="values by user"):
        group_tables(measured(), "catalogue-coverage@5")


def test_page_shows_groups_and_links_metrics() -> None:
    client = Client()
    client.force_login(UserFactory())
    run = measured()
    said = client.get(reverse("evaluation:groups", kwargs={"pk": run.pk})).content.decode()
    assert_page_approved("evaluation/groups", said)
    address = reverse("evaluation:groups", kwargs={"pk": run.pk})
    other = client.get(address, {"metric": "popularity-lift@5"}).content.decode()
    assert "Popularity-lift@5 by group" in other
    assert client.get(address, {"metric": "nothing"}).status_code == 404
    detail = client.get(reverse("evaluation:detail", kwargs={"pk": run.pk})).content.decode()
    assert address in detail
    hits = make_run_at("succeeded", split=HOLDOUT, profile_lengths=())
    assert "Recall by group" in client.get(reverse("evaluation:groups", kwargs={"pk": hits.pk})).content.decode()


def test_page_of_a_run_without_groups_leads_back() -> None:
    client = Client()
    client.force_login(UserFactory())
    folded = make_run_at("succeeded", split={"name": "k-fold", "k": 3}, protocol=FULL, profile_lengths=())
    followed = client.get(reverse("evaluation:groups", kwargs={"pk": folded.pk}), follow=True).content.decode()
    assert "trained 3 models" in followed
    assert reverse("evaluation:groups", kwargs={"pk": folded.pk}) not in followed
    assert client.get(reverse("evaluation:groups_csv", kwargs={"pk": folded.pk})).status_code == 404


def test_files_have_every_mean_and_gap(tmp_path: Path) -> None:
    run = measured()
    call_command("export_run", str(run.pk), "--out", str(tmp_path), verbosity=0)
    rows = list(csv.DictReader((tmp_path / "groups.csv").read_text().splitlines()))
    assert len(rows) == len(list(group_rows(run))) - 1
    table = group_tables(run, NAME)[1]
    own = [row for row in rows if (row["grouping"], row["metric"]) == (POPULARITY, NAME)]
    first = [row for row in own if row["algorithm"] == table.lines[0].label]
    assert [row["statistic"] for row in first] == ["mean", "mean", "mean", "difference", "ratio"]
    assert [float(row["value"]) for row in first[:3]] == list(table.lines[0].means)
    assert first[3]["group"] == f"{table.lines[0].highest} - {table.lines[0].lowest}"
    client = Client()
    client.force_login(UserFactory())
    response = client.get(reverse("evaluation:groups_csv", kwargs={"pk": run.pk}))
    assert b"".join(response.streaming_content).decode().startswith("grouping,metric,algorithm")  # type: ignore[attr-defined]
