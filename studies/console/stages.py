"""A study as a line of stages: eight pages under one rail, each with its open points.

What a page of a stage is made of:

- Its view has a `for_members` study and ends in `views.autosave.stage_page`, or in `workspace.study_page` with the key
  of the stage as its tab. Both put the rail beside the page; so does a further page of a stage, such as that of power.
- Its template extends ``console/studies/stage.html``. The block `fields` holds the fields of `form`, which is a
  `forms.stage_form.StageForm`, except those that it has `folded`; `beside` holds what is no part of the form. With
  `preview_url` in the context a phone shows a participant's page, and loads it again after each save.
- A part that follows from what is stored has the attribute ``data-live`` and an id: it is replaced after each save.
- An open point names its stage and field. Links to it end in ``#id_<field>``, where `forms.js` moves the focus.
- Stages of a launched study are read-only. Its form names in `amendments` the fields that may still change; each shows
  the button that leads there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from studies.design.selectors.launch_overview import (
    CONDITIONS,
    DATA,
    FLOW,
    LAUNCH,
    PARTICIPANTS,
    PLAN,
    QUESTIONS,
    TEXTS,
    OpenPoint,
    advice_of,
)
from studies.design.services.launch import design_findings
from studies.enums import StudyStatus
from studies.models import Study

COMPLETE, OPEN, NOT_VISITED, LOCKED = "complete", "open", "not visited", "read-only"
VISITED = "stages"  # in the session: the stages that were opened, by study


@dataclass(frozen=True)
class Stage:
    """A stage of a study, and where its page is."""

    key: str
    label: str
    url_name: str

    def url(self, slug: str, field: str = "") -> str:
        """The address of the page, at one of its fields."""
        page = "studies:recruiting" if field == "exits" else self.url_name
        return reverse(page, args=[slug]) + (f"#id_{field}" if field else "")


STAGES = (
    Stage(DATA, "Data", "studies:dataset"),
    Stage(CONDITIONS, "Conditions", "studies:conditions"),
    Stage(FLOW, "Flow", "studies:flow"),
    Stage(QUESTIONS, "Questions", "studies:questionnaire"),
    Stage(TEXTS, "Texts and consent", "studies:texts"),
    Stage(PARTICIPANTS, "Participants", "studies:sample"),
    Stage(PLAN, "Plan", "studies:plan"),
    Stage(LAUNCH, "Pilot and launch", "studies:launch"),
)
STAGE_OF = {stage.key: stage for stage in STAGES}


@dataclass(frozen=True)
class Stop:
    """A stage on the rail: its state, the number of its open points, and whether its page is the current one."""

    stage: Stage
    url: str
    state: str
    n_open: int
    is_current: bool

    @property
    def in_words(self) -> str:
        if self.state != OPEN:
            return self.state
        return f"{self.n_open} open point{'s' if self.n_open > 1 else ''}"


@dataclass(frozen=True)
class Rail:
    """The line of stages on a page of the stage `stage`, its open points, and the stage after it."""

    stops: Sequence[Stop]
    stage: Stage
    points: Sequence[OpenPoint]
    next: Stage | None
    next_url: str


def open_points(study: Study) -> dict[str, list[OpenPoint]]:
    """What each stage of a draft lacks: first what prevents a launch, except what opening the models would show."""
    points = dict.fromkeys([*design_findings(study), *advice_of(study)])
    return {stage.key: [point for point in points if point.stage == stage.key] for stage in STAGES}


def rail_of(request: HttpRequest, study: Study, current: str) -> Rail:
    """The rail on a page of the stage `current`, which counts as visited from now on."""
    visited = request.session.get(VISITED, {}).get(study.slug, [])
    if current not in visited:
        visited = [*visited, current]
        request.session[VISITED] = {**request.session.get(VISITED, {}), study.slug: visited}
    points = open_points(study) if study.status == StudyStatus.DRAFT else None
    stops = []
    for stage in STAGES:
        n = len(points[stage.key]) if points else 0
        state = LOCKED if points is None else OPEN if n else COMPLETE if stage.key in visited else NOT_VISITED
        stops.append(Stop(stage, stage.url(study.slug), state, n, stage.key == current))
    position = [stage.key for stage in STAGES].index(current)
    following = STAGES[position + 1] if position + 1 < len(STAGES) else None
    return Rail(
        stops,
        STAGES[position],
        points[current] if points else (),
        following,
        following.url(study.slug) if following else "",
    )
