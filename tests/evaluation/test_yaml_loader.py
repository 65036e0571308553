"""Files of experiments: the shipped ones are sound, and what is wrong in one is named with its place."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title: Two algorithms\n", "", r"mine\.yaml, at title: This is missing"),
        (
            "needs: ratings",
            "needs: money",
            r"mine\.yaml, at needs: Expected one of 'ratings', .*; got 'money'",
        ),
        ("question: Which finds more?", "question: ''", r"at question: Text is required"),
        ("data: Any ratings will do.", "data:", r"at data: Expected text; got None"),
        ("source: Somebody (2020)", "surce: X\nsource: Y", r"at surce: There is no such field"),
        ("  Popular: {algorithm: toppop}", "  Popular: {}", r"at algorithms\.Popular\.algorithm: This is missing"),
        ("factors: 4", "factors: [4]", r"at algorithms\.Factors\.factors: Expected text, a number, .* got \[4\]"),
        ("  main:\n", "  Main run:\n", r"at runs\.Main run: Names here may contain only"),
        ("share: 0.2", "shares: 0.2", r"at runs\.main\.split: Split probe: There is no parameter shares"),
        ("negatives: 20", "negative: 20", r"main\.protocol: The protocol one-plus-random has no setting negative"),
        ("task: some", "task: none", r"at runs\.main\.task: Unknown task 'none'"),
        ("task: some", "task: [some]", r"at runs\.main\.task: Expected text"),
        ("n: 5", "n: 0", r"at runs\.main\.n: Expected a number of at least 1; got 0"),
        ("n: 5", "n: true", r"at runs\.main\.n: Expected a whole number"),
        ("    n: 5", "    algorithms: []", r"at runs\.main\.algorithms: Expected 1 or more entries"),
        ("    n: 5", "    algorithms: [Nobody]", r"at runs\.main\.algorithms\[0\]: Expected one of Popular, Factors"),
        ("    n: 5", "    algorithms: [Popular, Popular]", r"at runs\.main\.algorithms: Popular is listed twice"),
        ("    n: 5", "    reserve: much", r"at runs\.main\.reserve: Expected a number; got 'much'"),
        ("    n: 5", "    metrics: recall", r"at runs\.main\.metrics: recall needs a list length"),
        ("split: {name: probe, share: 0.2}", "split: {share: 0.2}", r"at runs\.main\.split: Its name is missing"),
        ("split: {name: probe, share: 0.2}", "split: 5", r"at runs\.main\.split: Expected names with values"),
        ("profile_length: 5}", "profile_length: 7}", r"profile_length: The run main does not measure profiles of 7"),
        ("recall: {run: main, metric", "recall: {run: other, metric", r"columns\.recall\.run: Expected one of main"),
        ("kind: bars", "kind: pie", r"at figures\.bars\.kind: Expected one of 'bars'"),
        (", metric: recall}\nfound", "}\nfound", r"at figures\.bars: metric is required for figures of"),
        (
            ", metric: recall}\nfound",
            ", metric: recall, lengths: [1, 2]}\nfound",
            r"figures\.bars: lengths are",
        ),
        (
            "metric: recall}\nfound",
            "metric: recall, is_share: 1}\nfound",
            r"bars\.is_share: Expected true or false",
        ),
        ("    columns: [recall]\n", "", r"at found_elsewhere\[0\]: columns and rows must be given together"),
        ("Popular: [0.3]", "Popular: [0.3, 0.4]", r"rows\.Popular: 1 numbers are required here, one per column, not 2"),
        ("by: noted", "by: hearsay", r"at claims\[0\]\.by: Expected one of 'published', 'inferred' or 'noted'"),
        ("kind: order", "kind: hope", r"at claims\[0\]\.check\.kind: Expected one of 'order'"),
        ("[Factors, Popular]}", "[Factors]}", r"A check of the kind order requires at least 2"),
        ("[Factors, Popular]}", "[Factors, Nobody]}", r"algorithms\[1\]: The run main has no algorithm 'Nobody'"),
        ("[Factors, Popular]}", "[Factors, Factors]}", r"algorithms: Factors is listed twice"),
        ("[Factors, Popular]}", "[Factors, Popular], within: 1}", r"within not allowed here"),
        ("kind: order", "kind: between", r"A check of the kind between requires low, high or both"),
        ("kind: order", "kind: near", r"A check of the kind near requires within"),
        ("kind: order", "kind: another-best", r"check: A check of the kind another-best requires two places"),
        ("  Popular: {", "  Factors: {", r"is not YAML that can be read: .*'Factors' appears twice"),
        ("title: Two", "title: [Two", r"mine\.yaml is not YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(old: str, new: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse(changed(old, new), "mine.yaml")


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "{}", "? [1, 2]\n: 3\n"])
def test_text_that_is_no_experiment_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"mine\.yaml"):
        parse(text, "mine.yaml")


def test_empty_set_of_runs_is_refused() -> None:
    data = yaml.safe_load(SMALL)
    data["runs"] = {}
    with pytest.raises(ParameterError, match="at runs: Expected 1 or more entries"):
        parse(yaml.safe_dump(data), "mine.yaml")


def test_file_is_named_like_its_experiment() -> None:
    with pytest.raises(ParameterError, match="lower-case letters, digits and hyphens"):
        parse(SMALL, "My File.yaml")


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="There is no experiment 'tabel-2'; there are cremonesi-2011-table-2,"):
        load("tabel-2")


def test_own_file_is_read_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(SMALL)
    assert load(str(file)).title == "Two algorithms"


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"gone\.yaml cannot be read: No such file"):
        read(tmp_path / "gone.yaml")
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("title: Prüfung".encode("latin-1"))
    with pytest.raises(ParameterError, match=r"latin\.yaml is not UTF-8 text \(byte 10\)"):
        read(latin)
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(ParameterError, match="larger than any experiment"):
        read(large)
