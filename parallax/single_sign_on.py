"""Single sign-on by OpenID Connect, from the environment; off unless an issuer is named."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from parallax.env import env_bool, env_list, env_secret, env_str

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def providers() -> dict[str, Any]:
    """The provider as django-allauth wants it; without `PARALLAX_OIDC_ISSUER`, none."""
    issuer = env_str("PARALLAX_OIDC_ISSUER").strip().rstrip("/")
    if not issuer:
        return {}
    address = urlsplit(issuer)
    if not address.hostname or not (
        address.scheme == "https" or (address.scheme == "http" and address.hostname in LOOPBACK)
    ):
        raise ImproperlyConfigured(
            f"PARALLAX_OIDC_ISSUER is {issuer!r}; write the https address of the issuer, such as https://login.example.org."
        )
    client_id, secret = env_str("PARALLAX_OIDC_CLIENT_ID").strip(), env_secret("PARALLAX_OIDC_CLIENT_SECRET")
    if not client_id or not secret:
        raise ImproperlyConfigured(
            "PARALLAX_OIDC_ISSUER needs PARALLAX_OIDC_CLIENT_ID and PARALLAX_OIDC_CLIENT_SECRET, or "
            "PARALLAX_OIDC_CLIENT_SECRET_FILE, from the registration at the issuer."
        )
    domains = [domain.lower().lstrip("@") for domain in env_list("PARALLAX_OIDC_DOMAINS", default=[])]
    may_create = env_bool("PARALLAX_OIDC_CREATE_ACCOUNTS", default=False)
    if may_create and not domains:
        raise ImproperlyConfigured(
            "PARALLAX_OIDC_CREATE_ACCOUNTS needs PARALLAX_OIDC_DOMAINS, such as example.org: the e-mail domains for "
            "which accounts are created."
        )
    return provider(issuer, client_id, secret, domains=domains, may_create=may_create)


def provider(
    issuer: str, client_id: str, secret: str, *, domains: list[str], may_create: bool, name: str = ""
) -> dict[str, Any]:
    """The settings of one issuer. Its key has the issuer in it, so that another one's users are not taken for these."""
    key = re.sub(r"[^a-z0-9]+", "-", issuer.partition("://")[2].lower()).strip("-")
    app = {
        "provider_id": key,
        "name": name or env_str("PARALLAX_OIDC_NAME", "your institution"),
        "client_id": client_id,
        "secret": secret,
        "settings": {
            "server_url": issuer,
            "oauth_pkce_enabled": True,
            "domains": domains,
            "may_create": may_create,
        },
    }
    return {"openid_connect": {"APPS": [app]}}
