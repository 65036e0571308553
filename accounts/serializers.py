"""What programs are told of an account."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.models import Token, User


class TokenSerializer(serializers.ModelSerializer[Token]):
    """The token that asks; its text is told nowhere."""

    class Meta:
        model = Token
        fields = ["name", "start", "scope", "created_at", "expires_at"]
        read_only_fields = fields


class MeSerializer(serializers.Serializer[Any]):
    """Who asks, and by which token; null for somebody who is signed in."""

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
