"""What a public installation needs: settings that are safe by default, and an image without secrets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import pytest
import yaml

from parallax.env import is_weak

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.integration

HSTS = """
import json
from django.conf import settings
print(json.dumps([settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS, settings.SECURE_HSTS_PRELOAD]))
"""
STRONG = "k7Vw2xQ9pLs4Tn8RbY3mZc6HdF1gJ5aEuXoWiSqKtNvBhCyP"


def start(var: Path, program: str = HSTS, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False,
        env={"PARALLAX_VAR": str(var), "DJANGO_SETTINGS_MODULE": "parallax.settings", **environment},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [0, False, False]),
        ({"HTTPS": "1"}, [31536000, False, False]),
        ({"HTTPS": "1", "HSTS": "subdomains"}, [31536000, True, False]),
        ({"HTTPS": "1", "HSTS": "preload"}, [31536000, True, True]),
    ],
)
def test_other_sites_of_the_domain_are_not_bound_unless_asked(
    environment: dict[str, str], expected: list[object], tmp_path: Path
) -> None:
    assert json.loads(start(tmp_path, **environment).stdout) == expected


COOKIES = """
import json
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from accounts.services import create_account
from django.test import Client
create_account(email="ada@example.org", password="correct horse battery")
client = Client(HTTP_HOST="localhost", headers={"X-Forwarded-Proto": "https"})
client.get("/account/sign-in/")
client.post("/account/sign-in/", {"username": "ada@example.org", "password": "correct horse battery"})
client.post("/account/", {"name": "Ada"})
kept = client.cookies.items()
print(json.dumps({name: [bool(cookie["secure"]), cookie["path"], cookie["domain"]] for name, cookie in kept}))
"""


@pytest.mark.slow
def test_cookies_of_a_site_behind_https_can_be_set_by_no_other_site_of_its_domain(tmp_path: Path) -> None:
    served = json.loads(start(tmp_path, COOKIES, HTTPS="1").stdout)
    assert served == {name: [True, "/", ""] for name in ("__Host-csrftoken", "__Host-sessionid")}


SECOND_FACTOR = """
from django.conf import settings
from django.core import checks
import django
django.setup()
found = {message.id for message in checks.run_checks(include_deployment_checks=True)}
print(settings.SECOND_FACTOR, "parallax.W003" in found)
"""


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "optional False"),
        ({"ALLOWED_HOSTS": "localhost,127.0.0.1"}, "optional False"),
        ({"HTTPS": "1"}, "administrators False"),
        ({"ALLOWED_HOSTS": "study.example.org,localhost"}, "administrators False"),
        ({"HTTPS": "1", "PARALLAX_SECOND_FACTOR": "optional"}, "optional True"),
        ({"HTTPS": "1", "PARALLAX_SECOND_FACTOR": "everyone"}, "everyone False"),
    ],
)
def test_administrators_of_a_public_site_need_a_second_factor_unless_the_operator_decides_otherwise(
    environment: dict[str, str], expected: str, tmp_path: Path
) -> None:
    assert start(tmp_path, SECOND_FACTOR, **environment).stdout.strip() == expected


def test_compose_requires_the_second_factor_of_administrators() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert compose["services"]["web"]["environment"]["PARALLAX_SECOND_FACTOR"].endswith(":-administrators}")


@pytest.mark.parametrize("key", ["secret", "change me" * 2, "ab" * 40, "django-insecure-" + "k7Vw2xQ9pLs4Tn8RbY3mZ"])
def test_a_secret_key_that_can_be_guessed_stops_the_start_outside_debug(key: str, tmp_path: Path) -> None:
    assert is_weak(key)
    refused = start(tmp_path, SECRET_KEY=key)
    assert refused.returncode != 0
    assert "easy to guess" in refused.stderr
    assert f"{key!r}" not in refused.stderr
    assert start(tmp_path, SECRET_KEY=key, DEBUG="1").returncode == 0


def test_a_strong_or_generated_secret_key_is_accepted(tmp_path: Path) -> None:
    assert start(tmp_path, SECRET_KEY=STRONG).returncode == 0
    assert start(tmp_path).returncode == 0
    assert not is_weak((tmp_path / "secret_key").read_text())


def test_secrets_are_files_and_never_in_an_environment() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    for name, service in compose["services"].items():
        environment = service.get("environment", {})
        secret = {key for key in environment if key.endswith(("PASSWORD", "TOKEN", "SECRET_KEY"))}
        assert not secret, name
        named = {value for key, value in environment.items() if key.endswith("_FILE") and "secrets" in value}
        assert named == {f"/run/secrets/{each}" for each in service.get("secrets", [])}, name
        assert "PASSWORD" not in environment.get("DATABASE_URL", "")
    assert compose["secrets"]["secret_key"] == {"file": "./secrets/secret_key"}


def test_images_are_pinned_and_every_container_is_bounded() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert re.search(r"^FROM python:3\.11\.\d+-", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for name, service in compose["services"].items():
        assert "build" in service or re.search(r":\d+\.\d+", service["image"]), name
        assert service["mem_limit"], name
        assert service["logging"]["options"]["max-size"], name
        assert service.get("read_only") or name == "database", name
    for name in ("worker", "short-worker", "beat"):
        assert compose["services"][name]["environment"]["PARALLAX_ALIVE_FILE"] in str(
            compose["services"][name]["healthcheck"]["test"]
        )


def is_left_out(path: str, patterns: list[str]) -> bool:
    """Whether `.dockerignore` leaves a path of the build context out: a pattern matches it, or a folder above it."""
    parts = PurePosixPath(path).parts
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return any(
        fnmatchcase(each, pattern.rstrip("/").removeprefix("**/"))
        or (pattern.startswith("**/") and fnmatchcase(PurePosixPath(each).name, pattern.removeprefix("**/")))
        for each in above
        for pattern in patterns
        if "*" in pattern or each == pattern.rstrip("/")
    )


def test_no_build_context_holds_secrets_data_or_history() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    built = {service["build"] for service in compose["services"].values() if "build" in service}
    assert built
    for context in built:
        lines = (ROOT / context / ".dockerignore").read_text().splitlines()
        patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        assert not [pattern for pattern in patterns if pattern.startswith("!")]  # which would bring files back
        for path in (
            ".env", ".env.production", "secrets/secret_key", "certificates/site.key",
            ".git/config", "var/secret_key", "var/parallax.sqlite3", "var/mail/1.log",
            ".venv/bin/python", ".venv-docs/bin/python", "backup.zip", "node_modules/x/index.js",
        ):  # fmt: skip
            assert is_left_out(path, patterns), path
        for path in ("manage.py", "parallax/settings.py", "requirements.txt", "static/participant.js"):
            assert not is_left_out(path, patterns), path
