"""A pilot: simulated participants walked through the pages as a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial

import httpx
from django.db import connection

from core.errors import ParallaxError
from core.provenance import digest_of, rng_for
from studies.answer_model import SimulatedPerson, demographics
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.planted_effects import AffectedPerson, Effect
from studies.questionnaires.schema import questionnaire_from
from studies.scales import negative_members, scales_of
from studies.services.entry_links import entry_link
from studies.services.launch import launch_problems
from studies.services.simulated import set_simulated_target
from studies.services.source_users import Pool, assign_source_user, pool_of
from studies.services.tokens import digest_of_key
from studies.walker.client import PlainClient
from studies.walker.turns import Turn, Turns
from studies.walker.walk import Walk, Walker

REQUEST_SECONDS = 60.0
MOST_ATTEMPTS = 3  # of one walk whose connection breaks
MOST_SPARE = 3  # walks tried beyond the slots that were open, before giving up


@dataclass(frozen=True)
class Progress:
    """Where a group of walks stands."""

    finished: int
    total: int
    n_requests: int
    outcomes: dict[str, int]


def _counts(study: Study) -> Counter[str]:
    rows = Participant.objects.filter(study=study, mode=Mode.SIMULATED).values_list("status", flat=True)
    return Counter(rows)


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
    however many walk at the same time; a group that was interrupted goes on where it was. A draft is walked as it
    would be launched. Raises `pilot.not_ready` where it could not be; ParallaxError of the first walk that failed,
    after the others ended.
    """
    if study.status == StudyStatus.DRAFT and (problems := launch_problems(study)):
        raise ParallaxError(
            "pilot.not_ready",
            "The draft cannot be walked yet, as it could not be launched. " + " ".join(problems),
            {"problems": problems},
        )
    study = set_simulated_target(study=study, per_condition=per_condition, effects=effects)
    pool = pool_of(study)
    wanted = per_condition * study.conditions.count()
    done = _counts(study)[ParticipantStatus.COMPLETED]
    outcomes: Counter[str] = Counter()
    n_requests = 0
    turns = Turns()
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
    questionnaire = questionnaire_from(study.questionnaire)
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
                    negative=negative_members(questionnaire),
                    expected=questionnaire.expected,
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
            "Start it with `.venv/bin/python manage.py up`.",
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
