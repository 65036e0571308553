"""The contributed panel from its link to its exit, and its card in the console; run within a copy of the project."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studies.enums import ParticipantStatus
from studies.recruitment.panels.exits import Exit
from studies.recruitment.services.recruitment import set_exits, set_panel
from tests.factories.studies import make_study
from tests.factories.walking import Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_its_link_admits_a_participant_and_its_exit_leads_back() -> None:
    study = make_study(per_condition=3)
    set_exits(study=study, exits={"complete": Exit("static", "C1A2")})
    set_panel(study=study, panel="connect", entrance="open")
    person = Person(study).to("thanks", f"/s/{study.slug}/?participantId=Ann1&assignmentId=as1")
    assert person.me.status == ParticipantStatus.COMPLETED
    assert person.me.external_ids.get(name="participantId").value == "Ann1"
    assert person.get("exit/").headers["Location"] == (
        "https://connect.cloudresearch.com/participant/project/complete?code=C1A2"
    )
    client = Client()
    client.force_login(study.memberships.get().researcher, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(reverse("studies:recruiting", args=[study.slug])).text
    assert "?participantId={{participantId}}&amp;assignmentId={{assignmentId}}</code> into “Project link”" in page
