"""Signed links: a participant's id, and the id's HMAC-SHA-256 by a key of the study, like those of oTree's rooms."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import urlencode

from django.utils.crypto import constant_time_compare

from studies.recruitment.panels.panel import Panel
from studies.recruitment.panels.sites import LABEL, NONE

PARAMETER = "hash"


def new_signing_key() -> str:
    """Return a random key."""
    return secrets.token_hex(32)


def signed_parameter(panel: Panel) -> str:
    """Return the one parameter whose value is signed; with a second one, an id could enter twice."""
    return LABEL if panel.key == NONE else panel.person[0]


def signed_query(panel: Panel, key: str, value: str) -> str:
    """Return the query string of an id's link."""
    return urlencode({signed_parameter(panel): value, PARAMETER: _signature(key, value)})


def is_signed(panel: Panel, key: str, parameters: Mapping[str, str]) -> bool:
    """Whether a link's id was signed by the key; an empty key has signed nothing."""
    value = parameters.get(signed_parameter(panel), "")
    return bool(key and value) and constant_time_compare(parameters.get(PARAMETER, ""), _signature(key, value))


def _signature(key: str, value: str) -> str:
    return hmac.new(key.encode(), value.encode(), "sha256").hexdigest()
