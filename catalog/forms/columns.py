"""The second step of an import: what each column holds, and how the dataset is named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django import forms
from django.db.models import QuerySet

from accounts.models import WRITERS, Project
from catalog.forms.column_choices import (
    DELIMITERS,
    ENCODINGS,
    FIELD_OF,
    ITEM_OPTIONS,
    ITEM_ROLES,
    KIND_OF_ROLE,
    RATINGS,
    ROLES,
    USAGE,
    delimiter_key,
)
from catalog.forms.upload_limits import INVALID_ROWS
from catalog.importers.line_reader import value_of
from catalog.importers.preview import Declared, TablePreview
from catalog.importers.scales import scale_of_text
from catalog.item_types import ITEM_TYPES
from catalog.models import DatasetJob
from catalog.services.previews import JobPreview, preview_of
from core.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a preview with the field of its role."""

    name: str
    field: forms.BoundField


@dataclass(frozen=True, slots=True)
class Grid:
    """A preview as the page shows it: columns with their fields, and rows of cells with their lines."""

    file: str
    columns: list[Column]
    rows: Sequence[tuple[int, tuple[str, ...]]]


class ColumnsForm(forms.Form):
    """What the columns of a dataset hold. A dataset of known layout has no columns to name."""

    name = forms.SlugField(
        label="Name",
        max_length=80,
        help_text="Small letters, digits and hyphens. A dataset with this name gets a new version.",
    )
    title = forms.CharField(label="Title", required=False, max_length=200, help_text="The name, if empty.")
    item_type = forms.ChoiceField(
        label="Item type",
        required=False,
        choices=[("", "Suggest one"), *((each.key, each.title) for each in ITEM_TYPES.values())],
        help_text="Decides the words and pictures of new studies.",
    )
    project = forms.ModelChoiceField(
        label="Visible to",
        queryset=Project.objects.none(),
        required=False,
        empty_label="Every researcher of this installation",
        help_text="A project: its members and viewers alone. A new version of a dataset stays where the dataset is.",
    )
    kind = forms.ChoiceField(
        label="Each row says",
        choices=[(RATINGS, "how a user rated an item"), (USAGE, "that a user took an item, without a rating")],
        widget=forms.RadioSelect,
    )
    delimiter = forms.ChoiceField(label="Delimiter", choices=[(key, key.capitalize()) for key in DELIMITERS])
    encoding = forms.ChoiceField(label="Encoding", choices=list(ENCODINGS.items()))
    has_header = forms.ChoiceField(
        label="First line", choices=[("yes", "Names the columns"), ("no", "Is data")], initial="yes"
    )
    decimal = forms.ChoiceField(label="Decimal character", choices=[(".", "Point (4.5)"), (",", "Comma (4,5)")])
    scale = forms.CharField(label="Rating scale", required=False, max_length=40)
    on_bad_row = forms.ChoiceField(label="Invalid rows", choices=INVALID_ROWS, initial="refuse")
    duplicates = forms.ChoiceField(
        label="Repeated ratings of an item",
        choices=[("auto", "Reject the file (usage: count once)"), ("last", "Keep the last")],
        initial="auto",
    )
    items_encoding = forms.ChoiceField(label="Encoding of the items", choices=list(ENCODINGS.items()))
    layout = forms.CharField(required=False, widget=forms.HiddenInput)  # how the previewed text was read

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        preview: JobPreview,
        source: str,
        projects: QuerySet[Project],
        initial: Mapping[str, Any] | None = None,
    ) -> None:
        table, items = preview.dataset.table, preview.items if preview.dataset.table else None
        detected = {"name": _slug(source), "kind": RATINGS, **_initial(table, items), **(initial or {})}
        super().__init__(data, initial=detected)
        self.dataset, self.table, self.items = preview.dataset, table, items
        unused: tuple[str, ...] = ("kind", "scale") if table is None else ()
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
        if not projects:
            unused += ("project",)
        if table is None or not table.is_text:
            unused += ("delimiter", "encoding", "has_header", "decimal", "layout")
        if items is None or not items.is_text:
            unused += ("items_encoding",)
        for name in unused:
            del self.fields[name]
        if table is not None:
            self._add_columns("column", table, ROLES)
            self.fields["scale"].help_text = _scale_help(table)
        if items is not None:
            self._add_columns("item_column", items, ITEM_ROLES)

    def _add_columns(self, prefix: str, table: TablePreview, roles: Mapping[str, str]) -> None:
        for at, name in enumerate(table.columns):
            self.fields[f"{prefix}_{at}"] = forms.ChoiceField(
                label=f"Role of {name}",
                required=False,
                choices=list(roles.items()),
                initial=table.roles.get(name, "") if table.roles.get(name, "") in roles else "",
            )

    def _grid(self, prefix: str, table: TablePreview | None) -> Grid | None:
        if table is None:
            return None
        columns = [Column(name, self[f"{prefix}_{at}"]) for at, name in enumerate(table.columns)]
        width = len(columns)
        rows = [(line, (*cells, *[""] * width)[: max(width, len(cells))]) for line, cells in table.rows]
        return Grid(table.file, columns, rows)

    @property
    def grid(self) -> Grid | None:
        """The first rows of the ratings."""
        return self._grid("column", self.table)

    @property
    def items_grid(self) -> Grid | None:
        """The first rows of the items."""
        return self._grid("item_column", self.items)

    def group(self, *names: str) -> list[forms.BoundField]:
        """Those of the fields that this dataset has."""
        return [self[name] for name in names if name in self.fields]

    @property
    def dataset_fields(self) -> list[forms.BoundField]:
        """The fields that name the dataset."""
        return self.group("name", "title", "item_type", "project")

    @property
    def text_fields(self) -> list[forms.BoundField]:
        """The fields that say how the text is written; a change needs a new preview."""
        return self.group("delimiter", "encoding", "has_header", "decimal", "items_encoding")

    @property
    def row_fields(self) -> list[forms.BoundField]:
        """The fields that say what rows mean."""
        return self.group("kind", "scale", "on_bad_row", "duplicates")

    def clean_scale(self) -> str:
        """The scale in the form 1:5:1; empty where it is to be detected."""
        text: str = self.cleaned_data["scale"].strip()
        if text:
            try:
                scale_of_text(text)
            except ParameterError as problem:
                raise forms.ValidationError(str(problem)) from problem
        return text

    def clean(self) -> dict[str, Any]:
        """Check the roles of the columns, and the values that are shown."""
        values = super().clean() or {}
        if self.table is not None:
            roles = self._check_roles("column", self.table, ROLES)
            needed = ["user", "item", *(["rating"] if values.get("kind") == RATINGS else [])]
            missing = [role for role in needed if role not in roles]
            if missing:
                listed = " and ".join(ROLES[role].lower() for role in missing)
                usage = " If there are no ratings, say so below." if missing == ["rating"] else ""
                self.add_error(None, f"Choose the column of the {listed} among those of {self.table.file}.{usage}")
            if values.get("kind") == USAGE and "rating" in roles:
                self.add_error(roles["rating"], "Usage data have no ratings: choose “Not used”.")
                roles.pop("rating")
            if values.get("kind") == USAGE and values.get("scale"):
                self.add_error("scale", "Usage data have no rating scale: leave it empty.")
            if values.get("on_bad_row") == "refuse":
                self._check_cells(self.table, roles, values.get("decimal", "."))
        if self.items is not None:
            roles = self._check_roles("item_column", self.items, ITEM_ROLES)
            for role in ("items_id", "title"):
                if role not in roles:
                    words = ITEM_ROLES[role].lower()
                    self.add_error(None, f"Choose the column of the {words} among those of {self.items.file}.")
        return values

    def _check_roles(self, prefix: str, table: TablePreview, words: Mapping[str, str]) -> dict[str, str]:
        """The field of each role that is used; a role that is given twice is an error beside its field."""
        roles: dict[str, str] = {}
        for at in range(len(table.columns)):
            field = f"{prefix}_{at}"
            role = self.cleaned_data.get(field, "")
            if role and role in roles:
                first = table.columns[int(roles[role].rpartition("_")[2])]
                self.add_error(field, f"{words[role]} is column {first} already.")
            elif role:
                roles[role] = field
        return roles

    def _check_cells(self, table: TablePreview, roles: Mapping[str, str], decimal: str) -> None:
        """An error beside the field of each column whose first rows cannot hold what it is said to hold."""
        for role, field in roles.items():
            at = int(field.rpartition("_")[2])
            for line, cells in table.rows:
                text = cells[at].strip() if at < len(cells) else ""
                try:
                    if not text:
                        raise ValueError("the field is empty")
                    value_of(text, KIND_OF_ROLE[role], decimal)
                except ValueError as problem:
                    self.add_error(field, f"Line {line}: {problem}.")
                    break

    def chosen(self) -> dict[str, Any]:
        """The settings of the import, with the form as it was sent, so that it can be shown again."""
        entered = {name: self.cleaned_data[name] for name in ("name", "title", "item_type")}
        return {**entered, "options": self.options(), "form": dict(self.data.items())}

    def options(self) -> dict[str, Any]:
        """The options of the import, in JSON values."""
        entered = self.cleaned_data
        chosen = {"on_bad_row": entered["on_bad_row"], "duplicates": entered["duplicates"]}
        if self.table is None:
            return chosen
        chosen |= self._named_roles("column", self.table)
        chosen |= (
            {"usage": True} if entered["kind"] == USAGE else {"scale": entered["scale"]} if entered["scale"] else {}
        )
        if self.table.is_text:
            chosen["delimiter"] = DELIMITERS[entered["delimiter"]]
            chosen |= {name: entered[name] for name in ("encoding", "decimal")}
            chosen["has_header"] = entered["has_header"] == "yes"
        if self.items is not None:
            mapped = self._named_roles("item_column", self.items)
            chosen |= {role: name for role, name in mapped.items() if role in ITEM_OPTIONS}
            chosen["features"] = {role: name for role, name in mapped.items() if role not in ITEM_OPTIONS}
            if self.items.is_text:
                chosen["items_encoding"] = entered["items_encoding"]
        return chosen

    def _named_roles(self, prefix: str, table: TablePreview) -> dict[str, Any]:
        roles = ((self.cleaned_data[f"{prefix}_{at}"], name) for at, name in enumerate(table.columns))
        return {role: name for role, name in roles if role}

    def add_refusal(self, error: str, problems: Sequence[Mapping[str, Any]], remedies: Sequence[str]) -> None:
        """Show why a worker refused the import: beside the columns it names and the fields that would help."""
        self.full_clean()
        self.add_error(None, error)
        tables = [(prefix, table) for prefix, table in (("column", self.table), ("item_column", self.items)) if table]
        for problem in problems:
            for prefix, table in tables:
                if problem["file"] == table.file and problem["column"] in table.columns:
                    at = table.columns.index(problem["column"])
                    position = f"Line {problem['line']}: " if problem["line"] else ""
                    self.add_error(f"{prefix}_{at}", f"{position}{problem['reason']}.")
        for option in remedies:
            if FIELD_OF.get(option, "") in self.fields:
                self.add_error(FIELD_OF[option], "A change here may help.")


