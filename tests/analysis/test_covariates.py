"""Covariates, losses, known items and shown lists: planned, computed, said, and read from older reports."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator

from analysis.files.formats import report_json
from analysis.models import Report
from analysis.present.covariates import ratings_table
from analysis.present.words import decimal
from analysis.read.lists import CO_RATING, FEATURES, Slots, shown_lists
from analysis.results.covariates import CovariateAnalyses
from analysis.results.schema import report_schema
from analysis.services import build_report
from catalog.models import Feature
from core.errors import ParallaxError
from evaluation.selectors.cases import cases_of, training_rows
from inference.results import Undefined
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.enums import ParticipantStatus
from studies.models import Interview, PersonalLink, Response, Study, StudyMembership
from tests.approval import assert_approved
from tests.factories.analysis import page_without_pictures, planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.report_text import text_of_report

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]
LABELS = ("TopPop", "CorNgr", "PureSVD4")


@pytest.fixture
def draft(db: None) -> Study:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    return make_study(run=run, status="draft", per_condition=12)


def populated(study: Study, n: int = 12) -> None:
    """Participants of known age and gender, whose lists begin at different items; two more left in TopPop."""
    rng = np.random.default_rng(11)
    Feature.objects.bulk_create(
        Feature(item=item, kind="genre", value=f"genre {genre}")
        for item in study.dataset_version.items.order_by("index")[:30]
        for genre in rng.choice(6, 2, replace=False)
    )
    study.dataset_version.content_hash = "1" * 64  # under which features are cached
    study.dataset_version.save()
    for c, label in enumerate(LABELS):
        for number in range(n + (2 if c == 0 else 0)):
            age, is_lost = 20 + 2 * number, number >= n
            ratings = np.clip(np.round(rng.normal(2 + c * 0.7 + 0.03 * age, 0.8, study.settings["list_length"])), 1, 5)
            person = planted_person(
                study,
                label,
                [int(rating) for rating in ratings],
                int(ratings[0]),
                n_watched=number % 4,
                n_heard=number % 2,
                first_item=(number * (c + 1)) % 20,
            )
            for question, value in (
                ("age", age),
                ("gender", "woman" if number % 2 else "man"),
                ("items_per_month", 3),
            ):
                if not (question == "age" and number == 5):
                    Response.objects.create(participant=person, question=question, rank=0, value=value)
            if is_lost:
                person.status = ParticipantStatus.ABANDONED
                person.save()
            elif c < 2:
                link = PersonalLink.objects.create(study=study, digest=f"{label}{number}")
                Interview.objects.create(study=study, link=link, participant=person, number=1 + number % 3)


def reported(draft: Study, covariates: list[str]) -> Report:
    change_design(study=draft, settings={"plan": {"covariates": covariates}})
    launch_study(study=draft)
    draft.refresh_from_db()
    populated(draft)
    return build_report(study=draft)


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html)).replace("&#x27;", "'")


def analyses_of(report: Report) -> CovariateAnalyses:
    found = report.read_results().covariates
    assert found is not None
    return found


def test_a_report_adjusts_bounds_and_relates(draft: Study) -> None:
    report = reported(draft, ["age", "items_per_month"])
    found, page = analyses_of(report), plain(page_without_pictures(report))
    assert found.adjustment.factors == ("gender (stratum)", "age (stratum)")
    assert found.adjustment.covariates == ("age", "films per month")
    accuracy = next(variable for variable in found.adjustment.variables if variable.key == "accuracy")
    assert not isinstance(accuracy.ancova, Undefined)
    assert accuracy.ancova.n == 36
    assert [test.name for test in accuracy.ancova.covariates] == ["gender (stratum)", "age (stratum)", "age"]
    assert accuracy.ancova.covariates[2].n_missing == 3
    assert accuracy.ancova.sd_adjusted < accuracy.ancova.sd_unadjusted
    assert_approved("reports/covariates", text_of_report(report))
    # The mixed model of single ratings, without and with the covariates.
    ratings, nested = found.adjustment.ratings, report.read_results().nested
    assert not isinstance(ratings, Undefined)
    assert nested is not None
    assert not isinstance(nested, Undefined)
    table = ratings_table(ratings, nested)
    assert table is not None
    pair, adjusted = nested.pairs.pairs[0], ratings.model.pairs.pairs[0]
    assert adjusted.p != pair.p
    assert [cell.text for cell in table.rows[0].cells][:3] == [pair.a, pair.b, decimal(pair.difference).text]
    assert table.rows[0].cells[5].text == decimal(adjusted.difference).text
    assert table.title in page
    # Interviewers led the interviews of two conditions.
    assert not isinstance(accuracy.interviewers, Undefined | None)
    assert (accuracy.interviewers.n, accuracy.interviewers.n_clusters) == (24, 3)
    # Two of fourteen left TopPop.
    assert found.attrition is not None
    assert not isinstance(found.attrition.test, Undefined)
    assert [(rate.n_assigned, rate.n_lost) for rate in found.attrition.test.rates] == [(14, 2), (12, 0), (12, 0)]
    first = found.attrition.pairs[0]
    assert not isinstance(first.lee, Undefined)
    assert not isinstance(first.worst_case, Undefined)
    assert first.worst_case.low < first.lee.low <= first.observed <= first.lee.high < first.worst_case.high
    # Items and lists.
    assert not isinstance(found.items.model, Undefined)
    assert [slope.name for slope in found.items.model.slopes] == ["watched", "heard of"]
    assert not isinstance(found.lists, Undefined)
    assert not isinstance(found.lists.mediation, Undefined)
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(json.loads(report_json(report))))


def test_nothing_to_adjust_for_is_said_and_older_reports_are_read(planted: Study) -> None:
    report = build_report(study=planted)
    page = plain(page_without_pictures(report))
    assert "gender (stratum)" in page
    assert "was not tested" in page
    del report.results["covariates"]
    assert report.read_results().covariates is None
    assert "Adjusted comparisons" not in plain(page_without_pictures(report))


def test_covariates_are_questions_before_assignment_with_one_answer(draft: Study) -> None:
    for wrong in ("satisfaction", "gender_text", "unheard"):
        with pytest.raises(ParallaxError, match=wrong):
            change_design(study=draft, settings={"plan": {"covariates": [wrong]}})
    change_design(study=draft, settings={"plan": {"covariates": ["age"]}})
    draft.refresh_from_db()
    assert "before assignment: age." in preregistration(preregistration_plan(draft))


def test_the_form_asks_for_covariates(draft: Study, client: Client) -> None:
    client.force_login(StudyMembership.objects.get(study=draft).researcher)
    url = reverse("studies:plan", kwargs={"slug": draft.slug})
    form = client.get(url).context["form"]
    given: dict[str, Any] = {key: value for key, value in form.initial.items() if value is not None}
    answer = client.post(url, {**given, "covariates": ["age"]})
    assert answer.status_code == 302, answer.context and answer.context["form"].errors
    draft.refresh_from_db()
    assert draft.settings["plan"]["covariates"] == ["age"]


def test_lists_are_measured_by_training_users_and_features(planted: Study) -> None:
    items = list(planted.dataset_version.items.order_by("index")[:3])
    names = [item.external_id for item in items]
    counts = training_rows(cases_of(planted.run).training_digest)
    four = Slots(LABELS[:2], [3, 1], [*names, names[0]], [None] * 4)
    found = shown_lists(planted, planted.run, four)
    shares = 100 * counts.item_counts[[item.index for item in items]] / counts.n_users
    assert found.popularity == pytest.approx([shares.mean(), shares[0]])
    assert np.isnan(found.diversity[1])
    assert found.diversity_by == FEATURES
    Feature.objects.all().delete()
    planted.dataset_version.items.update(plot="")
    planted.dataset_version.content_hash = "0" * 64  # under which features are cached
    rated = shown_lists(planted, planted.run, Slots(LABELS[:1], [3], names, [None] * 3))
    assert rated.diversity_by == CO_RATING
    by_item = (counts.user_items[:, [item.index for item in items]] != 0).toarray().astype(float)
    unit = by_item / np.linalg.norm(by_item, axis=0)
    cosines = (unit.T @ unit)[np.triu_indices(3, 1)]
    assert rated.diversity[0] == pytest.approx(1 - cosines.mean())
