"""Exports, monitoring and integrity of studies in which each person has several lists, after walks of the pages."""

from __future__ import annotations

import io
import json
import secrets
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from django.core.management import call_command
from django.test import Client

from parallax.integrity.all_checks import findings
from studies.design.services.design import create_study
from studies.design.services.launch import close_study, launch_problems
from studies.enums import Mode
from studies.models import Event, Participant, RecommendationList, RecommendedItem, Response, Study
from studies.monitoring.selectors.consort import consort_of
from studies.monitoring.selectors.estimate import estimate_of
from studies.monitoring.selectors.exclusions import why_incomplete
from studies.monitoring.selectors.monitor import counts_by_condition, funnel, lists_judged, progress_of
from studies.monitoring.selectors.outcomes import outcomes_of
from studies.monitoring.selectors.page_times import page_summaries, step_times
from studies.participation.selectors.responses import records
from studies.participation.services.withdrawal import withdraw
from studies.simulation.answer_model import TRUE, Answer
from studies.team.selectors.studies import studies_of
from tests.factories.accounts import UserFactory
from tests.factories.analysis import planted_person
from tests.factories.exports import Exported
from tests.factories.several_lists import flow_of_lists
from tests.factories.side_by_side import planted_comparison, side_by_side_study
from tests.factories.studies import make_study, make_usage_run
from tests.factories.walking import Person, Viewer, tree
from tests.studies.test_lists_in_turn import AFTER, flow, in_turn, launched, to_list
from tests.studies.test_templates import created, films
from tests.studies.test_walker import walk

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

ASKED = {
    "after": [
        {"key": "best", "kind": "likert", "text": {"en": "Was any good?", "it": "Buona?"}, "minimum": 1, "maximum": 5},
    ]
}


