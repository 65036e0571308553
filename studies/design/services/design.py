"""Studies made from a template, and changed as long as they are drafts."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from catalog.models import DatasetVersion
from catalog.selectors.items import has_samples
from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.field_problems import FieldProblems
from core.models import LogEntry
from core.transitions import record
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun, TrainedModel
from evaluation.reported_kinds import tested_kinds
from evaluation.selectors.results import reported_metrics
from evaluation.selectors.runs import failed_algorithms, newest_succeeded_run
from recommenders.scale import Scale
from studies.allocation.assignment.permuted_blocks import block_weights
from studies.allocation.selectors.assignment_seed import seed_facts
from studies.allocation.services.sequences import arrange
from studies.design.presets.loader import Preset, check_design, load_preset
from studies.design.selectors.factors import crossing_problem
from studies.design.selectors.placeholders import words_at_creation
from studies.design.selectors.template_algorithms import algorithms_for
from studies.design.selectors.texts import CHANGEABLE_TEXTS, languages_in_translation, with_texts
from studies.design.services.archiving import refuse_archived
from studies.design.services.launch import design_snapshot
from studies.design.services.trials import drop_trial
from studies.effects import check_primary
from studies.enums import Mode, Role, StudyStatus
from studies.instrument import samples
from studies.known_items import FIVE_STARS, proposed_scale
from studies.models import Condition, Study, StudyMembership
from studies.models.study import new_assignment_seed
from studies.presentation import RECOMMENDER, Factor, cells_of
from studies.settings import read_settings
from studies.usage_data import CHOICE, choice_problem, is_usage, order_problem

MOST_PER_CONDITION = 10_000
PUBLIC_SEED = 1  # of page orders, resampling and simulated participants, where none is given
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
RESERVED_SLUGS = frozenset({"p", "new", "notices", "templates"})  # parts of addresses


def check_slug(slug: str) -> None:
    """Raise `study.bad_slug` for what cannot end a study's link."""
    if not _SLUG.fullmatch(slug) or slug in RESERVED_SLUGS:
        raise ParallaxError(
            "study.bad_slug",
            f"A study's link cannot end in {slug!r}. Use small letters, digits and hyphens, at most 80.",
        )


def _check_target(per_condition: int) -> None:
    if not 1 <= per_condition <= MOST_PER_CONDITION:
        raise ParallaxError(
            "study.bad_target",
            f"Each condition has 1 to {MOST_PER_CONDITION} participants; got {per_condition}.",
        )


def _chosen_run(version: DatasetVersion, run: EvaluationRun | None) -> EvaluationRun:
    if run is None:
        run = newest_succeeded_run(version)
        if run is None:
            raise ParallaxError(
                "study.no_run",
                f"No run on {version} has finished, so there are no models to study. Evaluate the dataset first.",
            )
    if run.version_id != version.pk:
        raise ParallaxError(
            "study.run_of_other_dataset",
            f"Run {run.pk} measured another dataset or version than {version}. Choose one of its own runs.",
        )
    if run.status != RunStatus.SUCCEEDED:
        raise ParallaxError(
            "study.run_not_finished", f"Run {run.pk} is {run.status}; a study needs a run that has succeeded."
        )
    try:
        reported_metrics(run)
    except ParallaxError as refusal:
        raise ParallaxError(
            "study.run_not_reportable", f"No report could join a study with this run. {refusal}"
        ) from refusal
    if run.folds:
        raise ParallaxError(
            "study.run_of_many_models",
            f"Run {run.pk} ({run.split['name']}) trained {len(run.folds)} models of each algorithm, none of which is "
            "the one to serve. Choose a run of a split that trains once, such as probe.",
        )
    return run


def _conditions(
    run: EvaluationRun, models: Mapping[str, TrainedModel], factors: Sequence[Factor], target: int
) -> list[Condition]:
    """The conditions of a new study: the models by label, or the full product of the factors."""
    if not factors:
        return [
            Condition(position=position, label=label, model=model, model_digest=model.digest, target=target)
            for position, (label, model) in enumerate(models.items())
        ]
    cells = cells_of(factors)
    if lacking := [cell for cell in cells if cell.recommender not in models]:
        raise ParallaxError(
            "study.bad_conditions",
            f"These cells of the factors have no model: {', '.join(cell.label for cell in lacking)}. Run {run.pk} "
            f"measured {', '.join(models)}. Name these as recommenders, or choose another run.",
        )
    return [
        Condition(
            position=position,
            label=cell.label,
            model=models[cell.recommender],
            model_digest=models[cell.recommender].digest,
            target=target,
            presentation=cell.presentation.stored(),
            levels=cell.levels,
        )
        for position, cell in enumerate(cells)
    ]


