"""Consent texts: which version and in which language each participant said yes to, and what a change makes."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from lxml import html

from core.errors import NotAllowedInState, ParallaxError
from studies.data.codebook.participants import Person as Row
from studies.data.codebook.participants import participant_variables
from studies.design.selectors.versions import consent_lines
from studies.design.services.amending import change_consent
from studies.design.services.archiving import archive_study
from studies.design.services.launch import close_study, pause_study
from studies.enums import Mode, Role
from studies.models import ConsentVersion, Participant, Study, StudyVersion
from studies.participation.selectors.responses import records
from tests.factories.studies import assigned, enter, make_study
from tests.factories.walking import Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _changed(study: Study, text: str = "A newer text.") -> dict[str, dict[str, Any]]:
    boxes = {language: own["consent_boxes"] for language, own in study.texts.items()}
    return {language: {"consent": text, "consent_boxes": boxes[language]} for language in study.texts}


def test_a_change_makes_a_version_of_the_text_and_of_the_design() -> None:
    study = make_study()
    before = study.design_hash
    first = enter(study, language="it").participant
    made = change_consent(study=study, texts=_changed(study), why="The board asked for it.")
    second = enter(study).participant
    assert (first.consent_version.number, first.consent_language) == (1, "it")  # type: ignore[union-attr]
    assert (second.consent_version.number, second.consent_language) == (2, "en")  # type: ignore[union-attr]
    assert (made.number, made.why, made.texts["en"]["consent"]) == (2, "The board asked for it.", "A newer text.")
    study.refresh_from_db()
    newest = study.versions.get(number=2)
    assert newest.design_hash == study.design_hash != before
    assert newest.snapshot["texts"]["it"]["consent"] == "A newer text."
    assert second.version == newest
    lines = consent_lines(study)
    assert [(line.version.number, line.n, dict(line.by_language)) for line in lines] == [
        (2, 1, {"en": 1, "it": 0}),
        (1, 1, {"en": 0, "it": 1}),
    ]


def test_a_change_is_refused_without_a_reason_a_difference_or_a_running_study() -> None:
    draft = make_study(status="draft")
    study = make_study(slug="second", run=draft.run)
    other = _changed(study)
    one_box = {"en": {"consent": "x", "consent_boxes": ["only one"]}}
    empty = {"en": {"consent": "", "consent_boxes": study.texts["en"]["consent_boxes"]}}
    same = {language: dict(own) for language, own in study.texts.items()}
    for code, facts in (
        ("consent.no_reason", {"study": study, "texts": other, "why": " "}),
        ("consent.same", {"study": study, "texts": same, "why": "w"}),
        ("consent.other_boxes", {"study": study, "texts": one_box, "why": "w"}),
        ("study.bad_settings", {"study": study, "texts": empty, "why": "w"}),
        ("consent.not_running", {"study": draft, "texts": other, "why": "w"}),
    ):
        with pytest.raises((ParallaxError, NotAllowedInState)) as refusal:
            change_consent(**facts)
        assert refusal.value.code == code
    pause_study(study=study)
    archive_study(study=study)
    with pytest.raises(NotAllowedInState, match="archived"):
        change_consent(study=study, texts=other, why="w")
    assert ConsentVersion.objects.count() == 1
    assert StudyVersion.objects.count() == 1


def test_who_read_the_older_text_reads_the_newer_one_before_they_enter() -> None:
    study = make_study()
    address = f"/s/{study.slug}/"
    browser = Client()

    def sent() -> dict[str, Any]:
        page = html.document_fromstring(browser.get(address).content)
        fields = {f.get("name"): f.get("value") for f in page.xpath("//form//input[@type='hidden']")}
        return {**fields, "box": ["1", "2"], "choice": "yes"}

    older = sent()
    assert older["consent_version"] == "1"
    change_consent(study=study, texts=_changed(study), why="w")
    page = browser.post(address, older).content.decode()
    assert "A newer text." in page
    assert 'name="consent_version" value="2"' in page
    assert not Participant.objects.exists()
    browser.post(address, {**older, "consent_version": "2"})
    assert Participant.objects.get().consent_version.number == 2  # type: ignore[union-attr]


def test_the_language_consented_in_stays_when_the_pages_are_read_in_another() -> None:
    study = make_study()
    person = Person(study)
    person.consent(f"/s/{study.slug}/?lang=it")
    person.get("about/?lang=en")
    assert (person.me.language, person.me.consent_language) == ("en", "it")


def test_a_preview_of_a_draft_has_no_version() -> None:
    study = make_study(status="draft")
    assert enter(study, Mode.PREVIEW).participant.consent_version is None


def test_version_and_language_are_exported() -> None:
    study = make_study()
    assigned(study)
    record = next(iter(records(study, [Mode.LIVE])))
    row = Row(record, 1)
    values = {variable.name: variable.read(row) for variable in participant_variables(study)}
    assert (values["participant.consent_version"], values["participant.consent_language"]) == (1, "en")


def test_the_page_shows_versions_with_counts_and_an_owner_makes_another() -> None:
    study = make_study()
    enter(study)
    enter(study, Mode.SIMULATED)
    client = Client()
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    address = reverse("studies:consent", args=[study.slug])
    page = client.get(address)
    assert "and 1 simulated" in page.content.decode()
    form = page.context["form"]
    said = {name: field.initial for name, field in form.fields.items()}
    bad = client.post(address, {**said, "why": "w"}).content.decode()
    assert "The consent text is the same as before" in bad
    said["consent_en"] = "One\r\n\r\nTwo"
    done = client.post(address, {**said, "why": "Clearer words."}, follow=True).content.decode()
    assert "New participants see version 2 from now on." in done
    assert "Clearer words." in done
    study.refresh_from_db()
    assert study.texts["en"]["consent"] == "One\n\nTwo"
    close_study(study=study)
    assert "Create a new version" not in client.get(address).content.decode()


def test_studies_of_before_get_their_first_version() -> None:
    study = make_study()
    enter(study)
    Participant.objects.update(consent_version=None, consent_language="")
    kept = study.consent_versions.get()
    study.consent_versions.all().delete()
    migration = importlib.import_module("studies.migrations.0007_around_a_study")
    migration.number_the_consents(apps, None)
    found = study.consent_versions.get()
    assert (found.number, found.digest, found.texts, found.made_at) == (1, kept.digest, kept.texts, study.launched_at)
    assert (Participant.objects.get().consent_version, Participant.objects.get().consent_language) == (found, "en")
