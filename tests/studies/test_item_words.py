"""The words of item types on participants' pages: each page of each item type, without the nouns of the others."""

from __future__ import annotations

import copy
import re
from itertools import cycle
from typing import Any

import pytest
from django.test import Client
from lxml import html

from catalog.item_types import ITEM_TYPES
from catalog.services import change_item_type
from core.errors import ParameterError
from core.provenance import digest_of
from evaluation.models import EvaluationRun
from studies.design.presets.loader import block_keys, check_design, load_block, load_preset
from studies.design.selectors.placeholders import filled, item_words, words_at_creation
from studies.design.services.launch import launch_study
from studies.design.services.questionnaires import import_questionnaire
from studies.enums import Mode, ParticipantStatus
from studies.instrument.questionnaires.document import write_document
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study
from studies.participation.selectors.responses import records
from studies.settings import StudySettings, read_settings
from tests.e2e import states as e2e_states
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study, make_usage_run
from tests.factories.walking import HTMX, Person, Viewer

pytestmark = pytest.mark.slow

LANGUAGES = ("en", "it", "de")
ORDINARY = ("place", "places", "show", "shows", "Ort", "Orte", "luogo", "luoghi")  # nouns that have other senses
TITLES = re.compile(r"Film \d\d")  # of the items in the factory's catalogue
# What a study of version 6 of the template asks and says about films, with its placeholders filled.
OF_FILMS = (
    "185c2f1b198b1bf5efbe5345769b744c7c6e53d351d770038c14d42c97ec757a",
    "43528222cfdaf3bdd62409340cdfccbf167d8c3fb4376394f3239e3db7a42651",
)
# Questions and texts that German participants read; the template has none, and a researcher writes them.
GERMAN = {
    "watched": "Haben Sie {diesen/diese/dieses} {item} {consumed}?",
    "items_per_month": "Wie viele {items} {you_consume} im Monat?",
    "neither": "{look_at_details} Würden Sie {consume_it} wollen?",
}


@pytest.mark.unit
def test_the_words_about_films_change_only_with_the_version() -> None:
    preset = load_preset("cremonesi-2011")
    for settings in (preset.settings, {**preset.settings, **words_at_creation(ITEM_TYPES["film"], {})}):
        design = read_settings(settings)
        read = (digest_of(filled(preset.questionnaire, design)), digest_of(filled(preset.texts, design)))
        assert read == OF_FILMS


@pytest.mark.unit
@pytest.mark.parametrize(
    ("key", "language", "question", "answered"),
    [
        ("film", "en", "Have you watched this film?", "how much would you like to watch it?"),
        ("book", "en", "Have you read this book?", "how much would you like to read it?"),
        ("song", "it", "Hai mai ascoltato questa canzone?", "quanto ti andrebbe di ascoltarla?"),
        ("news", "en", "Have you read this news article?", "how much would you like to read it?"),
        ("recipe", "it", "Hai mai preparato questa ricetta?", "quanto ti andrebbe di prepararla?"),
    ],
)
def test_questions_agree_with_the_item_type(key: str, language: str, question: str, answered: str) -> None:
    preset = load_preset("cremonesi-2011")
    design = read_settings({**preset.settings, **words_at_creation(ITEM_TYPES[key], {})})
    items = filled(preset.questionnaire, design)["items"]
    assert items[0]["text"][language] == question
    assert items[3]["wordings"]["trailer_seen"][language].endswith(answered)
    assert ("trailer" in items[3]["wordings"]["neither"][language]) == (key == "film")


