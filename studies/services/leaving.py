"""The way out: what somebody whose part is over is told, which code they get, and where they may go on to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studies.enums import Mode, ParticipantStatus
from studies.models import Participant
from studies.recruiting import exits
from studies.selectors.recruiting import HowRecruited, recruiting_of
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
    code = code_of(participant=participant, exit_=recruiting.exits[outcome])
    ids = dict(participant.external_ids.values_list("name", "value"))
    said = {**{name: str(value) for name, value in participant.parameters.items()}, **ids}
    return _way(recruiting, outcome, code, said, participant.mode)


def way_out_at_the_door(*, recruiting: HowRecruited, outcome: str, parameters: Mapping[str, str], mode: str) -> WayOut:
    """The way out of somebody who never came in, by what their link says. Nothing is stored.

    A code of their own would be a participant's, so they get none, and no address that has one in it.
    """
    exit_ = recruiting.exits[outcome]
    code = exit_.static_code if exit_.code == exits.STATIC else ""
    return _way(recruiting, outcome, code, parameters, mode)


def _way(recruiting: HowRecruited, outcome: str, code: str, said: Mapping[str, str], mode: str) -> WayOut:
    exit_, panel = recruiting.exits[outcome], recruiting.panel
    url, template = "", exit_.template(panel)
    if template and mode != Mode.SIMULATED:
        known = panel.who(said)
        url = exits.way_on(template, code=code, known_as=known[1] if known else "", parameters=said)
    return WayOut(outcome, code, url, panel.name if panel.key != "none" else "", exit_.text)
