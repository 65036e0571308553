"""Participants whom the plan excludes: counted apart, and refilled where the design says so."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from core.errors import ParallaxError
from core.models import LogEntry
from parallax.integrity.slots import check_slots
from studies.allocation.selectors.allocations import replayed_log, slots_held
from studies.console.forms.plan import PlanForm
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import change_design
from studies.enums import AllocationKind, Mode, ParticipantStatus
from studies.models import Allocation, ExternalId, Participant, Study
from studies.monitoring.selectors.live import analysable_counts, stratum_lines
from studies.monitoring.selectors.monitor import counts_by_condition
from studies.monitoring.selectors.quality import public_ids, reviewed
from studies.monitoring.services.exclusions import exclude, reopen_excluded_slots
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.services.entry_gate import is_full
from studies.participation.services.withdrawal import withdraw
from tests.factories.accounts import UserFactory
from tests.factories.studies import assigned, completed, make_study
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

METHODS = ["permuted_blocks", "minimisation", "least_filled", "simple"]


def planned(*, refill: bool, per_condition: int = 2, **settings: Any) -> Study:
    """A live study whose plan excludes who came with another's id."""
    rule = {"plan": {"exclude": ["same_external_id"]}, "quality": {"fastest_seconds": 0, "fastest_share": 0}}
    more = {"refill_excluded": True} if refill else {}
    return make_study(per_condition=per_condition, owner=UserFactory(), settings={**rule, **more, **settings})


def named(person: Participant, value: str) -> Participant:
    ExternalId.objects.create(study=person.study, participant=person, name="PROLIFIC_PID", value=value)
    return person


def doubled(study: Study) -> list[Participant]:
    """Two who completed and came with one id."""
    return [named(completed(study, number=number), "same") for number in range(2)]


@pytest.mark.parametrize("method", METHODS)
def test_their_slots_open_again_and_the_allocation_replays(method: str) -> None:
    study = planned(refill=True, method=method)
    people = doubled(study)
    others = [completed(study, number=number) for number in (2, 3)]
    assert is_full(study, Mode.LIVE)
    assert assigned(study).status == ParticipantStatus.QUOTA_FULL
    assert reopen_excluded_slots() == 2
    assert reopen_excluded_slots() == 0
    for person in people:
        row = Participant.objects.get(pk=person.pk)
        assert (row.status, row.place, row.condition) == (ParticipantStatus.COMPLETED, None, person.condition)
        line = LogEntry.objects.get(object_id=person.pk, kind="studies.participant", facts__act="slot_reopened")
        assert "(Same external id)" in line.reason
    assert Allocation.objects.filter(kind=AllocationKind.RELEASED).count() == 2
    assert not is_full(study, Mode.LIVE)
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert list(check_slots(study)) == []
    # Two others take the slots, then the study is full, with every condition at its target.
    for number in (4, 5):
        assert completed(study, number=number).status == ParticipantStatus.COMPLETED
    assert assigned(study).status == ParticipantStatus.QUOTA_FULL
    assert list(slots_held(study, Mode.LIVE).values()) == [2, 2]
    cache.clear()
    assert analysable_counts(study, Mode.LIVE) == {"TopPop": 2, "PureSVD4": 2}
    assert [line.n_held for line in counts_by_condition(study, Mode.LIVE)] == [2, 2]
    conditions = list(study.conditions.order_by("position"))
    assert sum(cell.n_held for line in stratum_lines(study, Mode.LIVE, conditions) for cell in line.cells) == 4
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert list(check_slots(study)) == []
    # Who withdraws without a slot releases none.
    withdraw(participant=people[0])
    withdraw(participant=others[0])
    assert replayed_log(study, Mode.LIVE).problem == ""
    assert list(check_slots(study)) == []
    assert sum(slots_held(study, Mode.LIVE).values()) == 3


def test_without_the_option_and_for_exclusions_by_hand_slots_stay_taken() -> None:
    study = planned(refill=False, per_condition=3)
    doubled(study)
    assert reopen_excluded_slots() == 0
    refilled = make_study(slug="refilled", run=study.run, settings={**study.settings, "refill_excluded": True})
    exclude(participant=completed(refilled), reason="Spoke to a friend")
    assert reopen_excluded_slots() == 0
    assert sum(slots_held(refilled, Mode.LIVE).values()) == 1
    # Simulated participants answer as they are told, and are never refilled.
    named(completed(refilled, Mode.SIMULATED), "one")
    named(completed(refilled, Mode.SIMULATED, number=1), "one")
    assert reopen_excluded_slots() == 0


