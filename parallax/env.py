"""Settings from the environment: a value that cannot be used stops the start with a sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
SHORTEST_KEY, FEWEST_CHARACTERS = 32, 8
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
BUCKET = "parallax.bucket_storage.BucketStorage"
FOLDER = "django.core.files.storage.FileSystemStorage"
ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9._/-]*))?")
SITE = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?")


def env_str(name: str, default: str = "") -> str:
    """Return the variable's text, or the default where it is not set."""
    return os.environ.get(name, default)


def env_bool(name: str, *, default: bool) -> bool:
    """Return the variable as a yes or no."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    if raw.strip().lower() in TRUE:
        return True
    if raw.strip().lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {raw!r}; write 1 or 0.")


def env_int(name: str, *, default: int, minimum: int = 0) -> int:
    """Return the variable as a whole number of at least `minimum`."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    try:
        value = int(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {raw!r}; write a whole number.") from None
    if value < minimum:
        raise ImproperlyConfigured(f"{name} is {value}; it must be at least {minimum}.")
    return value


def env_bytes(name: str) -> int | None:
    """Return the variable as a number of bytes, written as 800M or 12G; None where it is not set."""
    raw = os.environ.get(name, "").strip()
    if not raw:
        return None
    match = re.fullmatch(r"(\d+)([KMGT]?)", raw.upper().removesuffix("B"))
    size = int(match[1]) * 1024 ** " KMGT".index(match[2] or " ") if match else 0
    if not size:
        raise ImproperlyConfigured(f"{name} is {raw!r}; write a size such as 800M or 12G.")
    return size


def env_site(name: str) -> str:
    """Return the variable as a site's own address without a slash at its end; empty where it is not set."""
    raw = os.environ.get(name, "").strip().rstrip("/")
    if not raw:
        return ""
    if not SITE.fullmatch(raw):
        raise ImproperlyConfigured(f"{name} is {raw!r}; write an address such as https://study.example.org.")
    return raw


def env_list(name: str, *, default: list[str]) -> list[str]:
    """Return the variable's comma-separated parts."""
    raw = os.environ.get(name)
    return default if raw is None else [part.strip() for part in raw.split(",") if part.strip()]


def is_public(hosts: Iterable[str], *, is_https: bool) -> bool:
    """Whether a site is served to others: behind a proxy with TLS, or under a name that is not this machine's own."""
    return is_https or not set(hosts) <= set(LOCAL_HOSTS)


def env_database(name: str, *, default: str) -> dict[str, Any]:
    """Return the database that the variable (or its file) names, as Django wants it."""
    url = env_secret(name) or default
    try:
        database = dict(dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True))
    except (ValueError, KeyError) as problem:  # the URL may hold a password: it is not repeated
        raise ImproperlyConfigured(
            f"{name} is not a database's address; write postgresql://user:password@host:5432/name. A password with "
            "symbols such as / # ? goes into DATABASE_PASSWORD."
        ) from problem
    if not database.get("ENGINE"):
        raise ImproperlyConfigured(f"{name} names no database; write postgresql://user:password@host:5432/name.")
    if password := env_secret("DATABASE_PASSWORD"):
        database["PASSWORD"] = password  # as it is: nothing of it is read as a part of the address
    return database


def env_redis(name: str) -> str | None:
    """Return the address of Redis that the variable (or its file) names, with REDIS_PASSWORD where that is set."""
    url, password = env_secret(name), env_secret("REDIS_PASSWORD")
    if not url or not password:
        return url
    parts = urlsplit(url)
    account, _at, server = parts.netloc.rpartition("@")
    # Quoted, as the password stands in an address here and may contain its separators.
    return parts._replace(netloc=f"{account.partition(':')[0]}:{quote(password, safe='')}@{server}").geturl()


def env_choice(name: str, choices: Sequence[str], default: str = "") -> str:
    """Return the variable's text, one of `choices`; the default or the first where it is not set."""
    raw = os.environ.get(name, "").strip().lower() or default or choices[0]
    if raw not in choices:
        raise ImproperlyConfigured(f"{name} is {raw!r}; write {', '.join(choices[:-1])} or {choices[-1]}.")
    return raw


