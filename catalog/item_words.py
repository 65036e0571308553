"""What items are called and what people do with them, in one language, and the grammar that texts need for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

MASCULINE, FEMININE, NEUTER = "m", "f", "n"
GENDERS = (MASCULINE, FEMININE, NEUTER)
# Italian words before which "il" is "lo" and "i" is "gli": s with a consonant, z, gn, ps, pn, x, y, i with a vowel.
_IMPURE = re.compile(r"(?:s[^aeiouàèéìòù]|z|gn|ps|pn|x|y|i[aeou])", re.IGNORECASE)
# Two or three endings: {o/a}, {diesen/diese/dieses}, {un altro/un’altra}.
_LETTERS = r"[^\W\d_](?:[^\W\d_]|[ ’'])*"
ENDINGS = rf"{_LETTERS}(?:/{_LETTERS}){{1,2}}"
_IN_BRACES = re.compile(rf"\{{({ENDINGS})\}}")
_VOWEL = re.compile(r"[aeiouàèéìòùh]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """The noun and the verb of an item type in one language; empty forms are unknown."""

    one: str  # film
    many: str  # films
    consumed: str = ""  # past participle, with its preposition: watched, listened to
    consume: str = ""  # infinitive: watch; Italian guardare; German ansehen
    consume_it: str = ""  # infinitive with a pronoun: watch it; Italian vederlo; German ihn sehen
    you_consume: str = ""  # said to the participant: watch; Italian guardi; German sehen Sie
    gender: str = ""  # one of `GENDERS`; empty in languages without

    def as_setting(self) -> dict[str, str]:
        """The forms that are known, as a study's settings store them."""
        return {name: word for name, word in asdict(self).items() if word}

    def with_own(self, own: Mapping[str, str]) -> Words:
        """These words with the forms of `own` in their place, where it has them."""
        known = asdict(self)
        return Words(**{name: own.get(name) or known[name] for name in FORMS})


FORMS = tuple(field.name for field in fields(Words))


def forms_of(words: Words, language: str) -> dict[str, str]:
    """The nouns with their articles: `an_item`, `the_items`, `of_the_items` and `on_the_items`.

    Examples
    --------
    >>> forms_of(Words("item", "items"), "en")["an_item"]
    'an item'
    >>> forms_of(Words("elemento", "elementi", gender="m"), "it")["of_the_items"]
    'degli elementi'
    """
    if language == "it":
        return _italian(words)
    if language == "de":
        article = {FEMININE: "eine", NEUTER: "ein"}.get(words.gender, "einen")  # as the object of a sentence
        dative = words.many if words.many.endswith(("n", "s")) else f"{words.many}n"
        return {
            "an_item": f"{article} {words.one}",
            "the_items": f"die {words.many}",
            "of_the_items": f"der {words.many}",
            "on_the_items": f"zu den {dative}",
        }
    article = "an" if words.one[:1].lower() in "aeiou" else "a"
    return {
        "an_item": f"{article} {words.one}",
        "the_items": f"the {words.many}",
        "of_the_items": f"of the {words.many}",
        "on_the_items": f"about the {words.many}",
    }


def _italian(words: Words) -> dict[str, str]:
    if words.gender == FEMININE:
        article = "un’" if _VOWEL.match(words.one) else "una "
        the, of_the, on_the = "le", "delle", "sulle"
    else:
        article = "uno " if _IMPURE.match(words.one) else "un "
        is_gli = _IMPURE.match(words.many) or _VOWEL.match(words.many)
        the, of_the, on_the = ("gli", "degli", "sugli") if is_gli else ("i", "dei", "sui")
    return {
        "an_item": f"{article}{words.one}",
        "the_items": f"{the} {words.many}",
        "of_the_items": f"{of_the} {words.many}",
        "on_the_items": f"{on_the} {words.many}",
    }


def agreeing(endings: str, gender: str) -> str:
    """The ending for a gender among endings separated by slashes: masculine, feminine and, in German, neuter.

    Examples
    --------
    >>> agreeing("o/a", "f"), agreeing("diesen/diese/dieses", "n"), agreeing("o/a", "")
    ('a', 'dieses', 'o')
    """
    choices = endings.split("/")
    index = GENDERS.index(gender) if gender in GENDERS else 0
    return choices[index] if index < len(choices) else choices[0]


def agreed(text: str, gender: str) -> str:
    """A text with its endings in braces in a gender.

    Examples
    --------
    >>> agreed("valutat{i/e}", "f")
    'valutate'
    """
    return _IN_BRACES.sub(lambda match: agreeing(match[1], gender), text)
