"""The reference cases of the statistics, read once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]
# NIST's certified sets are in the public domain, and two files are definitions of this project: these are its own.
OWN = Path(__file__).resolve().parents[1] / "data" / "statistics"


@pytest.fixture(scope="session")
def statistics_dir(shared_dir: Path) -> Path:
    """The folder of the reference cases that are not the project's own."""
    return shared_dir / "reference" / "statistics"


@pytest.fixture
def cases(request: pytest.FixtureRequest) -> Callable[[str], list[Case]]:
    """Read the cases of one reference file, each with its data under "groups" where it names a data set.

    Without the shared data, tests of the project's own files run and the others are skipped.
    """

    def read(name: str) -> list[Case]:
        own = OWN / f"{name}.json"
        path = own if own.exists() else request.getfixturevalue("statistics_dir") / f"{name}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        for case in content["cases"]:
            data_set = case.get("input", {}).get("dataset")
            if data_set is not None:
                case["groups"] = content["datasets"][data_set]
        assert content["cases"]
        return content["cases"]

    return read
