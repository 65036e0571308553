"""The Bayesian analysis: a worker computes it, the chapter appears, and it claims no more than its chains support."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from analysis.compute import bayesian
from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.models import Report
from analysis.present import bayesian as narrative
from analysis.results.bayesian import BayesianResults, PriorAnalyses, Sampling
from analysis.results.codec import decode
from analysis.services import bayesian_jobs, build_report, report_cache
from analysis.services.report_cache import chapter_of, version_of
from core.errors import NotAllowedInState, ParallaxError
from inference.convergence import Convergence
from inference.hierarchical_ordinal import NEEDS_NUMPYRO
from inference.order_bootstrap import PairAgreement
from inference.results import Undefined
from jobs.models import Job, JobStatus
from jobs.services import cancel, do_job, sweep
from studies.models import Participant, Study, StudyMembership
from tests.analysis.conftest import FEW_RESAMPLES
from tests.factories.accounts import UserFactory
from tests.factories.analysis import page_without_pictures, plant, planted_person, report_page
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

ALGORITHMS = "toppop,corngr,puresvd:factors=4"
RATINGS = {"TopPop": (4, 4, 3, 4, 4), "CorNgr": (1, 2, 1, 2, 3), "PureSVD4": (2, 3, 1, 3, 2)}
pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def analysed(module_database: None) -> Report:
    """A report on answers that differ within every participant, with its analysis computed in full.

    So many participants, and so few lists, that the shortest chains converge: longer ones take a minute.
    """
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = make_study(slug="modelled-films", run=run, settings=FEW_RESAMPLES)
    for number in range(10):
        for label, ratings in RATINGS.items():
            turned = [1 + (rating - 1 + (number + rank) % 2) % 5 for rank, rating in enumerate(ratings)]
            planted_person(study, label, turned, 3 + (label == "TopPop"), first_item=number)
    report = build_report(study=study)
    assert do_job(job_id=analysis_of(report).pk) is True
    return Report.objects.get(pk=report.pk)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that are too short to converge, for tests of the job around them."""
    for name, value in {"WARM_UP": 2, "DRAWS": 16, "LONGER": ((1, 0.8), (2, 0.9))}.items():
        monkeypatch.setattr(bayesian, name, value)


def analysis_of(report: Report) -> Job:
    """The newest job of the Bayesian analysis of a report, as it is now."""
    job: Job = report.jobs.filter(kind="bayesian").first()
    return job


def models_of(report: Report) -> PriorAnalyses:
    numbers = report.read_bayesian()
    assert isinstance(numbers, BayesianResults)
    assert isinstance(numbers.models, PriorAnalyses)
    return numbers.models


@pytest.mark.slow
def test_posterior_recovers_what_is_planted(analysed: Report) -> None:
    models = models_of(analysed)
    assert models.has_converged
    assert [prior.name for prior in models.priors] == ["Main", "Narrower", "Wider"]
    for prior in models.priors:
        assert prior.posterior.ranks.perceived.best()["TopPop"] > 0.95
        effects = prior.posterior.effects
        assert effects["TopPop"].low > max(effects[name].high for name in ("CorNgr", "PureSVD4")) - 1.5
        for summary in prior.posterior.hit_rates.values():
            assert 0 <= summary.low <= summary.mean <= summary.high <= 1
    # The narrower prior pulls the effects together.
    main, narrower = (prior.posterior.effects["TopPop"].mean for prior in models.priors[:2])
    assert 0 < narrower < main
    recall = analysed.read_results().objective.at(0).values("recall")
    rates = models.main.posterior.hit_rates
    assert sorted(rates, key=lambda name: rates[name].mean) == sorted(rates, key=recall.__getitem__)
    numbers = analysed.read_bayesian()
    assert numbers.factors is not None
    assert numbers.factors.anova.log > 0  # type: ignore[union-attr]
    assert len(numbers.factors.pairs) == 3


@pytest.mark.slow
def test_pages_offer_the_analysis_only_until_it_is_there(analysed: Report, client: Client) -> None:
    client.force_login(analysed.study.memberships.get().researcher)
    chapter = report_page(analysed, "chapter", "supplement")
    for page in (analysed.get_absolute_url(), chapter):
        assert 'id="bayesian-analysis"' not in client.get(page).text
    analysed.jobs.update(status=JobStatus.FAILED)
    report_cache.draw_pages(Report.objects.get(pk=analysed.pk))
    for page in (analysed.get_absolute_url(), chapter):
        assert "not be computed" in client.get(page).text


