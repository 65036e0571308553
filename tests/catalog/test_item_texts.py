"""Titles and plots of items in several languages: imported, added, hashed, found, counted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from catalog import services
from catalog.importers.base import ParsedItem
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.datasets import newest_version
from catalog.selectors.items import ShownText, plot_in, title_in, untranslated
from catalog.selectors.parsed_items import parsed_items
from catalog.selectors.search import search_items
from catalog.services import add_metadata
from catalog.services.versions import _item_facts
from core.errors import ParallaxError
from core.models import LogEntry
from core.provenance import digest_of
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_items, make_version
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

TEXTS = "item,title_it,Description-IT,title_de\n1,Il primo film,Una storia.,\n2,Il secondo film,,Zweiter Film\n"
ITALIAN_FIRST = {"it": {"title": "Il primo film", "plot": "Una storia."}}


def written(folder: Path, text: str, name: str = "texts.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def with_texts(folder: Path, text: str = TEXTS) -> DatasetVersion:
    return add_metadata(version=make_version(), path=written(folder, text))


def test_columns_with_a_language_become_texts_of_a_new_version(tmp_path: Path) -> None:
    version = with_texts(tmp_path)
    first, second, third = version.items.order_by("index")[:3]
    assert (first.title, first.texts) == ("Film 01", ITALIAN_FIRST)
    assert second.texts == {"it": {"title": "Il secondo film"}, "de": {"title": "Zweiter Film"}}
    assert third.texts == {}
    assert version.report["metadata"][0]["facts_added"] == {"title_it": 2, "plot_it": 1, "title_de": 1}
    again = add_metadata(version=version, path=written(tmp_path, "item,plot_it\n2,Un'altra.\n"))
    assert again.items.get(index=1).texts["it"] == {"title": "Il secondo film", "plot": "Un'altra."}
    assert again.items.get(index=0).texts == ITALIAN_FIRST
    with pytest.raises(ParallaxError) as caught:
        add_metadata(version=again, path=written(tmp_path, TEXTS))
    assert caught.value.code == "metadata.nothing_new"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("facts.csv", "item,kind,value\n1,title_it,Il primo film\n1,plot_it,Una storia.\n"),
        ("facts.jsonl", '{"item": "1", "title_it": "Il primo film", "overview_it": "Una storia."}\n'),
    ],
)
def test_facts_and_json_lines_have_the_same_names(tmp_path: Path, name: str, text: str) -> None:
    version = add_metadata(version=make_version(), path=written(tmp_path, text, name))
    assert version.items.get(index=0).texts == ITALIAN_FIRST


def test_columns_of_other_languages_are_ignored_with_a_warning(tmp_path: Path) -> None:
    version = with_texts(tmp_path, "item,title_it,title_fr\n1,Il primo film,Le premier film\n")
    assert version.items.get(index=0).texts == {"it": {"title": "Il primo film"}}
    assert_sentences_approved("warnings/languages", {"French": version.report["metadata"][0]["read"]["warnings"]})


def test_facts_and_named_columns_of_other_languages_are_refused(tmp_path: Path) -> None:
    version = make_version()
    files = {
        "a French fact": "item,kind,value\n1,title_fr,Le premier film\n",
        "long": f"item,title_it\n1,{'x' * 301}\n",
    }
    cases = {
        name: partial(add_metadata, version=version, path=written(tmp_path, text, f"{name}.csv"))
        for name, text in files.items()
    }
    assert_refused_as_approved("languages", cases)
    assert DatasetVersion.objects.count() == 1


def test_without_localised_texts_an_item_has_the_hash_it_had() -> None:
    item = ParsedItem("1", "Seven", 1995, "A plot.", (("genre", "Crime"),), links=(("imdb", "0114369"),))
    assert digest_of(_item_facts(item)) == digest_of(
        ["1", "Seven", 1995, "A plot.", [["genre", "Crime"]], "", "", [["imdb", "0114369"]]]
    )
    assert digest_of(_item_facts(replace(item, texts=ITALIAN_FIRST))) != digest_of(_item_facts(item))


def test_texts_are_content_and_read_back_from_rows(tmp_path: Path) -> None:
    version = with_texts(tmp_path)
    base = version.dataset.versions.get(number=1)
    assert version.content_hash != base.content_hash
    first, second, *others = make_items(40)
    items = (
        replace(first, texts=ITALIAN_FIRST),
        replace(second, texts={"de": {"title": "Zweiter Film"}, "it": {"title": "Il secondo film"}}),
        *others,
    )
    assert parsed_items(version) == list(items)
    assert make_version(name="elsewhere", items=items).content_hash == version.content_hash


def test_a_file_of_items_may_have_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = written(tmp_path, "user,item,rating\na,1,4\nb,2,5\n", "ratings.csv")
    items = written(
        tmp_path, "item,title,title_it,description_it,title_fr\n1,One,Uno,Una storia.,Un\n2,Two,,,\n", "items.csv"
    )
    given = [str(ratings), "--name", "books", "--items-file", str(items)]
    call_command("import_dataset", *given, "--item-language", "en")
    version = newest_version("books")
    assert list(version.items.values_list("texts", flat=True)) == [{"it": {"title": "Uno", "plot": "Una storia."}}, {}]
    assert version.dataset.item_language == "en"
    output = capsys.readouterr().out
    assert "title_fr" in output
    assert "item language" in output
    call_command("import_dataset", *given)
    assert Dataset.objects.get().item_language == "en"  # kept


def test_search_finds_an_item_by_all_its_titles(tmp_path: Path) -> None:
    version = with_texts(tmp_path)
    for query in ("Film 02", "il secondo film", "Zweiter"):
        assert search_items(version, query).items[0].index == 1
    assert search_items(version, "secondo").total == 1
    assert search_items(version.dataset.versions.get(number=1), "secondo").total == 0


def test_a_page_shows_its_own_language_or_marks_the_default(tmp_path: Path) -> None:
    item = with_texts(tmp_path).items.get(index=1)
    assert title_in(item, "it", "en") == ShownText("Il secondo film")
    assert title_in(item, "en", "en") == title_in(item, "en", "") == ShownText("Film 02")
    assert plot_in(item, "it", "en") == ShownText(item.plot, "en")
    assert plot_in(item, "it", "en").attribute == ' lang="en"'
    assert plot_in(item, "it", "").attribute == ""
    assert ShownText("A & B", "en").marked == '<span lang="en">A &amp; B</span>'


def test_items_without_texts_are_counted_where_texts_are_expected(tmp_path: Path) -> None:
    base = make_version()
    assert untranslated(base, "it") == {}
    version = with_texts(tmp_path)
    assert untranslated(version, "en") == {}  # the language of the default texts is unknown
    assert untranslated(version, "it") == {"title": 38, "plot": 39}
    assert untranslated(version, "de") == {"title": 39, "plot": 40}
    services.change_item_language(dataset=version.dataset, language="it")
    version.dataset.refresh_from_db()
    assert untranslated(version, "it") == {}
    assert untranslated(version, "en") == {"title": 40, "plot": 40}


def test_the_dataset_page_shows_and_changes_the_language_of_items(tmp_path: Path) -> None:
    owner = UserFactory()
    version = make_version()
    version.dataset.owner = owner
    version.dataset.save()
    address = f"{version.get_absolute_url()}item-language/"
    client = Client()
    client.force_login(UserFactory())
    assert "Change language" not in client.get(version.get_absolute_url()).text
    assert client.post(address, {"language": "it"}).status_code == 403
    client.force_login(owner)
    assert "<strong>unknown</strong>" in client.get(version.get_absolute_url()).text
    assert "xx is not" in client.post(address, {"language": "xx"}, follow=True).text
    page = client.post(address, {"language": "it"}, follow=True).text
    assert "<strong>Italian</strong>" in page
    services.change_item_language(dataset=version.dataset, language="it", actor=owner)
    entry = LogEntry.objects.get(reason="Item language changed.")
    assert (entry.actor, entry.facts) == (owner, {"from": "", "to": "it"})
    with pytest.raises(ParallaxError) as caught:
        services.change_item_language(dataset=version.dataset, language="xx")
    assert caught.value.code == "dataset.unknown_language"
    call_command("add_metadata", "small", str(written(tmp_path, TEXTS)), "--item-language", "de")
    assert Dataset.objects.get().item_language == "de"
