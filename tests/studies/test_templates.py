"""Each shipped template: created on data it is for, checked, launched, walked by simulated participants, reported."""

from __future__ import annotations

import json
import secrets
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import numpy as np
import pandas as pd
import pytest

from analysis.models import Report
from analysis.present.verdict import headline
from analysis.services import build_report
from catalog.services import change_item_type
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from evaluation.run_spec import named_settings
from evaluation.services.run_proposals import proposals_for
from inference.factorial import MeanContrast
from inference.results import PairwiseResult, WelchResult
from inference.sequences import WithinResult
from studies.allocation.selectors.allocations import arms_of, assigned_to, replayed_log
from studies.data.exports.export_files import FORMATS, write_export
from studies.data.exports.tables import Options
from studies.design.presets.loader import check_design, load_preset, preset_keys
from studies.design.selectors.factors import crossing_problem
from studies.design.selectors.placeholders import conditions_of, content_of
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import create_study
from studies.design.services.duplicating import duplicate_study
from studies.design.services.launch import launch_study
from studies.enums import Mode, ParticipantStatus
from studies.instrument.flow import questionnaire_of
from studies.instrument.scales import scales_of
from studies.models import Participant, Study
from studies.participation.services.participant_state import list_lengths
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.services.entry_links import entry_link
from studies.simulation.answer_model import SimulatedPerson, SourceUser, TrainingSide
from studies.simulation.planted_effects import effects_by_list
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_items, make_version
from tests.factories.evaluation import make_run, make_run_at
from tests.factories.packages import recomputed, write_numbers
from tests.factories.studies import make_usage_run
from tests.factories.walking import walker_of
from tests.report_text import text_of_report
from tests.studies.test_walker import Cut, walk

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

OWN = [key for key in preset_keys() if key != "cremonesi-2011"]
# Of one condition for each person.
BETWEEN = [key for key in OWN if key not in ("three-in-turn", "two-lists")]
PURESVD = "puresvd:factors=4"
ALGORITHMS = {
    "explanations": f"toppop, nncosngr, {PURESVD}",
    "three-in-turn": f"toppop, nncosngr, {PURESVD}",
    "diversity-dose": ", ".join([PURESVD, *(f"{PURESVD}|mmr:strength={strength}" for strength in (0.3, 0.6, 0.9))]),
}
TWO = f"nncosngr, {PURESVD}"
SHOWN = ["NNCosNgr · plain", "NNCosNgr · explained", "PureSVD4 · plain", "PureSVD4 · explained"]
DOSES = ["PureSVD4", "PureSVD4 + MMR 0.3", "PureSVD4 + MMR 0.6", "PureSVD4 + MMR 0.9"]
CONDITIONS = {
    "explanations": SHOWN,
    "diversity-dose": DOSES,
    "three-in-turn": ["TopPop", "NNCosNgr", "PureSVD4"],
}
# Shifts of answers by condition, as simulated participants of these templates have them, and what they are on.
PLANTED: dict[str, dict[str, dict[str, float]]] = {
    "explanations": {label: {"scale.transparency": 1.2} for label in SHOWN if label.endswith("explained")},
    "diversity-dose": {label: {"scale.diversity": 0.5 * dose} for dose, label in enumerate(DOSES)},
    "reading": {"PureSVD4": {"scale.interest": 1.2}},
    "choose-one": {"PureSVD4": {"scale.difficulty": 1.5}},
    "three-in-turn": {"PureSVD4": {"satisfaction": 1.2}},
    "two-lists": {"PureSVD4": {"accuracy": 0.8}},  # which is what preferences between lists follow
}
EFFECTS = {key: next(iter(shifts)) for key, own in PLANTED.items() for shifts in own.values()}
SEVERAL = 66  # participants of a study in which each meets several lists: whole blocks of its sequences
# After how many requests five participants leave; where there are several lists, on different ones.
QUITS: dict[str, Sequence[int]] = {"three-in-turn": (24, 45, 60, 85, 95), "two-lists": (14, 17, 19, 21, 23)}