def _first_settings(
    preset: Preset, version: DatasetVersion, run: EvaluationRun, models: Mapping[str, TrainedModel]
) -> dict[str, Any]:
    design, tested = read_settings(preset.settings), tested_kinds(run.protocol)
    changes: dict[str, Any] = {
        **words_at_creation(version.dataset.kind_of_item, design.item_noun),
        "samples": has_samples(version),
    }
    if design.primary.objective not in tested:
        changes["primary"] = {**design.primary.stored(), "objective": tested[0]}
    if is_usage(version):
        changes["elicitation"] = CHOICE
    elif proposed := proposed_scale(Scale(version.scale_low, version.scale_high, version.scale_step)):
        changes = {"elicitation_scale": proposed.key, **changes}
    if preset.presentations:
        recommenders = {"key": RECOMMENDER, "levels": [{"recommender": label} for label in models]}
        changes["factors"] = [recommenders, *copy.deepcopy(preset.presentations)]
    return {**copy.deepcopy(preset.settings), **changes}


def _first_questions(preset: Preset, version: DatasetVersion) -> dict[str, Any]:
    if has_samples(version):
        return samples.in_words_of(version.dataset.kind_of_item.sample, preset.questionnaire)
    return samples.without_question(preset.questionnaire)


@transaction.atomic
def create_study(
    *,
    slug: str,
    template: str = "cremonesi-2011",
    version: DatasetVersion,
    run: EvaluationRun | None = None,
    per_condition: int = 30,
    seed: int | None = None,
    owner: Any = None,
    title: str = "",
    labels: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    questionnaire: Mapping[str, Any] | None = None,
) -> Study:
    """Make a draft whose conditions are the very models that `run` measured (by default the newest finished).

    `labels` name the algorithms of the run that become conditions; without any, all do that the template can use. The
    template crosses them with its presentations. `settings` and parts of the `questionnaire` go before those of the
    template. Where the settings name factors, their full product is the conditions, with equal targets.

    Participants are assigned by a secret seed drawn from the operating system. A `seed` that is given decides the
    assignment instead, for simulations and demonstrations: anyone who knows it can predict every assignment.
    Algorithms of the run that failed are left out, each with its reason in the log. The nouns and the verb of the
    dataset's item type are copied into the settings; the question about trailers (or clips, or excerpts) is left out
    where no item has one, and otherwise asked only of items that have one.

    Raises `study.bad_slug`, `study.slug_taken`, `study.unknown_template`, `study.no_run`,
    `study.run_not_finished`, `study.run_not_reportable`, `study.run_of_other_dataset`, `study.run_of_many_models`,
    `study.bad_target`, `study.bad_conditions`, `study.bad_settings`.
    """
    check_slug(slug)
    _check_target(per_condition)
    try:
        preset = load_preset(template)
    except ParameterError as problem:
        raise ParallaxError("study.unknown_template", str(problem)) from problem
    chosen = _chosen_run(version, run)
    algorithms = algorithms_for(preset, chosen, labels)
    models = {entry.label: entry.served for entry in algorithms if entry.served is not None}
    first = _first_settings(preset, version, chosen, models)
    factors = read_settings({**first, **(settings or {})}).factors
    conditions = _conditions(chosen, models, factors, per_condition)
    study = new_draft(
        conditions,
        owner=owner,
        reason="Made from a template.",
        facts={
            "template": preset.key,
            "template_version": preset.version,
            "run": chosen.pk,
            "per_condition": per_condition,
            "left_out": [{"label": failed.label, "reason": failed.error} for failed in failed_algorithms(chosen)],
        },
        slug=slug,
        title=title or preset.title,
        template=preset.key,
        template_version=preset.version,
        dataset_version=version,
        run=chosen,
        seed=PUBLIC_SEED if seed is None else seed,
        assignment_seed=new_assignment_seed() if seed is None else "",
        settings=first,
        questionnaire=_first_questions(preset, version),
        texts=copy.deepcopy(preset.texts),
    )
    if not settings and not questionnaire:
        return study
    return change_design(study=study, actor=owner, settings=settings, questionnaire=questionnaire)


def new_draft(
    conditions: Sequence[Condition], *, owner: Any, reason: str, facts: Mapping[str, Any], **fields: Any
) -> Study:
    """Store a draft with its conditions and its owner, in the caller's transaction; logged.

    Raises `study.slug_taken`.
    """
    try:
        with transaction.atomic():
            study = Study.objects.create(**fields)
    except IntegrityError as problem:
        raise ParallaxError("study.slug_taken", f"There is a study called {fields['slug']} already.") from problem
    for condition in conditions:
        condition.study = study
    Condition.objects.bulk_create(conditions)
    arrange(study)
    if owner is not None:
        StudyMembership.objects.create(study=study, researcher=owner, role=Role.OWNER)
    LogEntry.objects.create(
        actor=owner,
        kind="studies.study",
        object_id=study.pk,
        to_status=StudyStatus.DRAFT,
        reason=reason,
        facts={**facts, **seed_facts(study)},
    )
    return study


