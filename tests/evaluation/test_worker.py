"""Runs on real Celery workers: processes that die, are stopped, or never come."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.evaluation.conftest import Installation

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ALGORITHMS = "toppop,corngr,nncosngr,asysvd:factors=8,puresvd:factors=10,lsa:factors=10"
FOLDS = "k-fold:k=3"
KINDS = ("filesystem and SQLite", "Redis and SQLite", "Redis and PostgreSQL")  # of installations
OF_FOLDS = "toppop,nncosngr,puresvd:factors=10"
# What differs between two runs on the same inputs: row numbers, times, and whether a model was there before.
INCIDENTAL = {"run", "fit_seconds", "score_seconds", "was_reused"}


def essence(document: Any) -> Any:
    """A run's document without what may differ: every number and every hash stays."""
    if isinstance(document, dict):
        return {key: essence(value) for key, value in document.items() if key not in INCIDENTAL}
    if isinstance(document, list):
        return [essence(value) for value in document]
    return document


def kill_holder_of_a_lease(installation: Installation, *, kind: str) -> int:
    """SIGKILL a worker while it holds a part of this kind; returns the part."""

    def held() -> tuple[int, int] | None:
        sql = f"SELECT id, lease FROM evaluation_runpart WHERE status = 'leased' AND kind = '{kind}'"  # noqa: S608 — a literal
        for part, lease in installation.query(sql):
            pid = int(lease.split(":")[1])
            # Stopped first: what the database then says of it stays true until it is killed.
            os.kill(pid, signal.SIGSTOP)
            if installation.query(
                f"SELECT 1 FROM evaluation_runpart WHERE id = {part} AND lease = '{lease}' "  # noqa: S608 — as above
                "AND status = 'leased'"
            ):
                os.kill(pid, signal.SIGKILL)
                return part, pid
            os.kill(pid, signal.SIGCONT)
        return None

    return installation.until(held, f"a worker with a {kind} part")[0]


def assert_finished(installation: Installation, parts: list[int]) -> None:
    """Other workers have finished the parts whose workers were killed."""
    for part in parts:
        [(attempts, status)] = installation.query(f"SELECT attempts, status FROM evaluation_runpart WHERE id = {part}")  # noqa: S608 — a number
        # A part given back by the task that saw its process die does not count as lost.
        assert (attempts in {1, 2}, status) == (True, "done")


@pytest.fixture(scope="module")
def undisturbed(make_installation: Callable[..., Installation]) -> dict[str, Any]:
    """The document of a run by one worker that nothing happened to, on an installation of its own."""
    installation = make_installation()
    file = str(installation.folder / "quiet.json")
    done = installation.run(*installation.evaluate("mid", "--algorithms", ALGORITHMS, "--workers", "1", "--json", file))
    assert done.returncode == 0, done.stdout + done.stderr
    return installation.document("quiet.json")


@pytest.fixture
def redis_left_as_found(redis_url: str) -> Iterator[str]:
    """The tests' Redis database; keys made meanwhile are removed at the end."""
    import redis

    client = redis.Redis.from_url(redis_url)
    before = set(client.keys())
    yield redis_url
    made = set(client.keys()) - before
    if made:
        client.delete(*made)
    client.close()


# Redis beside SQLite is not core: the other two have the broker of the one and the database of the other. Nor are the
# tests below: killed workers whose run others finish pass through all that these look at one by one.
@pytest.fixture(
    params=[pytest.param(kind, marks=[] if kind == "Redis and SQLite" else [pytest.mark.core]) for kind in KINDS]
)
def installation(request: pytest.FixtureRequest, make_installation: Callable[..., Installation]) -> Installation:
    """An installation on each broker and database."""
    settings = {}
    if "Redis" in request.param:
        settings["REDIS_URL"] = request.getfixturevalue("redis_left_as_found")
    if "PostgreSQL" in request.param:
        settings["DATABASE_URL"] = request.getfixturevalue("postgresql_url")
    return make_installation(**settings)


