"""What a launch would freeze, and what a draft still lacks, as a checklist: read before the launch is confirmed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.text import capfirst, get_text_list

from catalog.item_types import FALLBACK_LANGUAGE, NO_PICTURE, PEOPLE
from catalog.selectors.items import untranslated
from core.provenance import digest_of
from evaluation.enums import ModelOrigin
from evaluation.tables import parameters_in_words
from inference.power import advantage_power, anova_power, contrast_power, within_power
from recommenders import registry
from studies.allocation.selectors.allocations import ARM, arms_of, n_slots
from studies.allocation.selectors.assignment_seed import is_seed_known, seed_sentence
from studies.design.narrative.plan import (
    CORRELATION,
    perceived_labels,
    planned_sentences,
    primary_test_sentence,
    share,
)
from studies.design.narrative.preregistration import ConditionPlan
from studies.design.selectors.placeholders import asked_questions, item_words
from studies.design.selectors.planning import (
    WISHED_POWER,
    lists_in_words,
    method_sentence,
    objective_name,
    planned_number,
)
from studies.design.selectors.stated_facts import stated_facts
from studies.design.selectors.text_warnings import ROW, literal_number_warnings, rating_word_warnings
from studies.design.selectors.texts import language_name, languages_in_translation, texts_of
from studies.design.selectors.versions import frozen_tests
from studies.enums import Mode, ParticipantStatus
from studies.flow_pages import IN_TURN, SIDE_BY_SIDE
from studies.instrument.flow import blocks_of
from studies.instrument.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL
from studies.known_items import scale_rule
from studies.models import Study
from studies.plans import primary_test_of
from studies.usage_data import is_usage, taken_rule

# Keys of the stages of a study, in order: an open point is at one of them.
DATA, CONDITIONS, FLOW, QUESTIONS = "data", "conditions", "flow", "questions"
TEXTS, PARTICIPANTS, PLAN, LAUNCH = "texts", "participants", "plan", "launch"
PREVIEW, PILOT = "preview", "pilot"  # the parts of the last stage
MINUTES, POWER, LANGUAGES, BEHAVIOUR = "minutes", "power", "languages", "behaviour"  # the fixes
MINUTES_STATED = re.compile(r"(?P<n>\d{1,3})(?=\W{1,4}(?:minut|Minut))")
LONGEST_CONSENT = 350  # words, which take one and a half minutes to read
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
class OpenPoint:
    """What a draft lacks: the stage and its field where it is settled, and a command that does it if there is one.

    `action` is what the button says that leads there. With `fix`, a key of the fixes, the button applies it instead.
    """

    stage: str
    text: str
    field: str = ""
    command: str = ""
    action: str = "Edit"
    fix: str = ""


@dataclass(frozen=True)
class LaunchOverview:
    """Everything to look through before the launch; `facts` are names with their values."""

    conditions: tuple[ConditionPlan, ...]
    facts: tuple[tuple[str, str], ...]
    advice: tuple[OpenPoint, ...]


def condition_plans(study: Study) -> list[ConditionPlan]:
    """The conditions with their algorithms and presentations in words."""
    conditions = []
    for condition in study.conditions.select_related("model").order_by("position"):
        algorithm, params = condition.model.algorithm, parameters_in_words(condition.model.params)
        # The package that adds an algorithm may not be installed any more.
        title = registry.algorithm(algorithm).title if registry.is_listed(algorithm) else algorithm
        words = f"{title}: {params}" if params else title
        if condition.model.origin == ModelOrigin.REMOTE:
            facts = condition.model.provenance
            words = f"the remote recommender {facts['service']}, version {facts['release']}"
        words += f"; {condition.shown.words}" if condition.presentation else ""
        conditions.append(ConditionPlan(condition.label, words, condition.model_digest, condition.target))
    return conditions


def launch_overview(study: Study) -> LaunchOverview:
    """Read a draft as the launch would freeze it."""
    conditions = condition_plans(study)
    return LaunchOverview(tuple(conditions), tuple(_facts(study, conditions)), tuple(advice_of(study)))


def _facts(study: Study, conditions: Sequence[ConditionPlan]) -> list[tuple[str, str]]:
    design = study.design
    n_questions = {block: len(study.questionnaire.get(block, ())) for block in blocks_of(design)}
    counts = ", ".join(f"{n} {ASKED.get(block, 'in ' + block)}" for block, n in n_questions.items() if n)
    primary, plan = design.primary, design.plan
    test_sentence = primary_test_sentence(primary, frozen_tests(study))
    smallest = primary.smallest_effect
    labels = perceived_labels(asked_questions(study), study.design)
    values = stage_summaries(study)
    titles = [f"“{texts_of(study, code).get('title', '')}” ({code})" for code in design.languages]
    facts = [
        ("Dataset", f"{study.dataset_version}, {study.dataset_version.content_hash[:12]}"),
        ("Run", f"Run {study.run_id}, inputs {study.run.inputs_hash[:12]}"),
        ("Participants", _sizes(study)),
        ("Items chosen" if design.is_choice else "Items rated", str(design.items_asked)),
        ("Items recommended", design.listed),
        ("Questionnaire", f"{sum(n_questions.values())} questions: {counts}; {digest_of(study.questionnaire)[:12]}"),
        ("Languages", values[TEXTS]),
        ("Texts", f"{'; '.join(titles)}, {digest_of(study.texts)[:12]}"),
        ("Primary pair", values[PLAN]),
        ("Primary test", capfirst(test_sentence.removeprefix("Primary test: ").removesuffix("."))),
        ("Smallest effect of interest", "None" if smallest is None else f"{smallest:g} points of the primary variable"),
        ("Analysis plan", " ".join(planned_sentences(plan, labels))),
        ("Hypothesis", design.hypothesis or "None"),
        ("Assignment", capfirst(f"{method_sentence(study)} {seed_sentence(study)}".removeprefix("Assignment "))),
    ]
    profile = taken_rule(design) if is_usage(study.dataset_version) else scale_rule(design.scale)
    facts.insert(5, ("Profile", profile))
    if lists := lists_in_words(study):
        facts.append(("Lists", lists))
    if design.flow.pages:
        facts.append(("Pages", ", ".join(page.key for page in design.flow.pages)))
    return facts


def _sizes(study: Study) -> str:
    """How many participants there are to be, and of what they are arms."""
    k, n = study.conditions.count(), study.sequences.count()
    arms = f"{n} sequences of {k} conditions" if n else f"{k} conditions"
    return f"{n_slots(study):,} in {arms}"


def stage_summaries(study: Study) -> dict[str, str]:
    """What the stages hold in a few words, by their keys."""
    design, version, facts = study.design, study.dataset_version, stated_facts(study)
    items = item_words(design, FALLBACK_LANGUAGE).many
    targets = dict(study.conditions.order_by("position").values_list("label", "target"))
    sizes = f"{len(targets)} × {max(targets.values(), default=0):,}"
    if len(set(targets.values())) > 1 or design.flow.lists.is_several:
        sizes = _sizes(study)
    several = {IN_TURN: ", lists in turn", SIDE_BY_SIDE: ", lists side by side"}.get(design.flow.lists.shown, "")
    ages = f"aged {facts.youngest} or older" if facts.oldest is None else f"aged {facts.youngest} to {facts.oldest}"
    chosen = "chosen" if design.is_choice else "rated"
    perceived = perceived_labels(asked_questions(study), design)[design.primary.perceived]
    return {
        DATA: f"{version.n_ratings:,} ratings, {version.n_items:,} {items}",
        CONDITIONS: ", ".join(targets),
        FLOW: f"{design.items_asked} {items} {chosen}, {design.listed} recommended{several}",
        QUESTIONS: f"{sum(map(len, study.questionnaire.values()))} questions",
        TEXTS: get_text_list([language_name(code) for code in design.languages], "and"),
        PARTICIPANTS: f"{sizes}, {ages}",
        PLAN: f"{perceived} and {objective_name(study)}",
    }


def advice_of(study: Study) -> list[OpenPoint]:
    """What is worth settling before the launch and does not prevent it."""
    design = study.design
    points = [
        *_pilot_advice(study),
        *_power_advice(study),
        *_consent_advice(study),
        *(
            OpenPoint(QUESTIONS if place.startswith(ROW) else TEXTS, text, place)
            for place, text in literal_number_warnings(study)
        ),
        *(OpenPoint(TEXTS, text, name) for name, text in rating_word_warnings(study)),
        *_item_text_advice(study),
        *_item_advice(study),
        *language_points(study),
    ]
    if is_seed_known(study):
        text = "No secret seed: every assignment can be predicted."
        points.append(OpenPoint(PARTICIPANTS, text, "seed"))
    if not design.hypothesis:
        points.append(OpenPoint(PLAN, "No hypothesis.", "hypothesis", action="Write one"))
    for language in design.languages:
        own, name = study.texts.get(language, {}), language_name(language)
        if not all(own.get(text) for text in CHECKED_TEXTS):
            text = f"No consent text or boxes to tick in {name}."
            points.append(OpenPoint(TEXTS, text, f"consent_{language}"))
        points += [
            OpenPoint(
                TEXTS, f"The text {text!r} is written in another language, and not in {name}.", f"{text}_{language}"
            )
            for text in OPTIONAL_TEXTS
            if not own.get(text) and any(texts.get(text) for texts in study.texts.values())
        ]
    return points


def language_points(study: Study) -> list[OpenPoint]:
    """What the study lacks in the languages that it is offered in."""
    lacking = languages_in_translation(study)
    incomplete = [language for language in study.design.languages if language in lacking]
    fix = LANGUAGES if len(incomplete) < len(study.design.languages) else ""
    return [
        OpenPoint(
            *((TEXTS, text, "languages") if "texts" in text else (QUESTIONS, text, "translations")),
            action=f"Leave out {language_name(language)}" if fix else "Edit",
            fix=fix,
        )
        for language in incomplete
        for text in lacking[language]
    ]


def _pilot_advice(study: Study) -> list[OpenPoint]:
    """A pilot passes once simulated participants have completed every arm, and none is left on the way."""
    points = []
    if not study.participants.filter(mode=Mode.PREVIEW, status=ParticipantStatus.COMPLETED).exists():
        points.append(OpenPoint(LAUNCH, "No preview completed.", PREVIEW))
    simulated = study.participants.filter(mode=Mode.SIMULATED).order_by()
    walked = set(simulated.filter(status=ParticipantStatus.COMPLETED).values_list(ARM, flat=True))
    command = f".venv/bin/python manage.py simulate_participants {study.slug} --per-condition 2"
    if not walked:
        return [*points, OpenPoint(LAUNCH, "No simulated pilot.", PILOT, command)]
    if unwalked := [arm.label for arm in arms_of(study) if arm.pk not in walked]:
        separator = "; " if study.design.flow.lists.is_several else ", "
        text = f"No simulated participant has completed {separator.join(unwalked)}."
        points.append(OpenPoint(LAUNCH, text, PILOT, command))
    if n_stuck := simulated.filter(status__in=UNFINISHED).count():
        text = f"{n_stuck:,} simulated participant{'s' if n_stuck > 1 else ''} started and did not finish."
        points.append(OpenPoint(LAUNCH, text, PILOT))
    return points


def _item_text_advice(study: Study) -> list[OpenPoint]:
    version = study.dataset_version
    return [
        OpenPoint(
            DATA,
            f"{n_lacking:,} of {version.n_items:,} items {'has' if n_lacking == 1 else 'have'} no {ITEM_TEXTS[field]} "
            f"in {language_name(code)}; participants see the default {ITEM_TEXTS[field]}.",
        )
        for code in study.design.languages
        for field, n_lacking in untranslated(version, code).items()
        if n_lacking
    ]


def _item_advice(study: Study) -> list[OpenPoint]:
    """How many items lack what pages show of their type; invented data have drawn pictures."""
    version, kind = study.dataset_version, study.design.kind_of_item
    items, people = version.items.order_by(), [name for name in kind.details if name in PEOPLE]
    lacking = {ITEM_TEXTS["plot"]: items.filter(plot="").count()}
    if kind.picture != NO_PICTURE and not version.is_synthetic:
        lacking["picture"] = items.filter(image="").count()
    if people:
        lacking[" or ".join(people)] = items.exclude(features__kind__in=people).count()
    counts = [f"{n:,} {'has' if n == 1 else 'have'} no {name}" for name, n in lacking.items() if n]
    return [OpenPoint(DATA, f"Of {version.n_items:,} items, {get_text_list(counts, 'and')}.")] if counts else []


def _power_advice(study: Study) -> list[OpenPoint]:
    k, planned = planned_number(study)
    f, lists = study.design.effect, study.design.flow.lists
    if lists.shown == SIDE_BY_SIDE:
        return []  # the plan's effect is no share of preferences
    if "effect" not in study.design.model_fields_set:
        return [OpenPoint(PLAN, "The plan names no effect to find.", "effect")]
    if k < 2 or planned < 2:
        text = "Power needs two conditions of at least two participants."
        return [OpenPoint(PARTICIPANTS, text, "per_condition")]
    power = planned_power(study, planned)
    if power >= WISHED_POWER:
        return []
    each = "" if lists.is_several else " per condition"
    text = f"Power is {share(power)} for f = {f:.2f}, with {planned:,} participants{each}."
    return [OpenPoint(PARTICIPANTS, text, "per_condition", action=f"Reach a power of {share(WISHED_POWER)}", fix=POWER)]


def planned_power(study: Study, n: int) -> float:
    """The power of the primary test for the effect of the plan, with `n` participants per condition or in all."""
    k, _planned = planned_number(study)
    design = study.design
    alpha, contrast = design.plan.alpha, design.primary.contrast
    if design.flow.lists.shown == IN_TURN:
        is_one_sided = contrast is not None and contrast.sides == 1
        return within_power(k, n, design.effect, CORRELATION, contrast=True, alpha=(1 + is_one_sided) * alpha)
    if design.primary.effect is not None:
        return contrast_power(1, 1, k, n, design.effect, alpha=alpha).power  # the same for all weights of one f
    if contrast is None and primary_test_of(frozen_tests(study), design.primary.perceived) == "shares":
        return anova_power(k, n, design.effect, alpha).power  # nearly that of the test of shares
    if contrast is None:
        return advantage_power(k, n, design.effect, alpha=alpha)
    sizes = len(contrast.higher), len(contrast.lower)
    return contrast_power(*sizes, k, n, design.effect, sides=contrast.sides, alpha=alpha).power


def _consent_advice(study: Study) -> list[OpenPoint]:
    """Where a consent text states another duration than the estimate, or is long."""
    points, minutes = [], stated_facts(study).minutes
    for language in study.design.languages:
        consent, field = str(study.texts.get(language, {}).get("consent", "")), f"consent_{language}"
        stated = [match["n"] for match in MINUTES_STATED.finditer(consent) if int(match["n"]) != minutes]
        if stated:
            text = f"The consent text in {language_name(language)} says {stated[0]} minutes; the estimate is {minutes}."
            points.append(OpenPoint(TEXTS, text, field, action=f"Use {minutes} minutes", fix=MINUTES))
        if (n_words := len(consent.split())) > LONGEST_CONSENT:
            text = f"The consent text in {language_name(language)} has {n_words} words."
            points.append(OpenPoint(TEXTS, text, field, action="Shorten the consent text"))
    return points