def env_key(name: str, *, is_weak_allowed: bool) -> str | None:
    """Return a secret that cannot be guessed, as `env_secret` does; a short or simple one stops the start."""
    key = env_secret(name)
    # Refused at the start and not only reported: the key signs sessions and participants' links.
    if key and not is_weak_allowed and is_weak(key):
        raise ImproperlyConfigured(
            f"{name} is too easy to guess, and a correct guess can sign in as anyone. Set it to at least "
            f"{SHORTEST_KEY} random characters, such as the output of `openssl rand -base64 48`."
        )
    return key


def is_weak(key: str) -> bool:
    """Whether a secret key is short, has few different characters, or is one that Django generates for development."""
    return len(key) < SHORTEST_KEY or len(set(key)) < FEWEST_CHARACTERS or key.startswith("django-insecure-")


def env_secret(name: str) -> str | None:
    """Return the variable's text, or that of the file that NAME_FILE names; None where neither is set."""
    if raw := os.environ.get(name):
        return raw
    if file := os.environ.get(f"{name}_FILE"):
        try:
            return Path(file).read_text().strip()
        except OSError as problem:
            raise ImproperlyConfigured(
                f"{name}_FILE names {file}, which cannot be read: {problem.strerror}."
            ) from problem
    return None


def bucket_options(address: str, setting: str = "PARALLAX_ARTEFACTS_S3", /, **options: str | None) -> dict[str, Any]:
    """The options of a bucket and its account; none without an address such as s3://bucket/folder, which the variable
    `setting` holds.

    `options` are endpoint_url, region_name, access_key and secret_key; those that are empty are left to the client.
    """
    if not address:
        return {}
    match = ADDRESS.fullmatch(address.strip())
    if match is None or ".." in address:
        raise ImproperlyConfigured(
            f"{setting} is {address!r}; write s3://bucket or s3://bucket/folder. The server's own address "
            "goes into PARALLAX_S3_ENDPOINT."
        )
    if bool(options.get("access_key")) != bool(options.get("secret_key")):
        raise ImproperlyConfigured(
            "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or the files AWS_ACCESS_KEY_ID_FILE and "
            "AWS_SECRET_ACCESS_KEY_FILE), or neither."
        )
    missing = [name for name in ("boto3", "storages") if find_spec(name) is None]
    if missing:
        raise ImproperlyConfigured(
            f"{setting} is set, and the Python package {missing[0]} is not installed. Run `make s3`, or "
            "`.venv/bin/pip install -r requirements-s3.txt`."
        )
    account = {name: value for name, value in options.items() if value}
    return {"bucket_name": match[1], "location": (match[2] or "").strip("/"), **account}


def storages_in(var: Path, *, bucket: dict[str, Any], artefact_backend: str) -> dict[str, Any]:
    """Django's STORAGES: `default` with prepared downloads and uploads, `artefacts` with ratings, models and results.

    Without a bucket both are folders below `var`, unless another backend is named for artefacts.
    """
    if not bucket:
        return {
            "default": {"BACKEND": FOLDER, "OPTIONS": {"location": var / "media"}},
            "artefacts": {"BACKEND": artefact_backend or FOLDER, "OPTIONS": {"location": var / "artefacts"}},
        }
    if artefact_backend:
        raise ImproperlyConfigured("Set PARALLAX_ARTEFACTS_S3 or ARTEFACT_STORAGE, not both.")
    return {
        name: {
            "BACKEND": BUCKET,
            "OPTIONS": {**bucket, "location": "/".join(filter(None, (bucket["location"], folder)))},
        }
        for name, folder in (("default", "media"), ("artefacts", "artefacts"))
    }


def single_sign_on() -> dict[str, Any]:
    """The provider of OpenID Connect as django-allauth wants it; without `PARALLAX_OIDC_ISSUER`, none."""
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
    # Otherwise anyone with an account at the issuer, which may be a public one, could create an account here.
    if may_create and not domains:
        raise ImproperlyConfigured(
            "PARALLAX_OIDC_CREATE_ACCOUNTS needs PARALLAX_OIDC_DOMAINS, such as example.org: the e-mail domains for "
            "which accounts are created."
        )
    return single_sign_on_by(issuer, client_id, secret, domains=domains, may_create=may_create)


def single_sign_on_by(
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
