"""Algorithms that the data are too small for: refused before the run, lowered defaults, or a row with the reason."""

from __future__ import annotations

import json
import re
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from catalog.importers.base import ParsedItem
from catalog.models import DatasetVersion
from catalog.selectors.ratings import features_of, ratings_of
from core import artefacts
from core.models import LogEntry
from evaluation.enums import PartKind, RunStatus
from evaluation.exports import metric_rows, run_document
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows
from evaluation.selectors.title_words import learns_from_titles_alone
from evaluation.services.parts import lease_part
from evaluation.services.runs import fail_part, resume_run
from evaluation.services.training import features_for, recipe_of, store_training_rows
from evaluation.services.worker_loop import execute
from recommenders.puresvd import PureSVD
from studies.design.services.design import create_study
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, work_off
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
GENRES = 18
SEVEN = "toppop,corngr,nncosngr,asysvd,puresvd:factors=50,puresvd:factors=300,lsa"


def genre_items(n_items: int) -> tuple[ParsedItem, ...]:
    """Films of which nothing but genres is known, 18 in all, as in MovieLens 1M."""
    return tuple(
        ParsedItem(
            external_id=str(index + 1),
            title=f"Film {index + 1}",
            year=None,
            plot="",
            features=(("genre", f"Genre {index % GENRES}"), ("genre", f"Genre {(index // 5) % GENRES}")),
        )
        for index in range(n_items)
    )


def movielens_like(**kwargs: Any) -> DatasetVersion:
    return make_version(n_users=400, n_items=320, per_user=20, items=genre_items(320), **kwargs)


def test_seven_of_the_study_run_on_films_with_eighteen_genres() -> None:
    """The default of LSA is lowered to what the content allows, recorded in its parameters, and stated."""
    run = work_off(make_run(version=movielens_like(), algorithms=SEVEN))
    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    lsa = run.algorithms.get(algorithm="lsa")
    assert lsa.params["factors"] == GENRES
    assert lsa.model is not None
    assert lsa.model.params["factors"] == GENRES
    assert any("factors=18" in said and "default of 100" in said for said in run.comments)
    assert len(model_rows(run)) == 7


def test_default_that_fits_leaves_the_parameters_of_existing_recipes() -> None:
    items = tuple(
        ParsedItem(external_id=str(at), title=f"Film {at}", year=None, features=(("director", f"Director {at}"),))
        for at in range(110)
    )
    run = make_run(version=make_version(n_users=120, items=items), algorithms="lsa,asysvd")
    assert [one.params["factors"] for one in run.algorithms.all()] == [100, 50]
    assert [one.label for one in run.algorithms.all()] == ["LSA", "AsySVD"]
    assert run.comments == []


TOO_LARGE = (
    "lsa:factors=100",
    "puresvd:factors=900",
    "asysvd:factors=900",
    "ials:factors=321",
    "lpca:factors=321",
    "aspect:classes=321",
    "aspect-content:classes=19",
    "expected-utility:scorer=puresvd:factors=900",
    "expected-utility:utility=given",
    "puresvd:factors=900,lsa:factors=500",
)
OF_CONTENT = ("lsa", "naive-bayes", "aspect-content")


def test_algorithms_that_the_data_do_not_allow_are_refused_before_the_run() -> None:
    version = movielens_like()
    unknown = tuple(ParsedItem(external_id=f"A{at}BC", title=f"A{at}BC", year=None) for at in range(40))
    bare, small = make_version(name="bare", items=unknown), make_version(n_users=60, n_items=200, per_user=15)
    cases = {names: partial(make_run, version=version, algorithms=f"toppop,{names}") for names in TOO_LARGE}
    cases |= {f"{key} on titles": partial(make_run, version=bare, algorithms=key) for key in OF_CONTENT}
    cases |= {"54 users": partial(make_run, version=small, algorithms="puresvd:factors=60", reserve=0.1)}
    assert_refused_as_approved("algorithms-on-data", cases)
    assert not EvaluationRun.objects.exists()
    assert make_run(version=small, algorithms="puresvd:factors=60", reserve=0.0).pk


