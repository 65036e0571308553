"""What belongs to a study, and what else uses its run and models: shown before it is deleted."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, ForeignObjectRel

from core.models import LogEntry
from evaluation.models import RunAlgorithm
from studies.enums import Mode
from studies.models import Condition, Study

# Named one by one on the page, or of no interest to anybody who deletes a study.
APART = frozenset({"participant", "allocation", "condition", "studymembership", "notice"})
MOST_NAMED = 5


def usage_of(study: Study) -> dict[str, Any]:
    """Everything that would go with the study, and what of its run and models is used elsewhere, for the page."""
    counted = dict(study.participants.order_by().values_list("mode").annotate(n=Count("pk")))
    models = [
        {
            "label": condition.label,
            "digest": condition.model_digest,
            "n_studies": Condition.objects.filter(model=condition.model_id)
            .exclude(study=study)
            .values("study")
            .distinct()
            .count(),
            "n_runs": RunAlgorithm.objects.filter(model=condition.model_id).exclude(run=study.run_id).count(),
        }
        for condition in study.conditions.order_by("position")
    ]
    exports = LogEntry.objects.filter(kind="studies.study", object_id=study.pk, facts__act="exported").order_by("-at")
    return {
        "people": [(mode.label, counted.get(mode.value, 0)) for mode in Mode],
        "n_people": counted.get(Mode.LIVE, 0),
        "linked": _linked(study),
        "run": study.run,
        "run_studies": Study.objects.filter(run=study.run_id).exclude(pk=study.pk).count(),
        "models": models,
        "exported_at": exports.values_list("at", flat=True).first(),
    }


def _linked(study: Study) -> list[dict[str, Any]]:
    """Rows that belong to the study, from whatever storey, by their kind: how many, and the newest by name."""
    relations = [relation for relation in Study._meta.get_fields() if isinstance(relation, ForeignObjectRel)]
    linked = []
    for rows in (
        study.jobs.all(),
        *(each.related_model._default_manager.filter(**{each.field.name: study}) for each in relations),
    ):
        meta = rows.model._meta
        if meta.model_name not in APART and (n := rows.count()):
            what = str(meta.verbose_name if n == 1 else meta.verbose_name_plural)
            linked.append({"what": what, "n": n, "names": [str(row) for row in rows.order_by("-pk")[:MOST_NAMED]]})
    return sorted(linked, key=lambda rows: str(rows["what"]))
