"""Two machines, as folders of their own with their own workers: one database, one Redis, one bucket."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.test_worker import essence
from tests.factories.object_servers import ObjectServer, bucket_environment, free_port

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PATIENCE = 500.0  # two machines and their servers share this one
ALGORITHMS = "toppop,corngr,nncosngr,asysvd:factors=8,puresvd:factors=10,lsa:factors=10"
WORKER = ["-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--without-gossip", "--without-mingle"]
DATASET = """
import django
django.setup()
from tests.factories.catalog import make_version
make_version(name="mid", n_users=2500, n_items=500, per_user=40)
"""
DIGESTS = """
import django, json
django.setup()
from evaluation.models import EvaluationRun, MetricResult, RunPart, TrainedModel
run = EvaluationRun.objects.get()
print(json.dumps([
    sorted(TrainedModel.objects.values_list("label", "digest")),
    sorted(MetricResult.objects.exclude(users_digest="").values_list("algorithm__label", "users_digest").distinct()),
    run.cases_digest,
]))
"""
# A closed study with answers, an account's session, and a report, requested where no worker is.
REQUEST = """
import django, json
django.setup()
from django.test import Client
from accounts.models import User
from analysis.services.requests import request_report
from studies.data.exports.tables import Options
from studies.data.services.exports import request_export
from studies.enums import Mode, Provenance
from tests.factories.analysis import planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
study = make_study(run=make_run_at("succeeded", algorithms="toppop,corngr"))
for number in range(6):
    for label, ratings in {"TopPop": (5, 4, 5, 3, 4), "CorNgr": (2, 3, 1, 2, 4)}.items():
        planted_person(study, label, [1 + (r + number) % 5 for r in ratings], 3, first_item=(number * 7) % 30,
                       mode=Mode.SIMULATED, provenance=Provenance.MODELLED)
User.objects.update(is_staff=True, is_superuser=True)
actor = User.objects.earliest("pk")
client = Client()
client.force_login(actor)
request = request_report(study=study, mode=Mode.SIMULATED, asked_by=actor)
export = request_export(study=study, kind="long", options=Options(include_simulated=True), actor=actor)
print(json.dumps([client.cookies["sessionid"].value, request.pk, export.pk, study.slug]))
"""


@dataclass
class Machine:
    """A root of its own: data folder, cache, and processes."""

    folder: Path
    environment: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    def new(cls, folder: Path, **settings: str) -> Machine:
        folder.mkdir(parents=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PARALLAX_VAR"))}
        environment = {
            **kept,
            "DJANGO_SETTINGS_MODULE": "parallax.settings",
            "PYTHONPATH": str(ROOT),
            "PARALLAX_VAR": str(folder / "var"),
            "PARALLAX_ARTEFACT_CACHE": str(folder / "copies"),
            "LEASE_SECONDS": "4",
            "NUMERIC_THREADS": "1",
            **settings,
        }
        return cls(folder, environment)

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"process-{len(self.processes)}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [sys.executable, *arguments], cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        self.processes.append(process)
        return process

    def start_workers(self, n: int) -> None:
        for _ in range(n):
            self.start(*WORKER, "--loglevel", "ERROR", "--hostname", f"{self.folder.name}-{len(self.processes)}@%h")

    @property
    def pids(self) -> set[int]:
        return {process.pid for process in self.processes}

    def kill(self) -> None:
        """End every process of the machine at once."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait(60)

    def logs(self) -> str:
        return "\n".join(file.read_text() for file in self.folder.glob("process-*.log"))


def evaluate(file: Path) -> list[str]:
    return [
        "manage.py", "evaluate", "mid", "--algorithms", ALGORITHMS, "--split", "probe:share=0.2", "--reserve", "0.1",
        "--relevant", "4", "--irrelevant", "2", "--negatives", "200", "--seed", "3", "--part-users", "256",
        "--json", str(file),
    ]  # fmt: skip


@dataclass
class Result:
    """A run's document without what may differ, and the digests of models, values of users, and cases."""

    document: Any
    digests: Any


