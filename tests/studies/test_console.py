"""The console's study pages: what they show and do, and who may see them."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from django.urls import reverse

from accounts.models import User
from studies.design.services.launch import close_study
from studies.enums import Mode, Role
from studies.monitoring.selectors import monitor
from studies.participation.services.consenting import decline
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.console import ask, console_url, owner_of, signed_in
from tests.factories.evaluation import make_run_at
from tests.factories.studies import assigned, completed, enter, make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.mark.parametrize("n", [1, 3])
def test_the_list_shows_my_studies_alone_under_one_number_of_queries(n: int, django_assert_num_queries: Any) -> None:
    me = UserFactory()
    run = make_run_at("succeeded")
    for number in range(n):
        study = make_study(slug=f"mine-{number}", run=run, owner=me, per_condition=2)
        completed(study)
    make_study(slug="theirs", run=run)
    client = signed_in(me)
    with django_assert_num_queries(3):
        response = client.get(reverse("studies:list"))
    page = response.content.decode()
    assert re.findall(r"/studies/(mine-\d|theirs)/", page) == [f"mine-{i}" for i in reversed(range(n))]
    assert len(re.findall(r'data-label="Completed">1</td>\s*<td class="n" data-label="Target">4</td>', page)) == n


def test_a_draft_is_changed_by_its_stages_and_not_after_the_launch() -> None:
    study = make_study(status="draft")
    client = owner_of(study)

    def posted(name: str, **changes: Any) -> Any:
        initial = client.get(console_url(name, study)).context["form"].initial
        return client.post(console_url(name, study), {**initial, **changes})

    assert posted("dataset", title="Changed").url == console_url("dataset", study)
    assert posted("texts", consent_it="Partecipi?\r\nDavvero?").status_code == 302
    assert posted("sample", oldest=65, next="1").url == console_url("plan", study)
    study.refresh_from_db()
    assert (study.title, study.texts["it"]["consent"]) == ("Changed", "Partecipi?\nDavvero?")
    assert "At least 66, the youngest age." in posted("sample", youngest=66).content.decode()
    ask(client, "launch", study)
    assert "Not saved" in client.post(console_url("dataset", study), {"title": "Too late"}, follow=True).text
    study.refresh_from_db()
    assert (study.status, study.title) == ("live", "Changed")


def test_the_page_of_a_study_shows_its_life_and_its_buttons_work() -> None:
    study = make_study(status="draft")
    client = owner_of(study)
    page = client.get(console_url("detail", study)).content.decode()
    assert console_url("launch", study) in page
    assert "TopPop" in client.get(console_url("conditions", study)).content.decode()
    assert f"/s/{study.slug}/" not in page
    page = client.get(ask(client, "launch", study).url).content.decode()
    study.refresh_from_db()
    design = client.get(console_url("launch", study)).content.decode()
    assert study.design_hash in design.replace("<wbr>", "")
    assert f"http://testserver/s/{study.slug}/" in page
    for name, status in (("pause", "paused"), ("resume", "live"), ("close", "closed")):
        client.post(console_url(name, study))
        study.refresh_from_db()
        assert study.status == status
    page = client.post(console_url("pause", study), follow=True).content.decode()
    assert "is closed and cannot become paused" in page


def test_a_launch_that_fails_lists_every_problem() -> None:
    study = make_study(status="draft")
    study.conditions.update(target=0)
    client = owner_of(study)
    page = client.get(ask(client, "launch", study).url).content.decode()
    assert page.count("needs a target of at least one participant.") == 2


def test_the_consent_text_is_rendered_without_what_could_harm() -> None:
    study = make_study(status="draft")
    study.texts["en"]["consent"] = "**Yes** <script>alert(1)</script> [x](javascript:alert(1))"
    study.save()
    page = owner_of(study).get(console_url("texts-preview", study)).content.decode()
    assert "<strong>Yes</strong>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page


def test_the_live_part_counts_by_condition_and_step_without_outcomes() -> None:
    study = make_study(per_condition=2)
    decline(study=study, entry_key="k" * 40)
    done = completed(study)
    under_way = rated(study, gender="man")
    assigned(study, age=80)
    enter(study)
    counts = monitor.counts_by_condition(study, Mode.LIVE)
    assert sum(line.completed for line in counts) == 1
    assert sum(line.active for line in counts) == 1
    assert sum(line.started for line in counts) == 2
    assert [n for _step, n in monitor.funnel(study, Mode.LIVE)] == [4, 2, 2, 1, 1, 1]
    page = owner_of(study).get(console_url("live", study), headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 4s"' in page
    assert '<td>Declined</td><td class="n">1</td>' in page
    assert done.code in page
    assert under_way.code in page
    data = owner_of(study).get(console_url("data-live", study), headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 4s"' in data
    assert "women, 20-34" in data
    for outcome in ("accuracy", "novel", "mean", "<th>answer</th>", "=1+1, fine"):
        assert outcome not in (page + data).lower()


def test_the_live_part_stops_asking_once_the_study_is_closed() -> None:
    study = make_study(status="closed")
    assert (
        "hx-trigger"
        not in owner_of(study).get(console_url("live", study), headers={"HX-Request": "true"}).content.decode()
    )


def test_simulated_participants_and_previews_stand_apart() -> None:
    study = make_study()
    assigned(study, Mode.SIMULATED)
    assigned(study, Mode.PREVIEW)
    context = owner_of(study).get(console_url("live", study), headers={"HX-Request": "true"}).context
    assert [part["mode"] for part in context["monitored"]] == ["live", "simulated", "preview"]
    assert [sum(line.active for line in part["counts"]) for part in context["monitored"]] == [0, 1, 1]
    assert context["monitored"][2]["counts"][0].target is None


def test_the_target_of_simulated_participants_is_their_own() -> None:
    study = make_study(settings={"simulated_per_condition": 9})
    assigned(study, Mode.SIMULATED)
    assert {line.target for line in monitor.counts_by_condition(study, Mode.SIMULATED)} == {9}
    assert {line.target for line in monitor.counts_by_condition(study, Mode.LIVE)} == {2}


def test_an_interviewer_sees_how_to_start_a_session_and_nothing_else() -> None:
    study = make_study()
    completed(study)
    add_member(study=study, email=UserFactory(email="i@example.org").email, role=Role.INTERVIEWER)
    client = signed_in(User.objects.get(email="i@example.org"))
    page = client.get(console_url("detail", study)).content.decode()
    assert console_url("interview", study) in page
    for hidden in ("TopPop", "Export", study.design_hash[:16], "Completed", "export"):
        assert hidden not in page
    assert 'data-label="Completed">–</td>' in client.get(reverse("studies:list")).content.decode()


def test_an_export_is_an_archive_that_says_what_it_holds() -> None:
    study = make_study()
    completed(study)
    close_study(study=study)
    response = owner_of(study).get(console_url("export", study, kind="long"))
    assert response["Content-Type"] == "application/zip"
    assert "no-store" in response["Cache-Control"]
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as archive:
        assert "study-good-films_long_data.csv" in archive.namelist()
        assert archive.read("study-good-films_long_data.csv").count(b"\n") == 6
    assert owner_of(study).get(console_url("export", study, kind="xlsx")).status_code == 404


def test_an_export_of_simulated_data_has_to_be_asked_for() -> None:
    study = make_study()
    completed(study, Mode.SIMULATED)
    client = owner_of(study)
    page = client.get(console_url("export", study, kind="wide"), follow=True).content.decode()
    assert "simulated participants only" in page
    response = client.get(console_url("export", study, kind="wide"), {"include_simulated": "on"})
    assert response["Content-Type"] == "application/zip"
    assert b"".join(response.streaming_content)[:2] == b"PK"


def test_the_preview_leads_to_pages_that_are_marked() -> None:
    study = make_study(status="draft")
    response = owner_of(study).get(console_url("preview", study))
    assert response.url.startswith(f"/s/{study.slug}/?")
    study.refresh_from_db()
    assert not study.participants.exists()


def test_the_design_file_is_what_was_frozen() -> None:
    study = make_study()
    body = owner_of(study).get(console_url("design-file", study)).json()
    version = study.versions.get()
    assert body == {"design_hash": version.design_hash, "design": version.snapshot}


def test_members_are_added_and_removed_from_their_page() -> None:
    study = make_study()
    client = owner_of(study)
    analyst = UserFactory()
    client.post(console_url("member-add", study), {"email": analyst.email, "role": "analyst"})
    assert study.memberships.get(researcher=analyst).role == Role.ANALYST
    page = client.get(console_url("members", study)).content.decode()
    assert analyst.email in page
    mine = study.memberships.get(role=Role.OWNER)
    page = client.post(console_url("member-remove", study, pk=mine.pk), follow=True).content.decode()
    assert "A study needs an owner" in page
    client.post(console_url("member-add", study), {"email": analyst.email, "role": "owner"})
    assert client.post(console_url("member-remove", study, pk=mine.pk)).url == reverse("studies:list")
    assert client.get(console_url("detail", study)).status_code == 404
    bad = signed_in(analyst).post(console_url("member-add", study), {"email": "?"}, follow=True).content.decode()
    assert "Enter the address of an account" in bad
