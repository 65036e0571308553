"""What a check of the installation says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial


class Level(Enum):
    """Whether nothing is wrong, something could be better, or something must be fixed; as it is printed."""

    OK = "ok"
    ADVICE = "advice"
    PROBLEM = "PROBLEM"


@dataclass(frozen=True)
class Diagnosis:
    """The state of one subject in a sentence, and the remedy where it needs one."""

    level: Level
    subject: str
    what: str
    remedy: str = ""


ok, advice, problem = (partial(Diagnosis, level) for level in Level)