def test_owners_are_told_of_a_full_study_once_it_is_full_of_people_who_count() -> None:
    study = planned(refill=True, per_condition=1)
    doubled(study)
    reopen_excluded_slots()
    notify_due()
    assert not study.notices.filter(kind__in=["study_full", "target_reached"]).exists()
    for number in (2, 3):
        completed(study, number=number)
    notify_due()
    assert study.notices.filter(kind="target_reached").count() == 2
    assert study.notices.filter(kind="study_full").exists()


def test_the_option_is_part_of_the_design_and_needs_a_rule() -> None:
    study = make_study(status="draft", owner=UserFactory())
    with pytest.raises(ParallaxError, match="choose at least one quality flag"):
        change_design(study=study, settings={"refill_excluded": True})
    with pytest.raises(ParallaxError, match="Expected true or false"):
        change_design(study=study, settings={"refill_excluded": "yes"})
    form = PlanForm(study)
    said = {name: field.value() for name in form.fields for field in [form[name]] if field.value() is not None}
    unchanged = PlanForm(study, said)
    assert unchanged.is_valid(), unchanged.errors
    unchanged.save(None)
    study.refresh_from_db()
    assert "refill_excluded" not in study.settings
    chosen = PlanForm(study, {**said, "exclude": ["too_fast"], "refill_excluded": "on"})
    assert chosen.is_valid(), chosen.errors
    chosen.save(None)
    study.refresh_from_db()
    assert study.settings["refill_excluded"] is True
    text = preregistration(preregistration_plan(study), "osf")
    assert "do not count towards the target: their slot goes to another participant" in text


@pytest.fixture
def client() -> Client:
    return Client()


def _signed_in(client: Client, study: Study) -> Client:
    client.force_login(study.memberships.get().researcher, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_the_live_page_has_a_column_of_those_who_can_be_analysed(client: Client) -> None:
    study = planned(refill=False, per_condition=4)
    doubled(study)
    exclude(participant=completed(study, number=2), reason="Spoke to a friend")
    completed(study, number=3)
    cache.clear()
    page = tree(_signed_in(client, study).get(reverse("studies:detail", args=[study.slug])))
    (table,) = page.xpath("//section[@class='monitored']//table[contains(caption, 'Analysable')]")
    heads = [head.text_content() for head in table.xpath(".//thead//th")]
    at = heads.index("Analysable")
    rows = [[cell.text_content().strip() for cell in row.xpath("./th | ./td")] for row in table.xpath(".//tbody/tr")]
    assert sum(int(row[heads.index("Completed")]) for row in rows) == 4
    assert sum(int(row[at]) for row in rows) == 1


def test_owners_see_code_and_export_id_together_and_people_before_simulated_ones(client: Client) -> None:
    study = planned(refill=False, per_condition=4)
    simulated = completed(study, Mode.SIMULATED)
    exclude(participant=simulated, reason="A trial")
    people = doubled(study)
    assert [one.participant.pk for one in reviewed(study, [Mode.LIVE, Mode.SIMULATED])] == [
        *(person.pk for person in people),
        simulated.pk,
    ]
    ids = public_ids(study)
    address = reverse("studies:participants", args=[study.slug])
    owner = _signed_in(client, study)
    page = tree(owner.get(address))
    rows = [[cell.text_content().strip() for cell in row.xpath("./th | ./td")] for row in page.xpath("//tbody/tr")]
    assert [row[:4] for row in rows] == [
        *([person.code, ids[person.pk], "PROLIFIC_PID same", "Live"] for person in people),
        [simulated.code, ids[simulated.pk], "–", "Simulated"],
    ]
    assert rows[0][-1] == "By the plan: Same external id"
    assert rows[2][-1] == "A trial"
    quality = owner.get(reverse("studies:quality", args=[study.slug])).content.decode()
    assert people[0].code in quality
    for sought in (people[0].code[:6], ids[people[0].pk]):
        found = tree(owner.get(address, {"q": sought})).xpath("//tbody/tr/th")
        assert [cell.text_content().strip() for cell in found] == [people[0].code]
    assert len(tree(owner.get(address, {"q": "SAME"})).xpath("//tbody/tr")) == 2
    assert "No participant matches." in owner.get(address, {"q": "zzzzzzzz"}).content.decode()


def test_the_list_of_participants_takes_few_queries(client: Client, django_assert_max_num_queries: Any) -> None:
    study = planned(refill=False, per_condition=4)
    for number in range(5):
        named(completed(study, number=number), f"p{number}")
    owner = _signed_in(client, study)
    with django_assert_max_num_queries(30):
        owner.get(reverse("studies:participants", args=[study.slug]))
