"""What a run is made of, checked before anything is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog.models import DatasetVersion
from catalog.selectors.ratings import probe_of
from core.errors import ParallaxError, ParameterError
from core.provenance import digest_of
from evaluation.metrics.registry import Metric, metric
from evaluation.protocols import registry as protocols
from evaluation.services.feasibility import feasible_algorithms
from evaluation.splitting.folds import DEPENDENCE
from evaluation.splitting.registry import SPLITS, split_spec
from recommenders import registry

OWN_LIST = "dataset"  # in place of a probe list's digest: the one that the dataset's authors gave with it
NO_LIST = "{} came without a probe list. Give a file of pairs to the command evaluate (probe:list=FILE), or a share."
MAX_N = 100
MOST_MODELS = 500  # that one run trains
MOST_SEED = 2**63
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Inputs:
    """A run's inputs, complete and checked; `comments` says what does not suit its task, in sentences."""

    algorithms: list[tuple[str, dict[str, Any], str]]
    split: dict[str, Any]
    protocol: dict[str, Any]
    metrics: list[str]
    profile_lengths: list[int]
    comments: list[str]


def checked(
    *,
    version: DatasetVersion,
    algorithms: str | Sequence[tuple[str, Mapping[str, Any]]],
    split: Mapping[str, Any],
    protocol: Mapping[str, Any],
    task: str,
    metrics: Sequence[str],
    reserve: float,
    seed: int,
    n: int,
    profile_lengths: Sequence[int],
) -> Inputs:
    """Check everything about a run.

    Raises
    ------
    ParameterError
        What is wrong, and what is allowed.
    """
    named = _named(algorithms)
    definition = protocols.protocol(str(protocol.get("name", "")))
    wanted = definition.completed(protocol)
    if not 0 <= reserve < 1:
        raise ParameterError(f"The share of reserved users is {reserve}; it is at least 0 and below 1.")
    if not 1 <= n <= MAX_N:
        raise ParameterError(f"N is {n}; it lies between 1 and {MAX_N}.")
    if not 0 <= seed < MOST_SEED:
        raise ParameterError("The seed is a whole number from 0 to 9223372036854775807.")
    wanted_split = _split(version, split, wanted, reserve)
    _check_protocol(wanted, version)
    lengths = sorted({int(length) for length in profile_lengths})
    if any(not 1 <= length <= 1000 for length in lengths):
        raise ParameterError("Profile lengths are whole numbers from 1 to 1000; the whole profile is always measured.")
    read = [metric(name) for name in metrics]
    for one in read:
        _check_metric(one, definition, wanted)
    comments = [definition.suits(task), *(one.definition.suits(task) for one in read)]
    comments += _check_models(wanted_split, version.n_users, len(named))
    feasible = feasible_algorithms(version=version, algorithms=named, split=wanted_split, reserved=reserve, seed=seed)
    _refuse_twins(feasible.algorithms)
    comments += feasible.comments
    return Inputs(
        algorithms=feasible.algorithms,
        split=wanted_split,
        protocol=wanted,
        metrics=list(dict.fromkeys(str(one) for one in read)),
        profile_lengths=lengths,
        comments=[said for said in comments if said],
    )


def digest_of_inputs(
    *, version: DatasetVersion, inputs: Inputs, task: str, reserve: float, seed: int, n: int, threads: int
) -> str:
    """The hash of everything that a run's numbers depend on: two runs that share it have the same numbers."""
    return digest_of(
        {
            "dataset": version.content_hash,
            "algorithms": [[key, params] for key, params, _ in inputs.algorithms],
            "split": inputs.split,
            "protocol": inputs.protocol,
            "task": task,
            "metrics": inputs.metrics,
            "reserve": reserve,
            "seed": seed,
            "n": n,
            "profile_lengths": inputs.profile_lengths,
            "threads": threads,
        }
    )


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
        found[key] = _read(value)
    return found