def films(algorithms: str) -> EvaluationRun:
    return make_run_at("succeeded", algorithms=algorithms)


def books(algorithms: str) -> EvaluationRun:
    run = make_usage_run(algorithms=algorithms)
    change_item_type(dataset=run.version.dataset, item_type="book")
    return run


def news(algorithms: str) -> EvaluationRun:
    """Articles with a section and no picture, sample or text to look at."""
    bare = (
        replace(item, title=f"Story {number}", plot="", trailer_url="", features=(("section", f"S{number % 4}"),))
        for number, item in enumerate(make_items(40))
    )
    run = make_run_at("succeeded", version=make_version(name="news", items=tuple(bare)), algorithms=algorithms)
    change_item_type(dataset=run.version.dataset, item_type="news")
    return run


def recipes(algorithms: str) -> EvaluationRun:
    run = films(algorithms)
    change_item_type(dataset=run.version.dataset, item_type="recipe")
    return run


DATA = {"films": films, "books": books, "news": news}
READ = {"news": news, "recipes": recipes}
WALKED = [(key, data) for key in OWN for data in (READ if key == "reading" else DATA)]


def created(key: str, run: EvaluationRun, **given: Any) -> Study:
    run.refresh_from_db()
    given = {"per_condition": 40, "seed": 1, "owner": UserFactory(), **given}
    return create_study(slug=key, template=key, version=run.version, run=run, **given)


def labels(study: Study) -> list[str]:
    return list(study.conditions.order_by("position").values_list("label", flat=True))


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("key", OWN)
def test_a_template_is_launched_as_it_is_created(key: str, data: str) -> None:
    study = created(key, DATA[data](ALGORITHMS.get(key, TWO)))
    check_design(settings=study.settings, questionnaire=study.questionnaire, texts=study.texts)
    assert crossing_problem(study) == ""
    assert labels(study) == CONDITIONS.get(key, ["NNCosNgr", "PureSVD4"])
    launch_study(study=study)
    study.refresh_from_db()
    assert study.design.stated_minutes


@pytest.mark.slow
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("key", BETWEEN)
def test_a_template_is_walked_exported_and_reported(key: str, data: str, tmp_path: Path) -> None:
    study = created(key, DATA[data](ALGORITHMS.get(key, TWO)), settings={"block_multiples": [1]})
    launch_study(study=study)
    n = 2 * study.conditions.count()
    for seed in range(n):
        person, _requests = walk(study, secrets.token_hex(20), seed=seed)
        assert person.status == ParticipantStatus.COMPLETED
    people = study.participants.filter(mode=Mode.SIMULATED)
    assert [people.filter(condition=each).count() for each in study.conditions.all()] == [2] * study.conditions.count()
    files = write_export(study, "wide", tmp_path, Options(include_simulated=True))
    assert files
    report = build_report(study=study, mode=Mode.SIMULATED)
    results = report.read_results()
    assert set(study.design.plan.tested) <= {variable.key for variable in results.variables}
    assert [dose.condition for dose in results.doses] == (DOSES[1:] if key == "diversity-dose" else [])


Asked = tuple[int, int, str]  # occasion, rank and question


class Told(Cut):
    """The site, with every answer that it took, and the points of known items."""

    def __init__(self, after: int) -> None:
        super().__init__(after)
        self.answers: dict[Asked, str] = {}
        self.rated: dict[int, str] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = super().handle_request(request)
        _base, _sep, page = request.url.path.partition("/s/p/")
        places = page.strip("/").split("/")[1:]
        if request.method == "POST" and "form" in request.headers.get("content-type", "") and places:
            fields = dict(parse_qsl(request.content.decode()))
            occasion, rank = map(int, places[1:3]) if len(places) > 2 else (1, 0)
            if places[0] == "rate":
                self.rated |= {int(item): fields["rating"] for item in places[1:]}
            else:
                own = {name: value for name, value in fields.items() if value and not name.startswith("was.")}
                self.answers |= {(occasion, rank, name): own[name] for name in own if name not in NO_ANSWERS}
        return reply


