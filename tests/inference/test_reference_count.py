"""No reference case is left untested: every file has its tests, and they go through all of its cases."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.reference
HERE = Path(__file__).parent
N_CASES = 353
# Files whose cases are of two kinds, each with a test of its own that passes over the other kind.
OF_TWO_KINDS = {"correlation": 2}
# Cases of procedures that the package does not have.
NOT_OFFERED = {"topk_overlap"}


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
    counted = {path.stem: len(cases(path.stem)) for path in statistics_dir.glob("*.json")}
    assert len(counted) == 29
    assert sum(counted.values()) == N_CASES
    read = _files_read()
    assert {name for name in counted if not read[name]} == NOT_OFFERED
    for name, n_kinds in OF_TWO_KINDS.items():
        assert len(read[name]) >= n_kinds, name