@pytest.mark.slow
def test_chapter_says_what_the_posterior_shows(analysed: Report) -> None:
    body = page_without_pictures(analysed)
    assert "TopPop has the" in body
    assert "95% credible interval" in body
    assert "every prior" in body
    assert "scale 0.50" in body
    assert narrative.PENDING not in body
    assert narrative.LABEL not in body  # they are people
    tables = {table.key for table in document_of(analysed).tables()}
    assert {"posterior-ranks-perceived", "posterior-ranks-objective"} <= tables


@pytest.mark.slow
def test_same_answers_same_numbers(analysed: Report, brief: None) -> None:
    first, second = (bayesian.compute_bayesian(report=analysed, progress=lambda words: None) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.slow
def test_numbers_stand_in_the_file_of_numbers(analysed: Report) -> None:
    written = json.loads(report_json(analysed))["bayesian"]
    assert written == analysed.bayesian
    assert written["models"]["priors"][0]["posterior"]["sampling"]["chains"] == 4


@pytest.mark.slow
def test_report_is_there_first_and_the_chapter_follows(planted: Study, brief: None) -> None:
    report = build_report(study=planted)
    assert analysis_of(report).status == JobStatus.QUEUED
    assert narrative.PENDING in str(chapter_of(report, "supplement"))
    version = version_of(report)
    assert do_job(job_id=analysis_of(report).pk) is True
    assert do_job(job_id=analysis_of(report).pk) is False  # delivered twice
    report = Report.objects.get(pk=report.pk)
    assert version_of(report) != version
    body = str(chapter_of(report, "supplement"))
    assert narrative.PENDING not in body
    # Such short chains have not converged: no conclusion is drawn from them.
    assert "did not converge" in body
    assert "no conclusion" in body
    assert "posterior probability of" not in body
    assert models_of(report).main.posterior.sampling.draws == 32  # after the longer chains, too
    assert build_report(study=planted).pk == report.pk  # the inputs are the same
    assert bayesian_jobs.request_bayesian(report=report).status == JobStatus.SUCCEEDED


@pytest.mark.slow
def test_the_command_computes_it_before_it_writes_files(planted: Study, brief: None, tmp_path: Path) -> None:
    call_command("report", planted.slug, "--bayesian", "--out", str(tmp_path))
    page = (tmp_path / "supplement.html").read_text()
    assert narrative.PENDING not in page
    assert "did not converge" in page
    # A worker that is at it keeps it.
    Job.objects.filter(kind="bayesian").update(
        status=JobStatus.RUNNING, result={}, activity="Sampling", lease="another",
        leased_until=timezone.now() + timedelta(minutes=1),
    )  # fmt: skip
    with pytest.raises(CommandError, match="at the Bayesian"):
        call_command("report", planted.slug, "--bayesian")


def test_the_command_says_why_there_is_no_analysis(planted: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_more: Any) -> dict[str, Any]:
        raise ParallaxError("answers.changed", "The answers have changed.")

    monkeypatch.setattr(bayesian_jobs, "compute_bayesian", refused)
    with pytest.raises(CommandError, match="answers have changed"):
        call_command("report", planted.slug, "--bayesian")


@pytest.mark.slow
def test_simulated_answers_are_labelled(study: Study, brief: None) -> None:
    plant(study, {"TopPop": [4, 5], "CorNgr": [2, 1], "PureSVD4": [3, 3]}, mode="simulated")
    report = build_report(study=study)
    do_job(job_id=analysis_of(report).pk)
    assert narrative.LABEL in page_without_pictures(Report.objects.latest("pk"))


def test_without_numpyro_the_report_says_what_to_install(planted: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpyro", None)
    report = build_report(study=planted)
    assert do_job(job_id=analysis_of(report).pk) is False
    report = Report.objects.get(pk=report.pk)
    assert analysis_of(report).status == JobStatus.FAILED
    assert analysis_of(report).error == NEEDS_NUMPYRO
    page = page_without_pictures(report)
    assert "NumPyro" in page
    assert "Pairwise comparisons" in page  # all else is there
    with pytest.raises(CommandError, match=r"pip install -r requirements-bayesian\.txt"):
        call_command("report", planted.slug, "--bayesian")


def test_answers_that_changed_are_refused(planted: Study, brief: None) -> None:
    report = build_report(study=planted)
    Participant.objects.filter(study=planted).first().delete()  # type: ignore[union-attr]
    assert do_job(job_id=analysis_of(report).pk) is False
    report = Report.objects.get(pk=report.pk)
    assert analysis_of(report).status == JobStatus.FAILED
    assert "answers have changed" in page_without_pictures(report)


def test_too_little_to_compare(study: Study) -> None:
    plant(study, {"TopPop": [3, 4, 5]})
    report = build_report(study=study)
    assert do_job(job_id=analysis_of(report).pk) is True
    numbers = Report.objects.latest("pk").read_bayesian()
    assert numbers is not None
    assert isinstance(numbers.models, Undefined)
    assert "two algorithms" in page_without_pictures(Report.objects.latest("pk"))


@pytest.mark.slow
def test_page_shows_the_progress_and_cancels_and_tries_again(
    client: Client, planted: Study, brief: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = build_report(study=planted)
    # What stands around the chapters is looked at here; the chapters are arranged once, not in each state.
    document = document_of(report)
    monkeypatch.setattr(report_cache, "document_of", lambda report: document)
    client.force_login(StudyMembership.objects.get(study=planted).researcher)
    page, part = report.get_absolute_url(), report_page(report, "bayesian")
    assert "Waiting" in client.get(page).content.decode()
    assert 'hx-trigger="every 3s"' in client.get(part).content.decode()
    client.post(report_page(report, "bayesian-cancel"))
    assert client.get(part).headers["HX-Refresh"] == "true"
    assert "Try again" in client.get(page).content.decode()
    assert do_job(job_id=analysis_of(report).pk) is False
    client.post(report_page(report, "bayesian-cancel"))  # it is over: a message, no error
    client.post(report_page(report, "bayesian-request"))
    assert do_job(job_id=analysis_of(report).pk) is True
    assert 'id="bayesian-analysis"' not in client.get(page).content.decode()
    Job.objects.filter(kind="bayesian").delete()  # as for a report of an older version
    report_cache.draw_pages(Report.objects.get(pk=report.pk))
    assert "not computed" in client.get(page).content.decode()
    stranger = Client()
    stranger.force_login(UserFactory())
    assert stranger.get(part).status_code == 404


def test_cancelled_while_it_runs(planted: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    report = build_report(study=planted)

    def cancelled(**_more: Any) -> dict[str, Any]:
        cancel(analysis_of(report))
        _more["progress"]("Sampling")
        raise AssertionError("the worker went on")

    monkeypatch.setattr(bayesian_jobs, "compute_bayesian", cancelled)
    assert do_job(job_id=analysis_of(report).pk) is False
    analysis = analysis_of(report)
    assert (analysis.status, report.bayesian) == (JobStatus.CANCELLED, None)
    with pytest.raises(NotAllowedInState):
        cancel(analysis)


@pytest.mark.parametrize(
    ("error", "status"),
    [(OperationalError, "queued"), (ValueError, "failed"), (KeyboardInterrupt, "queued")],
)
def test_what_goes_wrong(
    planted: Study, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], status: str
) -> None:
    report = build_report(study=planted)

    def broken(**_more: Any) -> dict[str, Any]:
        raise error

    monkeypatch.setattr(bayesian_jobs, "compute_bayesian", broken)
    with pytest.raises(error):
        do_job(job_id=analysis_of(report).pk)
    assert analysis_of(report).status == status
    Job.objects.update(hinted_at=None)
    assert sweep() == (status == "queued")


@pytest.mark.slow
def test_words_of_pairs_and_factors(analysed: Report) -> None:
    models = models_of(analysed)
    ranks = models.main.posterior.ranks
    opposite = replace(ranks, pairs=tuple(PairAgreement(f"A{n}", "B", 0.01, 0.99, 0.02) for n in range(8)))
    words = narrative.pairs_sentence(opposite)
    assert "of none" in words
    assert "of eight" in words
    assert "two more." in words
    bad = replace(models.main.posterior.sampling, worst=Convergence(1.2, 50, 60))
    prior = replace(models.main, posterior=replace(models.main.posterior, sampling=bad))
    words = narrative.convergence_sentence(replace(models, priors=(prior, *models.priors[1:])))
    assert "did not converge" in words
    assert "R̂ = 1.200" in words
    assert "size 50" in words
    diverged = replace(models.main.posterior.sampling, divergences=3)
    assert not diverged.has_converged
    prior = replace(models.main, posterior=replace(models.main.posterior, sampling=diverged))
    words = narrative.convergence_sentence(replace(models, priors=(prior, *models.priors[1:])))
    assert "not converge" in words
    assert "3 divergent transitions;" in words


def test_results_of_the_former_sampler_are_read() -> None:
    stored = {
        "chains": 4, "warm_up": 500, "draws": 1000, "acceptance": 0.44,
        "worst": {"r_hat": 1.0, "ess_bulk": 900.0, "ess_tail": 900.0},
    }  # fmt: skip
    sampling = decode(Sampling, stored)
    assert sampling.divergences == 0
    assert sampling.has_converged
