"""A request is taken under a lease, given back when its worker is gone, finished once, and cancelled at any moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.enums import REQUEST_MOVES, RequestStatus
from analysis.models import Report, ReportRequest
from analysis.services import requests
from analysis.services.leases import REQUESTS
from analysis.services.requests import make_requested, request_report, sweep
from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from jobs import leases
from jobs.heartbeat import LeaseLost
from studies.models import Study, StudyMembership
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def asked(planted: Study, sent: list[int]) -> ReportRequest:
    return request_report(study=planted, asked_by=StudyMembership.objects.get(study=planted).researcher)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The requests that messages were sent for, in order."""
    found: list[int] = []
    # Of reports; an analysis that a report asks for has a message of its own.
    monkeypatch.setattr(
        leases,
        "enqueue_on_commit",
        lambda name, **ids: found.extend([ids["request_id"]] if "request_id" in ids else []),
    )
    return found


def again(request: ReportRequest) -> ReportRequest:
    return ReportRequest.objects.get(pk=request.pk)


def taken(request: ReportRequest) -> ReportRequest:
    found = again(request)
    assert REQUESTS.take(found)
    return found


def die(request: ReportRequest) -> None:
    """The worker that holds it is heard of no more."""
    ReportRequest.objects.filter(pk=request.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_of_two_workers_one_takes_it(asked: ReportRequest) -> None:
    held = taken(asked)
    assert (held.status, held.attempts) == (RequestStatus.RUNNING, 1)
    assert not REQUESTS.take(again(asked))
    assert make_requested(request_id=asked.pk) is False
    assert again(asked).lease == held.lease
    assert not Report.objects.exists()


def test_a_request_that_is_gone_is_no_fault(asked: ReportRequest) -> None:
    asked.delete()
    assert make_requested(request_id=asked.pk or 0) is False


@pytest.mark.slow
def test_one_whose_worker_is_gone_goes_back_and_is_made_by_another(asked: ReportRequest, sent: list[int]) -> None:
    gone = taken(asked)
    assert sweep() == 0  # its lease lives
    die(asked)
    assert sweep() == 1
    assert sent == [asked.pk, asked.pk]
    assert (again(asked).status, again(asked).lease) == (RequestStatus.QUEUED, "")
    assert REQUESTS.renew(gone) is False
    assert make_requested(request_id=asked.pk) is True
    assert again(asked).report == Report.objects.get()
    assert REQUESTS.finish(gone, to=RequestStatus.FAILED, error="too late") is False
    assert (again(asked).status, again(asked).attempts, again(asked).error) == (RequestStatus.SUCCEEDED, 2, "")
    moves = LogEntry.objects.filter(kind="analysis.reportrequest").order_by("id")
    assert list(moves.values_list("to_status", "reason")) == [
        ("running", ""), ("queued", leases.GONE), ("running", ""), ("succeeded", ""),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_message_alone_takes_what_a_dead_worker_held(asked: ReportRequest) -> None:
    taken(asked)
    die(asked)
    assert make_requested(request_id=asked.pk) is True
    assert again(asked).attempts == 2


def test_one_that_was_running_before_there_were_leases_is_brought_back(asked: ReportRequest) -> None:
    ReportRequest.objects.filter(pk=asked.pk).update(status=RequestStatus.RUNNING, hinted_at=None)
    assert sweep() == 1
    assert again(asked).status == RequestStatus.QUEUED


def test_one_that_ends_every_worker_fails_in_words(asked: ReportRequest) -> None:
    for number in range(leases.MAX_ATTEMPTS):
        assert taken(asked).attempts == number + 1
        die(asked)
        sweep()
    assert make_requested(request_id=asked.pk) is False
    found = again(asked)
    assert found.status == RequestStatus.FAILED
    assert found.error.startswith("3 workers in turn stopped before finishing this job")
    assert sweep() == 0


def test_a_waiting_request_is_told_of_again_after_a_while_and_not_before(asked: ReportRequest, sent: list[int]) -> None:
    assert sweep() == 0
    long_ago = timezone.now() - timedelta(seconds=leases.HINT_SECONDS + 1)
    ReportRequest.objects.filter(pk=asked.pk).update(hinted_at=long_ago)
    assert sweep() == 1
    assert sweep() == 0
    assert sent == [asked.pk, asked.pk]


@pytest.mark.parametrize("words", ["Reading the answers", "Comparing both sides", "Storing the report"])
def test_cancelled_at_any_step_it_writes_nothing(
    asked: ReportRequest, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    build = requests.build_report

    def cancelled_on_the_way(*, progress: Callable[[str], None], **rest: Any) -> Report:
        def tell(said: str) -> None:
            if said == words:
                REQUESTS.cancel(again(asked), actor=asked.asked_by)
            progress(said)

        return build(progress=tell, **rest)

    monkeypatch.setattr(requests, "build_report", cancelled_on_the_way)
    assert make_requested(request_id=asked.pk) is False
    assert again(asked).status == RequestStatus.CANCELLED
    assert not Report.objects.exists()
    assert LogEntry.objects.get(to_status="cancelled").actor == asked.asked_by
    with pytest.raises(NotAllowedInState):
        REQUESTS.cancel(again(asked))


def test_a_worker_whose_lease_was_given_away_stops_at_its_next_word(
    asked: ReportRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given_away(*, progress: Callable[[str], None], **rest: Any) -> Report:
        die(asked)
        sweep()
        taken(asked)
        with pytest.raises(LeaseLost):
            progress("Testing satisfaction")
        progress("Testing satisfaction")
        raise AssertionError("It went on.")

    monkeypatch.setattr(requests, "build_report", given_away)
    assert make_requested(request_id=asked.pk) is False
    assert (again(asked).status, again(asked).attempts) == (RequestStatus.RUNNING, 2)


def test_the_lease_is_put_off_while_it_is_worked_on(
    asked: ReportRequest, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.LEASE_SECONDS = 30
    held = taken(asked)
    die(asked)
    before = again(asked).leased_until
    assert REQUESTS.renew(held) is True
    after = again(asked).leased_until
    assert before is not None
    assert after is not None
    assert after - before > timedelta(seconds=29)


@pytest.mark.parametrize(
    ("fault", "status", "is_raised"),
    [
        (OperationalError("the database is away"), RequestStatus.QUEUED, True),
        (KeyboardInterrupt(), RequestStatus.QUEUED, True),
        (ParallaxError("report.not_set", "It could not be set."), RequestStatus.FAILED, False),
        (ZeroDivisionError("never thought of"), RequestStatus.FAILED, True),
    ],
)
def test_a_fault_gives_it_back_or_fails_it(
    asked: ReportRequest, monkeypatch: pytest.MonkeyPatch, fault: BaseException, status: str, is_raised: bool
) -> None:
    def faulty(**rest: Any) -> Report:
        raise fault

    monkeypatch.setattr(requests, "build_report", faulty)
    if is_raised:
        with pytest.raises(type(fault)):
            make_requested(request_id=asked.pk)
    else:
        assert make_requested(request_id=asked.pk) is False
    found = again(asked)
    assert (found.status, found.lease, found.leased_until) == (status, "", None)
    assert bool(found.error) == (status == RequestStatus.FAILED)
    # What was given back counts as not tried; what was not brought about by the request may be tried for ever.
    assert found.attempts == (0 if status == RequestStatus.QUEUED else 1)


def test_a_request_given_back_twice_is_given_back_once(asked: ReportRequest) -> None:
    held = taken(asked)
    assert REQUESTS.release(held) is True
    assert REQUESTS.release(held) is False


def test_what_is_over_can_become_nothing_else() -> None:
    assert set(REQUEST_MOVES) == {RequestStatus.QUEUED, RequestStatus.RUNNING}
    assert RequestStatus.SUCCEEDED not in REQUEST_MOVES[RequestStatus.QUEUED]


def test_whoever_asked_cancels_it_and_nobody_else(asked: ReportRequest, planted: Study) -> None:
    address = reverse("analysis:request-cancel", args=[asked.pk])
    other = UserFactory()
    StudyMembership.objects.create(study=planted, researcher=other, role="owner")
    for who in (other, UserFactory(is_staff=True, is_superuser=True)):
        client = Client()
        client.force_login(who)
        assert client.post(address).status_code == 404
    assert again(asked).status == RequestStatus.QUEUED
    client = Client()
    client.force_login(asked.asked_by)  # type: ignore[arg-type]
    assert client.get(address).status_code == 405
    assert "Cancel</button>" in client.get(asked.get_absolute_url()).text
    page = client.post(address, follow=True).text
    assert "This was cancelled." in page
    assert "every 2s" not in page
    assert again(asked).status == RequestStatus.CANCELLED
    assert "cannot become cancelled" in client.post(address, follow=True).text
