"""A launched study of three algorithms, and what is planted in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from celery import current_app

from analysis.models import Report
from analysis.services import build_report
from studies.models import Study
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

ALGORITHMS = "toppop,corngr,puresvd:factors=4"
PLANTED = {"TopPop": [4, 5, 4, 5, 4], "CorNgr": [2, 1, 2, 1, 1], "PureSVD4": [2, 1, 1, 2, 2]}


@pytest.fixture
def study(db: None) -> Study:
    """Nobody has entered it yet."""
    return make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS))


@pytest.fixture
def planted(study: Study) -> Study:
    """People find TopPop best by far, and the two others alike."""
    plant(study, PLANTED)
    return study


@pytest.fixture(scope="module")
def stored_report(module_database: None) -> Report:
    """A report on the planted study, for all tests of a file: its rows are as new in each of them."""
    study = make_study(slug="stored-films", run=make_run_at("succeeded", algorithms=ALGORITHMS))
    plant(study, PLANTED)
    return build_report(study=study)


@pytest.fixture
def eager() -> Iterator[None]:
    """Tasks run where they are sent."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False
