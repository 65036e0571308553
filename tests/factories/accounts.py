"""Accounts in tests."""

from __future__ import annotations

from typing import Any

import factory
from django.test import Client

from accounts.enums import Scope
from accounts.models import User
from accounts.services import create_token


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User

    email = factory.Sequence(lambda n: f"researcher{n}@example.org")
    name = factory.Sequence(lambda n: f"Researcher {n}")


def client_with_token(owner: User, scope: str = Scope.READ, **limits: Any) -> Client:
    """A program: a client with a new token; `limits` are those of the token."""
    _token, text = create_token(owner=owner, name="program", scope=scope, **limits)
    return Client(headers={"Authorization": f"Bearer {text}"})
