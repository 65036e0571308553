"""The pages of an import after its upload, each a form: columns, ratings, items, check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from django import forms

from accounts.models import WRITERS, Project
from catalog.forms.upload_limits import MOST_UPLOADED, SizedFileField, file_size
from catalog.importers.auto import FORMATS
from catalog.importers.detector import GENERIC
from catalog.importers.detector.file_syntax import SHOWN_DELIMITERS
from catalog.importers.proposal import Column
from catalog.importers.rows import REPEATS
from catalog.item_types import ITEM_TYPES
from catalog.services.previews import ImportPreview, Table
from core.form_fields import offer
from jobs.models import Job

FEATURES = (
    *("genre", "category", "tag", "brand", "publisher", "director", "cast", "artist", "album"),
    *("country", "language", "topic", "venue"),
)
_KINDS = {f"feature:{kind}": f"Feature: {kind}" for kind in FEATURES}
_FACTS = {"title": "Title", "author": "Author", "year": "Year", "image": "Cover image"}
_RATINGS = {role: role.capitalize() for role in ("user", "item", "rating", "time", "count", "event")}
ROLES: Mapping[str, Mapping[str, str]] = {  # of the columns of each kind of file
    "ratings": {**_RATINGS, "utility": "Utility (price, profit)", **_FACTS, "text": "Text", **_KINDS},
    "items": {"item": "Item (id)", **_FACTS, "plot": "Description", "trailer": "Trailer", "utility": "Price", **_KINDS},
    "users": {"user": "User (id)"},
}
USES = {"ratings": "Ratings", "items": "Items", "users": "Attributes of users", "probe": "Held-out pairs"}
_SEVERAL = ("feature", "attribute", "flag", "link")  # roles that several columns may have
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252 (Western Europe)",
    "latin-1": "Latin-1",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "gb18030": "GB 18030 (Chinese)",
    "shift_jis": "Shift JIS (Japanese)",
}
ANSWERS = ("scale", "bins", "not_rated", "events", "time_format", "usage")  # options set on the page of ratings
LIMITS = (("disliked", "irrelevant", "Disliked up to"), ("liked", "relevant", "Liked from"))
FREE = "LOW:HIGH:STEP"  # the answer that the field of the scale gives
KEPT = {"last": "Keep the last of {n} repeats", "first": "Keep the first", "mean": "Keep their mean"}
# The page on which an option is chosen that would help a refused import.
PAGES = dict.fromkeys(("items_file", "items_id", "items_encoding"), "items")
PAGES |= dict.fromkeys((*ANSWERS, "zero", "zeros"), "ratings")


class StepForm(forms.Form):
    """A page of an import."""

    def __init__(self, *args: Any, job: Job, preview: ImportPreview, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.job, self.preview = job, preview
        self.options: dict[str, Any] = job.payload.get("options", {})
        self.roles = {file: dict(roles) for file, roles in job.payload.get("roles", {}).items()}

    @property
    def is_rewritten(self) -> bool:
        """Whether the page is to be shown again with what was chosen."""
        return self.data.get("act") == "preview"

    def choose(self, name: str, label: str, choices: Iterable[tuple[str, str]], initial: str = "") -> None:
        """Add a field with a choice that may be empty."""
        self.fields[name] = forms.ChoiceField(label=label, choices=[*choices], initial=initial, required=False)

    def group(self, *names: str) -> list[forms.BoundField]:
        """Those of the fields that the page has."""
        return [self[name] for name in names if name in self.fields]

    def changes(self) -> dict[str, Any]:
        """The settings of the job that the page changes."""
        return {}


class ColumnsForm(StepForm):
    """How the files are written, and what their columns hold."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        proposal, written = self.preview.proposal, self.preview.proposal.ratings.written
        header, formats = ("no", "yes")[written.lines_before > 0], [*GENERIC.values(), *FORMATS]
        self._detected("format", "Format", proposal.layout, {name: FORMATS[name].title for name in formats})
        if written.records in ("table", "matrix"):
            self._detected("delimiter", "Delimiter", written.delimiter, SHOWN_DELIMITERS)
            self._detected("encoding", "Encoding", written.encoding, ENCODINGS)
            self._detected("decimal", "Decimal character", written.decimal, {".": "Point (4.5)", ",": "Comma (4,5)"})
        if written.records in ("table", "matrix", "workbook"):
            self._detected("has_header", "First row", header, {"yes": "Names the columns", "no": "Is data"})
        self.writing = [self[name] for name in self.fields]  # a change of these makes a new proposal
        self.columns: list[list[tuple[str, Column]]] = [[] for _ in self.preview.tables]  # with their fields
        for at, table in enumerate(self.preview.tables):
            roles = ROLES.get(table.part.use, {})
            for column in table.part.columns if table.part.written.records not in ("matrix", "baskets") else ():
                name = f"role_{at}_{len(self.columns[at])}"
                own = {column.role: column.role.replace(":", ": ").capitalize(), "": "Not used"}
                choices = {"": "Not used", **roles, **({} if column.role in roles else own)}.items()
                self.choose(name, f"Role of {column.name} in {table.part.files[0]}", choices, column.role)
                self.columns[at].append((name, column))

    def _detected(self, name: str, label: str, value: str, labels: Mapping[str, str]) -> None:
        initial = self.job.payload.get(name, "") if name == "format" else self.options.get(name, "")
        self.choose(name, label, [("", f"Detected: {labels.get(value, value)}"), *labels.items()], initial)

    @property
    def is_rewritten(self) -> bool:
        """Whether the files are to be read otherwise than they are shown."""
        return super().is_rewritten or any(field.name in self.changed_data for field in self.writing)

    @property
    def grids(self) -> list[dict[str, Any]]:
        """The files with their first rows; of each column its name, the field of its role, and the evidence."""
        grids = []
        for table, fields in zip(self.preview.tables, self.columns, strict=True):
            files = table.part.files
            columns: list[tuple[str, forms.BoundField | None, str]] = [
                (each.name, self[name], ": ".join(filter(None, (each.confidence, each.evidence))))
                for name, each in fields
            ]
            shown = columns or [_group(table, each.name) for each in table.part.columns]
            rows = [(line, (*cells, *[""] * len(shown))[: len(shown)]) for line, cells in table.rows]
            names = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more files"
            grids.append({"files": names, "use": USES[table.part.use], "columns": shown, "rows": rows})
        return grids

    def clean(self) -> dict[str, Any]:
        """Users and items are needed, and no role twice, unless the files are to be read otherwise first."""
        values = super().clean() or {}
        for table, fields in zip(self.preview.tables, self.columns, strict=True) if not self.is_rewritten else ():
            first: dict[str, str] = {}
            for field, column in fields:
                role = values.get(field, "")
                if first.setdefault(role, column.name) != column.name and role and role.split(":")[0] not in _SEVERAL:
                    self.add_error(field, f"{first[role]} is the column of {role}s already.")
            file, use, here = table.part.files[0], table.part.use, set(first)
            problems = {
                "users": use == "ratings" and "user" not in here,
                "items, or of titles,": use == "ratings" and not here & {"item", "title", "items", "clicks"},
                "ids": use in ("items", "users") and use.removesuffix("s") not in here,
                "ratings or one of counts, not both,": use == "ratings" and {"rating", "count"} <= here,
            }
            for what in [what for what, is_wrong in problems.items() if is_wrong and fields]:
                self.add_error(None, f"Choose the column of {what} in {file}.")
        return values

    def changes(self) -> dict[str, Any]:
        """The format, options and roles that were chosen."""
        values = self.cleaned_data
        options = {**self.options, **{field.name: values[field.name] for field in self.writing[1:]}}
        options = {name: value for name, value in options.items() if value != ""}
        if self.is_rewritten:
            options = without(options, ANSWERS)
            return {"format": values["format"] or None, "options": options, "roles": None, "recipe": None}
        for table, fields in zip(self.preview.tables, self.columns, strict=True):
            chosen = {column.name: values[name] for name, column in fields if values[name] != column.role}
            self.roles[table.part.files[0]] = {**self.roles.get(table.part.files[0], {}), **chosen}
        return {"options": options, "roles": {file: roles for file, roles in self.roles.items() if roles}}


