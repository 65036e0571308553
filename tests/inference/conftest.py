"""The reference cases of the statistics, read once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The first example of a run loads scipy; how long that takes says nothing about the code under test.
settings.register_profile("statistics", deadline=None, database=None)
settings.load_profile("statistics")

Case = dict[str, Any]


@pytest.fixture(scope="session")
def cases(shared_dir: Path) -> Callable[[str], list[Case]]:
    """Read the cases of one reference file, each with its data under "groups" where it names a data set."""

    def read(name: str) -> list[Case]:
        path = shared_dir / "reference" / "statistics" / f"{name}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        for case in content["cases"]:
            data_set = case.get("input", {}).get("dataset")
            if data_set is not None:
                case["groups"] = content["datasets"][data_set]
        assert content["cases"]
        return content["cases"]

    return read
