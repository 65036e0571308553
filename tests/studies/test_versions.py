"""Versions of a launched design: targets that grow, words that are mended, and nothing that answers mean."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.test import Client
from django.urls import reverse

from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from studies.allocation.selectors.allocations import replayed_log
from studies.design.selectors.versions import design_lines
from studies.design.services.amending import extend_targets, reword_questionnaire
from studies.design.services.duplicating import duplicate_study
from studies.design.services.launch import close_study, pause_study
from studies.enums import Mode, ParticipantStatus, Role
from studies.instrument.questionnaires.document import write_document
from studies.models import Recruiting, Study
from tests.factories.studies import assigned, enter, make_study
from tests.studies.test_pages import Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _document(study: Study, **texts: str) -> str:
    """The study's questionnaire with other words for some questions."""
    data: dict[str, Any] = yaml.safe_load(write_document(study.questionnaire))
    for block in data.values():
        for question in block if isinstance(block, list) else ():
            if question["key"] in texts:
                question["text"]["en"] = texts[question["key"]]
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False)


def _refused(code: str, act: Any, **given: Any) -> ParallaxError:
    with pytest.raises(ParallaxError) as caught:
        act(**given)
    assert caught.value.code == code
    return caught.value


def test_a_full_study_lets_more_in_once_its_targets_grow() -> None:
    study = make_study(per_condition=1)
    n = study.conditions.count()
    first = [assigned(study) for _ in range(n)]
    assert {one.status for one in first} == {ParticipantStatus.ACTIVE}
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    before = study.design_hash
    assert extend_targets(study=study, targets={labels[0]: 2}, why="Two dropped the device.") == 2
    study.refresh_from_db()
    assert study.design_hash != before
    later = assigned(study)
    assert (later.status, later.condition.label, later.version.number) == (ParticipantStatus.ACTIVE, labels[0], 2)
    replayed = replayed_log(study, Mode.LIVE)
    assert (replayed.problem, replayed.n_holding) == ("", n + 1)
    entry = LogEntry.objects.filter(kind="studies.study", object_id=study.pk).latest("pk")
    assert entry.reason == f"Targets extended ({labels[0]} 1 to 2): Two dropped the device."
    assert entry.facts == {"design_version": 2, "design_hash": study.design_hash}
    assert [(line.version.number, line.n) for line in design_lines(study)] == [(2, 1), (1, n)]
    assert study.versions.get(number=1).snapshot["conditions"][0]["target"] == 1


def test_targets_neither_shrink_nor_stay_nor_change_without_a_reason() -> None:
    study = make_study(per_condition=3)
    label = study.conditions.order_by("position").first().label  # type: ignore[union-attr]
    given = {"study": study, "why": "More power."}
    _refused("amend.lower_target", extend_targets, targets={label: 2}, **given)
    _refused("amend.same", extend_targets, targets={label: 3}, **given)
    assert "Nobody" in _refused("amend.unknown_condition", extend_targets, targets={"Nobody": 9}, **given).message
    _refused("amend.no_reason", extend_targets, study=study, targets={label: 9}, why="  ")
    assert study.versions.count() == 1
    close_study(study=study)
    with pytest.raises(NotAllowedInState, match="closed study stays as it is"):
        extend_targets(targets={label: 9}, **given)


def test_words_are_mended_and_everybody_reads_them_from_then_on() -> None:
    study = make_study()
    person = Person(study)
    person.consent()
    assert reword_questionnaire(study=study, text=_document(study, age="How old are you?"), why="A typing error.") == 2
    assert "How old are you?" in person.get("about/").content.decode()
    study.refresh_from_db()
    assert study.versions.get(number=2).snapshot["questionnaire"] == study.questionnaire
    assert enter(study).participant.version.number == 2  # type: ignore[union-attr]
    text = _document(study, age="How old are you?")
    _refused("amend.same", reword_questionnaire, study=study, text=text, why="Again.")
    pause_study(study=study)
    assert reword_questionnaire(study=study, text=_document(study, age="Age"), why="Shorter.") == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data["about"].pop(), "is gone"),
        (lambda data: data["about"].insert(0, data["about"].pop(1)), "order in the block 'about' is another"),
        (
            lambda data: data["about"].append(
                {"key": "newer", "kind": "yes_no", "text": {"en": "New?", "it": "Nuovo?"}}
            ),
            "'newer' is new",
        ),
        (lambda data: data["about"][2].update(maximum=90), "'age' differs in maximum"),
        (lambda data: data["about"][3]["choices"].pop(0), "'gender' differs in choices"),
        (lambda data: data.update(attention={"ends_after": 1}), "setting 'attention' differs"),
    ],
)
def test_what_answers_mean_stays(change: Any, words: str) -> None:
    study = make_study()
    data = yaml.safe_load(write_document(study.questionnaire))
    change(data)
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
    refused = _refused("amend.other_questions", reword_questionnaire, study=study, text=text, why="Better.")
    assert words in refused.message
    study.refresh_from_db()
    assert study.versions.count() == 1
    _refused("questionnaire.problems", reword_questionnaire, study=study, text="schema: [", why="Better.")


def test_the_page_shows_versions_and_an_owner_makes_new_ones(client: Client) -> None:
    study = make_study(per_condition=2)
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner)
    url = reverse("studies:versions", args=[study.slug])
    n = study.conditions.count()
    fields = {f"targets-target_{i}": 2 for i in range(n)} | {"act": "targets", "targets-why": "More people came."}
    lower = client.post(url, fields | {"targets-target_0": 1}).content.decode()
    assert "greater than or equal to 2" in lower
    same = client.post(url, fields).content.decode()
    assert "No target is higher than before" in same
    done = client.post(url, fields | {"targets-target_0": 5}, follow=True).content.decode()
    assert "Version 2 of the design applies from now on." in done
    assert "More people came." in done
    words = {"act": "words", "words-document": _document(study, age="How old are you?"), "words-why": "Clearer."}
    done = client.post(url, words, follow=True).content.decode()
    assert "Version 3 of the design" in done
    broken = client.post(url, words | {"words-document": "schema: 1\nabout: 7\n"}).content.decode()
    assert "about" in broken
    assert study.versions.count() == 3


def test_a_copy_recruits_by_the_same_panel_and_with_no_code_of_the_other_study() -> None:
    study = make_study()
    exits = {
        "complete": {"code": "static", "static_code": "ABC", "url": "https://x.org/?c={code}", "text": {"en": "Hi"}}
    }
    Recruiting.objects.create(study=study, panel="prolific", exits=exits, longest_gap_minutes=30)
    made = duplicate_study(study=study, slug="second", title="Second")
    assert (made.recruiting.panel, made.recruiting.longest_gap_minutes) == ("prolific", 30)
    assert made.recruiting.exits == {"complete": {"text": {"en": "Hi"}}}