def _group(table: Table, name: str) -> tuple[str, None, str]:
    """The meaning of a group of columns of a matrix, or of a part of the lines of baskets."""
    written = table.part.written
    by = {"user": f"in column {written.columns[0]}", "count": "by their number; the first column counts ratings"}
    items = written.columns[bool(written.first) :]
    return {
        "row": ("Users", None, by.get(written.first, "by their number")),
        "column": ("Items", None, f"{len(items):,} columns, {items[0]} to {items[-1]}: one item each"),
        "value": ("Ratings", None, "in the cells"),
        "line": ("Users", None, "one per line"),
        "item": ("Items", None, "the numbers of each line"),
    }[name]


class RatingsForm(StepForm):
    """Answers to what has to be asked, the scale, and which ratings say liked and disliked."""

    scale = forms.CharField(
        label="Scale", required=False, help_text="Lowest, highest and step, such as 1:10:1, 0.5:5:0.5 or 1:5:none."
    )
    not_rated = forms.RegexField(
        r"^-?\d+(\.\d+)?([;,\s]+-?\d+(\.\d+)?)*$",
        label="Values that mean not rated",
        required=False,
        help_text="Such as 0 or 99.",
        error_messages={"invalid": "Write numbers, such as 0 or 99."},
    )
    bins = forms.IntegerField(label="Equal parts of a scale without steps", required=False, min_value=2, max_value=100)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        proposal, histogram = self.preview.proposal, self.preview.histogram
        marks = ", ".join(f"{mark:g}" for mark in self.options.get("not_rated", ()))
        self.initial = {"scale": self.options.get("scale"), "bins": self.options.get("bins"), "not_rated": marks}
        for name in self.initial if proposal.is_usage else ():
            del self.fields[name]
        self.others = self.group(*self.initial)
        points = [(f"{value:g}", f"{value:g}") for value in (histogram.ends if histogram else ())]
        for name, limit, label in LIMITS if self.preview.limits else ():
            self.choose(name, label, points, f"{self.preview.limits[limit]:g}")
        self.limits = self.group("disliked", "liked")
        for question in self.preview.questions:
            field, widget = (forms.ChoiceField, forms.RadioSelect)
            if question.about == "events":
                field, widget = (forms.MultipleChoiceField, forms.CheckboxSelectMultiple)
            self.fields[f"answer_{question.about}"] = field(
                label=question.text.removeprefix(f"{proposal.ratings.files[0]}: "),
                choices=[(value, label) for label, value in question.answers],
                widget=widget,
                required=self.data.get("act") != "preview",
                error_messages={"required": "Choose an answer."},
            )
        self.questions = self.group(*(f"answer_{question.about}" for question in self.preview.questions))
        self.is_answered = any(name in self.options for name in ANSWERS)

    def clean(self) -> dict[str, Any]:
        """A scale where it is the answer, and limits apart."""
        values = super().clean() or {}
        if values.get("answer_scale") == FREE and not values.get("scale"):
            self.add_error("scale", "Write the scale, such as 1:5:1.")
        if self.limits and float(values.get("disliked") or 0) >= float(values.get("liked") or 1):
            self.add_error("liked", "Liked ratings have to be above disliked ones.")
        return values

    def changes(self) -> dict[str, Any]:
        """The options and roles that the answers set, and the limits."""
        values = self.cleaned_data
        options = {**self.options, **{field.name: values[field.name] for field in self.others}}
        options["not_rated"] = [float(text) for text in re.findall(r"[-.\d]+", values.get("not_rated", ""))]
        for field in self.questions:
            about, answer = field.name.removeprefix("answer_"), values[field.name]
            if answer == "usage":
                options |= {"usage": True, "scale": ""}
            elif about == "rating" and answer:
                self.roles.setdefault(self.preview.proposal.ratings.files[0], {})[answer] = "rating"
            elif about == "zero" and answer and ":" not in answer:
                options["not_rated"].append(float(answer))
            elif answer and answer != FREE:
                options["scale" if about == "zero" else about] = answer
        options = {name: value for name, value in options.items() if value not in ("", None, [])}
        is_moved = values.get("liked") and {"liked", "disliked"} & set(self.changed_data)
        limits = {limit: float(values[name]) for name, limit, _ in LIMITS} if is_moved else None
        return {"options": options, "roles": self.roles, **({"limits": limits} if limits else {})}


