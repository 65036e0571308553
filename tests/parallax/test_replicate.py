"""The paper again: whole, on a small dataset, beside what was published; and again without doing anything twice."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.core.management import CommandError, call_command

from analysis.models import Report
from evaluation.models import EvaluationRun, TrainedModel
from parallax.replication.claims import NO, OPEN, YES, Ours, judged
from parallax.replication.published import Claim, papers, published
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]

N = 2


@pytest.fixture(autouse=True)
def researcher() -> None:
    """The owner of the studies."""
    UserFactory(email="me@example.org")


@pytest.fixture
def eager() -> Iterator[None]:
    """Tasks run where they are sent."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


def call(folder: Path, url: str, *more: str) -> str:
    out = io.StringIO()
    given = (
        "--dataset",
        "small",
        "--out",
        str(folder),
        "--per-condition",
        str(N),
        "--factors",
        "3,5",
    )
    call_command("replicate", "cremonesi-2011", *given, "--reserve", "0.3", "--base-url", url, *more, stdout=out)
    return out.getvalue()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_whole_paper_and_nothing_twice(eager: None, live_server: Any, tmp_path: Path) -> None:
    make_version()
    said = call(tmp_path / "first", live_server.url)
    study = Study.objects.get()
    done = Participant.objects.filter(study=study, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED)
    assert done.count() == 7 * N
    for words in (
        "Table 1. Partial orders",
        "Table 2. At lists of 5",
        "Figure 2.",
        "Figure 5.",
        "is no evidence about people",
    ):
        assert words in said
    for step in ("trained and measured: done", "The study, launched: done", "The report: done", "Files: done"):
        assert step in said
    counts = (EvaluationRun.objects.count(), TrainedModel.objects.count(), Report.objects.count())
    again = call(tmp_path / "again", live_server.url)
    assert "has the same inputs and is taken as it is" in again
    assert f"all {7 * N} are there already" in again
    assert counts == (EvaluationRun.objects.count(), TrainedModel.objects.count(), Report.objects.count())
    first, second = files(tmp_path / "first"), files(tmp_path / "again")
    assert first == second
    page = first["replication.html"].decode()
    assert page.count("imulated") > 10
    assert "Synthetic ratings".lower() in page.lower()
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("over HTTP", "")
    numbers = json.loads(first["replication.json"])
    assert numbers["is_simulated"] is True
    assert numbers["published"]["table_2"]["PureSVD50"] == {"recall": 0.29, "fallout": 0.005, "f": 0.45}
    report = Report.objects.get()
    assert numbers["here"]["table_2"] == report.results["objective"]["lengths"][0]["table"]
    assert {"figure-2.svg", "table-2-recall.png"} <= {Path(name).name for name in first}
    assert "PureSVD50" in first["tables/table-2.csv"].decode()


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no dataset called"):
        call(tmp_path, "http://127.0.0.1:1/")
    make_version()
    for wrong, words in ((("--factors", "50"), "two whole numbers"), (("--per-condition", "1"), "at least 2"),
                         (("--owner", "nobody@example.org"), "no researcher nobody@example.org")):  # fmt: skip
        with pytest.raises(CommandError, match=words):
            call(tmp_path, "http://127.0.0.1:1/", *wrong)
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="is a file"):
        call(tmp_path / "file", "http://127.0.0.1:1/")


@pytest.mark.unit
def test_the_published_numbers_are_whole() -> None:
    assert papers() == ("cremonesi-2011",)
    paper = published("cremonesi-2011")
    assert set(paper.table_2) == set(paper.algorithms)
    recalls = [paper.table_2[name]["recall"] for name in paper.algorithms]
    assert recalls == sorted(recalls, reverse=True)  # Table 2 stands in decreasing order of recall
    for tiers in paper.table_1.values():
        assert sorted(name for names in tiers.values() for name in names) == sorted(paper.algorithms)
    for values in paper.table_2.values():
        # Of each row F is the harmonic mean of recall and a precision of about 1, to what two decimals allow.
        assert 2 * values["recall"] / (1 + values["recall"]) == pytest.approx(values["f"], abs=0.012)


def variable(key: str, means: dict[str, float], **fields: Any) -> dict[str, Any]:
    described = {name: {"mean": mean, "median": mean, "q1": mean, "q3": mean} for name, mean in means.items()}
    points = {name: [int(10 * mean)] for name, mean in means.items()}
    return {"key": key, "name": key.capitalize(), "described": described, "points": points, "points_per_unit": 10,
            "anova": {"is_defined": True, "p": 0.01}, **fields}  # fmt: skip


@pytest.mark.unit
@pytest.mark.parametrize(
    ("check", "verdict", "told"),
    [
        ({"kind": "between", "variable": "accuracy", "field": "mean", "low": 3, "high": 4}, NO, "not A 4.50"),
        ({"kind": "between", "variable": "accuracy", "field": "mean", "low": 3, "algorithms": ["B"]}, YES, "3.50"),
        ({"kind": "between", "variable": "accuracy", "field": "mean", "above": 3.5}, NO, "not B 3.50"),
        ({"kind": "between", "variable": "accuracy", "field": "mean", "algorithms": ["C"]}, OPEN, "not every"),
        ({"kind": "highest", "variable": "accuracy", "algorithm": "A"}, YES, "A 4.50"),
        ({"kind": "highest", "variable": "accuracy", "algorithm": "B"}, NO, "highest A 4.50"),
        ({"kind": "highest", "variable": "accuracy", "algorithm": "C"}, OPEN, "nobody"),
        ({"kind": "share_from", "variable": "accuracy", "algorithm": "A", "value": 4, "above": 0.5}, YES, "100 % of 1"),
        ({"kind": "correlation", "near": 0.8, "within": 0.1}, NO, "r = 0.50"),
        ({"kind": "close", "variable": "accuracy", "to": 4, "within": 0.5, "algorithms": ["A"]}, YES, "means 4.50"),
        ({"kind": "close", "variable": "accuracy", "to": 4, "within": 0.5, "algorithms": ["C"]}, OPEN, "not every"),
        ({"kind": "anova"}, YES, "1 of 1 variables"),
        ({"kind": "nobody_alone"}, NO, "A above all in accuracy; B below all in accuracy"),
        ({"kind": "one_novelty"}, NO, "different tiers"),
        ({"kind": "no_correlation"}, OPEN, "no rank correlation"),
    ],
)  # fmt: skip
def test_sentences_are_held_against_numbers(check: dict[str, Any], verdict: str, told: str) -> None:
    order = {"names": ["A", "B"], "dominates": {"A": ["B"], "B": []}, "dominated_by": {"A": [], "B": ["A"]}}
    results = {
        "variables": [variable("accuracy", {"A": 4.5, "B": 3.5}, orders={"tukey": order})],
        "novelty_is_one_order": False,
        "plan": {"alpha": 0.05},
        "comparisons": [],
    }
    found = judged(Claim("Figure 2", "So it is.", "", check), Ours(results, {"A": "A", "B": "B"}, 0.5))
    assert (found.verdict, told in found.ours) == (verdict, True), found.ours
