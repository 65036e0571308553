"""Accounts and tokens in the REST API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.models import Token, User


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
        """The account with the token of the request."""
        token = self.context["request"].auth
        return {
            "email": instance.email,
            "name": instance.name,
            "token": TokenSerializer(token).data if isinstance(token, Token) else None,
        }
