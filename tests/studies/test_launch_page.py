"""The launch is confirmed on a page, and by the command, that list what is frozen and what is missing."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from studies.allocation.selectors.assignment_seed import is_seed_known, seed_commitment
from studies.design.services.design import change_design, create_study
from studies.enums import Mode
from studies.models import Participant, Study
from tests.factories.accounts import UserFactory
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def draft() -> Study:
    return make_study(status="draft")


def _page(client: Client, study: Study) -> Any:
    client.force_login(study.memberships.get().researcher)
    return client.get(reverse("studies:launch", args=[study.slug]))


def _gaps(page: Any) -> str:
    return " ".join(point.text for point in page.context["overview"].advice)


def test_the_page_lists_what_is_frozen_and_changes_nothing(client: Client, draft: Study) -> None:
    page = _page(client, draft)
    text = page.content.decode()
    for condition in draft.conditions.all():
        assert condition.label in text
        assert condition.model_digest[:12] in text
    for name in ("Dataset", "Questionnaire", "Languages", "Texts", "Primary pair", "Analysis plan", "Assignment"):
        assert f'<th scope="row">{name}</th>' in text
    draft.refresh_from_db()
    assert draft.status == "draft"


def test_the_page_lists_what_is_missing(client: Client, draft: Study) -> None:
    gaps = _gaps(_page(client, draft))
    for start in ("No preview", "No simulated pilot", "Power is ", "No hypothesis"):
        assert start in gaps
    texts = {"en": {"debriefing": "You rated nine films."}}
    change_design(study=draft, texts=texts, settings={"hypothesis": "Recall ranks them."})
    completed(draft, Mode.PREVIEW)
    completed(draft, Mode.SIMULATED)
    draft.refresh_from_db()
    draft.texts["en"]["declined"] = ""
    draft.save(update_fields=["texts"])
    gaps = _gaps(_page(client, draft))
    for start in ("No preview", "No simulated pilot", "No hypothesis"):
        assert start not in gaps
    assert "The text 'debriefing' in 'en' says “nine”" in gaps
    assert "The text 'declined' is written in another language, and not in English." in gaps


def test_a_known_seed_of_the_assignment_is_named(client: Client, draft: Study) -> None:
    assert is_seed_known(draft)
    assert "No secret seed" in _gaps(_page(client, draft))
    secret = create_study(slug="secret", version=draft.dataset_version, run=draft.run, owner=UserFactory())
    page = _page(client, secret)
    assert "No secret seed" not in _gaps(page)
    assert seed_commitment(secret) in page.content.decode()
    assert secret.assignment_seed not in page.content.decode()


def test_the_launch_is_confirmed_for_the_design_that_was_shown(client: Client, draft: Study) -> None:
    shown = _page(client, draft).context["digest"]
    url = reverse("studies:launch", args=[draft.slug])
    assert client.post(url).url == url  # type: ignore[attr-defined]
    change_design(study=draft, settings={"idle_minutes": 30})
    page = client.post(url, {"design": shown}, follow=True)
    assert "The design has changed since this page was opened." in page.content.decode()
    draft.refresh_from_db()
    assert draft.status == "draft"
    client.post(url, {"design": page.context["digest"]})
    draft.refresh_from_db()
    assert draft.status == "live"
    assert draft.design_hash in client.get(url).text.replace("<wbr>", "")


def test_with_problems_there_is_nothing_to_confirm(client: Client, draft: Study) -> None:
    draft.conditions.update(target=0)
    page = _page(client, draft).content.decode()
    assert page.count("needs a target of at least one participant.</p>") == 2
    assert "disabled>Launch study" in " ".join(page.split())


def test_the_command_prints_the_same_lists(client: Client, draft: Study) -> None:
    page = _page(client, draft)
    out = StringIO()
    call_command("launch_study", draft.slug, "--check", stdout=out)
    draft.refresh_from_db()
    assert draft.status == "draft"
    overview = page.context["overview"]
    for point in overview.advice:
        assert point.text in out.getvalue()
    for name, value in overview.facts:
        assert f"{name}: {value}" in out.getvalue()
    out = StringIO()
    call_command("launch_study", draft.slug, stdout=out)
    draft.refresh_from_db()
    assert draft.status == "live"
    assert "Frozen at launch:" in out.getvalue()
    assert not any(point.text in out.getvalue() for point in overview.advice)
    assert Participant.objects.count() == 0


def test_the_command_checks_without_launching(draft: Study) -> None:
    draft.conditions.update(target=0)
    with pytest.raises(CommandError, match="cannot be launched"):
        call_command("launch_study", draft.slug, "--check", stdout=StringIO())
