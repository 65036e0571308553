"""Strong generalisation by one model: test users are new to the one model of each algorithm, whatever they rated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from catalog.models import DatasetVersion
from catalog.services import import_parsed
from core import artefacts
from evaluation.enums import PartKind
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.results import model_rows
from evaluation.selectors.runs import failed_algorithms
from evaluation.services.serving import opened_model
from recommenders import registry
from recommenders.data import Profiles
from tests.factories.catalog import make_parsed
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
SPLIT = {"name": "strangers", "share": 0.2, "given": 0, "given_share": 0.8}


def imported(name: str, parsed: Any) -> DatasetVersion:
    return import_parsed(parsed=parsed, name=name, title=name, source_format="factory", is_synthetic=True)


def measured(version: DatasetVersion, algorithms: str) -> EvaluationRun:
    protocol = {"name": "full-ranking", "relevant": 4.0}
    run = make_run(version=version, algorithms=algorithms, split=SPLIT, protocol=protocol, profile_lengths=(3,))
    return work_off(run)


@pytest.mark.slow
def test_every_algorithm_is_trained_once_and_scores_each_profile_by_itself() -> None:
    run = measured(imported("all", make_parsed()), ",".join(registry.keys()))
    assert not failed_algorithms(run)
    cases = cases_of(run)
    tested = np.unique(cases.cases.users)
    assert not np.isin(tested, cases.trained).any()
    assert training_rows(cases.training_digest).n_users == len(cases.trained)
    profiles = training_rows(cases.profiles_digest)
    assert run.parts.filter(kind=PartKind.FIT).count() == len(registry.keys())  # also with profiles of three ratings
    for row in model_rows(run):
        model = opened_model(row.model_hash)
        together = model.score(Profiles.of(profiles, np.searchsorted(cases.profiled, tested)))
        for at in (0, len(tested) - 1):
            alone = model.score(Profiles.of(profiles, np.searchsorted(cases.profiled, tested[at : at + 1])))[0]
            assert alone == pytest.approx(together[at], abs=1e-9), row.label


def test_models_do_not_depend_on_what_test_users_rated() -> None:
    """With other ratings of the test users, the models are the same to the last byte, and the results are not."""
    algorithms = "toppop,puresvd:factors=4,ease,corngr"
    parsed = make_parsed()
    run = measured(imported("one", parsed), algorithms)
    is_tested = np.isin(parsed.users, np.unique(cases_of(run).cases.users))
    values = np.where(is_tested, 6 - parsed.values, parsed.values).astype(np.float32)
    other = measured(imported("other", replace(parsed, values=values)), algorithms)
    assert np.array_equal(np.unique(cases_of(other).cases.users), np.unique(cases_of(run).cases.users))
    for first, second in zip(model_rows(run), model_rows(other), strict=True):
        assert first.model_hash == second.model_hash
        lists = [artefacts.load("results", row.users_digest).arrays["list_items"] for row in (first, second)]
        assert np.array_equal(*lists) == (first.algorithm == "toppop")
