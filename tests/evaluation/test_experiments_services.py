"""Experiments on small data: planned, run, gone on with, written."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catalog.importers.base import RatingScale
from catalog.models import DatasetVersion
from catalog.services import import_parsed
from core.errors import ParallaxError
from evaluation.enums import RunStatus
from evaluation.experiments.schema import Experiment
from evaluation.experiments.yaml_loader import parse
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.services import experiment_files as files
from evaluation.services import experiments as services
from evaluation.services.parts import lease_part
from evaluation.services.runs import cancel_run, fail_part
from tests.evaluation.test_yaml_loader import SMALL
from tests.factories.catalog import make_parsed, make_version
from tests.factories.evaluation import work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

CURVES = """
title: Curves
source: Somebody (2020)
question: Which is best?
data: Any.
needs: ratings
algorithms:
  Popular: {algorithm: toppop}
  Random: {algorithm: random}
runs:
  croc:
    title: CROC
    split: {name: cold-start-items, start: hot, share: 0.2, outcome: implicit}
    protocol: {name: test-observations, relevant: 4, irrelevant: 2}
    task: all
    metrics: [croc-area, roc-area]
  groc:
    title: GROC
    split: {name: cold-start-items, start: hot, share: 0.2, outcome: implicit}
    protocol: {name: unconstrained, relevant: 4, irrelevant: 2}
    task: all
  lists:
    title: Lists
    split: {name: random-per-user, test_users: 0}
    protocol: {name: full-ranking, relevant: 4, irrelevant: 2}
    task: some
    metrics: [precision@1, precision@5, recall@1, recall@5]
  ratings:
    title: Ratings
    split: {name: probe, share: 0.2}
    protocol: {name: rating-prediction, relevant: 4, irrelevant: 2}
    task: prediction
tables:
  areas:
    title: Areas
    columns:
      CROC: {run: croc, metric: croc-area}
      ROC: {run: croc, metric: roc-area}
      GROC: {run: groc, metric: groc-area}
      RMSE: {run: ratings, metric: rmse}
figures:
  croc: {title: CROC, kind: croc, run: croc}
  groc: {title: GROC, kind: groc, run: groc}
  lists: {title: Precision and recall, kind: precision-recall, run: lists, lengths: [1, 5]}
  area: {title: Areas, kind: bars, run: croc, metric: croc-area}
  errors: {title: Errors, kind: bars, run: ratings, metric: rmse, is_share: false}
claims:
  - says: They differ.
    by: published
    where: Table 1
    check:
      kind: another-best
      places: [{run: croc, metric: croc-area}, {run: groc, metric: groc-area}]
      algorithms: [Popular, Random]
  - says: Popular predicts ratings well.
    by: noted
    where: nowhere
    check: {kind: between, places: [{run: ratings, metric: rmse}], algorithms: [Popular], high: 1.0}
  - says: Popular is best by ROC.
    by: noted
    where: nowhere
    check: {kind: order, places: [{run: croc, metric: roc-area}], algorithms: [Popular, Random]}
  - says: Popular is best by CROC.
    by: noted
    where: nowhere
    check: {kind: order, places: [{run: croc, metric: croc-area}], algorithms: [Popular, Random]}
