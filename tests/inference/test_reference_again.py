"""The reference values that base R computes are those that it computes here."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.reference
N_VALUES = 1371


def _stored(expected: dict[str, Any], field: str) -> Any:
    """The value of `levene_mean.F`, of `holm3` (the third of a list) or of `pairs.lwr2` (of the second pair)."""
    whole, _, part = field.partition(".")
    number = re.fullmatch(r"(\D+)(\d+)", part or field)
    if whole == "pairs" and number:
        return expected["pairs"][int(number[2]) - 1].get(number[1])
    if part:
        return expected[whole].get(part)
    if number and number[1] in expected:
        return expected[number[1]][int(number[2]) - 1]
    return expected.get(field)


def test_base_r_computes_the_stored_values(rscript: str, statistics_dir: Path) -> None:
    command = [rscript, "--vanilla", str(statistics_dir / "base_r.R"), str(statistics_dir)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    n_values = 0
    expected: dict[tuple[str, str], Any] = {}
    for line in printed:
        file, case, field, value = line.split("\t")
        if (file, case) not in expected:
            content = json.loads((statistics_dir / f"{file}.json").read_text(encoding="utf-8"))
            expected.update({(file, one["id"]): one["expected"] for one in content["cases"]})
        stored = _stored(expected[file, case], field)
        if not isinstance(stored, int | float):  # what is undefined has no number to compare
            continue
        n_values += 1
        # qtukey stops at a ten-millionth.
        tolerance = 1e-6 if file == "tukey_hsd" else 1e-9
        assert float(value) == pytest.approx(stored, rel=tolerance, abs=1e-12), (case, field)
    assert n_values == N_VALUES
