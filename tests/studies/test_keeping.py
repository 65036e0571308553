"""Studies copied, archived, restored and deleted: what goes along, what stays, and what each page says before."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from evaluation.models import EvaluationRun, TrainedModel
from jobs.models import JobStatus
from studies.allocation.selectors.assignment_seed import seed_commitment
from studies.design.services.archiving import archive_study, delete_study, restore_study
from studies.design.services.design import change_design
from studies.design.services.duplicating import duplicate_study, free_slug
from studies.design.services.launch import close_study, design_snapshot, launch_study, pause_study, resume_study
from studies.enums import Mode, Role
from studies.models import Allocation, Condition, Participant, Response, Study
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.studies import completed, enter, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _owner(study: Study) -> Client:
    client = Client()
    owner = study.memberships.get(role=Role.OWNER).researcher
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _url(name: str, study: Study) -> str:
    return reverse(f"studies:{name}", args=[study.slug])


def _refused(code: str, act: Any, **facts: Any) -> None:
    with pytest.raises((ParallaxError, NotAllowedInState)) as refusal:
        act(**facts)
    assert refusal.value.code == code


def test_a_copy_has_the_design_and_nobodys_data() -> None:
    study = make_study(per_condition=3, settings={"idle_minutes": 45, "quality": {"fastest_seconds": 90}})
    add_member(study=study, email=UserFactory().email, role=Role.ANALYST)
    Study.objects.filter(pk=study.pk).update(answers_kept_days=30, n_opened=7)
    study.refresh_from_db()
    completed(study)
    me = UserFactory()
    made = duplicate_study(study=study, slug="second", title="Second", actor=me)
    made.refresh_from_db()
    before, after = design_snapshot(study), design_snapshot(made)
    assert after.pop("assignment_seed_sha256") == seed_commitment(made)
    assert after == before
    assert list(made.conditions.values_list("model", flat=True)) == list(
        study.conditions.values_list("model", flat=True)
    )
    assert (made.status, made.design_hash, made.n_opened, made.answers_kept_days) == ("draft", "", 0, 30)
    assert made.export_salt != study.export_salt
    assert [(one.researcher, one.role) for one in made.memberships.all()] == [(me, Role.OWNER)]
    assert not any((made.participants.count(), made.allocations.count(), made.versions.count()))
    made.settings["idle_minutes"] = 5
    assert study.settings["idle_minutes"] == 45
    launch_study(study=made)
    frozen = study.versions.get().snapshot
    assert made.versions.get().snapshot == {**frozen, "assignment_seed_sha256": seed_commitment(made)}


def test_a_copy_needs_a_link_and_a_title_of_its_own() -> None:
    study = make_study()
    facts = {"study": study, "title": "Second"}
    _refused("study.slug_taken", duplicate_study, slug=study.slug, **facts)
    _refused("study.bad_slug", duplicate_study, slug="notices", **facts)
    _refused("study.no_title", duplicate_study, study=study, slug="second", title="  ")
    assert free_slug(study.slug) == "good-films-2"
    duplicate_study(slug="good-films-2", **facts)
    assert free_slug(study.slug) == "good-films-3"


def test_the_page_asks_for_both_and_leads_to_the_copy() -> None:
    study = make_study()
    client = _owner(study)
    form = client.get(_url("duplicate", study)).context["form"]
    assert form.initial == {"title": f"{study.title} (copy)", "slug": "good-films-2"}
    taken = client.post(_url("duplicate", study), {"title": "x", "slug": study.slug}).content.decode()
    assert "There is a study called good-films already." in taken
    response = client.post(_url("duplicate", study), {"title": "Mine", "slug": "mine"}, follow=True)
    assert response.redirect_chain[-1][0] == reverse("studies:detail", args=["mine"])
    assert "without participants or answers" in response.content.decode()


def test_an_archived_study_is_out_of_the_list_and_only_read_until_it_is_restored() -> None:
    study = make_study(status="paused")
    client = _owner(study)
    client.post(_url("archive", study))
    study.refresh_from_db()
    page = client.get(reverse("studies:list")).content.decode()
    assert "Archived studies (1)" in page
    assert page.index("<summary>Archived") < page.index(_url("detail", study))
    page = client.get(_url("detail", study)).content.decode()
    assert "Archived on" in page
    for name in ("pause", "resume", "close", "launch", "retention", "archive"):
        assert f'action="{_url(name, study)}"' not in page
    for name in ("resume", "close", "retention", "member-add"):
        said = client.post(_url(name, study), {"answers_days": 3}, follow=True).content.decode()
        assert "This study is archived and can only be read." in said
    for act in (resume_study, pause_study, close_study, launch_study):
        _refused("study.archived", act, study=study)
    study.refresh_from_db()
    assert (study.status, study.answers_kept_days) == ("paused", None)
    client.post(_url("restore", study))
    study.refresh_from_db()
    assert study.archived_at is None
    client.post(_url("resume", study))
    study.refresh_from_db()
    assert study.status == "live"
    reasons = LogEntry.objects.filter(kind="studies.study", object_id=study.pk).values_list("reason", flat=True)
    assert {"Archived.", "Restored from the archive."} <= set(reasons)


def test_a_live_study_is_not_archived_and_archiving_twice_is_once() -> None:
    study = make_study()
    _refused("study.live_not_archived", archive_study, study=study)
    page = _owner(study).post(_url("archive", study), follow=True).content.decode()
    assert "Pause or close it before you archive it." in page
    close_study(study=study)
    first = archive_study(study=study).archived_at
    assert archive_study(study=study).archived_at == first
    restore_study(study=study)
    restore_study(study=study)
    assert LogEntry.objects.filter(object_id=study.pk, reason__startswith="Restored").count() == 1


def test_an_archived_drafts_design_is_not_changed_and_nobody_previews_it() -> None:
    study = make_study(status="draft")
    archive_study(study=study)
    _refused("study.archived", change_design, study=study, title="x")
    _refused("study.not_open", enter, study=study, mode=Mode.PREVIEW)


def test_a_draft_with_previews_is_deleted_wholly_and_its_models_stay() -> None:
    study = make_study(status="draft")
    completed(study, Mode.PREVIEW)
    models = TrainedModel.objects.count()
    client = _owner(study)
    page = client.get(_url("delete", study)).content.decode()
    assert "Export your data first" not in page
    assert 'name="typed"' not in page
    response = client.post(_url("delete", study), follow=True)
    assert "is deleted." in response.content.decode()
    assert not any(model.objects.exists() for model in (Study, Participant, Response, Allocation, Condition))
    assert (TrainedModel.objects.count(), EvaluationRun.objects.count()) == (models, 1)
    assert Client().get(f"/s/{study.slug}/").status_code == 404


def test_a_simulated_study_is_deleted_without_typing_but_not_while_it_is_live() -> None:
    study = make_study()
    completed(study, Mode.SIMULATED)
    page = _owner(study).get(_url("delete", study)).content.decode()
    assert "Pause or close it first." in page
    assert "Delete the study permanently" not in page
    _refused("study.live_not_deleted", delete_study, study=study)
    pause_study(study=study)
    delete_study(study=study)
    assert not Study.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_peoples_data_go_only_by_the_slug_typed_after_exports_were_offered() -> None:
    study = make_study()
    other = duplicate_study(study=study, slug="other", title="Other")
    completed(study)
    file = default_storage.save("exports/test.zip", ContentFile(b"PK"))
    study.jobs.create(kind="export", status=JobStatus.SUCCEEDED, file=file)
    close_study(study=study)
    client = _owner(study)
    page = client.get(_url("delete", study)).content.decode()
    assert "The data were never exported." in page
    assert "1 person took part." in page
    assert "which 1 other study uses" in page
    assert "1 job" in page
    b"".join(client.get(_url("export-chosen", study), {"format": "wide"}).streaming_content)
    assert "The data were last exported on" in client.get(_url("delete", study)).content.decode()
    for typed in ("", "other", study.title):
        said = client.post(_url("delete", study), {"typed": typed}).content.decode()
        assert "type the end of its link: good-films" in said
    assert Response.objects.exists()
    client.post(_url("delete", study), {"typed": f" {study.slug} "})
    assert list(Study.objects.all()) == [other]
    assert not Participant.objects.exists()
    assert not default_storage.exists(file)
    kept = LogEntry.objects.get(to_status="deleted")
    assert (kept.facts["slug"], kept.facts["participants"]) == ("good-films", 1)
