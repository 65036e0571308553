"""Every write of the REST API against every role, scope and limit of a token."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from accounts.services import create_token
from studies.enums import Role
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.studies import completed, make_study
from tests.parallax.api_writes import WRITES
from tests.parallax.api_writes.write import ROLES, Scene, Write

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
# Requests with a narrow scope of their own: tests/parallax/test_api_roles.py; and one that changes nothing.
ELSEWHERE = {"report_build", "model_upload", "run_scores_upload", "study_withdraw", "model_recommendations"}


@pytest.fixture
def scene(db: None) -> Scene:
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
    parts = write.prepare(scene)
    body = write.body(scene)
    address = reverse(f"api:{write.address}", kwargs=dict(parts))
    texts = {
        who: create_token(owner=scene.people[who], name=who, scope=of, only=limit)[1]
        for who, of, limit in ((role, scope, only), *([("owner", "read data", "")] if role != "owner" else []))
    }
    client = Client()
    headers = {"Authorization": f"Bearer {texts[role]}", **more}
    if write.method in ("put", "patch") and "If-Match" not in more:
        reader = create_token(owner=scene.owner, name="reader", scope="read data")[1]
        headers["If-Match"] = client.get(address, headers={"Authorization": f"Bearer {reader}"})["ETag"]
    if isinstance(body, bytes):
        headers["Upload-Offset"] = "0"
        return client.post(address, body, "application/octet-stream", headers=headers)
    if write.is_form:
        return getattr(client, write.method)(address, body, headers=headers)
    return getattr(client, write.method)(address, json.dumps(body), "application/json", headers=headers)


def test_every_write_has_a_row() -> None:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    described = {
        (operation["operationId"], method)
        for methods in document["paths"].values()
        for method, operation in methods.items()
        if method != "get"
    }
    rows = [(write.id, write.method) for write in WRITES]
    assert len(rows) == len(set(rows))
    assert {row for row in described if row[0] not in ELSEWHERE} == set(rows)


@pytest.mark.slow
@pytest.mark.core
@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.id)
def test_every_write_against_every_role(scene: Scene, write: Write) -> None:
    found = {}
    for role in ROLES:
        before = scene.study
        with transaction.atomic():
            response = send(write, scene, role)
            found[role] = response.status_code
            if response.status_code >= 400:
                assert response["Content-Type"] == "application/problem+json", (role, response.content)
            transaction.set_rollback(True)
        scene.study = before
    assert found == dict(write.answered)


@pytest.mark.slow
@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.id)
def test_every_write_against_scopes_and_states(scene: Scene, write: Write) -> None:
    refused = ["read data", *(["read write"] if "data" in write.needs else [])]
    for scope in refused:
        with transaction.atomic():
            assert send(write, scene, "owner", scope).status_code == 403, scope
            transaction.set_rollback(True)
    if write.method in ("put", "patch"):
        with transaction.atomic():
            response = send(write, scene, "owner", **{"If-Match": '"of long ago"'})
            assert (response.status_code, response.json()["code"]) == (412, "change.changed_meanwhile")
            transaction.set_rollback(True)