def columns_form(job: DatasetJob, data: Mapping[str, Any] | None) -> ColumnsForm:
    """The form of a job; it is not bound where `data` ask for a new preview, or say that the text is written otherwise
    than it was previewed. Raises ParallaxError as `preview_of` does.
    """
    common: dict[str, Any] = {"source": job.source, "projects": Project.objects.of(job.requested_by, WRITERS)}
    if not data:
        return ColumnsForm(preview=preview_of(job), **common)
    items_encoding = data.get("items_encoding", "")
    preview = preview_of(job, _declared(data), items_encoding if items_encoding in ENCODINGS else None)
    table = preview.dataset.table
    is_other = table is not None and table.is_text and data.get("layout") != layout_of(table)
    if is_other or data.get("act") == "preview":
        settings = ("name", "title", "item_type", "project", "on_bad_row", "duplicates")
        carried_over = {name: data[name] for name in settings if name in data}
        return ColumnsForm(preview=preview, initial=carried_over, **common)
    return ColumnsForm(data, preview=preview, **common)


def _declared(data: Mapping[str, Any]) -> Declared:
    """How the text is written, as a form says."""
    encoding = data.get("encoding", "")
    return Declared(
        delimiter=DELIMITERS.get(data.get("delimiter", "")),
        encoding=encoding if encoding in ENCODINGS else None,
        has_header={"yes": True, "no": False}.get(data.get("has_header", "")),
    )


