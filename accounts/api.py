"""The REST endpoint for the account of a token."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Token
from core.api import StrictView


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes token authentication in the OpenAPI schema."""

    target_class = "accounts.permissions.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An access token, created on your account page."}


class LimitSerializer(serializers.Serializer[Any]):
    """The study or project that a token is limited to; the name is empty once that is deleted."""

    kind = serializers.ChoiceField(choices=["study", "project"])
    id = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)


class TokenSerializer(serializers.ModelSerializer[Token]):
    """The token of the request; its text is never included."""

    scope = serializers.CharField(help_text="Its scopes, with spaces: read, data, write, report, withdraw, upload.")
    only = serializers.SerializerMethodField(help_text="The study or project that it is limited to; null for none.")

    class Meta:
        model = Token
        fields = ["name", "start", "scope", "only", "created_at", "expires_at", "last_used_at"]
        read_only_fields = fields

    @extend_schema_field(LimitSerializer(allow_null=True))
    def get_only(self, token: Token) -> dict[str, Any] | None:
        """Return what the token is limited to."""
        if token.only_type is None:
            return None
        return {"kind": token.only_type.model, "id": token.only_id, "name": str(token.only or "")}


class MeSerializer(serializers.Serializer[Any]):
    """The account and token of the request; the token is null for a signed-in session."""

    email = serializers.EmailField()
    name = serializers.CharField(allow_blank=True)
    token = TokenSerializer(allow_null=True)


class MeView(StrictView):
    """The account and token of the request."""

    @extend_schema(operation_id="me", tags=["account"], responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Account, scope and expiry of this token."""
        user: Any = request.user
        token = request.auth if isinstance(request.auth, Token) else None
        return Response(MeSerializer({"email": user.email, "name": user.name, "token": token}).data)