NO_ANSWERS = ("csrfmiddlewaretoken", "continue")


def stored_answers(person: Participant) -> tuple[dict[Asked, str], dict[int, str]]:
    """What is stored of a participant, as forms have it."""
    answers: dict[Asked, str] = {}
    for row in person.responses.all():
        parts = row.value if isinstance(row.value, dict) else {"": row.value}
        for part, value in parts.items():
            name = f"{row.question}.{part}" if part else row.question
            value = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            answers[row.occasion, row.rank, name] = value
    return answers, {item: str(point) for item, point in person.profile.values_list("item_id", "rating")}


def enter(study: Study, seed: int, *, after: int = 10_000) -> tuple[Participant, Told]:
    """A simulated participant with the planted effects of their conditions, who quits after so many requests."""
    items = range(study.dataset_version.items.count())
    is_usage = study.design.is_choice
    user = SourceUser("u", {index: 1.0 + (0 if is_usage else (index + seed) % 5) for index in items[::3]})
    offsets, high = (np.zeros(len(items)), 1.0) if is_usage else (np.linspace(0.5, -0.5, len(items)), 5.0)
    side = TrainingSide(1.0 if is_usage else 3.0, offsets, np.array(items)[::-1], 1.0, high)

    names, planted = dict(study.conditions.values_list("pk", "label")), PLANTED[study.slug]

    def person_for(code: str) -> SimulatedPerson:
        person = Participant.objects.get(study=study, code=code)
        met = [[names[pk] for pk in shown] for shown in conditions_of(person)]
        effects = effects_by_list(planted, [shown[0] for shown in met])
        (effect, length), *later = zip(effects, list_lengths(person), strict=True)
        return SimulatedPerson(
            user, side, np.random.default_rng(seed), elicitation=study.design.scale, effect=effect, list_length=length,
            later=later, effect_rng=np.random.default_rng(seed), scales=scales_of(questionnaire_of(study)),
            interest_shifts=[[planted.get(name, {}).get("accuracy", 0.0) for name in shown] for shown in met],
        )  # fmt: skip

    told = Told(after)
    client = httpx.Client(transport=told, base_url="http://testserver")
    link = entry_link(study=study, mode=Mode.SIMULATED, entry_key=secrets.token_hex(20))
    with suppress(httpx.RemoteProtocolError):
        walker_of(study, client, link, person_for=person_for, rng=np.random.default_rng(seed)).run()
    return Participant.objects.latest("pk"), told


@pytest.mark.slow
@pytest.mark.parametrize(("key", "data"), WALKED)
def test_sixty_complete_five_quit_and_two_withdraw(key: str, data: str, tmp_path: Path) -> None:
    run, given = {**DATA, **READ}[data](ALGORITHMS.get(key, TWO)), {"settings": {"block_multiples": [1]}}
    study = created(key, run, **given, **({} if key in BETWEEN else {"per_condition": SEVERAL}))
    launch_study(study=study)
    walked = [enter(study, seed, after=after) for seed, after in enumerate(QUITS.get(key, range(20, 25)))]
    walked += [enter(study, seed) for seed in range(5, 65)]
    people = study.participants.filter(mode=Mode.SIMULATED)
    assert people.count() == 65
    complete = people.filter(status=ParticipantStatus.COMPLETED)
    assert list(complete.order_by("pk")) == [person for person, _told in walked[5:]]
    assert {person.occasion for person, _told in walked[:5]} == set(range(1, content_of(study).n_occasions + 1))
    arms = [people.filter(**assigned_to(arm)).count() for arm in arms_of(study)]
    assert max(arms) - min(arms) <= 1
    for person, _told in walked[5:7]:
        withdraw(participant=person)
        assert stored_answers(person) == ({}, {})
    for person, told in walked[:5] + walked[7:]:  # nothing is lost or doubled, also of those who quit
        assert stored_answers(person) == (told.answers, told.rated), person.code
    for person, _told in walked[7:]:
        expect_lists(person)
    assert replayed_log(study, Mode.SIMULATED).problem == ""
    expect_exports_open(study, tmp_path)
    report = build_report(study=study, mode=Mode.SIMULATED)
    expect_effect(report, key)
    if rscript := shutil.which("Rscript"):
        write_numbers(report, tmp_path)
        assert len(recomputed(tmp_path, rscript)) > 100


