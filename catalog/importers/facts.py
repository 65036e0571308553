"""Facts about items as they are met: checked, gathered by item, strangers counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from catalog.importers.addresses import address_problem
from catalog.importers.base import LONGEST_FEATURE, LONGEST_TITLE, ImportProblem
from catalog.importers.items import UTILITY_KIND, utility_of
from catalog.importers.kinds import FIELDS, LONGEST_KIND, kind_of
from catalog.importers.layout import shown
from catalog.importers.pictures import Pictures
from catalog.importers.problems import Problems

LONGEST_PLOT = 100_000
PICTURE = "picture"  # the field of an image that is a file
MOST_FACTS = 10_000  # of one item; its pages show them all
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z+.-]*:")
_YEAR = re.compile(r"\d{4}")


@dataclass(slots=True)
class ItemFacts:
    """What is said of one item.

    Parameters
    ----------
    fields : dict
        Of "title", "year" (four digits), "plot", "image", "trailer" those that are said, and `PICTURE` where an
        image is a file; none empty.
    features : dict
        (kind, value) in the order they were met, each once.
    """

    fields: dict[str, str] = field(default_factory=dict)
    features: dict[tuple[str, str], None] = field(default_factory=dict)


class Facts:
    """Facts by item.

    Parameters
    ----------
    file : str
        Its name, for messages.
    known : set of str
        The ids of items.
    rename : mapping
        Kinds to what they are to be called.
    separator : str
        Between the values of a field that is to be split.
    pictures : Pictures
        Files that an image may name instead of an address.

    Attributes
    ----------
    items : dict
        Id to `ItemFacts`, of known items of which something was said.
    problems : Problems
        Rows that cannot be taken.
    strangers : Problems
        Rows of items that are not known.
    rows, rows_left_out : int
        Of the file; counted by who reads it, but for those left out in `add`.
    """

    def __init__(
        self, file: str, known: frozenset[str], rename: Mapping[str, str], separator: str, pictures: Pictures
    ) -> None:
        self.items: dict[str, ItemFacts] = {}
        self.problems = Problems()
        self.strangers = Problems()
        self.rows = 0
        self.rows_left_out = 0
        self._file = file
        self._known = known
        self._rename = {kind_of(name): kind_of(other) for name, other in rename.items()}
        self._separator = separator
        self._pictures = pictures

    def add(
        self,
        external_id: str,
        said: Iterable[tuple[str, str, tuple[str, ...]]],
        line: int,
        *,
        is_split: bool = False,
    ) -> None:
        """Take a row whole or not at all.

        Parameters
        ----------
        external_id : str
        said : iterable of (name, column, values)
            The field or kind, the column it stands in, and what it says.
        line : int
        is_split : bool
            Whether the values of features are to be split at the separator.
        """
        if external_id not in self._known:
            reason = f"the dataset has no item {shown(external_id)}"
            self.strangers.add("unknown item", ImportProblem(self._file, line, None, reason))
            self.rows_left_out += 1
            return
        fresh = ItemFacts()
        for name, column, values in said:
            problem = self._take(fresh, self._items_own(external_id), name, values, is_split)
            if problem is not None:
                self.problems.add(problem[0], ImportProblem(self._file, line, column, problem[1]))
                self.rows_left_out += 1
                return
        if fresh.fields or fresh.features:
            own = self.items.setdefault(external_id, ItemFacts())
            own.fields.update(fresh.fields)
            own.features.update(fresh.features)

    def _items_own(self, external_id: str) -> ItemFacts:
        return self.items.get(external_id) or ItemFacts()

    def _take(
        self, fresh: ItemFacts, own: ItemFacts, name: str, values: tuple[str, ...], is_split: bool
    ) -> tuple[str, str] | None:
        """Add to `fresh` what one name says, or return kind and reason of what keeps it out."""
        kind = kind_of(name)
        kind = self._rename.get(kind, kind)
        if not kind or len(kind) > LONGEST_KIND:
            return "unusable kind", f"the kind {shown(name)} has to have 1 to {LONGEST_KIND} characters"
        texts = [text.strip() for text in values]
        if any("\0" in text for text in texts):
            return "unusable character", "the field holds a NUL character, which belongs in no text"
        if kind not in FIELDS:
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
            is_picture = kind == "image" and text in self._pictures
            if is_picture:
                wrong = self._pictures.problem(text)
                problem = ("unusable picture", f"the picture {shown(text)} {wrong}") if wrong else None
                kind = PICTURE
            else:
                problem = _field_problem(kind, text)
            earlier = fresh.fields.get(kind, own.fields.get(kind, text))
            if problem is not None:
                return problem
            if earlier != text:
                return "said twice", f"the {kind} was {shown(earlier)} before, and is {shown(text)} here"
            fresh.fields[kind] = text
            kind = "image" if is_picture else kind
        return None


def _field_problem(kind: str, text: str) -> tuple[str, str] | None:
    """What keeps a text from being a field's: kind of problem and reason."""
    if kind == "year" and not _YEAR.fullmatch(text):
        return "unusable year", f"{shown(text)} is no year"
    longest = {"title": LONGEST_TITLE, "plot": LONGEST_PLOT}.get(kind, len(text))
    if len(text) > longest:
        return f"unusable {kind}", f"the {kind} has {len(text):,} characters; at most {longest:,} are kept"
    if kind in ("image", "trailer") and (wrong := address_problem(text)):
        if kind == "image" and not _ADDRESS.match(text):
            return "unusable picture", (
                f"the image {shown(text)} is neither a web address nor a file of the folder of pictures"
            )
        return "unusable address", f"the {kind} {shown(text)} {wrong}"
    return None
