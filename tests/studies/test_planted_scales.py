"""Effects planted in scales: each question's part, the mean that comes of them, and the report that finds them."""

from __future__ import annotations

import re
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.services import build_report
from core.errors import ParameterError
from core.provenance import rng_for
from studies.design.presets.loader import load_preset
from studies.enums import Mode, Provenance
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.schema import ITEMS, Questionnaire, questionnaire_from
from studies.instrument.scales import ScaleOfStudy, scales_of, score_of_participant
from studies.models import Participant, Response, Study
from studies.recruitment.services.tokens import digest_of_key
from studies.simulation.answer_model import Effect, SimulatedPerson, SourceUser, TrainingSide
from studies.simulation.planted_effects import effects_from, planted_sentence
from studies.simulation.services.pilot import entry_key_of
from tests.factories.analysis import planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.questionnaires import make_study_asking, words

pytestmark = pytest.mark.slow

LENGTH = 5
SHIFTS = {"trust": 0.6, "ease": -7.5, "yes_or_no": 0.15, "eleven": 1.3, "fit": 0.35}


def likert(key: str, scale: str, minimum: int, maximum: int, **more: Any) -> dict[str, Any]:
    return {
        "key": key,
        "kind": "likert",
        "text": words(key),
        "minimum": minimum,
        "maximum": maximum,
        "scale": scale,
        **more,
    }


def asking() -> dict[str, Any]:
    """The template with scales of every kind of question and of 2 to 101 points, one of them about items."""
    found = dict(load_preset("cremonesi-2011").questionnaire)
    found["items"] = [
        *found["items"],
        likert("fits", "fit", 1, 5),
        likert("spoils", "fit", 1, 5, reversed=True),
    ]
    found["after"] = [
        likert("trust_a", "trust", 1, 5),
        likert("trust_b", "trust", 1, 5, reversed=True),
        {
            "key": "views", "kind": "matrix", "text": words("How far do you agree?"), "minimum": 1, "maximum": 5,
            "scale": "trust",
            "rows": [
                {"key": "again", "text": words("I would come back.")},
                {"key": "never", "text": words("I would never come back."), "reversed": True},
            ],
        },
        {
            "key": "fine", "kind": "slider", "text": words("Easy?"), "minimum": 0, "maximum": 100, "scale": "ease",
        },
        {
            "key": "coarse", "kind": "slider", "text": words("Hard?"), "minimum": 0, "maximum": 100, "step": 5,
            "scale": "ease", "reversed": True,
        },
        *(likert(f"two_{n}", "yes_or_no", 1, 2) for n in range(4)),
        *(likert(f"eleven_{n}", "eleven", 0, 10, reversed=bool(n)) for n in range(2)),
    ]  # fmt: skip
    keys = ("trust", "ease", "yes_or_no", "eleven", "fit")
    found["scales"] = [{"key": key, "name": words(key.title())} for key in keys]
    return found


QUESTIONNAIRE = questionnaire_from(asking())
SCALES = scales_of(QUESTIONNAIRE)


def someone(number: int, effect: Effect, scales: tuple[ScaleOfStudy, ...] = SCALES) -> SimulatedPerson:
    """Person `number`: the same one whatever is planted, who rates in the middle of the points."""
    side = TrainingSide(3.0, np.zeros(40), np.arange(40), 1.0, 5.0)
    user = SourceUser(str(number), {0: 3.0, 1: 3.0})
    return SimulatedPerson(
        user, side, rng_for(7, "answers", number), effect=effect, list_length=LENGTH,
        effect_rng=rng_for(7, "effects", number), scales=scales,
    )  # fmt: skip


def answered(person: SimulatedPerson, question: Question, rng: np.random.Generator) -> Any:
    """What the person says to one question of a scale, as it is stored."""

    def of(name: str, points: int, is_reversed: bool) -> int:
        return int(person.opinion(points, rng, name=name, is_negative=is_reversed).value)

    if question.rows:
        points = question.maximum - question.minimum + 1
        return {
            row.key: question.minimum - 1 + of(f"{question.key}.{row.key}", points, row.is_reversed)
            for row in question.rows
        }
    step = question.typed_step
    points = round((question.maximum - question.minimum) / step) + 1
    value = question.minimum + step * (of(question.key, points, question.is_reversed) - 1)
    return question.check(value)


def answers_of(number: int, effect: Effect, questionnaire: Questionnaire = QUESTIONNAIRE) -> tuple[Any, Any]:
    """Answers about the list, and about each item, to the questions of scales."""
    person = someone(number, effect)
    rng = rng_for(7, "noise", number)
    items = []
    for item in range(LENGTH):
        person.about_item(item)
        items.append({q.key: answered(person, q, rng) for q in questionnaire.block(ITEMS) if q.scale})
    return {q.key: answered(person, q, rng) for q in questionnaire.block("after") if q.scale}, items


