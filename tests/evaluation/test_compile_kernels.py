"""Everything that is compiled can be compiled ahead."""

from __future__ import annotations

import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
ELSEWHERE = ("tests", "benchmarks", "docs", "var")


def test_every_module_that_compiles_something_is_compiled_ahead() -> None:
    out = StringIO()
    call_command("compile_kernels", stdout=out)
    *named, last = out.getvalue().splitlines()
    assert last.startswith("Compiled in ")
    told = {line.removeprefix("… ") for line in named}
    for file in ROOT.glob("[a-z]*/**/*.py"):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        is_compiled = re.search(r"^@(numba\.)?njit", file.read_text(encoding="utf-8"), re.MULTILINE)
        if module.split(".")[0] not in ELSEWHERE and is_compiled:
            assert module in told, f"{module} is compiled, and compile_kernels does not know it"
            assert module in sys.modules
