"""Entries without a proof of work take no slot when one is needed; a browser solves it while the text is read."""

from __future__ import annotations

import secrets
import time
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from core.errors import ParallaxError
from studies.enums import Entrance, Mode, ProofOfWork, WithoutScript
from studies.models import Participant, Study
from studies.participation.services import entry_work
from studies.participation.services.entry_work import is_solution, solution_of
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.recruitment import create_links, set_limits, set_panel
from tests.factories.studies import enter, make_study
from tests.studies.test_pages import Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

BOXES = ["1", "2", "3", "4"]


@pytest.fixture
def study() -> Study:
    study = make_study(per_condition=30)
    set_limits(study=study, most_per_network=12, proof_of_work=ProofOfWork.ALWAYS)
    return study


def opened(client: Client, study: Study) -> dict[str, Any]:
    """The fields of the consent form, with every box ticked."""
    page = tree(client.get(f"/s/{study.slug}/"))
    fields = {field.get("name"): field.get("value") for field in page.xpath("//form//input[@type='hidden']")}
    return {**fields, "choice": "yes", "box": BOXES}


def sent(client: Client, study: Study, form: dict[str, Any]) -> Any:
    return client.post(f"/s/{study.slug}/", form)


def test_a_flood_without_solutions_takes_no_slot_and_solutions_enter(study: Study) -> None:
    flood = Client(REMOTE_ADDR="198.51.100.7")
    form = opened(flood, study)
    for n in range(10):
        answer = sent(flood, study, {**form, "entry_key": f"{n:043d}", "work_answer": "1.2.3.4.5.6.7.8"})
        assert answer.status_code == 200
    # A solution is for the key of its own form alone.
    solved = {**form, "work_answer": solution_of(form["work"])}
    assert sent(flood, study, {**solved, "entry_key": secrets.token_urlsafe(32)}).status_code == 200
    assert not Participant.objects.exists()
    first, again = sent(flood, study, solved), sent(flood, study, solved)
    assert first.status_code == again.status_code == 302
    assert first.headers["Location"] == again.headers["Location"]
    assert Participant.objects.count() == 1  # used once


def test_refused_entries_count_as_opened_pages(study: Study) -> None:
    set_limits(study=study, most_per_network=1, proof_of_work=ProofOfWork.ALWAYS)
    flood = Client(REMOTE_ADDR="198.51.100.7")
    form = opened(flood, study)
    statuses = [sent(flood, study, {**form, "entry_key": f"{n:043d}"}).status_code for n in range(12)]
    assert statuses == [200] * 9 + [429] * 3


def test_at_usual_rates_nobody_needs_one_and_at_unusual_rates_everybody_does(study: Study) -> None:
    set_limits(study=study, pause_at=6)
    assert recruiting_of(study).proof_of_work == ProofOfWork.UNUSUAL
    client = Client()
    page = client.get(f"/s/{study.slug}/").text
    assert "data-work-bits" in page
    assert "data-without-script>" not in page
    for _ in range(2):
        assert sent(client, study, opened(Client(), study)).status_code == 302
    enter(study)
    form = opened(Client(), study)
    refused = sent(Client(), study, form)
    assert refused.status_code == 200
    assert Participant.objects.count() == 3
    assert "Please wait" in refused.text
    assert [box.get("value") for box in tree(refused).xpath("//input[@name='box'][@checked]")] == ["1", "2"]
    assert sent(Client(), study, {**form, "work_answer": solution_of(form["work"])}).status_code == 302


def test_without_the_script_a_visitor_waits(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    page = client.get(f"/s/{study.slug}/")
    assert "the button works 20 seconds after the page opens" in page.text
    form = opened(client, study)
    refused = sent(client, study, form)
    assert "Please wait 20 seconds, then press the button again." in refused.text
    again = {field.get("name"): field.get("value") for field in tree(refused).xpath("//form//input[@type='hidden']")}
    assert again["work"] == form["work"]  # the wait goes on
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment + 21)
    assert sent(client, study, {**again, "choice": "yes", "box": BOXES}).status_code == 302
    monkeypatch.setattr(time, "time", lambda: moment + entry_work.EXPIRES_SECONDS + 60)
    late = sent(Client(), study, {**opened(Client(), study), "work": form["work"], "entry_key": "k" * 40})
    assert "This page was open for a long time." in late.text
    assert Participant.objects.count() == 1


def test_without_the_script_a_network_enters_up_to_a_share_of_its_limit(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood = Client(REMOTE_ADDR="198.51.100.7")
    forms = [opened(Client(), study) for _ in range(4)]
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment + 21)
    assert [sent(flood, study, form).status_code for form in forms] == [302, 302, 429, 429]
    other = Client(REMOTE_ADDR="198.51.100.8")
    assert sent(other, study, forms[2]).status_code == 302


@pytest.mark.parametrize(("language", "words"), [("en", "How much is"), ("de", "Wie viel"), ("it", "Quanto fa")])
def test_without_the_script_a_visitor_answers_a_question(study: Study, language: str, words: str) -> None:
    set_limits(study=study, proof_of_work=ProofOfWork.ALWAYS, without_script=WithoutScript.SUM)
    with translation.override(language):
        assert translation.gettext("How much is %(a)s plus %(b)s?").startswith(words)
    client = Client()
    page = tree(client.get(f"/s/{study.slug}/"))
    label = page.xpath("//label[@for='sum-answer']")[0].text_content()
    numbers = [int(word) for word in label.strip("?").split() if word.isdigit()]
    form = opened(client, study)
    first, second = entry_work._challenge(form["work"]).numbers
    assert len(numbers) == 2
    wrong = sent(client, study, {**form, "sum_answer": str(first + second + 1)})
    assert "Please answer the question above the button" in wrong.text
    assert sent(client, study, {**form, "sum_answer": f" {first + second} "}).status_code == 302


def test_links_of_their_own_previews_and_simulated_participants_need_none(study: Study) -> None:
    ((_link, key),) = create_links(study=study, n=1)
    client = Client()
    assert Person(study, client).consent(f"/s/{study.slug}/link/{key}/").request["PATH_INFO"].startswith("/s/p/")
    for mode in (Mode.SIMULATED, Mode.PREVIEW):
        link = entry_link(study=study, mode=mode, entry_key=secrets.token_urlsafe(32))
        assert Person(study).consent(link).request["PATH_INFO"].startswith("/s/p/")
    assert Participant.objects.count() == 3
    set_panel(study=study, panel="none", entrance=Entrance.GUEST)
    assert "data-work-bits" not in client.get(f"/s/{study.slug}/").text


@pytest.mark.parametrize("answer", ["", "1.2.3", "x" * 300, "....... ", "1.1.1.1.1.1.1.1.1"])
def test_other_answers_are_no_solutions(answer: str) -> None:
    assert not is_solution("challenge", answer)
    assert is_solution("challenge", solution_of("challenge"))


def test_unknown_settings_are_refused(study: Study) -> None:
    with pytest.raises(ParallaxError, match="A proof of work is never, unusual, always"):
        set_limits(study=study, proof_of_work="sometimes")
