"""Authentication, permissions and rate limits of the REST API."""

from __future__ import annotations

from math import ceil
from typing import Any

from django.conf import settings
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.enums import Scope
from accounts.models import Token, User
from accounts.selectors import token_of
from accounts.services import note_use

KEYWORD = "Bearer"
REFUSED = "This token is unknown, revoked or expired. Create a new one on the access tokens page of your account."


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer plx_…`; without that header the next authentication class is tried."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        """The researcher and their token; None where no token is presented."""
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != KEYWORD.lower().encode():
            return None
        try:
            text = parts[1].decode("ascii") if len(parts) == 2 else ""
        except UnicodeDecodeError:
            text = ""
        token = token_of(text)
        if token is None:
            raise AuthenticationFailed(REFUSED)
        note_use(token=token)
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD


class ScopePermission(BasePermission):
    """Any account may read; a token may do what its scopes include. The view says which actions are of participants'
    data (`data_actions`), which narrow scope is enough to write (`write_scopes`), and which requests by POST change
    nothing (`reading_posts`).
    """

    message = (
        "The scope of this token does not include this. Create a token with the scope that the documentation names."
    )

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether the request may reach the view; the view decides which rows it may see."""
        if not request.user.is_authenticated:
            return False
        token, action = request.auth, getattr(view, "action", None)
        if not isinstance(token, Token) or action is None:
            return True  # without an action there is nothing at this address, or not by this method
        needs_data = action in getattr(view, "data_actions", ())
        if request.method in SAFE_METHODS or action in getattr(view, "reading_posts", ()):
            return (Scope.DATA if needs_data else Scope.READ) in token.scopes
        by_write = {Scope.WRITE, Scope.DATA} if needs_data else {Scope.WRITE}
        return getattr(view, "write_scopes", {}).get(action) in token.scopes or token.scopes >= by_write


class TokenThrottle(SimpleRateThrottle):
    """Limits requests per token, or per signed-in researcher; never per address."""

    scope = "token"
    num_requests: int
    duration: int

    def get_rate(self) -> str:
        return str(settings.API_RATE)

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request, and tell the program how many are left (draft-ietf-httpapi-ratelimit-headers)."""
        is_allowed = bool(super().allow_request(request, view))
        if self.key is not None:
            left = self.num_requests - len(self.history)
            seconds = ceil(self.history[-1] + self.duration - self.now)  # until the oldest no longer counts
            view.headers["RateLimit-Policy"] = f'"{self.scope}";q={self.num_requests};w={self.duration}'
            view.headers["RateLimit"] = f'"{self.scope}";r={left};t={seconds}'
        return is_allowed

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if isinstance(request.auth, Token):
            return f"api.token.{request.auth.digest}"
        return f"api.researcher.{request.user.pk}" if request.user.is_authenticated else None
