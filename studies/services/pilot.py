"""Simulated participants: whose ratings they stand on, and how a group of them is walked through the pages."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import httpx
from django.db import connection, transaction

from catalog.models import Item
from catalog.selectors.ratings import ratings_of
from core.errors import ParallaxError
from core.models import LogEntry
from core.provenance import digest_of, rng_for
from evaluation.selectors import cases as run_cases
from studies.answer_model import SimulatedPerson, SourceUser, TrainingSide, demographics
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Allocation, Participant, Study
from studies.planted_effects import AffectedPerson, Effect, as_plain, told
from studies.questionnaires.schema import questionnaire_from
from studies.scales import negative_members, scales_of
from studies.services.entry_links import entry_link
from studies.services.slots import locked_study
from studies.walker.client import PlainClient
from studies.walker.walk import Turn, Walk, Walker

REQUEST_SECONDS = 60.0
MOST_ATTEMPTS = 3  # of one walk whose connection breaks
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

    @cached_property
    def by_id(self) -> dict[str, SourceUser]:
        """The users by their id."""
        return {user.external_id: user for user in self.users}


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


def set_simulated_target(*, study: Study, per_condition: int, effects: Mapping[str, Effect] | None = None) -> Study:
    """Say how many simulated participants each condition is to have, and what is planted in them.

    Not part of the frozen design: it says nothing about people. Raises `pilot.other_effects` where simulated
    participants are there already in whom something else was planted.
    """
    if per_condition < 1:
        raise ParallaxError("pilot.bad_number", "Each condition needs at least one simulated participant.")
    planted = as_plain(effects or {})
    with transaction.atomic():
        current = locked_study(study.pk)
        if current.status != StudyStatus.LIVE:
            raise ParallaxError(
                "pilot.not_live",
                f"The study {study.slug} is {current.status}; launch it first.",
                {"status": current.status},
            )
        before = current.settings.get("planted_effects", {})
        if planted != before and current.participants.filter(mode=Mode.SIMULATED).exists():
            raise ParallaxError(
                "pilot.other_effects",
                f"{told(before) or 'No effects were planted.'} Simulated participants of that kind are in "
                f"the study {study.slug}; remove them first, with simulate_participants {study.slug} --remove.",
                {"planted": before},
            )
        current.settings["simulated_per_condition"] = per_condition
        current.settings["planted_effects"] = planted
        if not planted:
            del current.settings["planted_effects"]
        current.save(update_fields=["settings", "updated_at"])
    return current


@transaction.atomic
def remove_simulated(*, study: Study, actor: Any = None) -> int:
    """Remove every simulated participant with what they answered, their allocation and what was planted; count them.

    People's data are untouched, and the study's log keeps that it was done.
    """
    current = locked_study(study.pk)
    simulated = Participant.objects.filter(study=current, mode=Mode.SIMULATED)
    n = simulated.count()
    Allocation.objects.filter(study=current, mode=Mode.SIMULATED).delete()
    simulated.delete()
    for name in ("simulated_per_condition", "planted_effects"):
        current.settings.pop(name, None)
    current.save(update_fields=["settings", "updated_at"])
    LogEntry.objects.create(
        actor=actor,
        kind="studies.study",
        object_id=current.pk,
        from_status=current.status,
        to_status=current.status,
        reason=f"Removed {n} simulated participants.",
        facts={"act": "simulated_removed", "n": n},
    )
    return n


def _counts(study: Study) -> Counter[str]:
    rows = Participant.objects.filter(study=study, mode=Mode.SIMULATED).values_list("status", flat=True)
    return Counter(rows)


class _Turns:
    """People enter conditions by their numbers, however their walks overtake one another."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waited_for: list[int] = []

    def of(self, number: int) -> _Turn:
        """The next number's turn; they are given out in the order in which they are to be taken."""
        with self._changed:
            self._waited_for.append(number)
        return _Turn(self, number)

    def wait(self, number: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: number in self._waited_for[:1] or number not in self._waited_for)

    def over(self, number: int) -> None:
        with self._changed:
            if number in self._waited_for:
                self._waited_for.remove(number)
                self._changed.notify_all()


