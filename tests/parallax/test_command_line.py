"""Commands answer every state that a user can be in with a sentence, never with a traceback."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.db import DatabaseError, OperationalError

from parallax.command_line import WITHOUT_DATABASE, explanation

ROOT = Path(__file__).resolve().parents[2]
OURS = {"accounts", "analysis", "catalog", "core", "evaluation", "parallax", "studies"}
pytestmark = pytest.mark.integration

# Each line is run by main() in a process of its own, forked from one that has loaded Django.
DRIVER = """
import json, os, signal, sys, tempfile
import parallax.command_line as command_line
command_line.load_settings()
results = []
for argv in json.load(sys.stdin):
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os.setsid()  # without a terminal to ask
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            code = 0
            try:
                command_line.main(["manage.py", *argv])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else (0 if end.code is None else 1)
            except BaseException:
                import traceback
                traceback.print_exc()
                code = 99
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        results.append([status, output.read().decode()])
print(json.dumps(results))
"""


def environment(var: Path, **more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "REDIS_URL"}}
    return {**kept, "PARALLAX_VAR": str(var), **more}


def manage(var: Path, *arguments: str, **more: str) -> tuple[int, str]:
    """The status and the whole output of one command in a folder."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(var, **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stderr + done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an installation without any data, as the first command makes it."""
    var = tmp_path_factory.mktemp("var")
    status, said = manage(var, "create_account", "me@example.org", "--administrator")
    assert status == 0, said
    return var


@pytest.fixture(scope="module")
def taken_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


