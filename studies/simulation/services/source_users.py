"""Source users: the reserved users whose ratings simulated participants use."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from catalog.models import Item
from catalog.selectors.ratings import ratings_of
from core.errors import ParallaxError
from core.provenance import rng_for
from evaluation.selectors import cases as run_cases
from studies.allocation.services.slots import locked_study
from studies.design.services.design import age_limits
from studies.enums import Mode
from studies.known_items import ItemsAsked
from studies.models import Participant, Study
from studies.simulation.answer_model import SourceUser, TrainingSide


@dataclass(frozen=True)
class Pool:
    """Data shared by all simulated participants of a study; loaded once."""

    users: dict[str, SourceUser]  # by their id
    training: TrainingSide
    item_titles: dict[int, str]
    item_ids: dict[int, int]
    requested: ItemsAsked
    low_age: int
    high_age: int


def pool_of(study: Study) -> Pool:
    """Load the reserved users' histories and the means of the training data.

    Raises `pilot.too_few_users` if a condition needs more users than were reserved with enough ratings.
    """
    limits = study.design.items_asked
    reserved = run_cases.reserved_users(study.run)
    histories = run_cases.reserved_histories(study.run).user_items
    users = []
    for row, external_id in enumerate(reserved.external_ids):
        start, stop = histories.indptr[row], histories.indptr[row + 1]
        items, ratings = histories.indices[start:stop], histories.data[start:stop]
        if len(items) >= limits.fewest:
            pairs = {int(item): float(rating) for item, rating in zip(items, ratings, strict=True)}
            users.append(SourceUser(str(external_id), pairs))
    targets = study.conditions.values_list("target", flat=True)
    largest = max((int(study.design.simulated_per_condition or target) for target in targets), default=0)
    if len(users) < largest:
        raise ParallaxError(
            "pilot.too_few_users",
            f"A condition needs {largest} simulated participants, and the run reserved only {len(users)} users with at "
            f"least {limits.fewest} ratings. Evaluate with a larger --reserve, or ask for fewer with --per-condition.",
            {"users": len(users), "needed": largest},
        )
    scale = ratings_of(study.dataset_version).scale
    means = run_cases.training_means(study.run)
    side = TrainingSide(means.mu, means.item_means - means.mu, means.popularity, scale.low, scale.high)
    item_rows = list(Item.objects.filter(version=study.dataset_version).values_list("index", "title", "pk"))
    titles = {index: title for index, title, _pk in item_rows}
    youngest, oldest = age_limits(study)
    return Pool(
        {user.external_id: user for user in users},
        side,
        titles,
        {index: pk for index, _title, pk in item_rows},
        limits,
        low_age=20 if youngest is None else youngest,
        high_age=50 if oldest is None else oldest,
    )


@transaction.atomic
def assign_source_user(*, study: Study, code: str, external_ids: tuple[str, ...]) -> str:
    """Choose the reserved user whose ratings a simulated participant uses, and store the choice.

    No user is used twice in a condition; across conditions the least-used come first. Repeated calls return the
    same user.
    """
    locked_study(study.pk)
    simulated = Participant.objects.filter(study=study, mode=Mode.SIMULATED)
    participant = simulated.select_for_update(of=("self",)).get(code=code)
    if participant.source_user:
        return str(participant.source_user)
    if participant.condition_id is None:
        raise ParallaxError("pilot.no_condition", f"Participant {code} has no condition yet.")
    used = list(simulated.exclude(source_user="").order_by().values_list("source_user", "condition_id"))
    uses = Counter(user for user, _where in used)
    here = {user for user, where in used if where == participant.condition_id}
    order = rng_for(study.seed, "source-users", int(participant.condition_id)).permutation(len(external_ids))
    free = [external_ids[i] for i in order if external_ids[i] not in here]
    if not free:
        raise ParallaxError(
            "pilot.too_few_users", "Every reserved user serves in this condition already; reserve more users."
        )
    chosen: str = min(free, key=lambda user: uses[user])  # the first of the least used, in the drawn order
    simulated.filter(pk=participant.pk).update(source_user=chosen, updated_at=timezone.now())
    return chosen
