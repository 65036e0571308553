"""Pages of errors: in the right shell, in plain words, with a way onward."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.test import Client, RequestFactory, override_settings

from parallax import views
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.integration


def text_of(response: HttpResponse) -> str:
    page = response.content.decode()
    assert "Traceback" not in page
    return page


@pytest.mark.django_db
def test_an_unknown_address_is_explained_inside_the_shell_of_its_reader(client: Client) -> None:
    visitor = client.get("/nowhere/")
    assert visitor.status_code == 404
    assert_page_approved("errors/not-found", text_of(visitor))
    assert "Sign in" in text_of(visitor)
    client.force_login(UserFactory())
    researcher = client.get("/nowhere/")
    assert researcher.status_code == 404
    assert 'aria-label="Console"' in text_of(researcher)


@pytest.mark.django_db
def test_participants_read_errors_in_their_language_without_the_console(client: Client) -> None:
    page = text_of(client.get("/s/p/x/y/z/", headers={"Accept-Language": "it"}))
    assert "Nessuna pagina" in page
    assert "/account/" not in page
    assert 'class="participant"' in page


@pytest.mark.django_db
def test_programs_get_json(client: Client) -> None:
    for view in (views.page_not_found, views.permission_denied, views.bad_request):
        answer = view(RequestFactory().get("/api/v1/x/"), Exception())
        assert answer["Content-Type"] == "application/problem+json"
        assert json.loads(answer.content)["status"] == answer.status_code


@pytest.mark.django_db
def test_a_refusal_says_why_where_the_reason_is_known() -> None:
    request = RequestFactory().get("/studies/films/members/")
    request.user = UserFactory()
    answer = views.permission_denied(request, PermissionDenied("Your role in this study does not include this page."))
    assert answer.status_code == 403
    assert_page_approved("errors/refused", text_of(answer))
    assert_page_approved(
        "errors/refused-without-a-reason", text_of(views.permission_denied(request, PermissionDenied()))
    )


@pytest.mark.parametrize("path", ["/studies/", "/s/films/", "/api/v1/studies/"])
def test_a_failure_needs_no_database(path: str) -> None:
    """Without the mark, any query of this test fails."""
    answer = views.server_error(RequestFactory().get(path))
    assert answer.status_code == 500
    assert_page_approved(f"errors/failure-{path.split('/')[1]}", text_of(answer))


@pytest.mark.django_db
def test_an_exception_in_a_view_ends_in_that_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> None:
        raise RuntimeError("a secret of mine")

    monkeypatch.setattr("parallax.shell.views.front_page", fails)
    client.raise_request_exception = False
    answer = client.get("/")
    assert answer.status_code == 500
    assert "secret of" not in text_of(answer)


@pytest.mark.django_db
@override_settings(ALLOWED_HOSTS=["parallax.example"])
def test_a_request_for_another_host_is_refused_in_plain_words(client: Client) -> None:
    answer = client.get("/", headers={"Host": "elsewhere.example"})
    assert answer.status_code == 400
    assert_page_approved("errors/bad-request", text_of(answer))


@pytest.mark.django_db
def test_a_form_without_its_cookie_leads_back_to_its_page() -> None:
    client = Client(enforce_csrf_checks=True)
    refused = client.post("/account/sign-in/", {"username": "a"})
    assert refused.status_code == 403
    assert 'href="/account/sign-in/"' in text_of(refused)
    assert "Nothing was changed." in text_of(refused)
    participant = text_of(client.post("/s/films/", headers={"Accept-Language": "de"}))
    assert "Cookie nicht angenommen" in participant


@pytest.mark.django_db
def test_a_request_without_an_account_is_a_visitors() -> None:
    request = RequestFactory().get("/nowhere/")
    request.user = AnonymousUser()
    assert "Front page" in text_of(views.page_not_found(request, Exception()))
