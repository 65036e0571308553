"""The commands that make, launch and export a study."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from studies.enums import Mode, StudyStatus
from studies.models import Study
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _said(*args: str, **kwargs: object) -> str:
    out = StringIO()
    call_command(*args, stdout=out, **kwargs)
    return out.getvalue()


def test_create_launch_and_export_by_command(tmp_path: Path) -> None:
    run = make_run_at("succeeded")
    owner = UserFactory()
    said = _said(
        "create_study", "films", "--template", "cremonesi-2011", "--dataset", run.version.dataset.name,
        "--per-condition", "3", "--seed", "7", "--owner", owner.email,
    )  # fmt: skip
    study = Study.objects.get(slug="films")
    assert (study.seed, study.run_id, study.memberships.get().researcher_id) == (7, run.pk, owner.pk)
    for condition in study.conditions.all():
        assert condition.label in said
        assert condition.model_digest[:12] in said
    said = _said("launch_study", "films")
    study.refresh_from_db()
    assert study.status == StudyStatus.LIVE
    assert study.design_hash in said
    assert "/s/films/" in said
    completed(study)
    said = _said("export_study", "films", "--format", "wide", "--out", str(tmp_path / "out"))
    files = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert files == sorted(line.split()[0] for line in said.splitlines())
    with (tmp_path / "out" / "study-films_wide_data.csv").open() as data:
        assert len(list(csv.DictReader(data))) == 1
    facts = json.loads((tmp_path / "out" / "study-films_wide_export.json").read_text())
    assert facts["modes"] == ["live"]


def test_create_study_takes_the_run_it_is_told() -> None:
    older = make_run_at("succeeded")
    make_run_at("succeeded", version=older.version, seed=2)
    UserFactory()
    _said("create_study", "films", dataset="small", run=older.pk)
    assert Study.objects.get().run_id == older.pk


def test_create_study_gives_the_study_to_the_administrator_where_no_owner_is_named() -> None:
    make_run_at("succeeded")
    administrator = UserFactory(is_superuser=True)
    UserFactory()
    _said("create_study", "films", dataset="small")
    assert Study.objects.get().memberships.get().researcher_id == administrator.pk


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dataset": "nothing"}, "nothing"),
        ({"dataset": "small", "run": 999}, "no run 999"),
        ({"dataset": "other", "run": -1}, "not other"),
        ({"dataset": "small", "owner": "nobody@example.org"}, "nobody@example.org"),
        ({"dataset": "small", "per_condition": 0}, "got 0"),
    ],
)
def test_create_study_says_what_is_wrong(options: dict[str, object], words: str) -> None:
    run = make_run_at("succeeded")
    UserFactory()
    if options.get("run") == -1:
        options = {**options, "run": run.pk}
    with pytest.raises(CommandError, match=words):
        _said("create_study", "films", **options)
    assert not Study.objects.exists()


@pytest.mark.parametrize("command", ["launch_study", "export_study"])
def test_an_unknown_study_is_named(command: str, tmp_path: Path) -> None:
    options = {"out": tmp_path} if command == "export_study" else {}
    with pytest.raises(CommandError, match="no study called 'nowhere'"):
        _said(command, "nowhere", **options)


def test_launch_study_lists_the_problems() -> None:
    study = make_study(status="draft")
    study.conditions.update(target=0)
    with pytest.raises(CommandError, match="TopPop"):
        _said("launch_study", study.slug)


def test_export_study_refuses_simulated_data_alone_unless_they_are_asked_for(tmp_path: Path) -> None:
    study = make_study()
    completed(study, Mode.SIMULATED)
    with pytest.raises(CommandError, match="--include-simulated"):
        _said("export_study", study.slug, out=tmp_path)
    assert list(tmp_path.iterdir()) == []
    _said("export_study", study.slug, out=tmp_path, include_simulated=True)
    assert len(list(tmp_path.glob("*_data.csv"))) == 2


def test_export_study_names_a_folder_it_cannot_write(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(CommandError, match="cannot be written"):
        _said("export_study", make_study().slug, out=blocked)