@pytest.mark.unit
def test_own_words_come_first_and_lend_their_verb() -> None:
    own = StudySettings(item_noun={"en": {"one": "book", "many": "tomes"}, "it": {"one": "saggio"}})
    english, italian, german = (item_words(own, language) for language in LANGUAGES)
    assert (english.one, english.many, english.consumed) == ("book", "tomes", "read")
    assert (italian.one, italian.many, italian.consumed) == ("saggio", "film", "visto")
    assert german.one == "Film"
    kept = read_settings(words_at_creation(ITEM_TYPES["song"], {"en": {"one": "track", "many": "tracks"}}))
    assert item_words(kept, "en").one == "track"
    assert item_words(kept, "it").one == "canzone"


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("item_type", "tune"),
        ("item_noun", {"en": {"consumed": "{item}"}}),
        ("item_noun", {"it": {"one": "film", "gender": "x"}}),
    ],
)
def test_a_design_with_other_words_is_refused(name: str, value: Any) -> None:
    preset = load_preset("cremonesi-2011")
    with pytest.raises(ParameterError, match=r"item type|item noun"):
        check_design(settings={**preset.settings, name: value}, questionnaire=preset.questionnaire, texts=preset.texts)


def strange_nouns(key: str, language: str) -> list[str]:
    """The nouns of the other item types in a language, except those that this one's contain, that it has as facts, and
    that have other senses.
    """
    own = ITEM_TYPES[key].words_in(language)
    words = [each.words_in(language) for each in ITEM_TYPES.values()]
    nouns = {noun for each in words for noun in (each.one, each.many)} - {*ORDINARY, *ITEM_TYPES[key].details}
    return sorted(noun for noun in nouns if not re.search(rf"\b{noun}\b", f"{own.one} {own.many}", re.IGNORECASE))


def found_nouns(text: str, key: str, language: str) -> list[str]:
    text = " ".join(text.split())
    return [noun for noun in strange_nouns(key, language) if re.search(rf"\b{noun}\b", text, re.IGNORECASE)]


def read(page: str) -> str:
    """All that a person reads or hears of a page: its text, alternative texts, labels, placeholders and titles."""
    tree = html.fromstring(page)
    for unread in tree.xpath("//script | //style"):
        unread.drop_tree()
    spoken = tree.xpath(
        "//@alt | //@aria-label | //@placeholder | //@title | //@data-full | //@data-start | //meta/@content"
    )
    return TITLES.sub("", " ".join([tree.text_content(), *spoken]))


def run_of(key: str, run: EvaluationRun | None = None) -> EvaluationRun:
    """A run on a dataset of an item type, in which only films have trailers."""
    run = run or make_run_at("succeeded")
    change_item_type(dataset=run.version.dataset, item_type=key)
    if key != "film":
        run.version.items.update(trailer_url="")
    run.version.dataset.refresh_from_db()
    return run


def speaking_german(study: Study) -> None:
    """Offer a draft in three languages."""
    study.questionnaire = in_german(study.questionnaire)
    study.texts["de"] = {**study.texts["en"], "title": "{Items}, die Ihnen gefallen könnten"}
    study.settings["languages"] = list(LANGUAGES)
    study.save()


def study_of(key: str, run: EvaluationRun | None = None) -> Study:
    """A live study of an item type, with every shipped block of questions, in three languages."""
    study = make_study(slug="tastes", status="draft", run=run_of(key, run))
    asked = copy.deepcopy(study.questionnaire)
    for block in block_keys():
        for part, questions in load_block(block).questionnaire.items():
            if isinstance(questions, list):
                known = {each["key"] for each in asked.get(part, ())}
                asked.setdefault(part, []).extend(each for each in questions if each["key"] not in known)
    import_questionnaire(study=study, text=write_document(asked))
    study.refresh_from_db()
    speaking_german(study)
    launch_study(study=study)
    study.refresh_from_db()
    return study


def in_german(node: Any, key: str = "") -> Any:
    """The questions with German wordings, in English where this file has none."""
    if isinstance(node, list):
        return [in_german(part, key) for part in node]
    if not isinstance(node, dict):
        return node
    key = str(node.get("key", key))
    if "en" in node and "it" in node:
        return {**node, "de": GERMAN.get(key, node["en"])}
    return {name: in_german(part, name if name in GERMAN else key) for name, part in node.items()}


