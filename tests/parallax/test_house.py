"""The house itself: migrations, compose file, documented settings."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings

from parallax import checks

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.unit


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", "--check", "--dry-run", stdout=StringIO())


def test_every_variable_that_settings_read_is_documented() -> None:
    read = set(re.findall(r'env_\w+\(\s*"(\w+)"', (ROOT / "parallax" / "settings.py").read_text()))
    table = (ROOT / "docs" / "reference" / "settings.md").read_text()
    assert read
    assert {name for name in read if f"`{name}`" not in table} == set()


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
    assert checks.check_broker_folder() == checks.check_artefact_folder() == checks.check_debug_with_https() == []
    broken = {"data_folder_in": "/nonexistent/broker"}
    storages = {
        **settings.STORAGES,
        "artefacts": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": "/nonexistent"},
        },
    }
    with override_settings(CELERY_BROKER_TRANSPORT_OPTIONS=broken, STORAGES=storages, DEBUG=True, HTTPS=True):
        found = [*checks.check_broker_folder(), *checks.check_artefact_folder(), *checks.check_debug_with_https()]
    assert [message.id for message in found] == ["parallax.E001", "parallax.E002", "parallax.E003"]


def test_checks_find_open_folders_letters_in_logs_and_a_missing_mail_server(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    console = "django.core.mail.backends.console.EmailBackend"
    with override_settings(VAR_DIR=tmp_path, EMAIL_BACKEND=console, EMAIL_HOST=""):
        found = [*checks.check_private_folder(), *checks.check_emails_in_logs(), *checks.check_mail_server()]
    assert [message.id for message in found] == ["parallax.W001", "parallax.E004", "parallax.W002"]
    tmp_path.chmod(0o700)
    smtp = "django.core.mail.backends.smtp.EmailBackend"
    with override_settings(VAR_DIR=tmp_path, EMAIL_BACKEND=smtp, EMAIL_HOST="mail.example.org"):
        found = [*checks.check_private_folder(), *checks.check_emails_in_logs(), *checks.check_mail_server()]
    assert found == []


def test_a_sweep_that_waited_too_long_is_dropped() -> None:
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert 0 < entry["options"]["expires"] <= entry["schedule"]
