"""The consent text under a number: kept at the launch, and again whenever it was changed."""

from __future__ import annotations

from typing import Any

from core.provenance import digest_of
from studies.design.selectors.consent import consent_texts, current_consent
from studies.models import ConsentVersion, Study


def store_consent(*, study: Study, actor: Any = None, why: str = "") -> ConsentVersion:
    """Store the study's consent text as its next version, or return the newest where it is the same.

    The caller holds the study's lock.
    """
    texts = consent_texts(study)
    digest = digest_of(texts)
    newest = current_consent(study)
    if newest is not None and newest.digest == digest:
        return newest
    number = 1 if newest is None else newest.number + 1
    return ConsentVersion.objects.create(study=study, number=number, texts=texts, digest=digest, made_by=actor, why=why)
