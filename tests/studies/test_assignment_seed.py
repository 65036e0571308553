"""The secret seed of the assignment: drawn, promised by its hash, shown by nothing before the close, replayed after."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from core.models import LogEntry
from core.provenance import derived_seed, digest_of
from studies.allocation.assignment.draws import Seed
from studies.allocation.assignment.ledger import ASSIGNED, Ledger, Line, replay
from studies.allocation.assignment.methods import METHODS, method_from
from studies.allocation.selectors.allocations import log_lines, replayed_log
from studies.allocation.selectors.assignment_seed import KNOWN_SEED, seed_commitment, seed_sentence, seed_state
from studies.data.exports.export_files import write_export
from studies.design.narrative.preregistration import FORMS, preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.amending import reopen_study
from studies.design.services.design import change_design, create_study
from studies.design.services.duplicating import duplicate_study
from studies.design.services.launch import close_study, design_snapshot, launch_study
from studies.enums import Mode
from studies.models import Study
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import add_conditions, assigned, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

HEX = re.compile(r"[0-9a-f]{32}")


def secret_study(**kwargs: Any) -> Study:
    return make_study(seed=None, **kwargs)


def test_each_new_study_has_128_bits_of_its_own_and_its_hash() -> None:
    run = make_run_at("succeeded")
    studies = [create_study(slug=f"s{n}", version=run.version, run=run) for n in range(3)]
    assert len({study.assignment_seed for study in studies}) == 3
    for study in studies:
        assert HEX.fullmatch(study.assignment_seed)
        assert seed_commitment(study) == hashlib.sha256(study.assignment_seed.encode()).hexdigest()


def test_blocks_of_new_studies_have_random_sizes() -> None:
    run = make_run_at("succeeded")
    study = create_study(slug="s", version=run.version, run=run)
    assert study.settings["block_multiples"] == [1, 2, 3]


def test_a_given_seed_is_recorded_and_printed_as_known(capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run_at("succeeded")
    owner = UserFactory().email
    call_command("create_study", "known", owner=owner, dataset=run.version.dataset.name, run=run.pk, seed=7)
    study = Study.objects.get(slug="known")
    assert (study.seed, study.assignment_seed) == (7, "")
    assert KNOWN_SEED in capsys.readouterr().out
    made = LogEntry.objects.get(kind="studies.study", object_id=study.pk)
    assert made.facts["assignment_seed"] == KNOWN_SEED
    call_command("create_study", "secret", owner=owner, dataset=run.version.dataset.name, run=run.pk)
    secret = Study.objects.get(slug="secret")
    printed = capsys.readouterr().out
    assert seed_commitment(secret) in printed
    assert secret.assignment_seed not in printed


def test_a_copy_draws_a_seed_of_its_own() -> None:
    known = make_study(status="draft")
    secret = duplicate_study(study=known, slug="copy", title="Copy")
    again = duplicate_study(study=secret, slug="again", title="Again")
    assert HEX.fullmatch(secret.assignment_seed)
    assert HEX.fullmatch(again.assignment_seed)
    assert secret.assignment_seed != again.assignment_seed


def test_the_design_hash_is_over_the_commitment_and_never_the_seed() -> None:
    study = secret_study()
    version = study.versions.get()
    assert version.snapshot["assignment_seed_sha256"] == seed_commitment(study)
    assert study.assignment_seed not in json.dumps(version.snapshot)
    known = make_study(slug="known", run=study.run)
    assert "assignment_seed_sha256" not in known.versions.get().snapshot
    assert known.versions.get().snapshot["seed"] == 1


def _public_text(study: Study) -> str:
    return "".join(preregistration(preregistration_plan(study), form) for form in FORMS)


def _n_predicted(study: Study, seed: Seed, arrivals: list[Line]) -> int:
    """How many assignments in a row the published methods foresee from a seed, in the order of arrival."""
    ledger = Ledger(method_from(study.design), seed)
    for number, line in enumerate(arrivals):
        if ledger.enrol(line.person, line.stratum, line.targets)[-1].condition != line.condition:
            return number
    return len(arrivals)


def _walked(method: str, seed: int | None) -> tuple[Study, list[Line]]:
    """A live study of four conditions that twenty people came to, and its log."""
    settings = {"method": method, "minimisation_probability": 0.5, "block_multiples": [1, 2, 3]}
    study = make_study(status="draft", seed=seed, settings=settings)
    add_conditions(study, 4)
    change_design(study=study, per_condition=12)
    launch_study(study=study)
    for number in range(20):
        assigned(study, gender=("woman", "man")[number % 2], age=(25, 40)[number % 3 == 0])
    study.refresh_from_db()
    return study, log_lines(study, Mode.LIVE, list(study.conditions.order_by("position")))


def _arrivals(log: list[Line]) -> list[Line]:
    return [line for line in log if line.kind == ASSIGNED]


@pytest.mark.parametrize("method", METHODS)
def test_the_public_text_predicts_no_assignment_and_the_revealed_seed_replays_every_one(method: str) -> None:
    study, log = _walked(method, None)
    text = _public_text(study)
    assert study.assignment_seed not in text
    [commitment] = set(re.findall(r"[0-9a-f]{64}", text)) - {study.design_hash}
    arrivals = _arrivals(log)
    assert len(arrivals) == 20
    lengths = [_n_predicted(study, derived_seed(guess, "assignment", Mode.LIVE), arrivals) for guess in range(10_001)]
    # A guess foresees the first of four equal conditions with p = 1/4: within five standard deviations of 10,001.
    assert abs(sum(length > 0 for length in lengths) - 2500) < 217
    assert max(lengths) < 20
    close_study(study=study)
    assert hashlib.sha256(study.assignment_seed.encode()).hexdigest() == commitment
    assert _n_predicted(study, study.assignment_seed, arrivals) == 20
    assert replay(method_from(study.design), study.assignment_seed, log).difference is None
    assert replayed_log(study, Mode.LIVE).problem == ""


@pytest.mark.parametrize("method", METHODS)
def test_a_known_seed_predicts_every_assignment_and_the_public_text_says_so(method: str) -> None:
    study, log = _walked(method, 4242)
    text = _public_text(study)
    assert "4242" in text
    assert _n_predicted(study, derived_seed(4242, "assignment", Mode.LIVE), _arrivals(log)) == 20


def _shown(study: Study, folder: Path) -> dict[str, str]:
    """Everything that a reader of the study can get hold of, by where it is."""
    owner = study.memberships.get().researcher
    client = Client()
    client.force_login(owner)
    found = {}
    for name in (
        "detail",
        "sample",
        "launch",
        "design-file",
        "quality",
        "recruiting",
        "imbalance",
        "versions",
        "duplicate",
    ):
        found[name] = client.get(reverse(f"studies:{name}", args=[study.slug])).content.decode()
    for form in FORMS:
        found[form] = client.get(reverse("studies:preregistration", args=[study.slug, form])).content.decode()
    for path in ("", "design/", "answers/allocation/", "answers/pages/"):
        url = f"/api/v1/studies/{study.slug}/{path}"
        response = client.get(url)
        body = b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
        found[url] = body.decode()
    for kind in ("long", "psych-ds"):
        made = folder / f"{study.status}-{kind}"
        for file in write_export(study, kind, made):
            found[f"{kind} {file.name}"] = (made / file.name).read_text(encoding="utf-8")
    out = StringIO()
    call_command("replay_allocation", study.slug, stdout=out)
    found["replay_allocation"] = out.getvalue()
    logged = LogEntry.objects.filter(kind__startswith="studies.").values_list("reason", "facts")
    found["log"] = json.dumps(list(logged), default=str)
    return found


def test_the_migration_draws_for_drafts_and_leaves_launched_studies_their_known_seed() -> None:
    live = make_study()
    draft = make_study(slug="draft", status="draft", run=live.run)
    hash_before = live.design_hash
    import_module("studies.migrations.0013_secret_assignment_seeds").draw_for_drafts(apps, None)
    live.refresh_from_db()
    draft.refresh_from_db()
    assert (live.assignment_seed, live.design_hash) == ("", hash_before)
    assert digest_of(design_snapshot(live)) == hash_before
    assert HEX.fullmatch(draft.assignment_seed)


def test_a_seed_of_a_simulation_is_known() -> None:
    assert seed_state(make_study(status="draft", seed=5))[0] == "Known"


def test_a_second_wave_has_a_secret_seed_of_its_own_and_both_waves_replay(tmp_path: Path) -> None:
    study = secret_study(per_condition=4)
    first = study.assignment_seed
    for _ in range(4):
        assigned(study)
    close_study(study=study)
    assert seed_state(study)[0] == "Revealed"
    assert first in seed_sentence(study)
    n_lines = study.allocations.filter(mode="live").count()
    reopen_study(study=study, why="More participants are needed.")
    study.refresh_from_db()
    assert study.earlier_seeds == [[n_lines, first]]
    assert HEX.fullmatch(study.assignment_seed)
    assert study.assignment_seed != first
    for _ in range(4):
        assigned(study)
    assert seed_state(study)[0] == "Secret"
    assert first in seed_sentence(study)
    assert study.assignment_seed not in seed_sentence(study)
    assert study.versions.latest("number").snapshot["assignment_seed_sha256"] == seed_commitment(study)
    assert replayed_log(study, Mode.LIVE).problem == ""
    made = tmp_path / "export"
    files = write_export(study, "psych-ds", made)
    file = next(each for each in files if "allocation" in each.name and each.name.endswith(".csv"))
    with (made / file.name).open(encoding="utf-8", newline="") as lines:
        shown = [row["allocation.seed"] for row in csv.DictReader(lines)]
    assert set(shown[:n_lines]) == {first}
    assert set(shown[n_lines:]) == {""}


def test_studies_that_are_given_no_seed_assign_in_different_orders() -> None:
    run = make_run_at("succeeded")
    owner = UserFactory().email
    orders = []
    for slug in ("first", "second"):
        call_command("create_study", slug, owner=owner, dataset=run.version.dataset.name, run=run.pk, per_condition=15)
        study = Study.objects.get(slug=slug)
        launch_study(study=study)
        orders.append([assigned(study).condition.position for _ in range(30)])
    assert orders[0] != orders[1]


def test_the_last_slots_of_unequal_targets_are_not_all_of_one_condition() -> None:
    study = make_study(status="draft", settings={"block_multiples": [1]})
    add_conditions(study, 3)
    change_design(study=study, targets={0: 4, 1: 4, 2: 8})
    launch_study(study=study)
    positions = [assigned(study).condition.position for _ in range(16)]
    assert sorted(positions) == [0] * 4 + [1] * 4 + [2] * 8
    assert set(positions[-4:]) == {0, 1, 2}
