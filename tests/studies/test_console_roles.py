"""Every address of the console against every role."""

from __future__ import annotations

import pytest
from django.urls import reverse

from studies.enums import Role, StudyStatus
from studies.models import Study
from studies.team.services.members import add_member
from studies.urls import console_urlpatterns, of_study
from tests.factories.accounts import UserFactory
from tests.factories.console import OF_ITS_OWNER, OPEN_TO_ANY_RESEARCHER, POSTED, ROLES_OF, ask, signed_in
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture(scope="module")
def stored(module_database: None) -> int:
    """The key of a draft with an owner, an analyst and an interviewer."""
    study = make_study(status="draft")
    for role in (Role.ANALYST, Role.INTERVIEWER):
        add_member(study=study, email=UserFactory(email=f"{role}@example.org").email, role=role)
    return study.pk


@pytest.fixture
def draft(stored: int) -> Study:
    """Its rows are as new in each test."""
    return Study.objects.get(pk=stored)


def test_every_address_states_who_may_see_it() -> None:
    *others, within = console_urlpatterns
    assert {pattern.name for pattern in others} == {*OPEN_TO_ANY_RESEARCHER, OF_ITS_OWNER}
    assert str(within.pattern) == "<slug:slug>/"
    for pattern in of_study:
        assert pattern.callback.roles == ROLES_OF[str(pattern.name)], pattern.name


@pytest.mark.parametrize(
    "name", [str(p.name) for p in (*console_urlpatterns[:-1], *of_study) if p.name != OF_ITS_OWNER]
)
@pytest.mark.parametrize("who", ["owner", "analyst", "interviewer", "stranger", "administrator", "anonymous"])
def test_every_address_against_every_role(draft: Study, name: str, who: str) -> None:
    study = draft
    if who == "anonymous":
        client = signed_in(None)
    elif who in ("stranger", "administrator"):
        client = signed_in(UserFactory(is_superuser=who == "administrator"))
    else:
        client = signed_in(study.memberships.get(role=who).researcher)
    if name in OPEN_TO_ANY_RESEARCHER:
        call = client.post if name in POSTED else client.get
        response = call(reverse(f"studies:{name}"))
    else:
        response = ask(client, name, study)
    if who == "anonymous":
        assert response.status_code == 302
        assert response.url.startswith(reverse("accounts:sign_in"))
    elif name in OPEN_TO_ANY_RESEARCHER:
        assert response.status_code == (302 if name in POSTED else 200)
        if name == "list":
            assert (study.title in response.content.decode()) == (who in Role.values)
    elif who in ("stranger", "administrator"):
        assert response.status_code == 404
        assert study.title not in response.content.decode()
    else:
        assert response.status_code in ((200, 302) if who in ROLES_OF[name] else (403,))
    if response.streaming:  # read to its end, or the file stays open
        assert b"".join(response.streaming_content)[:2] == b"PK"
    study.refresh_from_db()
    assert (study.status == StudyStatus.LIVE) == (name == "launch" and who == "owner")
    assert study.memberships.count() == (2 if name == "member-remove" and who == "owner" else 3)
