"""Every fault that the check is for, planted one by one, is found; a sound installation has none."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.db import connection

from core import artefacts
from evaluation.enums import PartKind, PartStatus, RunStatus
from evaluation.models import MetricResult, RunPart
from evaluation.services.parts import lease_part
from evaluation.services.runs import fail_part
from evaluation.services.training import train_on_everything
from evaluation.services.worker_loop import execute
from parallax.integrity.all_checks import findings
from recommenders import registry
from recommenders.popularity import TopPop
from studies.enums import AllocationKind, Mode, ParticipantStatus
from studies.models import Allocation, Condition, Participant, RecommendationList, Response, Study
from studies.participation.services.withdrawal import withdraw
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run, make_run_at, work_off
from tests.factories.studies import assigned, completed, enter, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]


class Theirs(TopPop):
    """An algorithm of a third party."""

    key = "theirs"
    name = "Theirs"


@pytest.fixture(scope="module")
def stored(module_database: None) -> int:
    """The key of a study that people and simulated participants have entered."""
    study = make_study(slug="stored", per_condition=3)
    completed(study)
    completed(study, number=2, gender="man")
    rated(study, gender="man")
    assigned(study, age=70)
    withdraw(participant=completed(study))
    completed(study, Mode.SIMULATED)
    return study.pk


@pytest.fixture
def study(stored: int) -> Study:
    return Study.objects.get(pk=stored)


def _codes() -> list[str]:
    return sorted({finding.code for finding in findings()})


def _first() -> Participant:
    found = Participant.objects.filter(status=ParticipantStatus.COMPLETED).order_by("pk").first()
    assert found is not None
    return found


def test_nothing_is_wrong_with_a_sound_installation(study: Study) -> None:
    enter(study)
    assert list(findings()) == []
    out = StringIO()
    call_command("check_integrity", stdout=out)
    assert out.getvalue().splitlines()[-1] == "No problems found."
    assert f"Study {study.slug}: answers" in out.getvalue()


def _doubled() -> None:
    # The database refuses a doubled answer as long as it has the constraint.
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE studies_response RENAME TO kept_apart")
        cursor.execute("CREATE TABLE studies_response AS SELECT * FROM kept_apart")
        cursor.execute("INSERT INTO studies_response SELECT * FROM kept_apart WHERE question = 'satisfaction' LIMIT 1")
        cursor.execute(
            "UPDATE studies_response SET id = id + 100000 WHERE rowid = (SELECT max(rowid) FROM studies_response)"
        )


def _forget_answer() -> None:
    _first().responses.filter(question="rating", rank=3).delete()


def _stray() -> None:
    Response.objects.create(participant=_first(), question="rating", rank=9, value=3)


def _unlog() -> None:
    Participant.objects.filter(status=ParticipantStatus.SCREENED_OUT).update(status=ParticipantStatus.RETURNED)


def _other_model() -> None:
    RecommendationList.objects.filter(participant=_first()).update(model_digest="0" * 64)


def _no_condition() -> None:
    RecommendationList.objects.filter(participant=_first()).update(condition=None)


def _lose_list() -> None:
    RecommendationList.objects.filter(participant__status=ParticipantStatus.ACTIVE).delete()


def _unerase() -> None:
    person = Participant.objects.get(status=ParticipantStatus.WITHDRAWN)
    Response.objects.create(participant=person, question="satisfaction", value=3)


def _move_slot() -> None:
    person = _first()
    other = Condition.objects.exclude(pk=person.condition_id).first()
    assert other is not None
    Participant.objects.filter(pk=person.pk).update(condition=other)


def _drop_line() -> None:
    Allocation.objects.filter(kind=AllocationKind.ASSIGNED, participant=_first()).delete()


def _release_twice() -> None:
    line = Allocation.objects.filter(kind=AllocationKind.RELEASED).latest("id")
    line.pk = None
    line.save()


def _other_block() -> None:
    line = Allocation.objects.filter(kind=AllocationKind.ASSIGNED).earliest("id")
    Allocation.objects.filter(pk=line.pk).update(block=line.block + 1)


def _overrun() -> None:
    Condition.objects.update(target=0)


def _keep_slot() -> None:
    Participant.objects.filter(status=ParticipantStatus.WITHDRAWN).update(place=77)


def _lose_slot() -> None:
    Participant.objects.filter(pk=_first().pk).update(place=None)


def _other_pin() -> None:
    Condition.objects.filter(position=0).update(model_digest="1" * 64)


def _part_undone() -> None:
    RunPart.objects.filter(kind=PartKind.FIT).update(status=PartStatus.LEASED)


def _no_results() -> None:
    MetricResult.objects.filter(algorithm__position=0).delete()


def _no_model() -> None:
    part = RunPart.objects.filter(kind=PartKind.FIT, algorithm__isnull=False).first()
    assert part is not None
    assert part.algorithm is not None
    type(part.algorithm).objects.filter(pk=part.algorithm_id).update(model=None)


def _gap() -> None:
    part = RunPart.objects.filter(kind=PartKind.MEASURE).first()
    assert part is not None
    part.pk, part.start, part.stop = None, part.stop + 5, part.stop + 9
    part.save()


@pytest.mark.parametrize(
    ("plant", "code"),
    [
        (_forget_answer, "participant.incomplete"),
        (_stray, "answer.stray"),
        (_unlog, "participant.unlogged"),
        (_other_model, "list.wrong"),
        (_no_condition, "list.wrong"),
        (_lose_list, "list.lost"),
        (_unerase, "erasure.unfinished"),
        (_move_slot, "slot.differs"),
        (_drop_line, "slot.differs"),
        (_release_twice, "allocation.wrong"),
        (_other_block, "allocation.not_replayed"),
        (_overrun, "target.overrun"),
        (_keep_slot, "slot.kept"),
        (_lose_slot, "slot.missing"),
        (_other_pin, "pin.differs"),
        (_part_undone, "run.parts_undone"),
        (_no_results, "run.no_results"),
        (_no_model, "run.no_model"),
        (_gap, "run.parts_differ"),
    ],
)
def test_a_planted_fault_is_found_with_advice(study: Study, plant: Callable[[], None], code: str) -> None:
    plant()
    found = [finding for finding in findings() if finding.code == code]
    assert found
    assert all(one.what.endswith(".") and one.advice.endswith(".") and one.where for one in found)
    assert found[0].ids


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the constraint is taken away in SQLite's words")
def test_a_doubled_answer_is_found(study: Study) -> None:
    _doubled()
    assert "answer.doubled" in _codes()


def test_settings_written_past_a_frozen_design_are_found(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(seed=study.seed + 1)
    assert "design.differs" in _codes()


def test_open_runs_with_failed_or_no_parts_are_found() -> None:
    run = make_run_at("running")
    assert _codes() == []
    RunPart.objects.filter(run=run, status=PartStatus.QUEUED).update(status=PartStatus.FAILED)
    assert "run.part_failed" in _codes()
    RunPart.objects.filter(run=run).delete()
    assert _codes() == ["run.no_parts"]
    type(run).objects.update(status=RunStatus.CANCELLED)
    assert _codes() == []


@pytest.fixture
def models(study: Study) -> Iterator[Path]:
    """The artefact of the study's first model, put back afterwards: tests share the storage."""
    digest = study.conditions.get(position=0).model_digest
    folder = Path(storages["artefacts"].path(f"models/{digest}"))
    kept = folder.with_name("kept")
    shutil.copytree(folder, kept)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
    kept.rename(folder)
    artefacts.clear_cache()


