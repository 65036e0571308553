"""Files and letters that nobody else on the machine reads: modes of `var/`, mail settings, what an image leaves out."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

pytestmark = pytest.mark.integration

SAID = """
import json, os
from django.conf import settings
names = ("EMAIL_BACKEND", "EMAIL_HOST", "EMAIL_PORT", "EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD", "EMAIL_USE_TLS",
         "EMAIL_USE_SSL", "DEFAULT_FROM_EMAIL", "EMAIL_FILE_PATH")
print(json.dumps({**{name: str(getattr(settings, name)) for name in names}, "umask": os.umask(0)}))
"""
RESET = """
import django
django.setup()
from django.core.mail import send_mail
send_mail("Password reset", "https://localhost/a-secret-link", None, ["a@example.org"])
"""


def run(var: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script with the settings of a fresh process."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("EMAIL", "DATABASE", "REDIS", "SECRET"))
    }
    given = {**kept, "PARALLAX_VAR": str(var), "DJANGO_SETTINGS_MODULE": "parallax.settings", **environment}
    return subprocess.run(
        [sys.executable, "-c", script], env=given, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False
    )


def said(var: Path, **environment: str) -> dict[str, Any]:
    done = run(var, SAID, **environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_open_folder_is_closed_at_the_next_start_and_new_files_are_private(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir(mode=0o755)
    assert said(var)["umask"] == 0o077
    assert mode(var) == 0o700
    assert {mode(path) for path in var.rglob("*") if path.is_dir()} == {0o700}
    assert mode(var / "secret_key") == 0o600


def test_without_a_mail_server_a_letter_is_a_private_file_and_never_in_a_log(tmp_path: Path) -> None:
    var = tmp_path / "var"
    done = run(var, RESET)
    assert done.returncode == 0, done.stderr
    assert "a-secret-link" not in done.stdout + done.stderr
    [letter] = (var / "mail").iterdir()
    assert "a-secret-link" in letter.read_text()
    assert (mode(var / "mail"), mode(letter)) == (0o700, 0o600)


@pytest.mark.parametrize(
    ("tls", "expected"),
    [
        (None, ("587", "True", "False")),
        ("starttls", ("587", "True", "False")),
        ("ssl", ("465", "False", "True")),
        ("none", ("25", "False", "False")),
    ],
)
def test_a_mail_server_comes_from_the_environment(
    tmp_path: Path, tls: str | None, expected: tuple[str, str, str]
) -> None:
    (tmp_path / "password").write_text("a/b#c?d\n")
    found = said(
        tmp_path / "var",
        EMAIL_HOST="mail.example.org",
        EMAIL_USER="parallax",
        EMAIL_PASSWORD_FILE=str(tmp_path / "password"),
        DEFAULT_FROM_EMAIL="Study <study@example.org>",
        **({"EMAIL_TLS": tls} if tls else {}),
    )
    assert found["EMAIL_BACKEND"] == "django.core.mail.backends.smtp.EmailBackend"
    assert (found["EMAIL_HOST"], found["EMAIL_HOST_USER"]) == ("mail.example.org", "parallax")
    assert found["EMAIL_HOST_PASSWORD"] == "a/b#c?d"
    assert (found["EMAIL_PORT"], found["EMAIL_USE_TLS"], found["EMAIL_USE_SSL"]) == expected
    assert found["DEFAULT_FROM_EMAIL"] == "Study <study@example.org>"


def test_another_port_is_used_and_an_unknown_protection_refused(tmp_path: Path) -> None:
    assert said(tmp_path / "var", EMAIL_HOST="m.example.org", EMAIL_PORT="2525")["EMAIL_PORT"] == "2525"
    refused = run(tmp_path / "var", SAID, EMAIL_HOST="m.example.org", EMAIL_TLS="maybe")
    assert "EMAIL_TLS is 'maybe'" in refused.stderr


def test_the_image_leaves_out_secrets_data_and_history() -> None:
    left_out = (Path(settings.BASE_DIR) / ".dockerignore").read_text().split()
    assert {".git", ".env", "var", ".venv"} <= set(left_out)
