"""Overlap of lists, and where a sample of items orders algorithms otherwise than all of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from core import artefacts
from evaluation.exports import run_document
from evaluation.management.commands.evaluate import order_comparison_lines
from evaluation.models import EvaluationRun
from evaluation.selectors import algorithm_pairs
from evaluation.selectors.algorithm_pairs import Reversal, order_comparison, overlaps
from evaluation.selectors.results import model_rows
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

LIMITS = {"relevant": 4.0, "irrelevant": 2.0}
MANY = "toppop,random,puresvd:factors=3,puresvd:factors=8"


def runs(**other: Any) -> tuple[EvaluationRun, EvaluationRun]:
    """One plus random and full ranking of the same hidden ratings."""
    version = make_version()
    given = {"version": version, "algorithms": MANY, "profile_lengths": ()}
    sampled = make_run_at("succeeded", protocol={"name": "one-plus-random", "negatives": 5, **LIMITS}, **given)
    full = make_run_at(
        "succeeded", protocol={"name": "full-ranking", **LIMITS}, metrics=("recall@5", "diversity@5"), **given | other
    )
    return sampled, full


def test_pairs_that_stand_the_other_way_round_are_those_of_the_tables() -> None:
    sampled, full = runs()
    of_sample = {row.label: row.cells["recall"].value for row in model_rows(sampled)}
    of_all = {row.label: row.cells["recall@5"].value for row in model_rows(full)}
    expected = {
        frozenset(pair)
        for pair in combinations(of_sample, 2)
        if (of_sample[pair[0]] - of_sample[pair[1]]) * (of_all[pair[0]] - of_all[pair[1]]) < 0
    }
    for run, here in ((sampled, of_sample), (full, of_all)):
        found = order_comparison(run)
        assert found is not None
        assert (found.n, found.n_pairs) == (5, 6)
        assert {frozenset((one.first, one.second)) for one in found.reversals} == expected
        for one in found.reversals:
            assert one.here == (here[one.first], here[one.second])
            assert one.here[0] > one.here[1]
            assert one.there[0] < one.there[1]
    assert found.run == sampled


@pytest.mark.parametrize("other", [{"seed": 2}, {"split": {"name": "probe", "share": 0.3}}, {"reserve": 0.2}])
def test_runs_on_other_hidden_ratings_are_not_compared(other: dict[str, Any]) -> None:
    sampled, full = runs(**other)
    assert order_comparison(sampled) is order_comparison(full) is None
    assert order_comparison_lines(sampled) == []


def test_nothing_is_compared_of_other_protocols_other_limits_and_open_runs() -> None:
    version = make_version()
    given = {"version": version, "algorithms": "toppop,random", "profile_lengths": ()}
    sampled = make_run_at("succeeded", **given)
    observed = make_run_at("succeeded", protocol={"name": "test-observations", **LIMITS}, **given)
    make_run_at("succeeded", protocol={"name": "full-ranking", "relevant": 5.0, "irrelevant": 2.0}, **given)
    make_run_at("succeeded", protocol={"name": "full-ranking", **LIMITS}, **given | {"algorithms": "toppop"})
    queued = make_run(protocol={"name": "full-ranking", **LIMITS}, **given)
    assert [order_comparison(run) for run in (sampled, observed, queued)] == [None, None, None]


def test_a_tie_is_no_other_order_and_the_report_says_which_pairs_turn(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert algorithm_pairs._reversal(("A", "B"), {"A": 0.4, "B": 0.4}, {"A": 0.1, "B": 0.2}) is None
    assert algorithm_pairs._reversal(("A", "B"), {"A": 0.4, "B": 0.3}, {"A": 0.2, "B": 0.2}) is None
    turned = Reversal("B", "A", (0.5, 0.4), (0.1, 0.2))
    assert algorithm_pairs._reversal(("A", "B"), {"A": 0.4, "B": 0.5}, {"A": 0.2, "B": 0.1}) == turned
    sampled, full = runs()
    client.force_login(UserFactory())
    for run, other in ((sampled, full), (full, sampled)):
        html = client.get(reverse("evaluation:detail", kwargs={"pk": run.pk})).content.decode()
        assert "Sampled and full" in html
        assert f"run {other.pk}</a>" in html
        assert run_document(run)["other_order"]["n_pairs"] == 6
    found = order_comparison(full)
    lines = order_comparison_lines(full)
    assert len(lines) == 1 + len(found.reversals)
    assert f"run {sampled.pk} by" in lines[0]
    monkeypatch.setattr(algorithm_pairs, "_reversal", lambda *_: None)
    assert "all 6 pairs" in order_comparison_lines(full)[0]
    html = client.get(reverse("evaluation:detail", kwargs={"pk": full.pk})).content.decode()
    assert "all 6 pairs" in html


def test_one_pair_of_algorithms_is_one_pair(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"version": make_version(), "algorithms": "toppop,random", "profile_lengths": ()}
    sampled = make_run_at("succeeded", protocol={"name": "one-plus-random", "negatives": 5, **LIMITS}, **given)
    full = make_run_at("succeeded", protocol={"name": "full-ranking", **LIMITS}, **given)
    monkeypatch.setattr(algorithm_pairs, "_reversal", lambda *_: None)
    client.force_login(UserFactory())
    for run in (sampled, full):
        html = client.get(reverse("evaluation:detail", kwargs={"pk": run.pk})).content.decode()
        for said in (html, " ".join(order_comparison_lines(run))):
            assert "one pair" in said
            assert "1 pairs" not in said


def test_overlap_is_what_the_kept_lists_share(client: Client) -> None:
    _, full = runs()
    kept = {row.label: artefacts.load("results", row.users_digest).arrays["list_items"] for row in model_rows(full)}
    found = overlaps(full)
    assert len(found) == 6
    for one in found:
        pairs = zip(kept[one.first][:, :5].tolist(), kept[one.second][:, :5].tolist(), strict=True)
        assert one.share == pytest.approx(np.mean([len({*a} & {*b}) / 5 for a, b in pairs]))
    assert run_document(full)["overlap"][0] == {
        "first": found[0].first, "second": found[0].second, "n": 5, "share": found[0].share
    }  # fmt: skip
    client.force_login(UserFactory())
    assert "Overlap of lists" in client.get(reverse("evaluation:detail", kwargs={"pk": full.pk})).content.decode()
    sampled = make_run_at("succeeded", seed=9)
    assert overlaps(sampled) == ()
    assert "overlap" not in run_document(sampled)


def test_diversity_is_by_the_items_features() -> None:
    _, full = runs()
    values = {row.label: row.cells["diversity@5"].value for row in model_rows(full)}
    assert all(0 < value < 1 for value in values.values())