FILES = {
    "latin.yaml": "title: Café".encode("latin-1"),
    "table.csv": b"user,item,rating\n1,a,five\n",
    "empty.csv": b"",
    "list.yaml": b"- 1\n- 2\n",
    "brackets.yaml": b"[" * 400,
    "broken.zip": b"PK\x03\x04 is no archive",
    "cases.npz": b"is no archive",
}
# The first word is the command; {files} is a folder with the files above, {port} a port in use.
LINES = """
verify_backup {files}/none
verify_backup {files}/broken.zip
verify_backup {files}/table.csv --key {files}/none
create_account nonsense
create_account me@example.org
create_account you@example.org --password-file {files}/none
create_account you@example.org --password-file {files}/latin.yaml
create_account you@example.org --password-file {files}
create_account
create_token nobody@example.org --name x
create_token me@example.org --name x --days 0
reset_password nobody@example.org
reset_password me@example.org
reset_second_factor nobody@example.org
reset_second_factor me@example.org
changepassword nobody@example.org
changepassword me@example.org
import_dataset {files}/none --name films
import_dataset {files}/empty.csv --name films
import_dataset {files}/table.csv --name films
import_dataset {files}/table.csv --name UPPER
import_dataset {files}/broken.zip --name films
import_dataset {files}/latin.yaml --name films
import_dataset {files} --name films
import_dataset {files}/table.csv --name films --project Nothing
import_dataset {files}/table.csv --name films --scale nonsense
import_dataset {files}/table.csv --name films --encoding nonsense
import_dataset {files}/table.csv --name films --delimiter nonsense
import_dataset {files}/table.csv --name films --json {files}/none/x.json
import_dataset {files}/table.csv --name films --format netflix
add_metadata none {files}/table.csv
add_metadata none {files}/none
subset none --k-core 5
subset none --parent 1 --k-core 5
subset none
subset none --k-core 0
subset none --from nonsense
subset none --feature nonsense
subset none --k-core 5 --json {files}/none/x.json
download_dataset nonsense
download_dataset ml-latest-small --dir {files} --url http://127.0.0.1:9/none.zip
tune none
train none --algorithm puresvd
train none --algorithm puresvd --param nonsense
upload_model none {files}/none.npz --kind matrix
upload_model none {files}/none.npz --kind nonsense
upload_scores 77777 {files}/table.csv --name Theirs
upload_scores 77777 {files}/table.csv
upload_explanations none {files}/none.csv
export_items none {files}/items.jsonl
register_recommender GRU nonsense Example
register_recommender GRU https://rec.example.org Example --seconds nonsense
collect_lists 77777 GRU --out {files}
check_recommender none none
choose none --algorithm lpca
choose none --algorithm lpca --values nonsense
recommend none --algorithm toppop --profile nonsense
evaluate
evaluate none --algorithms toppop
evaluate none --algorithms toppop --workers 0
evaluate none --algorithms toppop --json {files}/none/x.json
evaluate none --algorithms toppop --cases {files}/none
evaluate --resume 7
evaluate none
run_experiment
run_experiment --list
run_experiment none --dataset none --out {files}/out
run_experiment survey-rmse --dataset none --out {files}/out
run_experiment survey-rmse --dataset none --out {files}/table.csv
run_experiment {files}/none.yaml --dataset none --out {files}/out
run_experiment {files}/latin.yaml --dataset none --out {files}/out
run_experiment {files}/list.yaml --dataset none --out {files}/out
run_experiment {files}/brackets.yaml --dataset none --out {files}/out
compare_runs 1 2
export_run 1 --out {files}/out
sample_report nonsense
replicate cremonesi-2011 --dataset none --out {files}/out
replicate cremonesi-2011 --dataset none --out {files}/table.csv
replicate nonsense --dataset none --out {files}/out
create_study mine --dataset none
create_study Mine! --dataset none
create_study mine --dataset none --template none
create_study mine --dataset none --run 1
create_study mine --dataset none --owner nobody@example.org
launch_study none
simulate_participants none
simulate_participants none --parallel 0
estimate none --reward 2.50
estimate none --reward nonsense
report_schema nonsense
report none --out {files}/out
export_study none --out {files}/out
questionnaire
questionnaire check {files}/none
questionnaire check {files}/latin.yaml
questionnaire check {files}/list.yaml
questionnaire check {files}/brackets.yaml
questionnaire export none
questionnaire import none {files}/list.yaml
withdraw_participant none P1 --reason asked
withdraw_participant none P1
replay_allocation none
erase_expired
check_integrity
doctor
network_digest 203.0.113.7
network_digest nonsense
doctor --nonsense
backup {files}/backup.zip
backup {files}/table.csv
backup {files}/none/backup.zip
restore {files}/none.zip
restore {files}/broken.zip
restore {files}
up --port {port}
up --port 70000
up --port nonsense
up --host nonsense.invalid
up --workers -1
demo --port {port}
demo --port 70000
compile_kernels --nonsense
nonsense
""".strip().splitlines()


