"""The way out: what somebody whose part is over is told, which code they get, and where they may go on to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studies.enums import Mode, ParticipantStatus
from studies.models import Participant
from studies.recruiting import exits
from studies.selectors.recruiting import recruiting_of
from studies.services.codes import code_of

OUTCOME_OF = {
    ParticipantStatus.COMPLETED: exits.COMPLETE,
    ParticipantStatus.SCREENED_OUT: exits.SCREENED_OUT,
    ParticipantStatus.QUOTA_FULL: exits.QUOTA_FULL,
    ParticipantStatus.ATTENTION_FAILED: exits.ATTENTION_FAILED,
    ParticipantStatus.WITHDRAWN: exits.WITHDREW,
}


@dataclass(frozen=True)
class WayOut:
    """An exit as one participant meets it; `url` is empty where there is nowhere to go on to."""

    outcome: str
    code: str = ""
    url: str = ""
    panel: str = ""  # as people read it
    text: Mapping[str, str] = field(default_factory=dict)


def way_out(*, participant: Participant, outcome: str = "") -> WayOut | None:
    """The way out by an outcome, by default the participant's own; None while they are under way.

    A code of their own is drawn and stored by then. Simulated participants are led nowhere.
    """
    outcome = outcome or OUTCOME_OF.get(ParticipantStatus(participant.status), "")
    if not outcome:
        return None
    recruiting = recruiting_of(participant.study)
    exit_ = recruiting.exits[outcome]
    code = code_of(participant=participant, exit_=exit_)
    url, template = "", exit_.template(recruiting.panel)
    if template and participant.mode != Mode.SIMULATED:
        ids = dict(participant.external_ids.values_list("name", "value"))
        said = {**{name: str(value) for name, value in participant.parameters.items()}, **ids}
        known = recruiting.panel.who(ids)
        url = exits.way_on(template, code=code, known_as=known[1] if known else "", parameters=said)
    return WayOut(outcome, code, url, recruiting.panel.name if recruiting.panel.key != "none" else "", exit_.text)
