from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from inference import posthoc
from inference.descriptive import describe
from inference.partial_order import Tier, partial_order
from inference.results import Pair, Undefined, plain

ROOT = Path(__file__).resolve().parents[2]


def test_results_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Undefined("why").reason = "because"  # type: ignore[misc]


def test_plain_reaches_every_nested_value() -> None:
    value = {"a": (np.int64(1), Tier.MAXIMAL), 2: [np.array([[1.5]]), Undefined("no data")]}
    assert plain(value) == {
        "a": [1, "maximal"],
        "2": [[[1.5]], {"reason": "no data"}],
    }
    assert type(plain(Tier.MAXIMAL)) is str


def test_plain_keeps_a_class_as_it_is() -> None:
    assert plain(Undefined) is Undefined


def test_results_survive_json_and_keep_their_names() -> None:
    groups = {"A": [1, 2, 3], "B": [3, 4, 5], "C": []}
    test = posthoc.tukey_hsd(groups)
    written = json.loads(json.dumps(test.as_dict(), allow_nan=False))
    assert written["pairs"][0]["a"] == "A"
    assert written["locations"] == {"A": 2.0, "B": 4.0}
    assert written["left_out"] == ["C"]
    order = json.loads(json.dumps(partial_order(test.locations, test).as_dict(), allow_nan=False))
    assert order["covers"] == []
    assert json.loads(json.dumps(describe(groups)["A"].as_dict(), allow_nan=False))["mean"] == 2.0


def test_a_pair_without_a_test_says_so_in_json() -> None:
    written = Pair("A", "B", 0.0, None, False, reason="Neither varies.").as_dict()
    assert (written["p"], written["reason"]) == (None, "Neither varies.")


def test_importing_the_package_leaves_the_heavy_libraries_unloaded() -> None:
    modules = sorted(path.stem for path in (ROOT / "inference").glob("*.py") if path.stem != "__init__")
    heavy = {"pandas", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "statsmodels"}
    script = f"import sys; from inference import {', '.join(modules)}; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
