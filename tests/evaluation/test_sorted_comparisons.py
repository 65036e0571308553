"""The pages that compare algorithms, groups of users and runs: filters, sortable columns and highlighting."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from evaluation.models import EvaluationRun
from tests.factories.accounts import UserFactory
from tests.factories.console import signed_in
from tests.factories.evaluation import make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def run() -> EvaluationRun:
    return make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")


def _page(name: str, run: EvaluationRun, **query: str) -> str:
    url = reverse(f"evaluation:{name}", args=[] if name == "compare" else [run.pk])
    response = signed_in(UserFactory()).get(url, query)
    assert response.status_code == 200
    return str(response.text)


def _rows(page: str) -> list[str]:
    """The algorithms of the first table in the order of its rows."""
    table = page.split("<tbody>")[1].split("</tbody>")[0]
    return re.findall(r'<th scope="row">([^<]*)</th>', table)


@pytest.mark.parametrize("name", ["tests", "groups"])
def test_comparisons_are_sorted_and_algorithms_can_be_highlighted(run: EvaluationRun, name: str) -> None:
    ascending = _rows(_page(name, run, sort="label"))
    assert ascending == sorted(ascending, key=str.casefold)
    page = _page(name, run, sort="-label", highlight="TopPop")
    assert _rows(page) == ascending[::-1]
    assert 'aria-sort="descending"' in page
    assert "<option selected>TopPop</option>" in page
    assert 'data-algorithm="TopPop"' in page
    assert page.count("highlight=TopPop") > 3  # links keep the choice


def test_one_metric_of_the_tests_is_shown_and_pairs_are_sorted(run: EvaluationRun) -> None:
    every = _page("tests", run)
    assert every.count('<section aria-labelledby="test-') > 1
    page = _page("tests", run, metric="fallout", sort="-a")
    assert page.count('<section aria-labelledby="test-') == 1
    assert '<details class="data-table" open>' in page
    assert "Best (lowest) first" in page
    assert "Sorted by value" in _page("tests", run, metric="fallout", sort="value")
    assert _rows(_page("tests", run, metric="fallout", sort="value")) == _rows(_page("tests", run, metric="fallout"))


def test_one_division_of_users_is_shown(run: EvaluationRun) -> None:
    every = _page("groups", run)
    division = re.findall(r'<option value="([\w-]+)">', every)[0]
    assert _page("groups", run, division=division).count('<section aria-labelledby="group-') == 1
    for key in ("group-0", "difference", "ratio"):
        assert "aria-sort" in _page("groups", run, sort=key)


def test_differences_between_runs_are_sorted(run: EvaluationRun) -> None:
    other = make_run_at("succeeded", algorithms="toppop,corngr", seed=2)
    query = {"a": str(run.pk), "b": str(other.pk)}
    for key in ("label", "metric", "a", "b", "difference", "users", "p"):
        assert f'name="sort" value="{key}"' in _page("compare", run, **query, sort=key)
    page = _page("compare", run, **query, sort="-label").split('id="differences"')[1]
    assert _rows(page) == sorted(_rows(page), key=str.casefold, reverse=True)
