"""Pilot runs: groups of simulated participants walk through the study's pages, at once or as the job of a worker."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import httpx
from django.db import connection, transaction
from django.utils import timezone

from catalog.models import Item
from catalog.selectors.ratings import ratings_of
from core.errors import ParallaxError
from core.provenance import digest_of, rng_for
from core.transitions import record
from evaluation.selectors import cases as run_cases
from jobs.models import Job
from jobs.services import request
from studies.allocation.selectors.allocations import arms_of, n_occasions, targets
from studies.allocation.services.slots import locked_study
from studies.design.selectors.placeholders import conditions_of
from studies.design.selectors.stated_facts import age_limits
from studies.design.services.launch import launch_problems
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.instrument.flow import questionnaire_of
from studies.instrument.scales import scales_of
from studies.known_items import ItemsAsked
from studies.models import Participant, Study
from studies.participation.services.participant_state import list_lengths
from studies.recruitment.services.entry_links import entry_link
from studies.recruitment.services.tokens import digest_of_key
from studies.simulation.answer_model import Effect, SimulatedPerson, SourceUser, TrainingSide, demographics
from studies.simulation.planted_effects import causes_of, effects_by_list, effects_from, planted_sentence
from studies.simulation.walker.walk import EntryTurn, Walk, Walker

REQUEST_SECONDS = 60.0
MOST_ATTEMPTS = 3  # for a walk with connection errors
OPEN_TO_SIMULATION = (StudyStatus.LIVE, StudyStatus.DRAFT)  # drafts too, to find problems before the design is frozen
MOST_SPARE = 3  # extra walks beyond the open slots before giving up
MOST_PER_CONDITION = 200
PARALLEL = 4  # participants at the same time


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
    # With sequences every person meets each condition, so that each user serves once.
    arms = arms_of(study)
    sizes = [target or 0 for target in targets(study, arms, Mode.SIMULATED)]
    is_several = study.design.flow.lists.is_several
    largest = sum(sizes) if is_several else max(sizes, default=0)
    if len(users) < largest:
        raise ParallaxError(
            "pilot.too_few_users",
            f"{'The study' if is_several else 'A condition'} needs {largest} simulated participants, and the run "
            f"reserved only {len(users)} users with at least {limits.fewest} ratings. Evaluate with a larger "
            "--reserve, or ask for fewer with --per-condition.",
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
    if participant.arm_id is None:
        raise ParallaxError("pilot.no_condition", f"Participant {code} has no condition yet.")
    used = list(simulated.exclude(source_user="").order_by().values_list("source_user", "condition_id"))
    uses = Counter(user for user, _where in used)
    here = {user for user, where in used if where == participant.condition_id}
    order = rng_for(study.seed, "source-users", int(participant.arm_id)).permutation(len(external_ids))
    free = [external_ids[i] for i in order if external_ids[i] not in here]
    if not free:
        raise ParallaxError(
            "pilot.too_few_users", "Every reserved user serves in this condition already; reserve more users."
        )
    chosen: str = min(free, key=lambda user: uses[user])  # the first of the least used, in the drawn order
    simulated.filter(pk=participant.pk).update(source_user=chosen, updated_at=timezone.now())
    return chosen


def effects_on(study: Study, stated: Any) -> dict[str, Effect]:
    """Read the effects to plant in the simulated participants of a study. Raises ParameterError as `effects_from`."""
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    return effects_from(stated, causes_of(labels, n_occasions(study)), questionnaire_of(study))


@dataclass(frozen=True)
class Progress:
    """Progress of a group of walks."""

    finished: int
    total: int
    n_requests: int
    outcomes: dict[str, int]


def set_simulated_target(*, study: Study, per_condition: int, effects: Mapping[str, Effect] | None = None) -> Study:
    """Set the target number of simulated participants per condition and the effects planted in them.

    Not part of the frozen design, which concerns people only. Raises `pilot.not_live` if the study is paused, closed
    or archived, and `pilot.other_effects` if there already are simulated participants with other effects.
    """
    if per_condition < 1:
        raise ParallaxError("pilot.bad_number", "Each condition needs at least one simulated participant.")
    planted = {condition: dict(effect) for condition, effect in (effects or {}).items()}
    with transaction.atomic():
        current = locked_study(study.pk)
        if current.status not in OPEN_TO_SIMULATION or current.archived_at is not None:
            state = "archived" if current.archived_at is not None else current.status
            raise ParallaxError(
                "pilot.not_live",
                f"The study {study.slug} is {state}: simulated participants walk drafts and live studies.",
                {"status": current.status},
            )
        before = current.design.planted_effects
        if planted != before and current.participants.filter(mode=Mode.SIMULATED).exists():
            raise ParallaxError(
                "pilot.other_effects",
                f"{planted_sentence(before) or 'No effects were planted.'} Simulated participants of that kind are in "
                f"the study {study.slug}; remove them first, with "
                f"`.venv/bin/python manage.py simulate_participants {study.slug} --remove`.",
                {"planted": before},
            )
        unplanted = {name: value for name, value in current.settings.items() if name != "planted_effects"}
        effects_stored = {"planted_effects": planted} if planted else {}
        current.settings = {**unplanted, "simulated_per_condition": per_condition, **effects_stored}
        current.save(update_fields=["settings", "updated_at"])
    return current


def walk_group(
    *,
    study: Study,
    per_condition: int,
    seed: int,
    base_url: str,
    parallel: int,
    progress: Callable[[Progress], None],
    effects: Mapping[str, Effect] | None = None,
) -> Progress:
    """Walk simulated participants through the pages at `base_url` until every condition reaches its target.

    Participant n of a seed is always the same person in the same condition with the same answers, regardless of
    `parallel`; an interrupted group is resumed. A draft is walked as it would be launched. Raises `pilot.not_ready`
    if the draft could not be launched, or the ParallaxError of the first failed walk after the others have ended.
    """
    if study.status == StudyStatus.DRAFT and (problems := launch_problems(study)):
        raise ParallaxError(
            "pilot.not_ready",
            "The draft cannot be walked yet, as it could not be launched. " + " ".join(problems),
            {"problems": problems},
        )
    study = set_simulated_target(study=study, per_condition=per_condition, effects=effects)
    pool = pool_of(study)
    wanted = sum(target or 0 for target in targets(study, arms_of(study), Mode.SIMULATED))
    done = Participant.objects.filter(study=study, mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED).count()
    outcomes: Counter[str] = Counter()
    n_requests = 0
    turn: EntryTurn | None = None
    progress(Progress(done, wanted, 0, {}))
    with ThreadPoolExecutor(max_workers=parallel) as threads:
        running: set[Future[Walk]] = set()
        numbers = _numbers(study, seed, wanted)
        try:
            while done < wanted:
                while len(running) < min(parallel, wanted - done):
                    number = next(numbers)
                    turn = EntryTurn(turn)
                    walk_one = partial(_walk_one, turn=turn, effects=effects)
                    running.add(threads.submit(walk_one, study, pool, number, seed, base_url))
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    walk = future.result()
                    n_requests += walk.n_requests
                    outcomes[walk.outcome] += 1
                    done += walk.outcome == "thanks"
                    progress(Progress(done, wanted, n_requests, dict(outcomes)))
        finally:
            for future in running:
                future.cancel()
    return Progress(done, wanted, n_requests, dict(outcomes))


def _numbers(study: Study, seed: int, wanted: int) -> Iterator[int]:
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
    """Return the entry key of person `number` of a seed, equal in every group."""
    return digest_of(["simulated", study.pk, seed, number])


@cache
def _tls() -> ssl.SSLContext:
    # Loading certificates takes longer than several pages.
    return httpx.create_ssl_context()


def _walk_one(
    study: Study,
    pool: Pool,
    number: int,
    seed: int,
    base_url: str,
    *,
    turn: EntryTurn | None = None,
    effects: Mapping[str, Effect] | None = None,
) -> Walk:
    """Walk one person in the current thread and close its database connection.

    After a connection error the walk is resumed through its link, as a person would, up to `MOST_ATTEMPTS` times.
    """
    turn = turn or EntryTurn()
    n_before = 0
    questionnaire = questionnaire_of(study)
    try:
        entry = entry_link(study=study, mode=Mode.SIMULATED, entry_key=entry_key_of(study, seed, number))
        for attempt in range(1, MOST_ATTEMPTS + 1):
            rng = rng_for(seed, "simulated", study.slug, number)
            # Each has its own cookies, and ignores proxies in the environment.
            with httpx.Client(base_url=base_url, timeout=REQUEST_SECONDS, verify=_tls(), trust_env=False) as client:
                facts = demographics(number, rng, low_age=pool.low_age, high_age=pool.high_age)
                walker = Walker(
                    client=client,
                    entry=entry,
                    answers={**facts, **questionnaire.passing},
                    person_for=partial(_person_for, study, pool, number, seed, effects=effects or {}),
                    item_titles=pool.item_titles,
                    item_ids=pool.item_ids,
                    requested=pool.requested,
                    questionnaire=questionnaire,
                    rng=rng,
                    turn=turn,
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
            f"The site at {base_url} did not answer a simulated participant ({type(problem).__name__}). Check that it "
            "is running; `make up` starts it. If it has another address, a command takes it as `--base-url`.",
        ) from problem
    finally:
        turn.over()
        connection.close()


def _person_for(
    study: Study, pool: Pool, number: int, seed: int, code: str, *, effects: Mapping[str, Effect]
) -> SimulatedPerson:
    chosen = assign_source_user(study=study, code=code, external_ids=tuple(pool.users))
    participant = Participant.objects.select_related("study").get(study=study, code=code)
    labels, met = dict(study.conditions.values_list("pk", "label")), conditions_of(participant)
    interest_shifts = [[effects.get(labels[pk], {}).get("accuracy", 0.0) for pk in shown] for shown in met]
    planted = effects_by_list(effects, [labels[shown[0]] for shown in met])
    (effect, length), *later = zip(planted, list_lengths(participant), strict=True)
    return SimulatedPerson(
        pool.users[chosen],
        pool.training,
        rng_for(seed, "answers", study.slug, number),
        elicitation=study.design.scale,
        effect=effect,
        list_length=length,
        later=later,
        interest_shifts=interest_shifts,
        effect_rng=rng_for(seed, "effects", study.slug, number),
        scales=scales_of(questionnaire_of(study)),
    )


@transaction.atomic
def request_simulation(
    *,
    study: Study,
    per_condition: int,
    seed: int,
    base_url: str,
    actor: Any,
    effects: Mapping[str, Effect] | None = None,
) -> Job:
    """Request simulated participants from a worker, with the effects planted in them; recorded. An open job of the
    study is returned instead.

    Raises `simulation.bad_number`, `simulation.closed`, and `pilot.not_ready` for a draft that could not be launched.
    """
    if not 1 <= per_condition <= MOST_PER_CONDITION:
        raise ParallaxError("simulation.bad_number", f"Simulate 1 to {MOST_PER_CONDITION} participants per condition.")
    current = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    open_job: Job | None = current.jobs.open().filter(kind="simulation").first()
    if open_job is not None:
        return open_job
    if current.status not in OPEN_TO_SIMULATION:
        raise ParallaxError("simulation.closed", "Simulated participants walk drafts and live studies only.")
    if current.status == StudyStatus.DRAFT and (problems := launch_problems(current)):
        raise ParallaxError(
            "pilot.not_ready", "The draft could not be launched yet. " + " ".join(problems), {"problems": problems}
        )
    payload = {"per_condition": per_condition, "seed": seed, "base_url": base_url}
    payload |= {"effects": effects} if effects else {}
    job = request("simulation", owner=actor, subject=current, payload=payload)
    record(current, reason=f"Simulation requested: {per_condition} per condition.", actor=actor, seed=seed)
    return job


def simulate(job: Job, progress: Callable[[str], None]) -> dict[str, Any]:
    """Walk the participants of a requested simulation; one that was interrupted is resumed by the next worker."""
    result = {"reached": ""}

    def report_walks(reached: Progress) -> None:
        is_over = reached.finished > reached.total  # where more were simulated before
        more = f"{reached.finished} participants, more than the {reached.total} requested"
        result["reached"] = more if is_over else f"{reached.finished} of {reached.total} participants"
        progress(result["reached"])

    walk_group(study=job.subject, **job.payload, parallel=PARALLEL, progress=report_walks)
    return {"result": result}