class _Turn(Turn):
    def __init__(self, turns: _Turns, number: int) -> None:
        self._turns = turns
        self._number = number

    def wait(self) -> None:
        self._turns.wait(self._number)

    def over(self) -> None:
        self._turns.over(self._number)


def walk_group(
    *,
    study: Study,
    per_condition: int,
    seed: int,
    base_url: str,
    parallel: int,
    tell: Callable[[Progress], None],
    effects: Mapping[str, Effect] | None = None,
) -> Progress:
    """Walk simulated participants through the pages at `base_url` until every condition stands at its target.

    Participant number n of a seed is the same person every time, in the same condition and with the same answers,
    however many walk at the same time; a group that was interrupted goes on where it was. Raises ParallaxError of
    the first walk that failed, after the others ended.
    """
    study = set_simulated_target(study=study, per_condition=per_condition, effects=effects)
    pool = pool_of(study)
    wanted = per_condition * study.conditions.count()
    done = _counts(study)[ParticipantStatus.COMPLETED]
    outcomes: Counter[str] = Counter()
    n_requests = 0
    turns = _Turns()
    tell(Progress(done, wanted, 0, {}))
    with ThreadPoolExecutor(max_workers=parallel) as threads:
        running: set[Future[Walk]] = set()
        numbers = _numbers(study, seed, wanted)
        try:
            while done < wanted:
                while len(running) < min(parallel, wanted - done):
                    number = next(numbers)
                    turn = turns.of(number)
                    running.add(threads.submit(_walk_one, study, pool, number, seed, base_url, turn, effects or {}))
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


def _walk_one(
    study: Study,
    pool: Pool,
    number: int,
    seed: int,
    base_url: str,
    turn: Turn | None = None,
    effects: Mapping[str, Effect] | None = None,
) -> Walk:
    """Walk one person; runs in a thread, with a database connection of its own that is closed at the end.

    A walk whose connection broke goes on by its link, as a person would, a few times.
    """
    turn = turn or Turn()
    n_before = 0
    negative = negative_members(questionnaire_from(study.questionnaire))
    try:
        entry = entry_link(study=study, mode=Mode.SIMULATED, entry_key=entry_key_of(study, seed, number))
        for attempt in range(1, MOST_ATTEMPTS + 1):
            rng = rng_for(seed, "simulated", study.slug, number)
            with PlainClient(base_url, REQUEST_SECONDS) as client:
                walker = Walker(
                    client=client,
                    entry=entry,
                    facts=demographics(number, rng, low_age=pool.low_age, high_age=pool.high_age),
                    person_for=partial(_person_for, study, pool, number, seed, effects or {}),
                    item_titles=pool.item_titles,
                    item_ids=pool.item_ids,
                    ratings_asked=pool.ratings_asked,
                    rng=rng,
                    turn=turn,
                    negative=negative,
                )
                try:
                    walk = walker.run()
                except httpx.HTTPError as problem:
                    n_before += walker.walk.n_requests
                    if attempt == MOST_ATTEMPTS or isinstance(problem, httpx.ConnectError):
                        raise
                    continue
                walk.n_requests += n_before
                return walk
        raise AssertionError("a walk ends or raises")
    except httpx.HTTPError as problem:
        raise ParallaxError(
            "pilot.no_answer",
            f"{base_url} did not answer a simulated participant ({type(problem).__name__}). Is the web server running? "
            "Start it with `python manage.py up`.",
        ) from problem
    finally:
        turn.over()
        connection.close()


def _person_for(
    study: Study, pool: Pool, number: int, seed: int, effects: Mapping[str, Effect], code: str
) -> SimulatedPerson:
    """The person of a number, once they have a condition: on which user they stand is drawn within it."""
    by_id = pool.by_id
    chosen = assign_source_user(study=study, code=code, external_ids=tuple(by_id))
    stream = rng_for(seed, "answers", study.slug, number)
    if not effects:
        return SimulatedPerson(by_id[chosen], pool.training, stream)
    label = Participant.objects.filter(study=study, code=code).values_list("condition__label", flat=True).get()
    return AffectedPerson(
        by_id[chosen],
        pool.training,
        stream,
        effect=effects.get(label or "", Effect()),
        list_length=int(study.settings["list_length"]),
        effect_rng=rng_for(seed, "effects", study.slug, number),
        scales=scales_of(questionnaire_from(study.questionnaire)),
    )
