"""The account behind a token."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.serializers import MeSerializer


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the interface's description says that a token is sent."""

    target_class = "accounts.permissions.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """A bearer token in the header."""
        return {"type": "http", "scheme": "bearer", "description": "An access token of your account's page."}


class MeView(APIView):
    """Who asks."""

    @extend_schema(operation_id="me", tags=["account"], summary="Whose token this is", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Tell a program whose token it holds, what the token may do, and when it ends."""
        return Response(MeSerializer(request.user, context={"request": request}).data)
