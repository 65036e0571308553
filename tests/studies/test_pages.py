"""The participant's pages over HTTP: what they show, what they store, where they lead."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from catalog.models import Item
from catalog.selectors.search import ORDERS, search_items
from core.provenance import derived_seed
from studies.console.forms.flow import FlowForm
from studies.design.services.launch import close_study, pause_study
from studies.enums import Mode, ParticipantStatus, Provenance
from studies.models import Event, ExternalId, Participant, ProfileRating, Response, Study
from studies.participation.views import questions
from studies.participation.views.rating import PAGE_SIZE
from studies.recruitment.services.entry_links import VALID_SECONDS, entry_link
from tests.factories.catalog import make_version
from tests.factories.studies import completed, make_study
from tests.factories.walking import ABOUT, HTMX, Person, leads, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
HIDDEN = "//form//input[@type='hidden']"


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=3)


def test_opening_the_link_enrols_nobody(study: Study) -> None:
    client = Client()
    page = client.get(f"/s/{study.slug}/?PROLIFIC_PID=abc")
    client.head(f"/s/{study.slug}/")
    assert "Take part" in page.text
    assert Participant.objects.count() == 0


def test_consent_needs_every_box_and_keeps_what_was_ticked(study: Study) -> None:
    client = Client()
    page = tree(client.get(f"/s/{study.slug}/?PROLIFIC_PID=abc"))
    key = page.xpath("string(//input[@name='entry_key']/@value)")
    again = client.post(
        f"/s/{study.slug}/", {"entry_key": key, "choice": "yes", "box": ["1"], "param:PROLIFIC_PID": "abc"}
    )
    shown = tree(again)
    assert shown.xpath("string(//input[@name='entry_key']/@value)") == key
    assert [b.get("value") for b in shown.xpath("//input[@name='box'][@checked]")] == ["1"]
    assert shown.xpath("//input[@name='box'][@aria-invalid and @autofocus]/@value") == ["2"]
    assert shown.xpath("//*[@id='consent-problem']//a/@href") == ["#box-2"]
    assert shown.xpath("string(//input[@name='param:PROLIFIC_PID']/@value)") == "abc"
    assert Participant.objects.count() == 0


def test_declining_stores_the_count_alone(study: Study) -> None:
    page = Client().post(f"/s/{study.slug}/", {"choice": "no", "entry_key": "k" * 43}, follow=True)
    assert tree(page).find("body").get("data-step") == "message"
    study.refresh_from_db()
    assert (study.n_declined, Participant.objects.count()) == (1, 0)


def test_consent_pressed_twice_is_one_participant_and_keeps_the_link_parameters(study: Study) -> None:
    person = Person(study)
    path = f"/s/{study.slug}/?PROLIFIC_PID=abc&X=1"
    page = tree(person.client.get(path))
    fields = {f.get("name"): f.get("value") for f in page.xpath("//form//input[@type='hidden']")}
    boxes = [b.get("value") for b in page.xpath("//input[@name='box']")]
    first = person.client.post(path, {**fields, "box": boxes, "choice": "yes"})
    second = person.client.post(path, {**fields, "box": boxes, "choice": "yes"})
    assert first.headers["Location"] == second.headers["Location"]
    assert Participant.objects.get().parameters == {"X": "1"}
    assert list(ExternalId.objects.values_list("name", "value")) == [("PROLIFIC_PID", "abc")]


def test_consent_in_two_tabs_of_a_browser_is_one_participant(study: Study) -> None:
    client = Client()
    pages = [tree(client.get(f"/s/{study.slug}/")) for _tab in range(2)]
    forms = [{f.get("name"): f.get("value") for f in page.xpath("//form//input[@type='hidden']")} for page in pages]
    assert forms[0]["entry_key"] != forms[1]["entry_key"]
    sent = [client.post(f"/s/{study.slug}/", {**form, "box": ["1", "2"], "choice": "yes"}) for form in forms]
    assert sent[0].headers["Location"] == sent[1].headers["Location"]
    assert Participant.objects.count() == 1


def test_the_study_link_leads_back_the_one_who_consented_in_this_browser(study: Study) -> None:
    person = Person(study)
    person.consent()
    assert person.client.get(f"/s/{study.slug}/", follow=True).request["PATH_INFO"] == f"{person.base}about/"
    assert "Take part" in Client().get(f"/s/{study.slug}/").text


@pytest.mark.parametrize("sent", [{"entry_key": "short"}, {"param:PROLIFIC_PID": "x" * 501}, {"param:a": "\0"}])
def test_a_consent_that_no_page_of_ours_sends_gets_a_message_page(study: Study, sent: dict[str, str]) -> None:
    client = Client()
    fields = {field.get("name"): field.get("value") for field in tree(client.get(f"/s/{study.slug}/")).xpath(HIDDEN)}
    page = client.post(f"/s/{study.slug}/", {**fields, "box": ["1", "2"], "choice": "yes", **sent})
    assert page.status_code == 200
    assert tree(page).find("body").get("data-step") == "message"
    assert Participant.objects.count() == 0


def test_an_unknown_link_gets_a_message_page(study: Study) -> None:
    page = Client().get("/s/p/nonsense/rate/")
    assert page.status_code == 404
    assert tree(page).find("body").get("data-step") == "message"


@pytest.mark.parametrize("step", ["about", "rate", "recommendations", "item", "overall"])
def test_stray_requests_are_led_to_the_true_step(study: Study, step: str) -> None:
    person = Person(study).to(step)
    true = {"item": "items/1/1"}.get(step, step)
    ahead = ["about", "rate", "recommendations", "items/1/1", "items/1/5", "overall", "thanks"]
    for page in ahead[ahead.index(true) + 1 :]:
        assert leads(person.get(f"{page}/")) == true
        assert leads(person.post(f"{page}/", {"continue": "1"})) == true
    assert leads(person.get("")) == true
    assert person.get(f"{true}/").status_code == 200


def test_bad_answers_about_oneself_are_marked_and_the_good_ones_kept(study: Study) -> None:
    person = Person(study).to("about")
    page = tree(person.post("about/", {**ABOUT, "age": "abc", "gender": ""}))
    assert page.xpath("//*[@id='question-age']//*[@class='problem']")
    assert page.xpath("//*[@id='question-gender']//*[@class='problem']")
    assert page.xpath("string(//select[@name='education']/option[@selected]/@value)") == "master"
    assert person.me.status == ParticipantStatus.CONSENTED


def test_someone_outside_is_thanked_and_screened_out(study: Study) -> None:
    person = Person(study).to("about")
    page = tree(person.post("about/", {**ABOUT, "age": "70"}))
    assert person.me.status == ParticipantStatus.CONSENTED
    (button,) = page.xpath("//*[@role='group'][contains(., 'You entered 70. Is that right?')]//button")
    yes = {button.get("name"): button.get("value")}
    assert page.xpath("//form[@id='about']//button")[0].get("name") is None, "Enter in a field confirms nothing"
    changed = tree(person.post("about/", {**ABOUT, "age": "71", **yes}))
    assert changed.xpath("string(//*[@id='confirm-age'])") == "You entered 71. Is that right?"
    assert person.me.responses.get(question="age").value == 71
    page = person.post("about/", {**ABOUT, "age": "70", **yes})
    assert "ends here" in page.text
    assert person.me.status == ParticipantStatus.SCREENED_OUT
    assert "ends here" in person.get("rate/").text


@pytest.mark.parametrize(
    ("mistake", "asked"),
    [
        ({"age": "5"}, "You entered 5. Is that right?"),
        ({"first_visit": "no"}, "You chose “No”. Is that right?"),
    ],
)
def test_a_slip_is_asked_about_and_corrected(study: Study, mistake: dict[str, str], asked: str) -> None:
    person = Person(study).to("about")
    page = tree(person.post("about/", {**ABOUT, **mistake}))
    assert page.xpath("string(//*[@class='confirmation']/p)") == asked
    assert leads(person.post("about/", ABOUT)) == "rate"


def test_an_answer_that_meets_a_full_quota_is_asked_about(study: Study) -> None:
    quota = {"name": "the young", "most": 0, "where": [{"question": "age", "band": [20, 29]}]}
    Study.objects.filter(pk=study.pk).update(settings={**study.settings, "quotas": [quota]})
    person = Person(study).to("about")
    page = tree(person.post("about/", {**ABOUT, "age": "25"}))
    assert page.xpath("string(//*[@id='confirm-age'])") == "You entered 25. Is that right?"
    person.post("about/", {**ABOUT, "age": "25", "confirmed.age": "age=25"})
    assert person.me.status == ParticipantStatus.QUOTA_FULL


def test_when_every_condition_is_full_the_next_one_waits_and_later_ones_are_thanked(study: Study) -> None:
    early = Person(study).to("about")
    for _ in range(6):
        Person(study).to("rate")
    early.post("about/", ABOUT, follow=True)
    assert Participant.objects.exclude(waiting_since=None).count() == 1
    late = tree(Client().get(f"/s/{study.slug}/"))
    assert late.find("body").get("data-step") == "message"
    assert not late.xpath("//main//form")
    assert Participant.objects.count() == 7


def test_ratings_are_stored_at_once_changed_and_taken_back(study: Study) -> None:
    person = Person(study).to("rate")
    item = study.dataset_version.items.first()
    assert isinstance(item, Item)
    first = person.post(f"rate/{item.pk}/", {"rating": "4"}, headers=HTMX)
    assert "1 of 5" in tree(first).xpath("string(//*[@id='tray'])")
    person.post(f"rate/{item.pk}/", {"rating": "2"}, headers=HTMX)
    row = ProfileRating.objects.get()
    assert (row.rating, row.n_changes, row.provenance) == (2, 1, Provenance.PERSON)
    back = person.post(f"rate/{item.pk}/", {"rating": ""}, headers=HTMX)
    assert "0 of 5" in tree(back).xpath("string(//*[@id='tray'])")
    assert not ProfileRating.objects.exists()


def test_a_sixth_rating_is_refused_in_words(study: Study) -> None:
    person = Person(study).to("rate")
    person.rate_five()
    sixth = study.dataset_version.items.order_by("index")[5]
    page = person.post(f"rate/{sixth.pk}/", {"rating": "4"}, headers=HTMX)
    assert (page.status_code, page.text) == (409, "You have already rated 5. To rate another, clear a rating first.")
    assert ProfileRating.objects.count() == 5
    # Without the script it is a whole page at the rating's address; a search from there is one of the catalogue.
    plain = tree(person.post(f"rate/{sixth.pk}/", {"rating": "4"}))
    assert plain.xpath("//*[@role='alert']")
    assert plain.xpath("string(//form[@role='search']/@action)") == f"{person.base}rate/"


@pytest.mark.parametrize("page", ["rate", "details", "trailer"])
def test_an_item_of_another_dataset_is_not_there(study: Study, page: str) -> None:
    other = make_version(name="other", seed=2).items.get(index=0)
    person = Person(study).to("rate")
    ask = person.client.post if page == "rate" else person.client.get
    assert ask(f"{person.base}{page}/{other.pk}/", {"rating": "5"}).status_code == 404
    assert not ProfileRating.objects.exists()


@pytest.mark.parametrize("age", [-1, 1])
def test_a_signed_link_opens_until_it_is_too_old(study: Study, monkeypatch: pytest.MonkeyPatch, age: int) -> None:
    link = entry_link(study=study, mode=Mode.PREVIEW)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + VALID_SECONDS + 60 * age)
    page = Client().get(link)
    assert page.status_code == 200
    assert ("too old" in page.text) == (age > 0)


@pytest.mark.parametrize("rating", ["99", "0", "-1", "²", "4.5", "nan", "4\0", "9" * 5000])
def test_what_is_no_rating_is_refused_in_words_and_changes_nothing(study: Study, rating: str) -> None:
    person = Person(study).to("rate")
    item = study.dataset_version.items.get(index=3)
    person.post(f"rate/{item.pk}/", {"rating": "2"}, headers=HTMX)
    answer = person.post(f"rate/{item.pk}/", {"rating": rating}, headers=HTMX)
    assert (answer.status_code, answer.text) == (409, "A rating is a point of the scale from 1 to 5.")
    assert ProfileRating.objects.get(participant=person.me).rating == 2


def test_without_javascript_a_rating_comes_back_to_its_place(study: Study) -> None:
    person = Person(study).to("rate")
    item = study.dataset_version.items.first()
    assert item is not None
    assert person.post(f"rate/{item.pk}/", {"rating": "4"}).headers["Location"].endswith(f"/rate/#film-{item.pk}")
    referer = f"http://testserver{person.base}rate/?q=film&genre="
    searched = person.post(f"rate/{item.pk}/", {"rating": "5"}, headers={"Referer": referer})
    assert searched.headers["Location"] == f"{person.base}rate/?q=film&genre=#film-{item.pk}"
    early = person.post("rate/")
    assert tree(early).xpath("//*[@role='alert']")
    assert person.me.step == "rate"


def test_browsing_searches_filters_and_shows_more(study: Study) -> None:
    person = Person(study).to("rate")
    first = tree(person.get("rate/"))
    assert len(first.xpath("//li[@data-item]")) == 24
    more = first.xpath("string(//li[@id='more']/a/@href)")
    rest = tree(person.client.get(more))
    ids = [li.get("id") for page in (first, rest) for li in page.xpath("//li[@data-item]")]
    assert len(ids) == len(set(ids)) == 40
    assert ids == [li.get("id") for page in (tree(person.get("rate/")), rest) for li in page.xpath("//li[@data-item]")]
    found = tree(person.get("rate/", query_params={"q": "flim 07"}))
    assert "Film 07" in found.xpath("string(//li[@data-item][1]//summary)")
    westerns = tree(person.get("rate/", query_params={"genre": "Western"}))
    assert len(westerns.xpath("//li[@data-item]")) == 10
    of_the_80s = tree(person.get("rate/", query_params={"genre": "Western", "decade": "1980"}))
    shown = [facts.text_content().strip() for facts in of_the_80s.xpath("//li[@data-item]//small")]
    assert shown
    assert all(facts.startswith("198") and "Western" in facts for facts in shown)
    assert "Nothing matches “zzzzqqqq”" in person.get("rate/", query_params={"q": "zzzzqqqq"}).text
    assert Event.objects.filter(kind="search").count() == 2


@pytest.mark.parametrize(
    "query", ["from=²", "from=-5", "from=" + "9" * 5000, "decade=²", "decade=x", "genre=%00", "q=%00"]
)
def test_a_query_that_means_nothing_shows_films_all_the_same(study: Study, query: str) -> None:
    page = Person(study).to("rate").get("rate/?" + query)
    assert tree(page).find("body").get("data-step") == "rate"
    assert "\0" not in str(list(Event.objects.values_list("facts", flat=True)))


def test_the_order_at_first_is_each_participants_own(study: Study) -> None:
    def order(person: Person) -> list[str]:
        return [li.get("id") for li in tree(person.get("rate/")).xpath("//li[@data-item]")]

    orders = [order(Person(study).to("rate")) for _ in range(3)]
    assert len({tuple(o) for o in orders}) == 3


def test_every_order_of_the_design_is_offered_and_used(study: Study) -> None:
    assert {key for key, _ in FlowForm(study).fields["item_order"].choices} == set(ORDERS)  # type: ignore[attr-defined]
    person = Person(study).to("rate")
    seed = derived_seed(study.seed, "browse", Participant.objects.get().code)
    for order in ORDERS:
        study.settings["item_order"] = order
        study.save()
        shown = [li.get("id") for li in tree(person.get("rate/")).xpath("//li[@data-item]")]
        expected = search_items(study.dataset_version, order=order, seed=seed, limit=PAGE_SIZE).items
        assert shown == [f"film-{item.pk}" for item in expected]


def test_details_show_the_facts_and_are_noted(study: Study) -> None:
    person = Person(study).to("rate")
    item = study.dataset_version.items.first()
    assert item is not None
    sheet = person.get(f"details/{item.pk}/", headers=HTMX)
    assert item.plot in sheet.text
    assert "Director 0" in sheet.text
    whole = person.get(f"details/{item.pk}/")
    assert "<title>" in whole.text
    assert person.client.get(f"{person.base}details/999999/").status_code == 404
    assert Event.objects.filter(kind="details_opened", facts={"item": item.external_id}).count() == 2


def test_the_list_is_made_once_and_shows_five_other_films(study: Study) -> None:
    person = Person(study).to("recommendations")
    before = tree(person.get("recommendations/")).xpath("//ol[@class='shelf']//h2/text()")
    person.post("rate/")
    assert tree(person.get("recommendations/")).xpath("//ol[@class='shelf']//h2/text()") == before
    assert len(set(before)) == 5
    assert not {"Film 01", "Film 02", "Film 03", "Film 04", "Film 05"} & set(before)


def test_questions_open_one_after_the_other_and_are_stored_as_given(study: Study) -> None:
    person = Person(study).to("item")
    names = "//form[@id='questions']//fieldset[not(@hidden)]/@id"
    assert tree(person.get("items/1/1/")).xpath(names) == ["question-watched"]
    assert person.post("items/1/1/", {"watched": "no"}, headers=HTMX).status_code == 204
    no = person.get("items/1/1/")
    assert tree(no).xpath(names) == [f"question-{key}" for key in ("watched", "heard", "trailer_seen", "rating")]
    person.post("items/1/1/", {"watched": "no", "heard": "yes"}, headers=HTMX)
    early = person.post("items/1/1/", {"watched": "no", "heard": "yes", "continue": "1"})
    assert tree(early).xpath("//fieldset[.//*[@role='alert']]/@id") == ["question-trailer_seen", "question-rating"]
    person.post("items/1/1/", {"watched": "no", "heard": "yes", "trailer_seen": "yes"}, headers=HTMX)
    seen = person.get("items/1/1/")
    wording = "//fieldset[@id='question-rating']/legend/span[not(@hidden)]/text()"
    shown = [tree(page).xpath(wording) for page in (seen, no)]
    assert [len(texts) for texts in shown] == [1, 1]
    assert shown[0] != shown[1]
    person.post("items/1/1/", {"watched": "yes", "heard": "yes", "trailer_seen": "yes", "rating": "5"}, headers=HTMX)
    yes = person.get("items/1/1/")
    assert tree(yes).xpath(names) == ["question-watched", "question-rating"]
    assert {r.question: r.value for r in Response.objects.filter(rank=1)}["heard"] is True
    person.post("items/1/1/", {"watched": "yes", "heard": "yes", "rating": "5", "continue": "1"})
    assert {r.question: r.value for r in Response.objects.filter(rank=1)} == {"watched": True, "rating": 5}


@pytest.mark.parametrize("rating", ["6", "²", "9" * 5000, "x"])
def test_an_answer_off_its_scale_is_refused_and_the_one_before_kept(study: Study, rating: str) -> None:
    person = Person(study).to("item")
    person.post("items/1/1/", {"watched": "yes", "rating": "3"})
    page = person.post("items/1/1/", {"rating": rating})
    assert tree(page).xpath("//*[@id='question-rating']//*[@role='alert']")
    assert Response.objects.get(participant=person.me, rank=1, question="rating").value == 3


def test_a_film_of_rank_nought_leads_to_the_true_step(study: Study) -> None:
    assert leads(Person(study).to("item").get("items/1/0/")) == "items/1/1"


@pytest.mark.parametrize("rank", [6, 10**30])
def test_a_film_beyond_the_list_leads_to_the_true_step(study: Study, rank: int) -> None:
    study.questionnaire["after"] = [{"key": "where", "kind": "text", "text": {"en": "Where?"}}]
    study.save()
    person = Person(study).to("overall")
    for step in ("overall", "after"):
        assert leads(person.get(f"items/1/{rank}/")) == step
        for sent in ({}, {"continue": "1"}, {"watched": "yes", "rating": "4"}, {"watched": "yes", "continue": "1"}):
            assert leads(person.post(f"items/1/{rank}/", sent)) == step
        assert person.post(f"items/1/{rank}/", {"watched": "no"}, headers=HTMX)["HX-Redirect"].endswith(f"/{step}/")
        for aside in ("details", "trailer"):
            assert person.get(f"{aside}/{10**30}/").status_code == 404
        person.post("overall/", {"satisfaction": "5", "continue": "1"})
    assert Response.objects.filter(rank__gt=5).count() == 0


def test_going_back_keeps_and_changes_answers_until_the_end(study: Study) -> None:
    person = Person(study).to("overall")
    page = tree(person.get("items/1/2/"))
    assert page.xpath("string(//input[@name='rating'][@checked]/@value)") == "4"
    person.post("items/1/2/", {"watched": "yes", "rating": "1"}, headers=HTMX)
    assert leads(person.post("items/1/2/", {"continue": "1"})) == "items/1/3"
    assert Response.objects.get(rank=2, question="rating").value == 1
    assert leads(person.get("")) == "overall"


def marked(response: HttpResponse) -> list[str]:
    return tree(response).xpath("//fieldset[not(@hidden)][.//*[@role='alert']]/@id")


@pytest.mark.parametrize("block", ["overall", "after"])
def test_the_end_leads_to_a_film_that_was_opened_again_and_back(study: Study, block: str) -> None:
    if block == "after":
        study.questionnaire["after"] = [{"key": "where", "kind": "text", "text": {"en": "Where?"}}]
        study.save()
    person = Person(study).to("overall")
    last = {"satisfaction": "5", "continue": "1"}
    if block == "after":
        person.post("overall/", last)
        last = {"where": "Here", "continue": "1"}
    person.post("items/1/2/", {"watched": "no"}, headers=HTMX)
    person.post("items/1/4/", {"watched": "no"}, headers=HTMX)
    for rank in (2, 4):
        page = person.post(f"{block}/", last, follow=True)
        assert page.request["PATH_INFO"] == f"{person.base}items/1/{rank}/"
        assert marked(page) == ["question-heard", "question-trailer_seen"]
        assert tree(page).xpath("string(//input[@name='rating'][@checked]/@value)") == "4"
        action = tree(page).xpath("string(//form[@id='questions']/@action)")
        person.client.post(action, {"heard": "no", "watched": "no"}, headers=HTMX)
        early = person.client.post(action, {"heard": "no", "watched": "no", "continue": "1"})
        assert marked(early) == ["question-trailer_seen"]
        assert tree(early).xpath("string(//form[@id='questions']/@action)") == action
        assert leads(person.client.post(action, {"trailer_seen": "no", "continue": "1"})) == block
    assert leads(person.get("")) == block
    assert leads(person.post(f"{block}/", last)) == "thanks"


def test_the_end_leads_to_the_whole_list_where_that_lacks_an_answer(study: Study) -> None:
    study.questionnaire["after"] = [{"key": "where", "kind": "text", "text": {"en": "Where?"}}]
    study.save()
    person = Person(study).to("overall")
    person.post("overall/", {"satisfaction": "5", "continue": "1"})
    person.me.responses.filter(question="satisfaction").delete()
    page = person.post("after/", {"where": "Here", "continue": "1"}, follow=True)
    assert page.request["PATH_INFO"] == f"{person.base}overall/"
    assert marked(page) == ["question-satisfaction"]
    action = tree(page).xpath("string(//form[@id='questions']/@action)")
    assert leads(person.client.post(action, {"satisfaction": "4", "continue": "1"})) == "after"
    assert leads(person.post("after/", {"continue": "1"})) == "thanks"


def test_the_end_needs_satisfaction_and_shows_the_code(study: Study) -> None:
    person = Person(study).to("overall")
    person.post("overall/", {"comment": "Nice =)"}, headers=HTMX)
    early = person.post("overall/", {"comment": "Nice =)", "continue": "1"})
    assert tree(early).xpath("//fieldset[.//*[@role='alert']]/@id") == ["question-satisfaction"]
    assert tree(early).xpath("string(//textarea)").strip() == "Nice =)"
    assert leads(person.post("overall/", {"satisfaction": "5", "comment": "Nice =)", "continue": "1"})) == "thanks"
    assert leads(person.post("overall/", {"satisfaction": "1", "continue": "1"})) == "thanks"
    code = tree(person.get("thanks/")).xpath("string(//*[@id='completion-code'])")
    assert code == person.me.completion_code != ""
    assert Response.objects.get(question="satisfaction").value == 5
    assert leads(person.get("items/1/1/")) == "thanks"


def test_a_press_that_finds_the_study_finished_by_another_leads_to_the_end(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(study).to("overall")
    real, first = questions.submit_page, []

    def submit_page(**page: Any) -> Any:
        monkeypatch.setattr(questions, "submit_page", real)
        first.append(person.post("overall/", {"satisfaction": "4", "continue": "1"}))
        return real(**page)

    monkeypatch.setattr(questions, "submit_page", submit_page)
    second = person.post("overall/", {"satisfaction": "4", "continue": "1"})
    assert [leads(first[0]), leads(second)] == ["thanks", "thanks"]


def test_withdrawing_asks_once_more_and_erases_everything(study: Study) -> None:
    person = Person(study).to("overall")
    asked = person.get("withdraw/")
    assert "cannot be restored" in asked.text
    assert Response.objects.exists()
    assert "have been erased" in person.post("withdraw/").text
    assert person.me.status == ParticipantStatus.WITHDRAWN
    assert not Response.objects.exists()
    assert not ProfileRating.objects.exists()
    assert "have been erased" in person.get("items/1/1/").text


def test_a_study_that_rests_keeps_the_answers_and_says_so(study: Study) -> None:
    person = Person(study).to("item")
    pause_study(study=study)
    done = completed(make_study(slug="other"))
    close_study(study=done.study)
    for page in (person.get("items/1/1/"), Client().get(f"/s/{study.slug}/"), Client().get("/s/other/")):
        assert tree(page).find("body").get("data-step") == "message"
        assert not tree(page).xpath("//main//form")


def test_a_preview_is_marked_and_only_a_signed_link_makes_one(study: Study) -> None:
    person = Person(study)
    page = person.consent(entry_link(study=study, mode=Mode.PREVIEW))
    assert tree(page).xpath("//*[@class='mode-note']")
    assert person.me.mode == Mode.PREVIEW
    elsewhere = entry_link(study=study, mode=Mode.PREVIEW).replace("good-films", make_study(slug="other").slug)
    for link in (f"/s/{study.slug}/?as=preview", elsewhere):
        assert not tree(Client().get(link)).xpath("//main//form")


def test_only_a_simulated_participant_may_say_where_an_answer_comes_from(study: Study) -> None:
    header = {"X-Answer-Provenance": "true"}
    item = study.dataset_version.items.first()
    assert item is not None
    person = Person(study).to("rate")
    person.post(f"rate/{item.pk}/", {"rating": "4"}, headers=header)
    assert ProfileRating.objects.get().provenance == Provenance.PERSON
    robot = Person(study).to("rate", entry_link(study=study, mode=Mode.SIMULATED, entry_key="k" * 40))
    robot.post(f"rate/{item.pk}/", {"rating": "4"}, headers=header)
    assert ProfileRating.objects.latest("pk").provenance == Provenance.TRUE
    assert set(robot.me.responses.values_list("provenance", flat=True)) == {Provenance.MODELLED}


def test_pages_allow_nothing_inline_and_nothing_from_elsewhere(study: Study) -> None:
    person = Person(study).to("item")
    page = person.get("items/1/1/")
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    shown = tree(page)
    assert not shown.xpath("//*[@style] | //script[not(@src)] | //style | //*[starts-with(name(@*), 'on')]")
    sources = shown.xpath("//*/@src | //link/@href | //a/@href | //form/@action")
    assert sources
    assert all(source.startswith(("/", "#", "mailto:")) and not source.startswith("//") for source in sources)


def test_pages_of_the_list_are_given_ahead_and_not_recorded(study: Study) -> None:
    ahead = {"X-Ahead": "1"}
    early = Person(study).to("rate")
    assert leads(early.get("items/1/1/", headers=ahead)) == "rate"  # there is no list yet
    person = Person(study).to("recommendations")
    n_views = Event.objects.filter(kind="page_view").count()
    item = tree(person.get("items/1/3/", headers=ahead))
    assert item.xpath("string(//form[@id='questions']/@data-next)") == f"{person.base}items/1/4/"
    assert item.xpath("string(//a[@data-back]/@href)") == f"{person.base}items/1/2/"
    assert tree(person.get("overall/", headers=ahead)).xpath("//form[@id='questions'][@data-next='']")
    assert Event.objects.filter(kind="page_view").count() == n_views
    assert leads(person.get("items/1/3/")) == "recommendations"
    assert leads(person.get("thanks/", headers=ahead)) == "recommendations"
    assert leads(person.get("rate/", headers=ahead)) == "recommendations"
    assert leads(person.post("items/1/3/", {"watched": "yes", "continue": "1"}, headers=ahead)) == "recommendations"


def test_the_service_worker_is_served_above_the_pages(client: Client) -> None:
    answer = client.get("/s/worker.js")
    assert answer.headers["Content-Type"] == "text/javascript"
    assert b"addEventListener" in b"".join(answer)  # type: ignore[arg-type]
