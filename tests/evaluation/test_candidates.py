"""The real number of candidates beside each hidden rating: warned of before a run, and stated after it."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from catalog.models import DatasetVersion
from catalog.services import import_parsed
from evaluation.exports import run_document
from evaluation.models import EvaluationRun
from evaluation.protocols.facts import CandidateRange
from evaluation.selectors.cases import candidate_range, candidate_warning, cases_of
from evaluation.services import run_proposals
from evaluation.services.run_proposals import proposals_for
from tests.factories.catalog import make_parsed, make_usage_version, make_version
from tests.factories.evaluation import make_run, run_fields, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]
LIMITS = {"relevant": 4.0, "irrelevant": 2.0}
ONE_PLUS_RANDOM = {"name": "one-plus-random", "negatives": 1000, **LIMITS}


@pytest.fixture
def uneven() -> DatasetVersion:
    """Forty items of which users have rated 15 or, of the second half of the users, 10."""
    parsed = make_parsed()
    place = np.arange(len(parsed.users)) % 15
    is_kept = (parsed.users < 30) | (place < 10)
    return import_parsed(
        parsed=replace(
            parsed,
            users=parsed.users[is_kept],
            items_rated=parsed.items_rated[is_kept],
            values=parsed.values[is_kept],
        ),
        name="uneven",
        title="Uneven",
        source_format="factory",
        is_synthetic=True,
    )


def test_number_of_candidates_is_that_of_the_cases() -> None:
    run = work_off(make_run(protocol=ONE_PLUS_RANDOM))
    assert candidate_range(run) == CandidateRange(25, 25, 1000)
    assert set(cases_of(run).cases.n_candidates.tolist()) == {25}


def test_range_of_candidates_is_given_where_it_varies(uneven: DatasetVersion) -> None:
    run = work_off(make_run(version=uneven, protocol=ONE_PLUS_RANDOM))
    found = candidate_range(run)
    assert found is not None
    assert found.in_words == "25 to 30 (1,000 requested)"
    assert run_document(run)["candidates"] == {"fewest": 25, "most": 30}


def test_number_asked_for_stands_alone_where_there_are_as_many() -> None:
    run = work_off(make_run())
    found = candidate_range(run)
    assert found is not None
    assert found.in_words == "20"
    assert candidate_warning(run.version, run.protocol, run.split) == ""


def test_protocol_without_drawn_candidates_has_none() -> None:
    run = work_off(make_run(protocol={"name": "full-ranking", **LIMITS}))
    assert candidate_range(run) is None
    assert "candidates" not in run_document(run)


def test_command_warns_before_the_run_and_states_the_number_after_it(eager: None, uneven: DatasetVersion) -> None:
    out = StringIO()
    call_command(
        "evaluate", "uneven", "--algorithms", "toppop", "--split", "probe:share=0.2", "--relevant", "4",
        "--irrelevant", "2", "--negatives", "1000", stdout=out,
    )  # fmt: skip
    said = out.getvalue()
    warned = said.index("Warning: 1,000 candidates were requested per hidden rating, but users of this")
    assert "25 to 30 of" in said
    assert warned < said.index("algorithm ")
    assert "25 to 30 (1,000 requested)" in said


def _signed_in(client: Client) -> None:
    client.force_login(User.objects.create_user(email="r@example.org", password="a long enough password"))


def test_page_and_api_state_the_number(uneven: DatasetVersion, client: Client) -> None:
    run = work_off(make_run(version=uneven, protocol=ONE_PLUS_RANDOM))
    _signed_in(client)
    page = client.get(reverse("evaluation:detail", args=(run.pk,))).content.decode()
    assert "25 to 30 (1,000 requested)" in page
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["candidates"] == {"fewest": 25, "most": 30, "asked": 1000}


def test_form_starts_with_as_many_candidates_as_fit(client: Client) -> None:
    make_version()
    _signed_in(client)
    address = reverse("evaluation:new")
    page = client.get(address).text
    assert "25 candidates instead of 1,000: some users left only 25 of 40 films unrated." in page
    assert client.post(address, run_fields(kind="quick")).status_code == 302
    assert EvaluationRun.objects.get().protocol["negatives"] == 25


def test_proposals_have_more_candidates_where_the_catalogue_has_them() -> None:
    version = make_version(n_items=40)
    for name, most, protocol in (("few", 24, "full-ranking"), ("round", 160, "150"), ("usual", 1000, "None")):
        with patch.object(run_proposals, "most_candidates", return_value=most):
            proposal = proposals_for(version)["quick"]
        assert protocol in (proposal.spec.protocol["name"], str(proposal.spec.protocol.get("negatives"))), name
        assert bool(proposal.adjustment) == (most < 1000)


def test_usage_data_have_proposals_without_limits(client: Client) -> None:
    make_usage_version()
    _signed_in(client)
    form = client.get(reverse("evaluation:new")).context["form"]
    assert form.histogram is None
    assert form.limit_fields() == []
    assert set(form.proposals) == {"quick", "replication"}


def test_algorithms_that_need_more_data_are_left_out() -> None:
    version = make_version(n_items=20)
    proposal = proposals_for(version)["replication"]
    assert [key for key, _ in proposal.spec.algorithms] == ["toppop", "corngr", "nncosngr", "asysvd", "puresvd", "lsa"]
    assert "Too few data for PureSVD300." in proposal.summary


@pytest.mark.parametrize(
    ("cases", "split"),
    [
        ({("strangers", 0.1): 1500}, ("strangers", 0.1)),
        ({("strangers", 0.1): 600, ("strangers", 0.2): 1200}, ("strangers", 0.2)),
        ({("strangers", 0.1): 90, ("strangers", 0.3): 300}, ("strangers", 0.3)),
        ({("strangers", 0.3): 99, ("probe", 0.1): 400, ("probe", 0.2): 1000}, ("probe", 0.2)),
        ({}, ("probe", 0.1)),
    ],
)
def test_the_smallest_share_with_enough_cases_is_held_out(
    cases: dict[tuple[str, float], int], split: tuple[str, float]
) -> None:
    def counted(*, split: dict[str, Any], **_rest: Any) -> SimpleNamespace:
        return SimpleNamespace(cases=cases.get((split["name"], split["share"]), 0))

    version = make_version()
    with patch.object(run_proposals, "case_counts", counted):
        assert proposals_for(version)["quick"].spec.split == {"name": split[0], "share": split[1]}
