"""Second factors in a browser: an app, recovery codes and a passkey of Chromium’s virtual authenticator.

Every page on the way has no barrier that axe-core finds, scrolls nothing sideways and breaks no policy.
"""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Browser, BrowserContext, Page

from accounts.services import create_account
from tests.e2e.test_accessibility import SIDEWAYS, violations, with_axe
from tests.factories.codes import totp

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.core, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"
LOOKS = ((390, "light"), (390, "dark"), (1280, "light"), (1280, "dark"))


class Visit:
    """A browser whose pages are examined, and what was found."""

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.page: Page = context.new_page()
        self.site = site
        self.found: list[str] = []
        self.page.on("console", lambda line: line.type == "error" and self.found.append(f"console: {line.text}"))

    def look(self, name: str) -> None:
        with_axe(self.page)
        for width, scheme in LOOKS:
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            self.page.set_viewport_size({"width": width, "height": 900})
            if self.page.evaluate(SIDEWAYS):
                self.found.append(f"{name} at {width}: the page scrolls sideways")
            self.found += [f"{name} {width} {scheme}: {problem}" for problem in violations(self.page)]

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def password(self) -> None:
        self.page.goto(f"{self.site}/account/sign-in/?next=/account/")
        self.page.get_by_label("E-mail address").fill("ada@example.org")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in", exact=True).click()

    def sign_out(self) -> None:
        self.press("Sign out")
        self.page.wait_for_url("**/account/sign-in/")


def with_authenticator(page: Page, *, is_verified: bool = True) -> None:
    """A device that creates and uses passkeys at once."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    device = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
              "isUserVerified": is_verified, "automaticPresenceSimulation": True}  # fmt: skip
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": device})


def test_an_app_recovery_codes_and_a_passkey_sign_in(live_server: Any, browser: Browser) -> None:
    create_account(email="ada@example.org", password=PASSWORD)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    visit = Visit(context, live_server.url)
    page = visit.page
    with_authenticator(page)

    page.goto(f"{live_server.url}/account/sign-in/")
    page.get_by_role("button", name="Sign in with a passkey").wait_for()
    visit.look("sign-in")
    visit.password()
    visit.look("account")
    page.get_by_role("link", name="Manage your second factor").click()
    visit.look("second-factor")

    page.get_by_role("link", name="Add an app").click()
    visit.look("confirm-password")
    page.get_by_label("Password").fill(PASSWORD)
    visit.press("Confirm")
    page.get_by_role("heading", name="Add an authenticator app").wait_for()
    visit.look("app")
    secret = page.locator("code").inner_text()
    page.get_by_label("Authenticator code").fill(totp(secret))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Recovery codes").wait_for()
    visit.look("recovery-codes")
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    page.get_by_role("link", name="I have stored them").click()

    page.get_by_role("link", name="Add a passkey").click()
    visit.look("passkey")
    page.get_by_label("Name").fill("Laptop")
    page.keyboard.press("Enter")
    page.get_by_text("Laptop, since").wait_for()
    assert Authenticator.objects.filter(type="webauthn").count() == 1
    visit.look("second-factor-full")
    for name, link in (("app-remove", "Remove the app"), ("passkey-remove", "Remove Laptop"),
                       ("codes-new", "Create new codes")):  # fmt: skip
        page.get_by_role("link", name=link).click()
        visit.look(name)
        page.goto(f"{live_server.url}/account/second-factor/")

    visit.sign_out()
    visit.press("Sign in with a passkey")
    page.wait_for_url(f"{live_server.url}/")
    page.goto(f"{live_server.url}/account/")
    assert "ada@example.org" in page.inner_text("main"), "neither password nor code was needed"

    visit.sign_out()
    visit.password()
    page.get_by_role("heading", name="Second factor").wait_for()
    visit.look("sign-in-code")
    visit.press("Use a passkey")
    page.wait_for_url(f"{live_server.url}/account/")

    visit.sign_out()
    visit.password()
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{live_server.url}/account/")
    page.goto(f"{live_server.url}/account/second-factor/recovery-codes/new/")
    page.get_by_role("heading", name="Confirm that it is you").wait_for()
    visit.look("confirm-code")
    page.get_by_role("link", name="Use a passkey").click()
    visit.look("confirm-passkey")
    visit.press("Use a passkey")
    page.get_by_role("heading", name="Create new recovery codes").wait_for()
    page.goto(f"{live_server.url}/account/second-factor/")
    page.get_by_role("link", name="Remove Laptop").click()
    visit.press("Remove passkey")
    page.get_by_text("A passkey was removed.").wait_for()
    assert not Authenticator.objects.filter(type="webauthn").exists()

    visit.sign_out()
    visit.press("Sign in with a passkey")
    page.wait_for_load_state("networkidle")
    page.goto(f"{live_server.url}/account/")
    assert "/account/sign-in/" in page.url, "a removed passkey signs nobody in"
    assert not visit.found, "\n".join(visit.found)


def test_a_device_that_verifies_nobody_adds_no_passkey(live_server: Any, browser: Browser) -> None:
    create_account(email="ada@example.org", password=PASSWORD)
    visit = Visit(browser.new_context(), live_server.url)
    page = visit.page
    with_authenticator(page, is_verified=False)
    visit.password()
    page.goto(f"{live_server.url}/account/second-factor/passkeys/")
    page.get_by_label("Password").fill(PASSWORD)
    visit.press("Confirm")
    visit.press("Add passkey")
    page.get_by_text("No passkey was used").wait_for()
    assert not Authenticator.objects.exists()