def _read(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def split_names(text: str) -> list[str]:
    """Part names of metrics at the commas between them; those inside parentheses belong to a name.

    Examples
    --------
    >>> split_names("recall@5, f@5(g=.8,ties=best)")
    ['recall@5', 'f@5(g=.8,ties=best)']
    """
    return [name.strip() for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def _named(wanted: str | Sequence[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Key and given parameters of each algorithm; those that no data could make possible are refused."""
    pairs: list[tuple[str, Mapping[str, Any]]] = (
        [registry.named_values(text) for text in registry.specifications(wanted)]
        if isinstance(wanted, str)
        else list(wanted)
    )
    if not pairs:
        raise ParameterError(f"Name at least one algorithm; there are: {', '.join(registry.keys())}.")
    _refuse_twins(
        [
            (key, found.as_dict(), registry.algorithm(key).label(found))
            for key, found in ((key, registry.params_of(key, given)) for key, given in pairs)
        ]
    )
    return pairs


def _refuse_twins(algorithms: Sequence[tuple[str, dict[str, Any], str]]) -> None:
    seen: list[tuple[str, dict[str, Any]]] = []
    for key, params, label in algorithms:
        if (key, params) in seen:
            raise ParameterError(f"{label} is named twice with the same parameters; leave one out.")
        seen.append((key, params))


def _split(
    version: DatasetVersion, split: Mapping[str, Any], protocol: Mapping[str, Any], reserve: float
) -> dict[str, Any]:
    """The split with its defaults filled in; one that runs cannot make is refused."""
    name = str(split.get("name", ""))
    if name == "file":
        if reserve:
            raise ParameterError("A file of cases says who is trained on; no share of users can be reserved besides.")
        if protocol["name"] != "one-plus-random" or protocol["mode"] != "sampled":
            raise ParameterError("A file of cases has its candidates: it is measured by one-plus-random, sampled.")
        return {"name": name, "cases": _digest(split.get("cases"))}
    spec = split_spec(name, {key: value for key, value in split.items() if key != "name"})
    if spec.trains_many and protocol["name"] == "unconstrained":
        raise ParameterError(
            f"The split {name} trains several models, whose scores do not belong into one list over all pairs: choose "
            "another split, or another protocol."
        )
    if spec.inner is not None and protocol["name"] == "unconstrained":
        raise ParameterError("One list over all pairs cannot be parted into two groups of users: choose no dev-eval.")
    options = {**(spec.inner.options.as_dict() if spec.inner else {}), **spec.options.as_dict()}
    if options.get("list") == OWN_LIST:
        if probe_of(version) is None:
            raise ParameterError(NO_LIST.format(version))
    elif options.get("list"):
        _digest(options["list"])
    inner = {"of": spec.inner.kind.key} if spec.inner else {}
    return {"name": name, **inner, **{key: value for key, value in options.items() if value != ""}}


def _check_models(split: Mapping[str, Any], n_users: int, n_algorithms: int) -> list[str]:
    """Refuse a split that would train too many models; gives what to say of one that trains several."""
    if split["name"] not in SPLITS or not SPLITS[split["name"]].trains_many:
        return []
    spec = split_spec(split["name"], {key: value for key, value in split.items() if key != "name"})
    per_algorithm = spec.n_trainings(n_users)
    if per_algorithm * n_algorithms > MOST_MODELS:
        option, _ = spec.trained_by
        fitting = MOST_MODELS // n_algorithms
        raise ParameterError(
            f"The split {spec} trains {per_algorithm:,} models of each algorithm, {per_algorithm * n_algorithms:,} in "
            f"all, and {MOST_MODELS} are the most of one run. "
            + (f"Ask for {option}={fitting} or less." if fitting > 1 else "Measure fewer algorithms.")
        )
    return [*([DEPENDENCE] if split["name"] == "k-fold" else []), spec.kind.why]


def _digest(text: Any) -> str:
    if not _DIGEST.fullmatch(str(text)):
        raise ParameterError("A file is named by the digest it was kept under; give files to the command evaluate.")
    return str(text)


def _check_protocol(protocol: dict[str, Any], version: DatasetVersion) -> None:
    if version.scale_low == version.scale_high:
        _limits_of_usage(protocol, version.scale_high)
        return _check_numbers(protocol)
    for name in ("relevant", "irrelevant"):
        protocol[name] = _number(protocol[name], name)
        if not version.scale_low <= protocol[name] <= version.scale_high:
            raise ParameterError(
                f"The limit {name}={protocol[name]:g} is off the dataset's scale "
                f"({version.scale_low:g} to {version.scale_high:g})."
            )
    if protocol["irrelevant"] >= protocol["relevant"]:
        raise ParameterError("The limit for irrelevant ratings has to lie below that for relevant ones.")
    return _check_numbers(protocol)


def _limits_of_usage(protocol: dict[str, Any], taken: float) -> None:
    """Whatever was taken is relevant and nothing is irrelevant, as nobody says what they dislike."""
    usual = protocols.protocol(protocol["name"]).settings
    if _number(protocol["relevant"], "relevant") not in (usual["relevant"], taken):
        raise ParameterError(
            f"The dataset says what was taken, not how it was liked: there is no limit relevant="
            f"{protocol['relevant']:g}. Leave it out."
        )
    protocol["relevant"], protocol["irrelevant"] = taken, 0.0


def _check_numbers(protocol: Mapping[str, Any]) -> None:
    negatives = protocol.get("negatives", 1)
    if isinstance(negatives, bool) or not isinstance(negatives, int) or negatives < 1:
        raise ParameterError(f"The number of negatives is {negatives!r}; it is a whole number of at least 1.")
    g = protocol.get("g")
    if g is not None and not 0 < _number(g, "g") < 1:
        raise ParameterError(f"The generality g is {g}; it lies between 0 and 1.")


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"The {what} is {value!r}; it has to be a number.")
    return float(value)


def _check_metric(one: Metric, definition: protocols.Definition, protocol: Mapping[str, Any]) -> None:
    """Refuse a metric that the protocol has no numbers for, or that says otherwise how they are counted."""
    if one.definition.is_of_pairs:
        raise ParameterError(
            f"{one} compares two algorithms: every run of full-ranking measures it of all pairs. Leave it out."
        )
    if one.key not in definition.metrics:
        raise ParameterError(
            f"{definition.key} does not measure {one}; its metrics are {', '.join(definition.metrics)}."
        )
    if one.n is not None and one.n > MAX_N:
        raise ParameterError(f"The list of {one} is longer than {MAX_N}, the longest that is measured.")
    if one.ties != protocol.get("ties", "expected"):
        raise ParameterError(f"{one} counts ties as {one.ties}, the run as {protocol.get('ties', 'expected')}.")
    if "g" in one.definition.choices and one.g != protocol.get("g"):
        raise ParameterError(f"{one} has another generality g than the run; give it to the run (--g) instead.")
