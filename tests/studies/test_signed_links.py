"""Closed groups: signed links, guest lists, and the entrance of new studies."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from core.errors import ParallaxError
from core.models import LogEntry
from studies.design.services.duplicating import duplicate_study
from studies.enums import VOUCHED, Entrance
from studies.models import Participant, Recruiting, Study
from studies.participation.services.entry_gate import EntryAttempt, admission_of
from studies.participation.services.interviews import start_interview
from studies.recruitment.panels.exits import Exit
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.recruitment import (
    create_links,
    create_signed_links,
    set_exits,
    set_guests,
    set_limits,
    set_panel,
)
from tests.factories.accounts import UserFactory
from tests.factories.studies import make_study
from tests.factories.walking import Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    study = make_study(per_condition=30)
    set_panel(study=study, panel="generic", entrance="signed")
    return study


def _signed(study: Study, *ids: str) -> list[str]:
    """The addresses of the links of these ids."""
    return [f"/s/{study.slug}/?{query}" for _id, query in create_signed_links(study=study, text="\n".join(ids))]


def _refusal(path: str) -> str:
    page = Client().get(path)
    assert not Participant.objects.exists()
    return page.text


# Signed links


def test_a_signed_link_enters_once_and_an_id_without_its_signature_not_at_all(study: Study) -> None:
    mine, other = _signed(study, "a b+ü@x", "bea")
    signature = parse_qs(urlsplit(other).query)["hash"][0]
    for wrong in (mine[:-1], mine.split("hash=")[0] + f"hash={signature}", other.replace("bea", "eve"), f"{mine}é"):
        assert "damaged" in _refusal(wrong)
    assert "danneggiato" in _refusal(f"{mine[:-1]}&lang=it")
    assert "for invited people" in _refusal(f"/s/{study.slug}/?participant_label=bea")
    assert "for invited people" in _refusal(f"/s/{study.slug}/")
    person = Person(study)
    person.consent(f"{other}&utm=mail")
    assert person.me.entrance == Entrance.SIGNED
    assert person.me.parameters == {"utm": "mail"}  # the signature stands for the id, and is not kept
    assert list(person.me.external_ids.values_list("name", "value")) == [("participant_label", "bea")]
    # Elsewhere the same link leads to where they stopped; the id alone leads nowhere.
    assert "Welcome back" in Client().get(other).text
    assert "damaged" in Client().get(f"/s/{study.slug}/?participant_label=bea").text
    resume = {"choice": "resume", "param:participant_label": "bea"}
    assert "damaged" in Client().post(f"/s/{study.slug}/", resume).text
    assert Participant.objects.count() == 1


def test_signatures_belong_to_one_study_and_one_parameter(study: Study) -> None:
    other = make_study(slug="other", run=study.run)
    set_panel(study=other, panel="none", entrance="signed")
    (path,) = _signed(study, "anna")
    assert "damaged" in _refusal(path.replace(study.slug, other.slug))
    (path,) = _signed(other, "anna")
    # Without a panel other parameters name people too; only one of them is signed.
    assert "damaged" in _refusal(path.replace("participant_label", "PROLIFIC_PID"))
    Recruiting.objects.filter(study=other).update(signing_key="")
    assert "for invited people" in _refusal(path)


@pytest.mark.parametrize(("entrance", "used"), [("open", "open"), ("panel_id", "panel_id")])
def test_where_signing_is_not_required_a_wrong_signature_is_still_refused(
    study: Study, entrance: str, used: str
) -> None:
    set_panel(study=study, panel="generic", entrance=entrance)
    first, second = _signed(study, "anna", "bea")
    assert "damaged" in _refusal(second[:-1])
    for path, expected in ((first, "signed"), (f"/s/{study.slug}/?participant_label=eve", used)):
        person = Person(study)
        person.consent(path)
        assert person.me.entrance == expected


def test_a_study_without_signed_links_stores_a_parameter_of_that_name_as_it_came() -> None:
    study = make_study(per_condition=6)
    person = Person(study)
    person.consent(f"/s/{study.slug}/?participant_label=anna&hash=of-another-site")
    assert (person.me.entrance, person.me.parameters) == ("open", {"hash": "of-another-site"})


def test_a_signed_link_opens_neither_a_guest_list_nor_a_study_by_personal_links(study: Study) -> None:
    (path,) = _signed(study, "anna")
    set_panel(study=study, panel="generic", entrance="personal")
    assert "by invitation" in _refusal(path)
    set_panel(study=study, panel="generic", entrance="guest")
    assert "for invited people" in _refusal(path)


def test_a_copy_signs_with_a_key_of_its_own(study: Study) -> None:
    copy = recruiting_of(duplicate_study(study=study, slug="copy", title="Copy"))
    key = recruiting_of(study).signing_key
    assert copy.entrance == Entrance.SIGNED
    assert len(key) == len(copy.signing_key) == 64
    assert key != copy.signing_key


def test_visitors_are_vouched_for_by_links_lists_and_interviewers(study: Study) -> None:
    user = UserFactory()
    set_panel(study=study, panel="generic", entrance="open")
    ((_link, key),) = create_links(study=study, n=1)
    ((value, query),) = create_signed_links(study=study, text="anna")
    parameters = {name: values[0] for name, values in parse_qs(query).items()}

    def is_vouched(**attempt: Any) -> bool:
        try:
            return admission_of(EntryAttempt(study=study, **{"entry_key": "", **attempt})).entrance in VOUCHED
        except ParallaxError:
            return False

    assert is_vouched(entry_key=key)
    assert is_vouched(entry_key=start_interview(study=study, interviewer=user).key)
    assert is_vouched(parameters=parameters)
    assert not is_vouched(parameters={"participant_label": value})
    assert not is_vouched(parameters={**parameters, "hash": "0" * 64})
    assert not is_vouched()
    set_panel(study=study, panel="generic", entrance="guest")
    set_guests(study=study, text="anna")
    assert is_vouched(parameters={"participant_label": "anna"})
    assert not is_vouched(parameters={"participant_label": "bea"})


def test_a_guest_enters_once_whatever_parameter_has_the_id() -> None:
    study = make_study(per_condition=6)
    set_panel(study=study, panel="none", entrance="guest")
    set_guests(study=study, text="anna")
    Person(study).consent(f"/s/{study.slug}/?participant_label=anna")
    assert "for invited people" in Client().get(f"/s/{study.slug}/?external_id=anna").text
    assert "Welcome back" in Client().get(f"/s/{study.slug}/?participant_label=anna").text


@pytest.mark.parametrize(("most_per_network", "n"), [(None, 30), (3, 6)])
@pytest.mark.parametrize("entrance", ["guest", "signed"])
def test_a_class_behind_one_address_enters_within_a_minute(
    study: Study, entrance: str, most_per_network: int | None, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    instant = int(time.time()) // 600 * 600 + 300
    monkeypatch.setattr("core.rate_limits.time", SimpleNamespace(time=lambda: instant))  # all at once
    set_panel(study=study, panel="generic", entrance=entrance)
    set_limits(study=study, most_per_network=most_per_network)
    names = [f"student-{number}" for number in range(n)]
    set_guests(study=study, text="\n".join(names))
    paths = _signed(study, *names)
    for name, path in zip(names, paths, strict=True):
        person = Person(study, Client(REMOTE_ADDR="198.51.100.7"))
        person.to("rate", path if entrance == "signed" else f"/s/{study.slug}/?participant_label={name}")
    assert Participant.objects.filter(status="active", entrance=entrance, place__isnull=False).count() == n
    if most_per_network and entrance == "signed":  # others of the network are limited as before
        set_panel(study=study, panel="generic", entrance="open")
        set_limits(study=study, most_per_network=n)
        statuses = [Person(study, Client(REMOTE_ADDR="198.51.100.7")).consent().status_code for _ in range(n + 1)]
        assert statuses == [200] * n + [429]


# The console


@pytest.fixture
def owned(study: Study) -> tuple[Study, Client]:
    client = Client()
    client.force_login(study.memberships.get().researcher, backend="django.contrib.auth.backends.ModelBackend")
    return study, client


def _rows(response: Any) -> list[dict[str, str]]:
    assert "no-store" in response.headers["Cache-Control"]
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_the_console_signs_a_list_and_shows_the_key_for_signing_elsewhere(owned: tuple[Study, Client]) -> None:
    study, client = owned
    url = reverse("studies:create-signed-links", args=[study.slug])
    rows = _rows(client.post(url, {"text": "anna\n=bea\nanna\n"}))
    assert [row["id"] for row in rows] == ["anna", "'=bea"]
    page = client.get(reverse("studies:recruiting", args=[study.slug])).text
    key = recruiting_of(study).signing_key
    assert key in page
    command = ["openssl", "dgst", "-sha256", "-hmac", key]
    digest = subprocess.run(command, input=b"anna", capture_output=True, check=True).stdout.decode().split()[-1]
    assert rows[0]["link"] == f"http://testserver/s/{study.slug}/?participant_label=anna&hash={digest}"
    guide = (Path(__file__).parents[2] / "docs/how-to/recruit-a-closed-group.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102
    assert rows[1]["link"] == names["signed_link"](f"http://testserver/s/{study.slug}/", key, "=bea")
    person = Person(study)
    person.consent(rows[1]["link"])
    assert person.me.external_ids.get().value == "=bea"
    uploaded = SimpleUploadedFile("who.csv", b"carla,room\n")
    (row,) = _rows(client.post(url, {"file": uploaded, "replace_key": "on"}))
    assert "damaged" in Client().get(rows[0]["link"]).text
    assert Person(study).consent(row["link"]).status_code == 200
    assert "Enter or upload at least one id." in client.post(url, {}).text
    reasons = LogEntry.objects.filter(object_id=study.pk).order_by("pk").values_list("reason", flat=True)
    assert [reason.split()[0] for reason in list(reasons)[-2:]] == ["2", "1"]
    assert ["new key" in reason for reason in list(reasons)[-2:]] == [False, True]


# The entrance of new studies


@pytest.mark.parametrize(("panel", "entrance"), [("none", "open"), ("prolific", "panel_id"), ("generic", "panel_id")])
def test_a_new_study_with_a_panel_requires_its_id_unless_another_entrance_is_chosen(
    owned: tuple[Study, Client], panel: str, entrance: str
) -> None:
    live, client = owned
    draft = make_study(slug="draft", run=live.run, status="draft", owner=live.memberships.get().researcher)
    set_exits(study=draft, exits={"complete": Exit("static", "C1")})
    page, url = (reverse(f"studies:{name}", args=[draft.slug]) for name in ("recruiting", "sample"))
    stored = client.get(url).context["form"].initial
    assert stored["entrance"] == ""
    client.post(url, {**stored, "panel": panel})
    assert (recruiting_of(draft).panel.key, recruiting_of(draft).entrance) == (panel, entrance)
    client.post(url, {**stored, "panel": panel, "entrance": "open"})
    assert recruiting_of(draft).entrance == "open"
    assert ("Anyone with the link can take a slot" in client.get(page).text) == (panel != "none")


@pytest.mark.parametrize(
    ("create", "entrance"),
    [
        (lambda study: create_links(study=study, n=2), "personal"),
        (lambda study: create_signed_links(study=study, text="anna"), "signed"),
        (lambda study: set_guests(study=study, text="anna"), "guest"),
    ],
)
def test_the_first_links_close_the_open_link_of_a_draft_and_of_no_other_study(create: Any, entrance: str) -> None:
    live = make_study(per_condition=6)
    create(live)
    assert recruiting_of(live).entrance == "open"
    draft = make_study(slug="draft", run=live.run, status="draft")
    create(draft)
    assert recruiting_of(draft).entrance == entrance
    set_panel(study=draft, panel="none", entrance="open")
    create(draft)
    assert recruiting_of(draft).entrance == "open"  # as it was chosen


def test_personal_links_beside_a_panel_leave_its_entrance() -> None:
    draft = make_study(status="draft")
    set_panel(study=draft, panel="generic")
    create_links(study=draft, n=1)
    assert recruiting_of(draft).entrance == "panel_id"
    with pytest.raises(ParallaxError, match="signed link"):
        set_panel(study=draft, panel="generic", entrance="interview")
