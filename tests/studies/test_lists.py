"""All conditions side by side for one profile, and previews of the condition that a researcher chose."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from core.errors import ParallaxError
from evaluation.services.serving import recommend
from parallax.integrity.all_checks import findings
from studies.design.selectors.sample_profiles import sample_profile
from studies.design.services.launch import close_study
from studies.enums import Mode, ParticipantStatus, Role
from studies.models import Allocation, Participant, RecommendationList, Study
from studies.monitoring.services.blinding import open_outcomes
from studies.participation.services import enrolment
from studies.participation.services.previewing import choose_condition, preview_link, tickets
from studies.simulation.services import condition_lists
from studies.simulation.services.condition_lists import letter, side_by_side
from tests.factories.studies import ABOUT, enter, make_study
from tests.factories.walking import Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

PROFILE = {3: 5, 0: 4, 7: 1}


def _owner(study: Study) -> Client:
    client = Client()
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _lists(study: Study) -> str:
    return reverse("studies:lists", args=[study.slug])


def test_each_list_is_what_a_participant_would_get_and_shared_items_are_counted() -> None:
    study = make_study(status="draft")
    found = side_by_side(study=study, ratings=PROFILE)
    conditions = list(study.conditions.order_by("position"))
    assert [one.name for one in found.lists] == [one.label for one in conditions]
    served = []
    for condition, one in zip(conditions, found.lists, strict=True):
        wanted = recommend(model=condition.model, items=[0, 3, 7], ratings=[4.0, 5.0, 1.0], scale=(1.0, 5.0, 1.0), n=5)
        assert [slot.item.index for slot in one.slots] == list(wanted.items)
        assert [slot.is_filled for slot in one.slots] == list(wanted.is_filled)
        served.append(set(wanted.items))
    n_shared = len(served[0] & served[1])
    assert [row for _name, row in found.overlaps] == [(None, n_shared), (n_shared, None)]
    assert found.n_different == len(served[0] | served[1])
    for one in found.lists:
        assert {slot.item.index for slot in one.slots if slot.n_lists > 1} == served[0] & served[1]
    assert not RecommendationList.objects.exists()


def test_names_are_shown_where_blinding_allows() -> None:
    study = make_study()
    labels = set(study.conditions.values_list("label", flat=True))
    blinded = side_by_side(study=study, ratings=PROFILE)
    assert [one.name for one in blinded.lists] == ["List A", "List B"]
    client = _owner(study)
    page = client.get(_lists(study), {"r3": "5"}).content.decode()
    assert "Condition names are hidden" in page
    lists = page[page.index("Condition names are hidden") :]  # the header names the conditions, not their lists
    assert not [label for label in labels if label in lists]
    open_outcomes(study=study, reason="The board asks.")
    page = client.get(_lists(study), {"r3": "5"}).content.decode()
    assert all(label in page for label in labels)
    close_study(study=study)
    page = client.get(_lists(study), {"r3": "5"}).content.decode()
    assert all(label in page for label in labels)
    assert "Walk through it" not in page


def test_letters_go_on_after_the_alphabet() -> None:
    assert [letter(n) for n in (0, 25, 26, 27, 52)] == ["A", "Z", "AA", "AB", "BA"]


def test_a_model_that_cannot_be_used_leaves_the_others_alone() -> None:
    study = make_study()
    broken = tickets(study)[0]
    broken.model.digest = "0" * 64
    broken.model.save()
    found = side_by_side(study=study, ratings=PROFILE)
    assert found.lists[0].problem
    assert "0" * 12 not in found.lists[0].problem
    assert len(found.lists[1].slots) == 5
    open_outcomes(study=study, reason="w")
    problem = next(one.problem for one in side_by_side(study=study, ratings=PROFILE).lists if one.problem)
    assert "0" * 12 in problem


def test_a_sample_user_has_as_many_ratings_as_are_asked_and_stays_the_same() -> None:
    study = make_study(status="draft")
    first = sample_profile(study=study, draw="any", number=0)
    assert first == sample_profile(study=study, draw="any", number=0)
    assert len(first.ratings) == 5
    assert set(first.ratings.values()) <= {1, 2, 3, 4, 5}
    assert sample_profile(study=study, draw="any", number=1).user != first.user
    study.settings["ratings_asked"] = 50
    with pytest.raises(ParallaxError, match="has 50 ratings"):
        sample_profile(study=study, draw="any", number=0)


def test_the_page_takes_a_user_or_stars_and_says_what_is_wrong() -> None:
    study = make_study(status="draft")
    client = _owner(study)
    assert "The lists appear with the first rating." in client.get(_lists(study)).content.decode()
    sampled = client.get(_lists(study), {"draw": "any", "number": "2"})
    wanted = sample_profile(study=study, draw="any", number=2)
    assert f"User {wanted.user} of the dataset" in sampled.content.decode()
    tree = html.document_fromstring(sampled.content)
    checked = {box.get("name"): box.get("value") for box in tree.xpath("//input[@type='radio'][@checked]")}
    assert checked == {f"r{index}": str(stars) for index, stars in wanted.ratings.items()}
    assert len(tree.xpath("//*[@class='lists']//ol/li")) == 10
    assert "number=3" in sampled.content.decode()
    bad = client.get(_lists(study), {"r3": "9", "r999999": "2"}).content.decode()
    assert "&#x27;9&#x27; is not a valid rating of item 3; use 1 to 5." in bad
    assert "This version has no item 999999" in bad
    part = client.get(_lists(study), {"q": "film 1"}, headers={"HX-Request": "true", "HX-Target": "found"})
    assert part.content.decode().startswith('<ul class="rows" id="found"')


@pytest.mark.parametrize("ticket", [0, 1])
def test_a_preview_meets_the_condition_that_was_chosen(ticket: int) -> None:
    study = make_study(status="draft")
    chosen = tickets(study)[ticket]
    for _twice in range(2):
        person = Person(study).to("rate", preview_link(study=study, ticket=ticket))
        me = person.me
        assert (me.mode, me.condition, me.status) == (Mode.PREVIEW, chosen, ParticipantStatus.ACTIVE)
    places = list(Participant.objects.values_list("place", flat=True))
    assert None not in places
    assert len(set(places)) == 2
    assert Allocation.objects.filter(condition=chosen).count() == 2
    assert 'class="mode-note"' in person.get("rate/").content.decode()
    assert not list(findings(lambda _words: None))


def test_only_a_preview_that_has_no_slot_yet_is_given_a_condition() -> None:
    study = make_study()
    live = enter(study).participant
    choose_condition(participant=live, ticket=0)
    live.refresh_from_db()
    assert live.condition is None
    preview = enter(study, Mode.PREVIEW).participant
    enrolment.accept_about(participant=preview, answers=ABOUT)
    preview.refresh_from_db()
    before = preview.condition
    for ticket in (0, 1):
        choose_condition(participant=preview, ticket=ticket)
    preview.refresh_from_db()
    assert preview.condition == before


def test_a_list_that_is_not_there_is_said() -> None:
    study = make_study(status="draft")
    page: Any = _owner(study).get(reverse("studies:preview", args=[study.slug]), {"list": "7"}, follow=True)
    assert "This study has no list number 8." in page.content.decode()
    assert condition_lists.are_named(study)
