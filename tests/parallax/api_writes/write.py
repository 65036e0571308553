"""A request that changes something, and what each role is answered: the rows of the matrix in `test_api_writes.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User
from studies.models import Study

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
