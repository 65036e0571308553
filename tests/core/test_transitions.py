from __future__ import annotations

import pytest
from django.db import transaction

from accounts.models import User
from catalog.models import Dataset, DatasetVersion
from core.errors import NotAllowedInState
from core.models import LogEntry
from core.transitions import move, record
from evaluation.enums import RUN_MOVES, RunStatus
from evaluation.models import EvaluationRun
from jobs.queue import enqueue_on_commit

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def run() -> EvaluationRun:
    version = DatasetVersion.objects.create(
        dataset=Dataset.objects.create(name="d", title="D"),
        number=1, content_hash="", ratings_digest="", source_format="", n_users=0, n_items=0, n_ratings=0,
        scale_low=1, scale_high=5, scale_step=1,
    )  # fmt: skip
    return EvaluationRun.objects.create(version=version, split={}, protocol={}, seed=1, inputs_hash="")


@pytest.mark.parametrize("before", RunStatus.values)
@pytest.mark.parametrize("after", RunStatus.values)
def test_every_pair_of_statuses_is_allowed_or_refused_by_the_table(run: EvaluationRun, before: str, after: str) -> None:
    EvaluationRun.objects.filter(pk=run.pk).update(status=before)
    run.refresh_from_db()
    if after in RUN_MOVES.get(before, ()):
        move(run, to=after, allowed=RUN_MOVES, reason="because", error="e")
        entry = LogEntry.objects.get()
        assert (entry.from_status, entry.to_status, entry.object_id, entry.reason) == (before, after, run.pk, "because")
        expected = (after, "e")
    else:
        with pytest.raises(NotAllowedInState):
            move(run, to=after, allowed=RUN_MOVES, error="e")
        assert not LogEntry.objects.exists()
        expected = (before, "")
    run.refresh_from_db()
    assert (run.status, run.error) == expected


def test_of_two_that_try_the_same_move_one_is_refused(run: EvaluationRun) -> None:
    other = EvaluationRun.objects.get(pk=run.pk)
    before = run.updated_at
    move(run, to=RunStatus.RUNNING, allowed=RUN_MOVES)
    assert run.updated_at > before
    with pytest.raises(NotAllowedInState, match="someone else") as caught:
        move(other, to=RunStatus.RUNNING, allowed=RUN_MOVES)
    assert caught.value.extra["status"] == "queued"
    assert LogEntry.objects.count() == 1


def test_an_act_that_leaves_the_status_is_logged_with_its_facts(run: EvaluationRun) -> None:
    user = User.objects.create_user("a@example.org")
    record(run, reason="Looked at.", actor=user, pages=3)
    entry = LogEntry.objects.get()
    assert (entry.kind, entry.object_id, entry.actor, entry.reason) == (
        "evaluation.evaluationrun", run.pk, user, "Looked at.",
    )  # fmt: skip
    assert (entry.from_status, entry.to_status, entry.facts) == ("queued", "queued", {"pages": 3})


def test_a_log_entry_is_written_once_and_never_deleted() -> None:
    user = User.objects.create_user("a@example.org")
    entry = LogEntry.objects.create(actor=user, kind="x", object_id=1, to_status="y")
    assert str(entry) == "x 1:  → y"
    with pytest.raises(TypeError, match="never changed"):
        entry.save()
    with pytest.raises(TypeError, match="never deleted"):
        entry.delete()


@pytest.mark.django_db(transaction=True)
def test_a_task_is_sent_only_when_the_transaction_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    from celery import current_app

    sent: list[dict[str, object]] = []
    task = current_app.tasks["evaluation.work"]
    monkeypatch.setattr(task, "apply_async", lambda args, kwargs, **options: sent.append(kwargs))
    with transaction.atomic():
        enqueue_on_commit("evaluation.work", run_id=1)
        assert sent == []
    assert sent == [{"run_id": 1}]
    with transaction.atomic():
        enqueue_on_commit("evaluation.work", run_id=2)
        transaction.set_rollback(True)
    assert sent == [{"run_id": 1}]