@pytest.fixture(scope="module")
def outcomes(installed: Path, taken_port: int, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """What each line ended with and printed."""
    files = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (files / name).write_bytes(content)
    lines = [line.format(files=files, port=taken_port).split() for line in LINES]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        cwd=ROOT,
        env=environment(installed),
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return {line: (status, said) for line, (status, said) in zip(LINES, json.loads(done.stdout), strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_no_command_shows_a_traceback(outcomes: dict[str, tuple[int, str]], line: str) -> None:
    status, said = outcomes[line]
    assert "Traceback" not in said, said
    assert status in {0, 1, 2}, said
    assert said.strip()


def test_every_command_of_ours_is_tried() -> None:
    commands = {name for name, app in get_commands().items() if app in OURS}
    assert commands - {line.split()[0] for line in LINES} == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("import_dataset", "nowhere", "--name", "films"),
        ("changepassword", "me@example.org"),
        ("check_integrity",),
    ],
)
def test_the_first_command_on_a_fresh_clone_creates_the_database(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    _status, said = manage(tmp_path / "var", *arguments)
    assert "Traceback" not in said
    assert said.startswith(f"Created the database {tmp_path}/var/parallax.sqlite3.\n")
    _status, said = manage(tmp_path / "var", *arguments)
    assert "database" not in said.lower(), "it was created before"


@pytest.mark.slow
def test_an_older_database_is_migrated_and_a_newer_one_refused(installed: Path, tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir()
    copied = var / "parallax.sqlite3"
    with closing(sqlite3.connect(installed / "parallax.sqlite3")) as old, closing(sqlite3.connect(copied)) as new:
        old.backup(new)
    assert manage(var, "migrate", "axes", "0009", "-v", "0")[0] == 0
    status, said = manage(var, "check_integrity")
    assert status == 0
    assert said.startswith("Applied 1 migrations")
    with closing(sqlite3.connect(copied)) as database, database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('studies', '9999_later', '2030-01-01')"
        )
    status, said = manage(var, "check_integrity")
    assert status == 1
    assert said.startswith("CommandError: ")
    assert "studies.9999_later" in said


@pytest.mark.slow
def test_a_locked_or_broken_database_is_named(installed: Path, tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir()
    (var / "parallax.sqlite3").write_text("is no database " * 500)
    status, said = manage(var, "check_integrity")
    assert status == 1
    assert "Traceback" not in said
    assert f"{var}/parallax.sqlite3 is" in said


@pytest.mark.slow
def test_a_server_without_tables_names_migrate(postgresql_url: str, tmp_path: Path) -> None:
    for arguments in (
        ("check_integrity",),
        ("up", "--port", "1"),
        ("demo", "--port", "1"),
        ("create_account", "me@example.org"),
    ):
        status, said = manage(tmp_path, *arguments, DATABASE_URL=postgresql_url)
        assert status == 1
        assert said.count("\n") == 1
        assert "Run `.venv/bin/python manage.py migrate`." in said
    worker = [sys.executable, "-m", "celery", "-A", "parallax", "worker", "--pool", "solo"]
    done = subprocess.run(
        worker,
        cwd=ROOT,
        env=environment(tmp_path, DATABASE_URL=postgresql_url),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "Run `.venv/bin/python manage.py migrate`." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"DATABASE_URL": "postgresql://nobody:secret@127.0.0.1:9/none"}, "The database cannot be reached"),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL is not a database's address"),
        ({"LEASE_SECONDS": "nonsense"}, "LEASE_SECONDS is 'nonsense'"),
        ({"PARALLAX_VAR": "/proc/parallax"}, "PARALLAX_VAR"),
    ],
)
def test_settings_that_cannot_be_used_are_named(tmp_path: Path, variables: dict[str, str], words: str) -> None:
    status, said = manage(tmp_path, "check_integrity", **variables)
    assert status == 1
    assert "Traceback" not in said
    assert words in said
    assert "secret" not in said


@pytest.mark.slow
def test_a_reader_that_ends_early_is_no_fault(installed: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "manage.py", "check_integrity", "--json"],
        cwd=ROOT, env=environment(installed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as command:  # fmt: skip
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        assert command.stderr.read() == ""


def test_without_the_environment_one_line_names_make_install() -> None:
    done = subprocess.run(
        [sys.executable, "-E", "-s", "-S", "manage.py", "import_dataset"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Run `make install`, then use `.venv/bin/python manage.py COMMAND`." in done.stderr


def test_database_errors_are_explained(tmp_path: Path) -> None:
    file = tmp_path / "one.sqlite3"
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("CREATE TABLE one (id)")
    with (
        closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as reader,
        pytest.raises(sqlite3.OperationalError) as read_only,
    ):
        reader.execute("INSERT INTO one VALUES (1)")
    said = explanation(OperationalError(*read_only.value.args))
    assert said is not None
    assert "cannot be written" in said
    first, second = (sqlite3.connect(file, timeout=0, isolation_level=None) for _ in range(2))
    first.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError) as locked:
        second.execute("BEGIN IMMEDIATE")
    said = explanation(OperationalError(*locked.value.args))
    assert said is not None
    assert "locked" in said
    first.close()
    second.close()
    assert explanation(DatabaseError("unforeseen")) is not None
    assert explanation(RuntimeError("a fault of the program")) is None


def test_what_needs_no_database_is_named_rightly() -> None:
    assert set(get_commands()) >= WITHOUT_DATABASE
