"""The form about the person, kept before it is sent; the language kept with the participant; room at the entrance."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import ParallaxError
from studies.design.services.launch import close_study, pause_study
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.participation.services.consenting import consent
from studies.participation.services.entry_gate import (
    EntryAttempt,
    entered_participant,
    is_full,
    refuse_unless_room,
    require_admission,
)
from studies.participation.services.participant_state import change_language
from tests.factories.answering import submit
from tests.factories.studies import ABOUT, assigned, enter, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=1)


def kept(participant: Participant) -> dict[str, object]:
    return dict(participant.responses.values_list("question", "value"))


def test_what_can_be_used_is_kept_and_the_rest_waits(study: Study) -> None:
    participant = enter(study).participant
    given: dict[str, Any] = {"age": "abc", "gender": "woman", "gender_text": "not asked of a woman", "unknown": 1}
    submit(participant, "about", **given)
    assert kept(participant) == {"gender": "woman"}
    submit(participant, "about", age=41, gender="self_described", gender_text="so")
    assert kept(participant) == {"age": 41, "gender": "self_described", "gender_text": "so"}
    assert participant.status == ParticipantStatus.CONSENTED


def test_a_draft_is_refused_once_the_form_is_accepted_or_the_study_closed(study: Study) -> None:
    participant = assigned(study)
    with pytest.raises(ParallaxError) as refusal:
        submit(participant, "about", gender="man", age=50)
    assert refusal.value.code == "study.out_of_order"
    assert kept(participant)["age"] == ABOUT["age"]
    other = enter(study).participant
    close_study(study=study)
    with pytest.raises(ParallaxError) as refusal:
        submit(other, "about", age=50)
    assert refusal.value.code == "study.closed"


def test_a_language_that_the_study_is_not_written_in_changes_nothing(study: Study) -> None:
    participant = enter(study, language="en").participant
    for asked, spoken in (("de", "en"), ("it", "it"), ("it", "it"), ("", "it")):
        change_language(participant=participant, language=asked)
        participant.refresh_from_db()
        assert participant.language == spoken


def test_who_entered_is_let_through_a_full_study_and_nobody_else(study: Study) -> None:
    newcomer = EntryAttempt(study=study, entry_key="k" * 43)
    refuse_unless_room(study=study, mode=Mode.LIVE)
    for _condition in range(2):
        assert not is_full(study, Mode.LIVE)
        assigned(study)
    assert is_full(study, Mode.LIVE)
    assert not is_full(study, Mode.PREVIEW)
    with pytest.raises(ParallaxError) as refusal:
        require_admission(newcomer)
    assert refusal.value.code == "study.full"
    Participant.objects.filter(pk=Participant.objects.latest("pk").pk).update(status=ParticipantStatus.ABANDONED)
    entry = consent(newcomer)
    Participant.objects.filter(status=ParticipantStatus.ABANDONED).update(status=ParticipantStatus.ACTIVE)
    assert is_full(study, Mode.LIVE)
    assert entered_participant(newcomer) == entry.participant
    pause_study(study=study)
    with pytest.raises(ParallaxError) as refusal:
        refuse_unless_room(study=study, mode=Mode.LIVE)
    assert refusal.value.code == "study.not_open"
