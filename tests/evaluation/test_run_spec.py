"""The inputs of a run: their hashes do not move, however they were written."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from catalog.selectors import ratings
from evaluation.experiments.yaml_loader import load
from evaluation.run_spec import RunSpec
from evaluation.services.experiments import plan_experiment
from evaluation.services.run_inputs import spec_of_run
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run
from tests.sentences import assert_refused_as_approved

# The first digits of hashes of version 1.0.0rc1. A run is found again by its hash: these must not change.
SMALL_HASHES: list[tuple[dict[str, Any], str]] = [
    ({}, "a980d9e0ad16"),
    ({"algorithms": "toppop,puresvd:factors=4,corngr:neighbours=9"}, "de5ecf7f7f66"),
    ({"split": "strangers"}, "afe889fa4c82"),
    ({"split": {"name": "dev-eval", "of": "probe", "development": 0.4, "share": 0.2}}, "d66a4bdaa7d9"),
    ({"protocol": "full-ranking", "metrics": ["ndcg@10", "f1@5", "map@10"], "task": "all"}, "b90c1214fa2a"),
    ({"protocol": "rating-prediction:relevant=4", "task": "prediction"}, "d0f85afc953f"),
    ({"split": {"name": "k-fold", "k": 3}, "reserve": 0.0}, "5e07d845bdc8"),
    (
        {"protocol": "one-plus-random:g=.8,relevant=4,irrelevant=2,negatives=10", "metrics": "f@10(g=.8)"},
        "ab5b24ebd747",
    ),
    ({"profile_lengths": (10, 3, 3), "n": 7, "seed": 42, "threads": 2}, "b693997c6f33"),
    ({"profile_lengths": ()}, "2823ddba5259"),
]
EXPERIMENT_HASHES = {
    "croc-cold": {
        "implicit-croc": "fcb14d2b526a",
        "implicit-groc": "64bf89a21813",
        "explicit-croc": "e6cc36da9452",
        "explicit-groc": "d3cdd141efb6",
    },
    "croc-hot": {
        "implicit-croc": "85388cff2769",
        "implicit-groc": "a371eb557465",
        "explicit-croc": "cc1d1842e94a",
        "explicit-groc": "0b29040c25da",
    },
    "survey-baskets": {"baskets": "f5a8bd7487bf"},
    "survey-rmse": {"prediction": "cf1c4c238473"},
}


@pytest.mark.integration
@pytest.mark.django_db
def test_inputs_have_the_hashes_of_earlier_versions(settings: Any) -> None:
    settings.NUMERIC_THREADS = 1
    ratings._features.cache_clear()  # limits of content algorithms depend on the features
    version = make_version()
    for change, expected in SMALL_HASHES:
        assert make_run(version=version, **change).inputs_hash[:12] == expected, change
    for name, hashes in EXPERIMENT_HASHES.items():
        planned = plan_experiment(experiment=load(name), version=version)
        assert {key: plan.inputs_hash[:12] for key, plan in planned.items()} == hashes


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("change", [change for change, _ in SMALL_HASHES])
def test_stored_run_has_the_inputs_it_was_created_with(change: dict[str, Any]) -> None:
    run = make_run(**change)
    again = make_run(version=run.version, **dict(spec_of_run(run=run)))
    assert again.inputs_hash == run.inputs_hash


OF_FILE = {"name": "file", "cases": "a" * 64}
CONTRARY: tuple[dict[str, Any], ...] = (
    {"algorithms": "best", "split": "probe:share=2", "protocol": "full-ranking", "n": 0, "seed": True},
    {"split": {"name": "file", "cases": "mine.npz"}},
    {"split": "probe:list=mine.csv"},
    {"split": OF_FILE, "reserve": 0.1},
    {"split": OF_FILE, "protocol": "one-plus-random:mode=exact"},
    {"split": "k-fold", "protocol": "unconstrained"},
    {"split": "dev-eval:of=probe", "protocol": "unconstrained"},
    {"split": "cold-start-items:candidates=all"},
    {"protocol": "full-ranking", "metrics": "overlap@5"},
)


@pytest.mark.unit
def test_inputs_that_are_refused() -> None:
    sound = {"algorithms": "toppop", "split": "probe", "protocol": "one-plus-random"}
    assert_refused_as_approved(
        "run-inputs", {str(values): partial(RunSpec.of, **sound | values) for values in CONTRARY}
    )
