"""A study launched and half finished on an older version is completed, exported and reported after an upgrade.

`tests/data/upgrade` holds the older installation, as SQLite and as PostgreSQL wrote it; `build.py` there made it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.factories.installations import STORED, STUDY, Installation, older_installation

SQUASHED = "0001_squashed_0021_notice_of_administration"
UNCHANGED = ("models", "results", "metrics")

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Installation, Path]:
    """One installation for each database: the tests run in this order, and the last finishes its study."""
    url = request.getfixturevalue("new_postgresql")() if request.param == "postgresql" else ""
    installation = older_installation(tmp_path_factory.mktemp(request.param) / "var", url)
    installation.manage("migrate", "--no-input", "--verbosity", "0")
    return installation, STORED / f"{request.param}.json"


@pytest.mark.core
def test_an_upgraded_database_has_the_tables_of_a_new_one(
    upgraded: tuple[Installation, Path],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    migrated_copy: Callable[[Path], None],
) -> None:
    installation, file = upgraded
    var = tmp_path / "new"
    var.mkdir()
    if file.stem == "postgresql":
        new = Installation(var, DATABASE_URL=request.getfixturevalue("new_postgresql")())
        new.manage("migrate", "--no-input", "--verbosity", "0")
    else:
        new = Installation(var)
        migrated_copy(var / "parallax.sqlite3")

    tables = json.loads(installation.run(str(STORED / "tables.py")))

    assert {"studies_participant", "analysis_report"} <= set(tables)
    assert tables == json.loads(new.run(str(STORED / "tables.py")))


# Beyond what must never break: an installation goes back by restoring its backup.
def test_the_tables_of_an_older_version_go_back_a_version_and_forth(upgraded: tuple[Installation, Path]) -> None:
    installation, _ = upgraded
    tables = json.loads(installation.run(str(STORED / "tables.py")))
    installation.manage("migrate", "studies", SQUASHED, "--verbosity", "0")
    before = json.loads(installation.run(str(STORED / "tables.py")))
    assert {"proof_of_work", "without_script"} <= {name for name, *_ in before["studies_recruiting"]["columns"]}
    installation.manage("migrate", "--no-input", "--verbosity", "0")
    assert json.loads(installation.run(str(STORED / "tables.py"))) == tables


@pytest.mark.core
def test_jobs_of_seven_tables_go_on_in_one(upgraded: tuple[Installation, Path]) -> None:
    jobs = json.loads(upgraded[0].run(str(STORED / "former_jobs.py")).splitlines()[-1])

    assert [(job["kind"], job["status"], job["subject"], job["has_owner"]) for job in jobs] == [
        ("export", "succeeded", "Study", True),
        ("export", "failed", "Study", True),
        ("simulation", "queued", "Study", False),  # its worker is gone
        ("experiment", "succeeded", "DatasetVersion", False),
        ("report", "queued", "Study", True),
        ("package", "succeeded", "Study", True),
        ("bayesian", "succeeded", "Report", False),
        ("import", "waiting", None, True),
        ("subset", "failed", "DatasetVersion", True),
        ("replication", "queued", "Study", True),
    ]
    export, failed, simulation, experiment, report, package, _, upload, subset, replication = jobs
    assert export["payload"] == {"format": "wide", "options": {"without_excluded": True}}
    assert (export["file"], export["result"]) == ("exports/1/a.zip", {"sha256": "ab", "n_bytes": 3})
    assert failed["error"] == "The disk is full."
    assert simulation["payload"] == {"per_condition": 2, "seed": 1, "base_url": "http://x/"}
    assert (experiment["payload"]["experiment"], experiment["file"]) == ("croc-hot", "experiments/1.zip")
    assert experiment["result"] == {"verdicts": [["holds", "It does."]]}
    assert report["payload"] == {"mode": "simulated", "overrides": {"alpha": 0.01}}
    assert (list(package["payload"]), package["file"]) == (["report"], "packages/2/1.zip")
    assert upload["payload"] == {"step": "items", "source": "a.csv", "folder": "f"}
    assert (subset["result"], subset["error"]) == ({"problems": [{"row": 1}], "options": ["scale"]}, "No rows.")
    assert replication["payload"]["simulation"] == "kept"
    assert replication["payload"]["chosen"] == {"seed": 1}


@pytest.mark.core
def test_a_half_finished_study_goes_on_after_an_upgrade(upgraded: tuple[Installation, Path], tmp_path: Path) -> None:
    installation, file = upgraded
    expected = json.loads(file.read_text(encoding="utf-8"))
    assert expected["statuses"] == {"active": 2, "completed": 6, "consented": 1}

    after = json.loads(installation.run(str(STORED / "finish.py"), str(file)))

    assert after["places"] == {"about": "about/", "rate": "rate/", "items": "items/1/3/"}
    assert after["statuses"] == ["completed"] * 9
    for name in UNCHANGED:
        assert after[name] == expected[name]
    installation.manage("export_study", STUDY, "--format", "wide", "--out", str(tmp_path / "export"))
    with next((tmp_path / "export").rglob("*_wide_data.csv")).open(encoding="utf-8") as table:
        assert len(list(csv.DictReader(table))) == 9
    installation.manage("report", STUDY, "--out", str(tmp_path / "report"))
    report = json.loads(next((tmp_path / "report").rglob("report.json")).read_text(encoding="utf-8"))
    assert report["results"]["flow"]["analysed"] == 9
    assert [variable["key"] for variable in report["results"]["variables"]] == [
        "accuracy",
        "fon",
        "son",
        "satisfaction",
    ]
    assert "TopPop" in next((tmp_path / "report").rglob("*.md")).read_text(encoding="utf-8")
    installation.manage("check_integrity")


@pytest.mark.core
def test_stored_models_are_fitted_ones_and_can_be_re_ranked(upgraded: tuple[Installation, Path]) -> None:
    installation, _ = upgraded
    models = json.loads(installation.run(str(STORED / "rerank.py")))
    assert models
    assert models == [{"origin": "fitted", "base": None, "provenance": {}, "is_reused": True}] * len(models)
    installation.manage("check_integrity")
