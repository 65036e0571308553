"""Operations that change studies and their designs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from analysis.services.report_builder import build_report
from studies.design.services.archiving import archive_study
from studies.design.services.launch import close_study, pause_study
from studies.enums import Mode
from studies.models import Study
from studies.monitoring.services.blinding import open_outcomes
from tests.factories.studies import completed, make_study
from tests.parallax.api_writes.write import ROLES, Scene, Write, by_role


def _live(scene: Scene) -> Mapping[str, Any]:
    return {"slug": scene.study.slug}


def _paused(scene: Scene) -> Mapping[str, Any]:
    pause_study(study=Study.objects.get(pk=scene.study.pk))
    return _live(scene)


def _closed(scene: Scene) -> Mapping[str, Any]:
    close_study(study=Study.objects.get(pk=scene.study.pk))
    return _live(scene)


def _archived(scene: Scene) -> Mapping[str, Any]:
    parts = _paused(scene)
    archive_study(study=Study.objects.get(pk=scene.study.pk))
    return parts


def _draft(scene: Scene) -> Mapping[str, Any]:
    """A draft with the members of the scene in its study's place."""
    draft = make_study(slug="draft", status="draft", run=scene.study.run, owner=scene.owner)
    for role in ("analyst", "interviewer"):
        draft.memberships.create(researcher=scene.people[role], role=role)
    scene.study = draft
    return {"slug": draft.slug}


def _report(scene: Scene) -> Mapping[str, Any]:
    completed(scene.study, Mode.SIMULATED)
    return {"pk": build_report(study=scene.study, mode=Mode.SIMULATED).pk}


def _texts(scene: Scene) -> dict[str, Any]:
    lines = [f"{item.external_id},en,A film." for item in scene.study.dataset_version.items.all()]
    return {"file": SimpleUploadedFile("texts.csv", "\n".join(["item,language,text", *lines]).encode())}


def _opened(scene: Scene) -> Mapping[str, Any]:
    open_outcomes(study=scene.study, reason="A test.")
    return {}


WRITES = [
    Write(
        "study_create",
        "post",
        "studies-list",
        dict.fromkeys(ROLES, 201),  # the run is public
        lambda _scene: {},
        lambda scene: {"title": "New", "run": scene.study.run_id},
    ),
    Write(
        "study_change",
        "patch",
        "studies-detail",
        {**by_role(200), "analyst": 412, "interviewer": 412},  # what they read has their role, and so another state
        _draft,
        lambda _scene: {"title": "New"},
    ),
    Write("study_delete", "delete", "studies-detail", by_role(204), _draft),
    Write("study_launch", "post", "studies-launch", by_role(200), _draft),
    Write("study_pause", "post", "studies-pause", by_role(200), _live),
    Write("study_resume", "post", "studies-resume", by_role(200), _paused),
    Write("study_close", "post", "studies-close", by_role(200), _live),
    Write("study_reopen", "post", "studies-reopen", by_role(200), _closed, lambda _scene: {"reason": "More."}),
    Write("study_archive", "post", "studies-archive", by_role(200), _paused),
    Write("study_restore", "post", "studies-restore", by_role(200), _archived),
    Write(
        "study_duplicate",
        "post",
        "studies-duplicate",
        by_role(201, "owner analyst", forbidden="interviewer"),
        _live,
        lambda _scene: {"title": "Copy", "slug": "copy"},
    ),
    Write("study_simulate", "post", "studies-simulations", by_role(202), _live),
    Write("study_design_change", "patch", "designs-design", by_role(200), _draft, lambda _scene: {"per_condition": 3}),
    Write(
        "study_questionnaire_replace",
        "put",
        "designs-questionnaire",
        by_role(200),
        _draft,
        lambda scene: {"schema": 1, **scene.study.questionnaire},
    ),
    Write(
        "study_texts_change",
        "patch",
        "designs-texts",
        by_role(200),
        _draft,
        lambda _scene: {"texts": {"en": {"title": "New"}}},
    ),
    Write(
        "study_conditions_replace",
        "put",
        "designs-conditions",
        by_role(200),
        _draft,
        lambda scene: {
            "models": [*scene.study.conditions.order_by("-position").values_list("model_digest", flat=True)]
        },
    ),
    Write("study_explanations", "post", "designs-explanations", by_role(200), _draft, _texts, is_form=True),
    Write(
        "study_amend",
        "post",
        "designs-amendments",
        by_role(201),
        _live,
        lambda _scene: {"kind": "targets", "why": "More.", "targets": {"TopPop": 9}},
    ),
    Write(
        *("report_build", "post", "reports-list", by_role(202, "owner analyst", forbidden=""), _opened),
        lambda scene: {"study": scene.study.slug, "mode": "live"},
    ),
    Write("report_package", "post", "reports-package", by_role(202, "owner analyst", forbidden=""), _report),
    Write("report_bayesian", "post", "reports-bayesian", by_role(202, "owner analyst", forbidden=""), _report),
]
