"""Answers stored at once, changed, withdrawn, refused; the list; the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import artefacts
from core.errors import ParallaxError
from evaluation.services import serving
from recommenders.base import Algorithm
from recommenders.data import Floats, Profiles
from studies.design.services.launch import close_study, resume_study
from studies.enums import ParticipantStatus, Provenance, StudyStatus
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import ITEMS
from studies.models import Participant, ProfileRating, RecommendationList, Study
from studies.participation.services import events, finishing, participant_state, ratings, recommending
from studies.participation.services.serving import profile_of, served_lists
from tests.factories import answering
from tests.factories.catalog import make_version
from tests.factories.studies import answer_item, assigned, completed, items_of, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    return make_study()


def _refused(code: str, call: object, /, **kwargs: object) -> ParallaxError:
    with pytest.raises(ParallaxError) as refusal:
        call(**kwargs)  # type: ignore[operator]
    assert refusal.value.code == code
    assert str(refusal.value).endswith(".")
    return refusal.value


def _fresh(participant: Participant) -> Participant:
    return Participant.objects.select_related("study").get(pk=participant.pk)


def test_a_rating_is_stored_changed_and_taken_back(study: Study) -> None:
    person, item = assigned(study), items_of(study, 1)[0]
    ratings.rate_item(participant=person, item=item, rating=2)
    ratings.rate_item(participant=person, item=item, rating=2)
    row = ProfileRating.objects.get()
    assert (row.rating, row.n_changes) == (2, 0)
    ratings.rate_item(participant=person, item=item, rating=5, provenance=Provenance.TRUE)
    row.refresh_from_db()
    assert (row.rating, row.n_changes, row.provenance) == (5, 1, "true")
    assert ratings.rate_item(participant=person, item=item, rating=None) is None
    assert ratings.rate_item(participant=person, item=item, rating=None) is None
    assert not ProfileRating.objects.exists()


@pytest.mark.parametrize("rating", [0, 6, 2.5, True, "3"])
def test_a_rating_off_the_scale_is_refused(study: Study, rating: object) -> None:
    item = items_of(study, 1)[0]
    _refused("study.bad_rating", ratings.rate_item, participant=assigned(study), item=item, rating=rating)
    assert not ProfileRating.objects.exists()


def test_a_rating_of_another_catalogues_item_is_refused(study: Study) -> None:
    item = make_version(name="other", seed=2).items.first()
    _refused("study.bad_item", ratings.rate_item, participant=assigned(study), item=item, rating=3)


def test_no_more_items_than_asked_for_can_be_rated(study: Study) -> None:
    person, items = assigned(study), items_of(study, 6)
    for item in items[:5]:
        ratings.rate_item(participant=person, item=item, rating=3)
    refusal = _refused("study.enough_ratings", ratings.rate_item, participant=person, item=items[5], rating=3)
    assert refusal.extra == {"n": 5}
    ratings.rate_item(participant=person, item=items[0], rating=4)
    assert person.profile.count() == 5


@pytest.mark.parametrize("n", [0, 4])
def test_the_rating_page_is_left_with_exactly_the_number_asked_for(study: Study, n: int) -> None:
    person = assigned(study)
    for item in items_of(study, n):
        ratings.rate_item(participant=person, item=item, rating=3)
    refusal = _refused("study.wrong_number_of_ratings", recommending.finish_rating, participant=person)
    assert refusal.extra == {"given": n, "wanted": 5}
    assert _fresh(person).step == "rate"


def test_the_list_is_that_of_the_pinned_model_without_rated_items(study: Study) -> None:
    person = rated(study)
    assert person.condition is not None
    made = participant_state.recommendation_list(person)
    slots = list(made.slots.all())
    profile = [(row.item.index, row.rating) for row in person.profile.all()]
    served = serving.recommend(
        model=person.condition.model,
        items=[index for index, _rating in profile],
        ratings=[float(rating) for _index, rating in profile],
        scale=(1.0, 5.0, 1.0),
        n=5,
    )
    assert [slot.item.index for slot in slots] == list(served.items)
    assert [slot.rank for slot in slots] == [1, 2, 3, 4, 5]
    assert [slot.score for slot in slots] == list(served.scores)
    assert [slot.is_filled for slot in slots] == list(served.is_filled)
    assert not {slot.item.index for slot in slots} & {index for index, _rating in profile}
    assert made.model_digest == person.condition.model_digest
    assert made.seconds > 0
    assert person.step == "recommendations"


def test_the_list_is_made_once(study: Study) -> None:
    person = rated(study)
    first = participant_state.recommendation_list(person)
    assert recommending.finish_rating(participant=person).pk == first.pk
    assert RecommendationList.objects.count() == 1
    item = items_of(study, 1)[0]
    refusal = _refused("study.out_of_order", ratings.rate_item, participant=person, item=item, rating=1)
    assert refusal.extra == {"step": "recommendations", "rank": 0}


def test_a_list_for_ratings_that_changed_meanwhile_is_not_kept(study: Study) -> None:
    person = assigned(study)
    items = items_of(study, 5)
    for item in items:
        ratings.rate_item(participant=person, item=item, rating=3)
    before = profile_of(person)
    served = served_lists(Participant.objects.select_related("study").get(pk=person.pk), before)
    ratings.rate_item(participant=person, item=items[0], rating=1)
    assert recommending._store(person, before, served) is None
    assert not RecommendationList.objects.exists()
    assert recommending.finish_rating(participant=person).slots.count() == 5


def test_a_model_that_reads_the_order_gets_that_of_rating(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Profiles] = []

    def score_profiles(model: Algorithm, profiles: Profiles) -> Floats:
        seen.append(profiles)
        return model._score(profiles.user_items)

    person = assigned(study)
    assert person.condition is not None
    kind = type(serving.opened_model(person.condition.model_digest))
    monkeypatch.setattr(kind, "_score_profiles", score_profiles)
    order = [3, 0, 4, 1, 2]
    items = items_of(study, 5)
    for number in order:
        ratings.rate_item(participant=person, item=items[number], rating=4)
    assert recommending.finish_rating(participant=person).slots.count() == 5
    (profile,) = seen
    assert (profile.order_kind, profile.context) == ("rating", ({"language": person.language},))
    assert profile.order is not None
    assert profile.order.tolist() == [order.index(number) + 1 for number in range(5)]
    assert profile.times is not None
    told = person.profile.order_by("item__index").values_list("rated_at", flat=True)
    assert profile.times.tolist() == [at.timestamp() for at in told]


def test_there_is_no_list_before_the_ratings(study: Study) -> None:
    _refused("study.no_list", participant_state.recommendation_list, participant=assigned(study))


def _model_file(study: Study, person: Participant, settings: pytest.FixtureRequest) -> Path:
    from django.core.files.storage import storages

    assert person.condition is not None
    folder = Path(storages["artefacts"].path(f"models/{person.condition.model_digest}"))
    return next(folder.glob("*.npy"))


@pytest.mark.parametrize("fault", ["missing", "damaged"])
def test_a_model_that_cannot_be_used_pauses_the_study_and_no_other_serves(
    study: Study, settings: pytest.FixtureRequest, fault: str
) -> None:
    person = assigned(study)
    for item in items_of(study, 5):
        ratings.rate_item(participant=person, item=item, rating=3)
    file = _model_file(study, person, settings)
    whole = file.read_bytes()
    try:
        if fault == "missing":
            file.unlink()
        else:
            file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        artefacts.clear_cache()
        serving.opened_model.cache_clear()
        _refused("study.model_unavailable", recommending.finish_rating, participant=person)
        study.refresh_from_db()
        assert study.status == StudyStatus.PAUSED
        assert not RecommendationList.objects.exists()
        assert person.profile.count() == 5
        refusal = _refused("study.cannot_resume", resume_study, study=study)
        assert len(refusal.extra["problems"]) == 1
    finally:
        file.write_bytes(whole)
        artefacts.clear_cache()
        serving.opened_model.cache_clear()
    resume_study(study=study)
    assert len(recommending.finish_rating(participant=person).slots.all()) == 5


def test_a_model_row_that_points_elsewhere_is_not_served(study: Study) -> None:
    person = assigned(study)
    assert person.condition is not None
    for item in items_of(study, 5):
        ratings.rate_item(participant=person, item=item, rating=3)
    other = study.conditions.exclude(pk=person.condition_id).get()
    type(person.condition.model).objects.filter(pk=person.condition.model_id).update(digest=other.model_digest)
    _refused("study.model_unavailable", recommending.finish_rating, participant=person)
    study.refresh_from_db()
    assert study.status == StudyStatus.PAUSED


def test_the_way_through_the_items_goes_one_by_one(study: Study) -> None:
    person = rated(study)
    _refused("study.out_of_order", answering.answer, participant=person, question="watched", value=True, rank=1)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    assert (person.step, person.item_rank) == ("items", 1)
    _refused("study.out_of_order", answering.answer, participant=person, question="watched", value=True, rank=2)
    refusal = _refused("study.missing_answers", answering.finish_item, participant=person, rank=1)
    assert refusal.extra == {"missing": {"1": ["watched", "rating"]}}
    answer_item(person, 1)
    answering.finish_item(participant=person, rank=1)
    answering.finish_item(participant=person, rank=1)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    assert (person.step, person.item_rank) == ("items", 2)
    assert (_fresh(person).step, _fresh(person).item_rank) == ("items", 2)
    _refused("study.out_of_order", answering.finish_item, participant=person, rank=4)


def test_an_answer_is_replaced_and_its_changes_are_counted(study: Study) -> None:
    person = rated(study)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    for value in (3, 3, 4, 5):
        row = answering.answer(participant=person, question="rating", value=value, rank=1)
    assert row is not None
    assert (row.value, row.n_changes) == (5, 2)
    assert person.responses.filter(question="rating").count() == 1


def test_what_is_asked_of_unwatched_items_alone_goes_when_watched_becomes_yes(study: Study) -> None:
    person = rated(study)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    assert answering.answer(participant=person, question="heard", value=True, rank=1) is None  # it is not asked yet
    answer_item(person, 1, number=1)
    answering.answer(participant=person, question="watched", value=True, rank=1)
    assert person.responses.filter(rank=1).count() == 4  # kept until the page is left: one may think again
    answering.finish_item(participant=person, rank=1)
    assert set(person.responses.filter(rank=1).values_list("question", flat=True)) == {"watched", "rating"}
    kept = person.events.filter(kind="answer_withdrawn").values_list("facts", flat=True)
    assert {"question": "heard", "rank": 1, "value": True} in list(kept)
    assert answering.answer(participant=person, question="trailer_seen", value=True, rank=1) is None


def test_an_earlier_item_changed_later_has_to_be_complete_at_the_end(study: Study) -> None:
    person = rated(study)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    for rank in range(1, 6):
        answer_item(person, rank, number=0)
        answering.finish_item(participant=person, rank=rank)
    answering.answer(participant=person, question="watched", value=False, rank=2)
    refusal = _refused("study.missing_answers", answering.finish, participant=person)
    assert refusal.extra == {"missing": {"2": ["heard", "trailer_seen"], "0": ["satisfaction"]}}
    _refused("study.missing_answers", answering.finish_item, participant=person, rank=2)


@pytest.mark.parametrize(
    ("question", "value"), [("rating", 6), ("rating", "4"), ("watched", "yes"), ("satisfaction", 3), ("nonsense", 3)]
)
def test_answers_that_the_page_does_not_offer_are_not_stored(study: Study, question: str, value: object) -> None:
    person = rated(study)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    before = person.responses.count()
    outcome = answering.submit(person, ITEMS, 1, **{question: value})
    assert outcome.invalid == ({question: value} if question in ("rating", "watched") else {})
    assert person.responses.count() == before


@pytest.mark.parametrize(("question", "value", "rank"), [("satisfaction", 3, 0), ("age", 31, 0), ("rating", 3, 6)])
def test_answers_on_pages_that_are_not_open_are_refused(study: Study, question: str, value: object, rank: int) -> None:
    person = rated(study)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    before = person.responses.count()
    _refused("study.out_of_order", answering.answer, participant=person, question=question, value=value, rank=rank)
    assert person.responses.count() == before


def test_completing_gives_a_code_once_and_closes_everything(study: Study) -> None:
    person = completed(study)
    code = person.completion_code
    assert len(code) == 8
    assert (person.status, person.step) == (ParticipantStatus.COMPLETED, "thanks")
    assert answering.finish(participant=person).completion_code == code
    assert answering.finish_item(participant=person, rank=1).step == "thanks"
    assert recommending.finish_rating(participant=person).slots.count() == 5
    _refused("study.not_active", answering.answer, participant=person, question="satisfaction", value=2)
    other = completed(study, gender="man")
    assert other.completion_code != code


def test_a_comment_can_be_left_out_and_taken_back(study: Study) -> None:
    person = rated(study)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    for rank in range(1, 6):
        answer_item(person, rank, number=rank)
        answering.finish_item(participant=person, rank=rank)
    answering.answer(participant=person, question="comment", value="so so")
    assert answering.answer(participant=person, question="comment", value=" ") is None
    answering.answer(participant=person, question="satisfaction", value=2)
    answering.finish(participant=person)
    assert not person.responses.filter(question="comment").exists()
    assert person.completed_at is not None


def test_a_closed_study_takes_no_answers_and_keeps_those_given(study: Study) -> None:
    person = rated(study)
    close_study(study=study)
    _refused("study.closed", finishing.leave_page, participant=person, at=Place("recommendations"))
    assert person.profile.count() == 5


def test_someone_under_way_goes_on_while_the_study_is_paused(study: Study) -> None:
    person = rated(study)
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.PAUSED)
    finishing.leave_page(participant=person, at=Place("recommendations"))
    answer_item(person, 1)
    assert answering.finish_item(participant=person, rank=1).item_rank == 2


def test_events_are_kept_and_oversized_ones_refused(study: Study) -> None:
    person = assigned(study)
    events.record_event(participant=person, kind="search", facts={"query": "matrx"})
    assert person.events.get().facts == {"query": "matrx"}
    for kind, facts in (("", {}), ("k" * 41, {}), ("search", {"query": "x" * 5000})):
        _refused("study.bad_event", events.record_event, participant=person, kind=kind, facts=facts)
