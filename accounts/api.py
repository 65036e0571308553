"""The REST endpoint for the account of a token."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Token, User
from core.api import StrictView


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes token authentication in the OpenAPI schema."""

    target_class = "accounts.permissions.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An access token, created on your account page."}


class TokenSerializer(serializers.ModelSerializer[Token]):
    """The token of the request; its text is never included."""

    class Meta:
        model = Token
        fields = ["name", "start", "scope", "created_at", "expires_at"]
        read_only_fields = fields


class MeSerializer(serializers.Serializer[Any]):
    """The account and token of the request; the token is null for a signed-in session."""

    email = serializers.EmailField()
    name = serializers.CharField(allow_blank=True)
    token = TokenSerializer(allow_null=True)

    def to_representation(self, instance: User) -> dict[str, Any]:
        token = self.context["request"].auth
        return {
            "email": instance.email,
            "name": instance.name,
            "token": TokenSerializer(token).data if isinstance(token, Token) else None,
        }


class MeView(StrictView):
    """The account and token of the request."""

    @extend_schema(
        operation_id="me", tags=["account"], summary="Account and scope of this token", responses=MeSerializer
    )
    def get(self, request: Request) -> Response:
        """Return the token's account, scope and expiry."""
        return Response(MeSerializer(request.user, context={"request": request}).data)
