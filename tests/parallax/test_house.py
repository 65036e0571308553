"""The house itself: migrations, compose file, targets of make."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.test import override_settings
from packaging.version import Version

from charting import runtime
from core.provenance import CODE_VERSION
from parallax import checks
from tests.factories.project_files import project_files

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.unit


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", "--check", "--dry-run", stdout=StringIO())


@pytest.mark.django_db
def test_sqlite_confirms_a_save_only_once_it_is_on_the_disk() -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous")
        assert cursor.fetchone() == (2,)  # FULL


def test_the_compose_file_names_the_processes_of_the_scaled_shape() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert {"web", "worker", "beat", "database", "broker", "proxy"} <= set(compose["services"])
    for name in ("web", "worker", "beat"):
        environment = compose["services"][name]["environment"]
        assert environment["DATABASE_URL"].startswith("postgresql://")
        assert environment["REDIS_URL"].startswith("redis://")


def test_app_packages_stay_empty_so_that_pure_modules_see_no_django() -> None:
    for app in ("accounts", "catalog", "evaluation", "studies", "analysis"):
        assert (ROOT / app / "__init__.py").read_text() == ""


def test_checks_find_folders_that_cannot_be_written() -> None:
    assert list(checks.check_always()) == []
    broken = {"data_folder_in": "/nonexistent/broker"}
    storages = {
        **settings.STORAGES,
        "artefacts": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": "/nonexistent"},
        },
    }
    with override_settings(CELERY_BROKER_TRANSPORT_OPTIONS=broken, STORAGES=storages, DEBUG=True, HTTPS=True):
        found = list(checks.check_always())
        with pytest.raises(SystemCheckError, match=r"parallax\.E001"):
            call_command("export_run", "1", out="out", skip_checks=False)
    assert [message.id for message in found] == ["parallax.E001", "parallax.E002", "parallax.E003"]


def test_commands_import_no_page_for_their_checks() -> None:
    script = (
        "import sys, django; django.setup(); from evaluation.management.commands.evaluate import Command; "
        "Command().check(tags=Command.requires_system_checks); print({'parallax.urls', 'pandas'} & {*sys.modules})"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "parallax.settings"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("set()\n", 0), done.stderr


def test_checks_find_a_missing_chart_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with override_settings(EMAIL_HOST="mail.example.org", SECOND_FACTOR="administrators"):
        assert list(checks.check_deployment()) == []
        monkeypatch.setattr(runtime, "FOLDER", tmp_path)
        (found,) = checks.check_deployment()
    assert (found.id, "make install" in str(found.hint)) == ("parallax.W004", True)


def test_checks_find_open_folders_letters_in_logs_and_a_missing_mail_server(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    console = "django.core.mail.backends.console.EmailBackend"
    with override_settings(VAR_DIR=tmp_path, EMAIL_BACKEND=console, EMAIL_HOST="", SECOND_FACTOR="everyone"):
        found = [*checks.check_always(), *checks.check_deployment()]
    assert [message.id for message in found] == ["parallax.E004", "parallax.W001", "parallax.W002"]
    tmp_path.chmod(0o700)
    smtp = "django.core.mail.backends.smtp.EmailBackend"
    with override_settings(
        VAR_DIR=tmp_path, EMAIL_BACKEND=smtp, EMAIL_HOST="mail.example.org", SECOND_FACTOR="everyone"
    ):
        assert [*checks.check_always(), *checks.check_deployment()] == []


def test_fonts_are_small_licensed_and_all_that_pages_name() -> None:
    folder = ROOT / "static" / "fonts"
    files = {file.name: file.stat().st_size for file in folder.glob("*.woff2")}
    named = set(re.findall(r"fonts/([\w-]+\.woff2)", (ROOT / "static" / "css" / "fonts.css").read_text()))
    assert set(files) == named
    assert max(files.values()) < 60_000
    for script in ("latin", "greek", "cyrillic"):
        assert f"source-serif-4-{script}-600-normal.woff2" in named
    assert "SIL OPEN FONT LICENSE Version 1.1" in (folder / "OFL.txt").read_text()
    preloaded = re.search(r"fonts/([\w-]+\.woff2)", (ROOT / "templates" / "base.html").read_text())
    assert preloaded is not None
    assert preloaded[1] in named


def test_a_sweep_that_waited_too_long_is_dropped() -> None:
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert 0 < entry["options"]["expires"] <= entry["schedule"]


def test_the_code_the_citation_and_the_changelog_name_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "version"} <= set(citation)
    assert citation["version"] == CODE_VERSION
    assert re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", CODE_VERSION)
    sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    unreleased = sections.pop(0) if sections[0].startswith("Unreleased\n") else ""
    version, date = sections[0].partition("\n")[0].split(" - ")
    if "\n- " in unreleased:
        assert Version(CODE_VERSION) > Version(version), "Unreleased changes belong to a later version."
    else:
        assert (version, date) == (CODE_VERSION, citation["date-released"])


def test_the_checklists_for_contributors_name_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:\w+/)[\w./]+)`", text))
    placeholders = {name for name in named if re.search("NAME|KIND|LANGUAGE", name)}
    assert len(named - placeholders) > 15
    made = {name for name in named if name.startswith("var/")}
    assert {name for name in named - placeholders - made if not (ROOT / name).exists()} == set()
    for file, word in re.findall(r"- \[ \] `([\w./]+\.py)`: [^`\n]*`([A-Z_]{4,})`", text):
        assert re.search(rf"^{word}\b", (ROOT / file).read_text(), re.MULTILINE), (file, word)


def test_the_workflow_calls_targets_of_make() -> None:
    makeable = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text())
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    called = {word for run in runs for word in re.findall(r"make ([a-z-]+)", run)}
    shards = workflow["jobs"]["nightly"]["strategy"]["matrix"]["shard"]
    assert {"lint", "test", "test-core", "docs"} <= called <= makeable
    assert {shard["target"] for shard in shards} == {"test", "test-kernels", "test-slow"}
    sharded = {folder for shard in shards if shard["target"] == "test-slow" for folder in shard["tests"].split()}
    holding = {f"tests/{file.relative_to(ROOT / 'tests').parts[0]}" for file in (ROOT / "tests").rglob("test_*.py")}
    assert holding - {"tests/data"} == sharded, "each night every folder of tests runs once"
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert {"name", "description", "body"} <= set(yaml.safe_load(form.read_text()))


def test_the_files_of_the_project_are_found_without_git(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(".venv\nvar/\n*.pyc\n/secrets/\n")
    kept = [".ci/run", "README.md", "core/secrets/kept.py"]
    left_out = [".git/config", ".venv/bin/python", "core/var/log", "core/old.pyc", "secrets/key"]
    for name in (*kept, *left_out):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert project_files(tmp_path) == [".ci/run", ".gitignore", *kept[1:]]
    assert {"Makefile", ".gitignore", "tests/factories/project_files.py"} <= set(project_files())


def test_make_demo_leaves_the_database_to_its_command() -> None:
    """It migrates in the same process, which saves one start; see `prepare_database`."""
    done = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if "manage.py" in line and not line.startswith("echo")]
    assert len(lines) == 1
    assert ".venv/bin/python manage.py demo" in lines[0]


@pytest.mark.parametrize("target", ["install", "up"])
def test_make_creates_the_environment_and_the_database_first(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if "manage.py" in line and not line.startswith("echo")]
    assert ".venv/bin/python manage.py migrate" in lines[0]
    assert target == "install" or f".venv/bin/python manage.py {target}" in lines[1]
