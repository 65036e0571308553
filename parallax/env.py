"""Settings from the environment: a value that cannot be used stops the start with a sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
SHORTEST_KEY, FEWEST_CHARACTERS = 32, 8
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
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
