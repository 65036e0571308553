"""A request that changes something, and what each role is answered: the rows of the matrix in `test_api_writes.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.services import create_token
from studies.enums import Role
from studies.models import Study
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.studies import completed, make_study

ROLES = ("owner", "analyst", "interviewer", "stranger", "administrator")


@dataclass
class Scene:
    """A live study with two completed participants, its members and others; `prepare` may put another in its place."""

    study: Study
    people: Mapping[str, User]

    @property
    def owner(self) -> User:
        """The owner of the study, its run and its dataset."""
        return self.people["owner"]


@dataclass(frozen=True)
class Write:
    """One operation: its id in the OpenAPI document, method, name of the address, and the status for each role.

    `prepare` brings about the state that it needs and returns the parts of the address; `body` gives the JSON object,
    with `is_form` the fields and files of a form, or the bytes of a piece of an upload. `needs` are the scopes of which
    a token must hold all.
    """

    id: str
    method: str
    address: str
    answered: Mapping[str, int]
    prepare: Callable[[Scene], Mapping[str, Any]]
    body: Callable[[Scene], Any] = field(default=lambda _scene: {})
    is_form: bool = False
    needs: frozenset[str] = frozenset({"write"})


def by_role(success: int, allowed: str = "owner", *, forbidden: str = "analyst interviewer") -> dict[str, int]:
    """The status for each role: success for those allowed, 403 for those forbidden, 404 for all others."""
    return {role: success if role in allowed.split() else 403 if role in forbidden.split() else 404 for role in ROLES}


def make_scene() -> Scene:
    """A live study with two completed participants, an account for each role, and accounts outside."""
    study = make_study()
    for number in range(2):
        completed(study, number=number)
    for role in (Role.ANALYST, Role.INTERVIEWER):
        add_member(study=study, email=UserFactory(email=f"{role}@example.org").email, role=role)
    people = {str(role): study.memberships.get(role=role).researcher for role in Role.values}
    people |= {"stranger": UserFactory(), "administrator": UserFactory(is_superuser=True, is_staff=True)}
    type(study.run).objects.update(owner=people["owner"])
    return Scene(study, people)


def send(write: Write, scene: Scene, role: str, scope: str = "read data write", only: str = "", **more: str) -> Any:
    """Send the request as a program of someone with this role; a change names the state that its owner reads."""
    parts, body = write.prepare(scene), write.body(scene)
    address = reverse(f"api:{write.address}", kwargs=dict(parts))
    client = Client()
    headers = {"Authorization": f"Bearer {_token(scene.people[role], scope, only)}", **more}
    if write.method in ("put", "patch") and "If-Match" not in more:
        reading = {"Authorization": f"Bearer {_token(scene.owner, 'read data')}"}
        headers["If-Match"] = client.get(address, headers=reading)["ETag"]
    if isinstance(body, bytes):
        headers["Upload-Offset"] = "0"
        response = client.post(address, body, "application/octet-stream", headers=headers)
    elif write.is_form:
        response = getattr(client, write.method)(address, body, headers=headers)
    else:
        response = getattr(client, write.method)(address, json.dumps(body), "application/json", headers=headers)
    response.sent = None if isinstance(body, bytes) or write.is_form else body
    return response


def _token(owner: User, scope: str, only: str = "") -> str:
    return create_token(owner=owner, name="test", scope=scope, only=only)[1]
