"""The item types: what the items of a dataset are called, what people do with them, and what pages show of them.

Words of further languages are added here; until then pages use the catalogue's translations of the English ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catalog.item_words import Words
from core.errors import ParameterError

POSTER, SQUARE, WIDE, NO_PICTURE = "poster", "square", "wide", "none"
PICTURES = (POSTER, SQUARE, WIDE, NO_PICTURE)  # the shape: 2:3, 1:1, 16:9, or no picture
TRAILER, CLIP, EXCERPT, SAMPLE = "trailer", "clip", "excerpt", "sample"  # what a sample of an item is called
FALLBACK_LANGUAGE = "en"
PEOPLE = ("author", "artist", "director", "cast")  # kinds of features that name who made an item or is in it


@dataclass(frozen=True, slots=True)
class ItemType:
    """An item type. `card` and `details` name attributes of items: the year, or kinds of features."""

    key: str
    title: str  # in the console
    words: Mapping[str, Words]  # by language
    card: tuple[tuple[str, ...], ...]  # its lines; of each, the first value is on the card
    details: tuple[str, ...]
    picture: str = POSTER
    sample: str = SAMPLE

    @property
    def has_trailers(self) -> bool:
        """Whether it is film-like: its samples are trailers."""
        return self.sample == TRAILER

    def words_in(self, language: str) -> Words:
        """Its words in a language, or the English ones."""
        return self.words.get(language) or self.words[FALLBACK_LANGUAGE]


_TYPES = (
    ItemType(
        "film",
        "Film",
        {
            "en": Words("film", "films", "watched", "watch", "watch it", "watch"),
            "it": Words("film", "film", "visto", "guardare", "vederlo", "guardi", "m"),
            "de": Words("Film", "Filme", "gesehen", "ansehen", "ihn sehen", "sehen Sie", "m"),
        },
        card=(("year", "genre"), ("director",)),
        details=("genre", "director", "cast", "country", "tag"),
        sample=TRAILER,
    ),
    ItemType(
        "book",
        "Book",
        {
            "en": Words("book", "books", "read", "read", "read it", "read"),
            "it": Words("libro", "libri", "letto", "leggere", "leggerlo", "leggi", "m"),
            "de": Words("Buch", "Bücher", "gelesen", "lesen", "es lesen", "lesen Sie", "n"),
        },
        card=(("author",), ("year", "genre")),
        details=("author", "genre", "publisher", "language", "tag"),
        sample=EXCERPT,
    ),
    ItemType(
        "song",
        "Song",
        {
            "en": Words("song", "songs", "listened to", "listen to", "listen to it", "listen to"),
            "it": Words("canzone", "canzoni", "ascoltato", "ascoltare", "ascoltarla", "ascolti", "f"),
            "de": Words("Song", "Songs", "gehört", "anhören", "ihn hören", "hören Sie", "m"),
        },
        card=(("artist",), ("year", "genre")),
        details=("artist", "album", "genre", "language", "tag"),
        picture=SQUARE,
        sample=CLIP,
    ),
    ItemType(
        "product",
        "Product",
        {
            "en": Words("product", "products", "used", "use", "use it", "use"),
            "it": Words("prodotto", "prodotti", "usato", "usare", "usarlo", "usi", "m"),
            "de": Words("Produkt", "Produkte", "benutzt", "benutzen", "es benutzen", "benutzen Sie", "n"),
        },
        card=(("brand", "category"),),
        details=("brand", "category", "subclass", "country", "tag"),
        picture=SQUARE,
    ),
    ItemType(
        "paper",
        "Paper",
        {
            "en": Words("paper", "papers", "read", "read", "read it", "read"),
            "it": Words("articolo scientifico", "articoli scientifici", "letto", "leggere", "leggerlo", "leggi", "m"),
            "de": Words("Fachartikel", "Fachartikel", "gelesen", "lesen", "ihn lesen", "lesen Sie", "m"),
        },
        card=(("author",), ("year", "venue")),
        details=("author", "venue", "topic", "tag"),
        sample=EXCERPT,
        picture=NO_PICTURE,
    ),
    ItemType(
        "news",
        "News article",
        {
            "en": Words("news article", "news articles", "read", "read", "read it", "read"),
            "it": Words("notizia", "notizie", "letto", "leggere", "leggerla", "leggi", "f"),
            "de": Words("Nachrichtenartikel", "Nachrichtenartikel", "gelesen", "lesen", "ihn lesen", "lesen Sie", "m"),
        },
        card=(("section", "publisher"),),
        details=("author", "section", "publisher", "tag"),
        picture=WIDE,
        sample=EXCERPT,
    ),
    ItemType(
        "course",
        "Course",
        {
            "en": Words("course", "courses", "taken", "take", "take it", "take"),
            "it": Words("corso", "corsi", "seguito", "seguire", "seguirlo", "segui", "m"),
            "de": Words("Kurs", "Kurse", "besucht", "besuchen", "ihn besuchen", "besuchen Sie", "m"),
        },
        card=(("provider", "topic"),),
        details=("provider", "author", "topic", "language", "tag"),
        picture=WIDE,
    ),
    ItemType(
        "recipe",
        "Recipe",
        {
            "en": Words("recipe", "recipes", "cooked", "cook", "cook it", "cook"),
            "it": Words("ricetta", "ricette", "preparato", "preparare", "prepararla", "prepari", "f"),
            "de": Words("Rezept", "Rezepte", "nachgekocht", "nachkochen", "es nachkochen", "kochen Sie", "n"),
        },
        card=(("cuisine", "category"),),
        details=("cuisine", "category", "ingredient", "tag"),
        picture=SQUARE,
    ),
    ItemType(
        "show",
        "Show or series",
        {
            "en": Words("show", "shows", "watched", "watch", "watch it", "watch"),
            "it": Words("serie", "serie", "visto", "guardare", "guardarla", "guardi", "f"),
            "de": Words("Serie", "Serien", "gesehen", "ansehen", "sie sehen", "sehen Sie", "f"),
        },
        card=(("year", "genre"),),
        details=("genre", "director", "cast", "country", "tag"),
        sample=TRAILER,
    ),
    ItemType(
        "artist",
        "Artist or band",
        {
            "en": Words("artist", "artists", "listened to", "listen to", "listen to them", "listen to"),
            "it": Words("artista", "artisti", "ascoltato", "ascoltare", "ascoltarlo", "ascolti", "m"),
            "de": Words("Künstler", "Künstler", "gehört", "anhören", "ihn hören", "hören Sie", "m"),
        },
        card=(("genre", "country"),),
        details=("genre", "country", "album", "tag"),
        picture=SQUARE,
        sample=CLIP,
    ),
    ItemType(
        "game",
        "Game",
        {
            "en": Words("game", "games", "played", "play", "play it", "play"),
            "it": Words("gioco", "giochi", "provato", "provare", "provarlo", "provi", "m"),
            "de": Words("Spiel", "Spiele", "gespielt", "spielen", "es spielen", "spielen Sie", "n"),
        },
        card=(("year", "genre"), ("publisher",)),
        details=("genre", "publisher", "author", "tag"),
        sample=TRAILER,
    ),
    ItemType(
        "place",
        "Place",
        {
            "en": Words("place", "places", "visited", "visit", "visit it", "visit"),
            "it": Words("luogo", "luoghi", "visitato", "visitare", "visitarlo", "visiti", "m"),
            "de": Words("Ort", "Orte", "besucht", "besuchen", "ihn besuchen", "besuchen Sie", "m"),
        },
        card=(("category", "city"),),
        details=("category", "city", "country", "tag"),
        picture=WIDE,
    ),
    ItemType(
        "item",
        "Plain item",
        {
            "en": Words("item", "items", "used", "use", "use it", "use"),
            "it": Words("elemento", "elementi", "usato", "usare", "usarlo", "usi", "m"),
            "de": Words("Element", "Elemente", "benutzt", "benutzen", "es benutzen", "benutzen Sie", "n"),
        },
        card=(("year", "category", "genre"),),
        details=("author", "category", "genre", "tag"),
        picture=SQUARE,
    ),
)
ITEM_TYPES: Mapping[str, ItemType] = {each.key: each for each in _TYPES}
DEFAULT, PLAIN = "film", "item"  # the default is what datasets were before they had an item type

# Names of columns that give an item type away, as letters and digits only.
_COLUMNS = {
    "film": ("movie", "director", "pelicula"),
    "book": ("isbn", "booktitle", "bookauthor", "author", "livre", "livro"),
    "song": ("track", "trackname", "artist", "chanson", "cancion"),
    "artist": ("artistid", "artistname"),
    "show": ("anime", "manga", "series"),
    "game": ("app", "juego", "jeu", "jogo"),
    "place": ("business", "poi", "venueid", "gmap", "restaurant"),
    "recipe": ("ingredient", "ingredients", "cuisine", "receta", "recette"),
    "course": ("coursetitle",),
    "paper": ("doi", "arxiv", "venue"),
    "news": ("news", "article", "headline"),
    "product": ("asin", "stockcode", "sku", "brand", "produit", "producto", "produto"),
}


def item_type(key: str) -> ItemType:
    """The item type with that key; ParameterError names the keys there are."""
    if key not in ITEM_TYPES:
        raise ParameterError(f"There is no item type {key!r}. The item types are {', '.join(ITEM_TYPES)}.")
    return ITEM_TYPES[key]


def guessed_item_type(columns: Iterable[str], *, is_usage: bool) -> str:
    """The key of the item type that the names of a source's columns suggest, the first ones before the others.

    A name may be a type's noun in any of its languages. Usage data without such a name are products; anything else is a
    plain item.

    Examples
    --------
    >>> guessed_item_type(["ISBN"], is_usage=False), guessed_item_type(["item"], is_usage=True)
    ('book', 'product')
    """
    for column in columns:
        name = "".join(filter(str.isalnum, column.lower()))
        for stem in (name, name.removesuffix("id")):  # the whole name first: artists have "artistid", songs "artist"
            for key, signs in _COLUMNS.items():
                nouns = {noun.lower() for words in ITEM_TYPES[key].words.values() for noun in (words.one, words.many)}
                if stem in {*signs, *nouns}:
                    return key
    return "product" if is_usage else PLAIN


def words_with_noun(noun: str, language: str) -> Words | None:
    """The words of the item type that has this noun in the language; None where none has it.

    Examples
    --------
    >>> words_with_noun("book", "en").consumed, words_with_noun("tome", "en")
    ('read', None)
    """
    for each in _TYPES:
        words = each.words.get(language)
        if words is not None and words.one.lower() == noun.lower():
            return words
    return None
