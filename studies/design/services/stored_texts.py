"""Explanations that researchers upload: a text per item in each language, matched to a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_ids_of
from catalog.services.item_facts import installed_languages
from core import artefacts
from core.errors import DataError, ParallaxError
from core.file_problems import FileProblems, csv_lines
from evaluation.selectors.uploads import catalogue_of
from recommenders.explanation import LONGEST_TEXT

KIND = "explanations"
COLUMNS = ["item", "language", "text"]
MAX_BYTES = 2**28


@dataclass(frozen=True)
class StoredTexts:
    """Stored texts: their digest, the languages, and the number of items that have a text in each of them."""

    digest: str
    languages: tuple[str, ...]
    n_items: int


def store_texts(*, version: DatasetVersion, path: Path) -> StoredTexts:
    """Check a CSV of `item,language,text` against the items of a dataset, and store it.

    Items are named by the dataset's own ids; each has one text per language, or none at all. Raises ParallaxError with
    code ``explanations.bad_file``: all problems at once, each with its lines.
    """
    try:
        texts = _texts_of(path, version)
    except DataError as error:
        raise ParallaxError("explanations.bad_file", f"{path.name} cannot be used on {version}. {error}") from error
    languages = sorted(texts)
    items = sorted(texts[languages[0]])
    project = version.dataset.project_id
    meta = {
        "catalogue": catalogue_of(version),
        "languages": languages,
        **({} if project is None else {"project": project}),
    }
    arrays = {f"text_{language}": np.array([texts[language][item] for item in items]) for language in languages}
    digest = artefacts.store(KIND, {"items": np.array(items, dtype=np.int64), **arrays}, meta)
    return StoredTexts(digest, tuple(languages), len(items))


def _texts_of(path: Path, version: DatasetVersion) -> dict[str, dict[int, str]]:
    """The text of each item by index, in each language of the file. Raises DataError."""
    column_of = {external_id: column for column, external_id in enumerate(item_ids_of(version).tolist())}
    languages = installed_languages()
    problems = FileProblems()
    texts: dict[str, dict[int, str]] = {}
    first_line: dict[int, tuple[int, str]] = {}

    def add(what: str, line: int, value: str) -> None:
        problems.add(what, [f"line {line} ({value!r})"])

    lines = csv_lines(path, MAX_BYTES)
    if (headings := next(lines, (1, []))[1]) != COLUMNS:
        raise DataError(f"Its first line must be {','.join(COLUMNS)}; it is {','.join(headings)!r}.")
    for line, fields in lines:
        if len(fields) != len(COLUMNS):
            add("Lines that are not item,language,text", line, ",".join(fields)[:40])
            continue
        item, language, text = fields
        if item not in column_of:
            add("Unknown items", line, item)
        if language not in languages:
            add(f"Languages other than {', '.join(languages)}", line, language)
        if not 0 < len(text) <= LONGEST_TEXT:
            add(f"Texts that are empty or longer than {LONGEST_TEXT} characters", line, text[:40])
        if item not in column_of or language not in languages:
            continue
        column = column_of[item]
        first_line.setdefault(column, (line, item))
        if column in texts.setdefault(language, {}):
            add("Items with two texts in one language", line, f"{item}, {language}")
        texts[language][column] = text
    for language, own in texts.items():
        for column in sorted(first_line.keys() - own.keys()):
            add(f"Items without a text in {language}", *first_line[column])
    problems.refuse()
    if not texts:
        raise DataError("It has no texts.")
    return texts


def opened_texts(version: DatasetVersion, digest: str) -> artefacts.Artefact:
    """Load stored texts. Raises ArtefactError; ParallaxError with code ``explanations.other_items``: they are of
    another catalogue or project.
    """
    stored = artefacts.load(KIND, digest)
    if stored.meta["catalogue"] != catalogue_of(version) or stored.meta.get("project") != version.dataset.project_id:
        raise ParallaxError(
            "explanations.other_items",
            f"The texts {digest[:12]} are of the items of another dataset. Upload the file for {version}.",
        )
    return stored


def texts_of_items(
    *, version: DatasetVersion, digest: str, languages: Sequence[str], items: Sequence[int]
) -> list[dict[str, str]]:
    """The text of each item in these languages, by item index; empty for items without one in all of them.

    Raises as `opened_texts` does.
    """
    arrays = opened_texts(version, digest).arrays
    own = [(language, arrays[f"text_{language}"]) for language in languages if f"text_{language}" in arrays]
    known = arrays["items"]
    by_item = []
    for item, row in zip(items, np.searchsorted(known, items), strict=True):
        has_text = len(own) == len(languages) and row < len(known) and known[row] == item
        by_item.append({language: str(texts[row]) for language, texts in own} if has_text else {})
    return by_item
