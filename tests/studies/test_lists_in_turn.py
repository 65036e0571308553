"""People who meet several lists one after the other: to the end, back, again, and with missing answers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import httpx
import numpy as np
import pytest
from django.test import Client

from core.errors import ParallaxError
from parallax.integrity.all_checks import findings
from studies.allocation.selectors.allocations import arms_of, targets
from studies.design.presets.loader import load_preset
from studies.design.services.condition_serving import recommend_in
from studies.design.services.design import create_study
from studies.design.services.launch import launch_study
from studies.enums import Mode, ParticipantStatus
from studies.models import Event, Participant, RecommendedItem, Study
from studies.participation.services import resuming
from studies.participation.services.previewing import preview_link, tickets
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.services.entry_links import entry_link
from studies.simulation.answer_model import SimulatedPerson, SourceUser, TrainingSide
from studies.simulation.services.pilot import assign_source_user, set_simulated_target
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import assigned
from tests.factories.walking import HTMX, Person, Site, leads, tree, walker_of
from tests.studies.test_own_flows import LISTS, words

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

ABOUT, RATE = (
    {"key": "about", "kind": "questions", "block": "about", "assigns": True},
    {"key": "rate", "kind": "elicit"},
)
AFTER, THANKS = {"key": "after", "kind": "questions", "block": "after"}, {"key": "thanks", "kind": "end"}
LIST = ["recommendations", *["item"] * 5, "overall"]


def flow(*after: dict[str, Any], **lists: Any) -> list[Any]:
    return [ABOUT, RATE, {"lists": {"shown": "in_turn", **lists, **LISTS["lists"]}}, *after, THANKS]


def in_turn(*after: dict[str, Any], status: str = "live", asked: dict[str, Any] | None = None, **lists: Any) -> Study:
    """A study of three conditions that each person meets; `asked` are other blocks of its questionnaire."""
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    study = create_study(
        slug="in-turn", version=run.version, run=run, per_condition=12, seed=1, owner=UserFactory(),
        settings={"flow": flow(*after, **lists), "block_multiples": [1]}, questionnaire=asked or {},
    )  # fmt: skip
    return launched(study) if status == "live" else study


def launched(study: Study) -> Study:
    launch_study(study=study)
    study.refresh_from_db()
    return study


@pytest.fixture
def study() -> Study:
    return in_turn()


def points(person: Person) -> dict[int, int]:
    return dict(person.me.profile.values_list("item__index", "rating"))


def lists_of(person: Person) -> list[list[int]]:
    return [[slot.item.index for slot in each.slots.order_by("rank")] for each in person.me.recommendation_lists.all()]


def to_list(person: Person, occasion: int) -> Person:
    """Walk to the page of the list of an occasion."""
    for page in person.pages():
        if page.kind == "list" and person.me.occasion == occasion:
            return person
    raise AssertionError("The walk ended before this list.")


def answer(person: Person, occasion: int, rank: int, **answers: str) -> Any:
    return person.post(f"items/{occasion}/{rank}/", {"watched": "yes", "rating": "4", "continue": "1", **answers})


def test_each_list_has_its_pages_and_its_answers(study: Study) -> None:
    person = Person(study)
    assert [page.step for page in person.pages()] == ["consent", "about", "rate", *LIST * 3, "thanks"]
    me = person.me
    assert (me.status, me.step, me.occasion, me.item_rank) == (ParticipantStatus.COMPLETED, "thanks", 1, 0)
    answers = me.responses.order_by()
    assert Counter(answers.filter(question="rating").values_list("occasion", flat=True)) == {1: 5, 2: 5, 3: 5}
    assert sorted(answers.filter(question="satisfaction").values_list("occasion", flat=True)) == [1, 2, 3]
    assert set(answers.filter(question="age").values_list("occasion", flat=True)) == {1}
    views = Event.objects.filter(participant=me, kind="page_view", page="overall").order_by("pk")
    assert list(dict.fromkeys(views.values_list("occasion", flat=True))) == [1, 2, 3]
    assert not list(findings())


def test_all_lists_are_made_of_the_ratings_in_the_order_of_the_sequence_without_an_item_twice(study: Study) -> None:
    person = Person(study).to("recommendations")
    me = person.me
    stored = list(me.recommendation_lists.all())
    assert [(each.occasion, each.side) for each in stored] == [(1, 1), (2, 1), (3, 1)]
    positions = [[each.condition.position] for each in stored]
    assert positions == me.sequence.occasions
    assert [each.model_digest for each in stored] == [each.condition.model_digest for each in stored]
    items = [index for listed in lists_of(person) for index in listed]
    assert len(set(items)) == len(items) == 15
    assert not set(items) & set(me.profile.values_list("item__index", flat=True))


def test_lists_may_repeat_items_where_the_design_says_so() -> None:
    person = Person(in_turn(leave_out="nothing")).to("recommendations")
    alone = [
        list(recommend_in(study=person.study, condition=each.condition, ratings=points(person), n=5).items)
        for each in person.me.recommendation_lists.all()
    ]
    assert lists_of(person) == alone


def test_pages_say_which_list_they_are_about(study: Study) -> None:
    person = to_list(Person(study), 2)
    page = tree(person.get("recommendations/2/0/"))
    assert page.findtext(".//h1") == page.findtext(".//title") == "List 2 of 3"
    assert "another list" in page.xpath("string(//p[@class='lead'])")
    assert page.xpath("string(//*[@class='steps']/@aria-label)") == "Step 5 of 7: List 2 of 3"
    assert page.find("body").get("data-occasion") == "2"
    item = tree(person.post("recommendations/2/0/", follow=True))
    assert item.findtext(".//p[@class='part']") == "List 2 of 3"
    first = tree(person.get("recommendations/"))
    assert (first.findtext(".//h1"), first.find("body").get("data-occasion")) == ("List 1 of 3", None)
    assert "Based on your ratings" in first.xpath("string(//p[@class='lead'])")
    shown = {occasion: person.get(f"recommendations/{occasion}/0/") for occasion in (1, 2)}
    listed = [[int(pk) for pk in tree(page).xpath("//li[@data-item]/@data-item")] for page in shown.values()]
    stored = [[slot.item_id for slot in each.slots.order_by("rank")] for each in person.me.recommendation_lists.all()]
    assert listed == stored[:2]
    italian = tree(person.get("recommendations/2/0/?lang=it", follow=True))
    assert italian.findtext(".//h1") == "Lista 2 di 3"


def test_later_lists_are_closed_and_earlier_ones_open(study: Study) -> None:
    person = to_list(Person(study), 2)
    assert leads(person.get("recommendations/3/0/")) == "recommendations/2/0"
    assert leads(person.get("items/2/1/")) == "recommendations/2/0"
    for page in ("items/1/6/", "overall/4/0/", "about/2/0/", "recommendations/0/0/", "rate/"):
        assert leads(person.get(page)) == "recommendations/2/0"
    assert person.get("items/1/3/").status_code == person.get("overall/").status_code == 200
    assert leads(person.get("films/3/")) == "items/1/3"
    assert tree(person.get("recommendations/2/0/")).xpath("//*[@data-back]/@href") == [person.base + "overall/"]


def test_answers_of_a_list_stand_beside_those_of_the_others(study: Study) -> None:
    person = to_list(Person(study), 2)
    person.post("recommendations/2/0/")
    assert not tree(person.get("items/2/1/")).xpath("//form[@id='questions']//input[@checked]")
    person.post("items/2/1/", {"watched": "yes", "rating": "2"}, headers=HTMX)
    person.post("items/1/1/", {"rating": "5"}, headers=HTMX)
    rows = person.me.responses.filter(question="rating", rank=1).order_by("occasion")
    assert list(rows.values_list("occasion", "value", "n_changes")) == [(1, 5, 1), (2, 2, 0)]
    changed = Event.objects.get(kind="rating_changed", participant=person.me)
    assert (changed.page, changed.rank, changed.occasion) == ("items", 1, 1)


def test_a_reload_and_the_personal_link_lead_to_the_list_at_hand(study: Study) -> None:
    person = to_list(Person(study), 3)
    person.post("recommendations/3/0/")
    assert leads(answer(person, 3, 1)) == "items/3/2"
    assert person.get("items/3/2/").status_code == 200
    token = person.base.rstrip("/").rsplit("/", 1)[-1]
    resumed = resuming.resume(token=token)
    assert (resumed.step, resumed.occasion, resumed.item_rank) == ("items", 3, 2)
    home = person.get("")
    assert leads(home) == "items/3/2" or "items/3/2/" in home.text
    assert leads(answer(person, 3, 1)) == "items/3/2"  # an older tab does not bring anyone back
    assert [page.step for page in person.pages()][-1] == "thanks"


def test_a_list_is_left_once_everything_before_it_is_answered(study: Study) -> None:
    person = to_list(Person(study), 2)
    for page in person.pages():
        if page.step == "overall" and person.me.occasion == 3:
            break
    person.me.responses.get(question="rating", rank=4, occasion=2).delete()
    person.me.responses.get(question="satisfaction", occasion=1).delete()
    refused = person.post("overall/3/0/", {"satisfaction": "4", "continue": "1"})
    assert leads(refused).startswith("overall/?incomplete=")
    page = tree(person.client.get(refused.headers["Location"]))
    assert page.xpath("//*[@id='problem-satisfaction']")
    first = person.client.post(refused.headers["Location"], {"satisfaction": "3", "continue": "1"})
    assert leads(first) == "overall/3/0"
    refused = person.post("overall/3/0/", {"satisfaction": "4", "continue": "1"})
    assert leads(refused).startswith("items/2/4/?incomplete=")
    fixed = person.client.post(refused.headers["Location"], {"watched": "yes", "rating": "4", "continue": "1"})
    assert leads(fixed) == "overall/3/0"
    person.post("overall/3/0/", {"continue": "1"})
    assert person.me.status == ParticipantStatus.COMPLETED
    assert leads(person.get("items/2/4/")) == "thanks"


def test_questions_after_the_lists_are_asked_once() -> None:
    done = {"key": "done", "kind": "yes_no", "text": words("Done?")}
    person = Person(launched(in_turn(AFTER, status="draft", asked={"after": [done]})))
    steps = [page.step for page in person.pages()]
    assert steps[-len(LIST) - 2 :] == [*LIST, "after", "thanks"]
    stored = person.me.responses.get(question="done")
    assert (stored.occasion, stored.rank) == (1, 0)


def test_a_preview_of_a_list_walks_a_sequence_that_begins_with_it(study: Study) -> None:
    for ticket, condition in enumerate(tickets(study)):
        person = Person(study).to("recommendations", preview_link(study=study, ticket=ticket))
        me = person.me
        assert (me.mode, me.condition) == ("preview", None)
        assert me.sequence.occasions[0] == [condition.position]
        assert me.recommendation_lists.first().condition == condition


def test_what_a_browser_tells_of_a_page_names_the_list(study: Study) -> None:
    person = to_list(Person(study), 2)
    event = {"id": "a" * 16, "kind": "page_shown", "page": "items", "rank": 2, "occasion": 2, "at": 1_800_000_000_000}
    bad = [{**event, "id": name * 16, "occasion": value} for name, value in (("b", 0), ("c", "2"), ("d", True))]
    reply = person.post("events/", {"events": [event, *bad]}, content_type="application/json").json()
    assert reply["new"] == 1
    assert set(reply["refused"].values()) == {"The occasion of an event is a whole number from 1."}
    stored = Event.objects.get(participant=person.me, key="a" * 16)
    assert (stored.rank, stored.occasion) == (2, 2)


def test_a_withdrawal_erases_every_list(study: Study) -> None:
    person = to_list(Person(study), 3)
    withdraw(participant=person.me)
    assert not person.me.recommendation_lists.exists()
    assert not RecommendedItem.objects.exists()
    assert (person.me.sequence is not None, person.me.responses.count()) == (True, 0)


def test_checks_count_in_every_list() -> None:
    check = {"key": "care", "kind": "attention", "text": words("Choose 2."), "minimum": 1, "maximum": 5, "expects": 2}
    overall = [*load_preset("cremonesi-2011").questionnaire["overall"], check]
    study = launched(in_turn(status="draft", asked={"overall": overall, "attention": {"ends_after": 2}}))
    person = Person(study, answers={"care": 1})
    assert [page.step for page in person.pages()][-2:] == ["overall", "message"]
    assert person.me.status == ParticipantStatus.ATTENTION_FAILED
    noted = Event.objects.filter(participant=person.me, kind="attention_checked").order_by("pk")
    assert list(noted.values_list("occasion", flat=True)) == [1, 2]


def test_conditions_of_questions_read_the_answers_of_their_own_list() -> None:
    overall = load_preset("cremonesi-2011").questionnaire["overall"]
    liked = {"question": "satisfaction", "equals": 4}
    why = {"key": "why", "kind": "text", "text": words("Why?"), "shown_if": liked}
    study = launched(in_turn(status="draft", asked={"overall": [*overall, why]}))
    person = Person(study)
    for page in person.pages():
        if page.step == "overall" and person.me.occasion == 2:
            break
    person.post("overall/2/0/", {"satisfaction": "3"}, headers=HTMX)
    assert tree(person.get("overall/2/0/")).xpath("//*[@id='question-why'][@hidden]")
    assert leads(person.post("overall/2/0/", {"satisfaction": "3", "continue": "1"})) == "recommendations/3/0"
    assert list(person.me.responses.filter(question="why").values_list("occasion", flat=True)) == [1]


def test_questions_after_the_lists_cannot_depend_on_one_of_them() -> None:
    liked = {"question": "satisfaction", "equals": 4}
    why = {"key": "why", "kind": "text", "text": words("Why?"), "shown_if": liked}
    with pytest.raises(ParallaxError, match="depends on 'satisfaction', which does not come before it"):
        in_turn(AFTER, status="draft", asked={"after": [why]})


class Cut(Site):
    """A connection that is lost after so many requests."""

    def __init__(self, after: int) -> None:
        super().__init__(Client())
        self.left = after

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.left == 0:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        self.left -= 1
        return super().handle_request(request)


def simulated(study: Study, number: int, after: int = 10_000) -> tuple[dict[str, Any], int]:
    """What the same person answers about each list, and in how many requests; `after` cuts the walk."""

    def person_for(_code: str) -> SimulatedPerson:
        items = range(study.dataset_version.n_items)
        side = TrainingSide(3.0, np.linspace(0.5, -0.5, len(items)), np.array(items)[::-1], 1.0, 5.0)
        user = SourceUser("u", {index: 1.0 + index % 5 for index in items[::3]})
        later = [({"accuracy": 1.0}, 5), ({}, 5)]
        return SimulatedPerson(user, side, np.random.default_rng(7), list_length=5, later=later)

    entry = entry_link(study=study, mode=Mode.SIMULATED, entry_key=f"{number:040}")
    client = httpx.Client(transport=Cut(after), base_url="http://testserver")
    walk = walker_of(study, client, entry, person_for=person_for, rng=np.random.default_rng(3)).run()
    me = Participant.objects.latest("pk")
    assert me.status == ParticipantStatus.COMPLETED
    about_lists = me.responses.filter(question__in=["watched", "heard", "rating", "satisfaction"])
    return dict(enumerate(about_lists.order_by("occasion", "rank", "question").values_list("value"))), walk.n_requests


def test_a_simulated_walk_that_was_cut_in_a_later_list_goes_on_as_an_unbroken_one() -> None:
    study = in_turn()
    study.sequences.exclude(position=0).delete()
    study.sequences.update(target=12)
    whole, n = simulated(study, 1)
    for number, after in enumerate((n - 3, n // 2, 2 * n // 3), start=2):
        with pytest.raises(httpx.RemoteProtocolError):
            simulated(study, number, after)
        assert simulated(study, number)[0] == whole


def test_simulated_participants_fill_the_sequences_with_a_user_each(study: Study) -> None:
    set_simulated_target(study=study, per_condition=12)
    study.refresh_from_db()
    assert targets(study, arms_of(study), Mode.SIMULATED) == [2] * 6
    people = [assigned(study, Mode.SIMULATED) for _ in range(12)]
    users = tuple(f"u{number}" for number in range(12))
    chosen = {assign_source_user(study=study, code=person.code, external_ids=users) for person in people}
    assert chosen == set(users)
    assert Counter(person.sequence.position for person in people) == dict.fromkeys(range(6), 2)
