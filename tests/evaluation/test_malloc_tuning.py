from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.unit, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")]

# How much of what twenty arrays held goes back to the system once they are freed.
FREED = """
import psutil
import numpy as np
from evaluation.services import malloc_tuning
{before}
mb = lambda: psutil.Process().memory_info().rss / 2**20
for _ in range(3):  # freeing a large block teaches the library to keep larger ones
    np.ones(3 * 2**20)
blocks = [np.ones(2**20) for _ in range(20)]
held = mb()
del blocks[:-1]
{after}
print(held - mb())
"""


def freed(before: str = "", after: str = "") -> float:
    code = FREED.format(before=before, after=after)
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def test_large_blocks_go_back_to_the_system_when_they_are_freed() -> None:
    assert freed(before="malloc_tuning.return_large_blocks()") > 140  # of 152 megabytes
    assert freed() < 60


def test_what_small_blocks_leave_free_is_returned_when_asked_for() -> None:
    assert freed(after="malloc_tuning.release_free_memory()") > 140
