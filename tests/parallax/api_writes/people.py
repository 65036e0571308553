"""Operations that change members, participants and what is recorded of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from studies.enums import Role
from studies.monitoring.services.exclusions import exclude
from studies.team.services.members import invite_to_study
from tests.factories.accounts import UserFactory
from tests.parallax.api_writes.write import Scene, Write, by_role

DATA = frozenset({"write", "data"})


def _study(scene: Scene, **more: Any) -> dict[str, Any]:
    return {"slug": scene.study.slug, **more}


def _exit(scene: Scene) -> dict[str, Any]:
    return _study(scene, outcome="quota_full")


def _interviewer(scene: Scene) -> dict[str, Any]:
    return _study(scene, pk=scene.study.memberships.get(role=Role.INTERVIEWER).pk)


def _invitation(scene: Scene) -> dict[str, Any]:
    invitation, _key = invite_to_study(study=scene.study, role=Role.ANALYST, actor=scene.owner)
    return _study(scene, pk=invitation.pk)


def _participant(scene: Scene) -> dict[str, Any]:
    return _study(scene, code=scene.study.participants.earliest("pk").code)


def _excluded(scene: Scene) -> dict[str, Any]:
    exclude(participant=scene.study.participants.earliest("pk"), reason="Too fast.", actor=scene.owner)
    return _participant(scene)


def _always(body: Mapping[str, Any]) -> Callable[[Scene], Mapping[str, Any]]:
    return lambda _scene: body


BECAUSE = _always({"reason": "They asked for it."})
WRITES: list[Write] = [
    Write(
        *("study_withdraw", "post", "studies-withdrawals", by_role(200), _study),
        lambda scene: {"participant": scene.study.participants.earliest("pk").code, "reason": "Asked by e-mail."},
        needs=DATA,
    ),
    Write(
        "study_export",
        "post",
        "studies-data-exports",
        by_role(202, "owner analyst", forbidden="interviewer"),
        _study,
        _always({"format": "pages"}),
        needs=DATA,
    ),
    Write("study_open_outcomes", "post", "studies-data-open-outcomes", by_role(200), _study, BECAUSE, needs=DATA),
    Write(
        "study_retention_change",
        "patch",
        "studies-data-retention",
        by_role(200),
        _study,
        _always({"external_ids_days": 30}),
    ),
    Write("study_exclude", "post", "studies-participants-exclude", by_role(200), _participant, BECAUSE, needs=DATA),
    Write(
        "study_undo_exclusion",
        "post",
        "studies-participants-undo-exclusion",
        by_role(200),
        _excluded,
        BECAUSE,
        needs=DATA,
    ),
    Write(
        "study_member_add",
        "post",
        "studies-members-list",
        by_role(201),
        _study,
        lambda _scene: {"email": UserFactory().email, "role": "analyst"},
    ),
    Write(
        "study_member_change",
        "patch",
        "studies-members-detail",
        by_role(200),
        _interviewer,
        _always({"role": "analyst"}),
    ),
    Write("study_member_remove", "delete", "studies-members-detail", by_role(204), _interviewer),
    Write(
        "study_invite",
        "post",
        "studies-invitations-list",
        by_role(201),
        _study,
        _always({"email": "new@example.org", "role": "analyst"}),
    ),
    Write("study_invitation_revoke", "delete", "studies-invitations-detail", by_role(204), _invitation),
    Write(
        "study_panel_change",
        "patch",
        "studies-recruiting-panel",
        by_role(200),
        _study,
        _always({"entrance": "personal", "pause_at": 50}),
    ),
    Write(
        "study_exit_set",
        "put",
        "studies-recruiting-exits",
        by_role(200),
        _exit,
        _always({"code": "static", "static_code": "FULL", "url": "https://panel.example/?cc={code}"}),
    ),
    Write(
        "study_links_create", "post", "studies-recruiting-links", by_role(201), _study, _always({"n": 2}), needs=DATA
    ),
    Write("study_links_close", "delete", "studies-recruiting-links", by_role(204), _study),
    Write(
        "study_links_sign",
        "post",
        "studies-recruiting-sign",
        by_role(201),
        _study,
        _always({"text": "anna"}),
        needs=DATA,
    ),
    Write(
        "study_guests_set",
        "put",
        "studies-recruiting-guests",
        by_role(200),
        _study,
        _always({"text": "anna"}),
        needs=DATA,
    ),
    Write(
        "study_submissions_load",
        "post",
        "studies-recruiting-submissions",
        by_role(200),
        _study,
        lambda _scene: {"file": SimpleUploadedFile("list.csv", b"id\nanna\n"), "person": "id"},
        is_form=True,
        needs=DATA,
    ),
    Write(
        "study_places_set",
        "put",
        "studies-recruiting-places",
        by_role(200),
        _study,
        _always({"lines": "lab = Laboratory"}),
    ),
]
