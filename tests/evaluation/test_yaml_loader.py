"""Files of experiments: the shipped ones are sound, and what is wrong in one is named with its place."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import yaml

from core.errors import ParameterError
from evaluation.experiments.schema import Quantity
from evaluation.experiments.yaml_loader import LARGEST_FILE, load, parse, read, shipped
from evaluation.metrics.definition import TASKS
from evaluation.selectors.experiments import measured_name
from evaluation.splitting.registry import split_spec
from recommenders import registry
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.unit

SMALL = """
title: Two algorithms
source: Somebody (2020)
question: Which finds more?
data: Any ratings will do.
needs: ratings
algorithms:
  Popular: {algorithm: toppop}
  Factors: {algorithm: puresvd, factors: 4}
runs:
  main:
    title: One plus random
    split: {name: probe, share: 0.2}
    protocol: {name: one-plus-random, negatives: 20, relevant: 4, irrelevant: 2}
    task: some
    n: 5
    profile_lengths: [5]
tables:
  all:
    title: Everything
    columns:
      recall: {run: main, metric: recall}
      short: {run: main, metric: recall, profile_length: 5}
figures:
  bars: {title: Recall, kind: bars, run: main, metric: recall}
found_elsewhere:
  - where: Elsewhere
    columns: [recall]
    rows: {Popular: [0.3], Factors: [null]}
claims:
  - says: Factors finds more.
    by: noted
    where: elsewhere
    check: {kind: order, places: [{run: main, metric: recall}], algorithms: [Factors, Popular]}
