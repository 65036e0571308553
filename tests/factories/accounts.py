"""Accounts in tests."""

from __future__ import annotations

import factory

from accounts.models import User


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User

    email = factory.Sequence(lambda n: f"researcher{n}@example.org")
    name = factory.Sequence(lambda n: f"Researcher {n}")
