"""The example package of docs/how-to, installed beside the project and used by command, as anyone would."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.factories.catalog import make_parsed

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "docs" / "how-to" / "your-own-algorithm"
PER_CONDITION = 2
# What the participants of the algorithm's condition were given.
READ_LISTS = """
import json
from studies.models import RecommendationList
lists = RecommendationList.objects.filter(participant__condition__label="P3alpha")
print(json.dumps([[one.model_digest, list(one.slots.values_list("score", "is_filled"))] for one in lists]))
"""

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package in it, built and installed without a network."""
    target = tmp_path_factory.mktemp("installed")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"),
            *("--no-deps", "--no-build-isolation", "--target", str(target), str(PACKAGE)),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {path.name for path in target.iterdir()} >= {"parallax_p3alpha.py", "parallax_p3alpha-1.0.0.dist-info"}
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


def write_dataset(folder: Path) -> list[str]:
    """A small dataset as two CSV files; returns the arguments that import it."""
    parsed = make_parsed(n_users=80, n_items=60, per_user=18)
    rows = zip(parsed.users.tolist(), parsed.items_rated.tolist(), parsed.values.tolist(), strict=True)
    with (folder / "ratings.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("user", "item", "rating"), *((u + 1, i + 1, int(r)) for u, i, r in rows)])
    with (folder / "films.csv").open("w", newline="") as file:
        films = ((film.external_id, film.title, film.year, film.plot) for film in parsed.items)
        csv.writer(file).writerows([("item", "title", "year", "plot"), *films])
    return [
        *(str(folder / "ratings.csv"), "--name", "films", "--format", "delimited", "--scale", "1:5:1"),
        *("--user-column", "user", "--item-column", "item", "--rating-column", "rating"),
        *("--items-file", str(folder / "films.csv"), "--items-id-column", "item", "--title-column", "title"),
        *("--year-column", "year", "--plot-column", "plot"),
    ]


@contextmanager
def serving(installed: Path, var: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", str(port)],
        cwd=ROOT, env=environment(installed, var), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert "Parallax is ready at" in process.stdout.readline()
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        process.stdout.close()


def test_the_registry_lists_it_with_its_parameters(installed: Path, tmp_path: Path) -> None:
    program = (
        "from recommenders import registry; print('p3alpha' in registry.keys()); "
        "print([(i.name, i.default) for i in registry.algorithm('p3alpha').Params.described()]); "
        "print(registry.label('p3alpha', {'alpha': '0.8'}))"
    )
    said = run(installed, tmp_path, "-c", program).splitlines()
    assert said == ["True", "[('positive_from', 4.0), ('alpha', 1.0)]", "P3alpha (alpha=0.8)"]


def test_it_passes_the_contract_suite_and_its_own_example(installed: Path, tmp_path: Path) -> None:
    said = run(installed, tmp_path, "-m", "pytest", "-q", "tests/recommenders/test_contract.py", "-k", "p3alpha")
    passed = re.search(r"(\d+) passed", said)
    assert passed
    assert int(passed[1]) >= 18
    assert "failed" not in said
    run(installed, tmp_path, "-m", "doctest", str(installed / "parallax_p3alpha.py"))


def test_it_is_trained_measured_and_served_as_a_condition_of_a_study(installed: Path, tmp_path: Path) -> None:
    def manage(*arguments: str) -> str:
        return run(installed, tmp_path / "var", "manage.py", *arguments)

    manage("create_account", "you@example.org", "--administrator")
    manage("import_dataset", *write_dataset(tmp_path))
    said = manage("train", "films", "--algorithm", "p3alpha", "--param", "alpha=0.8")
    assert re.search(r"P3alpha \(alpha=0.8\) on .* was fitted in .* model [0-9a-f]{64}", said)
    said = manage("evaluate", "films", "--algorithms", "toppop,p3alpha", "--reserve", "0.15", "--workers", "1",
                  "--negatives", "20", "--relevant", "4")  # fmt: skip
    assert re.search(r"^P3alpha\s+\.\d+", said, re.MULTILINE)
    said = manage("create_study", "mine", "--dataset", "films", "--per-condition", str(PER_CONDITION))
    digest = re.search(r"^P3alpha\s+([0-9a-f]{12})", said, re.MULTILINE)
    assert digest
    assert "Design " in manage("launch_study", "mine")
    with serving(installed, tmp_path / "var") as url:
        said = manage("simulate_participants", "mine", "--per-condition", str(PER_CONDITION), "--base-url", url)
    assert f"{2 * PER_CONDITION} of {2 * PER_CONDITION} simulated participants completed" in said
    lists = json.loads(manage("shell", "--verbosity", "0", "-c", READ_LISTS))
    assert len(lists) == PER_CONDITION
    for model_digest, slots in lists:
        assert model_digest.startswith(digest[1])
        assert len(slots) == 5
        assert all(score > 0 and not is_filled for score, is_filled in slots)