def layout_of(table: TablePreview) -> str:
    """How a previewed text was read, to notice that the form says otherwise."""
    return f"{delimiter_key(table.delimiter)} {table.encoding} {'yes' if table.has_header else 'no'}"


def _initial(table: TablePreview | None, items: TablePreview | None) -> dict[str, Any]:
    initial: dict[str, Any] = {}
    if table is not None:
        initial["kind"] = USAGE if table.is_usage else RATINGS
        if table.is_text:
            initial |= {
                "delimiter": delimiter_key(table.delimiter),
                "encoding": table.encoding,
                "has_header": "yes" if table.has_header else "no",
                "decimal": table.decimal,
                "layout": layout_of(table),
            }
    if items is not None and items.is_text:
        initial["items_encoding"] = items.encoding
    return initial


def _scale_help(table: TablePreview) -> str:
    how = "Lowest, highest and step, such as 1:10:1 or 0.5:5:0.5. If empty, it is detected in all ratings"
    if table.scale is None:
        return f"{how}."
    scale = table.scale
    return f"{how}; the first {table.n_sampled:,} rows have {scale.low:g} to {scale.high:g} in steps of {scale.step:g}."


def _slug(source: str) -> str:
    """A dataset's name after that of its file."""
    name = PurePosixPath(source).name.lower()
    stem = re.sub(r"(\.(zip|gz|csv|tsv|txt|dat|data|parquet|pq|jsonl|ndjson))+$", "", name)
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:80] or "dataset"
