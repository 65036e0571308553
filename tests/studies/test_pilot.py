"""Groups of simulated participants: the same whatever the parallelism, with effects planted, removed in one step."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.present.verdict import simulated_notice
from analysis.results.report import Results
from analysis.services.report_builder import build_report
from core.errors import ParallaxError
from core.models import LogEntry
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import design_snapshot, launch_study
from studies.design.services.questionnaires import delete_question
from studies.design.services.trials import remove_simulated
from studies.enums import Mode
from studies.models import Allocation, Participant, Study
from studies.monitoring.selectors.outcomes import outcomes_of
from studies.participation.services.entry_gate import refuse_unless_open
from studies.recruitment.services.tokens import digest_of_key
from studies.simulation.services.pilot import entry_key_of, walk_group
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.results import partial
from tests.factories.studies import completed, make_study
from tests.studies.test_lists_in_turn import flow as in_turn
from tests.studies.test_own_flows import BARE, FULL
from tests.studies.test_own_flows import make as make_own

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]

N = 8


def simulated(study: Study, url: str, *more: str) -> str:
    out = StringIO()
    given = ("--per-condition", str(N), "--seed", "5", "--base-url", url, *more)
    call_command("simulate_participants", study.slug, *given, stdout=out)
    return out.getvalue()


def everything(study: Study) -> dict[int, Any]:
    """What each person of the group got and answered, by their number."""
    numbers = {digest_of_key(entry_key_of(study, 5, number)): number for number in range(4 * N)}
    people = Participant.objects.filter(study=study, mode=Mode.SIMULATED).select_related("condition")
    return {
        numbers[person.entry_key]: (
            person.condition.label,
            person.source_user,
            person.stratum,
            sorted(person.profile.values_list("item_id", "rating")),
            list(person.recommendation_list.slots.order_by("rank").values_list("item_id", flat=True)),
            sorted(map(str, person.responses.values_list("rank", "question", "value", "provenance"))),
        )
        for person in people
    }


@pytest.mark.slow
def test_a_group_is_the_same_whatever_the_parallelism_and_effects_are_planted_and_shown(
    live_server: Any, tmp_path: Path
) -> None:
    study = make_study(per_condition=N, run=make_run_at("succeeded", reserve=0.3))
    person = completed(study)  # of the people nothing changes
    design = design_snapshot(study)
    said = simulated(study, live_server.url, "--parallel", "1")
    assert f"{2 * N} of {2 * N} " in said
    alone = everything(study)
    assert sorted(alone) == list(range(2 * N))

    (tmp_path / "effects.yaml").write_text("PureSVD4: {accuracy: 1.5, son: -0.2}\n")
    with pytest.raises(CommandError, match="effects"):
        simulated(study, live_server.url, "--effects", str(tmp_path / "effects.yaml"))
    before = {one.condition: one for one in outcomes_of(study, Mode.SIMULATED)}
    out = StringIO()
    call_command("simulate_participants", study.slug, "--remove", stdout=out)
    assert out.getvalue().startswith(f"{2 * N} ")
    assert list(study.participants.values_list("pk", flat=True)) == [person.pk]
    assert set(Allocation.objects.filter(study=study).values_list("mode", flat=True)) == {Mode.LIVE}
    study.refresh_from_db()
    assert design_snapshot(study) == design
    assert LogEntry.objects.filter(kind="studies.study", facts__act="simulated_removed").count() == 1

    # The same people again, six at a time, with an effect in one condition: only answers in it differ.
    said = simulated(study, live_server.url, "--parallel", "6", "--effects", str(tmp_path / "effects.yaml"))
    planted = "Effects were planted: PureSVD4 perceived accuracy +1.5, second-order novelty -0.2."
    assert planted in said
    together = everything(study)
    for number, one in together.items():
        if one[0] == "PureSVD4":
            assert one[:5] == alone[number][:5]
        else:
            assert one == alone[number]
    after = {one.condition: one for one in outcomes_of(study, Mode.SIMULATED)}
    for name in ("accuracy", "fon", "son", "satisfaction"):  # sums of floats, in the order of entry
        assert getattr(after["TopPop"], name) == pytest.approx(getattr(before["TopPop"], name))
    assert after["PureSVD4"].accuracy > before["PureSVD4"].accuracy + 0.3
    assert after["PureSVD4"].son <= before["PureSVD4"].son + 1e-9
    assert after["PureSVD4"].satisfaction == pytest.approx(before["PureSVD4"].satisfaction)

    study.refresh_from_db()
    assert design_snapshot(study) == design
    write_export(study, "wide", tmp_path / "out", Options(include_simulated=True))
    facts = json.loads((tmp_path / "out" / f"study-{study.slug}_wide_export.json").read_text())
    assert facts["planted_effects"] == {"PureSVD4": {"accuracy": 1.5, "son": -0.2}}
    with (tmp_path / "out" / f"study-{study.slug}_wide_data.csv").open() as data:
        rows = list(csv.DictReader(data))
    told = {(row["participant.mode"], row["participant.condition"]): row["participant.planted_effects"] for row in rows}
    assert told["simulated", "PureSVD4"] == '{"accuracy": 1.5, "son": -0.2}'
    assert told["simulated", "TopPop"] == ""
    assert {value for (mode, _c), value in told.items() if mode == "live"} == {""}
    write_export(study, "psych-ds", tmp_path / "package", Options(include_simulated=True))
    assert planted in (tmp_path / "package" / "README.md").read_text()
    client = Client()
    client.force_login(study.memberships.get().researcher)
    live = client.get(f"/studies/{study.slug}/live/", headers={"HX-Request": "true"}).content.decode()
    assert live.count(planted) == 1
    assert live.index(planted) > live.index("Simulated participants")


@pytest.mark.slow
def test_a_draft_is_walked_before_its_launch_and_anew_once_its_design_has_changed(live_server: Any) -> None:
    study = make_study(status="draft", per_condition=5, run=make_run_at("succeeded", reserve=0.3))
    walk = ("simulate_participants", study.slug, "--per-condition", "1", "--base-url", live_server.url)
    call_command(*walk, stdout=StringIO())
    trial = Participant.objects.filter(study=study, mode=Mode.SIMULATED)
    assert trial.filter(status="completed").count() == 2
    client = Client()
    client.force_login(study.memberships.get().researcher)
    page = client.get(f"/studies/{study.slug}/launch/").content.decode()
    assert f"/studies/{study.slug}/simulation/" in page

    change_design(study=study, per_condition=5, title="Another name")  # no part of the design
    assert trial.count() == 2
    change_design(study=study, per_condition=6)
    assert (trial.count(), Allocation.objects.count()) == (0, 0)
    call_command(*walk, stdout=StringIO())
    delete_question(study=study, key="comment")
    assert trial.count() == 0
    study.refresh_from_db()
    assert "simulated_per_condition" not in study.settings
    call_command(*walk, stdout=StringIO())

    # Launched as they walked it: they are of its first version, and stay apart from people.
    launch_study(study=study)
    study.refresh_from_db()
    version, consent = study.versions.get(), study.consent_versions.get()
    assert set(trial.values_list("version_id", "consent_version_id")) == {(version.pk, consent.pk)}
    assert [line.n for line in outcomes_of(study, Mode.SIMULATED)] == [1, 1]
    assert [line.n for line in outcomes_of(study)] == [0, 0]
    assert build_report(study=study).results["flow"]["analysed"] == 2


def test_a_draft_that_could_not_be_launched_is_not_walked_and_nobody_else_enters_it() -> None:
    study = make_study(status="draft", run=make_run_at("succeeded", reserve=0.3))
    study.conditions.update(target=0)
    with pytest.raises(CommandError, match="TopPop"):
        call_command("simulate_participants", study.slug, "--per-condition", "1")
    with pytest.raises(ParallaxError, match="not accepting participants"):
        refuse_unless_open(study, Mode.LIVE)
    paused = make_study(slug="paused", status="paused")
    with pytest.raises(CommandError, match="is paused"):
        call_command("simulate_participants", paused.slug, "--per-condition", "1")


@pytest.mark.parametrize("flow", [FULL, BARE], ids=["full", "bare"])
def test_simulated_participants_walk_any_flow(live_server: Any, flow: list[Any]) -> None:
    study = make_own(flow, run=make_run_at("succeeded", reserve=0.3))
    call_command(
        "simulate_participants", study.slug, "--per-condition", "2", "--base-url", live_server.url, stdout=StringIO()
    )
    people = Participant.objects.filter(study=study, mode=Mode.SIMULATED)
    conditions = list(study.conditions.values_list("pk", flat=True))
    assert sorted(people.values_list("condition", "status")) == [
        (condition, "completed") for condition in conditions for _ in range(2)
    ]
    for person in people:
        assert {"fan", "mood", "satisfaction"} <= set(
            person.responses.filter(rank=0).values_list("question", flat=True)
        )
    assert len(set(people.values_list("condition", "source_user"))) == people.count()


def test_a_report_says_first_what_was_planted() -> None:
    plain = {"mode": "simulated", "answers": {"n": 0}}
    said = simulated_notice(partial(Results, {**plain, "planted_effects": {"LSA": {"accuracy": 0.8}}}))
    assert "LSA perceived accuracy +0.8" in said
    assert "planted" not in simulated_notice(partial(Results, plain))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("TopPop: {novelty: 1}", "unknown variable 'novelty'"),
        ("SVD: {accuracy: 1}", "the study's conditions are TopPop, PureSVD4"),
        ("TopPop: [", "is not valid YAML"),
    ],
)
def test_an_effects_file_that_cannot_be_used_is_named_with_its_fault(tmp_path: Path, text: str, words: str) -> None:
    study = make_study()
    file = tmp_path / "effects.yaml"
    file.write_text(text)
    with pytest.raises(CommandError, match=re.escape(str(file))) as refused:
        call_command("simulate_participants", study.slug, "--effects", str(file))
    assert words in str(refused.value)
    with pytest.raises(CommandError, match="No such file"):
        call_command("simulate_participants", study.slug, "--effects", str(tmp_path / "none.yaml"))
    assert "planted_effects" not in Study.objects.get().settings


def test_a_server_that_does_not_answer_is_named() -> None:
    study = make_study(per_condition=3, run=make_run_at("succeeded", reserve=0.3))
    with pytest.raises(CommandError, match="--base-url"):
        call_command(
            "simulate_participants", study.slug, "--per-condition", "3", "--base-url", "http://127.0.0.1:9/",
            stdout=StringIO(),
        )  # fmt: skip


@pytest.mark.slow
def test_effects_of_the_occasion_and_of_the_list_before_are_planted_in_turn(live_server: Any) -> None:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4", reserve=0.3)
    study = create_study(
        slug="in-turn", version=run.version, run=run, per_condition=6, seed=1, owner=UserFactory(),
        settings={"flow": in_turn(), "block_multiples": [1]},
    )  # fmt: skip

    def ratings(**effects: dict[str, float]) -> dict[tuple[str, int], tuple[str, ...]]:
        """Each person's ratings of each list, by the list's condition."""
        given = {"per_condition": 6, "seed": 5, "base_url": live_server.url, "parallel": 2}
        walk_group(study=study, **given, progress=lambda _progress: None, effects=effects)
        rows: dict[tuple[str, int], tuple[str, ...]] = {}
        for person in study.participants.filter(mode=Mode.SIMULATED, status="completed"):
            for each in person.recommendation_lists.select_related("condition"):
                own = person.responses.filter(question="rating", occasion=each.occasion).order_by("rank")
                key = (person.source_user, each.occasion)
                rows[key] = (each.condition.label, *own.values_list("value", flat=True))
        remove_simulated(study=study)
        study.refresh_from_db()
        return rows

    plain = ratings()
    assert len(plain) == 18
    shifted = ratings(**{"occasion:3": {"accuracy": -1.0}, "after:TopPop": {"accuracy": 1.0}})
    assert shifted.keys() == plain.keys()
    for (user, occasion), (label, *own) in shifted.items():
        assert label == plain[user, occasion][0]
        shift = (occasion > 1 and plain[user, occasion - 1][0] == "TopPop") - (occasion == 3)
        before = plain[user, occasion][1:]
        assert (sum(own) > sum(before)) - (sum(own) < sum(before)) == shift, (user, occasion)
