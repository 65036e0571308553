"""The words of item types outside participants' pages: reports, codebooks, the preregistration and the console."""

from __future__ import annotations

import re
from html import unescape

import pytest

from analysis.files.listing import Outputs
from analysis.models import Report
from analysis.present import covariates
from analysis.present.lists_shown import liking_table
from analysis.results.codec import decode, encode
from analysis.results.covariates import ItemView
from analysis.results.perceived import Liking
from analysis.results.report import ItemWords, StudyFacts
from analysis.services import build_report
from catalog.item_types import DEFAULT, ITEM_TYPES, PLAIN
from inference.results import Undefined
from studies.data.codebook.variable import line
from studies.data.exports.tables import tables_of
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.models import Response, Study
from tests.analysis.conftest import ALGORITHMS
from tests.factories.analysis import page_without_pictures, planted_person
from tests.factories.console import POSTED, ROLES_OF, ask, console_url, owner_of
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.studies.test_item_words import TITLES, read, run_of, strange_nouns

pytestmark = pytest.mark.slow

FILES = {"export", "export-chosen", "export-file"}  # archives; their codebooks are read here
# Verbs that have other senses: of these only what is done with items counts.
ORDINARY = {"read", "used", "taken", "visited", "played"}
# Keys of columns, questions and files, and of the question `watched` where it stands alone: every type has the same.
KEYS = re.compile(
    r"\b\w+\.\w[\w.]*|\b\w*_\w*"
    r"|\b(?:Move|Copy|Delete|Drag|Edit|key:|key|question:|shown if) watched\b|\bwatched(?= · | up| down| heard | = |:)"
)
OTHER_SENSES = (
    "Text for your paper",
    "For example film, book or product",
    "For example watched, read or used",
    "For example watch",
    "For example watch it",
)


def strange_words(text: str, key: str) -> list[str]:
    """Nouns and participles of other item types in a text; "item" is what texts of every study may say."""
    text = " ".join(unescape(text).split())
    for phrase in OTHER_SENSES:
        text = text.replace(phrase, "")
    text = TITLES.sub("", KEYS.sub("", re.sub(r"\bGames\b(?=.{0,20}Howell)", "", text)))
    plain, own = ITEM_TYPES[PLAIN].words_in("en"), ITEM_TYPES[key].words_in("en")
    movies = () if key == DEFAULT else ("movie", "movies")
    nouns = [noun for noun in (*strange_nouns(key, "en"), *movies) if noun not in (plain.one, plain.many)]
    found = [noun for noun in nouns if re.search(rf"\b{noun}\b", text, re.IGNORECASE)]
    for verb in sorted({each.words_in("en").consumed for each in ITEM_TYPES.values()} - {own.consumed}):
        of_items = rf"\b(?:items|items not|had|had not|never|neither|share) {verb}\b|\b{verb} items\b|\bun{verb}\b"
        if re.search(of_items if verb in ORDINARY else rf"\b(?:un)?{verb}\b", text, re.IGNORECASE):
            found.append(verb)
    return found


def study_of(key: str) -> Study:
    """A launched study of an item type with planned covariates, and participants with every kind of answer."""
    study = make_study(slug="tastes", status="draft", run=run_of(key, make_run_at("succeeded", algorithms=ALGORITHMS)))
    change_design(
        study=study, settings={"plan": {"resamples": 1000, "covariates": ["age", "items_per_month"], "exclude": []}}
    )
    launch_study(study=study)
    study.refresh_from_db()
    for number in range(8):
        for place, label in enumerate(("TopPop", "CorNgr", "PureSVD4")):
            ratings = [1 + (number * (rank + 1) + place) % 5 for rank in range(5)]
            person = planted_person(
                study, label, ratings, 1 + (number + place) % 5, n_watched=1 + number % 5, n_heard=number % 2,
                first_item=(number * 7 + place) % 30,
            )  # fmt: skip
            for question, value in (("age", 20 + number), ("items_per_month", "3_to_5")):
                Response.objects.create(participant=person, question=question, rank=0, value=value)
    return study


def texts_of(report: Report) -> dict[str, str]:
    """The report as a page, the sentences for a paper and the tables as Markdown, without the addresses of files."""
    outputs = Outputs(report)
    texts = {file.name: file.make().decode() for file in outputs.files() if file.suffix in ("md", "txt", "csv")}
    charts = {figure.key: str(figure.spec) for figure in outputs.document.figures()}
    return {"report.html": read(f"<main>{page_without_pictures(report)}</main>"), **texts, **charts}


