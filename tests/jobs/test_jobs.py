"""A job of any kind: taken by one worker, put back when that is gone, finished once, cancelled at any moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import OperationalError
from django.utils import timezone

from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from jobs import archives
from jobs.archives import clean_jobs
from jobs.kinds import KINDS, Kind, Progress
from jobs.leases import GONE, MAX_ATTEMPTS, Heartbeat, LeaseLost
from jobs.models import JOB_MOVES, Job, JobStatus
from jobs.services import HINT_SECONDS, LEASES, cancel, do_job, enqueue, lease_job, request, sweep
from jobs.tasks import FORMER, drop_former
from parallax.celery import app
from tests.factories.accounts import UserFactory
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
Work = Callable[[Job, Progress], dict[str, Any]]


class Worker:
    """What a worker does with a job of the kind of these tests."""

    work: Work
    may_begin: Callable[[], bool]
    ended: list[int]
    keeps: bool


def work(job: Job, progress: Progress) -> dict[str, Any]:
    return Worker.work(job, progress)


def may_begin(job: Job) -> bool:
    return Worker.may_begin()


def after(job: Job) -> None:
    Worker.ended.append(job.pk)


def keeps(job: Job) -> bool:
    return Worker.keeps


@pytest.fixture(autouse=True)
def knitting(monkeypatch: pytest.MonkeyPatch) -> None:
    here = "tests.jobs.test_jobs"
    kind = Kind(
        "knit", "Knitting", work=f"{here}.work", ready=f"{here}.may_begin", after=f"{here}.after",
        kept_days=7, keeps_file=f"{here}.keeps",
    )  # fmt: skip
    monkeypatch.setitem(KINDS, "knit", kind)
    # A thread that renewed a lease would wait for the transaction of the test that does the work.
    monkeypatch.setattr(Heartbeat, "_beat", lambda heartbeat: None)
    Worker.work = staticmethod(lambda job, progress: {"result": {"n": 3}})
    Worker.may_begin = staticmethod(lambda: True)
    Worker.ended, Worker.keeps = [], True


@pytest.fixture
def asked(sent: list[int]) -> Job:
    return request("knit", owner=UserFactory(), payload={"rows": 3})


def again(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def taken(job: Job) -> Job:
    job = again(job)
    assert lease_job(job)
    return job


def die(job: Job) -> None:
    """The worker that holds it is heard of no more."""
    Job.objects.filter(pk=job.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_of_two_workers_one_does_it_and_only_once(asked: Job, sent: list[int]) -> None:
    assert sent == [asked.pk]
    held = taken(asked)
    assert (held.status, held.attempts) == (JobStatus.RUNNING, 1)
    assert do_job(job_id=asked.pk) is False
    assert again(asked).lease == held.lease
    assert LEASES.release(held)
    assert not LEASES.release(held)
    assert do_job(job_id=asked.pk) is True
    assert do_job(job_id=asked.pk) is False
    done = again(asked)
    assert (done.status, done.attempts, done.lease, done.result) == (JobStatus.SUCCEEDED, 1, "", {"n": 3})
    assert Worker.ended == [asked.pk]


def test_the_message_of_a_job_that_is_gone_is_dropped(asked: Job) -> None:
    pk = asked.pk
    asked.delete()
    assert do_job(job_id=pk) is False


def test_messages_of_earlier_versions_are_dropped(asked: Job, caplog: pytest.LogCaptureFixture) -> None:
    assert set(FORMER) <= set(app.tasks)
    with caplog.at_level("INFO", logger="jobs.tasks"):
        app.tasks["studies.make_export"].run(job_id=asked.pk)
        drop_former(request_id=7)
    assert [record.args for record in caplog.records] == [{"job_id": asked.pk}, {"request_id": 7}]
    assert again(asked).status == JobStatus.QUEUED


def test_one_whose_worker_is_gone_is_sent_again_and_done_by_another(asked: Job, sent: list[int]) -> None:
    gone = taken(asked)
    assert sweep() == 0  # its lease lives
    die(asked)
    assert sweep() == 1
    assert sent == [asked.pk, asked.pk]
    assert not LEASES.renew(gone)
    assert do_job(job_id=asked.pk) is True
    assert LEASES.finish(gone, to=JobStatus.FAILED, error="too late") is False
    assert (again(asked).status, again(asked).attempts, again(asked).error) == (JobStatus.SUCCEEDED, 2, "")
    moves = LogEntry.objects.filter(kind="jobs.job").order_by("id").values_list("to_status", "reason")
    assert list(moves) == [("running", ""), ("queued", GONE), ("running", ""), ("succeeded", "")]


def test_a_message_alone_takes_what_a_dead_worker_held(asked: Job) -> None:
    taken(asked)
    die(asked)
    assert do_job(job_id=asked.pk) is True
    assert again(asked).attempts == 2


def test_a_message_that_was_lost_is_sent_again_after_a_while(asked: Job, sent: list[int]) -> None:
    assert sweep() == 0
    Job.objects.update(hinted_at=timezone.now() - timedelta(seconds=HINT_SECONDS + 1))
    assert sweep() == 1
    assert sweep() == 0
    assert sent == [asked.pk, asked.pk]


def test_one_that_ends_every_worker_fails_in_words(asked: Job) -> None:
    for number in range(MAX_ATTEMPTS):
        assert taken(asked).attempts == number + 1
        die(asked)
        sweep()
    assert do_job(job_id=asked.pk) is False
    assert again(asked).status == JobStatus.FAILED
    assert again(asked).error.startswith(f"{MAX_ATTEMPTS} workers")
    assert sweep() == 0


@pytest.mark.parametrize(
    ("fault", "status", "is_raised"),
    [
        (OperationalError("the database is away"), JobStatus.QUEUED, True),
        (KeyboardInterrupt(), JobStatus.QUEUED, True),
        (ParallaxError("wool.none", "There is no wool.", {"balls": 0}), JobStatus.FAILED, False),
        (ZeroDivisionError("never thought of"), JobStatus.FAILED, True),
    ],
)
def test_a_fault_gives_it_back_or_fails_it(asked: Job, fault: BaseException, status: str, is_raised: bool) -> None:
    def faulty(job: Job, progress: Progress) -> dict[str, Any]:
        raise fault

    Worker.work = staticmethod(faulty)
    if is_raised:
        with pytest.raises(type(fault)):
            do_job(job_id=asked.pk)
    else:
        assert do_job(job_id=asked.pk) is False
    job = again(asked)
    assert (job.status, job.lease, job.leased_until) == (status, "", None)
    assert bool(job.error) == (status == JobStatus.FAILED)
    assert job.result == ({} if is_raised else {"balls": 0})
    # What was given back counts as not tried; what the job did not bring about may be tried for ever.
    assert job.attempts == (0 if status == JobStatus.QUEUED else 1)


def test_progress_is_stored_and_ends_the_work_of_a_cancelled_job(asked: Job) -> None:
    seen: list[tuple[str, int | None, int | None]] = []

    def cancelled(job: Job, progress: Progress) -> dict[str, Any]:
        for row in range(1, 9):
            progress("Knitting", row, 8)  # too often to be stored each time
        progress("Sewing")
        now = again(job)
        seen.append((now.activity, now.done, now.total))
        cancel(now, actor=job.owner)
        for _ in range(2):
            with pytest.raises(LeaseLost):
                progress("Washing")
        progress("Washing")
        raise AssertionError("It went on.")

    Worker.work = staticmethod(cancelled)
    assert do_job(job_id=asked.pk) is False
    job = again(asked)
    assert seen == [("Sewing", None, None)]
    assert (job.status, job.result) == (JobStatus.CANCELLED, {})
    assert LogEntry.objects.get(to_status="cancelled").actor == asked.owner
    with pytest.raises(NotAllowedInState):
        cancel(job)


def test_a_job_of_several_steps_returns_to_the_queue_and_a_failed_one_is_tried_again(
    asked: Job, sent: list[int]
) -> None:
    def step(job: Job, progress: Progress) -> dict[str, Any]:
        return {"payload": {**job.payload, "is_cast_on": True}, "status": JobStatus.QUEUED, "attempts": 0}

    Worker.work = staticmethod(step)
    assert do_job(job_id=asked.pk)
    job = again(asked)
    assert (job.status, job.payload, job.hinted_at) == (JobStatus.QUEUED, {"rows": 3, "is_cast_on": True}, None)
    Job.objects.update(status=JobStatus.FAILED, error="No wool.", result={"balls": 0}, attempts=3)
    job = again(asked)
    job.payload["rows"] = 4
    enqueue(job, actor=job.owner)
    job = again(asked)
    assert (job.status, job.error, job.result, job.attempts, job.payload["rows"]) == (JobStatus.QUEUED, "", {}, 0, 4)
    assert sent == [asked.pk, asked.pk]


def test_one_that_is_not_ready_waits_without_a_message_and_fails_where_it_never_will_be(
    asked: Job, sent: list[int]
) -> None:
    Worker.may_begin = staticmethod(lambda: False)
    waiting = request("knit")
    assert do_job(job_id=waiting.pk) is False  # a message that came too early
    assert (again(waiting).status, sent) == (JobStatus.QUEUED, [asked.pk])

    def never() -> bool:
        raise ParallaxError("wool.none", "There is no wool.")

    Worker.may_begin = staticmethod(never)
    Job.objects.update(hinted_at=None)
    assert sweep() == 2
    assert (again(waiting).status, again(waiting).error) == (JobStatus.FAILED, "There is no wool.")
    assert sent == [asked.pk]


def test_who_lost_the_lease_meanwhile_leaves_no_file(asked: Job) -> None:
    stored: list[str] = []

    def given_away(job: Job, progress: Progress) -> dict[str, Any]:
        stored.append(archives.store(job, ContentFile(b"PK")))
        die(job)
        sweep()
        return {"file": stored[0]}

    Worker.work = staticmethod(given_away)
    assert do_job(job_id=asked.pk) is False
    assert (again(asked).status, again(asked).file) == (JobStatus.QUEUED, "")
    assert not default_storage.exists(stored[0])


def test_old_jobs_and_unwanted_files_are_deleted(asked: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    old, unwanted, waiting = request("knit"), request("knit"), request("knit")
    for job in (old, unwanted):
        job.status, job.file = JobStatus.SUCCEEDED, archives.store(job, ContentFile(b"PK"))
        job.save()
    left = archives.store(asked, ContentFile(b"PK"))  # by a worker that was killed before it named it
    Job.objects.filter(pk__in=(old.pk, waiting.pk)).update(created_at=timezone.now() - timedelta(days=8))
    clean_jobs()
    assert set(Job.objects.all()) == {asked, unwanted, waiting}
    assert [default_storage.exists(name) for name in (old.file, unwanted.file, left)] == [False, True, True]
    Worker.keeps = False
    monkeypatch.setattr(archives, "UNNAMED_SECONDS", 0)
    monkeypatch.setattr(archives, "UNNAMED_KEY", "jobs.another-hour")
    clean_jobs()
    assert again(unwanted).file == ""
    assert not any(map(default_storage.exists, (unwanted.file, left)))


def test_a_job_goes_with_its_subject_and_outlives_its_owner(sent: list[int]) -> None:
    study, owner = make_study(), UserFactory()
    job, other = request("knit", subject=study, owner=owner), request("knit", owner=owner)
    assert list(Job.objects.about(type(study).objects.all())) == list(study.jobs.open()) == [job]
    study.jobs.all().delete()
    assert list(Job.objects.open()) == [other]
    owner.delete()
    assert again(other).owner is None


def test_a_job_that_is_over_stays_so_unless_it_failed() -> None:
    assert set(JOB_MOVES) == set(JobStatus) - {JobStatus.SUCCEEDED, JobStatus.CANCELLED}
    assert JobStatus.SUCCEEDED not in JOB_MOVES[JobStatus.QUEUED]
