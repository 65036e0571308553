"""Stored uploads: the arrays that an uploaded algorithm reads, and what they were learned from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from catalog.models import DatasetVersion
from catalog.selectors.item_fields import field_of
from core import artefacts
from core.errors import ArtefactError, ParameterError
from core.provenance import digest_of
from evaluation.models import EvaluationRun
from evaluation.splitting.registry import STRANGERS
from jobs.models import Job
from recommenders import registry
from recommenders.reranking import BAR

KIND = "uploads"
MODELS, SCORES, COLLECTED = "model-upload", "scores-upload", "lists-collection"  # kinds of jobs
TEXT = "text_"  # and a language: an array with a text for each row of uploaded lists
_DIGEST = re.compile(r"[0-9a-f]{64}")


def uploads_of(researcher: Any) -> QuerySet[Job]:
    """The researcher's own uploads of models, and collections of lists, on the datasets that they see, newest first."""
    jobs = Job.objects.filter(kind__in=(MODELS, COLLECTED), owner=researcher)
    return jobs.about(DatasetVersion.objects.visible_to(researcher)).prefetch_related("subject__dataset")


def score_uploads_of(researcher: Any, run: EvaluationRun) -> QuerySet[Job]:
    """The researcher's own uploads of scores for a run, newest first."""
    jobs: QuerySet[Job] = run.jobs.filter(kind=SCORES, owner=researcher).order_by("-pk")
    return jobs


def catalogue_of(version: DatasetVersion) -> str:
    """Return the hash of the ids of a version's items, in order; an upload belongs to one such catalogue."""
    return digest_of(field_of(version, "ids"))


def opened_upload(version: DatasetVersion, algorithm: str, params: Mapping[str, Any]) -> artefacts.Artefact:
    """Load the upload that parameters name. Raises ParameterError: there is none, it is another kind of upload, or one
    of another catalogue or project.
    """
    kind, digest = registry.algorithm(algorithm), str(params.get("upload", ""))
    refused = f"{kind.name} ({kind.key}): upload={digest or '(none)'}"
    if not _DIGEST.fullmatch(digest):
        raise ParameterError(f"{refused} is not the digest of an upload; the command upload_model prints it.")
    try:
        upload = artefacts.load(KIND, digest)
    except ArtefactError as missing:
        raise ParameterError(f"{refused} cannot be read. {missing}") from missing
    if upload.meta["kind"] != algorithm.partition(BAR)[0]:
        raise ParameterError(f"{refused} is an upload of kind {upload.meta['kind']}.")
    if upload.meta["catalogue"] != catalogue_of(version) or upload.meta.get("project") != version.dataset.project_id:
        raise ParameterError(f"{refused} was matched to the items of another dataset. Upload the file for {version}.")
    return upload


def leak_warning(
    algorithm: str, params: Mapping[str, Any], label: str, training_digests: set[str], split: Mapping[str, Any]
) -> str:
    """A sentence on a model that was learned elsewhere, unless its upload names the only training rows of a run, or
    states that the test users of splits by user were unseen, and the split of the run is one.
    """
    if registry.algorithm(algorithm).is_fitted:
        return ""
    meta = artefacts.load(KIND, params["upload"]).meta
    if training_digests == {meta["learned_from"]} or (meta.get("are_strangers_unseen") and split["name"] == STRANGERS):
        return ""
    return f"{label} may have seen the test ratings: its upload does not name the training rows of this run."