def pages_of(study: Study) -> dict[str, str]:
    """Every page of the console about a study that is there to be read."""
    client, pages = owner_of(study), {}
    for name in sorted(set(ROLES_OF) - {*POSTED, *FILES, "take-over"}):
        response = ask(client, name, study)
        kind = response.headers["Content-Type"]
        if response.status_code == 200 and kind.startswith("text/"):
            pages[name] = read(response.content.decode()) if "html" in kind else response.content.decode()
    rating = client.get(console_url("questionnaire", study), {"question": "rating"})
    pages["questionnaire rating"] = read(rating.content.decode())
    pages["launch"] = read(client.get(console_url("launch", study), follow=True).content.decode())
    return pages


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("key", ITEM_TYPES)
def test_no_report_codebook_or_page_speaks_of_other_items(key: str) -> None:
    study, own = study_of(key), ITEM_TYPES[key].words_in("en")
    report = build_report(study=study)
    texts = texts_of(report)
    codebooks = {
        kind: " ".join(map(str, (part for variable in table.variables for part in line(variable).values())))
        for kind, table in tables_of(study).items()
    }
    assert {"report.html", "apa.md", "apa.txt", "tables/liking.md", "tables/correlations.csv"} <= set(texts)
    assert f"the share never {own.consumed}, second-order" in texts["report.html"]
    assert f"Items not {own.consumed}" in texts["tables/liking.md"]
    assert f"share of items not {own.consumed}" in codebooks["wide"]
    assert ("trailer" in texts["report.html"]) == (ITEM_TYPES[key].has_trailers and study.design.offers_samples)
    draft = make_study(slug="drafted-tastes", status="draft", run=study.run)
    pages = {**pages_of(study), **{f"draft: {name}": page for name, page in pages_of(draft).items()}}
    assert {"detail", "draft: flow", "preregistration", "quality", "recruiting"} <= set(pages)
    assert f"neither {own.consumed} nor heard of" in pages["preregistration"]
    assert f"{own.many} per month" in pages["preregistration"]
    assert f"Wording where {own.consumed}, in English" in pages["draft: questionnaire rating"]
    everything = {**texts, **codebooks, **pages}
    assert {name: words for name, text in everything.items() if (words := strange_words(text, key))} == {}


@pytest.mark.unit
def test_strange_words_would_be_found() -> None:
    assert strange_words("Items watched; the share never read; a song", "recipe") == ["song", "read", "watched"]
    assert strange_words("item.watched is not used, and shown if watched is no; items cooked", "recipe") == []
    assert strange_words("unwatched items", "book") == ["watched"]


@pytest.mark.unit
def test_a_report_without_stored_words_is_about_films() -> None:
    plain = {"slug": "s", "title": "S", "list_length": 5, "ratings_asked": 5}
    facts = decode(StudyFacts, plain)
    assert (facts.words.consumed, facts.words.consumed_items, facts.words.other_items, facts.words.has_trailers) == (
        "watched", "watched items", "unwatched items", True,
    )  # fmt: skip
    assert encode(StudyFacts, facts) == plain
    assert ItemWords.of("watched", has_trailers=True) == ItemWords()


@pytest.mark.unit
def test_stored_words_are_those_of_sentences() -> None:
    words = ItemWords.of("listened to", has_trailers=False)
    facts = StudyFacts(slug="s", title="S", list_length=5, ratings_asked=5, words=words)
    stored = encode(StudyFacts, facts)
    assert decode(StudyFacts, stored) == facts
    assert stored["words"]["other_items"] == "items not listened to"
    liking = [Liking(condition="A", n_watched=1, n_not_watched=3, share_watched=0.25, liking=4.0, interest=3.0)]
    columns = [column.name for column in liking_table(liking, words).columns]
    assert columns == [
        "Algorithm", "Listened to", "Items listened to", "Liking, M", "Items not listened to", "Interest, M",
    ]  # fmt: skip
    missing = Undefined("No ratings.")
    view = ItemView(model=missing, watched=missing, known=missing)
    assert [sentence.partition(" are rated")[0] for sentence in covariates.items(view, words, 0.05)[1:]] == [
        "Whether items listened to",
        "Whether items listened to or heard of",
    ]
