"""What a launch would freeze, and what a draft still lacks, as a checklist: read before the launch is confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.text import capfirst, get_text_list

from catalog.item_types import NO_PICTURE, PEOPLE
from catalog.selectors.items import untranslated
from core.provenance import digest_of
from evaluation.tables import parameters_in_words
from inference.power import advantage_power, contrast_power
from recommenders import registry
from studies.allocation.selectors.assignment_seed import is_seed_known, seed_sentence
from studies.design.narrative.plan import (
    perceived_labels,
    planned_sentences,
    primary_test_sentence,
    share,
)
from studies.design.narrative.preregistration import ConditionPlan
from studies.design.selectors.placeholders import asked_questions
from studies.design.selectors.planning import (
    WISHED_POWER,
    method_sentence,
    objective_name,
    planned_number,
)
from studies.design.selectors.text_warnings import literal_number_warnings, rating_word_warnings
from studies.design.selectors.texts import language_name, languages_in_translation, texts_of
from studies.design.selectors.versions import frozen_tests
from studies.enums import Mode, ParticipantStatus
from studies.instrument.questionnaires.schema import ABOUT, AFTER, BLOCKS, ITEMS, OVERALL
from studies.known_items import scale_rule
from studies.models import Study
from studies.settings import MEDIUM
from studies.usage_data import is_usage, taken_rule

# Keys of the checks that gaps and problems belong to.
MODELS, PREVIEW, PILOT, POWER, PLAN = "models", "preview", "pilot", "power", "plan"
CONSENT, LANGUAGES, ASSIGNMENT, PATH, SHOWN = "consent", "languages", "assignment", "path", "shown"
DONE, MISSING, PROBLEM = "done", "missing", "problem"
# Title and page, by a key of the view's, of each check.
CHECKS = {
    MODELS: ("Conditions complete, models present", "conditions"),
    PREVIEW: ("Previewed by a person", "preview"),
    PILOT: ("Simulated pilot passed", "pilot"),
    POWER: ("Power computed", "power"),
    PLAN: ("Hypothesis and exclusion rules set", "design"),
    CONSENT: ("Consent text complete", "design"),
    LANGUAGES: ("Texts in every offered language", "design"),
    ASSIGNMENT: ("Assignment unpredictable", "assignment"),
    SHOWN: ("Item information complete", "preview"),
    PATH: ("No dead end for participants", "questionnaire"),
}
CHECKED_TEXTS = ("consent", "consent_boxes")
OPTIONAL_TEXTS = ("declined", "contact")
UNFINISHED = (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE, ParticipantStatus.ABANDONED)
ASKED = {
    ABOUT: "about the participant",
    ITEMS: "about each item",
    OVERALL: "about the whole list",
    AFTER: "after the list",
}
ITEM_TEXTS = {"title": "title", "plot": "description"}  # what pages call the texts of an item


@dataclass(frozen=True)
class Gap:
    """What is missing by a check, and what adds it: a page, by a key of the view's, and a command if there is one."""

    check: str
    text: str
    page: str = ""
    command: str = ""


@dataclass(frozen=True)
class LaunchOverview:
    """Everything to look through before the launch; `facts` are names with their values."""

    conditions: tuple[ConditionPlan, ...]
    facts: tuple[tuple[str, str], ...]
    gaps: tuple[Gap, ...]


def launch_overview(study: Study) -> LaunchOverview:
    """Read a draft as the launch would freeze it."""
    known, conditions = registry.keys(), []
    for condition in study.conditions.select_related("model").order_by("position"):
        algorithm, params = condition.model.algorithm, parameters_in_words(condition.model.params)
        # The package that adds an algorithm may not be installed any more.
        title = registry.algorithm(algorithm).title if algorithm in known else algorithm
        words = f"{title}: {params}" if params else title
        conditions.append(ConditionPlan(condition.label, words, condition.model_digest, condition.target))
    return LaunchOverview(tuple(conditions), tuple(_facts(study, conditions)), tuple(_gaps(study)))


