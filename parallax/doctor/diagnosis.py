"""What a check of the installation says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """Whether nothing is wrong, something could be better, or something must be fixed."""

    OK = "ok"
    ADVICE = "advice"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Diagnosis:
    """The state of one subject in a sentence, and the remedy where it needs one."""

    subject: str
    level: Level
    what: str
    remedy: str = ""


def ok(subject: str, what: str) -> Diagnosis:
    """Create the diagnosis that nothing is wrong."""
    return Diagnosis(subject, Level.OK, what)


def advice(subject: str, what: str, remedy: str) -> Diagnosis:
    """Create the diagnosis that something could be better."""
    return Diagnosis(subject, Level.ADVICE, what, remedy)


def problem(subject: str, what: str, remedy: str) -> Diagnosis:
    """Create the diagnosis that something must be fixed."""
    return Diagnosis(subject, Level.PROBLEM, what, remedy)
