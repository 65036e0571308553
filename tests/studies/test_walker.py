"""A simulated participant over HTTP, whose way is cut at any request and gone on with later."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from django.test import Client

from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.services.launch import launch_study
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, RecommendedItem, Response, Study
from studies.participation.selectors.responses import records
from studies.recruitment.services.entry_links import entry_link
from studies.simulation.answer_model import SimulatedPerson, SourceUser, TrainingSide
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.factories.walking import Site, walker_of
from tests.studies.test_choice_pages import CHOICE, ITEMS, LIST, OVERALL
from tests.studies.test_details_to_see import study_of
from tests.studies.test_item_words import run_of
from tests.studies.test_own_flows import ABOUT, RATE, THANKS

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


class Cut(Site):
    """The site in this process, which is gone after so many answers: as when its server is killed."""

    def __init__(self, after: int) -> None:
        super().__init__(Client())
        self.left = after

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.left == 0:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        self.left -= 1
        return super().handle_request(request)


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=60)


def walk(study: Study, key: str, *, after: int = 10_000, seed: int = 3) -> tuple[Participant, int]:
    """The same person walks, and says in how many requests; `key` is where a walk that was cut goes on."""
    items = range(study.dataset_version.items.count())
    side = TrainingSide(3.0, np.linspace(0.5, -0.5, len(items)), np.array(items)[::-1], 1.0, 5.0)
    user = SourceUser("u", {index: 1.0 + index % 5 for index in items[::3]})
    walker = walker_of(
        study,
        httpx.Client(transport=Cut(after), base_url="http://testserver"),
        entry_link(study=study, mode=Mode.SIMULATED, entry_key=key),
        person_for=lambda code: SimulatedPerson(
            user, side, np.random.default_rng(seed + 4), elicitation=study.design.scale
        ),
        rng=np.random.default_rng(seed),
    )
    walk = walker.run()
    return Participant.objects.latest("pk"), walk.n_requests


def stored(participant: Participant) -> dict[str, Any]:
    """What came of a walk and follows from the person alone."""
    about_items = participant.responses.filter(rank__gt=0)
    return {
        "profile": sorted(participant.profile.values_list("item_id", "rating")),
        "items": sorted(about_items.values_list("rank", "question", "value", "provenance")),
        "satisfaction": participant.responses.get(question="satisfaction").value,
    }


@pytest.mark.slow
def test_a_walk_that_was_cut_goes_on_to_what_an_unbroken_one_stores(study: Study) -> None:
    unbroken: dict[str, dict[str, Any]] = {}
    n_requests = []
    while len(unbroken) < study.conditions.count():
        one, n = walk(study, secrets.token_hex(20))
        unbroken[one.condition.label] = stored(one)
        n_requests.append(n)
    n_before = Participant.objects.count()
    shortest = min(n_requests)
    # While rating, on the items' pages, and between the last item and the end.
    cuts = [7, *range(shortest // 2, shortest - 4, 7), shortest - 3, shortest - 1]
    for n_cut, after in enumerate(cuts, start=1):
        key = secrets.token_hex(20)
        with pytest.raises(httpx.RemoteProtocolError):
            walk(study, key, after=after)
        again, _ = walk(study, key)
        assert again.status == ParticipantStatus.COMPLETED
        assert stored(again) == unbroken[again.condition.label], after
        assert Participant.objects.count() == n_before + n_cut


def test_a_walk_through_a_study_that_asks_about_no_trailers_is_completed(tmp_path: Path) -> None:
    study = make_study(slug="good-books", run=run_of("book"), per_condition=60)
    person, _n_requests = walk(study, secrets.token_urlsafe(16))
    assert person.status == ParticipantStatus.COMPLETED
    assert set(person.responses.filter(rank__gt=0).values_list("question", flat=True)) <= {"watched", "heard", "rating"}
    (record,) = records(study, [Mode.SIMULATED])
    assert record.measures is not None
    write_export(study, "wide", tmp_path, Options(include_simulated=True))
    header = (tmp_path / f"study-{study.slug}_wide_data.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert "item.1.heard" in header
    assert "trailer_seen" not in header


def test_a_walk_answers_about_trailers_only_of_items_with_one() -> None:
    run = make_run_at("succeeded")
    run.version.items.filter(index__in=range(1, 40, 2)).update(trailer_url="")
    study = make_study(slug="half-of-them", run=run, per_condition=60)
    for _number in range(3):
        person, _n_requests = walk(study, secrets.token_urlsafe(16))
        assert person.status == ParticipantStatus.COMPLETED
    asked = Response.objects.filter(participant__study=study, question="trailer_seen")
    of_slots = RecommendedItem.objects.filter(recommendation_list__participant__study=study)
    with_one = set(of_slots.filter(has_trailer=True).values_list("recommendation_list__participant", "rank"))
    assert with_one
    assert len(with_one) < of_slots.count()
    assert set(asked.values_list("participant", "rank")) <= with_one


def test_a_walk_passes_items_whose_details_no_page_leads_to() -> None:
    participant, _n_requests = walk(study_of(), secrets.token_hex(20))
    assert participant.status == ParticipantStatus.COMPLETED


def test_a_walk_chooses_by_interest_and_plays_samples_where_that_is_recorded() -> None:
    run = make_run_at("succeeded")
    run.version.items.update(clip="clips/ab/abcd.mp3", trailer_url="")
    study = make_study(
        status="draft",
        run=run,
        per_condition=60,
        settings={
            "recorded": ["opened", "played"],
            "flow": [ABOUT, RATE, {"lists": {"pages": [LIST, ITEMS, CHOICE, OVERALL]}}, THANKS],
        },
    )
    for texts in study.texts.values():
        texts["consent"] += " {recorded_behaviour}"
    study.save()
    launch_study(study=study)
    study.refresh_from_db()
    key = secrets.token_hex(20)
    whole, n_requests = walk(study, secrets.token_hex(20))
    with pytest.raises(httpx.RemoteProtocolError):
        walk(study, key, after=n_requests - 8)
    again, _n = walk(study, key)
    for person in (whole, again):
        assert person.status == ParticipantStatus.COMPLETED
        assert person.responses.get(question="chosen").value in {"1", "2", "3", "4", "5", "none"}
        assert person.responses.get(question="chosen").provenance == "modelled"
    played = [event.facts["seconds"] for event in whole.events.filter(kind="sample_played")]
    assert played
    assert all(4 <= seconds <= 20 for seconds in played)
