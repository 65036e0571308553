"""Collects item metadata: facts are checked and grouped by item, and unknown items are counted."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from catalog.importers.base import LONGEST_FEATURE, LONGEST_TITLE, ImportProblem, address_problem
from catalog.importers.item_files import CLIPS, PICTURES, ItemFiles
from catalog.importers.items import UTILITY_KIND, utility_of
from catalog.importers.kinds import FIELDS, LONGEST_KIND, kind_of, localised_field, unknown_language
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import shown

LONGEST_PLOT = 100_000
LONGEST_EXCERPT = 20_000
# The fields of an image and of a trailer or other sample that are files.
PICTURE, CLIP = "picture", "clip"
MOST_FACTS = 10_000  # of one item; its pages show them all
NamedFiles = Mapping[str, tuple[str, ItemFiles]]  # by field: the field for a value that names one of the files
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z+.-]*:")
_YEAR = re.compile(r"\d{4}")


@dataclass(slots=True)
class ItemFacts:
    """The metadata of one item."""

    # Of "title", "year" (four digits), "plot", "image", "trailer", "excerpt" those that are said, `PICTURE` where an
    # image is a file and `CLIP` where a trailer is; "title_it" and "plot_it" in other languages; none empty.
    fields: dict[str, str] = field(default_factory=dict)
    # (kind, value) in the order they were met, each once.
    features: dict[tuple[str, str], None] = field(default_factory=dict)


class Facts:
    """Facts by item, of the items in `known`: the id in the file, and the dataset's own.

    `rename` maps kinds to their new names, `separator` stands between the values of a field that is to be split,
    `files` are those that an image or a trailer may name instead of an address, and `languages` are those of localised
    fields.
    """

    def __init__(
        self,
        file: str,
        known: Mapping[str, str],
        rename: Mapping[str, str],
        separator: str,
        files: NamedFiles,
        *,
        languages: Collection[str],
    ) -> None:
        self.items: dict[str, ItemFacts] = {}  # by item id, for known items with metadata
        self.problems = Problems()  # invalid rows
        self.strangers = Problems()  # rows of unknown items
        self.rows = 0  # of the file; counted by the reader
        self.rows_left_out = 0  # counted by the reader, except for those left out in `add`
        self._file = file
        self._known = known
        self._rename = {kind_of(name): kind_of(target) for name, target in rename.items()}
        self._separator = separator
        self._files = files
        self._languages = languages

    def add(
        self,
        external_id: str,
        statements: Iterable[tuple[str, str, tuple[str, ...]]],
        line: int,
        *,
        is_split: bool = False,
    ) -> None:
        """Add a row, completely or not at all.

        A statement is the field or kind, its column, and its values; `is_split` splits the values of features at the
        separator.
        """
        own_id = self._known.get(external_id, "")
        if not own_id:
            reason = f"the dataset has no item {shown(external_id)}"
            self.strangers.add("unknown item", ImportProblem(self._file, line, None, reason))
            self.rows_left_out += 1
            return
        fresh = ItemFacts()
        for name, column, values in statements:
            problem = self._take(fresh, self._items_own(own_id), name, values, is_split)
            if problem is not None:
                self.problems.add(problem[0], ImportProblem(self._file, line, column, problem[1]))
                self.rows_left_out += 1
                return
        if fresh.fields or fresh.features:
            own = self.items.setdefault(own_id, ItemFacts())
            own.fields.update(fresh.fields)
            own.features.update(fresh.features)

    def _items_own(self, external_id: str) -> ItemFacts:
        return self.items.get(external_id) or ItemFacts()

    def _take(
        self, fresh: ItemFacts, own: ItemFacts, name: str, values: tuple[str, ...], is_split: bool
    ) -> tuple[str, str] | None:
        """Add the values of one name to `fresh`, or return the kind and reason of the problem."""
        kind = kind_of(name)
        kind = self._rename.get(kind, kind)
        if not kind or len(kind) > LONGEST_KIND:
            return "unusable kind", f"the kind {shown(name)} has to have 1 to {LONGEST_KIND} characters"
        localised = localised_field(kind)
        if unusable := unknown_language(kind, self._languages):
            return "unknown language", f"the kind {shown(name)} cannot be read: {unusable}"
        texts = [text.strip() for text in values]
        if any("\0" in text for text in texts):
            return "unusable character", "the field holds a NUL character; it is not a text character"
        if kind not in FIELDS and localised is None:
            if is_split:
                texts = [part.strip() for text in texts for part in text.split(self._separator)]
            for text in filter(None, texts):
                if len(text) > LONGEST_FEATURE:
                    reason = f"the value {shown(text)} has {len(text)} characters; at most {LONGEST_FEATURE} are kept"
                    return "unusable value", reason
                if kind == UTILITY_KIND and utility_of(text) is None:
                    return "unusable utility", f"{shown(text)} is not a number of 0 or more"
                if kind == UTILITY_KIND and not utility_of(text):
                    continue  # worth nothing, as if it were not said
                fresh.features[kind, text] = None
            if len(fresh.features) + len(own.features) > MOST_FACTS:
                return "too many facts", f"the item has more than {MOST_FACTS:,} facts"
            return None
        for text in filter(None, texts):
            if kind == "year":
                text = text.removesuffix(".0")
            field_name, files = self._files.get(kind, (kind, None))
            if files is not None and text in files:
                wrong = files.problem(text)
                problem = (
                    (f"unusable {files.sort.noun}", f"the {files.sort.noun} {shown(text)} {wrong}") if wrong else None
                )
            else:
                field_name, problem = kind, _field_problem(kind, text)
            earlier = fresh.fields.get(field_name, own.fields.get(field_name, text))
            if problem is not None:
                return problem
            if earlier != text:
                return "said twice", f"the {field_name} was {shown(earlier)} before, and is {shown(text)} here"
            fresh.fields[field_name] = text
        return None


def _field_problem(kind: str, text: str) -> tuple[str, str] | None:
    """The problem of a text as the value of a field: kind and reason."""
    if kind == "year" and not _YEAR.fullmatch(text):
        return "unusable year", f"{shown(text)} is no year"
    field_name = (localised_field(kind) or (kind,))[0]
    longest = {"title": LONGEST_TITLE, "plot": LONGEST_PLOT, "excerpt": LONGEST_EXCERPT}.get(field_name, len(text))
    if len(text) > longest:
        return f"unusable {kind}", f"the {kind} has {len(text):,} characters; at most {longest:,} are kept"
    if kind in ("image", "trailer") and (wrong := address_problem(text)):
        if not _ADDRESS.match(text):
            noun = {"image": PICTURES.noun, "trailer": CLIPS.noun}[kind]
            return f"unusable {noun}", (
                f"the {kind} {shown(text)} is neither a web address nor a file of the folder of {noun}s"
            )
        return "unusable address", f"the {kind} {shown(text)} {wrong}"
    return None