class Varied(Viewer):
    """Says something else of each list and of each item."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.n = number

    def about_item(self, item: int) -> dict[str, Answer]:
        return {"watched": Answer(True, TRUE), "rating": Answer(1 + item % 5, TRUE)}

    def satisfaction(self) -> Answer:
        self.n += 1
        return Answer(1 + self.n % 5, TRUE)


@pytest.fixture(scope="module")
def walked(module_database: None) -> int:
    """Three who completed, one who stopped at the second list, and one who withdrew at the third."""
    study = in_turn(AFTER, asked=ASKED)
    for number in range(3):
        list(Person(study, viewer=Varied(number)).pages())
    to_list(Person(study, viewer=Varied(4)), 2)
    last = to_list(Person(study), 3)
    withdraw(participant=last.me)
    return study.pk


@pytest.fixture
def study(walked: int) -> Study:
    return Study.objects.get(pk=walked)


def table(exported: Exported, end: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(exported.text(end)))


def test_no_answer_is_lost_or_doubled_in_any_table(study: Study) -> None:
    exported = Exported(study, "long")
    items, lists = table(exported, "long_data.csv"), table(exported, "lists_data.csv")
    wide = table(Exported(study, "wide"), "wide_data.csv")
    key = ["participant.id", "list.occasion", "list.side"]
    assert not lists.duplicated(key).any()
    assert not items.duplicated([*key, "item.rank"]).any()
    assert not wide.duplicated("participant.id").any()
    assert (len(wide), len(lists), len(items)) == (5, 4 * 3, 4 * 3 * 5)
    answers = Response.objects.filter(participant__study=study)
    # Each stored answer in one cell of one table, and nothing else in those columns.
    assert wide["about.age"].count() == answers.filter(question="age").count() == 4
    assert wide["after.best"].count() == answers.filter(question="best").count() == 3
    assert lists["overall.satisfaction"].count() == answers.filter(question="satisfaction").count() == 10
    assert items["item.rating"].count() == answers.filter(question="rating").count() == 50
    of_lists = ("item.", "overall.", "measure.", "list.", "participant.condition")
    assert not {name for name in wide if name.startswith(of_lists)}
    assert not {name for name in lists if name.startswith(("about.", "after.", "item."))}
    assert set(wide["participant.sequence"].dropna()) <= set(study.sequences.values_list("label", flat=True))


def test_each_row_has_the_answers_and_the_condition_of_its_own_list(study: Study) -> None:
    lists = table(Exported(study, "wide"), "lists_data.csv")
    stored = {
        (record.public_id, each.occasion): (each.answers.get("satisfaction"), each.conditions[0].label)
        for record in records(study, [Mode.LIVE])
        for each in record.occasions
    }
    for row in lists.to_dict("records"):
        satisfaction, label = stored[row["participant.id"], row["list.occasion"]]
        assert row["list.condition"] == label
        assert (None if pd.isna(row["overall.satisfaction"]) else row["overall.satisfaction"]) == satisfaction
    rows = Response.objects.filter(participant__study=study, question="satisfaction")
    for response in rows.select_related("participant__sequence"):
        (position,) = response.participant.sequence.occasions[response.occasion - 1]
        made = RecommendationList.objects.get(participant=response.participant, occasion=response.occasion)
        assert made.condition == study.conditions.get(position=position)
    measured = lists.dropna(subset="measure.satisfaction")
    assert (measured["measure.satisfaction"] == measured["overall.satisfaction"]).all()
    assert set(lists.groupby("participant.id")["list.condition"].nunique()) == {3}


def test_every_format_opens_and_its_schema_names_the_key(study: Study) -> None:
    for kind in ("long", "wide", "events", "pages", "ratings", "profiles", "json", "psych-ds"):
        exported = Exported(study, kind)
        for file in exported.files:
            if file.name.endswith("_data.csv"):
                frame = pd.read_csv(io.BytesIO(exported.content[file.name]))
                schema = json.loads(exported.content[file.name.replace("_data.csv", "_schema.json")])
                assert [field["name"] for field in schema["fields"]] == list(frame.columns)
                if "events" not in file.name and len(frame):
                    assert not frame.duplicated(schema["primaryKey"]).any(), file.name
    package = Exported(study, "psych-ds")
    assert "one row per list of a participant" in package.text("README.md")
    described = json.loads(package.text("dataset_description.json"))
    assert described["description"].startswith("A within-subjects comparison of recommenders")
    people = json.loads(Exported(study, "json").text("_data.json"))["participants"]
    assert [len(person["lists"]) for person in people] == [3, 3, 3, 3, 0]
    assert [len(each["items"]) for each in people[0]["lists"]] == [5, 5, 5]
    assert "items" not in people[0]


def test_events_and_pages_say_the_occasion(study: Study) -> None:
    events = table(Exported(study, "events"), "events_data.csv")
    assert len(events) == Event.objects.filter(participant__study=study).count()
    views = events[(events["event.kind"] == "page_view") & (events["event.page"] == "overall")]
    assert set(views["event.occasion"]) == {1, 2, 3}
    pages = Exported(study, "pages")
    times = table(pages, "pages_data.csv")
    one = times[times["participant_id_in_session"] == 1]
    met = list(zip(one["page_name"], one["occasion"], one["round_number"], strict=True))
    of_lists = [
        place for n in (1, 2, 3) for place in [*(("items", n, rank) for rank in range(1, 6)), ("overall", n, 1)]
    ]
    assert met == [("consent", 1, 1), ("about", 1, 1), ("rate", 1, 1), *of_lists, ("after", 1, 1)]
    assert not one["epoch_time_completed"].diff().dropna().lt(0).any()
    medians = table(pages, "page-medians_data.csv")
    assert list(medians[medians["page_name"] == "overall"]["occasion"]) == [1, 2, 3]


def test_incomplete_data_name_the_list(study: Study) -> None:
    Response.objects.filter(participant__study=study, occasion=2, question="satisfaction").delete()
    Response.objects.filter(participant__study=study, occasion=3, question="rating", rank=4).delete()
    record = next(iter(records(study, [Mode.LIVE])))
    assert why_incomplete(study, record) == (
        "Finished without the answer to rating of item 4 of list 3, the answer to satisfaction of list 2."
    )


def test_counts_go_by_sequence_and_by_page_and_occasion(study: Study) -> None:
    flow = consort_of(study, Mode.LIVE)
    assert [line.condition for line in flow.by_condition] == [arm.label for arm in study.sequences.all()]
    assert (flow.assigned, flow.completed, sum(line.assigned for line in flow.by_condition)) == (5, 3, 5)
    assert sum(line.started for line in counts_by_condition(study, Mode.LIVE)) == 5
    progress = progress_of(study)
    assert (progress.completed, progress.target) == (3, estimate_of(study).n_planned)
    reached = dict(funnel(study, Mode.LIVE))
    assert [reached[f"Reached the page recommendations of list {n}"] for n in (1, 2, 3)] == [5, 5, 4]
    assert [reached[f"Reached the page overall of list {n}"] for n in (1, 2, 3)] == [5, 4, 3]
    assert (reached["Reached the page after"], reached["Reached the page thanks"]) == (3, 3)
    judged, expected = dict(lists_judged(study, Mode.LIVE)), Counter()
    for person in Participant.objects.filter(study=study, erased_at__isnull=True):
        done = {"completed": 3}.get(person.status, person.occasion - 1)
        for (position,) in person.sequence.occasions[:done]:
            expected[study.conditions.get(position=position).label] += 1
    assert judged == dict(expected)
    assert sum(judged.values()) == 10


def test_outcomes_are_means_over_the_lists_of_each_condition(study: Study) -> None:
    lines = {line.condition: line for line in outcomes_of(study, Mode.LIVE)}
    assert {line.n for line in lines.values()} == {3}
    for condition in study.conditions.all():
        given = []
        for person in Participant.objects.filter(study=study, status="completed"):
            occasion = person.sequence.occasions.index([condition.position]) + 1
            given.append(person.responses.get(question="satisfaction", occasion=occasion).value)
        assert lines[condition.label].satisfaction == pytest.approx(sum(given) / 3)


def test_times_of_pages_are_summed_over_lists(study: Study) -> None:
    steps = {line.step: line for line in step_times(study, Mode.LIVE)}
    assert steps["overall"].n == 3
    assert {line.occasion for line in page_summaries(study, [Mode.LIVE]) if line.page == "items"} == {1, 2, 3}


def test_the_withdrawn_have_no_list_left_and_all_checks_pass(study: Study) -> None:
    gone = Participant.objects.get(study=study, status="withdrawn")
    assert not gone.recommendation_lists.exists()
    assert not gone.responses.exists()
    assert list(findings()) == []


def test_checks_find_a_lost_list_and_an_item_shown_twice(study: Study) -> None:
    person = Participant.objects.filter(study=study, status="completed").first()
    assert person is not None
    first, second, third = person.recommendation_lists.order_by("occasion")
    third.delete()
    Participant.objects.get(study=study, status="active").recommendation_lists.get(occasion=2).delete()
    RecommendedItem.objects.filter(recommendation_list=second, rank=1).update(item=first.slots.get(rank=1).item)
    codes = Counter(finding.code for finding in findings())
    assert (codes["list.lost"], codes["list.wrong"], codes["participant.incomplete"]) == (1, 1, 1)


@pytest.fixture
def compared() -> Study:
    study = side_by_side_study(3)
    planted_comparison(study, 0, [{"overall": 2, "varied": -1}, 0, {"overall": 1, "varied": 2}])
    planted_comparison(study, 1, [-2, 1, {"overall": 0}])
    return study


def test_comparisons_have_a_row_for_each_question_of_preference(compared: Study) -> None:
    exported = Exported(compared, "long")
    rows = table(exported, "comparisons_data.csv")
    answers = Response.objects.filter(participant__study=compared, question__in=["overall", "varied"])
    assert len(rows) == answers.count() == 11
    assert not rows.duplicated(["participant.id", "list.occasion", "comparison.question"]).any()
    people = {record.public_id: record.participant for record in records(compared, [Mode.LIVE])}
    labels = list(compared.conditions.order_by("position").values_list("label", flat=True))
    for row in rows.to_dict("records"):
        person, occasion = people[row["participant.id"]], row["list.occasion"]
        left, right = person.sequence.occasions[occasion - 1]
        assert [row["comparison.left"], row["comparison.right"]] == [labels[left], labels[right]]
        stored = answers.get(participant=person, occasion=occasion, question=row["comparison.question"])
        assert row["comparison.preference"] == stored.value
    schema = json.loads(exported.text("comparisons_schema.json"))
    assert schema["primaryKey"] == ["participant.id", "list.occasion", "comparison.question"]
    (preference,) = [field for field in schema["fields"] if field["name"] == "comparison.preference"]
    assert (preference["type"], preference["constraints"]["minimum"], preference["constraints"]["maximum"]) == (
        "integer", -2, 2,
    )  # fmt: skip


def test_lists_side_by_side_have_a_row_each(compared: Study) -> None:
    exported = Exported(compared, "psych-ds")
    lists = table(exported, "description-lists_data.csv")
    assert list(zip(lists["list.occasion"], lists["list.side"], strict=True)) == [
        (occasion, side) for _person in range(2) for occasion in (1, 2, 3) for side in (1, 2)
    ]
    labels = list(compared.conditions.order_by("position").values_list("label", flat=True))
    people = {record.public_id: record.participant for record in records(compared, [Mode.LIVE])}
    for row in lists.to_dict("records"):
        positions = people[row["participant.id"]].sequence.occasions[row["list.occasion"] - 1]
        assert row["list.condition"] == labels[positions[row["list.side"] - 1]]
    assert not {name for name in lists if name.startswith("compare.")}
    items = table(exported, "description-items_data.csv")
    assert len(items) == RecommendedItem.objects.filter(recommendation_list__participant__study=compared).count() == 60
    wide = table(exported, "description-participants_data.csv")
    assert (len(wide), "compare.overall" in wide) == (2, False)
    assert dict(lists_judged(compared, Mode.LIVE)) == dict.fromkeys(labels, 4)


def test_other_questions_of_a_comparison_are_in_one_row(compared: Study) -> None:
    why = {"key": "why", "kind": "text", "required": False, "text": {"en": "Why?", "it": "Perché?"}}
    compared.questionnaire["compare"].append(why)
    compared.save()
    person = Participant.objects.filter(study=compared).earliest("pk")
    Response.objects.create(participant=person, question="why", occasion=2, value="Newer films")
    lists = table(Exported(compared, "wide"), "lists_data.csv")
    said = lists.dropna(subset="compare.why")
    assert list(zip(said["list.occasion"], said["list.side"], said["compare.why"], strict=True)) == [
        (2, 1, "Newer films")
    ]
    assert "why" not in set(table(Exported(compared, "wide"), "comparisons_data.csv")["comparison.question"])


def test_a_preference_that_is_lacking_is_named(compared: Study) -> None:
    first, second = records(compared, [Mode.LIVE])
    assert "varied" not in (why_incomplete(compared, first) or "")
    assert "the answer to varied of list 5" in (why_incomplete(compared, second) or "")


def test_studies_with_one_list_have_no_table_of_lists() -> None:
    study = make_study()
    planted_person(study, "TopPop", [3] * 5, 3)
    for kind in ("long", "wide", "psych-ds"):
        exported = Exported(study, kind)
        assert not [name for name in exported.content if "lists" in name or "comparisons" in name]
        assert not [name for row in exported.rows() for name in row if name in ("list.occasion", "list.condition")]


def test_commands_work_on_several_lists(study: Study, tmp_path: Path) -> None:
    out = StringIO()
    call_command("replay_allocation", study.slug, stdout=out)
    assert "Every assignment matches the log." in out.getvalue()
    call_command("export_study", study.slug, format="psych-ds", out=tmp_path, stdout=out)
    assert len(pd.read_csv(next(tmp_path.glob("data/*description-lists_data.csv")))) == 12
    person = Participant.objects.filter(study=study, status="completed").earliest("pk")
    call_command("withdraw_participant", study.slug, person.code, reason="On request", yes=True, stdout=out)
    assert not person.recommendation_lists.exists()
    assert not Response.objects.filter(participant=person).exists()
    close_study(study=study)
    Study.objects.filter(pk=study.pk).update(answers_kept_days=0)
    call_command("erase_expired", stdout=out)
    assert not RecommendationList.objects.filter(participant__study=study).exists()
    assert not Response.objects.filter(participant__study=study).exists()
    exported = Exported(study, "long")
    assert (exported.rows("long_data.csv"), exported.rows("lists_data.csv")) == ([], [])
    assert {why_incomplete(study, record) for record in records(study, [Mode.LIVE])} == {
        "Erased, by the participant's wish or by the study's retention limit."
    }
    assert list(findings()) == []


def test_console_pages_show_sequences_and_lists(study: Study, client: Client) -> None:
    client.force_login(study.memberships.get().researcher)
    overview = tree(client.get(f"/studies/{study.slug}/"))
    assert "Reached the page overall of list 3" in words_of(overview)
    judged = overview.xpath("//h3[. = 'Lists judged']/following-sibling::dl[1]/div")
    assert {line.findtext("dt"): int(line.findtext("dd")) for line in judged} == dict(lists_judged(study, Mode.LIVE))
    close_study(study=study)
    quality = words_of(tree(client.get(f"/studies/{study.slug}/quality/")))
    assert all(arm.label in quality for arm in study.sequences.all())
    for page in ("estimate/", "participants/"):
        assert client.get(f"/studies/{study.slug}/{page}").status_code == 200, page


def test_the_list_of_studies_counts_people_once(study: Study) -> None:
    owner = study.memberships.get().researcher
    (listed,) = studies_of(owner)
    assert (listed.n_completed, listed.n_wanted) == (3, sum(arm.target for arm in study.sequences.all()))
    # Each of the twelve meets all three conditions.
    assert listed.n_wanted == 12


def test_lists_in_turn_on_usage_data() -> None:
    run = make_usage_run(algorithms="toppop,puresvd:factors=4")
    settings = {"flow": flow(), "block_multiples": [1], "elicitation": "stars", "list_length": 3}
    study = create_study(
        slug="usage", version=run.version, run=run, per_condition=4, seed=1, owner=UserFactory(), settings=settings
    )
    launched(study)
    for number in range(2):
        list(Person(study, viewer=Varied(number)).pages())
    lists = table(Exported(study, "wide"), "lists_data.csv")
    assert (len(lists), set(lists["list.occasion"])) == (4, {1, 2})
    assert lists["list.n_taken"].notna().all()
    items = table(Exported(study, "long"), "long_data.csv")
    assert (
        items["item.rating"].count()
        == Response.objects.filter(participant__study=study, question="rating").count()
        == 12
    )
    assert list(findings()) == []


def words_of(page: Any) -> str:
    return " ".join(page.text_content().split())


def test_interviewers_nested_in_a_condition_and_several_lists_are_refused() -> None:
    study = make_study(slug="nested", status="draft", settings={"flow": flow_of_lists(shown="in_turn")})
    assert launch_problems(study) == []
    study.settings = {**study.settings, "interviewers": "nested"}
    (problem,) = launch_problems(study)
    assert problem.startswith("Interviewers run one condition each, and participants meet several.")


@pytest.mark.slow
def test_simulated_walks_of_two_lists_side_by_side_are_exported_whole() -> None:
    study = created("two-lists", films("toppop, nncosngr, puresvd:factors=4"), settings={"block_multiples": [1]})
    launched(study)
    for seed in range(2):
        walk(study, secrets.token_hex(20), seed=seed)
    with pytest.raises(httpx.RemoteProtocolError):  # at the third comparison
        walk(study, secrets.token_hex(20), seed=9, after=43)
    exported = Exported(study, "psych-ds", include_simulated=True)
    rows = table(exported, "description-comparisons_data.csv")
    keys = [question["key"] for question in study.questionnaire["compare"] if question["kind"] == "preference"]
    assert len(rows) == Response.objects.filter(participant__study=study, question__in=keys).count() > 30
    assert set(rows["comparison.preference"]) <= {-2, -1, 0, 1, 2}
    assert len(table(exported, "description-lists_data.csv")) == 3 * 3 * 2
    pages = table(exported, "description-pagetimes_data.csv")
    compared = pages[pages["page_name"] == "compare"]
    assert [list(own) for _who, own in compared.groupby("participant_code", sort=False)["occasion"]] == [
        [1, 2, 3], [1, 2, 3], [1, 2],
    ]  # fmt: skip
    assert list(findings()) == []
