"""Problems of a questionnaire, each with its path in the document."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.field_problems import FieldProblems, Path, Problem

__all__ = ["Notes", "Path", "Problem", "QuestionnaireProblems"]


class QuestionnaireProblems(FieldProblems):
    """All problems of a questionnaire."""


@dataclass
class Notes:
    """Collects problems while a document is read."""

    problems: list[Problem] = field(default_factory=list)

    def wrong(self, path: Path, message: str) -> None:
        """Record a problem."""
        self.problems.append(Problem(path, message))
