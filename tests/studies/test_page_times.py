"""How long pages take, and what a study costs by it."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from studies.enums import Mode
from studies.models import Event, Participant, Study
from studies.monitoring.selectors.estimate import cost_of, estimate_of
from studies.monitoring.selectors.page_times import BROWSER, SERVER, page_summaries, step_times, time_by_page
from tests.approval import assert_approved
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=20)


def left(person: Participant, page: str, seconds: float, rank: int = 0, hidden: float = 0.0) -> None:
    n = Event.objects.count()
    Event.objects.create(
        participant=person, kind="page_left", key=f"key-{n:06d}", page=page, rank=rank, seconds=seconds,
        hidden_seconds=hidden,
    )  # fmt: skip


def viewed(person: Participant, page: str, after: float) -> None:
    event = Event.objects.create(participant=person, kind="page_view", page=page)
    Event.objects.filter(pk=event.pk).update(at=person.consented_at + timedelta(seconds=after))


def test_time_in_sight_is_summed_by_page_and_hidden_time_is_apart(study: Study) -> None:
    person = completed(study)
    left(person, "rate", 10.0)
    left(person, "rate", 5.5, hidden=60.0)
    left(person, "items", 3.0, rank=1)
    left(person, "items", 4.0, rank=2)
    found = time_by_page(study, [Mode.LIVE])[person.pk]
    assert (found["rate", 0, 1].seconds, found["rate", 0, 1].hidden_seconds) == (15.5, 60.0)
    times = {one.step: one for one in step_times(study, Mode.LIVE)}
    assert (times["rate"].median, times["rate"].source, times["rate"].n) == (15.5, BROWSER, 1)
    assert times["items"].median == 7.0
    assert (times["about"].median, times["about"].source) == (None, "")
    by_page = {one.page: one for one in page_summaries(study, [Mode.LIVE])}
    assert (by_page["items"].n, by_page["items"].n_pages, by_page["items"].median) == (1, 2, 3.5)


def test_where_no_browser_told_the_server_s_clock_counts_from_page_to_page(study: Study) -> None:
    for n in range(3):
        person = completed(study, number=n)
        viewed(person, "about", 0)
        viewed(person, "rate", 20 + n)
        viewed(person, "recommendations", 100)
    times = {one.step: one for one in step_times(study, Mode.LIVE)}
    assert (times["about"].median, times["about"].source, times["about"].n) == (21.0, SERVER, 3)
    assert times["rate"].median == 79.0
    assert times["recommendations"].source == ""


def test_the_estimate_assumes_until_five_people_completed_and_never_counts_previews_or_simulated_ones(
    study: Study,
) -> None:
    simulated = completed(study, Mode.SIMULATED)
    left(simulated, "rate", 0.01)
    stated = estimate_of(study)
    assert {step.timing for step in stated.steps} == {None}
    assert (stated.is_assumed, stated.n_planned) == (True, 40)
    preview = completed(study, Mode.PREVIEW)
    left(preview, "rate", 90.0)
    for n in range(4):
        left(completed(study, number=n), "rate", 60.0 + n)
    early = estimate_of(study)
    assert early.steps == stated.steps
    assert re.findall(r"\d+", early.basis) == ["5", "4"]
    left(completed(study, number=4), "rate", 64.0)
    whole = estimate_of(study)
    assert re.findall(r"\d+", whole.basis) == ["5", "5"]
    found = {step.step: step for step in whole.steps}["rate"]
    assert {step.timing for step in whole.steps if step.step != "rate"} == {None}
    assert found.timing is not None
    timing = found.timing
    assert (timing.n, found.seconds, timing.quartile_1, timing.quartile_3) == (5, 62.0, 61.0, 63.0)
    assert re.findall(r"\d+", found.basis) == ["5"]


def test_the_cost_is_multiplied_out(study: Study) -> None:
    completed(study)
    found = estimate_of(study)
    cost = cost_of(found, reward=Decimal("2.50"), fee_percent=Decimal("33.3"))
    assert (cost.rewards, cost.fee, cost.total) == (Decimal("100.00"), Decimal("33.30"), Decimal("133.30"))
    assert cost.remaining == Decimal("129.97")
    assert cost.an_hour is not None
    assert float(cost.an_hour) == pytest.approx(2.5 * 60 / found.minutes, abs=0.01)


def test_the_command_states_estimates_and_their_basis(study: Study) -> None:
    out = StringIO()
    call_command("estimate", study.slug, "--reward", "2.50", "--fee", "33.3", stdout=out)
    assert_approved("commands/estimate", out.getvalue())
    with pytest.raises(CommandError, match="'much'"):
        call_command("estimate", study.slug, "--reward", "much")
    with pytest.raises(CommandError, match="'none'"):
        call_command("estimate", "none")


def test_the_page_shows_steps_and_cost_and_the_live_page_the_times(study: Study) -> None:
    person = completed(study)
    left(person, "rate", 90.0)
    completed(study, Mode.SIMULATED)
    client = Client()
    client.force_login(study.memberships.get().researcher)
    plain = client.get(f"/studies/{study.slug}/estimate/").content.decode()
    assert "Cost of the study" not in plain
    assert "measured times are used once 5 live participants have completed; so far 1 has" in plain
    whole = client.get(f"/studies/{study.slug}/estimate/", {"reward": "2.50", "fee": ""}).content.decode()
    assert "100.00" in whole
    wrong = client.get(f"/studies/{study.slug}/estimate/", {"reward": "-1"}).content.decode()
    assert "greater than or equal to 0" in wrong
    live = client.get(f"/studies/{study.slug}/data/live/", headers={"HX-Request": "true"}).content.decode()
    assert "Median time per step" in live
    assert "90.0 s" in live
    assert "browser, page visible" in live


def test_no_time_is_negative_and_unfinished_people_count_nowhere(study: Study) -> None:
    person = completed(study)
    viewed(person, "about", 50)
    viewed(person, "rate", 10)  # they came back to the first page later
    Participant.objects.filter(pk=person.pk).update(consented_at=timezone.now())
    assert {one.step: one.n for one in step_times(study, Mode.LIVE)}["about"] == 0
