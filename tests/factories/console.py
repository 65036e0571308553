"""Every address of the console: who may see it, and how tests ask for it."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from accounts.models import User
from core.provenance import digest_of
from jobs.models import JobStatus
from studies.design.services.launch import design_snapshot
from studies.enums import READERS, Mode, Role
from studies.models import Interview, PersonalLink, Study, StudyMembership
from studies.team.permissions import ANY_ROLE, OWNERS, STARTERS
from studies.team.services.members import invite_to_study
from tests.factories.studies import enter

OF_ITS_OWNER = "starting"  # the wait for a study that is not there yet (test_new_study)
OPEN_TO_ANY_RESEARCHER = {"list", "new", "notices", "notice-count", "notice-read", "notice-mail"}
OF_ITS_OWNER = "starting"  # only who requested a study sees how far it is: test_new_study
POSTED = {
    "launch",
    "pause",
    "resume",
    "close",
    "member-add",
    "member-invite",
    "invitation-revoke",
    "member-remove",
    "exclude",
    "include",
    "open-outcomes",
    "retention",
    "set-entry",
    "set-exit",
    "reopen",
    "make-links",
    "close-links",
    "set-guests",
    "create-signed-links",
    "questionnaire-undo",
    "question-draft",
    "question-add",
    "set-places",
    "evaluator-add",
    "evaluator-delete",
    "question-act",
    "scale-act",
    "block-add",
    "archive",
    "restore",
    "notice-read",
    "notice-mail",
}
ROLES_OF = {
    "detail": ANY_ROLE,
    "live": READERS,
    "dataset": READERS,
    "conditions": READERS,
    "flow": READERS,
    "texts": READERS,
    "texts-preview": READERS,
    "sample": READERS,
    "plan": READERS,
    "design-file": READERS,
    "power": READERS,
    "imbalance": READERS,
    "estimate": READERS,
    "preregistration": READERS,
    "simulate": OWNERS,
    "simulation": READERS,
    "preview": READERS,
    "lists": READERS,
    "consent": READERS,
    "versions": READERS,
    "duplicate": READERS,
    "archive": OWNERS,
    "restore": OWNERS,
    "delete": OWNERS,
    "launch": READERS,
    "pause": OWNERS,
    "resume": OWNERS,
    "close": OWNERS,
    "take-over": frozenset(),  # an administrator, where there is no owner: test_ownerless.py
    "settings": READERS,
    "members": OWNERS,
    "member-add": OWNERS,
    "member-invite": OWNERS,
    "invitation-revoke": OWNERS,
    "member-remove": OWNERS,
    "export": READERS,
    "export-chosen": READERS,
    "export-file": READERS,
    "data-live": READERS,
    "quality": READERS,
    "exclude": OWNERS,
    "include": OWNERS,
    "open-outcomes": OWNERS,
    "retention": OWNERS,
    "withdraw": OWNERS,
    "participants": OWNERS,
    "recruiting": OWNERS,
    "set-entry": OWNERS,
    "set-exit": OWNERS,
    "reopen": OWNERS,
    "make-links": OWNERS,
    "close-links": OWNERS,
    "set-guests": OWNERS,
    "create-signed-links": OWNERS,
    "submissions": OWNERS,
    "approvals-file": OWNERS,
    "interview": STARTERS,
    "session": STARTERS,
    "interviewers": OWNERS,
    "set-places": OWNERS,
    "evaluator-add": OWNERS,
    "evaluator-delete": OWNERS,
    "questionnaire": READERS,
    "questionnaire-file": READERS,
    "questionnaire-preview": READERS,
    "questionnaire-import": OWNERS,
    "explanations": OWNERS,
    "questionnaire-undo": OWNERS,
    "questionnaire-translations": READERS,
    "scale-library": READERS,
    "question-draft": OWNERS,
    "question-add": OWNERS,
    "question-act": OWNERS,
    "scale-act": OWNERS,
    "block-add": OWNERS,
}
EXTRA: dict[str, dict[str, Any]] = {
    **{name: {"pk": 1} for name in ("member-remove", "export-file", "exclude", "include")},
    "export": {"kind": "long"},
    "preregistration": {"form": "osf"},
    "set-exit": {"outcome": "complete"},
    "questionnaire-preview": {"block": "overall"},
    "question-draft": {"block": "overall", "kind": "text"},
    "evaluator-delete": {"key": "comment"},
    "question-act": {"key": "comment"},
}


def signed_in(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def owner_of(study: Study) -> Client:
    return signed_in(study.memberships.get(role=Role.OWNER).researcher)


def console_url(name: str, study: Study, **kwargs: Any) -> str:
    return reverse(f"studies:{name}", kwargs={"slug": study.slug, **kwargs})


def _session(study: Study) -> Interview:
    membership = study.memberships.filter(role=Role.INTERVIEWER).first() or study.memberships.get()
    interviewer = membership.researcher
    link = PersonalLink.objects.create(study=study, digest=secrets.token_hex(32), made_by=interviewer)
    return Interview.objects.create(study=study, link=link, interviewer=interviewer, number=1)


def ask(client: Client, name: str, study: Study) -> Any:
    extra = dict(EXTRA.get(name, {}))
    if name == "member-remove":
        extra = {"pk": StudyMembership.objects.get(study=study, role=Role.INTERVIEWER).pk}
    if name in ("exclude", "include"):
        extra = {"pk": enter(study, Mode.PREVIEW).participant.pk}
    if name == "export-file":
        file = default_storage.save("exports/test.zip", ContentFile(b"PK"))
        job = study.jobs.create(
            kind="export", status=JobStatus.SUCCEEDED, file=file, payload={"format": "long", "options": {}}
        )
        extra = {"pk": job.pk}
    if name == "simulation":
        extra = {"pk": study.jobs.create(kind="simulation", payload={"per_condition": 1, "seed": 1}).pk}
    if name == "session":
        extra = {"pk": _session(study).pk}
    if name == "invitation-revoke":
        owner = study.memberships.filter(role=Role.OWNER).first().researcher
        extra = {"pk": invite_to_study(study=study, role=Role.ANALYST, actor=owner)[0].pk}
    call = client.post if name in POSTED else client.get
    asked = {"format": "wide"} if name == "export-chosen" else {}
    if name == "launch":
        asked = {"design": digest_of(design_snapshot(study))}
    return call(console_url(name, study, **extra), asked)
