"""The live page: newest answers, blinded as long as outcomes are; condition by stratum; flags by the design."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from studies.design.services.launch import design_snapshot, launch_study
from studies.enums import Mode, Role
from studies.models import Participant, Study
from studies.monitoring.selectors import live, monitor
from studies.monitoring.selectors.quality import flag_counts
from studies.monitoring.services.blinding import open_outcomes
from studies.participation.services.withdrawal import withdraw
from tests.factories.pages import flat
from tests.factories.studies import assigned, completed, enter, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


def _owner(study: Study) -> Client:
    client = Client()
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_newest_answers_hide_what_was_said_until_outcomes_are_open() -> None:
    study = make_study()
    person = completed(study)
    completed(study, Mode.SIMULATED)
    blinded = live.newest_answers(study, Mode.LIVE)
    assert (blinded[0].code, blinded[0].question) == (person.code, study.questionnaire["overall"][1]["text"]["en"])
    assert {(one.value, one.condition) for one in blinded} == {(None, None)}
    assert [one.rank for one in blinded[2:4]] == [5, 5]
    simulated = live.newest_answers(study, Mode.SIMULATED, n=1)
    assert simulated[0].value == "=1+1, fine"
    page = (
        _owner(study)
        .get(reverse("studies:data-live", args=[study.slug]), headers={"HX-Request": "true"})
        .content.decode()
    )
    people, others = page.split("<h3>Simulated participants")
    assert "are shown once the outcomes are unblinded" in people
    assert "=1+1, fine" not in people
    assert "=1+1, fine" in others
    open_outcomes(study=study, reason="The board asks.")
    shown = live.newest_answers(study, Mode.LIVE, n=1)[0]
    assert (shown.value, shown.condition) == ("=1+1, fine", person.condition.label)  # type: ignore[union-attr]


def test_condition_by_stratum_counts_who_holds_who_left_and_who_was_sent_away() -> None:
    study = make_study(per_condition=2)
    done = completed(study, age=25)
    under_way = assigned(study, age=25)
    assigned(study, age=80)
    conditions = list(study.conditions.order_by("position"))
    lines = {line.stratum: line for line in live.stratum_lines(study, Mode.LIVE, conditions)}
    own = lines[done.stratum]
    at = {condition.pk: cell for condition, cell in zip(conditions, own.cells, strict=True)}
    assert done.condition_id is not None
    assert under_way.condition_id is not None
    assert at[done.condition_id] == live.Cell(started=1, active=0, completed=1, abandoned=0)
    assert at[under_way.condition_id] == live.Cell(started=1, active=1, completed=0, abandoned=0)
    assert (own.n_held, lines[""].n_screened_out, lines[""].n_held) == (2, 1, 0)
    page = (
        _owner(study)
        .get(reverse("studies:data-live", args=[study.slug]), headers={"HX-Request": "true"})
        .content.decode()
    )
    assert "1 of 2" in page
    assert "No stratum yet" in page


def test_every_line_of_condition_and_stratum_adds_up_whatever_became_of_people() -> None:
    study = make_study(per_condition=10)
    people = [assigned(study, age=25) for _place in range(9)]
    conditions = list(study.conditions.order_by("position"))
    became = ("withdrawn", "returned", "attention_failed", "quota_full", "abandoned", "completed")
    for person, status in zip(people, became, strict=False):
        Participant.objects.filter(pk=person.pk).update(status=status, condition=conditions[0])
    Participant.objects.filter(pk__in=[one.pk for one in people[6:]]).update(condition=conditions[1])
    withdraw(participant=people[6])
    enter(study, Mode.LIVE)
    assigned(study, age=80)
    (none, own) = live.stratum_lines(study, Mode.LIVE, conditions)
    first, second = own.cells
    assert first == live.Cell(started=6, active=0, completed=1, abandoned=1)
    assert (first.left, second.started, second.active, second.left) == (4, 3, 2, 1)
    assert (own.n_screened_out, own.n_quota_full) == (0, 0), "who found no room on coming back has left a condition"
    assert (none.n_screened_out, none.by_condition) == (1, [])
    for line, cell in zip(monitor.counts_by_condition(study, Mode.LIVE), own.cells, strict=True):
        assert (line.started, line.left) == (cell.started, cell.left)
    shown = flat(
        _owner(study).get(reverse("studies:data-live", args=[study.slug]), headers={"HX-Request": "true"}).text
    )
    cells = "".join(f'<td class="n">{n}</td>' for n in (6, 0, 1, 1, 4))
    assert shown.count(f'<th scope="row">{conditions[0].label}</th>{cells}') == 2, "in its stratum, and in all of them"
    assert "3 slots held, 0 screened out" in shown


def test_whoever_only_chose_a_condition_to_preview_has_not_started_in_it() -> None:
    study = make_study()
    conditions = list(study.conditions.order_by("position"))
    person = enter(study, Mode.PREVIEW).participant
    Participant.objects.filter(pk=person.pk).update(condition=conditions[0])
    assert [line.started for line in monitor.counts_by_condition(study, Mode.PREVIEW)] == [0, 0]
    assert live.stratum_lines(study, Mode.PREVIEW, conditions) == []


def test_thresholds_are_set_with_the_design_hashed_with_it_and_count() -> None:
    study = make_study(status="draft", run=None)
    client = _owner(study)
    address = reverse("studies:plan", args=[study.slug])
    said = client.get(address).context["form"].initial
    assert (said["fastest_seconds"], said["fastest_percent"], said["alike_items"]) == (60.0, 33.33, 3)
    before = design_snapshot(study)
    client.post(address, said)
    study.refresh_from_db()
    assert study.settings["quality"]["fastest_share"] == 1 / 3, "not cut to the decimals that the page shows"
    said |= {"fastest_seconds": "0", "fastest_percent": "0", "alike_ratings": "99"}
    client.post(address, said)
    study.refresh_from_db()
    wanted = {
        "fastest_seconds": 0.0,
        "fastest_share": 0.0,
        "alike_items": 3,
        "alike_statements": 6,
        "alike_ratings": 99,
    }
    assert study.settings["quality"] == wanted
    assert design_snapshot(study)["settings"]["quality"] == wanted
    assert design_snapshot(study) != before
    wrong = client.post(address, {**said, "alike_items": "1"}).content.decode()
    assert "greater than or equal to 2" in wrong
    launch_study(study=study)
    completed(study)
    assert dict(flag_counts(study, [Mode.LIVE]))["Too fast"] == 0
    study.settings = {**study.settings, "quality": {**study.settings["quality"], "fastest_seconds": 60}}
    assert dict(live.cached_flag_counts(study, Mode.LIVE))["Too fast"] == 1
    page = client.get(reverse("studies:quality", args=[study.slug])).content.decode()
    assert "too fast means below 0 seconds or 0% of the median time" in page


def test_the_address_of_the_live_part_leads_to_the_whole_page() -> None:
    study = make_study()
    found = _owner(study).get(reverse("studies:live", args=[study.slug]))
    assert found.headers["Location"] == f"{reverse('studies:detail', args=[study.slug])}#live"
    found = _owner(study).get(reverse("studies:data-live", args=[study.slug]))
    assert found.headers["Location"] == f"{reverse('studies:quality', args=[study.slug])}#incoming"


def test_before_anybody_came_a_sentence_says_so_and_a_tick_stands_before_its_words() -> None:
    study = make_study()
    page = _owner(study).get(reverse("studies:detail", args=[study.slug])).content.decode()
    assert "No participants yet." in page
    assert "Progress by step" not in page
    page = _owner(study).get(reverse("studies:quality", args=[study.slug])).content.decode()
    box, words = page.index('name="include_simulated"'), page.index("With simulated participants</label>")
    assert box < words
