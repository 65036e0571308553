"""Every URL of the site: closed to visitors unless it is listed here, and with its rule in a table of roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.analysis.test_pages import ANSWERED
from tests.factories.accounts import UserFactory
from tests.factories.console import OF_ITS_OWNER, OPEN_TO_ANY_RESEARCHER, ROLES_OF
from tests.factories.projects import OF_DATA, OPEN_LISTS

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
# Open without an account. Participants' pages, sample reports and posters ask for a token, a launched study or a
# published report themselves.
PUBLIC = {
    "home", "taste", "help", "favicon", "health", "ready", "metrics",
    "accounts:sign_in", "accounts:password_reset", "accounts:password_reset_sent", "accounts:password_reset_confirm",
    "accounts:invitation", "account_login", "mfa_authenticate", "mfa_login_webauthn", "openid_connect_login",
    "openid_connect_callback",
    "catalog:poster", "catalog:clip", "analysis:detail", "analysis:chapter", "analysis:former", "analysis:former-part",
}  # fmt: skip
# Open to every researcher with an account: their own account.
# Those who may not read a replication get no page: tests/parallax/test_replication_jobs.py.
REPLICATIONS = {"start", "job", "file"}
ANY_RESEARCHER = ("search", "accounts:", "account_reauthenticate", "mfa_")
ARGUMENTS = {"int": "1", "slug": "x", "str": "x", "path": "x", "uidb64": "x", "token": "x"}


def _patterns(patterns: Sequence[Any], route: str = "", namespace: str = "") -> Iterator[tuple[str, str]]:
    """Each URL with the name of its view."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name}", route + str(pattern.pattern)
        elif isinstance(pattern, URLResolver):
            inside = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from _patterns(pattern.url_patterns, route + str(pattern.pattern), inside)


EVERY = [(name, route) for name, route in _patterns(get_resolver().url_patterns) if not name.startswith("admin:")]
CLOSED = [
    (name, route)
    for name, route in EVERY
    if name not in PUBLIC and not name.startswith("participant:") and not route.lstrip("^").startswith("api")
]


@pytest.mark.parametrize(("name", "route"), CLOSED, ids=[name for name, _route in CLOSED])
def test_a_visitor_is_asked_to_sign_in(client: Client, name: str, route: str) -> None:
    path = re.sub(r"<(?:(\w+):)?(\w+)>", lambda m: ARGUMENTS[m[1] or m[2]], route)
    for ask in (client.get, client.post):
        response = ask(f"/{path}")
        assert response.status_code == 302, (path, response.status_code)
        assert response.headers["Location"].startswith("/account/sign-in/")


def test_every_url_of_the_console_has_a_rule_in_a_table_of_roles() -> None:
    """The API has its own: tests/parallax/test_api_roles.py."""
    without = []
    for name, _route in CLOSED:
        space, _colon, own = name.rpartition(":")
        has_rule = (
            (space == "studies" and (own in ROLES_OF or own in {*OPEN_TO_ANY_RESEARCHER, OF_ITS_OWNER}))
            or (space == "analysis" and own in ANSWERED)
            or (space == "replication" and own in REPLICATIONS)
            or (space in ("catalog", "evaluation", "projects") and (name in OF_DATA or name in OPEN_LISTS))
            or name.startswith(ANY_RESEARCHER)
        )
        if not has_rule:
            without.append(name)
    assert without == []
    assert {name for name, _route in EVERY} >= PUBLIC  # none of them is gone


def test_the_administration_is_closed_to_visitors(client: Client) -> None:
    for path in ("/admin/", "/admin/studies/study/", "/admin/accounts/user/add/"):
        assert client.get(path).status_code == 302


# A member of staff may sign in and change their own password there; models are for administrators.
OPEN_ADMIN = {
    "admin:login", "admin:logout", "admin:jsi18n", "admin:index", "admin:password_change", "admin:password_change_done",
}  # fmt: skip
ADMIN = [(name, route) for name, route in _patterns(get_resolver().url_patterns) if name.startswith("admin:")]


@pytest.mark.parametrize("is_staff", [False, True])
def test_the_administration_is_closed_to_researchers_and_shows_staff_no_model(client: Client, is_staff: bool) -> None:
    client.force_login(UserFactory(is_staff=is_staff))
    asked = 0
    for name, route in ADMIN:
        path = re.sub(r"<(?:(\w+):)?(\w+)>", lambda m: ARGUMENTS.get(m[1] or m[2], "1"), route)
        if "(?P" in path or name in OPEN_ADMIN:
            continue
        for ask in (client.get, client.post):
            response = ask(f"/{path}")
            assert response.status_code in ((302, 403, 404, 405) if is_staff else (302,)), (path, response.status_code)
            if response.status_code == 302 and not is_staff:
                assert response.headers["Location"].startswith("/admin/login/"), path
            asked += 1
    assert asked > 50
    if is_staff:
        assert "/admin/studies/" not in client.get("/admin/").text
