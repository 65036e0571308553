"""The reference cases of the statistics, read once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]
STATISTICS = Path(__file__).resolve().parents[1] / "data" / "statistics"


@pytest.fixture(scope="session")
def statistics_dir() -> Path:
    """The folder of the reference cases."""
    return STATISTICS


@pytest.fixture
def cases(statistics_dir: Path) -> Callable[[str], list[Case]]:
    """Read the cases of one reference file, each with its data under "groups" where it names a data set."""

    def read(name: str) -> list[Case]:
        content = json.loads((statistics_dir / f"{name}.json").read_text(encoding="utf-8"))
        for case in content["cases"]:
            data_set = case.get("input", {}).get("dataset")
            if data_set is not None:
                case["groups"] = content["datasets"][data_set]
        assert content["cases"]
        return content["cases"]

    return read
