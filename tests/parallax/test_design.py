"""The gallery of components: for administrators, from real templates, with nothing stored."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from parallax.design.pages import PAGES
from studies.instrument.questionnaires.questions import KINDS
from studies.known_items import SCALES
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def administrator(client: Client) -> Client:
    client.force_login(
        UserFactory(is_superuser=True, is_staff=True), backend="django.contrib.auth.backends.ModelBackend"
    )
    return client


def page(client: Client, key: str, theme: str = "") -> str:
    response = client.get(reverse("design:page", args=[key]), {"theme": theme} if theme else {})
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("key", PAGES)
def test_every_page_shows_each_of_its_sections_in_every_state(administrator: Client, key: str) -> None:
    html = page(administrator, key)
    sections = PAGES[key].sections()
    assert len(sections) == len({section.key for section in sections})
    for section in sections:
        assert f'<section class="design-section" id="{section.key}"' in html
    assert html.count('<div class="design-state') == sum(len(section.states) for section in sections)


def test_only_administrators_see_it(client: Client) -> None:
    for path in ("/design/", "/design/controls/"):
        assert client.get(path).headers["Location"].startswith("/account/sign-in/")
    client.force_login(UserFactory(), backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/design/").status_code == 403
    assert client.get("/design/controls/").status_code == 403


def test_unknown_pages_and_themes_are_not_found(administrator: Client) -> None:
    assert administrator.get("/design/nothing/").status_code == 404
    assert administrator.get("/design/controls/?theme=pink").status_code == 404
    assert administrator.post("/design/").status_code == 405


def test_the_theme_is_chosen_by_a_link(administrator: Client) -> None:
    assert 'data-theme="dark"' in page(administrator, "questions", "dark")
    assert 'href="/design/questions/?theme=light"' in page(administrator, "questions", "dark")
    assert "data-theme" not in page(administrator, "questions")


def test_every_kind_of_question_and_every_scale_of_ratings_is_shown(administrator: Client) -> None:
    html = page(administrator, "questions")
    for kind in KINDS:
        assert f'<p class="design-label">{kind}</p>' in html
    html = page(administrator, "ratings")
    for key, scale in SCALES.items():
        section = html.partition(f'id="{key}"')[2].partition("</section>")[0]
        checked = re.findall(r'value="(\d+)"\s+id="star-[^"]+" checked', section)
        assert [int(point) for point in checked] == list(scale.points)


def test_samples_need_no_rows(administrator: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    page(administrator, "studies")  # the session and the account are read by then
    with django_assert_num_queries(2):  # session, account
        page(administrator, "studies")
