"""The description of the analysed participants: answers about themselves, balance, duration, details, comments."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest

from analysis.files.listing import Outputs
from analysis.models import Report
from analysis.present import sample as narrative
from analysis.present.sample import characteristics_table, conduct_table
from analysis.results.codec import decode, encode
from analysis.results.report import Results
from analysis.results.sample import AnswersOfCondition, Characteristic, Sample
from analysis.services import build_report
from inference.balance import LargestDifference
from inference.results import Undefined
from studies.models import Event, Participant, Response, Study
from studies.monitoring.services.exclusions import exclude
from studies.participation.services.withdrawal import withdraw
from tests.factories.accounts import UserFactory
from tests.factories.analysis import page_without_pictures, planted_person, report_page
from tests.factories.console import owner_of, signed_in

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

AGES = {"TopPop": (20, 30, 40), "CorNgr": (30, 40, 50), "PureSVD4": (20, 30)}
WOMEN = {"TopPop": 3, "CorNgr": 1, "PureSVD4": 0}  # the others are men


def told(person: Participant, **answers: object) -> None:
    """Store answers about the whole person."""
    for question, value in answers.items():
        Response.objects.create(participant=person, question=question, rank=0, value=value)


@pytest.fixture
def described(study: Study) -> Study:
    """Participants of known age, gender and duration; one has opened details twice, and one has commented."""
    for label, ages in AGES.items():
        for number, age in enumerate(ages):
            person = planted_person(study, label, [3, 4, 2, 5, 1 + number], 1 + number)
            told(person, age=age, gender="woman" if number < WOMEN[label] else "man", nationality="Italian")
            minutes = 4 + 2 * number
            Participant.objects.filter(pk=person.pk).update(
                consented_at=person.consented_at - timedelta(minutes=minutes)
            )
    first = study.participants.order_by("pk")[0]
    for page in ("rate", "recommendations", "items"):  # what is opened before the list is there does not count
        Event.objects.create(participant=first, kind="details_opened", page=page, facts={"item": "1"})
    Event.objects.create(participant=first, kind="trailer_opened", page="items", facts={"item": "1"})
    told(first, comment="I am the dentist of Pavia & <liked> it.")
    return study


def sample_of(report: Report) -> Sample:
    found = report.read_results().sample
    assert found is not None
    return found


def characteristic(sample: Sample, key: str) -> Characteristic:
    return next(each for each in sample.characteristics if each.key == key)


def test_numbers_and_choices_by_condition(described: Study) -> None:
    sample = sample_of(build_report(study=described))
    age = characteristic(sample, "age")
    assert [group.n for group in age.by_condition] == [3, 3, 2]
    assert [group.number.mean for group in age.by_condition if group.number] == [30, 40, 25]
    assert age.total.number is not None
    assert (age.total.number.minimum, age.total.number.maximum, age.total.n) == (20, 50, 8)
    # Means 40 and 25, variances 100 and 50: 15 / sqrt(75).
    assert isinstance(age.balance, LargestDifference)
    assert (age.balance.a, age.balance.b) == ("CorNgr", "PureSVD4")
    assert age.balance.difference == pytest.approx(15 / 75**0.5)
    gender = characteristic(sample, "gender")
    assert gender.answers == ("Woman", "Man")
    assert [group.counts for group in gender.by_condition] == [(3, 0), (1, 2), (0, 2)]
    # Women 1 of 3 and 3 of 3: (2/3) / sqrt((2/9) / 2); no women against women alone has no value.
    assert isinstance(gender.balance, LargestDifference)
    assert gender.balance.difference == pytest.approx((2 / 3) / (1 / 9) ** 0.5)
    education = characteristic(sample, "education")
    assert (education.total.n, education.total.n_missing, education.answers) == (0, 8, ())
    # Of the few people, 95% of random assignments differ by at least as much as people of other ages can.
    assert age.by_chance is not None
    assert age.by_chance > age.balance.difference
    nationality = characteristic(sample, "nationality")
    assert (nationality.total.n, nationality.answers, nationality.balance) == (8, (), None)


def test_duration_details_trailers_and_comments(described: Study) -> None:
    sample = sample_of(build_report(study=described))
    assert sample.total.seconds is not None
    assert (sample.total.seconds.median, sample.total.seconds.minimum, sample.total.seconds.maximum) == (360, 240, 480)
    top = sample.by_condition[0]
    assert (top.details_opened, top.opened_details, top.trailers_opened, top.opened_trailers) == (2, 1, 1, 1)
    assert (top.commented, sample.total.commented) == (1, 1)
    assert sum(group.details_opened for group in sample.by_condition[1:]) == 0


def test_the_report_says_it_and_suppresses_nothing(described: Study) -> None:
    report = build_report(study=described)
    page = unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page_without_pictures(report))))
    for sentence in (
        "8 participants were analysed, 2 to 3 in each condition.",
        "M = 32.50, SD = 10.35, range 20 to 50 (n = 8).",
        "of fewer than five participants. No cell is suppressed",
        "The largest standardised difference between two conditions is 2.00",
        "From consent to the end, participation took a median of 6:00 min (range 4:00 to 8:00).",
        "opened 2 times by 1 participant, and trailers 1 time by 1 participant.",
        "1 participant wrote a comment.",
    ):
        assert sentence in page
    rows = {(row.group, row.cells[0].text): [cell.text for cell in row.cells[1:-2]] for row in
            characteristics_table(sample_of(report)).rows}  # fmt: skip
    genders = {answer: cells for (_question, answer), cells in rows.items() if answer in ("Woman", "Man")}
    assert genders == {
        "Woman": ["4 (50%)", "3 (100%)", "1 (33%)", "0 (0%)"],
        "Man": ["4 (50%)", "0 (0%)", "2 (67%)", "2 (100%)"],
    }
    titles = [section.title for section in Outputs(report).document.sections]
    assert "Participants" in titles
    assert titles[-1] == "Provenance"


def test_excluded_participants_are_not_described(described: Study) -> None:
    before = build_report(study=described)
    exclude(participant=described.participants.order_by("pk")[0], reason="Asleep")
    after = build_report(study=described)
    assert before.number != after.number
    assert (sample_of(after).total.n, sample_of(after).total.commented) == (7, 0)


def test_answers_about_the_person_are_inputs_of_a_report(described: Study) -> None:
    report = build_report(study=described)
    assert build_report(study=described).pk == report.pk
    Response.objects.filter(question="age").update(value=33)
    other = build_report(study=described)
    assert other.pk != report.pk
    balance = characteristic(sample_of(other), "age").balance
    assert isinstance(balance, LargestDifference)
    assert balance.difference == 0


def test_comments_are_in_no_file_and_members_read_them(described: Study) -> None:
    report = build_report(study=described)
    assert "dentist" not in str(report.results)
    texts = [file.make().decode() for file in Outputs(report).files() if file.suffix in ("md", "csv", "json", "txt")]
    assert [text for text in texts if "dentist" in text] == []
    address = report_page(report, "comments")
    owner = owner_of(described)
    assert address in owner.get(report.get_absolute_url()).content.decode()
    page = owner.get(address).content.decode()
    assert "I am the dentist of Pavia &amp; &lt;liked&gt; it." in page
    assert "TopPop" in page
    assert signed_in(UserFactory()).get(address).status_code == 404
    withdraw(participant=described.participants.order_by("pk")[0])
    emptied = owner.get(address).content.decode()
    assert "dentist" not in emptied
    assert "No participant" in emptied


def test_identifying_questions_are_left_out(study: Study) -> None:
    for block, key in (("about", "mail"), ("overall", "name")):
        study.questionnaire[block].append(
            {"key": key, "kind": "text", "required": False, "identifies": True, "text": {"en": "Who?", "it": "Chi?"}}
        )
    study.save()
    person = planted_person(study, "TopPop", [3] * 5, 3)
    told(person, mail="a@b.org", name="Ada")
    report = build_report(study=study)
    sample = sample_of(report)
    assert "mail" not in [each.key for each in sample.characteristics]
    assert sample.total.commented == 0
    assert "Ada" not in owner_of(study).get(report_page(report, "comments")).content.decode()


def test_a_report_of_an_older_version_has_the_flow_alone(described: Study) -> None:
    report = build_report(study=described)
    results = {key: value for key, value in report.results.items() if key != "sample"}
    older = decode(Results, results)
    assert older.sample is None
    assert "sample" not in encode(Results, older)
    report.results = results
    assert page_without_pictures(report)


def test_one_condition_and_no_answers_have_words(described: Study) -> None:
    sample = sample_of(build_report(study=described))
    nothing = AnswersOfCondition(n=0, n_missing=3)
    alone = Sample(
        conditions=("A",),
        characteristics=(
            Characteristic(key="x", question="X?", by_condition=(nothing,), total=nothing, balance=Undefined("None.")),
        ),
        by_condition=sample.by_condition[:1],
        total=sample.by_condition[0],
        asks_comments=False,
    )
    assert narrative.balance(alone) == narrative.small_cells(alone) == narrative.comments(alone, "participant") == ""
    assert [row.cells[0].text for row in characteristics_table(alone).rows] == ["n", "Answered", "No answer"]
    names = [column.name for column in conduct_table(alone, has_trailers=False).columns]
    assert "Trailers opened" not in names
    assert "Commented" not in names
