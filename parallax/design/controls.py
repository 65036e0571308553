"""The console's buttons, messages, states, facts and fields."""

from __future__ import annotations

from typing import Any

from django import forms as fields
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.core.paginator import Paginator
from django.utils.datastructures import MultiValueDict

from catalog.forms.upload_limits import MOST_UPLOADED, DropInput
from parallax.design.components import Section, State

CHOICES = [
    ("films", "Films"),
    ("books", "Books"),
    ("songs", "Songs, with a label that is rather longer than the others"),
]
INVALID = {
    "name": "",
    "email": "no address",
    "share": "7",
    "kind": "rugs",
    "kinds": ["rugs"],
    "notes": "",
    "day": "never",
}


class SampleForm(fields.Form):
    """A field of every kind that the console has."""

    name = fields.CharField(help_text="Letters, digits and hyphens.")
    email = fields.EmailField(label="E-mail")
    share = fields.FloatField(min_value=0, max_value=1, help_text="Between 0 and 1.")
    day = fields.DateField(widget=fields.DateInput(attrs={"type": "date"}))
    kind = fields.ChoiceField(choices=CHOICES)
    notes = fields.CharField(widget=fields.Textarea)
    side = fields.ChoiceField(choices=CHOICES, widget=fields.RadioSelect)
    kinds = fields.MultipleChoiceField(choices=CHOICES, widget=fields.CheckboxSelectMultiple)
    is_public = fields.BooleanField(label="Anyone may read it", help_text="Without signing in.")
    locked = fields.CharField(disabled=True, required=False, initial="Cannot be changed")


class ConfirmForm(fields.Form):
    """What is asked before a change that cannot be undone."""

    typed = fields.CharField(label="Type films-2011 to delete its data")


class UploadForm(fields.Form):
    """Files to be dropped or chosen."""

    file = fields.FileField(label="Ratings", widget=DropInput(MOST_UPLOADED), help_text="CSV, TSV or ZIP.")


def sections() -> tuple[Section, ...]:
    """Buttons, messages, states, facts and links to other pages."""
    levels = (constants.SUCCESS, constants.INFO, constants.WARNING, constants.ERROR)
    texts = (
        "The study is saved.",
        "Two models were reused.",
        "The target is reached.",
        "The run could not be started.",
    )
    messages = [Message(level, text) for level, text in zip(levels, texts, strict=True)]
    pages = Paginator(range(60), 20)
    return (
        Section("buttons", "Buttons", (State("", "design/buttons.html"),), wide=True),
        Section("messages", "Messages", (State("", "console/_messages.html", {"messages": messages}),), wide=True),
        Section("notes", "Notes", (State("", "design/notes.html"),), wide=True),
        Section("states", "States", (State("", "design/states.html", {"states": STATES}),), wide=True),
        Section("facts", "Facts and progress", (State("", "design/facts.html"),), wide=True),
        Section(
            "pages",
            "Pages of a list",
            tuple(
                State(label, "console/_pages.html", {"page": pages.page(number), "sort": sort})
                for label, number, sort in (("first", 1, ""), ("middle", 2, "name"), ("last", 3, ""))
            ),
        ),
    )


STATES = ("draft", "live", "paused", "closed", "queued", "running", "succeeded", "failed", "cancelled", "out of date")


def forms() -> tuple[Section, ...]:
    """Fields of every kind as they are first shown and with errors, files, and a confirmation."""
    values: dict[str, Any] = {"name": "films-2011", "share": 0.2, "notes": "Two lines\nof notes.", "side": "books"}
    return (
        Section("fields", "Fields", (_form("first shown", SampleForm(initial=values, auto_id="first_%s")),), wide=True),
        Section(
            "errors", "Fields with errors", (_form("invalid", SampleForm(INVALID, auto_id="wrong_%s")),), wide=True
        ),
        Section(
            "files",
            "Files and confirmation",
            (
                _form("drop or choose", UploadForm()),
                _form("missing", UploadForm({}, MultiValueDict(), auto_id="missing_%s")),
                State("confirmation", "accounts/_confirm_form.html", {"form": ConfirmForm()}),
            ),
        ),
    )


def _form(label: str, form: fields.Form) -> State:
    return State(label, "design/form.html", {"form": form})
