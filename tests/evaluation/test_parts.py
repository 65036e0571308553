"""Parts under a lease: one holder, one writer, the same numbers however the work is cut."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import OperationalError
from django.utils import timezone

from core import artefacts
from evaluation.enums import PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, MetricResult, RunPart
from evaluation.services import parts, preparation, worker_loop
from evaluation.services.parts import (
    MAX_ATTEMPTS,
    Outcome,
    finish_part,
    leasable_parts,
    lease_part,
)
from evaluation.services.preparation import part_bounds
from evaluation.services.runs import BLOCK_USERS, PARTS, cancel_run, fail_part
from evaluation.services.worker_loop import execute, sweep, work_on
from jobs.leases import LeaseLost
from recommenders import registry
from recommenders.popularity import TopPop
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def leased(run: EvaluationRun) -> RunPart:
    part = lease_part(run=run)
    assert part is not None
    return part


def expire(part: RunPart) -> None:
    RunPart.objects.filter(pk=part.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def numbers(run: EvaluationRun) -> dict[tuple[str, int, str], Any]:
    """Every value of a run, and the digests of its per-case and per-user arrays."""
    return {
        (one.algorithm.label, one.profile_length, one.metric): (one.value, one.by_n, one.users_digest)
        for one in MetricResult.objects.filter(algorithm__run=run).select_related("algorithm")
    }


def test_second_claim_finds_nothing_while_the_first_lease_lives() -> None:
    run = make_run()
    part = leased(run)
    assert part.kind == PartKind.PREPARE
    assert lease_part(run=run) is None
    run.refresh_from_db()
    assert (run.status, run.activity) == (RunStatus.RUNNING, "Preparing the test cases")


def test_lease_reaches_for_the_next_part_when_another_worker_was_first(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    execute(part=leased(run))
    seen_by_both = list(leasable_parts(run=run))
    first = leased(run)
    assert first.pk == seen_by_both[0].pk
    monkeypatch.setattr(parts, "leasable_parts", lambda **_: RunPart.objects.filter(run=run, kind=PartKind.FIT))
    second = leased(run)
    assert second.pk == seen_by_both[1].pk


def test_work_waits_for_what_it_needs() -> None:
    run = make_run(algorithms="toppop,puresvd:factors=4")
    execute(part=leased(run))
    assert {part.kind for part in leasable_parts(run=run)} == {PartKind.FIT}
    fit = leased(run)
    assert fit.algorithm is not None
    execute(part=fit)
    ready = list(leasable_parts(run=run))
    assert [part.kind for part in ready] == [PartKind.FIT, PartKind.MEASURE, PartKind.MEASURE]
    assert {part.algorithm_id for part in ready[1:]} == {fit.algorithm_id}
    RunPart.objects.filter(run=run).exclude(kind=PartKind.REDUCE).update(status=PartStatus.DONE)
    assert [part.algorithm is not None for part in leasable_parts(run=run)] == [True, True]
    RunPart.objects.filter(run=run, algorithm__isnull=False).update(status=PartStatus.DONE)
    assert [(part.kind, part.algorithm) for part in leasable_parts(run=run)] == [(PartKind.REDUCE, None)]


def test_fits_can_begin_before_the_candidates_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(algorithms="toppop,asysvd:epochs=1,puresvd:factors=4")
    draw, ready = preparation.draw_candidates, []

    def look(run: EvaluationRun, cases: Any) -> Any:
        ready.extend(part.algorithm.algorithm for part in leasable_parts(run=run) if part.algorithm)
        return draw(run, cases)

    monkeypatch.setattr(preparation, "draw_candidates", look)
    execute(part=leased(run))
    assert ready == ["asysvd", "toppop", "puresvd"]  # what takes many passes over the ratings begins first
    assert run.parts.filter(kind=PartKind.FIT).count() == 3
    assert run.parts.filter(kind=PartKind.REDUCE).count() == 4


def test_preparation_whose_worker_died_after_the_fits_began_makes_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: Any) -> Any:
        raise SystemExit

    run = make_run(algorithms="toppop,puresvd:factors=4")
    draw = preparation.draw_candidates
    monkeypatch.setattr(preparation, "draw_candidates", killed)
    with pytest.raises(SystemExit):
        execute(part=leased(run))
    monkeypatch.setattr(preparation, "draw_candidates", draw)
    work_off(run)
    run.refresh_from_db()
    assert run.status == RunStatus.SUCCEEDED
    assert run.parts.filter(kind=PartKind.FIT).count() == 2


def test_algorithm_whose_fit_fails_while_candidates_are_drawn_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(algorithms="toppop,puresvd:factors=4")
    draw = preparation.draw_candidates

    def fail_one(run: EvaluationRun, cases: Any) -> Any:
        fit = run.parts.get(kind=PartKind.FIT, algorithm__algorithm="puresvd")
        assert PARTS.lease(fit)
        assert fail_part(part=fit, reason="too large")
        return draw(run, cases)

    monkeypatch.setattr(preparation, "draw_candidates", fail_one)
    work_off(run)
    run.refresh_from_db()
    assert run.status == RunStatus.SUCCEEDED
    assert [algorithm.error for algorithm in run.algorithms.all()] == ["", "too large"]


def test_run_that_an_earlier_version_prepared_is_reduced_by_its_last_part() -> None:
    run, other = make_run(), make_run()
    work_off(run)
    execute(part=leased(other))
    other.parts.filter(kind=PartKind.REDUCE, algorithm__isnull=False).delete()
    other.parts.filter(kind=PartKind.FIT).update(training_digest="")
    work_off(other)
    other.refresh_from_db()
    assert other.status == RunStatus.SUCCEEDED
    assert numbers(other) == numbers(run)


def test_fit_waits_while_another_run_fits_the_same_recipe() -> None:
    version = make_version()
    one, other = make_run(version=version, algorithms="toppop"), make_run(version=version, algorithms="toppop")
    execute(part=leased(one))
    execute(part=leased(other))
    fit = leased(one)
    assert fit.kind == PartKind.FIT
    assert lease_part(run=other) is None
    expire(fit)
    assert leased(other).kind == PartKind.FIT


def test_lease_that_ran_out_is_given_to_the_next_worker() -> None:
    run = make_run()
    first = leased(run)
    expire(first)
    second = leased(run)
    assert second.pk == first.pk
    assert (second.attempts, second.lease != first.lease) == (2, True)
    assert not PARTS.renew(first)
    assert PARTS.renew(second)


def test_part_whose_workers_are_always_gone_fails_the_run_with_the_reason() -> None:
    run = make_run()
    for _ in range(MAX_ATTEMPTS):
        expire(leased(run))
    assert lease_part(run=run) is None
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "test cases" in run.error
    assert "out of memory" in run.error


def test_finishing_twice_writes_once() -> None:
    run = make_run()
    part = leased(run)
    written: list[str] = []
    outcome = Outcome(seconds=1.0, digest="d", effects=lambda: written.append("once"))
    assert finish_part(part=part, outcome=outcome)
    assert not finish_part(part=part, outcome=outcome)
    assert written == ["once"]


def test_finishing_a_part_that_somebody_else_took_writes_nothing() -> None:
    run = make_run()
    slow = leased(run)
    expire(slow)
    quick = leased(run)
    written: list[str] = []
    assert not finish_part(part=slow, outcome=Outcome(1.0, effects=lambda: written.append("slow")))
    assert finish_part(part=quick, outcome=Outcome(1.0, effects=lambda: written.append("quick")))
    assert written == ["quick"]


def test_late_worker_may_finish_a_part_that_nobody_took_meanwhile() -> None:
    run = make_run()
    part = leased(run)
    expire(part)
    assert PARTS.release_dead(run.parts.all()) == 1
    assert finish_part(part=part, outcome=Outcome(1.0))


def test_finishing_a_part_of_a_cancelled_run_writes_nothing() -> None:
    run = make_run()
    part = leased(run)
    cancel_run(run=part.run)
    written: list[str] = []
    assert not finish_part(part=part, outcome=Outcome(1.0, effects=lambda: written.append("late")))
    assert written == []


def test_released_part_is_free_at_once() -> None:
    run = make_run()
    part = leased(run)
    assert PARTS.release(part)
    assert not PARTS.release(part)
    assert leased(run).pk == part.pk


def test_run_executed_twice_by_repeated_messages_has_each_result_once() -> None:
    run = work_off(make_run())
    before = numbers(run)
    assert work_on(run_id=run.pk) == 0
    assert work_on(run_id=run.pk + 1000) == 0
    assert numbers(run) == before
    assert MetricResult.objects.filter(algorithm__run=run).count() == 2 * 2 * 13


@pytest.mark.slow
def test_numbers_are_the_same_to_the_last_bit_however_the_run_is_cut() -> None:
    version = make_version(n_users=3 * BLOCK_USERS, n_items=80, per_user=20)
    whole = work_off(make_run(version=version, part_users=100 * BLOCK_USERS, profile_lengths=(3, 5)))
    cut = make_run(version=version, part_users=1, profile_lengths=(3, 5))
    execute(part=leased(cut))
    assert cut.parts.filter(kind=PartKind.MEASURE).count() > whole.parts.filter(kind=PartKind.MEASURE).count()
    # Taken in the opposite order.
    while cut.status != RunStatus.SUCCEEDED:
        last = list(leasable_parts(run=cut))[-1]
        RunPart.objects.filter(pk=last.pk).update(status=PartStatus.LEASED, lease="me")
        assert execute(part=RunPart.objects.select_related("run__version", "algorithm__model").get(pk=last.pk))
        cut.refresh_from_db()
    assert len(numbers(whole)) == 2 * 3 * 13
    assert numbers(cut) == numbers(whole)


def test_part_bounds_fall_on_users() -> None:
    users = np.array([1, 1, 4, 6, 6, 6, 9], dtype=np.int32)
    assert part_bounds(users=users, part_users=2).tolist() == [0, 3, 7]
    assert part_bounds(users=users, part_users=1).tolist() == [0, 2, 3, 6, 7]
    assert part_bounds(users=users, part_users=9).tolist() == [0, 7]


class Constant(TopPop):
    """Scores everything alike."""

    key = "constant"
    name = "Constant"

    def _score(self, user_items: Any) -> Any:
        return np.zeros(user_items.shape)


@pytest.fixture
def constant(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(registry._OWN, "constant", Constant)
    return "constant"


def test_constant_scorer_gets_n_of_1001_through_the_whole_run(constant: str) -> None:
    version = make_version(n_users=50, n_items=1100, per_user=20)
    protocol = {"name": "one-plus-random", "negatives": 1000, "relevant": 4.0, "irrelevant": 2.0}
    run = work_off(make_run(version=version, algorithms=constant, protocol=protocol))
    for metric in ("recall", "fallout"):
        for result in MetricResult.objects.filter(algorithm__run=run, metric=metric):
            assert result.by_n == [n / 1001 for n in range(1, 21)]
            assert result.value == 5 / 1001


def test_fault_of_ours_fails_the_run_with_its_traceback_and_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(part: RunPart, check: Any) -> Outcome:
        raise RuntimeError("the wheel came off")

    monkeypatch.setitem(worker_loop.EXECUTORS, PartKind.PREPARE, broken)
    run = make_run()
    with pytest.raises(RuntimeError):
        work_on(run_id=run.pk)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "came off" in run.error
    assert "def broken" not in run.error
    assert "came off" in run.error_detail
    assert "Traceback" in run.error_detail


def test_database_fault_gives_the_part_back_and_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(part: RunPart, check: Any) -> Outcome:
        raise OperationalError("the server closed the connection")

    monkeypatch.setitem(worker_loop.EXECUTORS, PartKind.PREPARE, away)
    run = make_run()
    with pytest.raises(OperationalError):
        work_on(run_id=run.pk)
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING
    assert run.parts.get().status == PartStatus.QUEUED


def test_worker_told_to_stop_gives_the_part_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(part: RunPart, check: Any) -> Outcome:
        raise SystemExit

    monkeypatch.setitem(worker_loop.EXECUTORS, PartKind.PREPARE, stopped)
    run = make_run()
    with pytest.raises(SystemExit):
        work_on(run_id=run.pk)
    assert run.parts.get().status == PartStatus.QUEUED


def test_worker_that_is_to_stop_takes_no_further_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_loop, "_is_stopping", threading.Event())
    run = make_run()
    worker_loop.stop_soon()
    assert work_on(run_id=run.pk) == 1
    assert run.parts.filter(status=PartStatus.DONE).count() == 1


def test_worker_lets_other_messages_have_a_turn() -> None:
    run = make_run()
    assert work_on(run_id=run.pk, seconds=-1.0) == 1


def test_measurement_of_a_cancelled_run_stops_between_blocks() -> None:
    run = make_run_at("running")
    execute(part=leased(run))
    execute(part=leased(run))
    part = leased(run)
    assert part.kind == PartKind.MEASURE

    def check() -> None:
        raise LeaseLost("part.lease_lost", "gone")

    with pytest.raises(LeaseLost):
        worker_loop.EXECUTORS[part.kind](part, check)
    part.refresh_from_db()
    assert part.result_digest == ""


def test_heartbeat_that_was_never_missed_lets_the_work_go_on() -> None:
    with PARTS.heartbeat(leased(make_run())) as heartbeat:
        heartbeat.check()


def test_sweep_frees_dead_leases_and_sends_the_message_again_once(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    part = leased(run)
    assert sweep() == 0
    expire(part)
    assert sweep() == 1
    part.refresh_from_db()
    assert (part.status, part.lease) == (PartStatus.QUEUED, "")
    assert sweep() == 0
    monkeypatch.setattr(worker_loop, "HINT_SECONDS", -1.0)
    assert sweep(run=run) == 1


def test_sweep_leaves_runs_alone_that_are_over() -> None:
    for status in ("succeeded", "failed", "cancelled"):
        make_run_at(status, version=make_version())
    assert sweep() == 0


def test_sweep_gives_a_run_to_the_default_workers_when_its_own_are_silent() -> None:
    run = make_run(queue="parallax-run-of-somebody")
    sweep()
    run.refresh_from_db()
    assert run.queue == "parallax-run-of-somebody"
    RunPart.objects.filter(run=run).update(
        updated_at=timezone.now() - timedelta(seconds=worker_loop.ORPHAN_SECONDS + 1)
    )
    sweep()
    run.refresh_from_db()
    assert run.queue == ""


def test_reduction_of_incomplete_measurements_is_refused() -> None:
    run = make_run(algorithms="toppop", profile_lengths=())
    for _ in range(3):
        execute(part=leased(run))
    part = leased(run)
    assert part.kind == PartKind.REDUCE
    run.parts.filter(kind=PartKind.MEASURE).update(stop=1)
    execute(part=part)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "case 1 of" in run.error


def test_result_keeps_where_each_case_stood() -> None:
    run = work_off(make_run(algorithms="toppop"))
    kept = artefacts.load("results", MetricResult.objects.filter(algorithm__run=run)[0].users_digest).arrays
    n_cases = run.n_relevant + run.n_irrelevant
    assert kept["above"].shape == kept["tied"].shape == (n_cases,)
    assert int(kept["recall_n_cases"].sum()) == run.n_relevant
    assert int(kept["fallout_n_cases"].sum()) == run.n_irrelevant
