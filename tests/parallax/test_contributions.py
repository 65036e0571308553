"""A contributor's round trip by CONTRIBUTING.md: each checklist is followed by a patch, in a copy of the project.

A patch touches what its checklist names and nothing else; the tests that the checklist names pass with it, and so does
one that uses what was added from end to end. An algorithm in a package of its own is added in
tests/e2e/test_your_own_algorithm.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from tests.factories.project_files import project_files

ROOT = Path(__file__).resolve().parents[2]
PATCHES = Path(__file__).parent / "contributions"
EVERY_CHANGE = {"CHANGELOG.md"}  # of every change, whatever it adds
# What a copy of the project must not take from this one.
OWN = {
    "PYTHONPATH",
    "PYTEST_ADDOPTS",
    "PARALLAX_VAR",
    "DATABASE_URL",
    "REDIS_URL",
    "PYTEST_XDIST_WORKER",
    "PYTEST_CURRENT_TEST",
}
# Keys of 64 bits wrap around on purpose, which only NumPy's scalars warn of.
OF_PLAIN_KERNELS = "ignore:overflow encountered:RuntimeWarning"
pytestmark = [pytest.mark.integration, pytest.mark.slow]


@dataclass(frozen=True)
class Contribution:
    """What is added: the heading of its checklist, its patch, its test from end to end, and the tests to be run."""

    heading: str
    patch: str
    end: str
    tests: tuple[str, ...]


CONTRIBUTIONS = (
    Contribution(
        "Add a metric", "metric.patch", "metric_end.py",
        ("tests/evaluation/test_metrics_jaccard.py", "tests/parallax/test_reference.py",
         "tests/evaluation/test_metrics_registry.py", "tests/evaluation/test_metrics_examples.py"),
    ),
    Contribution(
        "Add a question kind", "question-kind.patch", "question_kind_end.py",
        ("tests/studies/test_every_kind.py", "tests/studies/test_simulated_kinds.py", "tests/studies/test_editor.py",
         "tests/parallax/test_reference.py", "tests/parallax/test_catalogues.py"),
    ),
    Contribution(
        "Add a panel", "panel.patch", "panel_end.py",
        ("tests/studies/recruiting/test_panels.py", "tests/studies/test_recruiting.py"),
    ),
)  # fmt: skip
EACH = pytest.mark.parametrize("contribution", CONTRIBUTIONS, ids=lambda each: each.patch.removesuffix(".patch"))


@dataclass(frozen=True)
class Touched:
    """The files of a patch, and those among them that it creates."""

    files: frozenset[str]
    created: frozenset[str]

    def by(self, path: str) -> set[str]:
        """Those that a path of the guide names: NAME and KIND stand for a new file's, LANGUAGE for any, a folder for
        any file in it.
        """
        pattern = re.sub("NAME|KIND|LANGUAGE|(?<=/)$", "*", path)
        among = self.created if re.search("NAME|KIND", path) else self.files
        return {file for file in among if PurePosixPath(file).match(pattern)}


@dataclass(frozen=True)
class Item:
    """One line of a checklist: the paths it names, and whether every change needs them."""

    paths: tuple[str, ...]
    is_optional: bool
    names_alternatives: bool

    def is_met(self, touched: Touched) -> bool:
        """Whether its files were touched: all, or one of alternatives."""
        met = [bool(touched.by(path)) for path in self.paths]
        return self.is_optional or (any(met) if self.names_alternatives else all(met))


def checklist(heading: str, root: Path = ROOT) -> list[Item]:
    """The items of a checklist of the guide."""
    guide = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    items = []
    for wrapped in re.findall(r"^- \[ \] (.+?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL):
        text = " ".join(wrapped.split())
        paths = tuple(re.findall(r"`(\w[\w./-]*/[\w./-]*)`", text))
        items.append(Item(paths, "if needed" in text, " or " in text))
    return items


def touched_by(contribution: Contribution) -> Touched:
    """The files of its patch."""
    patch = (PATCHES / contribution.patch).read_text(encoding="utf-8")
    pairs = re.findall(r"^--- (.+)\n\+\+\+ b/(.+)$", patch, re.MULTILINE)
    return Touched(frozenset(new for _old, new in pairs), frozenset(new for old, new in pairs if old == "/dev/null"))


def unlisted(contribution: Contribution, items: list[Item]) -> set[str]:
    """Files that the change needs and the checklist does not name."""
    touched = touched_by(contribution)
    return set(touched.files - EVERY_CHANGE).difference(*(touched.by(path) for item in items for path in item.paths))


def unneeded(contribution: Contribution, items: list[Item]) -> list[Item]:
    """Lines of the checklist without which the change does."""
    return [item for item in items if not item.is_met(touched_by(contribution))]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project as it is in this checkout."""
    for name in project_files():
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / "project" / name)
    return tmp_path / "project"


def run(project: Path, *command: str, code: int = 0) -> str:
    """Run a command in the copy, which has to end with a code; returns what it printed."""
    kept = {name: value for name, value in os.environ.items() if name not in OWN}
    # Under another path every kernel would be compiled anew, which takes longer than the small data of these tests.
    environment = {**kept, "GIT_CEILING_DIRECTORIES": str(project.parent), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@EACH
def test_a_patch_touches_what_its_checklist_names_and_nothing_else(contribution: Contribution) -> None:
    items = checklist(contribution.heading)
    assert len(items) >= 3
    assert unlisted(contribution, items) == set()
    assert unneeded(contribution, items) == []


@EACH
def test_the_checklist_alone_leads_to_a_change_that_works(contribution: Contribution, project: Path) -> None:
    end = f"tests/test_{contribution.end}"
    shutil.copy2(PATCHES / contribution.end, project / end)
    pytest_run = (sys.executable, "-m", "pytest", "-n", "0", "-q", "--tb=short", "-W", OF_PLAIN_KERNELS)
    patch = str(PATCHES / contribution.patch)
    run(project, "git", "apply", patch)
    said = run(project, *pytest_run, *contribution.tests, end)
    assert re.search(r"\d+ passed", said)
    assert "skipped" not in said
    run(project, "git", "apply", "--reverse", patch)
    assert "1 failed" in run(project, *pytest_run, end, code=1)  # without the change


def test_a_file_too_few_or_too_many_is_noticed(tmp_path: Path) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    line = "- [ ] `studies/recruitment/panels/sites.py`"
    assert line in guide
    panel = next(each for each in CONTRIBUTIONS if each.heading == "Add a panel")
    (tmp_path / "CONTRIBUTING.md").write_text(guide.replace(line, "- [ ] the sites"), encoding="utf-8")
    assert unlisted(panel, checklist(panel.heading, tmp_path)) == {"studies/recruitment/panels/sites.py"}
    surplus = "studies/recruitment/panels/surplus.py"
    (tmp_path / "CONTRIBUTING.md").write_text(guide.replace(line, f"- [ ] `{surplus}`\n{line}"), encoding="utf-8")
    assert [item.paths for item in unneeded(panel, checklist(panel.heading, tmp_path))] == [(surplus,)]