"""


def changed(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new)


@pytest.mark.parametrize("name", shipped())
def test_shipped_experiment_names_only_what_exists(name: str) -> None:
    experiment = load(name)
    assert experiment.key == name
    for one in experiment.algorithms.values():
        registry.params_of(one.algorithm, one.params)
    for plan in experiment.runs.values():
        split_spec(str(plan.split["name"]), {key: value for key, value in plan.split.items() if key != "name"})
        assert plan.task in TASKS
        assert set(plan.algorithms) <= set(experiment.algorithms)
    assert all(measured_name(experiment, quantity) for _, quantity in experiment.quantities())
    assert {name for run in experiment.runs for name in experiment.names_in(run)} == set(experiment.algorithms)


def test_six_experiments_are_shipped() -> None:
    assert shipped() == (
        "cremonesi-2011-table-2",
        "croc-cold",
        "croc-hot",
        "survey-baskets",
        "survey-rmse",
        "survey-utility",
    )


def test_file_is_read_whole() -> None:
    experiment = parse(SMALL, "mine.yaml")
    assert experiment.key == "mine"
    assert experiment.seed == 1
    assert experiment.algorithms["Factors"].params == {"factors": 4}
    assert experiment.names_in("main") == ("Popular", "Factors")
    assert experiment.tables["all"].columns["short"] == Quantity("main", "recall", 5)
    assert experiment.figures["bars"].metric == "recall"
    assert experiment.found_elsewhere[0].rows == {"Popular": (0.3,), "Factors": (None,)}
    assert experiment.claims[0].check.algorithms == ("Factors", "Popular")


def test_figures_notes_claims_and_seed_may_be_left_out_or_given() -> None:
    data = yaml.safe_load(SMALL)
    for name in ("figures", "found_elsewhere", "claims"):
        del data[name]
    data["seed"] = 9
    data["runs"]["main"] |= {"metrics": ["recall@3"], "reserve": 0.1, "algorithms": ["Factors"]}
    del data["runs"]["main"]["n"], data["runs"]["main"]["profile_lengths"]
    del data["tables"]["all"]["columns"]["short"]
    experiment = parse(yaml.safe_dump(data), "mine.yaml")
    assert (experiment.figures, experiment.found_elsewhere, experiment.claims, experiment.seed) == ({}, (), (), 9)
    plan = experiment.runs["main"]
    assert (plan.metrics, plan.reserve, plan.algorithms, plan.n) == (("recall@3",), 0.1, ("Factors",), 5)


def test_notes_may_be_words_alone() -> None:
    text = changed("columns: [recall]\n    rows: {Popular: [0.3], Factors: [null]}", "says: It was so.")
    assert parse(text, "mine.yaml").found_elsewhere[0].says == "It was so."


# What stands in a sound file, and what takes its place.
WRONG = (
    ("title: Two algorithms\n", ""),
    ("needs: ratings", "needs: money"),
    ("question: Which finds more?", "question: ''"),
    ("data: Any ratings will do.", "data:"),
    ("source: Somebody (2020)", "surce: X\nsource: Y"),
    ("  Popular: {algorithm: toppop}", "  Popular: {}"),
    ("factors: 4", "factors: [4]"),
    ("  main:\n", "  Main run:\n"),
    ("share: 0.2", "shares: 0.2"),
    ("negatives: 20", "negative: 20"),
    ("task: some", "task: none"),
    ("task: some", "task: [some]"),
    ("n: 5", "n: 0"),
    ("n: 5", "n: true"),
    ("    n: 5", "    algorithms: []"),
    ("    n: 5", "    algorithms: [Nobody]"),
    ("    n: 5", "    algorithms: [Popular, Popular]"),
    ("    n: 5", "    reserve: much"),
    ("    n: 5", "    metrics: recall"),
    ("split: {name: probe, share: 0.2}", "split: {share: 0.2}"),
    ("split: {name: probe, share: 0.2}", "split: 5"),
    ("profile_length: 5}", "profile_length: 7}"),
    ("recall: {run: main, metric", "recall: {run: other, metric"),
    ("kind: bars", "kind: pie"),
    (", metric: recall}\nfound", "}\nfound"),
    (", metric: recall}\nfound", ", metric: recall, lengths: [1, 2]}\nfound"),
    ("metric: recall}\nfound", "metric: recall, is_share: 1}\nfound"),
    ("    columns: [recall]\n", ""),
    ("Popular: [0.3]", "Popular: [0.3, 0.4]"),
    ("by: noted", "by: hearsay"),
    ("kind: order", "kind: hope"),
    ("[Factors, Popular]}", "[Factors]}"),
    ("[Factors, Popular]}", "[Factors, Nobody]}"),
    ("[Factors, Popular]}", "[Factors, Factors]}"),
    ("[Factors, Popular]}", "[Factors, Popular], within: 1}"),
    ("kind: order", "kind: between"),
    ("kind: order", "kind: near"),
    ("kind: order", "kind: another-best"),
    ("  Popular: {", "  Factors: {"),
    ("title: Two", "title: [Two"),
)


def test_files_of_experiments_that_are_refused(tmp_path: Path) -> None:
    latin, large = tmp_path / "latin.yaml", tmp_path / "large.yaml"
    latin.write_bytes("title: Prüfung".encode("latin-1"))
    large.write_bytes(b"#" * (LARGEST_FILE + 1))
    runless = yaml.safe_load(SMALL) | {"runs": {}}
    cases = {f"{old!r} → {new!r}": partial(parse, changed(old, new), "mine.yaml") for old, new in WRONG}
    cases |= {
        "no runs": partial(parse, yaml.safe_dump(runless), "mine.yaml"),
        "a name with spaces": partial(parse, SMALL, "My File.yaml"),
        "an unknown experiment": partial(load, "tabel-2"),
        "no file": partial(read, tmp_path / "gone.yaml"),
        "Latin-1": partial(read, latin),
        "too large": partial(read, large),
    }
    assert_refused_as_approved("experiments", cases, tmp_path)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "{}", "? [1, 2]\n: 3\n"])
def test_text_that_is_no_experiment_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"mine\.yaml"):
        parse(text, "mine.yaml")


def test_own_file_is_read_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(SMALL)
    assert load(str(file)).title == "Two algorithms"
