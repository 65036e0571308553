from __future__ import annotations

import pytest

from catalog.selectors.text_folding import fold, without_article, words

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("AMÉLIE", "amelie"),
        ("WALL·E", "wall e"),
        ("Schindler's List", "schindlers list"),
        ("Schindler’s List", "schindlers list"),
        ("Straße & Øst, Łódź", "strasse and ost lodz"),
        ("Fu\N{LATIN SMALL LIGATURE FI}lm", "fufilm"),
        ("Ame\N{COMBINING ACUTE ACCENT}lie", "amelie"),
        ("千と千尋の神隠し", "千と千尋の神隠し"),
        (" … ", ""),
    ],
)
def test_fold_leaves_words(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(fold(text)) == folded


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("The Matrix", "matrix"),
        ("Matrix, The", "matrix"),
        ("Lord of the Rings: The Two Towers, The", "lord of the rings the two towers"),
        ("Avventura, L'", "avventura"),
        ("L’avventura", "avventura"),
        ("Il buono, il brutto, il cattivo", "buono il brutto il cattivo"),
        ("Der Untergang", "untergang"),
        ("Welle, Die", "welle"),
        ("Die Hard", "die hard"),
        ("As Good as It Gets", "as good as it gets"),
        ("O Brother, Where Art Thou?", "o brother where art thou"),
        ("I, Robot", "i robot"),
        ("Sex, Lies, and Videotape", "sex lies and videotape"),
        ("The The", "the"),
        ("A", "a"),
    ],
)
def test_an_article_goes_from_either_end_of_a_title(title: str, bare: str) -> None:
    assert without_article(title) == bare


def test_words_of_nothing() -> None:
    assert words("?!") == []
