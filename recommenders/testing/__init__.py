"""Checks of an algorithm's contract, for the tests of the repository that it lives in.

A test calls `check_algorithm`; `CHECKS` and `Trial` run the checks one by one. Nothing here needs a framework, a
database or a test runner.
"""

from __future__ import annotations

from collections.abc import Callable

from recommenders.base import Algorithm
from recommenders.testing import declaration_checks, score_checks, storage_checks
from recommenders.testing.trial import Trial

__all__ = ["CHECKS", "Check", "Trial", "check_algorithm"]
Check = Callable[[Trial], None]

CHECKS: tuple[Check, ...] = (
    declaration_checks.class_attributes_are_complete,
    declaration_checks.wrong_parameters_are_refused,
    declaration_checks.parameters_beyond_the_data_are_refused,
    declaration_checks.wrong_inputs_are_refused,
    declaration_checks.wrong_requests_for_explanations_are_refused,
    declaration_checks.memory_estimate_grows_with_the_data,
    score_checks.scores_are_numbers,
    score_checks.tastes_are_learned,
    score_checks.unrated_item_has_no_score,
    score_checks.empty_profile_has_no_score,
    score_checks.profile_of_unknown_items_has_no_score,
    score_checks.one_user_and_one_item_are_enough,
    score_checks.equal_ratings_give_numbers,
    score_checks.profiles_are_independent,
    score_checks.new_user_is_scored_as_a_training_user,
    score_checks.other_scales_are_mapped,
    score_checks.lists_exclude_rated_items,
    score_checks.numbering_does_not_matter,
    score_checks.renamed_items_give_the_same_lists,
    score_checks.profiles_without_times_are_scored,
    score_checks.profiles_with_times_are_independent,
    score_checks.explanations_add_up,
    storage_checks.same_seed_gives_the_same_model,
    storage_checks.stored_model_has_the_same_scores,
    storage_checks.inputs_are_not_changed,
    storage_checks.progress_rises_to_one,
    storage_checks.progress_can_stop_the_fit,
    storage_checks.listening_changes_nothing,
)


def check_algorithm(algorithm: type[Algorithm]) -> None:
    """Run every check on an algorithm, each on small data of its own.

    Raises one AssertionError that names each failed check and its problem; its cause is the first of these problems.

    Examples
    --------
    >>> from recommenders.ease import EASE
    >>> check_algorithm(EASE)
    """
    problems: dict[str, Exception] = {}
    for check in CHECKS:
        try:
            check(Trial(algorithm))
        except Exception as problem:
            problems[check.__name__] = problem
    if problems:
        # What a check requires is said in words, and an exception that the algorithm itself raised as it is.
        words = {n: str(p) if isinstance(p, AssertionError) else repr(p) for n, p in problems.items()}
        lines = [f"- {name}: {problem}" for name, problem in words.items()]
        heading = f"{algorithm.name} fails {len(problems)} of {len(CHECKS)} checks:"
        raise AssertionError("\n".join([heading, *lines])) from next(iter(problems.values()))
