"""Duplicate a study: its design, questions and texts, without any data."""

from __future__ import annotations

import copy
from typing import Any

from django.db import transaction

from core.errors import ParallaxError
from studies.design.services.design import check_slug, new_draft
from studies.models import Recruiting, Study
from studies.models.study import new_assignment_seed
from studies.recruitment.panels.exits import NO_CODE, UNIQUE
from studies.recruitment.services.tokens import new_signing_key
from studies.settings import TRIAL


@transaction.atomic
def duplicate_study(*, study: Study, slug: str, title: str, actor: Any = None) -> Study:
    """Make a draft with the same design on the same models, owned by `actor`.

    Settings, questions, texts, conditions with their targets, the retention limits and how it recruits are copied;
    people, links, codes, counts, members, versions and the log are not. The seed of the assignment is drawn anew.
    Raises `study.bad_slug`, `study.slug_taken`, `study.no_title`.
    """
    check_slug(slug)
    if not title.strip():
        raise ParallaxError("study.no_title", "Give the new study a title.")
    conditions = list(study.conditions.order_by("position"))
    for condition in conditions:
        condition.pk = None  # stored anew, with the copy
    duplicate = new_draft(
        conditions,
        owner=actor,
        reason=f"Made as a copy of {study.slug}.",
        facts={"copy_of": study.pk, "design_hash": study.design_hash},
        slug=slug,
        title=title.strip(),
        template=study.template,
        template_version=study.template_version,
        dataset_version=study.dataset_version,
        run=study.run,
        seed=study.seed,
        assignment_seed=new_assignment_seed(),
        settings={key: copy.deepcopy(value) for key, value in study.settings.items() if key not in TRIAL},
        questionnaire=copy.deepcopy(study.questionnaire),
        texts=copy.deepcopy(study.texts),
        external_ids_kept_days=study.external_ids_kept_days,
        answers_kept_days=study.answers_kept_days,
    )
    _copy_recruiting(study, duplicate)
    return duplicate


def _copy_recruiting(study: Study, duplicate: Study) -> None:
    # Codes and addresses stay behind: they belong to the other study.
    for row in Recruiting.objects.filter(study=study):
        exits = {
            outcome: {
                "text": copy.deepcopy(exit_.get("text") or {}),
                **({"code": exit_["code"]} if exit_.get("code") in (UNIQUE, NO_CODE) else {}),
            }
            for outcome, exit_ in row.exits.items()
        }
        Recruiting.objects.create(
            study=duplicate,
            panel=row.panel,
            names=copy.deepcopy(row.names),
            entrance=row.entrance,
            signing_key=new_signing_key() if row.signing_key else "",
            exits=exits,
            longest_gap_minutes=row.longest_gap_minutes,
            most_per_network=row.most_per_network,
            pause_at=row.pause_at,
            progress_minutes=row.progress_minutes,
        )


def free_slug(slug: str) -> str:
    """A link for a copy that no study has yet: good-films-2, good-films-3, …"""
    stem = slug[:75].rstrip("-")
    existing = set(Study.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    number = 2
    while f"{stem}-{number}" in existing:
        number += 1
    return f"{stem}-{number}"
