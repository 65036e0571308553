"""The page on upgrades, followed on a clone: from an older installation to a newer release, and back."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from shlex import quote
from typing import Any

import pytest
from django.db.migrations.loader import MigrationLoader

from tests.factories.installations import STORED, older_installation, stored_sql
from tests.factories.project_files import ROOT, project_files
from tests.tutorial.steps import Step, steps
from tests.tutorial.terminal import Terminal

PAGE = ROOT / "docs" / "how-to" / "upgrade.md"
OLDER, NEWER = "v1.0.0", "v1.1.0"  # as on the page
MIGRATION = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("core", "{newest}")]
    operations = [migrations.RunSQL("CREATE TABLE core_of_the_newer_release (id integer)")]
"""
STATE = """
from studies.models import *
people = Participant.objects
print(people.filter(status="completed").count(), people.count(), Study.objects.get().design_hash)
"""
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


class Clone(Terminal):
    """A clone of a repository. Its older release is the code of this checkout; the newer one adds a migration, and is
    published after the clone was made."""

    def _make_checkout(self) -> None:
        origin = self.folder.parent / "origin"
        for name in project_files():
            if not name.startswith("tests/"):
                (origin / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, origin / name)

        def git(*arguments: str) -> None:
            who = ("-c", "user.name=Parallax", "-c", "user.email=parallax@example.org")
            subprocess.run(["git", *who, *arguments], cwd=origin, capture_output=True, check=True)

        git("init")
        git("add", "--all")
        git("commit", "--message", "The older release")
        git("tag", OLDER)
        git("clone", ".", str(self.folder))
        newest = MigrationLoader(None).graph.leaf_nodes("core")[0][1]
        (origin / "core" / "migrations" / "9999_newer_release.py").write_text(MIGRATION.format(newest=newest))
        code = origin / "core" / "provenance.py"
        code.write_text(re.sub('^CODE_VERSION = ".*"', 'CODE_VERSION = "1.1.0"', code.read_text(), flags=re.MULTILINE))
        git("add", "--all")
        git("commit", "--message", "The newer release")
        git("tag", NEWER)

    def printed(self, line: str) -> str:
        """What a command prints that has to succeed."""
        self.output = ""
        assert self.type(line) == 0, self.output
        return self.output


def section(heading: str, tmp_path: Path) -> list[Step]:
    """The steps of a section of the page."""
    text = PAGE.read_text(encoding="utf-8").partition(f"### {heading}\n")[2]
    file = tmp_path / "section.md"
    file.write_text(re.split("^##", text, flags=re.MULTILINE)[0], encoding="utf-8")
    return steps(file)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_checkout_is_upgraded_and_rolled_back_as_the_page_says(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("new_postgresql")() if database == "postgresql" else ""
    expected = STORED / f"{database}.json"
    clone = Clone(
        tmp_path, {"/backups/": f"{tmp_path}/"}, NUMBA_DISABLE_JIT="1", PYTHONPATH=f"{tmp_path}/parallax:{STORED}",
        SECRET_KEY="a secret key of the stored installation", **({"DATABASE_URL": url} if url else {}),
    )  # fmt: skip
    older_installation(clone.folder / "var", url)

    def state() -> tuple[str, str, str]:
        completed, people, design = clone.printed(f".venv/bin/python manage.py shell -v 0 -c {quote(STATE)}").split()
        return completed, people, design

    def tables() -> set[str]:
        return set(json.loads(clone.printed(f".venv/bin/python {STORED}/tables.py")))

    def finished() -> dict[str, Any]:
        return dict(json.loads(clone.printed(f".venv/bin/python {STORED}/finish.py {expected}")))

    with clone:
        *steps_before_start, start = section("Upgrade a checkout", tmp_path)
        for step in steps_before_start:
            clone.do(step)
        assert "core_of_the_newer_release" in tables()
        completed, people, design = before = state()
        assert (completed, people) == ("6", "9")
        assert design in stored_sql(database)  # frozen at the launch
        after = finished()
        assert after["statuses"] == ["completed"] * 9
        assert after["models"] == json.loads(expected.read_text())["models"]
        clone.do(start)

        *steps_before_start, start = section("Roll a checkout back", tmp_path)
        for step in steps_before_start:
            clone.do(step)
        assert "core_of_the_newer_release" not in tables()
        assert state() == before
        assert finished() == after
        clone.do(start)
