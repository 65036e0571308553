"""A launched study of three algorithms, and what is planted in it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app

from analysis.models import Report
from analysis.services import build_report
from charting import render
from jobs.leases import Heartbeat
from studies.models import Study
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

ALGORITHMS = "toppop,corngr,puresvd:factors=4"
# Enough for every claim on resampled values that a test makes of a report; the plan's own number takes a second each.
FEW_RESAMPLES: dict[str, dict[str, int]] = {"plan": {"resamples": 1000}}
PLANTED = {"TopPop": [4, 5, 4, 5, 4], "CorNgr": [2, 1, 2, 1, 1], "PureSVD4": [2, 1, 1, 2, 2]}


@pytest.fixture
def study(db: None) -> Study:
    """Nobody has entered it yet."""
    return make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS), settings=FEW_RESAMPLES)


@pytest.fixture
def planted(study: Study) -> Study:
    """People find TopPop best by far, and the two others alike."""
    plant(study, PLANTED)
    return study


@pytest.fixture(scope="module")
def stored_report(module_database: None) -> Report:
    """A report on the planted study, for all tests of a file: its rows are as new in each of them."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = make_study(slug="stored-films", run=run, settings=FEW_RESAMPLES)
    plant(study, PLANTED)
    return build_report(study=study)


@pytest.fixture(scope="module", autouse=True)
def no_heartbeats() -> Iterator[None]:
    """A thread that renewed a lease would wait half a minute for the transaction of the test that does the work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Heartbeat, "_beat", lambda heartbeat: None)
        yield


@pytest.fixture(scope="module")
def pictures_once() -> Iterator[None]:
    """Draw each picture once for all tests of a file, PNG with few dots: what test_figures.py, test_paper.py and the
    tests of charts say of drawing, that it gives the same bytes again, is not the point of a file that uses this.
    """
    svg, png = render.svg, render.svg_as_png

    @functools.cache
    def drawn(spec: str, given: tuple[tuple[str, Any], ...]) -> str:
        return svg(json.loads(spec), **dict(given))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "svg", lambda spec, **given: drawn(json.dumps(spec), tuple(sorted(given.items()))))
        patch.setattr(render, "svg_as_png", functools.cache(lambda picture, ppi: png(picture, ppi=72)))
        patch.setattr(render, "svg_as_pdf", functools.cache(render.svg_as_pdf))
        yield


@pytest.fixture
def eager() -> Iterator[None]:
    """Tasks run where they are sent."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False