def expect_lists(person: Participant) -> None:
    """Each condition's list is there once and whole, without an item of a list of an earlier occasion."""
    lists = person.recommendation_lists.all()
    assert [(each.occasion, each.side, each.condition_id) for each in lists] == [
        (occasion, side, condition)
        for occasion, shown in enumerate(conditions_of(person), start=1)
        for side, condition in enumerate(shown, start=1)
    ]
    met: dict[int, set[int]] = {}
    for each in lists:
        slots = each.slots.order_by("rank").values_list("rank", "item")
        assert [rank for rank, _item in slots] == list(range(1, person.study.design.list_length + 1))
        met.setdefault(each.occasion, set()).update(item for _rank, item in slots)
    assert sum(map(len, met.values())) == len(set().union(*met.values()))


def expect_exports_open(study: Study, folder: Path) -> None:
    """Every table of every export is read by pandas, and by R where it is; that of participants has each once."""
    n_rows = {}
    for kind in FORMATS:
        for file in write_export(study, kind, folder / kind, Options(include_simulated=True)):
            path = folder / kind / file.name
            if file.name.endswith(".json"):
                json.loads(path.read_text(encoding="utf-8"))
            if file.name.endswith((".csv", ".tsv")):
                table = pd.read_csv(path, sep="\t" if file.name.endswith(".tsv") else ",", dtype=str)
                assert len(table.columns) > 1, file.name
                n_rows[str(path)] = len(table)
    if rscript := shutil.which("Rscript"):
        read = subprocess.run([rscript, "-e", IN_R, *n_rows], capture_output=True, text=True)
        assert read.returncode == 0, read.stderr
        assert dict(zip(n_rows, map(int, read.stdout.split()), strict=True)) == n_rows
    wide = pd.read_csv(folder / "wide" / f"study-{study.slug}_wide_data.csv", dtype=str)
    assert wide["participant.id"].is_unique
    assert len(wide) == 65
    assert wide["participant.status"].value_counts()[ParticipantStatus.COMPLETED] == 58


IN_R = """for (file in commandArgs(TRUE)) {
  read <- if (endsWith(file, ".tsv")) read.delim else read.csv
  cat(nrow(read(file, colClasses = "character")), "")
}"""


def expect_effect(report: Report, key: str) -> None:
    """The report has the planted effect: the planned one, or a difference of the conditions."""
    study, results = report.study, report.read_results()
    assert results.flow.analysed == 58
    assert sum(condition.n for condition in results.conditions) == 58 * (1 if key in BETWEEN else len(labels(study)))
    text = "".join(run.text for run in headline(results))
    if key in ("explanations", "diversity-dose"):
        planned = results.factorial and results.factorial.planned
        assert planned
        assert planned.variable_key == EFFECTS[key]
        assert isinstance(planned.result, MeanContrast)
        assert planned.result.value > 0
        assert planned.result.p < 0.05
        assert planned.variable.in_text in text
        assert "No evidence" not in text
    elif key == "two-lists":
        assert [each.variable_key for each in results.preferences] == list(study.design.plan.outcomes)
        assert results.preferences[0].n_participants == 58
        assert text == "Simulated participants: Participants preferred PureSVD4 to NNCosNgr."
    elif key == "three-in-turn":
        variable = results.variable(EFFECTS[key])
        assert variable
        assert variable.in_turn
        assert isinstance(variable.in_turn.model, WithinResult)
        assert variable.in_turn.model.n_complete == 58
        assert isinstance(variable.pairs, PairwiseResult)
        for pair in variable.pairs.pairs:
            if "PureSVD4" in (pair.a, pair.b):
                assert pair.is_significant
                assert (pair.difference > 0) == (pair.a == "PureSVD4")
        assert "Highest global satisfaction: PureSVD4 (" in text_of_report(report)
    else:
        (variable,) = (each for each in results.variables if each.key == EFFECTS[key])
        means = {label: own.mean for label, own in variable.described.items()}
        assert max(means, key=lambda label: means[label]) == "PureSVD4"
        assert isinstance(variable.welch, WelchResult)
        assert variable.welch.p < 0.05