def with_block_weights(study: Study) -> dict[str, Any]:
    """The settings with how often a block holds each condition; without where all have the same target.

    Sequences have equal targets, so that blocks hold each once.
    """
    weights = block_weights(list(study.conditions.order_by("position").values_list("target", flat=True)))
    settings = {name: value for name, value in study.settings.items() if name != "block_weights"}
    is_even = study.design.flow.lists.is_several or set(weights) == {1}
    return settings if is_even else {**settings, "block_weights": list(weights)}


def require_draft(study: Study) -> None:
    """Raise `studies.not_draft` once the design is frozen."""
    if study.status != StudyStatus.DRAFT:
        raise NotAllowedInState(
            "studies.not_draft",
            "The design was frozen at the launch and cannot be changed any more.",
            {"status": study.status},
        )


def _with_ages(questionnaire: Mapping[str, Any], youngest: int, oldest: int) -> dict[str, Any]:
    if youngest > oldest:
        raise ParallaxError("study.bad_settings", f"The youngest age {youngest} is above the oldest {oldest}.")
    changed: dict[str, Any] = copy.deepcopy(dict(questionnaire))
    for question in changed.get("about", ()):
        if question["key"] == "age":
            question["admits"] = {"minimum": youngest, "maximum": oldest}
    return changed


def _changed(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the changes; a stored threshold and scale go with the ratings that they are about."""
    design = read_settings({**settings, **changes})
    changed = {**settings, **changes}
    if design.is_choice:
        for name in {"taken_from", "elicitation_scale"} - set(changes):
            changed.pop(name, None)
    # A scale or a maximum that says what its absence says is not stored: so the hash is that of older studies.
    no_progress = {
        "elicitation_scale": FIVE_STARS.key,
        "ratings_most": design.ratings_asked,
        "preparation_seconds": None,
        "sent_answers": [],
        "recorded": [],
        "flow": None,  # the pages of 2011
    }
    return {name: value for name, value in changed.items() if name not in no_progress or value != no_progress[name]}


@transaction.atomic
def change_design(
    *,
    study: Study,
    actor: Any = None,
    title: str | None = None,
    per_condition: int | None = None,
    targets: Mapping[int, int] | None = None,
    settings: Mapping[str, Any] | None = None,
    questionnaire: Mapping[str, Any] | None = None,
    ages: tuple[int, int] | None = None,
    texts: Mapping[str, Mapping[str, Any]] | None = None,
) -> Study:
    """Change parts of a draft; what is None stays. `texts` are by language and name: Markdown, boxes as a list, and
    parts of the `questionnaire` go in the place of its own.

    `targets` are of single conditions, by position, and go before `per_condition`. Simulated participants who walked
    the design as it was are removed.

    Raises `studies.not_draft`, `study.archived`, `study.bad_settings`, `study.bad_target`.
    """
    current = Study.objects.select_for_update(of=("self",)).select_related("dataset_version__dataset").get(pk=study.pk)
    refuse_archived(current)
    require_draft(current)
    before, translating = design_snapshot(current), languages_in_translation(current)
    if title is not None:
        current.title = title
    if per_condition is not None:
        _check_target(per_condition)
        current.conditions.update(target=per_condition)
    for position, target in (targets or {}).items():
        _check_target(target)
        current.conditions.filter(position=position).update(target=target)
    lists = current.design.flow.lists
    current.settings = _changed(current.settings, settings or {})
    if per_condition is not None or targets or lists != current.design.flow.lists or lists.is_several:
        current.settings = with_block_weights(current)
    current.questionnaire = {**current.questionnaire, **(questionnaire or {})}
    if ages is not None:
        current.questionnaire = _with_ages(current.questionnaire, *ages)
    current.texts = with_texts(current.texts, texts or {}, names=CHANGEABLE_TEXTS)
    try:
        check_design(
            settings=current.settings,
            questionnaire=current.questionnaire,
            texts=current.texts,
            translating=translating,
        )
        if refused := (
            choice_problem(current.design, current.dataset_version)
            or order_problem(current.design, current.dataset_version)
        ):
            raise ParameterError(refused)
        if not_crossed := crossing_problem(current):
            raise ParameterError(not_crossed)
        check_primary(current.design.primary, list(current.conditions.select_related("model").order_by("position")))
    except ParameterError as problem:
        problems = problem.problems if isinstance(problem, FieldProblems) else [problem]
        extra = {"problems": [str(each) for each in problems]}
        raise ParallaxError("study.bad_settings", str(problem), extra) from problem
    current.save(update_fields=["title", "settings", "questionnaire", "texts", "updated_at"])
    record(current, reason="Design changed.", actor=actor)
    if design_snapshot(current) != before:
        drop_trial(study=current, actor=actor)
    if read_settings(before["settings"]).flow != current.design.flow:
        # Previews may be on pages that there are no more.
        current.allocations.filter(mode=Mode.PREVIEW).delete()
        current.participants.filter(mode=Mode.PREVIEW).delete()
    arrange(current)
    return current
