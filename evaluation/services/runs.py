"""The life of a run: made, started, cancelled, failed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from catalog.models import DatasetVersion
from core.errors import NotAllowedInState, ParallaxError, ParameterError
from core.provenance import digest_of
from core.transitions import move
from evaluation.enums import RUN_MOVES, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart
from evaluation.services.hints import hint
from recommenders import registry

logger = logging.getLogger(__name__)

BLOCK_USERS = 256  # users scored at once, counted from the first test user: never a matter of how a run is cut
PART_USERS = 16 * BLOCK_USERS
MAX_N = 100
SPLITS: dict[str, dict[str, Any]] = {"probe": {"share": 0.1}}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "one-plus-random": {
        "negatives": 1000,
        "relevant": 5.0,
        "irrelevant": 1.0,
        "ties": "expected",
        "g": None,
    }
}
TIES = ("expected", "worst", "best")


@transaction.atomic
def create_run(
    *,
    version: DatasetVersion,
    algorithms: str | Sequence[tuple[str, Mapping[str, Any]]],
    split: Mapping[str, Any],
    protocol: Mapping[str, Any],
    reserve: float,
    seed: int,
    n: int = 5,
    profile_lengths: Sequence[int] = (5,),
    threads: int | None = None,
    owner: Any = None,
    queue: str = "",
    part_users: int = PART_USERS,
) -> EvaluationRun:
    """Make a run and tell a worker; everything about it is checked first.

    `algorithms` is a text such as ``toppop,puresvd:factors=50`` or pairs of key and parameters. `queue` is
    the name of workers of the run's own, and `part_users` how many test users a part has: neither changes
    a number.

    Raises
    ------
    ParallaxError
        Code ``run.bad_input``: what is wrong, and what is allowed.
    """
    try:
        chosen = _algorithms(algorithms)
        wanted_split = _completed(split, SPLITS, "split")
        wanted_protocol = _completed(protocol, PROTOCOLS, "protocol")
        _check_numbers(wanted_split, wanted_protocol, reserve=reserve, seed=seed, n=n, version=version)
        lengths = sorted({int(length) for length in profile_lengths})
        if any(not 1 <= length <= 1000 for length in lengths):
            raise ParameterError(
                "Profile lengths are whole numbers from 1 to 1000; the whole profile is always measured."
            )
        if part_users < 1:
            raise ParameterError("A part holds at least one test user.")
    except ParameterError as wrong:
        raise ParallaxError("run.bad_input", str(wrong)) from wrong
    used_threads = threads or settings.NUMERIC_THREADS
    run = EvaluationRun.objects.create(
        version=version,
        owner=owner,
        split=wanted_split,
        protocol=wanted_protocol,
        reserve=reserve,
        seed=seed,
        n=n,
        profile_lengths=lengths,
        threads=used_threads,
        part_users=-(-part_users // BLOCK_USERS) * BLOCK_USERS,
        queue=queue,
        activity="Waiting for a worker",
        inputs_hash=digest_of(
            {
                "dataset": version.content_hash,
                "algorithms": [[key, params] for key, params, _ in chosen],
                "split": wanted_split,
                "protocol": wanted_protocol,
                "reserve": reserve,
                "seed": seed,
                "n": n,
                "profile_lengths": lengths,
                "threads": used_threads,
            }
        ),
    )
    RunAlgorithm.objects.bulk_create(
        RunAlgorithm(run=run, position=position, algorithm=key, params=params, label=label)
        for position, (key, params, label) in enumerate(chosen)
    )
    RunPart.objects.create(run=run, kind=PartKind.PREPARE)
    hint(run=run)
    return run


def named_settings(*, text: str) -> dict[str, Any]:
    """Read ``probe:share=0.1`` as a name with settings; numbers become numbers.

    Raises
    ------
    ParallaxError
        Code ``run.bad_input``: the text is not of that form.
    """
    name, _, options = text.strip().partition(":")
    found: dict[str, Any] = {"name": name}
    for option in filter(None, options.split(",")):
        key, equals, value = (piece.strip() for piece in option.partition("="))
        if not (key and equals and value) or key in found:
            raise ParallaxError(
                "run.bad_input",
                f"{option!r} in {text!r} cannot be read; write settings as in probe:share=0.1, each once.",
            )
        try:
            found[key] = float(value)
        except ValueError:
            found[key] = value
    return found


def _algorithms(
    wanted: str | Sequence[tuple[str, Mapping[str, Any]]],
) -> list[tuple[str, dict[str, Any], str]]:
    """Key, complete parameters and label of each; one that is named twice is refused."""
    pairs = (
        registry.parse_many(wanted)
        if isinstance(wanted, str)
        else [(key, registry.params_of(key, params)) for key, params in wanted]
    )
    if not pairs:
        raise ParameterError(f"Name at least one algorithm; there are: {', '.join(registry.keys())}.")
    chosen = [(key, params.as_dict(), registry.algorithm(key).label(params)) for key, params in pairs]
    seen: list[tuple[str, dict[str, Any]]] = []
    for key, params, label in chosen:
        if (key, params) in seen:
            raise ParameterError(f"{label} is named twice with the same parameters; leave one out.")
        seen.append((key, params))
    return chosen


def _completed(given: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]], what: str) -> dict[str, Any]:
    """The named split or protocol with its defaults filled in; an unknown name or setting is refused."""
    name = str(given.get("name", ""))
    if name not in known:
        raise ParameterError(f"There is no {what} {name!r}; there are: {', '.join(sorted(known))}.")
    unknown = sorted(set(given) - {"name", *known[name]})
    if unknown:
        raise ParameterError(
            f"The {what} {name} has no setting {', '.join(unknown)}; it has: {', '.join(sorted(known[name]))}."
        )
    return {**known[name], **given}


def _check_numbers(
    split: dict[str, Any],
    protocol: dict[str, Any],
    *,
    reserve: float,
    seed: int,
    n: int,
    version: DatasetVersion,
) -> None:
    if not 0 < _number(split["share"], "share of the split") < 1:
        raise ParameterError(f"The share of hidden ratings is {split['share']}; it lies between 0 and 1.")
    if not 0 <= reserve < 1:
        raise ParameterError(f"The share of reserved users is {reserve}; it is at least 0 and below 1.")
    if not 1 <= n <= MAX_N:
        raise ParameterError(f"N is {n}; it lies between 1 and {MAX_N}.")
    if not 0 <= seed < 2**63:
        raise ParameterError("The seed is a whole number from 0 to 9223372036854775807.")
    negatives = protocol["negatives"]
    if isinstance(negatives, bool) or not isinstance(negatives, int) or negatives < 1:
        raise ParameterError(f"The number of negatives is {negatives!r}; it is a whole number of at least 1.")
    for name in ("relevant", "irrelevant"):
        protocol[name] = _number(protocol[name], name)
        if not version.scale_low <= protocol[name] <= version.scale_high:
            raise ParameterError(
                f"The limit {name}={protocol[name]:g} is off the dataset's scale "
                f"({version.scale_low:g} to {version.scale_high:g})."
            )
    if protocol["irrelevant"] >= protocol["relevant"]:
        raise ParameterError("The limit for irrelevant ratings has to lie below that for relevant ones.")
    if protocol["g"] is not None and not 0 < _number(protocol["g"], "g") < 1:
        raise ParameterError(f"The generality g is {protocol['g']}; it lies between 0 and 1.")
    if protocol["ties"] not in TIES:
        raise ParameterError(f"Ties count as one of {', '.join(TIES)}; this is {protocol['ties']!r}.")


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"The {what} is {value!r}; it has to be a number.")
    return float(value)


def start_run(*, run: EvaluationRun) -> None:
    """Move a queued run to running; of several workers that try, one does and the others find it done."""
    if run.status != RunStatus.QUEUED:
        return
    try:
        move(run, to=RunStatus.RUNNING, allowed=RUN_MOVES, started_at=timezone.now())
    except NotAllowedInState:
        run.refresh_from_db(fields=["status"])


def cancel_run(*, run: EvaluationRun, actor: Any = None, reason: str = "") -> EvaluationRun:
    """Stop a run that is not over. Parts in flight end at their next block and write nothing.

    Raises
    ------
    NotAllowedInState
        The run is over.
    """
    move(
        run,
        to=RunStatus.CANCELLED,
        allowed=RUN_MOVES,
        actor=actor,
        reason=reason,
        activity="",
        finished_at=timezone.now(),
    )
    return run


@transaction.atomic
def fail_part(*, part: RunPart, reason: str, detail: str = "") -> bool:
    """Mark a part failed, and its run with it; whoever no longer holds the lease changes nothing."""
    failed = RunPart.objects.filter(pk=part.pk, status=PartStatus.LEASED, lease=part.lease).update(
        status=PartStatus.FAILED, error=reason, leased_until=None, updated_at=timezone.now()
    )
    if not failed:
        return False
    run = EvaluationRun.objects.get(pk=part.run_id)
    if run.status != RunStatus.RUNNING:
        return False
    logger.warning("run failed run=%s part=%s reason=%s", run.pk, part.pk, reason)
    move(
        run,
        to=RunStatus.FAILED,
        allowed=RUN_MOVES,
        reason=reason,
        facts={"part": part.pk},
        error=reason,
        error_detail=detail,
        activity="",
        finished_at=timezone.now(),
    )
    return True