def test_a_model_that_is_gone_or_damaged_is_found(models: Path) -> None:
    array = next(iter(sorted(models.glob("*.npy"))))
    content = bytearray(array.read_bytes())
    content[-1] ^= 1
    array.write_bytes(content)
    assert _codes() == ["artefact.damaged"]
    array.unlink()
    assert _codes() == ["artefact.missing"]


def _installed(monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    """Third parties' packages whose entry points have these keys, and no others."""

    class Distribution:
        name, version = "their-package", "1.4"

    points = [EntryPoint(key, f"{__name__}:Theirs", registry.ENTRY_POINT_GROUP)._for(Distribution()) for key in keys]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)


def test_condition_whose_algorithm_is_no_longer_installed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(monkeypatch, "theirs")
    run = work_off(make_run(algorithms="toppop,theirs"))
    study = make_study(run=run)
    assert _codes() == []
    _installed(monkeypatch)
    found = {finding.code: finding for finding in findings()}
    assert sorted(found) == ["condition.no_algorithm", "model.no_algorithm"]
    condition = found["condition.no_algorithm"]
    assert condition.where == study.slug
    assert condition.ids == {"condition": [study.conditions.get(label="Theirs").pk]}
    assert all("pip install their-package==1.4" in one.advice for one in found.values())
    assert "no algorithm 'theirs'" in found["model.no_algorithm"].what


