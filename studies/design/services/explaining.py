"""The sentences that explain recommendations, and how many of them there would be."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.template.defaultfilters import floatformat
from django.utils import translation
from django.utils.translation import gettext, ngettext

from catalog.models import Item
from catalog.selectors.items import title_in
from core.errors import ParallaxError, ParameterError
from evaluation.enums import ModelOrigin
from evaluation.selectors.uploads import TEXT, opened_upload
from recommenders.explanation import Explanation
from studies.design.selectors.sample_profiles import reserved_profiles
from studies.design.selectors.texts import languages_of
from studies.design.services.condition_serving import explain_in, recommend_in
from studies.design.services.stored_texts import opened_texts, texts_of_items
from studies.models import Condition, Study
from studies.presentation import FALLBACK, MODEL, REMOTE, STORED

logger = logging.getLogger(__name__)

MOST_NAMED = 2  # rated items in one sentence
LONGEST_TITLE = 40  # characters of a title in the sentence, whose space on the page is the same in all conditions
MOST_USERS = 100  # on which the share of explained recommendations is measured


@dataclass(frozen=True)
class ShownExplanation:
    """What is shown with an item, by language, and where it comes from; both are empty where nothing is."""

    kind: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


def explanations_in(
    *,
    study: Study,
    condition: Condition,
    ratings: Mapping[int, int],
    items: Sequence[int],
    listed_texts: Sequence[Mapping[str, str]] = (),
    **rated: Any,
) -> list[ShownExplanation]:
    """Return what the condition shows with each of the recommended `items`, by item index.

    `ratings`, and what else is `rated`, as of `recommend_in`. At most two rated items are named, those that contributed
    most, in every language of the study; stored texts are looked up instead, and those of a remote recommender or of
    uploaded lists are `listed_texts`. An item without either has the fallback of the presentation, or nothing.
    Raises ArtefactError or ParallaxError as `evaluation.services.serving.explain` and `opened_texts` do.
    """
    shown = condition.shown
    if not shown.explains:
        return [ShownExplanation() for _ in items]
    fallback = ShownExplanation(FALLBACK, dict(shown.fallback)) if shown.fallback else ShownExplanation()
    if shown.explanation in (REMOTE, STORED) and not shown.texts:
        languages = languages_of(study)
        kind, is_remote = shown.explanation, condition.model.origin == ModelOrigin.REMOTE
        own = listed_texts if listed_texts and is_remote == (kind == REMOTE) else ({},) * len(items)
        listed = [{each: texts[each] for each in languages if each in texts} for texts in own]
        return [ShownExplanation(kind, texts) if len(texts) == len(languages) else fallback for texts in listed]
    if shown.texts:
        stored = texts_of_items(
            version=study.dataset_version, digest=shown.texts, languages=languages_of(study), items=items
        )
        return [ShownExplanation(STORED, texts) if texts else fallback for texts in stored]
    contributors = [
        _contributors(study, ratings, explanation)
        for explanation in explain_in(study=study, condition=condition, ratings=ratings, of=items, **rated)
    ]
    wanted = {index for indexes in contributors for index in indexes}
    known = {item.index: item for item in study.dataset_version.items.filter(index__in=wanted)}
    return [
        ShownExplanation(
            MODEL,
            {
                language: _sentence(study, language, shown.wording.get(language, ""), [known[i] for i in own], ratings)
                for language in languages_of(study)
            },
        )
        if own
        else fallback
        for own in contributors
    ]


def _contributors(study: Study, ratings: Mapping[int, int], explanation: Explanation | None) -> list[int]:
    """The rated items to name, by index: those with the largest contributions above 0."""
    if explanation is None:
        return []
    order = np.argsort(-explanation.contributions, kind="stable")
    positive = [int(explanation.items[at]) for at in order if explanation.contributions[at] > 0]
    if study.design.scale.is_binary and not study.design.is_choice:
        positive = [index for index in positive if ratings[index] == study.design.scale.n_points]  # those liked
    return positive[: 1 if explanation.how == "max" else MOST_NAMED]  # the largest alone makes a maximum


def _sentence(study: Study, language: str, wording: str, items: Sequence[Item], ratings: Mapping[int, int]) -> str:
    design, item_language = study.design, study.dataset_version.dataset.item_language
    with translation.override(language):
        titles = [_shortened(title_in(item, language, item_language).text) for item in items]
        names = [gettext("“%(title)s”") % {"title": title} for title in titles]
        has_points = not design.is_choice and not design.scale.is_binary
        values = [floatformat(design.scale.value(ratings[item.index])) for item in items] if has_points else []
        if wording:
            own = [f"{name} ({value})" for name, value in zip(names, values, strict=True)] if has_points else names
            return wording.replace("{items}", _joined(own))
        if design.is_choice:
            return gettext("Because you chose %(items)s.") % {"items": _joined(names)}
        if not has_points:
            liked = ngettext("Because you like %(items)s.", "Because you like %(items)s.", len(names))
            return liked % {"items": _joined(names)}
        rated = [
            gettext("%(title)s %(rating)s") % {"title": name, "rating": value}
            for name, value in zip(names, values, strict=True)
        ]
        return gettext("Because you rated %(items)s.") % {"items": _joined(rated)}


def _shortened(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1].rstrip()}…"


def _joined(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return gettext("%(first)s and %(second)s") % {"first": names[0], "second": names[1]}


def explanation_problems(study: Study) -> list[str]:
    """What keeps conditions from explaining every recommendation, in sentences.

    Without a fallback in the presentation, the share is measured: of stored texts on all items, else on the profiles of
    the reserved users of the study's run.
    """
    problems = []
    for condition in study.conditions.select_related("model").order_by("position"):
        shown = condition.shown
        if not shown.explains:
            continue
        if shown.fallback:
            lacking = [language for language in languages_of(study) if language not in shown.fallback]
            if lacking:
                problems.append(f"{condition.label}: its fallback text is missing in {', '.join(lacking)}. Add it.")
        if shown.explanation == STORED:
            problems += _text_problem(study, condition)
        elif not shown.fallback:
            problems += _share_problem(study, condition)
    return problems


def _text_problem(study: Study, condition: Condition) -> list[str]:
    shown, version, of = condition.shown, study.dataset_version, "items"
    try:
        if shown.texts:
            arrays, n_all = opened_texts(version, shown.texts).arrays, version.n_items
        else:
            arrays = opened_upload(version, condition.model.algorithm, condition.model.params).arrays
            of, n_all = "listed items", len(arrays.get("list_items", ()))
    except (ParallaxError, ParameterError) as problem:
        return [f"{condition.label}: its stored texts cannot be used. {problem}"]
    if lacking := [language for language in languages_of(study) if f"{TEXT}{language}" not in arrays]:
        return [f"{condition.label}: its stored texts lack {', '.join(lacking)}. Upload a file that has them."]
    n_texts = int((arrays[f"{TEXT}{languages_of(study)[0]}"] != "").sum())
    if n_texts == n_all or shown.fallback:
        return []
    return [
        f"{condition.label}: {n_texts:,} of {n_all:,} {of} ({int(100 * n_texts / n_all)}%) have a stored text. Give "
        "its presentation a fallback text in every language, or upload a file with a text for each of them."
    ]


def _share_problem(study: Study, condition: Condition) -> list[str]:
    n_users = n_slots = n_explained = 0
    for profile in reserved_profiles(study, MOST_USERS):
        ratings, n = profile.ratings, study.design.listed_in(condition.shown)
        try:
            served = recommend_in(study=study, condition=condition, ratings=ratings, n=n)
            shown = explanations_in(
                study=study, condition=condition, ratings=ratings, items=served.items, listed_texts=served.explanations
            )
        except Exception as problem:  # an algorithm may be third-party code, and end in any error
            logger.exception("no explanation study=%s condition=%s", study.slug, condition.label)
            return [f"{condition.label}: its recommendations cannot be explained. {problem}"]
        n_users += 1
        n_slots += len(shown)
        n_explained += sum(bool(each.kind) for each in shown)
    if n_slots and n_explained == n_slots:
        return []
    measured = (
        f"{n_explained:,} of {n_slots:,} recommendations ({int(100 * n_explained / n_slots)}%) to {n_users} reserved "
        "users have an explanation"
        if n_slots
        else "its run reserved no user with enough ratings, for measuring its explanations"
    )
    return [
        f"{condition.label}: {measured}. Give its presentation a fallback text in every language, or choose a "
        "recommender that explains its scores."
    ]
