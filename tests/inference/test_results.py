from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from inference.results import Undefined

ROOT = Path(__file__).resolve().parents[2]


def test_results_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Undefined("why").reason = "because"  # type: ignore[misc]


def test_importing_the_package_leaves_the_heavy_libraries_unloaded() -> None:
    modules = sorted(path.stem for path in (ROOT / "inference").glob("*.py") if path.stem != "__init__")
    heavy = {"pandas", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "statsmodels"}
    script = f"import sys; from inference import {', '.join(modules)}; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
