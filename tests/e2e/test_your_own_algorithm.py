"""The example packages of docs/how-to, installed beside the project.

How an algorithm of a package is measured and served in a study is followed in tests/tutorial.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from recommenders.testing import CHECKS

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("your-own-algorithm", "your-own-sequential-algorithm", "lenskit-algorithms")
PACKAGES = [ROOT / "docs" / "how-to" / name for name in NAMES]
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages in it, built and installed without a network."""
    target = tmp_path_factory.mktemp("installed")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"),
            *("--no-deps", "--no-build-isolation", "--target", str(target), *map(str, PACKAGES)),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = {path.name for path in target.iterdir()}
    modules = {"parallax_p3alpha.py", "parallax_markov.py", "parallax_lenskit.py"}
    assert names >= modules | {"parallax_p3alpha-1.0.0.dist-info"}
    return target


def environment(installed: Path, var: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    path = os.pathsep.join(filter(None, [str(installed), kept.get("PYTHONPATH", "")]))
    return {**kept, "PYTHONPATH": path, "PARALLAX_VAR": str(var), "PYTHONUNBUFFERED": "1"}


def run(installed: Path, var: Path, *arguments: str, timeout: int = 300) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=environment(installed, var), capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_registry_lists_it_with_its_parameters(installed: Path, tmp_path: Path) -> None:
    program = (
        "from recommenders import registry; print('p3alpha' in registry.keys()); "
        "print([(i.name, i.default) for i in registry.algorithm('p3alpha').Params.described()]); "
        "print(registry.label('p3alpha', {'alpha': '0.8'}))"
    )
    said = run(installed, tmp_path, "-c", program).splitlines()
    assert said == ["True", "[('positive_from', 4.0), ('alpha', 1.0)]", "P3alpha (alpha=0.8)"]


def test_algorithms_of_lenskit_are_described_without_lenskit(installed: Path, tmp_path: Path) -> None:
    """LensKit learns in an environment of its own: tests/recommenders/test_lenskit_example.py."""
    program = (
        "import sys; sys.modules['lenskit'] = None\n"
        "from recommenders import registry; keys = [k for k in registry.keys() if k.startswith('lenskit-')]\n"
        "print(*[registry.label(k) for k in keys], sep=', ')"
    )
    said = run(installed, tmp_path, "-c", program)
    assert said == "LensKit iALS, LensKit BiasedMF, LensKit ItemKNN\n"


@pytest.mark.parametrize("key", ["p3alpha", "markov"])
def test_it_passes_the_contract_suite_and_its_own_example(installed: Path, tmp_path: Path, key: str) -> None:
    said = run(installed, tmp_path, "-m", "pytest", "-q", "tests/recommenders/test_contract.py", "-k", key)
    passed = re.search(r"(\d+) passed", said)
    assert passed
    assert int(passed[1]) >= len(CHECKS)
    assert "failed" not in said
    run(installed, tmp_path, "-m", "doctest", str(installed / f"parallax_{key}.py"))