def test_model_outside_studies_whose_algorithm_is_missing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(monkeypatch, "theirs")
    version = make_version()
    model = train_on_everything(version=version, algorithm="theirs", params={}, seed=1, threads=1).model
    assert _codes() == []
    _installed(monkeypatch)
    (finding,) = findings()
    assert (finding.code, finding.ids) == ("model.no_algorithm", {"model": [model.pk]})
    assert "named theirs" in finding.advice


def test_library_of_an_adapter_that_is_gone_is_named_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(monkeypatch, "theirs")
    model = train_on_everything(version=make_version(), algorithm="theirs", params={}, seed=1, threads=1).model
    type(model).objects.filter(pk=model.pk).update(algorithm="implicit-als")
    monkeypatch.setitem(sys.modules, "implicit", None)  # as Python marks what cannot be imported
    (finding,) = findings()
    assert finding.code == "model.no_algorithm"
    assert "pip install implicit==" in finding.advice


def test_condition_trained_by_another_version_of_its_algorithm_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(monkeypatch, "theirs")
    study = make_study(run=work_off(make_run(algorithms="toppop,theirs")))
    monkeypatch.setattr(Theirs, "version", Theirs.version + 1)
    (finding,) = findings()
    assert (finding.code, finding.where) == ("condition.other_version", study.slug)


def test_failed_algorithm_of_a_run_is_not_a_finding() -> None:
    run = make_run(algorithms="toppop,puresvd:factors=4")
    part = lease_part(run=run)
    assert part is not None
    execute(part=part)
    part = lease_part(run=run)
    assert part is not None
    fail_part(part=part, reason="It diverged.")
    assert _codes() == []
    work_off(run)
    assert run.status == RunStatus.SUCCEEDED
    assert _codes() == []


def test_run_with_folds_is_whole_and_the_cases_of_each_fold_are_read() -> None:
    run = work_off(make_run(algorithms="toppop,random", split={"name": "k-fold", "k": 3}, part_users=5))
    assert run.status == RunStatus.SUCCEEDED
    assert _codes() == []
    folder = Path(storages["artefacts"].path(f"cases/{run.folds[1]['cases']}"))
    away = folder.with_name("away")
    folder.rename(away)
    try:
        assert _codes() == ["artefact.missing"]
    finally:
        away.rename(folder)


def test_findings_end_the_command_with_status_1_and_stand_in_its_json(study: Study) -> None:
    _forget_answer()
    out = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("check_integrity", json=True, stdout=out)
    assert end.value.code == 1
    told = json.loads(out.getvalue())
    assert told["findings"][0]["ids"] == {"participant": [_first().pk]}
    assert told["findings"][0]["code"] == "participant.incomplete"
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_integrity", stdout=out)
    assert "rating of item 3" in out.getvalue()
    assert out.getvalue().splitlines()[-1] == "1 findings."
