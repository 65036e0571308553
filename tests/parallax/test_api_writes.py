"""Every write of the REST API against every role, scope and limit of a token."""

from __future__ import annotations

import pytest
from django.db import transaction
from drf_spectacular.generators import SchemaGenerator

from tests.parallax.api_writes import WRITES
from tests.parallax.api_writes.write import ROLES, Scene, Write, make_scene, send

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def scene(db: None) -> Scene:
    return make_scene()


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
    assert described == set(rows)


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
    refused = ["read data" if "write" in write.needs else "write", *(["read write"] if "data" in write.needs else [])]
    for scope in refused:
        with transaction.atomic():
            assert send(write, scene, "owner", scope).status_code == 403, scope
            transaction.set_rollback(True)
    if write.method in ("put", "patch"):
        with transaction.atomic():
            response = send(write, scene, "owner", **{"If-Match": '"of long ago"'})
            assert (response.status_code, response.json()["code"]) == (412, "change.changed_meanwhile")
            transaction.set_rollback(True)
