"""Fits that say how far they are, and stop when their run is over."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError

from evaluation.enums import PartKind, PartStatus, RunStatus
from evaluation.management import progress_line
from evaluation.models import EvaluationRun, RunPart, TrainedModel
from evaluation.services import fit_progress
from evaluation.services.fit_progress import FitProgress, in_words
from evaluation.services.parts import lease_part
from evaluation.services.runs import cancel_run
from evaluation.services.worker_loop import execute
from jobs.leases import LeaseLost
from recommenders.puresvd import PureSVD
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def fit_part() -> RunPart:
    """A leased fit of PureSVD in a run that is prepared."""
    run = make_run()
    while (part := lease_part(run=run)) is not None:
        if part.kind == PartKind.FIT and part.algorithm and part.algorithm.algorithm == "puresvd":
            return part
        execute(part=part)
    raise AssertionError("no fit was there to take")


def nothing() -> None:
    """A heartbeat that has nothing to say."""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_progress, "WRITE_SECONDS", 0.0)


def test_fit_in_a_run_says_share_and_words_where_the_run_shows_it(at_once: None) -> None:
    part = fit_part()
    FitProgress(part, nothing)(0.5, "Solving the eigenproblem")
    part.run.refresh_from_db()
    assert part.run.activity.startswith("Fitting PureSVD4: 50%")


def test_what_does_not_fit_is_cut(at_once: None) -> None:
    part = fit_part()
    FitProgress(part, nothing)(0.5, "x" * 500)
    part.run.refresh_from_db()
    assert len(part.run.activity) == 200


def test_writes_are_few(django_assert_num_queries: Any) -> None:
    tell = FitProgress(fit_part(), nothing)
    with django_assert_num_queries(0):
        for share in range(1000):
            tell(share / 1000, "Epoch")


def test_real_fit_reports_and_its_model_is_stored(at_once: None) -> None:
    part = fit_part()
    said: list[str] = []
    real = EvaluationRun.objects.get

    def note(share: float, what: str, /) -> None:
        FitProgress(part, nothing)(share, what)
        said.append(real(pk=part.run_id).activity)

    from evaluation.services import worker_loop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_loop, "FitProgress", lambda *given: note)
        assert execute(part=part)
    assert said[0].startswith("Fitting PureSVD4: 0%")
    assert said[-1].startswith("Fitting PureSVD4: 100%")


def test_cancelling_the_run_stops_the_fit_at_its_next_report(at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    part = fit_part()
    models = TrainedModel.objects.count()
    reached: list[float] = []
    real = PureSVD._fit.__func__  # type: ignore[attr-defined]

    def cancelled_half_way(cls: Any, ratings: Any, params: Any, features: Any, rng: Any, progress: Any) -> Any:
        cancel_run(run=EvaluationRun.objects.get(pk=part.run_id))
        reached.append(0.5)
        progress(0.5, "Half")
        reached.append(1.0)
        return real(cls, ratings, params, features, rng, progress)

    monkeypatch.setattr(PureSVD, "_fit", classmethod(cancelled_half_way))
    assert execute(part=part) is False
    assert reached == [0.5]
    part.refresh_from_db()
    assert part.run.status == RunStatus.CANCELLED
    assert part.status != PartStatus.DONE
    assert TrainedModel.objects.count() == models


def test_lost_lease_stops_the_fit_without_a_query(django_assert_num_queries: Any) -> None:
    def lost() -> None:
        raise LeaseLost("part.lease_lost", "Another worker has it.")

    tell = FitProgress(fit_part(), lost)
    with django_assert_num_queries(0), pytest.raises(LeaseLost):
        tell(0.5, "Half")


def test_fit_goes_on_when_its_progress_cannot_be_written(at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    part = fit_part()

    def away(**kwargs: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(EvaluationRun.objects, "filter", away)
    FitProgress(part, nothing)(0.5, "Half")


def test_time_left_is_said_when_there_is_something_to_judge_by() -> None:
    assert in_words(0.5, "Epoch 5", 60.0).endswith("60 s left")
    assert in_words(0.5, "Epoch 5", 1.0) == "50%, epoch 5"
    assert in_words(0.01, "Epoch 1", 60.0) == "1%, epoch 1"
    assert in_words(1.0, "Done", 60.0) == "100%, done"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_train_shows_progress_on_a_terminal_and_wipes_it() -> None:
    make_version()
    err = Terminal()
    call_command("train", "small", "--algorithm", "puresvd", "--param", "factors=4", stdout=io.StringIO(), stderr=err)
    assert err.getvalue().startswith("\r\x1b[2K0%, fitting PureSVD")
    assert err.getvalue().endswith("\r\x1b[2K")
    quiet = io.StringIO()
    call_command("train", "small", "--algorithm", "toppop", stdout=io.StringIO(), stderr=quiet)
    assert quiet.getvalue() == ""


def test_train_that_is_interrupted_stores_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    make_version()

    def interrupt(self: object, share: float, what: str, /) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(progress_line.ProgressLine, "update", interrupt)
    with pytest.raises(CommandError, match=r"^Stopped\. No model was stored\.$") as ended:
        call_command("train", "small", "--algorithm", "puresvd", "--param", "factors=4", stdout=io.StringIO())
    assert ended.value.returncode == 130
    assert not TrainedModel.objects.exists()
