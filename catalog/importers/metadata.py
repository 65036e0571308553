"""Reads metadata of known items: one fact or one item per row, in any file of which rows are read.

Facts are checked and grouped by item, and unknown items are counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from catalog.importers.base import (
    LONGEST_FEATURE,
    LONGEST_TITLE,
    ImportProblem,
    ImportReport,
    Limits,
    Policy,
    Progress,
    address_problem,
)
from catalog.importers.detector.file_syntax import examined
from catalog.importers.detector.roles import rank_by_name
from catalog.importers.item_files import CLIPS, PICTURES, ItemFiles
from catalog.importers.items import UTILITY_KIND, replace_entities, utility_of
from catalog.importers.kinds import (
    FIELDS,
    LONGEST_KIND,
    kind_of,
    localised_field,
    plain,
    unknown_language,
    unknown_language_warnings,
    usual_kind,
)
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.reading import read
from catalog.importers.reading.tables import Kind, shown
from catalog.importers.sources import SourceFile, open_source, refuse
from core.errors import ParameterError

ADVICE_ROWS = "Correct the file, or exclude invalid rows. Nothing was added."
# Facts are kept in memory until all are read: a smaller room than that of ratings.
LIMITS = Limits(bytes_unpacked=2 * 2**30)
_STRUCTURE = ("item", "kind", "value")
_KIND_NAMES = ("kind", "relation", "property", "attribute", "predicate", "type")
_VALUE_NAMES = ("value", "object", "name")
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
            problem = self._take(fresh, self.items.get(own_id) or ItemFacts(), name, values, is_split)
            if problem is not None:
                self.problems.add(problem[0], ImportProblem(self._file, line, column, problem[1]))
                self.rows_left_out += 1
                return
        if fresh.fields or fresh.features:
            own = self.items.setdefault(own_id, ItemFacts())
            own.fields.update(fresh.fields)
            own.features.update(fresh.features)

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


@dataclass(frozen=True, slots=True)
class MetadataOptions:
    """The columns, or keys of JSON objects, and what they contain."""

    # What to the column that holds it: "item" for the ids, "kind" and "value" for a table with a row a fact, else a
    # field ("title", "year", "plot", "image", "trailer", "excerpt") or a kind of feature. What is not named is found by
    # the usual names.
    columns: Mapping[str, str] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)  # kinds in the file to their new names
    separator: str = "|"  # between the values of one column in a table with one item per row
    # `delimiter`, `encoding`: as for delimited ratings.
    delimiter: str | None = None
    encoding: str | None = None
    languages: tuple[str, ...] = ()  # codes of the languages that localised fields (title_it) may have

    def __post_init__(self) -> None:
        self.hints()  # has its own checks
        if ("kind" in self.columns) != ("value" in self.columns):
            raise ParameterError("A table with one fact per row needs both a column of kinds and a column of values.")
        extra = sorted(set(self.columns) - set(_STRUCTURE))
        if "kind" in self.columns and extra:
            raise ParameterError(
                f"Columns are named for kind and value and for {', '.join(extra)} as well: a table has one "
                "fact or one item per row."
            )
        for target in extra:
            if problem := unknown_language(target, self.languages):
                raise ParameterError(f"The field {target} cannot be read: {problem}.")

    def hints(self) -> Options:
        """The hints that files of ratings share with these; a file of facts has a header."""
        return Options(
            delimiter=self.delimiter, encoding=self.encoding, feature_separator=self.separator, has_header=True
        )


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata that a file contains for the items of a dataset."""

    items: Mapping[str, ItemFacts]  # by the dataset's own item ids
    # Rows are facts or items, as the file has them; rows of unknown items are not kept, and stand among the dropped.
    report: ImportReport


def read_metadata(
    path: Path,
    known: Collection[str] | Mapping[str, str],
    *,
    options: MetadataOptions | None = None,
    policy: Policy | None = None,
    files: NamedFiles | None = None,
    progress: Progress | None = None,
) -> Metadata:
    """Read and check the metadata of known items. Raises ImportRefused with everything that is
    wrong with the file, by line, column and reason, and for a file that says nothing of any known item.

    The file is a table with a header, or objects, also packed; lists in objects are parted by the separator "|". Rows
    of items that are not in `known` (a mapping goes from the file's ids to the dataset's own) are
    counted and left out. By default a row that cannot be taken refuses the file; limits are those of `LIMITS`. `files`
    are those that fields may name instead of an address.
    """
    options, policy = options or MetadataOptions(), policy or Policy(limits=LIMITS)
    source = open_source(path, policy.limits)
    if len(source.files) != 1:
        raise refuse(source.name, f"one file of facts is needed, and there are {len(source.files)} here")
    (file,) = source.files.values()
    facts = Facts(
        file.name,
        known if isinstance(known, Mapping) else {each: each for each in known},
        options.rename,
        options.separator,
        files or {},
        languages=options.languages,
    )
    problems = facts.problems
    layout, warnings = _read(file, options, facts, progress)
    if policy.on_bad_row == "refuse":
        problems.refuse(ADVICE_ROWS, ("on_bad_row",))
    if not facts.items:
        problems.merge(facts.strangers)
        problems.refuse(f"{file.name} says nothing of any item of the dataset. Nothing was added.")
        raise refuse(file.name, "it says nothing of any item", advice="Nothing was added.")
    problems.merge(facts.strangers)
    report = ImportReport(
        source_format=f"metadata, {layout}",
        files=(file.name,),
        rows_read=facts.rows,
        rows_kept=facts.rows - facts.rows_left_out,
        dropped=problems.counts,
        examples={reason: tuple(examples) for reason, examples in problems.examples.items()},
        warnings=tuple(warnings),
        scale="",
    )
    return Metadata(facts.items, report)


