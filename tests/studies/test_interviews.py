"""Interviewers: sessions that they start, their place in the assignment, and a device nobody is signed in on."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from core.errors import ParallaxError
from studies.allocation.selectors.allocations import replayed_log
from studies.data.codebook.participants import participant_variables
from studies.data.codebook.variable import INDIRECTLY, YES
from studies.design.narrative.preregistration import OSF, preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import change_design
from studies.enums import Entrance, Mode, ParticipantStatus, Role
from studies.models import Interview, Participant, PersonalLink, Study
from studies.monitoring.services.blinding import open_outcomes
from studies.participation.services import consenting, enrolment
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services.interviews import start_interview
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.selectors.recruitment import (
    InterviewPlace,
    conditions_without_interviewer,
    interviewers_of,
    link_counts,
)
from studies.recruitment.services.recruitment import set_places
from studies.team.services.members import add_member, remove_member
from tests.factories.accounts import UserFactory
from tests.factories.studies import ABOUT, completed, make_study
from tests.factories.walking import Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def owner() -> User:
    return UserFactory()


def _interviewer(study: Study, **given: Any) -> User:
    user = UserFactory()
    add_member(study=study, email=user.email, role=Role.INTERVIEWER, **given)
    return user


def _places(study: Study) -> None:
    set_places(study=study, places=[InterviewPlace("lab", "Laboratory"), InterviewPlace("home", "At home")])


def _signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _interviewed(study: Study, interviewer: User, **about: Any) -> Participant:
    started = start_interview(study=study, interviewer=interviewer, label="Anna R.", note="Came late")
    entry = consenting.consent(EntryAttempt(study=study, entry_key=started.key, browser_key="b" * 43))
    return enrolment.accept_about(participant=entry.participant, answers={**ABOUT, **about})


def test_a_session_is_stored_with_place_and_label_and_enrols_by_consent(owner: User) -> None:
    study = make_study(owner=owner)
    _places(study)
    one, other = _interviewer(study), _interviewer(study)
    started = start_interview(study=study, interviewer=one, place="lab", label=" Anna R. ", note="Came late")
    assert not Participant.objects.exists()
    entry = consenting.consent(EntryAttempt(study=study, entry_key=started.key, browser_key="b" * 43))
    assert (
        consenting.consent(EntryAttempt(study=study, entry_key=started.key, browser_key="b" * 43)).participant
        == entry.participant
    )
    interview = Interview.objects.get()
    assert (interview.participant, interview.place, interview.label) == (entry.participant, "lab", "Anna R.")
    assert entry.participant.entrance == Entrance.INTERVIEW
    assert [start_interview(study=study, interviewer=who).interview.number for who in (other, one, other)] == [2, 1, 2]
    assert link_counts(study)["created"] == 0  # interviews' links are their own
    lines = interviewers_of(study)
    assert [(line.researcher, line.number, line.n_sessions) for line in lines] == [(one, 1, 2), (other, 2, 2)]
    withdraw(participant=entry.participant)
    interview.refresh_from_db()
    assert (interview.place, interview.label, interview.note_before, interview.number) == ("", "", "", 1)
    refusals: tuple[tuple[dict[str, str], str], ...] = (
        ({"label": "x" * 201}, "interview.long_label"),
        ({"note": "x" * 2001}, "interview.long_note"),
        ({"place": "Room 12"}, "interview.unknown_place"),
        ({}, "study.not_open"),
    )
    for given, code in refusals:
        if not given:
            Study.objects.update(status="paused")
        with pytest.raises(ParallaxError) as refusal:
            start_interview(study=study, interviewer=one, **given)
        assert refusal.value.code == code


@pytest.mark.parametrize("method", ["permuted_blocks", "minimisation", "least_filled"])
def test_by_default_every_interviewer_meets_every_condition(owner: User, method: str) -> None:
    study = make_study(owner=owner, per_condition=6, settings={"method": method, "minimisation_probability": 1.0})
    people = [_interviewer(study) for _ in range(2)]
    for _round in range(3):
        for interviewer in (people[0], people[0], people[1], people[1]):
            _interviewed(study, interviewer)
    counted = Counter(Participant.objects.values_list("interview__number", "condition__position"))
    if method != "least_filled":  # which looks at no trait
        assert counted == {(1, 0): 3, (1, 1): 3, (2, 0): 3, (2, 1): 3}
    strata = set(Participant.objects.values_list("stratum", flat=True))
    assert strata == {"women, 20-34, interviewer 1", "women, 20-34, interviewer 2"}
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert enrolment.accept_about(
        participant=consenting.consent(EntryAttempt(study=study, entry_key="k" * 40)).participant, answers=ABOUT
    ).waiting_since is not None  # fmt: skip


@pytest.mark.parametrize("method", ["permuted_blocks", "minimisation", "least_filled", "simple"])
def test_nested_interviewers_fill_their_own_condition_and_the_log_replays(owner: User, method: str) -> None:
    study = make_study(owner=owner, per_condition=3, settings={"interviewers": "nested", "method": method})
    conditions = list(study.conditions.order_by("position"))
    first, second = (_interviewer(study, condition=condition) for condition in conditions)
    without = _interviewer(study)
    with pytest.raises(ParallaxError, match="one condition"):
        start_interview(study=study, interviewer=without)
    late = start_interview(study=study, interviewer=first)
    found = [_interviewed(study, first, gender=gender) for gender in ("woman", "man", "woman")]
    with pytest.raises(ParallaxError, match="reached its target"):
        start_interview(study=study, interviewer=first)
    late_one = consenting.consent(EntryAttempt(study=study, entry_key=late.key, browser_key="b" * 43)).participant
    assert enrolment.accept_about(participant=late_one, answers=ABOUT).status == ParticipantStatus.QUOTA_FULL
    assert [one.status for one in found] == ["active", "active", "active"]
    assert {one.condition_id for one in found} == {conditions[0].pk}
    assert _interviewed(study, second).condition == conditions[1]
    assert replayed_log(study, Mode.LIVE).problem == ""
    plain = consenting.consent(EntryAttempt(study=study, entry_key="k" * 40)).participant
    assert enrolment.accept_about(participant=plain, answers=ABOUT).condition == conditions[1]
    assert replayed_log(study, Mode.LIVE).problem == ""


def test_nesting_is_flagged_wherever_the_study_is_told_of(owner: User) -> None:
    study = make_study(owner=owner, status="draft")
    client = _signed_in(owner)
    words = "confounded"
    assert words not in preregistration(preregistration_plan(study), OSF)
    with pytest.raises(ParallaxError, match="'crossed' or 'nested'"):
        change_design(study=study, settings={"interviewers": "both"})
    form = client.get(reverse("studies:sample", args=[study.slug])).context["form"]
    client.post(reverse("studies:sample", args=[study.slug]), {**form.initial, "interviewers": "nested"})
    study.refresh_from_db()
    assert study.settings["interviewers"] == "nested"
    assert words in preregistration(preregistration_plan(study), OSF)
    assert "Interviewers are nested in conditions." in client.get(reverse("studies:sample", args=[study.slug])).text
    page = client.get(reverse("studies:interviewers", args=[study.slug])).text
    assert words in page
    assert "No interviewer yet:</strong> TopPop, PureSVD4" in page
    user, condition = UserFactory(), study.conditions.first()
    client.post(
        reverse("studies:member-add", args=[study.slug]),
        {"email": user.email, "role": "interviewer", "condition": condition.label},
    )
    assert study.memberships.get(researcher=user).condition == condition
    assert conditions_without_interviewer(study) == ["PureSVD4"]
    assert condition.label in client.get(reverse("studies:members", args=[study.slug])).text
    add_member(study=study, email=user.email, role=Role.ANALYST, condition=condition)
    assert study.memberships.get(researcher=user).condition is None


def test_the_codebook_declares_what_an_interviewer_noted(owner: User) -> None:
    study = make_study(owner=owner)
    interviewer = _interviewer(study)
    _interviewed(study, interviewer)
    _places(study)
    Interview.objects.update(place="lab")
    completed(study)
    open_outcomes(study=study, reason="A test.")
    declared = {v.name: v for v in participant_variables(study)}
    assert declared["interview.label"].identifies == YES
    assert declared["interview.place"].identifies == INDIRECTLY
    assert declared["interview.place"].values == (("lab", "Laboratory"), ("home", "At home"))
    for named in (False, True):
        asked = {"include_external_ids": "on"} if named else {}
        response = _signed_in(owner).get(reverse("studies:export", args=[study.slug, "wide"]), asked)
        with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as archive:
            name = next(n for n in archive.namelist() if n.endswith("wide_data.csv"))
            table = archive.read(name).decode()
            book = archive.read(name.replace("_data.csv", "_codebook.csv")).decode()
        assert ("Anna R." in table) == ("Came late" in table) == named
        assert ("interview.label" in book) == named
        assert ",lab," in table
        assert "lab = Laboratory" in book
        assert "participant.entrance" in book
        assert ",interview," in table
        assert interviewer.email not in table


def test_the_interviewer_hands_over_a_device_that_nobody_is_signed_in_on(owner: User) -> None:
    study = make_study(owner=owner)
    client = _signed_in(_interviewer(study))
    url = reverse("studies:interview", args=[study.slug])
    page = client.get(url)
    assert "no-store" in page.headers["Cache-Control"]
    for hidden in ("TopPop", "Export", study.design_hash[:16], "recruiting/"):
        assert hidden not in page.text
    started = client.post(url, {"label": "A7", "where": "here"})
    assert started.headers["Location"].endswith("/hand-over/")
    calm = client.get(started.headers["Location"])
    assert "no-store" in calm.headers["Cache-Control"]
    for address in (url, reverse("studies:list"), reverse("studies:detail", args=[study.slug]), "/account/"):
        assert client.get(address).headers["Location"].startswith(reverse("accounts:sign_in"))
    assert client.get("/api/v1/studies/").status_code in (401, 403)
    assert "_auth_user_id" not in client.session
    link = tree(calm).xpath("string(//a[@class='go']/@href)")
    person = Person(study, client)
    assert "About you" in person.consent(link).text
    assert person.me.interview.label == "A7"
    assert not tree(person.get("about/")).xpath("//a[starts-with(@href, '/studies') or starts-with(@href, '/account')]")
    # The next session on the same device is another person's.
    assert "Take part" in client.get(f"/s/{study.slug}/").text


def test_a_session_for_another_device_shows_its_link_once(owner: User) -> None:
    study = make_study(owner=owner)
    _places(study)
    client = _signed_in(_interviewer(study))
    url = reverse("studies:interview", args=[study.slug])
    page = client.post(url, {"place": "lab", "label": "Booth 7, left", "where": "elsewhere"})
    link = tree(page).xpath("string(//code[@id='link'])")
    assert Client().get(link).status_code == 200
    assert "/link/" not in client.get(url).text
    assert "Booth 7, left" in client.get(url).text
    assert "Laboratory" in client.get(url).text
    too_long = client.post(url, {"label": "x" * 201})
    assert PersonalLink.objects.count() == 1
    assert "at most 200" in too_long.text
    assert "Select a valid choice" in client.post(url, {"place": "Room 12"}).text
    stranger = _signed_in(_interviewer(study))
    assert "Booth 7, left" not in stranger.get(url).text
    study.conditions.update(target=0)
    full = client.post(url, {"where": "here"})
    assert "the number of participants it needs" in full.text
    assert "_auth_user_id" in client.session  # nobody is signed out for nothing
    Study.objects.update(status="paused")
    assert "does not accept participants at the moment" in client.get(url).text


def test_an_interviewer_who_left_stays_in_the_data_by_number(owner: User) -> None:
    study = make_study(owner=owner)
    interviewer = _interviewer(study)
    _interviewed(study, interviewer)
    remove_member(study=study, membership=study.memberships.get(researcher=interviewer))
    assert _signed_in(interviewer).get(reverse("studies:interview", args=[study.slug])).status_code == 404
    interviewer.delete()
    assert [(line.researcher, line.number) for line in interviewers_of(study)] == [(None, 1)]
