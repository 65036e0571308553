"""Simulated participants: whose ratings they stand on, and how a group of them is walked through the pages."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import httpx
import numpy as np
from django.db import connection, transaction

from catalog.models import Item
from catalog.selectors.ratings import ratings_of
from core.errors import ParallaxError
from core.provenance import derived_seed, digest_of, rng_for
from evaluation.selectors import cases as run_cases
from studies.answer_model import SimulatedPerson, SourceUser, TrainingSide, demographics
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.questionnaires.schema import questionnaire_from
from studies.scales import negative_members
from studies.services.entry_links import entry_link
from studies.services.slots import locked_study
from studies.walker import Walk, Walker

REQUEST_SECONDS = 60.0
MOST_SPARE = 3  # walks tried beyond the slots that were open, before giving up


@dataclass(frozen=True)
class Pool:
    """What every simulated participant of a study draws on; read once."""

    users: tuple[SourceUser, ...]
    training: TrainingSide
    item_titles: dict[int, str]
    item_ids: dict[int, int]
    ratings_asked: int
    low_age: int
    high_age: int


@dataclass(frozen=True)
class Progress:
    """Where a group of walks stands."""

    finished: int
    total: int
    n_requests: int
    outcomes: dict[str, int]


def pool_of(study: Study) -> Pool:
    """Read the reserved users' histories and the training side's means.

    Raises `pilot.too_few_users` where a condition would need more users than were reserved with enough ratings.
    """
    wanted = int(study.settings["ratings_asked"])
    reserved = run_cases.reserved_users(study.run)
    histories = run_cases.reserved_histories(study.run).user_items
    users = []
    for row, external_id in enumerate(reserved.external_ids):
        start, stop = histories.indptr[row], histories.indptr[row + 1]
        items, ratings = histories.indices[start:stop], histories.data[start:stop]
        if len(items) >= wanted:
            pairs = {int(item): float(rating) for item, rating in zip(items, ratings, strict=True)}
            users.append(SourceUser(str(external_id), pairs))
    largest = max((_target(study, condition.target) for condition in study.conditions.all()), default=0)
    if len(users) < largest:
        raise ParallaxError(
            "pilot.too_few_users",
            f"A condition needs {largest} simulated participants, and the run reserved only {len(users)} users with at "
            f"least {wanted} ratings. Evaluate with a larger --reserve, or ask for fewer with --per-condition.",
            {"users": len(users), "needed": largest},
        )
    scale = ratings_of(study.dataset_version).scale
    means = run_cases.training_means(study.run)
    side = TrainingSide(means.mu, means.item_means - means.mu, means.popularity, scale.low, scale.high)
    films = list(Item.objects.filter(version=study.dataset_version).values_list("index", "title", "pk"))
    titles = {index: title for index, title, _pk in films}
    return Pool(tuple(users), side, titles, {index: pk for index, _title, pk in films}, wanted, *_ages(study))


def _target(study: Study, target: int) -> int:
    return int(study.settings.get("simulated_per_condition") or target)


def _ages(study: Study) -> tuple[int, int]:
    """The ages that the study admits."""
    for question in study.questionnaire.get("about", ()):
        if question["key"] == "age":
            admits = question.get("admits") or {}
            return int(admits.get("minimum", 20)), int(admits.get("maximum", 50))
    return 20, 50


@transaction.atomic
def assign_source_user(*, study: Study, code: str, external_ids: tuple[str, ...]) -> str:
    """Choose the reserved user that a simulated participant stands on, and keep the choice.

    No user serves twice in a condition; across conditions those used least come first. Called again, it
    returns the same user.
    """
    locked_study(study.pk)
    participant = Participant.objects.select_for_update(of=("self",)).get(study=study, code=code, mode=Mode.SIMULATED)
    if participant.source_user:
        return str(participant.source_user)
    if participant.condition_id is None:
        raise ParallaxError("pilot.no_condition", f"Participant {code} has no condition yet.")
    others = Participant.objects.filter(study=study, mode=Mode.SIMULATED).exclude(source_user="")
    uses = Counter(others.values_list("source_user", flat=True))
    here = set(others.filter(condition=participant.condition_id).values_list("source_user", flat=True))
    order = rng_for(study.seed, "source-users", int(participant.condition_id)).permutation(len(external_ids))
    free = [external_ids[i] for i in order if external_ids[i] not in here]
    if not free:
        raise ParallaxError(
            "pilot.too_few_users", "Every reserved user serves in this condition already; reserve more users."
        )
    chosen: str = min(free, key=lambda user: uses[user])  # the first of the least used, in the drawn order
    participant.source_user = chosen
    participant.save(update_fields=["source_user", "updated_at"])
    return chosen


def set_simulated_target(*, study: Study, per_condition: int) -> Study:
    """Say how many simulated participants each condition is to have.

    Not part of the frozen design: it says nothing about people.
    """
    if per_condition < 1:
        raise ParallaxError("pilot.bad_number", "Each condition needs at least one simulated participant.")
    with transaction.atomic():
        current = locked_study(study.pk)
        if current.status != StudyStatus.LIVE:
            raise ParallaxError(
                "pilot.not_live",
                f"The study {study.slug} is {current.status}; launch it first.",
                {"status": current.status},
            )
        current.settings["simulated_per_condition"] = per_condition
        current.save(update_fields=["settings", "updated_at"])
    return current


def _counts(study: Study) -> Counter[str]:
    rows = Participant.objects.filter(study=study, mode=Mode.SIMULATED).values_list("status", flat=True)
    return Counter(rows)


def walk_group(
    *, study: Study, per_condition: int, seed: int, base_url: str, parallel: int, tell: Callable[[Progress], None]
) -> Progress:
    """Walk simulated participants through the pages at `base_url` until every condition stands at its target.

    Participant number n of a seed is the same person every time: a group that was interrupted goes on where it
    was. Raises ParallaxError of the first walk that failed, after the others ended.
    """
    study = set_simulated_target(study=study, per_condition=per_condition)
    pool = pool_of(study)
    wanted = per_condition * study.conditions.count()
    done = _counts(study)[ParticipantStatus.COMPLETED]
    outcomes: Counter[str] = Counter()
    n_requests = 0
    tell(Progress(done, wanted, 0, {}))
    with ThreadPoolExecutor(max_workers=parallel) as threads:
        running: set[Future[Walk]] = set()
        numbers = _numbers(study, seed, wanted)
        try:
            while done < wanted:
                while len(running) < min(parallel, wanted - done):
                    running.add(threads.submit(_walk_one, study, pool, next(numbers), seed, base_url))
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    walk = future.result()
                    n_requests += walk.n_requests
                    outcomes[walk.outcome] += 1
                    done += walk.outcome == "thanks"
                    tell(Progress(done, wanted, n_requests, dict(outcomes)))
        finally:
            for future in running:
                future.cancel()
    return Progress(done, wanted, n_requests, dict(outcomes))


def _numbers(study: Study, seed: int, wanted: int) -> Iterator[int]:
    """Yield the numbers of people to walk: those not yet at the end, in order, and a few to spare."""
    finished = set(
        Participant.objects.filter(study=study, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED).values_list(
            "entry_key", flat=True
        )
    )
    for number in range(wanted + MOST_SPARE):
        if digest_of_key(entry_key_of(study, seed, number)) not in finished:
            yield number
    raise ParallaxError(
        "pilot.not_full",
        "Simulated participants ended early, so that the conditions did not fill; look at their statuses on the "
        "study's page.",
    )


def entry_key_of(study: Study, seed: int, number: int) -> str:
    """Return the entry key of person `number` of a seed: the same one in every group."""
    return digest_of(["simulated", study.pk, seed, number])


def digest_of_key(entry_key: str) -> str:
    """Return the entry key as the participant's row keeps it."""
    return hashlib.sha256(entry_key.encode()).hexdigest()


