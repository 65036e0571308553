"""The gallery of screenshots shows every page of the console."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from django.test.signals import template_rendered

from tests.gallery.pages import Installation, console_pages
from tests.gallery.small import small_installation

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

TEMPLATES = Path(__file__).parents[2] / "templates"
# Each with the reason why no picture of it is taken as a page of the console.
NOT_PICTURED = {
    "console/studies/take_over.html": "only where a study has no owner",
    "accounts/locked_out.html": "an answer to many attempts to sign in",
    "accounts/too_often.html": "an answer to many attempts",
    "accounts/password_reset_confirm.html": "behind the link of a letter",
    "accounts/single_sign_on.html": "leads to the institution at once",
    "accounts/single_sign_on_failed.html": "an answer of the institution",
    "accounts/sign_in_code.html": "the second step of signing in",
    "accounts/authenticator_app.html": "after a confirmation; tests/e2e/test_second_factor.py",
    "accounts/authenticator_app_remove.html": "after a confirmation; tests/e2e/test_second_factor.py",
    "accounts/confirm_code.html": "of an account with a second factor; tests/e2e/test_second_factor.py",
    "accounts/confirm_passkey.html": "of an account with a passkey; tests/e2e/test_second_factor.py",
    "accounts/passkey.html": "after a confirmation; tests/e2e/test_second_factor.py",
    "accounts/passkey_remove.html": "after a confirmation; tests/e2e/test_second_factor.py",
    "accounts/recovery_codes.html": "after a confirmation; tests/e2e/test_second_factor.py",
    "accounts/recovery_codes_new.html": "after a confirmation; tests/e2e/test_second_factor.py",
    "accounts/unlock.html": "only on a device that was locked",
    "accounts/invitation_over.html": "an answer to an invitation that is over",
    "accounts/sign_in.html": "for visitors; pictured as a public page",
    "analysis/redrawing.html": "only until a worker has drawn a report anew",
    "analysis/file.html": "a file of a report between the console's header and footer",
}


@pytest.fixture
def installation() -> Installation:
    return small_installation()


def test_every_template_of_a_page_is_pictured(installation: Installation) -> None:
    rendered: set[str] = set()
    here = threading.get_ident()  # a browser of another test may still ask the server in this process for pages

    def note(template: Any, **_given: Any) -> None:
        if threading.get_ident() == here:
            rendered.add(str(template.name))

    template_rendered.connect(note)
    try:
        pages = console_pages(installation)
    finally:
        template_rendered.disconnect(note)
    assert len(pages) > 50
    expected = {
        str(path.relative_to(TEMPLATES))
        for folder in ("console", "accounts", "analysis")
        for path in (TEMPLATES / folder).rglob("*.html")
        if not path.name.startswith("_") and path.parent.name not in ("parts", "panels") and "base" not in path.name
    }
    missing = expected - rendered
    assert missing == NOT_PICTURED.keys() & expected, sorted(missing ^ NOT_PICTURED.keys())
