"""Sizes that an experiment chooses on the training side of its runs."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.experiments.schema import Experiment
from evaluation.experiments.yaml_loader import load, parse
from evaluation.models import EvaluationRun, SizeChoice
from evaluation.selectors.cases import cases_of
from evaluation.services import model_size
from evaluation.services.experiments import plan_experiment, run_of_plan
from evaluation.services.model_size import choose_size
from tests.factories.catalog import make_version
from tests.factories.evaluation import work_off
from tests.sentences import assert_refused_as_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

SEARCHED = """
title: Chosen sizes
source: Somebody (2020)
question: Which finds more?
data: Any ratings will do.
needs: ratings
algorithms:
  Popular: {algorithm: toppop}
  Aspects: {algorithm: aspect, iterations: 20, choose: {values: [2, 4, 900]}}
runs:
  main:
    title: Probe
    split: {name: probe, share: 0.2}
    protocol: {name: full-ranking}
    task: some
  again:
    title: Own items
    split: {name: probe, share: 0.2}
    protocol: {name: test-observations}
    task: all
tables:
  all: {title: All, columns: {recall: {run: main, metric: recall@5}}}
"""


def chosen_on_small(experiment: Experiment) -> Experiment:
    version = make_version()
    planned = plan_experiment(experiment=experiment, version=version)
    return model_size.with_chosen_sizes(experiment=experiment, version=version, planned=planned)


def test_choice_is_that_of_the_training_side_of_the_run() -> None:
    experiment = chosen_on_small(parse(SEARCHED, "mine.yaml"))
    ((name, runs, choice),) = experiment.choices
    assert (name, runs) == ("Aspects", ("main", "again"))  # both hide the same ratings
    assert [size.value for size in choice.sizes] == [2, 4]  # there are not 900 users
    assert SizeChoice.objects.count() == 1
    assert "classes=" in str(SizeChoice.objects.get())
    version = make_version()
    planned = plan_experiment(experiment=experiment, version=version)["main"]
    run = work_off(run_of_plan(planned=planned, version=version))
    assert run.algorithms.get(algorithm="aspect").params["classes"] == choice.chosen
    given = {"algorithm": "aspect", "values": [2, 4], "params": {"iterations": 20}, "share": 0.1, "rule": "best"}
    alone = choose_size(version=version, **given, seed=1, threads=1, run=run)
    assert alone == choice
    assert cases_of(run).training_digest


def test_choice_is_stored_and_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = parse(SEARCHED, "mine.yaml")
    first = chosen_on_small(experiment)
    monkeypatch.setattr(model_size, "choose_size", lambda **_: pytest.fail("chosen twice"))
    assert chosen_on_small(experiment).choices == first.choices


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_command_writes_what_was_chosen_with_the_curve(eager: None, tmp_path: Path) -> None:
    make_version()
    (tmp_path / "mine.yaml").write_text(SEARCHED)
    out, said = tmp_path / "out", io.StringIO()
    arguments = [str(tmp_path / "mine.yaml"), "--dataset", "small", "--out", str(out)]
    call_command("run_experiment", *arguments, stdout=said)
    (sizes,) = json.loads((out / "experiment.json").read_text())["sizes"]
    assert (sizes["name"], sizes["runs"], sizes["parameter"]) == ("Aspects", ["main", "again"], "classes")
    sentence = f"Aspects (Probe and Own items): classes = {sizes['chosen']}, the best of 2, 4 on"
    outcome = (out / "outcome.md").read_text().replace("\\", "")
    assert sentence in said.getvalue()
    assert "(Probe and Own" in outcome
    assert "## Model sizes" in outcome
    assert "took no part" in outcome
    assert f"{sizes['chosen']} (chosen)" in outcome
    assert f"classes {sizes['chosen']})" in outcome
    assert "synthetic ratings" in (out / "figures" / "sizes-1.svg").read_text()
    assert (out / "figures" / "sizes-1.png").stat().st_size
    call_command("run_experiment", *arguments, "--default-sizes", stdout=said)
    outcome = (out / "outcome.md").read_text()
    assert "default sizes" in outcome
    assert "sizes" not in json.loads((out / "experiment.json").read_text())
    assert EvaluationRun.objects.count() == 4


def test_smallest_near_is_said() -> None:
    experiment = chosen_on_small(parse(SEARCHED.replace("900]", "9], rule: smallest-near, share: 0.3"), "mine.yaml"))
    ((_, _, choice),) = experiment.choices
    assert choice.rule == "smallest-near"


@pytest.mark.django_db(transaction=True)
def test_data_with_one_possible_size_are_refused_with_the_reason(eager: None, tmp_path: Path) -> None:
    make_version()
    (tmp_path / "mine.yaml").write_text(SEARCHED.replace("[2, 4, 900]", "[2, 800, 900]"))
    with pytest.raises(CommandError, match="Aspects: "):
        call_command(
            "run_experiment", str(tmp_path / "mine.yaml"), "--dataset", "small", "--out", str(tmp_path / "out")
        )


WRONG = (
    ("algorithm: aspect, iterations: 20", "algorithm: ease"),
    ("iterations: 20", "classes: 3"),
    ("[2, 4, 900]", "[4, 2]"),
    ("[2, 4, 900]", "[2]"),
    ("900]", "900], share: 0.7"),
    ("900]", "900], rule: any"),
)


def test_searches_that_are_refused() -> None:
    folds = SEARCHED.replace("{name: probe, share: 0.2}", "{name: k-fold, k: 3}", 1)
    cases = {f"{old!r} → {new!r}": partial(parse, SEARCHED.replace(old, new), "mine.yaml") for old, new in WRONG}
    cases |= {"a split that trains several models": lambda: chosen_on_small(parse(folds, "mine.yaml"))}
    assert_refused_as_approved("searches", cases)
    assert not SizeChoice.objects.exists()


def test_croc_hot_chooses_the_sizes_as_the_paper_does() -> None:
    assert load("croc-hot").searched == ("LPCA, rated", "Aspect, rated", "LPCA, liked", "Aspect, liked")
