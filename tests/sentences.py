"""Cases and what is said of each, as approved texts: refusals of a reader, warnings and sentences of a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from django.core.management import CommandError

from core.errors import DataError, ParallaxError, ParameterError
from tests.approval import assert_approved, assert_refusals_approved

REFUSALS = (ParameterError, DataError, ParallaxError, CommandError)


def assert_sentences_approved(name: str, cases: Mapping[str, Iterable[str]]) -> None:
    """What is said of each case is what the approved text has for it."""
    entries = [[case, *(f"    {line}".rstrip() for line in lines)] for case, lines in cases.items()]
    assert_approved(name, "\n".join("".join(f"{line}\n" for line in entry) for entry in entries))


def assert_refused_as_approved(
    reader: str, cases: Mapping[str, Callable[[], object]], variable: Path | Mapping[str, str] | None = None
) -> None:
    """Every case is refused, by the error or code and in the words that `refusals/READER.txt` has for it.

    `variable` is a folder that lasts for one test, or what `assert_refusals_approved` takes.
    """
    refusals = []
    for case, read in cases.items():
        try:
            read()
        except REFUSALS as refusal:
            kind = refusal.code if isinstance(refusal, ParallaxError) else type(refusal).__name__
            refusals.append((f"{case} [{kind}]", str(refusal)))
        else:
            pytest.fail(f"{reader}: {case} was not refused.")
    masked = {re.escape(f"{variable}"): "FOLDER"} if isinstance(variable, Path) else variable
    assert_refusals_approved(f"refusals/{reader}", refusals, masked)