def _walk_one(study: Study, pool: Pool, number: int, seed: int, base_url: str) -> Walk:
    """Walk one person; runs in a thread, with a database connection of its own that is closed at the end."""
    rng = rng_for(seed, "simulated", study.slug, number)
    facts = demographics(number, rng, low_age=pool.low_age, high_age=pool.high_age)
    by_id = {user.external_id: user for user in pool.users}

    def person_for(code: str) -> SimulatedPerson:
        chosen = assign_source_user(study=study, code=code, external_ids=tuple(by_id))
        stream = np.random.Generator(np.random.PCG64(derived_seed(seed, "answers", study.slug, number)))
        return SimulatedPerson(by_id[chosen], pool.training, stream)

    try:
        entry = entry_link(study=study, mode=Mode.SIMULATED, entry_key=entry_key_of(study, seed, number))
        with httpx.Client(base_url=base_url, timeout=REQUEST_SECONDS) as client:
            walker = Walker(
                client=client,
                entry=entry,
                facts=facts,
                person_for=person_for,
                item_titles=pool.item_titles,
                item_ids=pool.item_ids,
                ratings_asked=pool.ratings_asked,
                rng=rng,
                negative=negative_members(questionnaire_from(study.questionnaire)),
            )
            return walker.run()
    except httpx.HTTPError as problem:
        raise ParallaxError(
            "pilot.no_answer",
            f"{base_url} did not answer a simulated participant ({type(problem).__name__}). Is the web server running? "
            "Start it with `python manage.py up`.",
        ) from problem
    finally:
        connection.close()
