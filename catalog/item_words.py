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
    one, many = words.one, words.many
    if language == "it":
        if words.gender == FEMININE:
            article = "un’" if _VOWEL.match(one) else "una "
            the, of_the, on_the = "le", "delle", "sulle"
        else:
            article = "uno " if _IMPURE.match(one) else "un "
            is_gli = _IMPURE.match(many) or _VOWEL.match(many)
            the, of_the, on_the = ("gli", "degli", "sugli") if is_gli else ("i", "dei", "sui")
        phrases = (f"{article}{one}", f"{the} {many}", f"{of_the} {many}", f"{on_the} {many}")
    elif language == "de":
        article = {FEMININE: "eine", NEUTER: "ein"}.get(words.gender, "einen")  # as the object of a sentence
        dative = many if many.endswith(("n", "s")) else f"{many}n"
        phrases = (f"{article} {one}", f"die {many}", f"der {many}", f"zu den {dative}")
    else:
        article = "an" if one[:1].lower() in "aeiou" else "a"
        phrases = (f"{article} {one}", f"the {many}", f"of the {many}", f"about the {many}")
    return dict(zip(("an_item", "the_items", "of_the_items", "on_the_items"), phrases, strict=True))


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
