"""Three ratings on the front page: two real lists, nothing stored, and a limit for each network."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from catalog.selectors.search import POPULARITY, search_items
from catalog.services import DEMO_NAME
from core.rate_limits import RateLimit
from parallax.shell.taste import FEWEST, LENGTH, OFFERED, Taste, taste_of
from studies.design.services.condition_serving import recommend_in
from studies.models import Participant, Study
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.pages import flat
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def demo(db: None) -> Study:
    version = make_version(name=DEMO_NAME)
    version.is_synthetic = True
    version.save()
    return make_study(slug="demo", run=make_run_at("succeeded", version=version, algorithms="toppop,corngr,random"))


def popular(study: Study) -> list[int]:
    page = search_items(study.dataset_version, order=POPULARITY, limit=OFFERED)
    return [item.index for item in page.items]


def sent(indexes: Iterable[int], stars: str = "5") -> dict[str, str]:
    return {f"r{index}": stars for index in indexes}


def lists_of(study: Study, ratings: dict[str, str]) -> Taste:
    taste = taste_of(study, ratings)
    assert taste is not None
    return taste


def test_the_two_lists_are_those_that_participants_would_get_and_have_least_in_common(demo: Study) -> None:
    rated = popular(demo)[:FEWEST]
    taste = lists_of(demo, sent(rated))
    served = {
        condition.label: recommend_in(study=demo, condition=condition, ratings=dict.fromkeys(rated, 5), n=LENGTH).items
        for condition in demo.conditions.all()
    }
    assert len(taste.lists) == 2
    first, second = taste.lists
    for own, other in ((first, second), (second, first)):
        indexes = tuple(item.index for item, _is_shared in own.entries)
        assert indexes == served[own.model]
        assert [is_shared for _item, is_shared in own.entries] == [index in served[other.model] for index in indexes]
    n_shared = [len({*a} & {*b}) for at, a in enumerate(served.values()) for b in list(served.values())[at + 1 :]]
    assert sum(is_shared for _item, is_shared in first.entries) == min(n_shared)


def test_three_ratings_are_needed_and_only_stars_of_the_items_shown_count(demo: Study) -> None:
    shown = popular(demo)
    others = [item.index for item in demo.dataset_version.items.all() if item.index not in shown]
    for ratings in (sent(shown[:2]), sent(shown[:2]) | sent(shown[2:], "6"), sent(shown[:2]) | sent(others)):
        assert lists_of(demo, ratings).problem == "Rate at least three films."
    assert lists_of(demo, sent(shown)).problem == ""


def test_nothing_of_a_visitor_is_stored_and_the_page_works_with_and_without_script(client: Client, demo: Study) -> None:
    ratings = sent(popular(demo)[:FEWEST])
    assert "Show two lists" in client.get(reverse("home")).content.decode()
    with CaptureQueriesContext(connection) as queries:
        whole = flat(client.post(reverse("taste"), ratings).content.decode())
    written = [query["sql"] for query in queries if not query["sql"].startswith(("SELECT", "SAVEPOINT", "RELEASE"))]
    assert all("core_ratecount" in sql for sql in written)
    assert Participant.objects.count() == 0
    assert "sessionid" not in client.cookies
    assert "How to cite" in whole
    part = flat(client.post(reverse("taste"), ratings, headers={"HX-Request": "true"}).content.decode())
    assert "How to cite" not in part
    for html in (whole, part):
        assert len(re.findall(r'<li class="(?:only|shared)">', html)) == 2 * LENGTH
        assert html.count(" checked>") == FEWEST


def test_a_network_that_asks_too_often_is_told_when_to_return(
    client: Client, demo: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parallax.shell.views.LIMIT", RateLimit(2, 600))
    ratings = sent(popular(demo)[:FEWEST])
    assert [client.post(reverse("taste"), ratings).status_code for _ in range(3)] == [200, 200, 429]
    refused = client.post(reverse("taste"), ratings)
    assert 0 < int(refused.headers["Retry-After"]) <= 600
    assert "Your network has asked for many lists. Please try again in" in refused.content.decode()
    assert "only here" not in refused.content.decode()
    assert client.post(reverse("taste"), ratings, REMOTE_ADDR="198.51.100.7").status_code == 200


def test_only_a_demo_study_with_stars_offers_it(client: Client, demo: Study) -> None:
    Study.objects.filter(pk=demo.pk).update(settings={**demo.settings, "elicitation_scale": "likes"})
    assert "Show two lists" not in client.get(reverse("home")).content.decode()
    Study.objects.filter(pk=demo.pk).update(slug="own", settings=demo.settings)
    assert "Show two lists" not in client.get(reverse("home")).content.decode()
    assert client.post(reverse("taste"), {}).headers["Location"] == reverse("home")
    assert client.get(reverse("taste")).headers["Location"] == reverse("home")
