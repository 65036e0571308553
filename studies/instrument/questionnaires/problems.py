"""Problems of a questionnaire, each with its path in the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import ParameterError

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One problem of a document and how to fix it."""

    path: Path  # keys and indexes that lead to the problem
    message: str  # full sentences

    @property
    def location(self) -> str:
        """The path as a string such as ``overall[2].choices``; empty for the document itself."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path).lstrip(".")

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.path else self.message


class QuestionnaireProblems(ParameterError):
    """All problems of a questionnaire."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


@dataclass
class Notes:
    """Collects problems while a document is read."""

    problems: list[Problem] = field(default_factory=list)

    def wrong(self, path: Path, message: str) -> None:
        """Record a problem."""
        self.problems.append(Problem(path, message))