def pages_of(study: Study, language: str) -> dict[str, str]:
    """Every page that a participant meets, from consent to the end, and messages about what is missing."""
    person, entry = Person(study), f"/s/{study.slug}/?lang={language}"
    seen: dict[str, str] = {}
    for page in person.pages(entry):
        path = {"consent": "consent", "item": "items/1/1/"}.get(page.step, f"{page.step}/")
        if path in seen:
            continue  # of the items, the first
        seen[path] = person.site.response.text
        if page.step in {"about", "rate", "item"}:
            seen[f"{path} refused"] = person.post(path, {"continue": "1"}, follow=True).text
        if page.step == "rate":
            person.rate_five()
            seen[path] = person.get(path).text
            details = page.tree.xpath("//a[contains(@href, '/details/')]/@href")[0]
            seen["details"] = person.client.get(details).text
        if page.step == "item":
            seen["sheet"] = person.client.get(details, headers=HTMX).text
    seen["withdraw/"] = person.get("withdraw/").text
    seen["back"] = person.client.get(entry, follow=True).text
    seen["withdrawn"] = person.post("withdraw/", {"choice": "yes"}).content.decode()
    assert [name for name, page in seen.items() if "<main" not in page and name != "sheet"] == []
    assert person.me.status == ParticipantStatus.WITHDRAWN, person.me.status
    return seen


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("key", ITEM_TYPES)
def test_no_page_speaks_of_other_items(key: str) -> None:
    study = study_of(key)
    for language in LANGUAGES:
        own = ITEM_TYPES[key].words_in(language)
        seen = {name: read(page) for name, page in pages_of(study, language).items()}
        assert {name: nouns for name, text in seen.items() if (nouns := found_nouns(text, key, language))} == {}
        assert re.search(rf"\b{own.many}\b", seen["consent"], re.IGNORECASE)
        assert re.search(rf"\b{own.many}\b", seen["rate/"], re.IGNORECASE)
        assert f" {own.consumed} " in f" {seen['items/1/1/']} ".replace("?", " ")
        assert ("trailer" in seen["items/1/1/"].lower()) == (key == "film")
    texts = filled({"texts": study.texts, "questions": study.questionnaire}, study.design)
    for language in LANGUAGES:
        assert found_nouns(" ".join(words_in(texts, language)), key, language) == []


