"""The checklist of a launch: what a draft needs, each with its state and the page where it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from studies.design.selectors.launch_overview import (
    ASSIGNMENT,
    CONSENT,
    LANGUAGES,
    MODELS,
    PATH,
    PILOT,
    PLAN,
    POWER,
    PREVIEW,
    SHOWN,
    Gap,
)

DONE, MISSING, PROBLEM = "done", "missing", "problem"
# Title and page, by a key of the view's, of each check.
CHECKS = {
    MODELS: ("Conditions complete, models present", "conditions"),
    PREVIEW: ("Previewed by a person", "preview"),
    PILOT: ("Simulated pilot passed", "pilot"),
    POWER: ("Power computed", "power"),
    PLAN: ("Hypothesis and exclusion rules set", "design"),
    CONSENT: ("Consent text complete", "design"),
    LANGUAGES: ("Texts in every offered language", "design"),
    ASSIGNMENT: ("Assignment unpredictable", "assignment"),
    SHOWN: ("Item information complete", "preview"),
    PATH: ("No dead end for participants", "questionnaire"),
}


@dataclass(frozen=True)
class CheckLine:
    """One check. `problems` prevent the launch, `gaps` do not; `page` is where the check is done."""

    title: str
    page: str
    problems: tuple[Gap, ...]
    gaps: tuple[Gap, ...]

    @property
    def state(self) -> str:
        """`PROBLEM`, `MISSING` or `DONE`."""
        return PROBLEM if self.problems else MISSING if self.gaps else DONE


def launch_checklist(gaps: Sequence[Gap], problems: Sequence[Gap]) -> list[CheckLine]:
    """Sort what is missing and what prevents the launch by check; a gap that is also a problem is listed once."""
    prevented = {problem.text for problem in problems}
    return [
        CheckLine(
            title,
            page,
            tuple(problem for problem in problems if problem.check == check),
            tuple(gap for gap in gaps if gap.check == check and gap.text not in prevented),
        )
        for check, (title, page) in CHECKS.items()
    ]