def scores(number: int, effect: Effect) -> dict[str, Fraction]:
    whole, items = answers_of(number, effect)
    found = {scale.key: score_of_participant(scale, whole, items) for scale in SCALES}
    return {key: score for key, score in found.items() if score is not None}


@pytest.mark.unit
@pytest.mark.parametrize(("key", "least_share"), [
    # The share that finds room: of two points half of the answers stand at the end already.
    ("trust", 0.98), ("ease", 0.97), ("yes_or_no", 0.65), ("eleven", 0.97), ("fit", 0.98),
])  # fmt: skip
def test_a_scale_moves_in_the_mean_by_what_is_planted_and_no_other_does(key: str, least_share: float) -> None:
    n, shift = 500, SHIFTS[key]
    before = [scores(number, {}) for number in range(n)]
    after = [scores(number, {f"scale.{key}": shift}) for number in range(n)]
    assert len(before[0]) == len(SCALES)
    for scale in SCALES:
        change = [float(b[scale.key] - a[scale.key]) for a, b in zip(before, after, strict=True)]
        if scale.key != key:
            assert not any(change), scale.key
        else:
            error = 3 * float(np.std(change)) / n**0.5
            assert least_share * abs(shift) - error < abs(np.mean(change)) < abs(shift) + error
            assert np.sign(np.mean(change)) == np.sign(shift)


@pytest.mark.unit
def test_reversed_questions_go_the_other_way_and_the_sum_of_a_person_is_within_a_step() -> None:
    for number in range(40):
        plain, _ = answers_of(number, {})
        moved, _ = answers_of(number, {"scale.eleven": 1.3})
        steps = moved["eleven_0"] - plain["eleven_0"], plain["eleven_1"] - moved["eleven_1"]
        if min(plain["eleven_0"], 10 - plain["eleven_0"], plain["eleven_1"], 10 - plain["eleven_1"]) >= 3:
            assert set(steps) <= {0, 1, 2}
            assert abs(sum(steps) - 2.6) < 1


@pytest.mark.unit
def test_what_finds_no_room_goes_to_the_next_question_and_never_more_than_is_asked_for() -> None:
    scale = ScaleOfStudy("trust", {"en": "Trust"}, SCALES[0].members[:2], 0.5, False)
    person = someone(1, {"scale.trust": 1.0}, (scale,))
    person.item_ratings = [5]
    rng = np.random.default_rng(1)
    top = [person.opinion(5, rng, name="trust_a").value for _ in range(20)]
    assert set(top[1:]) == {5}
    person.item_ratings = [3]
    # Many steps were left over by then: the next answer takes all it can, downward as it is reversed.
    assert person.opinion(5, rng, name="trust_b", is_negative=True).value == 1
    assert person.opinion(5, rng, name="no_member").value in (2, 3, 4)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"A": {"trust": 1}},
            "unknown variable 'trust'; those of this study are accuracy, satisfaction, fon, son, scale.trust, "
            "scale.ease, scale.yes_or_no, scale.eleven, scale.fit.",
        ),
        ({"A": {"scale.trust": 4.5}}, "The shift of scale.trust in A is a number from -4 to 4; got 4.5."),
        ({"A": {"scale.ease": True}}, "is a number from -100 to 100; got True."),
    ],
)
def test_an_effect_on_a_scale_that_cannot_be_read_says_what_there_is(given: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(said)):
        effects_from(given, ["A"], QUESTIONNAIRE)


@pytest.mark.unit
def test_a_scale_about_the_person_cannot_be_shifted_by_a_condition_they_do_not_have_yet() -> None:
    early = asking()
    early["about"] = [*early["about"], likert("buff", "buff", 1, 5)]
    early["scales"] = [*early["scales"], {"key": "buff", "name": words("Film buff")}]
    with pytest.raises(ParameterError, match=r"scale\.buff"):
        effects_from({"A": {"scale.buff": 1}}, ["A"], questionnaire_from(early))


