"""Argument types of the commands."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path

from django.core.management.base import CommandError

from evaluation.run_spec import RunSpec


def at_least_one(text: str) -> int:
    """Parse a whole number of at least 1. Raises ArgumentTypeError for another value."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1; omit the option for the default.")
    return number


def add_inputs(parser: ArgumentParser, **defaults: str | float | None) -> None:
    """Add an option for each of these inputs of a run with its default, its type and its text."""
    for name, default in defaults.items():
        kind = at_least_one if name == "threads" else type(default)
        parser.add_argument(f"--{name}", type=kind, default=default, help=input_text(name))


def input_text(name: str) -> str:
    """Describe an input of a run, and its default if it has one."""
    field = RunSpec.model_fields[name]
    default = "" if name in ("metrics", "threads") else " Default: %(default)s."
    return " ".join(filter(None, [f"{field.title}.", field.description])) + default


def named_values(texts: Sequence[str], example: str) -> dict[str, str]:
    """Parse the repeated option ``--param NAME=VALUE``. Raises CommandError, with an `example`, for another form."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise CommandError(f"--param {text} is not valid. Write it as in --param {example}.")
        values[name] = value
    return values


def check_folders(*files: Path | None) -> None:
    """Refuse files that could not be written. Raises CommandError: the folder of one of them does not exist."""
    for file in filter(None, files):
        if not file.parent.is_dir():
            raise CommandError(f"The folder {file.parent} for {file.name} does not exist. Create it first.")
