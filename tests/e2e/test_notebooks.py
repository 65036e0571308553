"""The notebooks of the documentation, run from first to last in empty environments with the built client alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_main_job import ROOT, environment, manage, serving

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
NOTEBOOKS = ROOT / "docs" / "notebooks"
# In this order, on one site: each goes on from what the one before has left there.
RESEARCH = ("from-a-csv-to-a-launched-study", "from-a-finished-study-to-the-figures-of-a-paper")
TORCH = "bring-a-pytorch-model"
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient
source, target, folder = sys.argv[1:]
notebook = nbformat.read(source, 4)
NotebookClient(notebook, timeout=900, record_timing=False, resources={"metadata": {"path": folder}}).execute()
notebook.metadata.language_info = {"name": "python"}
nbformat.write(notebook, target)
"""
IS_APPROVED = bool(os.environ.get("PARALLAX_APPROVE"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A running site, as the variables that the client reads."""
    folder = tmp_path_factory.mktemp("site")
    with serving(folder) as url:
        manage(folder, "create_account", "ada@example.org")
        said = manage(
            folder, "create_token", "ada@example.org", "--name", "notebook", "--scope", "read", "data", "write"
        )
        token = said.split("plx_")[1].split()[0]
        yield {"PARALLAX_URL": url, "PARALLAX_TOKEN": f"plx_{token}"}


@pytest.fixture(scope="module")
def wheels() -> Path:
    """The folder of the wheels, built anew from the interface of this version."""
    subprocess.run(["make", "client"], cwd=ROOT, check=True, capture_output=True, timeout=600)
    return ROOT / "var" / "wheels"


def empty_environment(folder: Path, wheels: Path, *packages: str) -> Path:
    """The interpreter of a new environment with the built client and these packages alone."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    client = f"{next(wheels.glob('parallax_client-*.whl'))}[pandas]"
    python = folder / "bin" / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", client, *packages],
        check=True,
        capture_output=True,
        timeout=1200,
    )
    return python


def run(python: Path, name: str, site: dict[str, str], folder: Path) -> str:
    """Execute a notebook in a folder; returns all that it printed. `make notebooks` keeps what it shows."""
    source = NOTEBOOKS / f"{name}.ipynb"
    target = source if IS_APPROVED else folder / source.name
    kept = {key: value for key, value in environment(folder).items() if not key.startswith("PARALLAX_")}
    done = subprocess.run(
        [str(python), "-c", EXECUTE, str(source), str(target), str(folder)],
        env={**kept, **site}, capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return target.read_text(encoding="utf-8")


@pytest.mark.core
def test_a_csv_becomes_a_study_a_report_and_figures(site: dict[str, str], wheels: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "env", wheels, "matplotlib", "nbclient", "ipykernel")
    launched, figures = (run(python, name, site, tmp_path) for name in RESEARCH)
    assert "There is no setting of this name" in launched
    assert "amendments/" in launched
    assert "simulated" in launched
    assert '"image/png"' in figures
    assert (tmp_path / "figure.pdf").stat().st_size > 1000
    assert (tmp_path / "report" / "tables").is_dir()


def test_a_pytorch_model_is_measured_beside_the_others(site: dict[str, str], wheels: Path, tmp_path: Path) -> None:
    """After the notebooks before it, whose run it needs."""
    python = empty_environment(tmp_path / "env", wheels, "matplotlib", "nbclient", "ipykernel", "torch")
    if not any((tmp_path.parent).glob("*/figure.pdf")):
        run(python, RESEARCH[0], site, tmp_path)
    assert "Autoencoder" in run(python, TORCH, site, tmp_path)


@pytest.mark.core
def test_the_algorithms_alone_are_enough_for_a_package_that_adds_one(wheels: Path, tmp_path: Path) -> None:
    """The example package finds what it declares, and passes the contract of algorithms without a site."""
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True, timeout=120)
    example = ROOT / "docs" / "how-to" / "your-own-algorithm"
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--find-links", str(wheels), str(example)],
        check=True, capture_output=True, timeout=600,
    )  # fmt: skip
    program = (
        "from parallax_p3alpha import P3Alpha\nfrom recommenders import registry\n"
        "from recommenders.testing import check_algorithm\ncheck_algorithm(P3Alpha)\n"
        "print('p3alpha' in registry.keys(), 'puresvd' in registry.keys())"
    )
    said = subprocess.run(
        [str(python), "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert said.stdout.strip() == "True True", said.stderr[-2000:]
