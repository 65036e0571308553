"""The conditions of a draft: any of the models that runs on its dataset version measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from core.errors import ParallaxError, ParameterError
from core.transitions import record
from studies.design.selectors.available_models import AvailableModel, available_models, run_with
from studies.design.services.archiving import refuse_archived
from studies.design.services.design import require_draft, with_block_weights
from studies.design.services.trials import drop_trial
from studies.models import Allocation, Condition, Participant, Study

FEWEST = 2


@transaction.atomic
def choose_conditions(*, study: Study, digests: Sequence[str], actor: Any = None) -> Study:
    """Give a draft the conditions with these models, by digest, in their order; logged.

    A condition that stays keeps its label and target; a new one has the most frequent target, and its run's number
    behind its label where another condition has that label. The study's run becomes one that measured all of the
    models, if there is one; otherwise it stays, and the launch names what is missing. Simulated participants, and
    previews of conditions that are gone, are removed.

    Raises `studies.not_draft`, `study.archived`, `study.bad_conditions`.
    """
    current = Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    refuse_archived(current)
    require_draft(current)
    models = _chosen(current, digests, actor)
    before = list(current.conditions.order_by("position"))
    if [condition.model_digest for condition in before] == list(models):
        return current
    drop_trial(study=current, actor=actor)
    gone = [condition for condition in before if condition.model_digest not in models]
    Participant.objects.filter(condition__in=gone).delete()
    Allocation.objects.filter(condition__in=gone).delete()
    _store(current, {condition.model_digest: condition for condition in before}, models)
    labels = list(current.conditions.order_by("position").values_list("label", flat=True))
    try:
        if contrast := current.design.primary.contrast:
            contrast.check(labels)
    except ParameterError as problem:
        raise ParallaxError("study.bad_conditions", f"{problem} Change the planned contrast first.") from problem
    current.run = run_with(current, list(models), actor) or current.run
    current.settings = with_block_weights(current)
    current.save(update_fields=["run", "settings", "updated_at"])
    record(current, reason="Conditions changed.", actor=actor, conditions=labels, run=current.run_id)
    return current


def _chosen(study: Study, digests: Sequence[str], actor: Any) -> dict[str, AvailableModel]:
    available = {entry.model.digest: entry for entry in available_models(study, actor)}
    if unknown := [digest[:12] for digest in digests if digest not in available]:
        raise ParallaxError(
            "study.bad_conditions",
            f"No run on {study.dataset_version} that a report can use measured {', '.join(unknown)}. Reload the page "
            "and choose among the models listed.",
        )
    models = {digest: available[digest] for digest in digests}
    if len(models) < FEWEST:
        raise ParallaxError("study.bad_conditions", f"A comparison needs at least {FEWEST} conditions.")
    return models


def _store(study: Study, before: dict[str, Condition], models: dict[str, AvailableModel]) -> None:
    # A position belongs to one condition at every moment, so those that stay move out of the way first.
    study.conditions.exclude(model_digest__in=models).delete()
    free = max(condition.position for condition in before.values()) + len(models) + 1
    for offset, condition in enumerate(study.conditions.order_by("position")):
        study.conditions.filter(pk=condition.pk).update(position=free + offset)
    target = Counter(condition.target for condition in before.values()).most_common(1)[0][0]
    labels = {before[digest].label for digest in models if digest in before}
    for position, (digest, entry) in enumerate(models.items()):
        if digest in before:
            study.conditions.filter(pk=before[digest].pk).update(position=position)
            continue
        label = entry.label if entry.label not in labels else f"{entry.label} (run {entry.run.pk})"
        labels.add(label)
        study.conditions.create(position=position, label=label, model=entry.model, model_digest=digest, target=target)
