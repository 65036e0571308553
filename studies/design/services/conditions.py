"""The conditions of a draft: the models that runs on its dataset version measured, crossed with presentations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from catalog.services.upload_folders import delete_folder, new_folder, store_upload
from core.errors import ParallaxError
from core.field_problems import FieldProblems
from core.provenance import canonical_json
from core.transitions import record
from studies.allocation.services.sequences import arrange
from studies.design.presets.loader import FEWEST_CONDITIONS
from studies.design.selectors.available_models import AvailableModel, available_models, run_with
from studies.design.services.archiving import refuse_archived
from studies.design.services.design import require_draft, with_block_weights
from studies.design.services.stored_texts import StoredTexts, store_texts
from studies.design.services.trials import drop_trial
from studies.effects import check_primary
from studies.models import Allocation, Condition, Participant, Study
from studies.presentation import RECOMMENDER, STORED, Factor, Level, Presentation, cells_of, factor_problems

Key = tuple[str, str]  # a model's digest, and the presentation as canonical JSON


@dataclass(frozen=True)
class _Chosen:
    """A condition as it is to be stored."""

    model: AvailableModel
    label: str
    presentation: Mapping[str, Any]
    levels: Mapping[str, str]


@transaction.atomic
def choose_conditions(
    *, study: Study, digests: Sequence[str], presentations: Sequence[Factor] | None = None, actor: Any = None
) -> Study:
    """Give a draft the conditions with these models, by digest, in their order; logged.

    `presentations` are factors that the models are crossed with, each level with each; None for those that the design
    has. The settings then name all factors, the models as one of them.

    A condition that stays, with its model and its presentation, keeps its target, and its label where its levels stay
    too; a new one has the most frequent target, and its run's number behind its label where another condition has that
    label. The study's run becomes one that measured all of the models, if there is one; otherwise it stays, and the
    launch names what is missing. Simulated participants, and previews of conditions that are gone, are removed.

    Raises `studies.not_draft`, `study.archived`, `study.bad_conditions`.
    """
    current = Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    refuse_archived(current)
    require_draft(current)
    models = _chosen(current, digests, actor)
    before = {_key(condition): condition for condition in current.conditions.order_by("position")}
    names = _names(current, models, before.values())
    factors = _factors(current, list(names.values()), presentations)
    wanted = _crossed(models, names, factors)
    if len(wanted) < FEWEST_CONDITIONS:
        raise ParallaxError("study.bad_conditions", f"A comparison needs at least {FEWEST_CONDITIONS} conditions.")
    if list(before) == list(wanted) and tuple(current.design.factors) == factors:
        return current
    drop_trial(study=current, actor=actor)
    gone = [condition for key, condition in before.items() if key not in wanted]
    Participant.objects.filter(condition__in=gone).delete()
    Allocation.objects.filter(condition__in=gone).delete()
    _store(current, before, wanted)
    conditions = list(current.conditions.select_related("model").order_by("position"))
    labels = [condition.label for condition in conditions]
    try:
        check_primary(current.design.primary, conditions)
    except FieldProblems as refused:
        text = f"{refused.problems[0].message} Change the planned primary test first."
        raise ParallaxError("study.bad_conditions", text) from refused
    current.run = run_with(current, list(models), actor) or current.run
    settings = {name: value for name, value in current.settings.items() if name != "factors"}
    if factors:
        settings["factors"] = [factor.model_dump(mode="json", exclude_unset=True) for factor in factors]
    current.settings = settings
    current.settings = with_block_weights(current)
    current.save(update_fields=["run", "settings", "updated_at"])
    arrange(current)
    record(current, reason="Conditions changed.", actor=actor, conditions=labels, run=current.run_id)
    return current


def _key(condition: Condition) -> Key:
    return condition.model_digest, canonical_json(condition.presentation)


def _chosen(study: Study, digests: Sequence[str], actor: Any) -> dict[str, AvailableModel]:
    available = {entry.model.digest: entry for entry in available_models(study, actor)}
    if unknown := [digest[:12] for digest in digests if digest not in available]:
        raise ParallaxError(
            "study.bad_conditions",
            f"No run on {study.dataset_version} that a report can use measured {', '.join(unknown)}. Choose "
            "among the models of its runs.",
        )
    return {digest: available[digest] for digest in digests}


def _model_key(study: Study) -> str:
    return next((factor.key for factor in study.design.factors if factor.is_of_recommenders), RECOMMENDER)


def _names(study: Study, models: Mapping[str, AvailableModel], before: Iterable[Condition]) -> dict[str, str]:
    """What each model is called, by digest: as before, or as in its run, with the run's number where that is taken."""
    key = _model_key(study)
    known = {condition.model_digest: condition.levels.get(key, condition.label) for condition in before}
    names = {digest: known[digest] for digest in models if digest in known}
    for digest, entry in models.items():
        own = entry.label if entry.label not in names.values() else f"{entry.label} (run {entry.run.pk})"
        names.setdefault(digest, own)
    return {digest: names[digest] for digest in models}


