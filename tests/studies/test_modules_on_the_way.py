"""How many modules of ours a participant's rating and answer pass, from the view on; middlewares are not counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from django.http import HttpResponse

from tests.factories.studies import make_study
from tests.factories.walking import HTMX, Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

ROOT = Path(__file__).resolve().parents[2]
OURS = ("accounts", "catalog", "core", "evaluation", "recommenders", "studies")
OF_MIDDLEWARES = {"core/security_log.py"}  # asked by `parallax.security_events` at every request
MOST = 19


def modules_on_the_way(request: Callable[[], HttpResponse]) -> tuple[HttpResponse, set[str]]:
    """The response of a request, and the modules of which a function was called for it."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in OURS:
            called.add(path.relative_to(ROOT).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        response = request()
    finally:
        sys.setprofile(before)
    return response, called - OF_MIDDLEWARES


def test_a_rating_passes_few_modules() -> None:
    study = make_study()
    person = Person(study).to("rate")
    first, second = study.dataset_version.items.order_by("index")[:2]
    person.post(f"rate/{first.pk}/", {"rating": 3}, headers=HTMX)  # as a process that has served a rating before
    response, called = modules_on_the_way(lambda: person.post(f"rate/{second.pk}/", {"rating": 4}, headers=HTMX))
    assert (response.status_code, person.me.profile.count()) == (200, 2)
    assert "studies/participation/services/ratings.py" in called
    assert len(called) <= MOST, "\n".join(sorted(called))


def test_an_answer_that_leaves_its_page_passes_few_modules() -> None:
    person = Person(make_study()).to("recommendations")
    person.post("recommendations/")
    answers = {"watched": "yes", "rating": "4", "continue": "1"}
    response, called = modules_on_the_way(lambda: person.post("items/1/1/", answers))
    assert (response.status_code, person.me.item_rank) == (302, 2)
    assert "studies/participation/services/answers.py" in called
    assert len(called) <= MOST, "\n".join(sorted(called))
