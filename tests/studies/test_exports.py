"""Frames and files: what is in them, what is not, and that they say so."""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from django.apps import apps

from catalog.models import Item
from core.errors import ParallaxError
from studies.data.codebook.cells import cell
from studies.data.codebook.items import wide_variables
from studies.data.exports.export_files import FORMATS, write_export
from studies.data.exports.rows import Source
from studies.enums import Mode
from studies.instrument.flow import Place
from studies.models import ExternalId, Participant, RecommendedItem, Study, StudyVersion
from studies.monitoring.services.exclusions import exclude
from studies.participation.selectors import responses
from studies.participation.selectors.responses import public_ids
from studies.participation.services import events, participant_state
from tests.factories.exports import Exported
from tests.factories.studies import assigned, completed, enter, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture(scope="module")
def stored(module_database: None) -> int:
    """The key of a study with people who completed it and people who left."""
    study = make_study(per_condition=3)
    completed(study, number=0)
    completed(study, number=2, gender="man")
    rated(study)
    assigned(study, age=70)
    return study.pk


@pytest.fixture
def study(stored: int) -> Study:
    """Its rows are as new in each test."""
    return Study.objects.get(pk=stored)


def _table(study: Study, kind: str, **options: bool) -> list[dict[str, str]]:
    return Exported(study, kind, **options).rows()


def test_wide_has_one_row_a_participant_and_long_one_an_item(study: Study) -> None:
    wide, long = _table(study, "wide"), _table(study, "long")
    assert [row["participant.status"] for row in wide] == ["completed", "completed", "active", "screened_out"]
    assert [row["participant.is_complete"] for row in wide] == ["1", "1", "0", "0"]
    assert len(long) == 15
    assert {row["study.design_hash"] for row in wide + long} == {study.design_hash}
    by_id = {row["participant.id"]: row for row in wide}
    for row in long:
        whole = by_id[row["participant.id"]]
        for name in ("id", "score", "watched", "heard", "rating", "fon", "son", "branch"):
            assert whole[f"item.{row['item.rank']}.{name}"] == row[f"item.{name}"]


def test_measures_in_the_file_are_those_of_the_answers(study: Study) -> None:
    row = _table(study, "wide")[0]
    ratings = [int(row[f"item.{rank}.rating"]) for rank in range(1, 6)]
    assert float(row["measure.accuracy"]) == sum(ratings) / 5
    assert float(row["measure.fon"]) == sum(row[f"item.{rank}.watched"] == "0" for rank in range(1, 6)) / 5
    assert row["about.age"] == "30"
    assert row["profile.5.rating"] == "5"
    assert row["item.4.heard"] == ""


def test_what_names_people_is_left_out_unless_asked_for_and_then_the_files_say_so(study: Study) -> None:
    person = Participant.objects.filter(status="completed").first()
    assert person is not None
    ExternalId.objects.create(study=study, participant=person, name="PROLIFIC_PID", value="5f00ab")
    secrets = (person.code, person.completion_code, "5f00ab")
    for kind in FORMATS:
        plain = Exported(study, kind)
        assert not [name for name, content in plain.content.items() for one in secrets if one.encode() in content]
        assert "identifiable-true" not in str(list(plain.content))
    for kind in ("wide", "long", "json"):
        named = Exported(study, kind, include_external_ids=True)
        assert all(one in named.text(f"identifiable-true_{kind}_data.{'json' if kind == 'json' else 'csv'}")
                   for one in secrets)  # fmt: skip
    ids = [row["participant.id"] for row in _table(study, "wide")]
    assert len(set(ids)) == 4
    assert {len(one) for one in ids} == {6}
    Study.objects.filter(pk=study.pk).update(export_salt="another")
    study.refresh_from_db()
    assert set(ids).isdisjoint(row["participant.id"] for row in _table(study, "wide"))


