"""What belongs to a study, and what else uses its run and models: shown before it is archived or deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, ForeignObjectRel

from core.models import LogEntry
from evaluation.models import EvaluationRun, RunAlgorithm
from studies.enums import Mode
from studies.models import Condition, Study


@dataclass(frozen=True)
class Linked:
    """Rows of one kind that belong to a study, from whatever storey; `names` are the newest of them."""

    what: str
    n: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class ModelUse:
    """A condition's model, and how many other studies and runs use it."""

    label: str
    digest: str
    n_studies: int
    n_runs: int


@dataclass(frozen=True)
class Usage:
    """What uses a study and what it uses. `exported_at` is when its data were taken last."""

    people: tuple[tuple[str, int], ...]
    linked: tuple[Linked, ...]
    run: EvaluationRun
    run_studies: int
    models: tuple[ModelUse, ...]
    exported_at: datetime | None

    @property
    def n_people(self) -> int:
        return dict(self.people)[Mode.LIVE.label]


# Named one by one on the page, or of no interest to anybody who deletes a study.
APART = frozenset({"participant", "allocation", "condition", "studymembership", "notice"})
MOST_NAMED = 5


def has_people(study: Study) -> bool:
    """Whether people ever took part: their rows count also where nothing of them is left."""
    return study.participants.filter(mode=Mode.LIVE).exists()


def _linked(study: Study) -> tuple[Linked, ...]:
    relations = [relation for relation in Study._meta.get_fields() if isinstance(relation, ForeignObjectRel)]
    linked = []
    for rows in (
        study.jobs.all(),
        *(each.related_model._default_manager.filter(**{each.field.name: study}) for each in relations),
    ):
        meta = rows.model._meta
        if meta.model_name not in APART and (n := rows.count()):
            names = tuple(str(row) for row in rows.order_by("-pk")[:MOST_NAMED])
            linked.append(Linked(str(meta.verbose_name if n == 1 else meta.verbose_name_plural), n, names))
    return tuple(sorted(linked, key=lambda rows: rows.what))


def usage_of(study: Study) -> Usage:
    """Count everything that would go with the study, and what of its run and models is used elsewhere."""
    counted = dict(study.participants.order_by().values_list("mode").annotate(n=Count("pk")))
    models = []
    for condition in study.conditions.select_related("model").order_by("position"):
        other_conditions = Condition.objects.filter(model=condition.model_id).exclude(study=study)
        models.append(
            ModelUse(
                condition.label,
                condition.model_digest,
                other_conditions.values("study").distinct().count(),
                RunAlgorithm.objects.filter(model=condition.model_id).exclude(run=study.run_id).count(),
            )
        )
    exports = LogEntry.objects.filter(kind="studies.study", object_id=study.pk, facts__act="exported").order_by("-at")
    return Usage(
        people=tuple((mode.label, counted.get(mode.value, 0)) for mode in Mode),
        linked=_linked(study),
        run=study.run,
        run_studies=Study.objects.filter(run=study.run_id).exclude(pk=study.pk).count(),
        models=tuple(models),
        exported_at=exports.values_list("at", flat=True).first(),
    )