def _facts(study: Study, conditions: Sequence[ConditionPlan]) -> list[tuple[str, str]]:
    design = study.design
    n_questions = {block: len(study.questionnaire.get(block, ())) for block in BLOCKS}
    counts = ", ".join(f"{n} {ASKED[block]}" for block, n in n_questions.items() if n)
    primary, plan = design.primary, design.plan
    test_sentence = primary_test_sentence(primary.contrast, frozen_tests(study))
    smallest = primary.smallest_effect
    labels = perceived_labels(asked_questions(study))
    offered = [language_name(code) for code in design.languages]
    titles = [f"“{texts_of(study, code).get('title', '')}” ({code})" for code in design.languages]
    facts = [
        ("Dataset", f"{study.dataset_version}, {study.dataset_version.content_hash[:12]}"),
        ("Run", f"Run {study.run_id}, inputs {study.run.inputs_hash[:12]}"),
        ("Participants", f"{sum(condition.target for condition in conditions):,} in {len(conditions)} conditions"),
        ("Items chosen" if design.is_choice else "Items rated", str(design.items_asked)),
        ("Items recommended", str(design.list_length)),
        ("Questionnaire", f"{sum(n_questions.values())} questions: {counts}; {digest_of(study.questionnaire)[:12]}"),
        ("Languages", get_text_list(offered, "and")),
        ("Texts", f"{'; '.join(titles)}, {digest_of(study.texts)[:12]}"),
        (
            "Primary pair",
            f"{labels[primary.perceived]} and {objective_name(study)}",
        ),
        ("Primary test", capfirst(test_sentence.removeprefix("Primary test: ").removesuffix("."))),
        ("Smallest effect of interest", "None" if smallest is None else f"{smallest:g} points of the primary variable"),
        ("Analysis plan", " ".join(planned_sentences(plan, labels))),
        ("Hypothesis", design.hypothesis or "None"),
        ("Assignment", capfirst(f"{method_sentence(study)} {seed_sentence(study)}".removeprefix("Assignment "))),
    ]
    profile = taken_rule(design) if is_usage(study.dataset_version) else scale_rule(design.scale)
    facts.insert(5, ("Profile", profile))
    return facts


def _gaps(study: Study) -> list[Gap]:
    gaps = []
    if not study.participants.filter(mode=Mode.PREVIEW, status=ParticipantStatus.COMPLETED).exists():
        gaps.append(Gap(PREVIEW, "No preview has been completed.", "preview"))
    gaps += _pilot_gaps(study)
    if is_seed_known(study):
        gaps.append(
            Gap(
                ASSIGNMENT,
                "No secret seed: the seed of the assignment was given, so that every assignment can be predicted.",
            )
        )
    gaps += _power_gaps(study)
    if not study.design.hypothesis:
        gaps.append(Gap(PLAN, "No hypothesis: the preregistration text leaves its place open.", "design"))
    plan = study.design.plan
    if not (plan.exclude or plan.exclude_words):
        gaps.append(Gap(PLAN, "No exclusion rules: all completers are analysed.", "design"))
    gaps += [Gap(LANGUAGES, text, "design") for text in (*literal_number_warnings(study), *rating_word_warnings(study))]
    gaps += _item_text_gaps(study) + _item_gaps(study)
    gaps += language_gaps(study)
    for language in study.design.languages:
        own = study.texts.get(language, {})
        if not all(own.get(name) for name in CHECKED_TEXTS):
            name = language_name(language)
            gaps.append(Gap(CONSENT, f"The consent text or its boxes to tick are not written in {name}.", "design"))
        gaps += [
            Gap(LANGUAGES, f"The text {name!r} is written in another language, and not in {language!r}.", "design")
            for name in OPTIONAL_TEXTS
            if not own.get(name) and any(texts.get(name) for texts in study.texts.values())
        ]
    return gaps


def language_gaps(study: Study) -> list[Gap]:
    """What the study lacks in the languages that it is offered in."""
    lacking = languages_in_translation(study)
    texts = [text for language in study.design.languages for text in lacking.get(language, ())]
    return [Gap(LANGUAGES, text, "design" if "texts" in text else "questionnaire") for text in texts]