COLOURS, THINGS = ("red", "blue", "green", "white"), ("lamp", "chair", "mug", "towel", "clock")


def titled_items(**kwargs: Any) -> tuple[ParsedItem, ...]:
    """Products of which nothing but a title is known, unless told otherwise."""
    titles = (f"The {COLOURS[at % 4]} {THINGS[at % 5]} No. {at}" for at in range(40))
    return tuple(ParsedItem(external_id=str(at), title=title, **kwargs) for at, title in enumerate(titles))


def test_titles_are_the_content_where_nothing_else_is_known() -> None:
    run = work_off(make_run(version=make_version(items=titled_items()), algorithms="lsa:factors=9,naive-bayes"))
    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    assert_sentences_approved("sentences/comments-titles", {"titles alone": run.comments})
    model = run.algorithms.get(algorithm="lsa").model
    assert model is not None
    assert learns_from_titles_alone(model.version, model)
    vectors = artefacts.load("models", model.digest).arrays["item_vectors"]
    alike = vectors @ vectors[0]  # the red lamp
    assert alike[20] == pytest.approx(1.0)  # the other one
    assert 0.2 < alike[4] < 0.9  # a red clock
    assert alike[1] == pytest.approx(0.0, abs=1e-12)  # a blue chair


def test_titles_are_no_content_beside_other_features_unless_asked_for() -> None:
    version = make_version(items=genre_items(40))
    assert "title" not in features_of(version, "alone").kinds
    run = make_run(version=version, algorithms="lsa:factors=2,lsa:factors=2,titles=add")
    assert run.comments == []
    plain, titled = run.algorithms.all()
    assert "titles" not in plain.params
    rows = store_training_rows(ratings=ratings_of(version))
    recipes = [
        recipe_of(version=version, training_digest=rows, algorithm="lsa", params=each.params, seed=1, threads=1)
        for each in (plain, titled)
    ]
    assert recipes[0] != recipes[1]
    assert ("title", "film") in features_of(version, "add").terms


def test_decades_alone_are_said_and_titles_can_be_added() -> None:
    version = make_version(items=titled_items(year=1999, features=(("decade", "1990s"),)))
    run = make_run(version=version, algorithms="lsa:factors=1,lsa:factors=2,titles=add")
    (said,) = run.comments
    assert_sentences_approved("sentences/comments-decades", {"decades alone": [said]})


def test_expected_utility_gets_the_titles_only_for_a_scorer_that_reads_them() -> None:
    items = titled_items(features=(("utility", "2.5"),))
    version = make_version(items=items)
    features = {
        scorer: features_for(
            version=version,
            training_digest=store_training_rows(ratings=ratings_of(version)),
            algorithm="expected-utility",
            params={"scorer": scorer, "utility": "given"},
        )
        for scorer in ("itemitem", "lsa:factors=2")
    }
    assert [given and given.kinds for given in features.values()] == [("utility",), ("title", "utility")]


def test_train_says_that_titles_are_the_content() -> None:
    make_version(name="shop", items=titled_items())
    said = StringIO()
    call_command("train", "shop", "--algorithm", "lsa", "--param", "factors=4", stdout=said, stderr=StringIO())
    assert "items' titles" in said.getvalue()
    said = StringIO()
    call_command("recommend", "shop", "--algorithm", "lsa:factors=9", "--profile", "0:5", stdout=said)
    assert "items' titles" in said.getvalue()


def diverging(monkeypatch: pytest.MonkeyPatch) -> None:
    """PureSVD meets data on which the eigenproblem does not converge: a fault no check can foresee."""

    def fail(*args: Any, **kwargs: Any) -> None:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr(PureSVD, "_fit", fail)


@pytest.fixture
def partly_failed(monkeypatch: pytest.MonkeyPatch) -> EvaluationRun:
    diverging(monkeypatch)
    run = make_run(algorithms="toppop,puresvd:factors=4,itemitem")
    while True:
        try:
            return work_off(run)
        except np.linalg.LinAlgError:  # logged by the task; the next message goes on
            continue