def test_ids_that_would_be_equal_grow_for_the_later_participant_alone(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = public_ids(study)
    monkeypatch.setattr(responses, "PUBLIC_ID_LENGTH", 1)  # 32 ids in all: sixty people must meet
    for _ in range(60):
        enter(study)
    short = public_ids(study)
    assert len(set(short.values())) == len(short) == 64
    assert {len(one) for one in short.values()} > {1}
    assert next(iter(before.values()))[0] == next(iter(short.values()))


@pytest.mark.parametrize("kind", FORMATS)
def test_the_codebook_has_each_column_once_in_order(study: Study, kind: str) -> None:
    export = Exported(study, kind)
    books = [name for name in export.content if name.endswith("_codebook.csv")]
    assert books
    for name in books:
        stem = name.removesuffix("_codebook.csv")
        lines = export.rows(name)
        columns = [line["name"] for line in lines]
        if f"{stem}_data.csv" in export.content:
            assert next(csv.reader(io.StringIO(export.text(f"{stem}_data.csv")))) == columns
        assert len(set(columns)) == len(columns)
        assert [line["name"] for line in json.loads(export.text(f"{stem}_codebook.json"))] == columns
        assert [field["name"] for field in json.loads(export.text(f"{stem}_schema.json"))["fields"]] == columns
        assert all(line["meaning"] and line["type"] and line["identifies"] for line in lines)


def test_values_in_the_file_are_of_the_type_that_the_codebook_says(study: Study) -> None:
    rows = _table(study, "wide")
    for variable in wide_variables(study):
        for value in (row[variable.name] for row in rows if row[variable.name]):
            if variable.type == "boolean":
                assert value in "01"
            elif variable.type == "integer":
                assert int(value) >= 0
            elif variable.type == "number":
                float(value)
            elif variable.type == "datetime":
                assert datetime.fromisoformat(value).utcoffset() == timedelta(0)


def test_the_same_data_give_the_same_bytes(study: Study) -> None:
    for kind in FORMATS:
        first, second = Exported(study, kind).content, Exported(study, kind).content
        made_at = [name for name in first if name.endswith(("_export.json", "_sha256sums.txt"))]
        assert {n: c for n, c in first.items() if n not in made_at} == {
            n: c for n, c in second.items() if n not in made_at
        }


def test_counts_and_checksums_are_those_of_the_files(study: Study) -> None:
    export = Exported(study, "wide")
    facts = json.loads(export.text("_wide_export.json"))
    assert facts["files"]["study-good-films_wide_data.csv"]["rows"] == 4
    assert facts["design_hash"] == study.design_hash
    flow = facts["flow"]["live"]
    assert (flow["consented"], flow["assigned"], flow["completed"], flow["analysed"]) == (4, 3, 2, 2)
    assert (flow["left_before"], flow["left_after"]) == ({"Screened out": 1}, {"Under way": 1})
    assert (facts["finished"], facts["finished_and_complete"], facts["finished_and_not_complete"]) == (2, 2, [])
    sums = dict(reversed(line.split("  ")) for line in export.text("_sha256sums.txt").splitlines())
    assert set(sums) == set(export.content) - {"study-good-films_wide_sha256sums.txt"}
    with zipfile.ZipFile(io.BytesIO(export.archive)) as archive:
        for name, digest in sums.items():
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest


def test_who_finished_and_is_not_complete_is_named_with_what_is_missing(study: Study) -> None:
    person = Participant.objects.filter(status="completed").order_by("pk")[0]
    person.responses.filter(question="rating", rank=2).delete()
    person.responses.filter(question="satisfaction").delete()
    export = Exported(study, "wide")
    facts = json.loads(export.text("_wide_export.json"))
    row = export.rows("_wide_data.csv")[0]
    why = "Finished without the answer to rating of item 2, the answer to satisfaction."
    assert facts["finished_and_not_complete"] == [{"participant.id": row["participant.id"], "why": why}]
    assert facts["finished_and_complete"] == 1
    assert (row["participant.is_complete"], row["participant.why_incomplete"]) == ("0", why)


def test_excluded_participants_are_marked_or_left_out(study: Study) -> None:
    person = Participant.objects.filter(status="completed").order_by("pk")[0]
    exclude(participant=person, reason="=cmd|calc, told us they guessed")
    marked = _table(study, "wide")
    assert [row["participant.is_excluded"] for row in marked] == ["1", "0", "0", "0"]
    assert marked[0]["participant.excluded_reason"].startswith("'=cmd")
    for kind, n in (("wide", 3), ("long", 10), ("ratings", 10)):
        assert len(Exported(study, kind, without_excluded=True).rows(f"{kind}_data.csv")) == n
    export = Exported(study, "pages", without_excluded=True)
    assert {row["participant_id_in_session"] for row in export.rows("pages_data.csv")} == {"2", "3", "4"}
    facts = json.loads(export.text("_pages_export.json"))
    assert facts["flow"]["live"]["analysed"] == 1
    assert facts["excluded"] == [{"reason": "=cmd|calc, told us they guessed", "n": 1}]
    allocation = Exported(study, "wide", without_excluded=True).rows("allocation_data.csv")
    assert len(allocation) == len(Exported(study, "wide").rows("allocation_data.csv")) == 3


def test_whom_the_plan_leaves_out_is_marked_or_left_out_and_counted(study: Study) -> None:
    StudyVersion.objects.filter(study=study).update(
        snapshot={**study.versions.get().snapshot, "plan": {"exclude": ["too_fast"]}}
    )
    exported = Exported(study, "wide")
    found = [(row["participant.is_left_out_by_plan"], row["participant.is_excluded"]) for row in exported.rows()]
    assert found == [("1", "0"), ("1", "0"), ("0", "0"), ("0", "0")]
    facts = json.loads(exported.text("_export.json"))
    assert facts["excluded"] == [{"reason": "By the plan: Too fast", "n": 2}]
    assert (facts["flow"]["live"]["excluded"], facts["flow"]["live"]["analysed"]) == ({"By the plan: Too fast": 2}, 0)
    lines = csv.DictReader(io.StringIO(exported.text("wide_codebook.csv")))
    told = {line["name"]: line["derivation"] for line in lines}
    assert told["participant.is_left_out_by_plan"] == "participant.flags has one of too_fast"
    without = Exported(study, "wide", without_excluded=True)
    assert len(without.rows()) == 2
    assert json.loads(without.text("_export.json"))["flow"]["live"] == facts["flow"]["live"]


def test_pages_have_the_columns_of_otree_and_rising_times(study: Study) -> None:
    rows = Exported(study, "pages").rows("pages_data.csv")
    assert list(rows[0]) == [
        "session_code", "participant_id_in_session", "participant_code", "page_index", "app_name", "page_name",
        "epoch_time_completed", "round_number", "timeout_happened", "is_wait_page",
        "dwell_seconds", "hidden_seconds", "n_views",
    ]  # fmt: skip
    first = [row for row in rows if row["participant_id_in_session"] == "1"]
    assert [row["page_name"] for row in first] == ["consent", "about", "rate", *["items"] * 5, "overall"]
    assert [row["round_number"] for row in first[3:8]] == list("12345")
    times = [float(row["epoch_time_completed"]) for row in first]
    assert times == sorted(times)
    screened = [row["page_name"] for row in rows if row["participant_id_in_session"] == "4"]
    assert screened == ["consent"]


def test_events_and_ratings_have_a_row_each(study: Study) -> None:
    person = rated(study, gender="man")
    events.record_event(participant=person, kind="search", facts={"query": "=x", "found": 3})
    events.record_event(participant=person, kind="details_opened", facts={"item": "7"})
    rows = Exported(study, "events").rows("events_data.csv")
    assert [(row["event.kind"], row["event.order"], row["event.item"]) for row in rows] == [
        ("search", "1", ""), ("details_opened", "2", "7"),
    ]  # fmt: skip
    assert json.loads(rows[0]["event.facts"]) == {"query": "=x", "found": 3}
    ratings = Exported(study, "ratings").rows("ratings_data.csv")
    assert len(ratings) == 20
    assert [row["rating.value"] for row in ratings[:5]] == list("12345")


def test_whoever_enters_after_the_source_was_made_is_in_no_table(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(study, [Mode.LIVE, Mode.SIMULATED])
    before = [person.number for person in source.people()]
    ids, n_events = responses.public_ids(study), len(list(source.event_rows()))
    completed(study)
    assert [person.number for person in source.people()] == before
    assert len(list(source.event_rows())) == n_events
    assert {row.person.number for row in source.pages()} <= set(before)
    monkeypatch.setattr(responses, "public_ids", lambda study: ids)  # somebody enters after they are read
    assert len(list(responses.records(study, [Mode.LIVE, Mode.SIMULATED]))) == len(before)


def test_json_holds_what_the_tables_hold(study: Study) -> None:
    found = json.loads(Exported(study, "json").text("json_data.json"))
    wide = _table(study, "wide")
    assert found["design_hash"] == study.design_hash
    assert [one["participant.id"] for one in found["participants"]] == [row["participant.id"] for row in wide]
    first = found["participants"][0]
    assert first["measure.accuracy"] == float(wide[0]["measure.accuracy"])
    assert [item["item.rating"] for item in first["items"]] == [2, 3, 4, 5, 1]
    assert first["overall.comment"] == "=1+1, fine"  # JSON runs no formula


def test_a_psych_ds_package_describes_every_column_of_its_tables(study: Study) -> None:
    export = Exported(study, "psych-ds")
    names = set(export.content)
    assert {"dataset_description.json", "README.md", "CHANGES.md", "materials/questionnaire.json"} <= names
    tables = [name for name in names if name.startswith("data/") and name.endswith("_data.csv")]
    assert len(tables) == 7
    assert all(re.fullmatch(r"data/study-[a-zA-Z0-9]+_description-[a-z]+_data\.csv", name) for name in tables)
    description = json.loads(export.content["dataset_description.json"])
    assert (description["@context"], description["@type"]) == ("https://schema.org/", "Dataset")
    measured = [variable["name"] for variable in description["variableMeasured"]]
    assert len(measured) == len(set(measured))
    for name in tables:
        assert set(next(csv.reader(io.StringIO(export.text(name))))) <= set(measured)
    assert json.loads(export.content["materials/design.json"])["design_hash"] == study.design_hash


def test_an_export_that_cannot_be_finished_leaves_nothing(study: Study, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    with pytest.raises(ParallaxError) as refusal:
        write_export(study, "xlsx", tmp_path)
    assert refusal.value.code == "export.unknown_format"
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


def test_the_flow_is_drawn_and_adds_up(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(n_opened=9, n_declined=2)
    study.refresh_from_db()
    export = Exported(study, "long")
    assert export.text("_consort-live.svg").startswith("<svg")
    flow = json.loads(export.text("_consort.json"))["live"]
    assert (flow["opened"], flow["declined"]) == (9, 2)
    assert flow["consented"] == flow["assigned"] + sum(flow["left_before"].values())
    assert flow["assigned"] == flow["completed"] + sum(flow["left_after"].values())
    assert sum(line["assigned"] for line in flow["by_condition"]) == flow["assigned"]


def test_simulated_participants_are_left_out_unless_asked_for(study: Study) -> None:
    completed(study, Mode.SIMULATED)
    completed(study, Mode.PREVIEW)
    assert {row["participant.mode"] for row in _table(study, "wide")} == {"live"}
    both = _table(study, "wide", include_simulated=True)
    assert [row["participant.mode"] for row in both] == ["live"] * 4 + ["simulated"]


def test_a_study_with_simulated_participants_alone_says_so() -> None:
    study = make_study(slug="simulated-only")
    completed(study, Mode.SIMULATED)
    with pytest.raises(ParallaxError) as refusal:
        Exported(study, "long")
    assert refusal.value.code == "export.only_simulated"
    assert len(_table(study, "long", include_simulated=True)) == 5


def _of_the_list(study: Study, column: str) -> list[str]:
    """What the long file says of the five films of whoever looks at their list."""
    rows = _table(study, "long")
    return [row[column] for row in rows if row["participant.step"] == "recommendations"][-5:]


def test_opened_details_and_trailers_are_told_item_by_item(study: Study) -> None:
    person = rated(study, gender="man")
    slots = list(participant_state.recommendation_list(person).slots.all())
    facts = {"item": slots[1].item.external_id}
    events.record_event(participant=person, kind="trailer_opened", at=Place("items", 1), facts=facts)
    assert _of_the_list(study, "item.trailer_opened") == ["0", "1", "0", "0", "0"]
    assert _of_the_list(study, "item.details_opened") == ["0"] * 5


def test_whether_a_film_had_a_trailer_is_kept_from_the_day_of_the_list(study: Study) -> None:
    films = study.dataset_version.items
    films.filter(index__in=range(1, 40, 2)).update(trailer_url="")
    person = rated(study, gender="man")
    slots = list(participant_state.recommendation_list(person).slots.all())
    had = ["1" if slot.item.index % 2 == 0 else "0" for slot in slots]
    assert {"0", "1"} == set(had)
    films.update(trailer_url="")
    assert _of_the_list(study, "item.has_trailer") == had
    assert _of_the_list(study, "item.trailer_opened") == ["0"] * 5
    one = _table(study, "wide")[-1]
    assert [one[f"item.{rank}.has_trailer"] for rank in range(1, 6)] == had
    told = json.loads(Exported(study, "json").text("json_data.json"))["participants"][-1]
    assert [item["item.has_trailer"] for item in told["items"]] == [value == "1" for value in had]
    described = json.loads(Exported(study, "psych-ds").content["dataset_description.json"])
    assert "item.has_trailer" in {variable["name"] for variable in described["variableMeasured"]}


def test_lists_from_before_say_what_their_items_have(study: Study) -> None:
    slots = RecommendedItem.objects.all()
    chosen = slots.filter(rank=2)[0].item
    Item.objects.exclude(pk=chosen.pk).update(trailer_url="")
    slots.update(has_trailer=None)
    assert {row["item.has_trailer"] for row in _table(study, "long")} == {""}
    importlib.import_module("studies.migrations.0009_trailers_of_lists").keep_which_have_trailers(apps, None)
    assert set(slots.filter(has_trailer=True)) == set(slots.filter(item=chosen))
    assert not slots.filter(has_trailer=None).exists()


def test_what_was_opened_before_the_list_was_there_is_not_told_of_its_items(study: Study) -> None:
    person = rated(study, gender="man")
    slots = list(participant_state.recommendation_list(person).slots.all())
    for rank, page in enumerate(("rate", "recommendations", "items", "overall", "after"), start=1):
        facts = {"item": slots[rank - 1].item.external_id}
        for kind in ("details_opened", "trailer_opened"):
            events.record_event(participant=person, kind=kind, at=Place(page), facts=facts)
    assert _of_the_list(study, "item.details_opened") == ["0", "1", "1", "1", "1"]
    assert _of_the_list(study, "item.trailer_opened") == ["0", "1", "1", "1", "1"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "1"),
        (False, "0"),
        (-3, "-3"),
        (0.1, "0.1"),
        ("=1+1", "'=1+1"),
        ("  @SUM(A1)", "'  @SUM(A1)"),
        ("+39 333", "'+39 333"),
        ("-x", "'-x"),
        ("\t=1", "'\t=1"),
        ("a\r\n=b", "a =b"),
        ("fine, thanks", "fine, thanks"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=1))), "2026-01-02T02:04:05.000Z"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000Z"),
    ],
)
def test_cell_writes_values_and_defuses_formulas(value: object, text: str) -> None:
    assert cell(value) == text


def test_a_comment_that_looks_like_a_formula_is_defused_in_the_file(study: Study) -> None:
    assert {row["overall.comment"] for row in _table(study, "wide")} == {"'=1+1, fine", ""}