@pytest.fixture(scope="module")
def by_one_machine(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The same run by one worker, with all files in a folder."""
    machine = Machine.new(tmp_path_factory.mktemp("one") / "machine", DATABASE_URL="", REDIS_URL="")
    machine.environment = {
        name: value for name, value in machine.environment.items() if name not in ("DATABASE_URL", "REDIS_URL")
    }
    machine.run("manage.py", "migrate", "--verbosity", "0")
    machine.run("-c", DATASET)
    file = machine.folder / "run.json"
    machine.run(*evaluate(file), "--workers", "1")
    return Result(essence(json.loads(file.read_text())), json.loads(machine.run("-c", DIGESTS)))


@pytest.fixture
def machines(
    tmp_path: Path, postgresql_url: str, redis_url: str, object_server: ObjectServer
) -> Iterator[tuple[Machine, Machine]]:
    """Two machines with an empty database and bucket, without workers."""
    settings = {
        "DATABASE_URL": postgresql_url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": "the key that both machines have, of fifty characters",
        **bucket_environment(object_server.url, object_server.new_bucket()),
    }
    first, second = (Machine.new(tmp_path / name, **settings) for name in ("first", "second"))
    first.run("manage.py", "migrate", "--verbosity", "0")
    first.run("manage.py", "flush", "--no-input", "--verbosity", "0")
    yield first, second
    for machine in (first, second):
        machine.kill()


def query(machine: Machine, sql: str) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(machine.environment["DATABASE_URL"], autocommit=True) as connection:
        return connection.execute(sql).fetchall()  # type: ignore[arg-type]


def until(condition: Callable[[], Any], what: str) -> Any:
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"Waited {PATIENCE:.0f} s in vain for: {what}")


def leases(machine: Machine) -> dict[int, int]:
    """Parts that are being worked on, and the processes that have them."""
    rows = query(machine, "SELECT id, lease FROM evaluation_runpart WHERE status = 'leased'")
    return {part: int(lease.split(":")[1]) for part, lease in rows}


def wait_for_workers(machine: Machine) -> None:
    """Wait until each worker of the machine is listed, as `doctor` sees it."""
    until(lambda: machine.pids <= {pid for (pid,) in query(machine, "SELECT pid FROM core_worker")}, "workers")


def result_of(machine: Machine, file: Path) -> Result:
    return Result(essence(json.loads(file.read_text())), json.loads(machine.run("-c", DIGESTS)))


def test_a_run_spread_over_two_machines_has_the_digests_of_one(
    machines: tuple[Machine, Machine], by_one_machine: Result
) -> None:
    first, second = machines
    first.run("-c", DATASET)
    for machine in machines:
        machine.start_workers(1)
    for machine in machines:
        wait_for_workers(machine)
    file = first.folder / "run.json"
    command = subprocess.Popen([sys.executable, *evaluate(file)], cwd=ROOT, env=first.environment)
    seen: set[int] = set()
    until(lambda: seen.update(leases(first).values()) or command.poll() is not None, "the end of the run")
    assert command.returncode == 0, first.logs() + second.logs()
    assert seen & first.pids
    assert seen & second.pids
    assert result_of(second, file) == by_one_machine
    # Each machine keeps copies of what it needed and nothing else; files are in the bucket alone.
    for machine in machines:
        assert any((machine.folder / "copies" / "entries").glob("models-*"))
        assert not any((machine.folder / "var" / "artefacts").iterdir())
    assert "No problems found." in second.run("manage.py", "check_integrity")


def test_a_machine_that_is_lost_in_the_middle_changes_no_digest(
    machines: tuple[Machine, Machine], by_one_machine: Result
) -> None:
    first, second = machines
    first.run("-c", DATASET)
    first.start_workers(1)
    second.start_workers(2)
    for machine in machines:
        wait_for_workers(machine)
    file = first.folder / "run.json"
    command = subprocess.Popen([sys.executable, *evaluate(file)], cwd=ROOT, env=first.environment)

    def lost_part() -> int | None:
        for part, pid in leases(first).items():
            if pid not in second.pids:
                continue
            os.kill(pid, signal.SIGSTOP)  # what the database says of it stays true until it is killed
            if leases(first).get(part) == pid:
                return part
            os.kill(pid, signal.SIGCONT)
        return None

    # Not the first part: the run is in its middle.
    until(lambda: query(first, "SELECT 1 FROM evaluation_runpart WHERE kind = 'fit' AND status = 'done'"), "a fit")
    part = until(lost_part, "a part of the second machine")
    second.kill()
    assert command.wait(PATIENCE) == 0, first.logs()
    assert query(first, f"SELECT attempts, status FROM evaluation_runpart WHERE id = {part}") == [(2, "done")]  # noqa: S608
    assert result_of(first, file) == by_one_machine


def fetch(url: str, session: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers={"Cookie": f"sessionid={session}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return answer.status, answer.read()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read()
    except OSError:
        return 0, b""


def test_what_a_worker_of_one_machine_has_written_is_read_on_the_other(machines: tuple[Machine, Machine]) -> None:
    first, second = machines
    for machine in machines:
        machine.environment["LEASE_SECONDS"] = "60"  # drawing a report beside other tests holds the heartbeat up
    session, request, export, study = json.loads(first.run("-c", REQUEST).splitlines()[-1])
    port = free_port()
    first.start("-m", "parallax.web", "--port", str(port), "--workers", "1", "--threads", "2")
    second.start_workers(1)
    site = f"http://127.0.0.1:{port}"
    until(lambda: fetch(f"{site}/ready/", session)[0] == 200, f"the web server\n{first.logs()}")

    def is_done(pk: int) -> bool:
        ((status, reason),) = query(first, f"SELECT status, error FROM jobs_job WHERE id = {pk}")  # noqa: S608
        assert status != "failed", reason
        return bool(status == "succeeded")

    until(lambda: is_done(request), f"the report\n{second.logs()}")
    ((result,),) = query(first, f"SELECT result FROM jobs_job WHERE id = {request}")  # noqa: S608
    pk = (json.loads(result) if isinstance(result, str) else result)["report"]
    status, page = fetch(f"{site}/reports/{pk}/", session)
    assert (status, b"CorNgr" in page) == (200, True), page[:2000]
    until(lambda: is_done(export), f"the export\n{second.logs()}")
    status, content = fetch(f"{site}/studies/{study}/exports/{export}/", session)
    assert status == 200, content[:2000]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist()
    for machine in machines:
        assert not any((machine.folder / "var" / "media").iterdir())