def test_algorithm_that_fails_is_a_row_while_the_others_finish(partly_failed: EvaluationRun) -> None:
    run = partly_failed
    assert (run.status, run.error) == (RunStatus.SUCCEEDED, "")
    failed = run.algorithms.get(algorithm="puresvd")
    assert "not converge" in failed.error
    assert "Traceback" in failed.error_detail
    assert [row.algorithm for row in model_rows(run)] == ["toppop", "itemitem"]
    document = run_document(run)
    assert [one["label"] for one in document["failed"]] == ["PureSVD4"]
    assert "did not converge" in document["failed"][0]["reason"]
    assert json.dumps(document)
    rows = [row for row in metric_rows(run) if row[0] == "PureSVD4"]
    assert len(rows) == 1
    assert rows[0][2] == "failed"
    assert "did not converge" in rows[0][-1]


def test_page_and_api_name_the_failed_algorithm(partly_failed: EvaluationRun, client: Client) -> None:
    user = User.objects.create_user(email="r@example.org", password="a long enough password")
    client.force_login(user)
    page = client.get(reverse("evaluation:detail", args=(partly_failed.pk,))).content.decode()
    assert "1 of 3 algorithms failed" in page
    assert "not converge" in page
    runs = client.get(reverse("evaluation:list")).content.decode()
    assert "1 failed" in runs
    told = client.get(f"/api/v1/runs/{partly_failed.pk}/").json()["algorithms"]
    assert [(one["label"], bool(one["error"])) for one in told][1] == ("PureSVD4", True)
    assert [one["status"] for one in told] == ["succeeded", "failed", "succeeded"]


@pytest.mark.django_db(transaction=True)
def test_command_prints_the_row_with_its_reason(eager: None) -> None:
    version = make_version(n_users=200, n_items=40)
    # A learning rate as large as that diverges in training, which no check can foresee.
    out = StringIO()
    call_command(
        "evaluate", version.dataset.name, "--algorithms", "toppop,asysvd:factors=5,learning_rate=1e6", "--split",
        "probe:share=0.2", "--relevant", "4", "--irrelevant", "2", "--negatives", "20", stdout=out,
    )  # fmt: skip
    said = out.getvalue()
    assert re.search(r"AsySVD .* +failed", said)
    assert "diverged" in said
    assert "1 of 2 algorithms failed" in said


def test_study_leaves_the_failed_algorithm_out_and_says_so(partly_failed: EvaluationRun) -> None:
    study = create_study(slug="left-out", version=partly_failed.version, run=partly_failed)
    assert [one.label for one in study.conditions.order_by("position")] == [
        one.label for one in partly_failed.algorithms.exclude(algorithm="puresvd")
    ]
    made = study_log(study.pk)
    assert made["left_out"] == [{"label": "PureSVD4", "reason": partly_failed.algorithms.get(position=1).error}]


def study_log(pk: int) -> dict[str, Any]:
    return LogEntry.objects.get(kind="studies.study", object_id=pk, to_status="draft").facts


def test_run_whose_every_algorithm_fails_is_failed_and_can_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(algorithms="puresvd:factors=4,puresvd:factors=6")
    with monkeypatch.context() as patched:
        diverging(patched)
        for _ in range(6):
            try:
                work_off(run)
            except np.linalg.LinAlgError:
                continue
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "did not converge" in run.error
    work_off(resume_run(run=run))
    assert run.status == RunStatus.SUCCEEDED
    assert not run.algorithms.exclude(error="").exists()
    assert len(model_rows(run)) == 2


def test_measurement_that_fails_takes_its_algorithm_alone() -> None:
    run = make_run(algorithms="toppop,puresvd:factors=4")
    for _ in range(3):  # the preparation and both fits
        part = lease_part(run=run)
        assert part is not None
        execute(part=part)
    part = lease_part(run=run)
    assert part is not None
    assert part.kind == PartKind.MEASURE
    assert part.algorithm is not None
    fail_part(part=part, reason="The model gave no numbers.")
    work_off(run)
    assert run.status == RunStatus.SUCCEEDED
    assert [row.label for row in model_rows(run)] == [one.label for one in run.algorithms.exclude(pk=part.algorithm.pk)]