def test_explanations_cross_the_named_recommenders_and_stay_crossed() -> None:
    run = films(ALGORITHMS["explanations"])
    study = created("explanations", run, labels=["TopPop", "PureSVD4"])
    assert labels(study) == ["TopPop · plain", "TopPop · explained", "PureSVD4 · plain", "PureSVD4 · explained"]
    digest = study.conditions.get(label="PureSVD4 · plain").model_digest
    study = choose_conditions(study=study, digests=[digest])
    assert labels(study) == ["PureSVD4 · plain", "PureSVD4 · explained"]
    copy = duplicate_study(study=study, slug="again", title="Again")
    assert (labels(copy), crossing_problem(copy)) == (labels(study), "")
    assert copy.settings["factors"] == study.settings["factors"]


def test_explanations_need_a_recommender_that_explains() -> None:
    run = films("toppop, popularity-likes")
    with pytest.raises(ParallaxError, match=r"None of TopPop, .* explains .*such as nncosngr,puresvd"):
        created("explanations", run)


def test_missing_doses_are_named_with_the_command_that_measures_them() -> None:
    run = films(f"toppop, nncosngr, {PURESVD}, {PURESVD}|mmr:strength=0.3")
    with pytest.raises(ParallaxError) as refused:
        created("diversity-dose", run)
    sentence, command = str(refused.value).split("\n")
    assert f"run {run.pk} did not measure PureSVD4 + MMR 0.6, PureSVD4 + MMR 0.9." in sentence
    words = shlex.split(command)
    assert words[:4] == [".venv/bin/python", "manage.py", "evaluate", "small"]
    given = dict(zip(words[4::2], words[5::2], strict=True))
    assert named_settings(given["--split"]) == run.split
    assert named_settings(given["--protocol"]) == {
        name: each for name, each in run.protocol.items() if each is not None
    }
    measured = make_run(version=run.version, algorithms=given["--algorithms"])
    assert list(measured.algorithms.order_by("position").values_list("label", flat=True)) == DOSES
    with pytest.raises(ParallaxError, match="NNCosNgr with its re-rankings"):
        created("diversity-dose", run, labels=["NNCosNgr"])
    with pytest.raises(ParallaxError, match="Name the recommender"):
        created("diversity-dose", run, labels=["PureSVD4 + MMR 0.3"])


def test_doses_are_found_among_other_models() -> None:
    study = created("diversity-dose", films(f"toppop, {ALGORITHMS['diversity-dose']}, {PURESVD}|popularity"))
    assert labels(study) == DOSES


@pytest.mark.parametrize("key", ["explanations", "diversity-dose"])
def test_the_quick_comparison_of_a_template_measures_what_it_needs(key: str) -> None:
    algorithms = proposals_for(make_version(), load_preset(key).quick_algorithms)["quick"].spec.algorithms
    lines = ["nncosngr", "puresvd"] if key != "diversity-dose" else ["puresvd", *["puresvd|mmr"] * 3]
    assert [name for name, _params in algorithms] == lines
