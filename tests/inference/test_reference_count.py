"""No reference case is left untested: every file has its tests, and they go through all of its cases."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.reference
HERE = Path(__file__).parent
N_CASES = 339
# Files whose cases are of two kinds, each with a test of its own that passes over the other kind.
OF_TWO_KINDS = {"correlation": 2, "p_adjust": 2}


def _files_read() -> dict[str, set[str]]:
    """Reference file -> the tests that read it, from the tests' own text."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            for call in ast.walk(node):
                if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "cases"):
                    continue
                if isinstance(call.args[0], ast.Constant):
                    found[call.args[0].value].add(node.name)
    return found


def test_every_case_of_every_file_is_tested(statistics_dir: Path, cases: Callable[[str], list[dict[str, Any]]]) -> None:
    index = json.loads((statistics_dir / "index.json").read_text(encoding="utf-8"))
    counted = {line["file"].removesuffix(".json"): line["cases"] for line in index["cases"]}
    present = {path.stem for path in statistics_dir.glob("*.json")} - {"index"}
    assert set(counted) == present
    assert len(present) == 28
    assert {name: len(cases(name)) for name in counted} == counted
    assert sum(counted.values()) == N_CASES
    read = _files_read()
    assert {name for name in counted if not read[name]} == set()
    for name, n_kinds in OF_TWO_KINDS.items():
        assert len(read[name]) >= n_kinds, name


def test_the_projects_own_cases_are_those_of_the_shared_data(statistics_dir: Path) -> None:
    own = sorted((HERE.parents[0] / "data" / "statistics").glob("*.json"))
    assert [path.stem for path in own] == ["apa_strings", "nist_anova", "partial_order"]
    for path in own:
        assert json.loads(path.read_text()) == json.loads((statistics_dir / path.name).read_text()), path.name
