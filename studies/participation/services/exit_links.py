"""Exit links: the text, the code and the address for a participant whose part is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from studies.enums import Mode, ParticipantStatus
from studies.models import Participant
from studies.recruitment.panels import exits
from studies.recruitment.selectors.recruitment import RecruitmentSettings, recruiting_of
from studies.recruitment.services.tokens import code_of

CODE_BY_ID = timedelta(hours=24)  # after the end, in which a panel's id shows the code too
OUTCOME_OF = {
    ParticipantStatus.COMPLETED: exits.COMPLETE,
    ParticipantStatus.SCREENED_OUT: exits.SCREENED_OUT,
    ParticipantStatus.QUOTA_FULL: exits.QUOTA_FULL,
    ParticipantStatus.ATTENTION_FAILED: exits.ATTENTION_FAILED,
    ParticipantStatus.WITHDRAWN: exits.WITHDREW,
}


@dataclass(frozen=True)
class ExitLink:
    """An exit as one participant sees it; `url` is empty if there is no address to return to."""

    outcome: str
    code: str = ""
    url: str = ""
    panel: str = ""  # as people read it
    text: Mapping[str, str] = field(default_factory=dict)


def exit_link_of(*, participant: Participant, outcome: str = "") -> ExitLink | None:
    """The exit for an outcome, by default the participant's own; None while they are under way.

    An individual code has been drawn and stored by then. Simulated participants get no address.
    """
    outcome = outcome or OUTCOME_OF.get(ParticipantStatus(participant.status), "")
    if not outcome:
        return None
    recruiting = recruiting_of(participant.study)
    code = code_of(participant=participant, exit_=recruiting.exits[outcome])
    return _exit(recruiting, outcome, code, _parameters(participant), participant.mode)


def exit_without_slot(*, participant: Participant) -> ExitLink:
    """The exit *Study full* for a participant who has no slot and may still get one: no individual code is drawn."""
    recruiting, outcome, mode = recruiting_of(participant.study), exits.QUOTA_FULL, participant.mode
    return exit_before_enrolment(recruiting=recruiting, outcome=outcome, parameters=_parameters(participant), mode=mode)


def _parameters(participant: Participant) -> dict[str, str]:
    # Ids last: they are stored apart from the other parameters, and win where a name is both.
    ids = dict(participant.external_ids.values_list("name", "value"))
    return {**{name: str(value) for name, value in participant.parameters.items()}, **ids}


def is_code_guarded(*, participant: Participant, since: datetime | None) -> bool:
    """Whether only the personal link shows the code: a visitor by an id, long after the part was completed.

    Ids of a panel are not secret, and a fixed code is worth money to anyone who learns it. Within CODE_BY_ID the
    participant may come back by the panel's link, as the exit link may have failed.
    """
    completed_at = participant.completed_at
    return since is not None and completed_at is not None and since - completed_at > CODE_BY_ID


def exit_before_enrolment(
    *, recruiting: RecruitmentSettings, outcome: str, parameters: Mapping[str, str], mode: str
) -> ExitLink:
    """The exit for a visitor who never entered, from their link's parameters. Nothing is stored.

    Individual codes belong to participants, so visitors get neither a code nor an address that contains one.
    """
    exit_ = recruiting.exits[outcome]
    code = exit_.static_code if exit_.code == exits.STATIC else ""
    return _exit(recruiting, outcome, code, parameters, mode)


def _exit(settings: RecruitmentSettings, outcome: str, code: str, parameters: Mapping[str, str], mode: str) -> ExitLink:
    exit_, panel = settings.exits[outcome], settings.panel
    url, template = "", exit_.template(panel)
    if template and mode != Mode.SIMULATED:
        known = panel.identify(parameters)
        url = exits.redirect_url(template, code=code, known_as=known[1] if known else "", parameters=parameters)
    return ExitLink(outcome, code, url, panel.name if panel.key != "none" else "", exit_.text)
