"""An installation with a study half finished, a run half measured and jobs queued is upgraded and finishes all of them.

`tests/data/upgrade` holds it as the last version with seven tables of jobs left it; `build_queued.py` there made it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.factories.installations import STORED, STUDY, Installation, older_installation

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# EASE inverts a matrix, whose last bits differ between kinds of processors: these are its model and its metrics where
# the installation was stored. Those of other algorithms are the same everywhere.
OF_EASE = {
    "11f3e7f88ce3cae02b8393e773a202b9cfea2ec0fca588fb3fccc70167cfa920",
    "3491b14bdf4d0aad49730d85817ce5b2690a501b8206e630cfa65fb7382a158a",
    "d987a9853e0fbe4f5e812a393facf2713cead97cd6612b134d2ce5dad2882c70",
}


def digests_of_exports(installation: Installation, out: Path) -> dict[str, str]:
    for kind in ("wide", "long"):
        installation.manage("export_study", STUDY, "--format", kind, "--out", str(out / kind))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.rglob("*.*")}


@pytest.mark.core
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_queued_work_of_the_version_before_is_finished(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("new_postgresql")() if database == "postgresql" else ""
    expected = json.loads((STORED / f"queued_{database}.json").read_text(encoding="utf-8"))
    exports = expected.pop("exports")
    assert {"study-older-study_wide_data.csv", "study-older-study_long_data.csv"} <= set(exports)
    installation = older_installation(tmp_path / "var", url, "queued_")

    installation.manage("migrate", "--no-input", "--verbosity", "0")

    found = digests_of_exports(installation, tmp_path / "exports")
    assert {name: found[name] for name in exports} == exports
    finished = json.loads(installation.run(str(STORED / "finish_queued.py")).splitlines()[-1])
    for name in ("models", "results", "metrics"):
        digests = expected.pop(name)
        assert len(finished[name]) == len(digests)
        assert set(digests) - OF_EASE <= set(finished.pop(name))
    assert finished == expected
    installation.run(str(STORED / "finish.py"), str(STORED / f"{database}.json"))
    jobs = json.loads(installation.run(str(STORED / "do_jobs.py")).splitlines()[-1])
    assert jobs[:3] == [
        ["export", "succeeded", True, ""],
        ["export", "succeeded", True, ""],  # its worker was gone
        ["report", "succeeded", False, ""],
    ]
    assert {kind for kind, *_ in jobs[3:]} == {"package", "bayesian"}  # asked for by the report
    installation.manage("report", STUDY, "--out", str(tmp_path / "report"))
    report = json.loads(next((tmp_path / "report").rglob("report.json")).read_text(encoding="utf-8"))
    assert report["results"]["flow"]["analysed"] == 9
    installation.manage("check_integrity")