CHOOSING = {  # the heading of the page, and the button under the first item
    ("film", "en"): ("Choose five films you have watched", "I’ve watched it"),
    ("film", "it"): ("Scegli cinque film che hai visto", "Ho visto"),
    ("film", "de"): ("Wählen Sie fünf Filme, die Sie gesehen haben", "Habe ich gesehen"),
    ("book", "en"): ("Choose five books you have read", "I’ve read it"),
    ("book", "de"): ("Wählen Sie fünf Bücher, die Sie gelesen haben", "Habe ich gelesen"),
    ("song", "it"): ("Scegli cinque canzoni che hai ascoltato", "Ho ascoltato"),
    ("product", "en"): ("Choose five products you have used", "I’ve used it"),
}
OF_RATINGS = {
    "en": re.compile(r"\b(you rate|your ratings?|rated?|stars?)\b", re.IGNORECASE),
    "it": re.compile(r"valut|\bstell[ae]\b", re.IGNORECASE),
    "de": re.compile(r"bewert|\bSterne?\b", re.IGNORECASE),
}


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("key", ITEM_TYPES)
def test_where_items_are_chosen_no_page_speaks_of_other_items_or_of_ratings(key: str) -> None:
    study = study_of(key, make_usage_run())
    for language in LANGUAGES:
        own = ITEM_TYPES[key].words_in(language)
        pages = pages_of(study, language)
        seen = {name: " ".join(read(page).split()) for name, page in pages.items()}
        assert {name: nouns for name, text in seen.items() if (nouns := found_nouns(text, key, language))} == {}
        asked = html.fromstring(pages["rate/"])
        heading = asked.findtext(".//h1")
        label = asked.xpath("string(//button[@aria-pressed]/span/text())").strip()
        assert own.many in heading
        assert own.consumed in heading
        assert own.consumed.casefold() in label.casefold()
        assert (heading, label) == CHOOSING.get((key, language), (heading, label))
        told = ("consent", "rate/", "rate/ refused", "recommendations/", "withdraw/", "withdrawn")
        assert {name: found for name in told if (found := OF_RATINGS[language].findall(seen[name]))} == {}


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(("key", "language"), list(zip(ITEM_TYPES, cycle(LANGUAGES), strict=False)))
def test_no_state_of_a_study_speaks_of_other_items(key: str, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each type in one language: a noun that stands in a template is strange to all types of its language but one."""

    def made(**given: Any) -> Study:
        study = make_study(**{**given, "status": "draft"})
        speaking_german(study)
        launch_study(study=study)
        study.refresh_from_db()
        return study

    monkeypatch.setattr(e2e_states, "make_study", made)
    monkeypatch.setattr(e2e_states, "make_run_at", lambda status: run_of(key))
    monkeypatch.setattr(e2e_states, "make_usage_run", lambda: run_of(key, run=make_usage_run()))
    found = {}
    for name, state in e2e_states.states(language).items():
        page = Client(headers={"accept-language": language}).get(state.path, follow=True).content.decode()
        assert "<main" in page, name
        if nouns := found_nouns(read(page), key, language):
            found[name] = nouns
    assert found == {}


def words_in(node: Any, language: str) -> list[str]:
    """Everything written in a language in texts and questions, on whichever page it is."""
    if isinstance(node, dict):
        own = [str(node[language])] if language in node else []
        return own + [text for name, part in node.items() if name != language for text in words_in(part, language)]
    return [text for part in node for text in words_in(part, language)] if isinstance(node, list) else []


@pytest.mark.unit
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_foreign_noun_would_be_found(language: str) -> None:
    film = ITEM_TYPES["film"].words_in(language)
    assert found_nouns(f"<p>{film.one.upper()}, …", "book", language) != []
    assert found_nouns(f"{film.many}buff x{film.one}", "book", language) == []
    page = f'<html><body><img alt="{film.one}"><script>Buch</script></body></html>'
    assert found_nouns(read(page), "book", language) != []
    assert found_nouns(read(page), "film", language) == []
    assert len(strange_nouns("book", language)) >= 13


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(("key", "refusal"), [("film", "Ne hai valutati 1 su 5."), ("song", "Ne hai valutate 1 su 5.")])
def test_italian_pages_agree_with_the_noun(key: str, refusal: str) -> None:
    study = make_study(run=run_of(key))
    person = Person(study).to("rate", f"/s/{study.slug}/?lang=it")
    first = person.study.dataset_version.items.order_by("index")[0]
    person.post(f"rate/{first.pk}/", {"rating": "4"})
    assert refusal in " ".join(read(person.post("rate/", {}, follow=True).content.decode()).split())


@pytest.mark.integration
@pytest.mark.django_db
def test_a_study_without_trailers_is_measured_and_keeps_its_words() -> None:
    run = run_of("book")
    study = make_study(run=run)
    assert [q.key for q in questionnaire_from(study.questionnaire).items] == ["watched", "heard", "rating"]
    assert study.template_version == 8
    design = (study.design_hash, copy.deepcopy(study.settings))
    change_item_type(dataset=run.version.dataset, item_type="song")
    study.refresh_from_db()
    assert (study.design_hash, study.settings) == design
    assert item_words(study.design, "en").one == "book"
    Person(study, viewer=Viewer(watched=False, heard=True, rating=4)).to("thanks")
    (record,) = records(study, [Mode.LIVE])
    assert record.measures is not None
    assert (record.measures.fon, record.measures.son, record.measures.interest) == (1, 0, 4)
    assert {item.measures.branch for item in record.items if item.measures} == {"neither"}
