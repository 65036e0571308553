"""A language added by the translation guide is offered for studies, asked for, and missing words stop the launch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as installation
from django.test import Client
from django.urls import reverse

from core.errors import ParallaxError
from parallax.catalogues import compiled_catalogues
from studies.console.forms.texts import DraftTextsForm, text_key
from studies.design.presets.loader import REQUIRED_TEXTS
from studies.design.selectors.texts import interface_languages, languages_in_translation
from studies.design.services.launch import launch_problems, launch_study
from studies.models import Study
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

WORDS = {"Take part": "Quiero participar", "five": "cinco", "two": "dos"}
CATALOGUE = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "film"
msgid_plural "films"
msgstr[0] "película"
msgstr[1] "películas"

"""


@pytest.fixture
def spanish(tmp_path: Path, settings: Any) -> Iterator[None]:
    """Spanish as the guide adds it: a catalogue, and a line in LANGUAGES."""
    for language in ("es", "fr"):
        file = tmp_path / "source" / language / "LC_MESSAGES" / "django.po"
        file.parent.mkdir(parents=True)
        text = "".join(f'msgid "{english}"\nmsgstr "{word}"\n\n' for english, word in WORDS.items())
        file.write_text(CATALOGUE + text, encoding="utf-8")
    compiled = compiled_catalogues(tmp_path / "source", tmp_path / "compiled")
    (compiled / "fr" / "LC_MESSAGES" / "django.mo").unlink()  # named in LANGUAGES, and not translated
    settings.LANGUAGES = [*installation.LANGUAGES, ("es", "Spanish"), ("fr", "French")]
    settings.LOCALE_PATHS = [*installation.LOCALE_PATHS, compiled]
    return


def _saved(client: Client, study: Study, **changed: Any) -> str:
    url = reverse("studies:texts", args=[study.slug])
    said = {**client.get(url).context["form"].initial, **changed}
    return client.post(url, said, follow=True).content.decode()


def _in_spanish(node: Any) -> Any:
    """A questionnaire with Spanish words beside the English."""
    if isinstance(node, dict):
        made = {name: _in_spanish(value) for name, value in node.items()}
        return {**made, "es": made["en"]} if "en" in made else made
    return [_in_spanish(part) for part in node] if isinstance(node, list) else node


@pytest.mark.usefixtures("spanish")
def test_every_language_with_translated_pages_can_be_chosen_and_its_texts_are_asked_for(client: Client) -> None:
    assert interface_languages() == ("en", "it", "de", "es")
    study = make_study(status="draft")
    client.force_login(study.memberships.get().researcher)
    form = DraftTextsForm(study)
    assert [code for code, _name in form.fields["languages"].choices] == ["en", "it", "de", "es"]  # type: ignore[attr-defined]
    assert {"consent_es", "consent_boxes_es", "debriefing_es", "item_one_es"} <= set(form.fields)
    page = _saved(client, study, languages=["en", "es"])
    assert "Saved." in page
    study.refresh_from_db()
    assert study.settings["languages"] == ["en", "es"]
    assert set(study.texts) == {"en", "it"}


@pytest.mark.usefixtures("spanish")
def test_missing_words_stop_the_launch_and_a_complete_translation_is_read(client: Client) -> None:
    study = make_study(status="draft")
    client.force_login(study.memberships.get().researcher)
    _saved(client, study, languages=["en", "es"], title_es="{Items} para ti")
    study.refresh_from_db()
    problems = launch_problems(study)
    assert "The texts in 'es' lack consent, consent_boxes, debriefing, screened_out, quota_full, closed." in problems
    assert any("The question 'first_visit' has no wording in 'es'." in problem for problem in problems)
    with pytest.raises(ParallaxError, match="in 'es' lack"):
        launch_study(study=study)
    study.texts["es"] = {**study.texts["en"], "title": "{Items} para ti", "debriefing": "Gracias."}
    study.questionnaire = _in_spanish(study.questionnaire)
    study.save(update_fields=["texts", "questionnaire"])
    assert "es" not in languages_in_translation(study)
    launch_study(study=study)
    page = Client().get(f"/s/{study.slug}/?lang=es").content.decode()
    assert '<html lang="es"' in page
    assert "Películas para ti" in page
    assert "Quiero participar" in page
    assert "cinco películas" in page


@pytest.mark.usefixtures("spanish")
def test_every_text_that_the_launch_asks_for_can_be_written_in_the_design(client: Client) -> None:
    study = make_study(status="draft")
    client.force_login(study.memberships.get().researcher)
    texts = {text_key(name, "es"): "Gracias." for name in REQUIRED_TEXTS}
    _saved(client, study, languages=["en", "es"], **texts)
    study.refresh_from_db()
    assert study.texts["es"]["screened_out"] == study.texts["es"]["quota_full"] == "Gracias."
    assert not any("The texts in 'es'" in problem for problem in launch_problems(study))


@pytest.mark.usefixtures("spanish")
def test_what_prevents_the_launch_is_listed_once_with_the_page_that_mends_it(client: Client) -> None:
    study = make_study(status="draft")
    client.force_login(study.memberships.get().researcher)
    _saved(client, study, languages=["en", "es"], title_es="Para ti")
    page = client.get(reverse("studies:launch", args=[study.slug])).content.decode()
    assert page.count("The texts in &#x27;es&#x27; lack") == 1
    problems = page[page.index('id="needed"') : page.index("Frozen at launch")]
    for name in ("texts", "questionnaire"):
        assert reverse(f"studies:{name}", args=[study.slug]) in problems


@pytest.mark.usefixtures("spanish")
def test_a_draft_in_translation_is_previewed_with_the_words_there_are(client: Client) -> None:
    study = make_study(status="draft")
    client.force_login(study.memberships.get().researcher)
    _saved(client, study, languages=["en", "es"], title_es="Para ti")
    link = client.get(reverse("studies:preview", args=[study.slug])).url  # type: ignore[attr-defined]
    page = client.get(f"{link}&lang=es", follow=True).content.decode()
    assert "Para ti" in page
    assert "We are studying what people think" in page
    assert "Quiero participar" in page