class ItemsForm(StepForm):
    """A file of items to add."""

    items_file = SizedFileField(
        label="File of items",
        required=False,
        most=MOST_UPLOADED,
        remedy="Upload it on the page of files, together with the ratings.",
        help_text=f"A table with the id and the title of each item, in any format. At most {file_size(MOST_UPLOADED)}.",
    )

    def clean_items_file(self) -> Any:
        """The file, which is needed where one is to be added."""
        upload = self.cleaned_data["items_file"]
        if upload is None and self.data.get("act") == "add":
            raise forms.ValidationError("Choose a file of items.")
        return upload


class CheckForm(StepForm):
    """What becomes of rows with problems, and how the dataset is named."""

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        projects = Project.objects.of(self.job.owner, WRITERS)
        offer(self, "project", projects)
        if not projects:
            del self.fields["project"]
        stored = self.job.payload
        self.initial = {name: stored.get(name, "") for name in ("title", "item_type")}
        self.initial |= {"name": stored.get("name") or _slug(stored["source"]), "project": self.job.subject_id}
        self.problems = []  # by kind, each with the field of what becomes of its rows
        check = stored.get("check", {})
        for at, (kind, n) in enumerate(check.get("counts", {}).items()):
            if kind in REPEATS:
                choices = [(value, label.format(n=f"{n:,}")) for value, label in KEPT.items()]
                initial = stored.get("duplicates", "last")
                field: forms.Field = forms.ChoiceField(choices=choices, widget=forms.RadioSelect, initial=initial)
            else:
                field = forms.BooleanField(
                    label="Leave out 1 row" if n == 1 else f"Leave out {n:,} rows",
                    initial=True,
                    error_messages={"required": "Leave these rows out, or correct the file and upload it again."},
                )
            self.fields[f"fix_{at}"] = field
            examples = [each for each in check["problems"] if each["kind"] == kind][:3]
            self.problems.append({"kind": kind, "n": n, "field": self[f"fix_{at}"], "examples": examples})
        self.dataset_fields = self.group("name", "title", "item_type", "project")

    def changes(self) -> dict[str, Any]:
        """The dataset's name, and the kinds of problems whose rows are left out."""
        values = self.cleaned_data
        chosen: dict[str, Any] = {name: values[name] for name in ("name", "title", "item_type")}
        repeats = [values[each["field"].name] for each in self.problems if each["kind"] in REPEATS]
        fix = [each["kind"].replace(" ", "-") for each in self.problems if each["kind"] not in REPEATS]
        return {**chosen, "fix": fix, "duplicates": repeats[0] if repeats else None}


FORMS: Mapping[str, type[StepForm]] = {
    "columns": ColumnsForm,
    "ratings": RatingsForm,
    "items": ItemsForm,
    "check": CheckForm,
}


def without(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The options but for some."""
    return {name: value for name, value in options.items() if name not in names}


def _slug(source: str) -> str:
    name = PurePosixPath(source.partition(", ")[0]).name.lower()
    stem = re.sub(r"(\.(zip|tar|gz|bz2|xz|csv|tsv|txt|dat|data|parquet|pq|json|jsonl|ndjson|xlsx?|ods))+$", "", name)
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:80] or "dataset"
