"""Frames and files: what is in them, what is not, and that they say so."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.errors import ParallaxError
from studies.codebook import cell, wide_variables
from studies.enums import Mode, Provenance
from studies.exports import export_files, zipped
from studies.models import Participant, Study
from studies.selectors.responses import items_frame, participants_frame
from studies.services import answers
from tests.factories.studies import assigned, completed, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    study = make_study(per_condition=3)
    completed(study, number=0)
    completed(study, number=2, gender="man")
    rated(study)
    assigned(study, age=70)
    return study


def _table(study: Study, kind: str, **kwargs: bool) -> list[dict[str, str]]:
    data = export_files(study, kind, **kwargs)[0].content.decode()
    return list(csv.DictReader(io.StringIO(data)))


def test_participants_frame_has_the_measures_of_those_who_completed(study: Study) -> None:
    frame = participants_frame(study)
    assert len(frame) == 2
    first = frame.iloc[0]
    # Answers by rank for number 0: ratings 2 3 4 5 1; items 4 watched, 1 heard of, 2 and 3 not.
    assert (first.n_items, first.accuracy_sum, first.fon_sum, first.son_sum, first.satisfaction) == (5, 15, 4, 2, 1)
    assert (first.accuracy, first.fon, first.son) == (3.0, 0.8, 0.4)
    assert (first.n_liking, first.liking_sum, first.n_interest, first.interest_sum) == (1, 5, 4, 10)
    assert first.share_modelled == 0
    everybody = participants_frame(study, completed_only=False)
    assert list(everybody.status) == ["completed", "completed", "active", "screened_out"]
    assert everybody.accuracy_sum.isna().tolist() == [False, False, True, True]


def test_items_frame_has_a_row_for_each_recommended_item(study: Study) -> None:
    frame = items_frame(study)
    assert list(frame["rank"]) == [1, 2, 3, 4, 5] * 2
    first = frame[frame.code == frame.code.iloc[0]]
    assert list(first.rating) == [2, 3, 4, 5, 1]
    assert list(first.branch) == ["neither", "trailer_seen", "neither", "watched", "neither"]
    assert (frame.son <= frame.fon).all()
    summed = frame.groupby("code", sort=False).rating.sum()
    assert list(summed) == list(participants_frame(study).accuracy_sum)


def test_share_modelled_counts_answers_and_ratings() -> None:
    study = make_study()
    person = completed(study, Mode.SIMULATED)
    n = person.responses.count() + person.profile.count()
    person.responses.filter(question="rating").update(provenance=Provenance.MODELLED)
    frame = participants_frame(study, Mode.SIMULATED)
    assert frame.share_modelled.iloc[0] == 5 / n
    assert participants_frame(study).empty


def test_a_study_without_anybody_has_an_empty_frame_with_its_columns() -> None:
    study = make_study(status="draft")
    assert "accuracy_sum" in participants_frame(study).columns
    assert "branch" in items_frame(study).columns


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


def test_identifying_columns_are_left_out_unless_asked_for(study: Study) -> None:
    person = Participant.objects.filter(status="completed").first()
    assert person is not None
    for kind in ("wide", "long"):
        plain = export_files(study, kind)[0].content.decode()
        assert person.code not in plain
        assert person.completion_code not in plain
        named = export_files(study, kind, with_identifying=True)[0].content.decode()
        assert person.code in named
    ids = [row["participant.id"] for row in _table(study, "wide")]
    assert len(set(ids)) == 4
    Study.objects.filter(pk=study.pk).update(export_salt="another")
    study.refresh_from_db()
    assert set(ids).isdisjoint(row["participant.id"] for row in _table(study, "wide"))


def test_the_codebook_has_each_column_once_in_order(study: Study) -> None:
    for kind in ("wide", "long"):
        data, book, book_json, *_rest = export_files(study, kind)
        columns = next(csv.reader(io.StringIO(data.content.decode())))
        lines = list(csv.DictReader(io.StringIO(book.content.decode())))
        assert [line["name"] for line in lines] == columns
        assert len(set(columns)) == len(columns)
        assert [line["name"] for line in json.loads(book_json.content)] == columns
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
    first, second = export_files(study, "long"), export_files(study, "long")
    assert [file.content for file in first[:3]] == [file.content for file in second[:3]]


def test_counts_and_checksums_are_those_of_the_files(study: Study) -> None:
    files = export_files(study, "wide")
    facts = json.loads(files[3].content)
    assert facts["files"]["study-good-films_wide_data.csv"]["rows"] == 4
    assert facts["design_hash"] == study.design_hash
    assert facts["flow"]["live"]["by_status"] == {"active": 1, "completed": 2, "screened_out": 1}
    sums = dict(reversed(line.split("  ")) for line in files[4].content.decode().splitlines())
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        for name, digest in sums.items():
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
    assert zipped(files) == zipped(files)


def test_simulated_participants_are_left_out_unless_asked_for(study: Study) -> None:
    completed(study, Mode.SIMULATED)
    completed(study, Mode.PREVIEW)
    assert {row["participant.mode"] for row in _table(study, "wide")} == {"live"}
    both = _table(study, "wide", include_simulated=True)
    assert [row["participant.mode"] for row in both] == ["live"] * 4 + ["simulated"]


def test_a_study_with_simulated_participants_alone_says_so() -> None:
    study = make_study()
    completed(study, Mode.SIMULATED)
    with pytest.raises(ParallaxError) as refusal:
        export_files(study, "long")
    assert refusal.value.code == "export.only_simulated"
    assert len(_table(study, "long", include_simulated=True)) == 5


def test_an_unknown_format_is_refused(study: Study) -> None:
    with pytest.raises(ParallaxError) as refusal:
        export_files(study, "xlsx")
    assert refusal.value.code == "export.unknown_format"


def test_opened_details_and_trailers_are_told_item_by_item(study: Study) -> None:
    person = rated(study, gender="man")
    slots = list(answers.recommendation_list(person).slots.all())
    answers.record_event(participant=person, kind="trailer_opened", facts={"item": slots[1].item.external_id})
    rows = [row for row in _table(study, "long") if row["participant.step"] == "recommendations"][-5:]
    assert [row["item.trailer_opened"] for row in rows] == ["0", "1", "0", "0", "0"]
    assert {row["item.details_opened"] for row in rows} == {"0"}


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
