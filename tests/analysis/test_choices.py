"""What participants chose and did: outcomes by participant, and the table of choices in reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.files.contents import write_people
from analysis.services.report_builder import build_report
from studies.design.services.launch import launch_study
from studies.enums import Mode
from studies.instrument.flow import questionnaire_of
from studies.instrument.outcomes import possible_outcomes
from studies.models import Event, Response, Study
from studies.participation.selectors.choices import Chosen, choices_of
from studies.participation.selectors.responses import records
from tests.factories.analysis import page_without_pictures, plant
from tests.factories.studies import make_study
from tests.studies.test_choice_pages import CHOICE, ITEMS, LIST, OVERALL
from tests.studies.test_own_flows import ABOUT, RATE, THANKS

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

PLANNED = ["pick.chosen", "behaviour.opened"]


@pytest.fixture
def study() -> Study:
    """The first condition's four participants pick rank 2 three times, and the other's pick nothing."""
    flow = [ABOUT, RATE, {"lists": {"pages": [LIST, ITEMS, CHOICE, OVERALL]}}, THANKS]
    settings = {"flow": flow, "recorded": ["opened", "played"], "plan": {"outcomes": PLANNED}}
    study = make_study(status="draft", settings=settings)
    for texts in study.texts.values():
        texts["consent"] += " {recorded_behaviour}"
    study.save()
    launch_study(study=study)
    study.refresh_from_db()
    labels = list(study.conditions.values_list("label", flat=True))
    plant(study, {label: [3, 4, 2, 5] for label in labels})
    study.dataset_version.items.filter(index=1).update(n_ratings=7)
    for number, participant in enumerate(study.participants.order_by("pk")):
        picks = participant.condition.label == labels[0] and number % 4 < 3
        Response.objects.create(participant=participant, question="chosen", value="2" if picks else "none")
    return study


def test_outcomes_are_one_number_for_each_completer(study: Study) -> None:
    first, second = study.participants.order_by("pk")[:2]
    items = [slot.item.external_id for slot in first.recommendation_list.slots.order_by("rank")]
    for item in (*items[:2], items[0], "another"):
        Event.objects.create(participant=first, kind="details_opened", page="recommendations", facts={"item": item})
    Event.objects.create(participant=first, kind="details_opened", page="rate", facts={"item": items[3]})
    facts = {"item": items[4], "seconds": 3.0}
    Event.objects.create(participant=second, kind="sample_played", page="items", rank=5, facts=facts)
    outcomes = possible_outcomes(questionnaire_of(study), study.design)
    choice, opened, played = (outcomes[key] for key in ("pick.chosen", "behaviour.opened", "behaviour.played"))
    read = {record.participant.pk: record for record in records(study, [Mode.LIVE], completed_only=True)}
    assert len(read) == study.participants.count()
    assert (sum(choice.value(record) for record in read.values()), choice.value(read[first.pk])) == (3, 1)
    assert [float(opened.value(read[each.pk])) for each in (first, second)] == [0.4, 0.0]
    assert [float(played.value(read[each.pk])) for each in (first, second)] == [0.0, 0.2]
    assert choices_of(study, Mode.LIVE)[first.pk] == Chosen(2, 7)
    first.recommendation_lists.get().slots.all().delete()
    Response.objects.filter(participant=first, question="chosen").delete()
    (unseen,) = (each for each in records(study, [Mode.LIVE]) if each.participant == first)
    assert (choice.value(unseen), opened.value(unseen)) == (None, None)


def test_a_plan_names_choices_and_behaviour_as_outcomes(study: Study, tmp_path: Path) -> None:
    item = study.participants.order_by("pk")[0].recommendation_list.slots.get(rank=1).item.external_id
    for participant in study.participants.all():
        Event.objects.create(
            participant=participant, kind="details_opened", page="recommendations", facts={"item": item}
        )
    report = build_report(study=study)
    chosen, opened = report.read_results().variables[-2:]
    assert [variable.key for variable in (chosen, opened)] == PLANNED
    assert sorted(own.mean for own in chosen.described.values()) == [0.0] * (len(chosen.described) - 1) + [0.75]
    (tmp_path / "data").mkdir()
    write_people(report, tmp_path)  # refuses answers that differ from those of the report
    table = (tmp_path / "data" / "analysed.csv").read_text(encoding="utf-8").splitlines()
    assert table[0].endswith(",pick.chosen,behaviour.opened")
    assert not (tmp_path / "data" / "scales.csv").exists()  # its rows are scales of questions


def test_studies_without_a_choice_have_no_such_outcome() -> None:
    study = make_study()
    assert not {"pick.chosen", "behaviour.opened"} & set(possible_outcomes(questionnaire_of(study), study.design))
    assert choices_of(study, Mode.LIVE) == {}


def test_the_report_describes_the_choices_of_each_condition(study: Study) -> None:
    report = build_report(study=study)
    first, *others = report.read_results().choices
    assert (first.n, first.n_chosen, first.share, first.rank, first.popularity) == (4, 3, 0.75, 2.0, 7.0)
    assert (first.low, first.high) == pytest.approx((0.3006, 0.9544), abs=5e-5)  # by the formula
    assert others
    assert {(each.n_chosen, each.share, each.rank, each.popularity) for each in others} == {(0, 0.0, None, None)}
    page = page_without_pictures(report)
    assert "Choices by condition" in page
    assert "75%" in page
    digest = report.read_provenance().sample_digest
    Response.objects.filter(question="chosen", value="2").first().delete()
    assert build_report(study=study).read_provenance().sample_digest != digest
