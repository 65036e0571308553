"""Designs, exports, assignments and report inputs of stored studies are the same bytes after an upgrade as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.factories.installations import STORED, older_installation

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.mark.core
@pytest.mark.parametrize("prefix", ["", "queued_"])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_an_upgrade_changes_no_byte_of_stored_studies(
    database: str, prefix: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("new_postgresql")() if database == "postgresql" else ""
    expected = json.loads((STORED / "proof.json").read_text(encoding="utf-8"))[f"{prefix}{database}"]
    installation = older_installation(tmp_path / "var", url, prefix)
    installation.manage("migrate", "--no-input", "--verbosity", "0")

    found = json.loads(installation.run(str(STORED / "proof.py")).splitlines()[-1])

    for study, facts in expected.items():
        assert facts["designs"][0] == facts["designs"][1]
        assert len(facts["exports"]) > 100
        assert facts["replay"][2] == ""
        assert found[study] == facts