@pytest.mark.unit
def test_effects_on_scales_are_kept_as_they_were_written_and_told() -> None:
    written = {"A": {"scale.trust": 0.6, "accuracy": 0.5, "scale.ease": 0}}
    effects = effects_from(written, ["A", "B"], QUESTIONNAIRE)
    assert effects == {"A": {"accuracy": 0.5, "scale.trust": 0.6}}
    assert list(effects["A"]) == ["accuracy", "scale.trust"]
    assert effects_from(effects, ["A"], QUESTIONNAIRE) == effects
    assert planted_sentence(effects).endswith(": A perceived accuracy +0.5, scale trust +0.6.")


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_report_finds_the_shifts_that_were_planted_in_scales(seed: int) -> None:
    n = 40
    study = make_study_asking(asking(), per_condition=n)
    planted = effects_from(
        {"PureSVD4": {f"scale.{key}": shift for key, shift in SHIFTS.items() if key != "ease"}},
        ["TopPop", "PureSVD4"],
        QUESTIONNAIRE,
    )
    rows = []
    for label in ("TopPop", "PureSVD4"):
        for number in range(n):
            # The same people in both conditions: they differ by what is planted alone.
            whole, items = answers_of(1000 * seed + number, planted.get(label, {}))
            person = planted_person(study, label, [3] * LENGTH, 3, mode=Mode.SIMULATED, provenance=Provenance.MODELLED)
            answers = [(0, whole), *enumerate(items, start=1)]
            rows += [
                Response(participant=person, question=key, rank=rank, value=value, provenance=Provenance.MODELLED)
                for rank, given in answers
                for key, value in given.items()
            ]
    Response.objects.bulk_create(rows)
    results = build_report(study=study, mode="simulated").results
    found = {scale["key"]: scale for scale in results["scales"]}
    assert set(found) == set(SHIFTS)
    for key, scale in found.items():
        means = {name: scale["described"][name]["mean"] for name in ("TopPop", "PureSVD4")}
        shift = 0.0 if key == "ease" else SHIFTS[key]
        # Whole steps of one person are within one of the shift of each question: so far is the mean of 40 off.
        n_questions = len(scale["questions"]) * (LENGTH if key == "fit" else 1)
        error = 3 * 0.5 / n_questions / n**0.5
        lost = 0.35 * shift if key == "yes_or_no" else 0.02 * shift  # of two points many stand at the end already
        assert shift - lost - error <= means["PureSVD4"] - means["TopPop"] <= shift + error
    assert found["trust"]["anova"]["p"] < 0.001
    assert found["eleven"]["anova"]["p"] < 0.05
    assert found["ease"]["anova"]["p"] > 0.99


def by_number(study: Study, n: int) -> dict[int, tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Condition and answers of each simulated person, by their number."""
    numbers = {digest_of_key(entry_key_of(study, 5, number)): number for number in range(n)}
    found = {}
    for person in Participant.objects.filter(study=study, mode=Mode.SIMULATED).select_related("condition"):
        rows = list(person.responses.values_list("rank", "question", "value"))
        items = [{q: v for r, q, v in rows if r == rank} for rank in range(1, LENGTH + 1)]
        assert person.condition is not None
        found[numbers[person.entry_key]] = (person.condition.label, {q: v for r, q, v in rows if r == 0}, items)
    return found


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.django_db(transaction=True)
def test_over_http_the_same_people_answer_the_questions_of_a_scale_by_so_much_higher(
    live_server: Any, tmp_path: Path
) -> None:
    n = 5
    study = make_study_asking(asking(), per_condition=n, run=make_run_at("succeeded", reserve=0.3))

    def group(*more: str) -> tuple[str, dict[int, Any]]:
        out = StringIO()
        call_command("simulate_participants", study.slug, "--per-condition", str(n), "--seed", "5",
                     "--base-url", live_server.url, "--parallel", "2", *more, stdout=out)  # fmt: skip
        return out.getvalue(), by_number(study, 2 * n)

    file = tmp_path / "effects.yaml"
    file.write_text("TopPop: {scale.easy: 1}\n")
    with pytest.raises(CommandError, match=r"'scale\.easy'.*scale\.ease"):
        group("--effects", str(file))
    _said, before = group()
    call_command("simulate_participants", study.slug, "--remove", stdout=StringIO())
    file.write_text("TopPop: {scale.trust: 0.5, scale.ease: -10, scale.fit: 0.4}\n")
    said, after = group("--effects", str(file))
    assert "scale ease -10, scale fit +0.4, scale trust +0.5." in said
    printed = re.search(r"scale\.trust: TopPop (\d\.\d\d), PureSVD4 (\d\.\d\d)", said)
    assert printed is not None
    assert "scale.eleven:" not in said
    trust = next(scale for scale in SCALES if scale.key == "trust")
    own = [score_of_participant(trust, whole, items) for label, whole, items in after.values() if label == "TopPop"]
    assert float(printed[1]) == pytest.approx(float(np.mean([float(score) for score in own if score])), abs=0.005)
    changes: dict[str, list[float]] = {scale.key: [] for scale in SCALES}
    for number, (label, whole, items) in after.items():
        was_label, was_whole, was_items = before[number]
        assert label == was_label
        if label != "TopPop":
            assert (whole, items) == (was_whole, was_items)
            continue
        for scale in SCALES:
            now, was = score_of_participant(scale, whole, items), score_of_participant(scale, was_whole, was_items)
            assert now is not None
            assert was is not None
            changes[scale.key].append(float(now - was))
    assert not any(changes["eleven"] + changes["yes_or_no"])
    for key, shift, step in (("trust", 0.5, 1 / 4), ("ease", -10.0, 5 / 2), ("fit", 0.4, 1 / 10)):
        assert len(changes[key]) == n
        assert np.mean(changes[key]) == pytest.approx(shift, abs=0.3 * abs(shift))
        assert all(abs(change) < abs(shift) + step for change in changes[key])