def _pilot_gaps(study: Study) -> list[Gap]:
    """A pilot passes once simulated participants have completed every condition, and none is left on the way."""
    simulated = study.participants.filter(mode=Mode.SIMULATED).order_by()
    walked = set(simulated.filter(status=ParticipantStatus.COMPLETED).values_list("condition__label", flat=True))
    command = f".venv/bin/python manage.py simulate_participants {study.slug} --per-condition 2"
    if not walked:
        return [Gap(PILOT, "No pilot: no simulated participant has completed this design.", "simulate", command)]
    gaps = []
    labels = study.conditions.order_by("position").values_list("label", flat=True)
    if unwalked := [label for label in labels if label not in walked]:
        text = f"The pilot is incomplete: no simulated participant has completed {', '.join(unwalked)}."
        gaps.append(Gap(PILOT, text, "simulate", command))
    if n_stuck := simulated.filter(status__in=UNFINISHED).count():
        text = f"{n_stuck:,} simulated participant{'s' if n_stuck > 1 else ''} started and did not finish."
        gaps.append(Gap(PATH, text, "pilot"))
    return gaps


def _item_text_gaps(study: Study) -> list[Gap]:
    version = study.dataset_version
    return [
        Gap(
            LANGUAGES,
            f"{n_lacking:,} of {version.n_items:,} items {'has' if n_lacking == 1 else 'have'} no {ITEM_TEXTS[field]} "
            f"in {language_name(code)}; participants see the default {ITEM_TEXTS[field]}.",
        )
        for code in study.design.languages
        for field, n_lacking in untranslated(version, code).items()
        if n_lacking
    ]


def _item_gaps(study: Study) -> list[Gap]:
    """How many items lack what pages show of their type; invented data have drawn pictures."""
    version, kind = study.dataset_version, study.design.kind_of_item
    items, people = version.items.order_by(), [name for name in kind.details if name in PEOPLE]
    lacking = {ITEM_TEXTS["plot"]: items.filter(plot="").count()}
    if kind.picture != NO_PICTURE and not version.is_synthetic:
        lacking["picture"] = items.filter(image="").count()
    if people:
        lacking[" or ".join(people)] = items.exclude(features__kind__in=people).count()
    counts = [f"{n:,} {'has' if n == 1 else 'have'} no {name}" for name, n in lacking.items() if n]
    return [Gap(SHOWN, f"Of {version.n_items:,} items, {get_text_list(counts, 'and')}.", "preview")] if counts else []


def _power_gaps(study: Study) -> list[Gap]:
    k, planned = planned_number(study)
    f = study.design.effect
    if "effect" not in study.design.model_fields_set:
        return [Gap(POWER, "No power: the plan names no effect to find.", "design")]
    if k < 2 or planned < 2:
        return [Gap(POWER, "No power: it takes two conditions of at least two participants.", "power")]
    alpha, contrast = study.design.plan.alpha, study.design.primary.contrast
    if contrast is None:
        test, power = "the average advantage", advantage_power(k, planned, f, alpha=alpha)
    else:
        sizes = len(contrast.higher), len(contrast.lower)
        test = "the planned contrast"
        power = contrast_power(*sizes, k, planned, f, sides=contrast.sides, alpha=alpha).power
    stated = (
        f"with {planned:,} participants per condition {test} finds an effect of f = {f:.2f} with a power of "
        f"{share(power)}"
    )
    if power < WISHED_POWER:
        return [Gap(POWER, f"Low power: {stated}, below {share(WISHED_POWER)}.", "power")]
    if f == MEDIUM:
        return [Gap(POWER, f"The effect to find is the template's: {stated}. Confirm it, or state your own.", "power")]
    return []


@dataclass(frozen=True)
class CheckLine:
    """One check. `problems` prevent the launch, `gaps` do not; `page` is where the check is done."""

    title: str
    page: str
    problems: tuple[Gap, ...]
    gaps: tuple[Gap, ...]

    @property
    def state(self) -> str:
        return PROBLEM if self.problems else MISSING if self.gaps else DONE


def launch_checklist(gaps: Sequence[Gap], problems: Sequence[Gap]) -> list[CheckLine]:
    """Sort what is missing and what prevents the launch by check; a gap that is also a problem is listed once."""
    prevented = {problem.text for problem in problems}
    return [
        CheckLine(
            title,
            page,
            tuple(problem for problem in problems if problem.check == check),
            tuple(gap for gap in gaps if gap.check == check and gap.text not in prevented),
        )
        for check, (title, page) in CHECKS.items()
    ]