def test_run_whose_workers_were_killed_gives_the_same_bytes(
    installation: Installation, undisturbed: dict[str, Any]
) -> None:
    file = str(installation.folder / "killed.json")
    command = installation.start(
        *installation.evaluate(
            "mid", "--algorithms", ALGORITHMS, "--workers", "2", "--part-users", "256", "--json", file
        )
    )
    parts = [kill_holder_of_a_lease(installation, kind=kind) for kind in ("fit", "measure")]
    said, _ = command.communicate(timeout=180)
    assert command.returncode == 0, said
    assert_finished(installation, parts)
    assert "A worker has died and was replaced." in said
    assert essence(installation.document("killed.json")) == essence(undisturbed)
    assert_broker_is_empty(installation)


@pytest.fixture(scope="module")
def undisturbed_folds(make_installation: Callable[..., Installation]) -> dict[str, Any]:
    """The same of a run that trains a model for each fold."""
    installation = make_installation()
    file = str(installation.folder / "quiet.json")
    given = installation.evaluate("mid", "--algorithms", OF_FOLDS, "--workers", "1", "--json", file, split=FOLDS)
    done = installation.run(*given)
    assert done.returncode == 0, done.stdout + done.stderr
    return installation.document("quiet.json")


@pytest.mark.parametrize("installation", [KINDS[0], KINDS[2]], indirect=True)
def test_run_of_folds_whose_workers_were_killed_gives_the_same_bytes(
    installation: Installation, undisturbed_folds: dict[str, Any]
) -> None:
    file = str(installation.folder / "killed.json")
    options = ["--algorithms", OF_FOLDS, "--workers", "2", "--part-users", "256", "--json", file]
    command = installation.start(*installation.evaluate("mid", *options, split=FOLDS))
    parts = [kill_holder_of_a_lease(installation, kind=kind) for kind in ("prepare", "fit", "measure")]
    said, _ = command.communicate(timeout=180)
    assert command.returncode == 0, said
    assert_finished(installation, parts)
    found = installation.document("killed.json")
    assert len(found["folds"]) == 3
    assert essence(found) == essence(undisturbed_folds)
    assert_broker_is_empty(installation)


ONE_PLUS_RANDOM = {"name": "one-plus-random", "negatives": 200, "relevant": 4, "irrelevant": 2, "mode": "exact"}
PROBE = {"name": "probe", "share": 0.2}
PLANS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one-plus-random": (ONE_PLUS_RANDOM, PROBE),
    "full-ranking": ({"name": "full-ranking", "relevant": 4}, PROBE),
    "test-observations": ({"name": "test-observations", "relevant": 4}, PROBE),
    "unconstrained": ({"name": "unconstrained", "relevant": 4}, PROBE),
    "one-plus-random-folds": (ONE_PLUS_RANDOM, {"name": "k-fold", "k": 3}),
    "full-ranking-folds": ({"name": "full-ranking", "relevant": 4}, {"name": "k-fold", "k": 3, "over": "users"}),
}


@pytest.fixture(scope="module")
def by_number(make_installation: Callable[..., Installation]) -> list[dict[str, Any]]:
    """The documents of the same runs by one worker and by three, each on an installation of its own."""
    runs = {
        key: {"title": key, "split": split, "protocol": protocol, "task": "some", "reserve": 0.1}
        for key, (protocol, split) in PLANS.items()
    }
    column = {"run": "one-plus-random", "metric": "recall"}
    experiment = {
        **dict.fromkeys(("title", "source", "question", "data"), "Do workers change numbers?"),
        "needs": "ratings",
        "algorithms": {"TopPop": {"algorithm": "toppop"}, "PureSVD": {"algorithm": "puresvd", "factors": 5}},
        "runs": runs,
        "tables": {"table": {"title": "Recall", "columns": {"recall": column}}},
    }
    documents = []
    for workers in (1, 3):
        one = make_installation()
        file = one.folder / "workers.yaml"
        file.write_text(json.dumps(experiment))  # which YAML can read
        options = ("--dataset", "tiny", "--out", str(one.folder), "--seed", "3", "--workers", str(workers))
        done = one.run("manage.py", "run_experiment", str(file), *options)
        assert done.returncode == 0, done.stdout + done.stderr
        documents.append(one.document("experiment.json")["runs"])
    return documents