"""


def finished(experiment: Experiment, version: DatasetVersion) -> dict[str, EvaluationRun]:
    planned = services.plan_experiment(experiment=experiment, version=version)
    return {key: work_off(services.run_of_plan(planned=one, version=version)) for key, one in planned.items()}


def usage(name: str = "baskets", worth: Any = None) -> DatasetVersion:
    """Baskets, in which the last items are dear, with a utility in each row where `worth` gives one."""
    parsed = make_parsed()
    worths = None if worth is None else worth(parsed).astype(np.float32)
    baskets = replace(parsed, values=np.ones_like(parsed.values), scale=RatingScale(1, 1, 1), utilities=worths)
    return import_parsed(parsed=baskets, name=name, title=name, source_format="factory", is_synthetic=True)


@pytest.mark.slow
@pytest.mark.parametrize("text", [SMALL, CURVES])
def test_experiment_is_run_and_written(text: str, tmp_path: Path) -> None:
    experiment = parse(text, "mine.yaml")
    runs = finished(experiment, make_version())
    assert {run.status for run in runs.values()} == {RunStatus.SUCCEEDED}
    written = files.write_experiment(experiment=experiment, runs=runs, folder=tmp_path / "deep" / "out")
    names = {file.relative_to(tmp_path / "deep" / "out").as_posix() for file in written.files}
    assert {"outcome.md", "outcome.html", "experiment.json"} < names
    for key in experiment.tables:
        assert {f"tables/{key}.csv", f"tables/{key}.md"} < names
    before = {file: file.read_bytes() for file in written.files}
    files.write_experiment(experiment=experiment, runs=runs, folder=tmp_path / "deep" / "out")
    assert {file: file.read_bytes() for file in written.files} == before


def test_table_and_json_hold_the_numbers_of_the_runs(tmp_path: Path) -> None:
    experiment = parse(SMALL, "mine.yaml")
    runs = finished(experiment, make_version())
    written = files.write_experiment(experiment=experiment, runs=runs, folder=tmp_path)
    told = json.loads((tmp_path / "experiment.json").read_text())
    by_key = {row["key"]: row for row in told["runs"]["main"]["algorithms"]}
    short = {row["key"]: row for row in told["runs"]["main"]["at_profile_length"]["5"]}
    with (tmp_path / "tables" / "all.csv").open(newline="") as file:
        rows = {row["algorithm"]: row for row in csv.DictReader(file)}
    for name, key in (("Popular", "toppop"), ("Factors", "puresvd")):
        assert float(rows[name]["recall"]) == by_key[key]["recall"]
        assert float(rows[name]["short"]) == short[key]["recall"]
    claim = told["claims"][0]
    assert claim["verdict"] == written.judgements[0].verdict
    finding = claim["findings"][0]
    assert (finding["run"], finding["metric"], finding["confidence"]) == ("main", "recall", 0.95)
    difference = by_key["puresvd"]["recall"] - by_key["toppop"]["recall"]
    assert finding["interval"]["low"] < difference < finding["interval"]["high"]
    assert (tmp_path / "figures" / "bars.png").read_bytes().startswith(b"\x89PNG")
    assert claim["verdict"] in (tmp_path / "outcome.md").read_text().lower()


def test_curves_have_their_lines_and_missing_numbers_are_said(tmp_path: Path) -> None:
    experiment = parse(CURVES, "mine.yaml")
    written = files.write_experiment(experiment=experiment, runs=finished(experiment, make_version()), folder=tmp_path)
    drawn = (tmp_path / "figures" / "croc.svg").read_text()
    assert all(word in drawn for word in ("omniscient", "chance, exactly", "Popular"))
    assert "omniscient" not in (tmp_path / "figures" / "groc.svg").read_text()
    assert (tmp_path / "figures" / "lists.svg").exists()
    # Neither predicts ratings: no figure, no number, and the claim cannot be judged.
    assert not (tmp_path / "figures" / "errors.svg").exists()
    assert [one.verdict for one in written.judgements][1] == "open"
    # Areas of pooled curves have no value by user, and are tested by leaving out groups of users.
    assert [one.findings[0].interval is None for one in written.judgements] == [True, True, False, False]
    text = (tmp_path / "outcome.md").read_text()
    assert "rating predictor" in text
    assert "not comparable" in text


def test_outcome_on_synthetic_ratings_says_so_everywhere(tmp_path: Path) -> None:
    experiment = parse(SMALL, "mine.yaml")
    version = make_version()
    assert version.is_synthetic
    written = files.write_experiment(experiment=experiment, runs=finished(experiment, version), folder=tmp_path)
    assert written.is_synthetic
    for name in ("outcome.md", "outcome.html", "tables/all.md", "figures/bars.svg"):
        assert "synthetic ratings" in (tmp_path / name).read_text(), name
    assert "no evidence" in (tmp_path / "outcome.html").read_text()
    assert json.loads((tmp_path / "experiment.json").read_text())["dataset"]["is_synthetic"] is True


def test_outcome_on_ratings_of_people_is_not_called_synthetic(tmp_path: Path) -> None:
    experiment = parse(SMALL, "mine.yaml")
    version = make_version()
    version.is_synthetic = False
    version.save()
    files.write_experiment(experiment=experiment, runs=finished(experiment, version), folder=tmp_path)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"ynthetic ratings" not in file.read_bytes(), file
    assert json.loads((tmp_path / "experiment.json").read_text())["dataset"]["is_synthetic"] is False


def test_second_time_takes_what_is_finished_and_goes_on_with_what_stopped() -> None:
    experiment, version = parse(SMALL, "mine.yaml"), make_version()
    planned = services.plan_experiment(experiment=experiment, version=version)["main"]

    def again(**kwargs: Any) -> EvaluationRun:
        return services.run_of_plan(planned=planned, version=version, **kwargs)

    run = again()
    assert run.inputs_hash == planned.inputs_hash
    assert again() == run  # under way
    cancel_run(run=run)
    resumed = again(queue="mine")
    assert (resumed.pk, resumed.status, resumed.queue) == (run.pk, RunStatus.QUEUED, "mine")
    part = lease_part(run=resumed)
    assert part is not None
    fail_part(part=part, reason="The test wanted it so.")
    assert again().status == RunStatus.QUEUED
    work_off(resumed)
    assert again() == run
    assert EvaluationRun.objects.count() == 1
    # Another version of an algorithm would give other numbers.
    TrainedModel.objects.filter(algorithm="toppop").update(algorithm_version=0)
    assert again() != run


def test_seed_and_threads_are_part_of_the_inputs() -> None:
    experiment, version = parse(SMALL, "mine.yaml"), make_version()
    hashes = {
        services.plan_experiment(experiment=experiment, version=version, **other)["main"].inputs_hash
        for other in ({}, {"seed": 1}, {"seed": 2}, {"threads": 7})
    }
    assert len(hashes) == 3
    planned = services.plan_experiment(experiment=experiment, version=version, seed=2)["main"]
    run = services.run_of_plan(planned=planned, version=version)
    assert (run.seed, run.inputs_hash) == (2, planned.inputs_hash)


def test_unfinished_run_is_not_written(tmp_path: Path) -> None:
    experiment, version = parse(SMALL, "mine.yaml"), make_version()
    planned = services.plan_experiment(experiment=experiment, version=version)["main"]
    run = services.run_of_plan(planned=planned, version=version)
    with pytest.raises(ParallaxError, match="main of mine") as refused:
        files.write_experiment(experiment=experiment, runs={"main": run}, folder=tmp_path)
    assert refused.value.code == "experiment.not_finished"
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    experiment = parse(SMALL, "mine.yaml")
    runs = finished(experiment, make_version())
    (tmp_path / "file").write_text("")
    with pytest.raises(ParallaxError, match="Cannot write to") as refused:
        files.write_experiment(experiment=experiment, runs=runs, folder=tmp_path / "file")
    assert refused.value.code == "experiment.bad_folder"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("factors: 4", "factors: four", r"mine, at runs\.main: algorithms: PureSVD \(puresvd\): .*'four'"),
        ("algorithm: toppop", "algorithm: topp", r"at runs\.main: algorithms: There is no algorithm 'topp'"),
        (
            "short: {run: main, metric: recall",
            "short: {run: main, metric: ndcg@5",
            r"tables\.all\.columns\.short: the run",
        ),
        ("metric: recall}\nfound", "metric: memory}\nfound", r"at figures\.bars: "),
        (
            "[{run: main, metric: recall}]",
            "[{run: main, metric: rmse}]",
            r"at claims\[0\]\.check\.places\[0\]: the run main does not",
        ),
        ("kind: bars, run: main, metric: recall}", "kind: croc, run: main}", r"needs a run of test-observations"),
        (
            "kind: bars, run: main, metric: recall}",
            "kind: precision-recall, run: main, lengths: [1, 2]}",
            r"figures\.bars: the run main does not measure precision@1",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(old: str, new: str, said: str) -> None:
    assert old in SMALL
    experiment = parse(SMALL.replace(old, new), "mine.yaml")
    with pytest.raises(ParallaxError, match=said) as refused:
        services.plan_experiment(experiment=experiment, version=make_version())
    assert refused.value.code == "experiment.bad_input"
    assert not EvaluationRun.objects.exists()


def test_data_without_what_the_experiment_needs_are_refused() -> None:
    rated, taken = make_version(), usage()
    for needs, version, said in (
        ("ratings", taken, "needs ratings on a scale, which the dataset baskets does not have"),
        ("utility", rated, "It contains no utilities"),
    ):
        experiment = parse(SMALL.replace("needs: ratings", f"needs: {needs}"), "mine.yaml")
        with pytest.raises(ParallaxError, match=said) as refused:
            services.plan_experiment(experiment=experiment, version=version)
        assert refused.value.code == "experiment.other_data"


def test_bad_file_is_refused_with_a_code() -> None:
    with pytest.raises(ParallaxError, match="no experiment") as refused:
        services.read_experiment(name="nothing")
    assert refused.value.code == "experiment.bad_file"
    assert services.read_experiment(name="survey-rmse").key == "survey-rmse"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["survey-baskets", "survey-utility", "survey-rmse"])
def test_shipped_experiments_run_on_small_data(name: str, tmp_path: Path) -> None:
    experiment = services.read_experiment(name=name)
    version = make_version() if name == "survey-rmse" else usage(worth=lambda parsed: parsed.items_rated + 1.0)
    written = files.write_experiment(experiment=experiment, runs=finished(experiment, version), folder=tmp_path)
    assert len(written.judgements) == len(experiment.claims)
    assert len(list((tmp_path / "figures").glob("*.svg"))) == len(experiment.figures)
