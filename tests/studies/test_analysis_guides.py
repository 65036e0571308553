"""The programs of the guides to analysis run on an export, from first to last block."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from studies.data.exports.export_files import write_export
from tests.factories.studies import completed, make_study

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.integration, pytest.mark.slow]


def program(page: str, language: str) -> str:
    text = (ROOT / "docs" / "how-to" / page).read_text()
    blocks = re.findall(rf"^   ```{language}\n(.*?)^   ```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    return "".join(re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in blocks)


@pytest.fixture
def exported(db: None, tmp_path: Path) -> Path:
    study = make_study(slug="first-study", per_condition=3)
    for number in range(6):
        completed(study, number=number, gender=("woman", "man")[number % 2])
    for kind in ("wide", "long"):
        write_export(study, kind, tmp_path / "var" / "export")
    return tmp_path


@pytest.mark.parametrize(("page", "language"), [("analyse-in-python.md", "python"), ("analyse-in-r.md", "r")])
def test_the_guide_runs_on_an_export(exported: Path, page: str, language: str) -> None:
    command = [sys.executable, "-W", "ignore", "-"] if language == "python" else ["Rscript", "-"]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, input=program(page, language), cwd=exported, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"TopPop", "PureSVD4"} <= set(re.findall(r"\w+", done.stdout))
