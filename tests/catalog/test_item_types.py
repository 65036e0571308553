"""Item types: their words, what an import suggests, and how a dataset gets another."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from catalog import services
from catalog.importers.auto import FORMATS
from catalog.item_types import DEFAULT, ITEM_TYPES, PICTURES, guessed_item_type, words_with_noun
from catalog.item_words import FORMS, GENDERS, Words, agreeing, forms_of
from catalog.models import Dataset
from core.errors import ParallaxError
from core.models import LogEntry
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version

RATINGS = "user,{item},rating\nann,x,1\nann,y,5\nbob,x,3\nbob,y,2\n"


def test_every_item_type_has_every_form_in_every_offered_language() -> None:
    for each in ITEM_TYPES.values():
        assert set(each.words) == {code for code, _name in settings.LANGUAGES}
        assert each.picture in PICTURES
        assert each.card
        assert each.details
        for language, words in each.words.items():
            wanted = set(FORMS) - ({"gender"} if language == "en" else set())
            assert set(words.as_setting()) == wanted, (each.key, language)
            assert words.gender in ("", *GENDERS)
    assert [each.key for each in ITEM_TYPES.values() if each.has_trailers] == [DEFAULT, "show", "game"]


@pytest.mark.parametrize(
    ("language", "words", "an_item", "the_items"),
    [
        ("en", Words("album", "albums"), "an album", "the albums"),
        ("en", Words("film", "films"), "a film", "the films"),
        ("it", Words("film", "film", gender="m"), "un film", "i film"),
        ("it", Words("articolo", "articoli", gender="m"), "un articolo", "gli articoli"),
        ("it", Words("spettacolo", "spettacoli", gender="m"), "uno spettacolo", "gli spettacoli"),
        ("it", Words("ricetta", "ricette", gender="f"), "una ricetta", "le ricette"),
        ("it", Words("opera", "opere", gender="f"), "un’opera", "le opere"),
        ("de", Words("Buch", "Bücher", gender="n"), "ein Buch", "die Bücher"),
        ("de", Words("Film", "Filme", gender="m"), "einen Film", "die Filme"),
    ],
)
def test_nouns_have_their_articles(language: str, words: Words, an_item: str, the_items: str) -> None:
    forms = forms_of(words, language)
    assert (forms["an_item"], forms["the_items"]) == (an_item, the_items)


def test_endings_agree_and_own_words_come_first() -> None:
    assert [agreeing("der/die/das", gender) for gender in ("m", "f", "n", "")] == ["der", "die", "das", "der"]
    assert agreeing("o/a", "n") == "o"
    book = ITEM_TYPES["book"].words_in("en")
    assert book.with_own({"one": "tome", "many": ""}) == Words("tome", "books", "read", "read", "read it", "read")
    assert ITEM_TYPES["book"].words_in("fr") == book
    assert words_with_noun("Libro", "it") == ITEM_TYPES["book"].words_in("it")
    assert words_with_noun("libro", "fr") is None


@pytest.mark.parametrize(
    ("source_format", "columns", "is_usage", "key"),
    [
        ("movielens-1m", [], False, "film"),
        ("netflix", [], False, "film"),
        ("anime", [], False, "show"),
        ("lastfm-360k", [], True, "artist"),
        ("steam-200k", [], True, "game"),
        ("bookcrossing", [], False, "book"),
        ("tafeng", [], True, "product"),
        ("fimi", [], True, "product"),
        ("delimited", ["movieId"], False, "film"),
        ("delimited", ["Book-ID"], False, "book"),
        ("delimited", ["track_id"], True, "song"),
        ("parquet", ["StockCode"], True, "product"),
        ("delimited", ["recipe_id"], False, "recipe"),
        ("jsonlines", ["item", "ingredients"], False, "recipe"),
        ("delimited", ["newsid"], True, "news"),
        ("delimited", ["Buch"], False, "book"),
        ("delimited", ["artist_id"], True, "artist"),
        ("delimited", ["item", "title", "author"], False, "book"),
        ("delimited", ["paper_id", "author"], False, "paper"),
        ("delimited", ["course_id"], False, "course"),
        ("delimited", ["arxiv_id"], True, "paper"),
        ("delimited", ["item"], True, "product"),
        ("delimited", ["item"], False, "item"),
        ("factory", [], False, "item"),
    ],
)
def test_a_source_suggests_an_item_type(source_format: str, columns: list[str], is_usage: bool, key: str) -> None:
    named = FORMATS[source_format].proposal.item_type if source_format in FORMATS else ""
    assert (named or guessed_item_type(columns, is_usage=is_usage)) == key


def table(folder: Path, item: str, ratings: str = RATINGS) -> Path:
    file = folder / f"{item}.csv"
    file.write_text(ratings.format(item=item))
    return file


@pytest.mark.integration
@pytest.mark.django_db
def test_an_import_suggests_the_item_type_and_a_dataset_keeps_its_own(tmp_path: Path) -> None:
    first = services.import_dataset(path=table(tmp_path, "isbn"), name="novels")
    assert first.dataset.item_type == "book"
    assert "item_column" not in first.report
    more = RATINGS + "cid,y,4\n"
    services.import_dataset(path=table(tmp_path, "movieid", more), name="novels")
    assert Dataset.objects.get().item_type == "book"
    services.import_dataset(path=table(tmp_path, "item"), name="things")
    assert Dataset.objects.get(name="things").item_type == "item"
    assert make_version().dataset.item_type == DEFAULT


@pytest.mark.integration
@pytest.mark.django_db
def test_the_command_takes_an_item_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = table(tmp_path, "item")
    call_command("import_dataset", str(file), "--name", "tunes", "--item-type", "song")
    assert Dataset.objects.get().item_type == "song"
    assert "item type" in capsys.readouterr().out
    call_command("import_dataset", str(file), "--name", "tunes", "--item-type", "recipe")
    assert Dataset.objects.get().item_type == "recipe"


@pytest.mark.integration
@pytest.mark.django_db
def test_the_dataset_page_shows_and_changes_the_item_type() -> None:
    owner, other = UserFactory(), UserFactory()
    version = make_version()
    version.dataset.owner = owner
    version.dataset.save()
    address = f"{version.get_absolute_url()}item-type/"
    client = Client()
    client.force_login(other)
    page = client.get(version.get_absolute_url()).content.decode()
    assert "Change item type" not in page
    assert client.post(address, {"item_type": "book"}).status_code == 403
    client.force_login(owner)
    assert "Change item type" in client.get(version.get_absolute_url()).content.decode()
    assert client.get(address).status_code == 405
    refused = client.post(address, {"item_type": "tune"}, follow=True).content.decode()
    assert "tune is not" in refused
    client.post(address, {"item_type": "book"}, follow=True)
    version.dataset.refresh_from_db()
    assert version.dataset.item_type == "book"
    again = services.change_item_type(dataset=version.dataset, item_type="book", actor=owner)
    assert again.item_type == "book"
    entry = LogEntry.objects.get(kind="catalog.dataset")
    assert (entry.actor, entry.facts) == (owner, {"from": "film", "to": "book"})
    with pytest.raises(ParallaxError) as caught:
        services.change_item_type(dataset=version.dataset, item_type="tune")
    assert caught.value.code == "dataset.unknown_item_type"
