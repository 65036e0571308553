"""What is wrong with a questionnaire: every problem with its place in the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import ParameterError

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place of a document, and what to do.

    Parameters
    ----------
    path : tuple of str and int
        Names and numbers that lead to the place.
    message : str
        Full sentences.
    """

    path: Path
    message: str

    @property
    def place(self) -> str:
        """The path in one word, such as ``overall[2].choices``; empty for the document itself."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path).lstrip(".")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.path else self.message


class QuestionnaireProblems(ParameterError):
    """Everything that is wrong with a questionnaire.

    Parameters
    ----------
    problems : sequence of Problem
        At least one.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


@dataclass
class Notes:
    """Problems as they are found."""

    problems: list[Problem] = field(default_factory=list)

    def wrong(self, path: Path, message: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(path, message))
