"""One study on SQLite and on PostgreSQL, in processes of their own, under another collation: the same files."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.integration, pytest.mark.slow]
SERVER = "postgresql://postgres@127.0.0.1:5432"
OWN_TO_A_DATABASE = {"study-package.zip"}  # holds ids and times of people, which are made anew


@pytest.fixture
def words_as_in_a_dictionary(postgresql_url: str) -> Iterator[str]:
    """A PostgreSQL database that sorts as a dictionary does, unlike SQLite."""
    name = f"parallax_sameness_{secrets.token_hex(6)}"
    with psycopg.connect(f"{SERVER}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
    try:
        yield f"{SERVER}/{name}"
    finally:
        with psycopg.connect(f"{SERVER}/postgres", autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def written(url: str, folder: Path) -> dict[str, bytes]:
    """Every file of the report that a fresh process writes."""
    environment = {**os.environ, "DATABASE_URL": url, "PARALLAX_VAR": str(folder / "var"), "PYTHONPATH": str(ROOT),
                   "DJANGO_SETTINGS_MODULE": "parallax.settings"}  # fmt: skip
    out = folder / "out"
    made = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "analysis" / "scene.py"), str(out)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_every_file_is_the_same_on_both_databases(words_as_in_a_dictionary: str, poppler: None, tmp_path: Path) -> None:
    sqlite = written(f"sqlite:///{tmp_path / 'one.sqlite3'}", tmp_path / "sqlite")
    postgresql = written(words_as_in_a_dictionary, tmp_path / "postgresql")
    assert list(sqlite) == list(postgresql)
    kinds = {name.rsplit(".", 1)[1] for name in sqlite}
    assert kinds == {"html", "json", "pdf", "md", "txt", "qmd", "svg", "png", "csv", "tex", "zip"}
    differing = [name for name in sqlite if name not in OWN_TO_A_DATABASE and sqlite[name] != postgresql[name]]
    # Of PDF it is asked that words and pages are alike; that the bytes are too is more.
    assert [name for name in differing if not name.endswith(".pdf")] == []
    for name in ("report.pdf", "figures/slope.pdf"):
        assert seen(sqlite[name], tmp_path) == seen(postgresql[name], tmp_path)
    assert differing == []


def seen(pdf: bytes, folder: Path) -> tuple[bytes, bytes]:
    """The words of a PDF, and its pages as pictures."""
    path = folder / "seen.pdf"
    path.write_bytes(pdf)
    words = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True).stdout
    pages = subprocess.run(["pdftoppm", "-r", "50", str(path)], capture_output=True, check=True).stdout
    return words, pages
