"""The share of users with a long enough uploaded list, which a launch requires to be everyone."""

from __future__ import annotations

import numpy as np

from evaluation.selectors.models import algorithm_of
from evaluation.selectors.uploads import opened_upload
from recommenders.uploaded_lists import EVERYONE, SEGMENT, answer_key, answer_keys
from studies.allocation.selectors.allocations import n_left_out
from studies.design.presets.loader import questions_of_choice
from studies.design.selectors.sample_profiles import reserved_profiles
from studies.design.services.condition_serving import recommend_in
from studies.instrument.flow import questionnaire_of
from studies.instrument.questionnaires.conditions import as_text
from studies.models import Condition, Study

MOST_USERS = 100  # of the measured share


def coverage_problems(study: Study) -> list[str]:
    """What keeps uploaded lists from serving every participant, in sentences.

    Lists of a profile or a participant may be missing: then there is one for everyone, or for each answer to a question
    that everyone answers, as long as any profile needs.
    """
    conditions = study.conditions.select_related("model").order_by("position")
    return [
        problem
        for condition in conditions
        if (kind := algorithm_of(condition.model)) is not None and kind.is_partial
        for problem in _problems(study, condition)
    ]


def _problems(study: Study, condition: Condition) -> list[str]:
    # The last list is made of what no earlier list has shown.
    n = study.design.listed_in(condition.shown) + n_left_out(study) * study.design.longest_list
    model = condition.model
    lists = opened_upload(study.dataset_version, model.algorithm, model.params).arrays
    needed = study.design.items_asked.most + n
    sizes = dict(zip(lists["list_keys"].tolist(), np.diff(lists["list_indptr"]).tolist(), strict=True))
    short = [key for key, size in sizes.items() if key.startswith((EVERYONE, SEGMENT)) and size < needed]
    by_answer = answer_keys(sizes, lists["genres"].tolist())
    questions = questions_of_choice(questionnaire_of(study))
    unknown = [
        key
        for key, (name, answer) in by_answer.items()
        if name not in questions or answer not in map(as_text, questions[name].possible_answers())
    ]
    if unknown:
        return [
            f"{condition.label}: no participant gets its lists {', '.join(unknown)}. Each needs a question before the "
            "ratings that offers this answer, takes a single choice and does not identify people; the study's are "
            f"{', '.join(questions) or 'none'}. Change the question, or upload other lists."
        ]
    answered_by_all = [
        questions[name]
        for name in dict.fromkeys(name for name, _answer in by_answer.values())
        if questions[name].required and not questions[name].may_decline and questions[name].shown_if is None
    ]
    lacking_by_question = [
        [
            key
            for answer in question.possible_answers()
            if question.admits_value(answer) and (key := answer_key(question.key, as_text(answer))) not in sizes
        ]
        for question in answered_by_all
    ]
    if not short and (EVERYONE in sizes or [] in lacking_by_question):
        return []
    profiles = [profile.ratings for profile in reserved_profiles(study, MOST_USERS)]
    served = [recommend_in(study=study, condition=condition, ratings=ratings, n=n) for ratings in profiles]
    n_covered = sum(not any(each.is_filled) for each in served)
    share = f" ({int(100 * n_covered / len(profiles))}%)" if profiles else ""
    lacking = f"The list of {short[0]} has {sizes[short[0]]:,}." if short else "There is no list for everyone (*)."
    if not short and lacking_by_question:
        lacking = f"There is no list for everyone (*), and none of {', '.join(lacking_by_question[0])}."
    return [
        f"{condition.label}: its uploaded lists cover {n_covered:,} of {len(profiles):,} reserved users{share}. "
        f"{lacking} Upload lists with the key * in which it and every segment have at least {needed:,} items: "
        f"participants rate up to {study.design.items_asked.most:,}, and {n:,} others are recommended. Lists of "
        "participants (participant:ID) serve none before their ratings have been exported."
    ]