def _factors(study: Study, names: Sequence[str], presentations: Sequence[Factor] | None) -> tuple[Factor, ...]:
    """The factors with these recommenders; none where there is no presentation to cross them with."""
    stored = study.design.factors
    designed = [factor for factor in stored if not factor.is_of_recommenders]
    presentations = designed if presentations is None else list(presentations)
    if not presentations or not names:
        return ()
    of_models = Factor(key=_model_key(study), levels=tuple(Level(recommender=name) for name in names))
    order = stored if presentations == designed else (of_models, *presentations)
    factors = tuple(of_models if factor.is_of_recommenders else factor for factor in order)
    if problems := [str(problem) for problem in factor_problems(factors)]:
        raise ParallaxError("study.bad_conditions", " ".join(problems))
    return factors


def _crossed(
    models: Mapping[str, AvailableModel], names: Mapping[str, str], factors: Sequence[Factor]
) -> dict[Key, _Chosen]:
    if not factors:
        return {(digest, canonical_json({})): _Chosen(entry, names[digest], {}, {}) for digest, entry in models.items()}
    digest_of = {name: digest for digest, name in names.items()}
    crossed = {}
    for cell in cells_of(factors):
        digest, shown = digest_of[cell.recommender], cell.presentation.stored()
        crossed[digest, canonical_json(shown)] = _Chosen(models[digest], cell.label, shown, cell.levels)
    return crossed


def _store(study: Study, before: Mapping[Key, Condition], wanted: Mapping[Key, _Chosen]) -> None:
    # A position belongs to one condition at every moment, so those that stay move out of the way first.
    study.conditions.exclude(pk__in=[before[key].pk for key in wanted if key in before]).delete()
    free = max(condition.position for condition in before.values()) + len(wanted) + 1
    for offset, condition in enumerate(study.conditions.order_by("position")):
        study.conditions.filter(pk=condition.pk).update(position=free + offset)
    target = Counter(condition.target for condition in before.values()).most_common(1)[0][0]
    for position, (key, chosen) in enumerate(wanted.items()):
        if key in before:
            same = before[key]
            label = same.label if same.levels == chosen.levels else chosen.label
            study.conditions.filter(pk=same.pk).update(position=position, label=label, levels=chosen.levels)
            continue
        study.conditions.create(
            position=position,
            label=chosen.label,
            model=chosen.model.model,
            model_digest=chosen.model.model.digest,
            target=target,
            presentation=chosen.presentation,
            levels=chosen.levels,
        )


def explain_by_texts(*, study: Study, file: UploadedFile[Any], actor: Any) -> StoredTexts:
    """Store the texts of an uploaded file, and cross the conditions of a draft with lists without and with them, in the
    place of other explanations. Raises as `store_texts` and `choose_conditions` do, and `upload.no_room`.
    """
    folder = new_folder()
    try:
        stored = store_texts(version=study.dataset_version, path=store_upload(file, folder=folder, part="texts"))
    finally:
        delete_folder(folder)
    explained = Presentation(explanation=STORED, texts=stored.digest)
    levels = (Level(name="plain", presentation=Presentation()), Level(name="explained", presentation=explained))
    others = [
        factor
        for factor in study.design.factors
        if not factor.is_of_recommenders
        and not any(each.presentation and each.presentation.explains for each in factor.levels)
    ]
    digests = dict.fromkeys(study.conditions.order_by("position").values_list("model_digest", flat=True))
    factors = [Factor(key="explanation", levels=levels), *others]
    choose_conditions(study=study, digests=[*digests], presentations=factors, actor=actor)
    return stored