@pytest.mark.parametrize("plan", PLANS)
def test_any_number_of_workers_gives_the_same_numbers(by_number: list[dict[str, Any]], plan: str) -> None:
    by_one, by_three = (essence(document[plan]) for document in by_number)
    assert by_one == by_three


def assert_broker_is_empty(installation: Installation) -> None:
    """Nothing of a run's own queue is left behind."""
    if url := installation.environment.get("REDIS_URL"):
        import redis

        client = redis.Redis.from_url(url)
        assert [key for key in client.scan_iter() if b"parallax-run-" in key] == []
        client.close()
    else:
        broker = Path(installation.environment["PARALLAX_VAR"]) / "broker"
        assert [file for file in broker.rglob("*") if "parallax-run-" in file.name] == []


@pytest.fixture(scope="module")
def embedded(make_installation: Callable[..., Installation]) -> Installation:
    """One installation in the embedded shape, for what does not compare numbers."""
    return make_installation()


def started(installation: Installation) -> tuple[Any, list[psutil.Process]]:
    """A running evaluation, the process that forks its workers, and these two."""
    many = ",".join(f"asysvd:factors=8,epochs={epochs}" for epochs in range(100, 140))
    command = installation.start(*installation.evaluate("mid", "--algorithms", many, "--workers", "2"))
    sql = "SELECT id FROM evaluation_evaluationrun WHERE status = 'running'"
    installation.until(lambda: installation.query(sql), "a running run")
    parent = psutil.Process(command.pid)
    installation.until(lambda: len(parent.children(recursive=True)) == 3, "two workers")
    return command, parent.children(recursive=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_that_is_interrupted_cancels_its_run_and_stops_its_workers(embedded: Installation, number: int) -> None:
    command, children = started(embedded)
    command.send_signal(number)
    said, _ = command.communicate(timeout=120)
    assert command.returncode == 130, said
    assert "was cancelled" in said
    assert not any(child.is_running() for child in children)
    assert embedded.query("SELECT status FROM evaluation_evaluationrun ORDER BY id DESC LIMIT 1") == [("cancelled",)]
    assert_broker_is_empty(embedded)


def test_workers_leave_when_the_command_that_started_them_is_killed(embedded: Installation) -> None:
    command, children = started(embedded)
    command.kill()
    command.communicate()
    embedded.until(lambda: not any(child.is_running() for child in children), "the workers to leave")


def test_workers_leave_when_the_command_and_what_forked_them_are_killed(embedded: Installation) -> None:
    command, (pool, *workers) = started(embedded)
    command.kill()
    pool.kill()
    command.communicate()
    embedded.until(lambda: not any(worker.is_running() for worker in workers), "the workers to leave")


def test_where_redis_is_the_broker_the_command_waits_for_a_worker_and_says_so(
    make_installation: Callable[..., Installation], redis_left_as_found: str
) -> None:
    scaled = make_installation(REDIS_URL=redis_left_as_found)
    command = scaled.start(*scaled.evaluate("tiny", "--algorithms", "toppop"))
    assert command.stdout is not None
    while "No worker has responded" not in (line := command.stdout.readline()):
        assert line or command.poll() is None
    worker = scaled.start(
        "-m",
        "celery",
        "-A",
        "parallax",
        "worker",
        "--pool",
        "solo",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
        "--loglevel",
        "ERROR",
    )
    said, _ = command.communicate(timeout=180)
    worker.terminate()
    worker.communicate(timeout=120)
    assert command.returncode == 0, said
    assert "TopPop" in said
