"""The command that runs experiments, with Celery in this process."""

from __future__ import annotations

import io
import os
import signal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.enums import RunStatus
from evaluation.management import run_monitor
from evaluation.models import EvaluationRun
from tests.approval import assert_approved
from tests.evaluation.test_yaml_loader import SMALL
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def file(tmp_path: Path) -> str:
    written = tmp_path / "mine.yaml"
    written.write_text(SMALL)
    return str(written)


def call(*arguments: str) -> str:
    out = io.StringIO()
    call_command("run_experiment", *arguments, stdout=out)
    return out.getvalue()


def test_own_experiment_is_run_written_and_not_run_again(eager: None, file: str, tmp_path: Path) -> None:
    make_version()
    out = tmp_path / "out"
    said = call(file, "--dataset", "small", "--out", str(out))
    assert "Factors finds more." in said
    assert f"Written to {out}:" in said
    assert {one.name for one in out.iterdir()} == {
        "experiment.json",
        "figures",
        "outcome.html",
        "outcome.md",
        "tables",
    }
    before = (out / "experiment.json").read_bytes()
    again = call(file, "--dataset", "small", "--out", str(out))
    assert "is reused" in again
    assert EvaluationRun.objects.count() == 1
    assert (out / "experiment.json").read_bytes() == before


def test_interrupted_experiment_goes_on(
    running_worker: None, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    make_version()
    arguments = [file, "--dataset", "small", "--out", str(tmp_path / "out")]
    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patched:
        patched.setattr(run_monitor.time, "sleep", lambda seconds: os.kill(os.getpid(), signal.SIGTERM))
        with pytest.raises(CommandError, match="again to resume") as ended:
            call(*arguments)
    assert ended.value.returncode == 130
    assert signal.getsignal(signal.SIGTERM) is before
    assert EvaluationRun.objects.get().status == RunStatus.CANCELLED
    assert not (tmp_path / "out").exists()
    request.getfixturevalue("eager")
    call(*arguments)
    assert EvaluationRun.objects.get().status == RunStatus.SUCCEEDED


def test_failed_run_ends_with_its_reason(eager: None, file: str, tmp_path: Path) -> None:
    make_version()
    Path(file).write_text(SMALL.replace("factors: 4", "factors: 900"))
    with pytest.raises(CommandError, match=r"runs\.main: PureSVD .* factors=900"):
        call(file, "--dataset", "small", "--out", str(tmp_path / "out"))
    assert not EvaluationRun.objects.exists()


def test_run_without_an_algorithm_that_the_experiment_compares_ends_with_its_reason(
    eager: None, file: str, tmp_path: Path
) -> None:
    make_version()
    diverging = "algorithm: asysvd, factors: 4, learning_rate: 1.0e+6"
    Path(file).write_text(SMALL.replace("algorithm: puresvd, factors: 4", diverging))
    arguments = (file, "--dataset", "small", "--out", str(tmp_path / "out"))
    with pytest.raises(CommandError, match="lacks algorithms"):
        call(*arguments)
    with pytest.raises(CommandError, match="diverged"):
        call(*arguments)
    assert EvaluationRun.objects.count() == 2  # the run that lacks one is not taken for the experiment's


def test_list_says_what_each_experiment_asks() -> None:
    assert_approved("commands/run-experiment-list", call("--list"))