def _read(file: SourceFile, options: MetadataOptions, facts: Facts, progress: Progress | None) -> tuple[str, list[str]]:
    written = examined(file, options.hints()).written
    header = list(written.columns)
    ranked = sorted((rank, at) for at, name in enumerate(header) if (rank := rank_by_name(name, "item")) >= 0)
    item = _column_named(file, header, options, "item") or (header[ranked[0][1]] if ranked else None)
    if item is None:
        advice = "Name it, as in --column item=ID."
        raise refuse(
            file.name, f"no column is known to hold the ids: the header has {_list(header)}", line=1, advice=advice
        )
    kind, value = _fact_columns(file, header, item, options)
    columns = {} if kind else _item_columns(file, header, item, options)
    if not kind and not columns:
        advice = "Name what there is, as in --column plot=SUMMARY."
        raise refuse(
            file.name, f"no column is known to hold facts: the header has {_list(header)}", line=1, advice=advice
        )
    kinds: dict[str, Kind] = dict.fromkeys((kind, value) if kind else columns, "id" if kind else "text")
    if item in kinds:
        raise refuse(file.name, f"column {shown(item)} is named for two things", line=1)
    kinds[item] = "id"
    table = read(file, written, kinds, facts.problems, progress=progress)
    n_texts = sum(replace_entities(column) for name, column in table.columns.items() if name != item)
    ids = table.columns[item]
    facts.rows += table.rows_read
    facts.rows_left_out += table.rows_read - len(ids)
    if kind:
        rows = zip(ids, table.columns[kind], table.columns[value], strict=True)
        for row, (external_id, name, text) in enumerate(rows):
            facts.add(external_id, [(name, value, (text,))], table.lines.line(row))
    else:
        for row, external_id in enumerate(ids):
            statements = [(target, column, (table.columns[column][row],)) for column, target in columns.items()]
            facts.add(external_id, statements, table.lines.line(row), is_split=True)
    unread = [] if kind else [name for name in header if name not in (item, *columns)]
    warnings = _unread(unread, options)
    if n_texts:
        warnings.append(f"HTML entities were replaced by characters in {n_texts:,} texts.")
    if table.lacks_final_newline:
        warnings.append(
            f"The last line of {file.name} has no line end; it was taken as complete. "
            "If the file was cut short there, its last field may be too."
        )
    return ("facts" if kind else "items"), warnings


def _fact_columns(file: SourceFile, header: list[str], item: str, options: MetadataOptions) -> tuple[str, str]:
    """The columns of kinds and values; empty if the table has one item per row."""
    kind, value = _column_named(file, header, options, "kind"), _column_named(file, header, options, "value")
    if kind and value:
        if kind == value:
            raise refuse(file.name, f"column {shown(kind)} is named for two things", line=1)
        return kind, value
    if set(options.columns) - {"item"}:
        return "", ""
    kind = _usual(header, _KIND_NAMES)
    rest = [name for name in header if name not in (item, kind)]
    value = rest[0] if len(rest) == 1 else _usual(rest, _VALUE_NAMES)
    # A table of items may have a "type" among its columns: it is one of facts where little else is there.
    is_facts = kind is not None and value is not None and not any(usual_kind(name) for name in rest)
    return (kind, value) if is_facts and kind and value else ("", "")


def _item_columns(file: SourceFile, header: list[str], item: str, options: MetadataOptions) -> dict[str, str]:
    """Column to the field or kind it holds: those named, and those of usual names that are not named otherwise."""
    columns: dict[str, str] = {}
    assigned = {kind_of(target) for target in options.columns}
    for target in options.columns:
        if target not in _STRUCTURE:
            column = str(_column_named(file, header, options, target))
            if column in columns:
                raise refuse(file.name, f"column {shown(column)} is named for two things", line=1)
            columns[column] = target
    for name in header:
        usual = None if unknown_language(name, options.languages) else usual_kind(name)
        if usual is not None and name != item and name not in columns and usual not in assigned:
            columns[name] = usual
    return columns


def _column_named(file: SourceFile, header: list[str], options: MetadataOptions, what: str) -> str | None:
    """The column that the options name for something; None where they name none."""
    wanted = options.columns.get(what)
    if wanted is not None and wanted not in header:
        reason = f"there is no column {shown(wanted)} for {what}: the header has {_list(header)}"
        raise refuse(file.name, reason, line=1)
    return wanted


def _usual(names: list[str], usual: tuple[str, ...]) -> str | None:
    by_name = {plain(name): name for name in names}
    return next((by_name[name] for name in usual if name in by_name), None)


def _unread(names: Iterable[str], options: MetadataOptions) -> list[str]:
    columns = list(names)
    left = [name for name in columns if not unknown_language(name, options.languages)]
    of_languages = unknown_language_warnings(columns, options.languages)
    if not left:
        return of_languages
    return [*of_languages, f"Ignored columns with unknown names: {_list(left)}. Name them as kinds to read them."]


def _list(names: list[str]) -> str:
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(shown(name) for name in names[:12]) + more
