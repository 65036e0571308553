"""The inputs of a run, checked before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalog.importers.scales import PAPER_LIMITS, PAPER_SCALES, usual_limits
from catalog.models import DatasetVersion
from catalog.selectors.ratings import probe_of
from catalog.selectors.shape import value_counts
from core.errors import ParallaxError, ParameterError
from core.provenance import digest_of
from evaluation.metrics.registry import Metric, metric
from evaluation.models import LONGEST_METRIC_NAME
from evaluation.protocols import registry as protocols
from evaluation.services.feasibility import feasible_algorithms
from evaluation.splitting.folds import DEPENDENCE
from evaluation.splitting.registry import SPLITS, split_spec
from recommenders import registry

OWN_LIST = "dataset"  # instead of a digest: the probe list published with the dataset
NO_LIST = "{} has no probe list. Pass a file of pairs to the command evaluate (probe:list=FILE), or give a share."
MAX_N = 100
MAX_MODELS = 500  # trained by one run
SEED_LIMIT = 2**63
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class RunInputs:
    """The complete, checked inputs of a run; `comments` are sentences about choices that do not suit its task."""

    algorithms: list[tuple[str, dict[str, Any], str]]
    split: dict[str, Any]
    protocol: dict[str, Any]
    metrics: list[str]
    profile_lengths: list[int]
    comments: list[str]


def check_inputs(
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
) -> RunInputs:
    """Check the inputs of a run and fill in defaults. Raises ParameterError for an invalid input; the message says what
    is allowed.
    """
    parsed = _parsed_algorithms(algorithms)
    definition = protocols.protocol(str(protocol.get("name", "")))
    checked_protocol = complete_protocol(version, protocol)
    if not 0 <= reserve < 1:
        raise ParameterError(f"The share of reserved users is {reserve}; it must be at least 0 and below 1.")
    if not 1 <= n <= MAX_N:
        raise ParameterError(f"N is {n}; it must lie between 1 and {MAX_N}.")
    if not 0 <= seed < SEED_LIMIT:
        raise ParameterError("The seed must be a whole number from 0 to 9223372036854775807.")
    checked_split = _split(version, split, checked_protocol, reserve)
    lengths = sorted({int(length) for length in profile_lengths})
    if any(not 1 <= length <= 1000 for length in lengths):
        raise ParameterError(
            "Profile lengths must be whole numbers from 1 to 1000; the whole profile is always measured."
        )
    parsed_metrics = [metric(name) for name in metrics]
    for parsed_metric in parsed_metrics:
        _check_metric(parsed_metric, definition, checked_protocol)
    comments = [definition.suits(task), *(parsed_metric.definition.suits(task) for parsed_metric in parsed_metrics)]
    comments += _check_models(checked_split, version.n_users, len(parsed))
    comments.append(_limits_comment(version, protocol))
    feasible = feasible_algorithms(version=version, algorithms=parsed, split=checked_split, reserved=reserve, seed=seed)
    _refuse_duplicates(feasible.algorithms)
    comments += feasible.comments
    return RunInputs(
        algorithms=feasible.algorithms,
        split=checked_split,
        protocol=checked_protocol,
        metrics=list(dict.fromkeys(map(str, parsed_metrics))),
        profile_lengths=lengths,
        comments=[comment for comment in comments if comment],
    )


def digest_of_inputs(
    *, version: DatasetVersion, inputs: RunInputs, task: str, reserve: float, seed: int, n: int, threads: int
) -> str:
    """Return the hash of all inputs that determine the results of a run."""
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
    """Parse a name with settings such as ``probe:share=0.1``, converting numbers. Raises ParallaxError with code
    ``run.bad_input``: the text does not have this form.
    """
    name, _, options = text.strip().partition(":")
    settings: dict[str, Any] = {"name": name}
    for option in filter(None, options.split(",")):
        key, equals, value = (piece.strip() for piece in option.partition("="))
        if not (key and equals and value) or key in settings:
            raise ParallaxError(
                "run.bad_input",
                f"{option!r} in {text!r} is not a valid setting. Write settings as in probe:share=0.1, each once.",
            )
        settings[key] = _parsed_number(value)
    return settings


def _parsed_number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def split_names(text: str) -> list[str]:
    """Split metric names at commas, except for commas inside parentheses.

    Examples
    --------
    >>> split_names("recall@5, f@5(g=.8,ties=best)")
    ['recall@5', 'f@5(g=.8,ties=best)']
    """
    return [name.strip() for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def _parsed_algorithms(
    algorithms: str | Sequence[tuple[str, Mapping[str, Any]]],
) -> list[tuple[str, Mapping[str, Any]]]:
    """Parse the key and the stated parameters of each algorithm; refuse values that are invalid for any data."""
    pairs: list[tuple[str, Mapping[str, Any]]] = (
        [registry.named_values(text) for text in registry.specifications(algorithms)]
        if isinstance(algorithms, str)
        else list(algorithms)
    )
    if not pairs:
        raise ParameterError(f"Name at least one algorithm. Available: {', '.join(registry.keys())}.")
    _refuse_duplicates(
        [
            (key, params.as_dict(), registry.algorithm(key).label(params))
            for key, params in ((key, registry.params_of(key, values)) for key, values in pairs)
        ]
    )
    return pairs


def _refuse_duplicates(algorithms: Sequence[tuple[str, dict[str, Any], str]]) -> None:
    known: list[tuple[str, dict[str, Any]]] = []
    for key, params, label in algorithms:
        if (key, params) in known:
            raise ParameterError(f"{label} is listed twice with the same parameters; remove one.")
        known.append((key, params))


def _split(
    version: DatasetVersion, split: Mapping[str, Any], protocol: Mapping[str, Any], reserve: float
) -> dict[str, Any]:
    """Return the split with its defaults filled in; refuse a split that a run cannot use."""
    name = str(split.get("name", ""))
    if name == "file":
        if reserve:
            raise ParameterError(
                "A file of cases defines the training users, so no share of users can be reserved. Set it to 0."
            )
        if protocol["name"] != "one-plus-random" or protocol["mode"] != "sampled":
            raise ParameterError(
                "A file of cases contains its candidates, so its protocol must be one-plus-random, sampled."
            )
        return {"name": name, "cases": _checked_digest(split.get("cases"))}
    spec = split_spec(name, {key: value for key, value in split.items() if key != "name"})
    if spec.trains_many and protocol["name"] == "unconstrained":
        raise ParameterError(
            f"The split {name} trains several models, whose scores cannot be ranked in one list over all pairs. Choose "
            "another split or another protocol."
        )
    if spec.inner is not None and protocol["name"] == "unconstrained":
        raise ParameterError(
            "One list over all pairs cannot be divided into two groups of users, so dev-eval is not possible."
        )
    options = {**(spec.inner.options.as_dict() if spec.inner else {}), **spec.options.as_dict()}
    if options.get("candidates") == "all" and protocol["name"] != "test-observations":
        raise ParameterError("The split ranks all test items (candidates=all) only in the protocol test-observations.")
    if options.get("list") == OWN_LIST:
        if probe_of(version) is None:
            raise ParameterError(NO_LIST.format(version))
    elif options.get("list"):
        _checked_digest(options["list"])
    inner = {"of": spec.inner.kind.key} if spec.inner else {}
    return {"name": name, **inner, **{key: value for key, value in options.items() if value != ""}}


def _check_models(split: Mapping[str, Any], n_users: int, n_algorithms: int) -> list[str]:
    """Refuse a split that would train too many models; return comments on one that trains several."""
    if split["name"] not in SPLITS or not SPLITS[split["name"]].trains_many:
        return []
    spec = split_spec(split["name"], {key: value for key, value in split.items() if key != "name"})
    per_algorithm = spec.n_trainings(n_users)
    if per_algorithm * n_algorithms > MAX_MODELS:
        option, _ = spec.trained_by
        most = MAX_MODELS // n_algorithms
        raise ParameterError(
            f"The split {spec} trains {per_algorithm:,} models of each algorithm, {per_algorithm * n_algorithms:,} in "
            f"total; a run trains at most {MAX_MODELS}. "
            + (f"Use {option}={most} or less." if most > 1 else "Measure fewer algorithms.")
        )
    return [*([DEPENDENCE] if split["name"] == "k-fold" else []), spec.kind.why]


def _checked_digest(text: Any) -> str:
    if not _DIGEST.fullmatch(str(text)):
        raise ParameterError(
            "Files are identified by the digest they are stored under. Pass files to the command evaluate."
        )
    return str(text)


def limits_of(version: DatasetVersion) -> dict[str, float]:
    """The limits of relevant and irrelevant ratings for which nothing else is stated: those chosen at the import, else
    those of `usual_limits`; empty for usage data.
    """
    low, high = version.scale_low, version.scale_high
    if low == high:
        return {}
    if chosen := version.report.get("limits"):
        return dict(chosen)
    points, counts = np.array([(value, n) for value, n in value_counts(version) if n]).T
    return usual_limits(low, high, points, counts)


def _limits_comment(version: DatasetVersion, stated: Mapping[str, Any]) -> str:
    """The limits derived from the ratings if none were stated; empty for the paper's."""
    low, high = version.scale_low, version.scale_high
    counts = dict(value_counts(version))
    reasons: dict[str, list[str]] = {}
    for name, limit in limits_of(version).items():
        of_paper = PAPER_LIMITS[name]
        if name in stated or ((low, high) in PAPER_SCALES and limit == of_paper):
            continue
        is_high = name == "relevant"
        n = sum(count for value, count in counts.items() if (value >= limit if is_high else value <= limit))
        why = f"Scale of {low:g} to {high:g}" if counts.get(of_paper) else f"No rating of {of_paper:g} on this scale"
        why = "Chosen at the import" if version.report.get("limits") else why
        reasons.setdefault(why, []).append(
            f"{name} is {limit:g} or {'higher' if is_high else 'lower'}, which {100 * n / version.n_ratings:.0f}% of "
            "ratings reach"
        )
    return " ".join(f"{why}: {'; '.join(phrases)}." for why, phrases in reasons.items())


def complete_protocol(version: DatasetVersion, protocol: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a protocol with their defaults on a dataset. Raises ParameterError for an invalid one."""
    definition = protocols.protocol(str(protocol.get("name", "")))
    complete = definition.completed({**limits_of(version), **protocol})
    _check_protocol(complete, version)
    return complete


def _check_protocol(protocol: dict[str, Any], version: DatasetVersion) -> None:
    if version.scale_low == version.scale_high:
        _set_usage_limits(protocol, version.scale_high)
        return _check_numbers(protocol)
    for name in ("relevant", "irrelevant"):
        protocol[name] = _number(protocol[name], name)
        if not version.scale_low <= protocol[name] <= version.scale_high:
            raise ParameterError(
                f"The limit {name}={protocol[name]:g} is outside the dataset's scale "
                f"({version.scale_low:g} to {version.scale_high:g})."
            )
    if protocol["irrelevant"] >= protocol["relevant"]:
        raise ParameterError("The limit for irrelevant ratings must be below the limit for relevant ratings.")
    return _check_numbers(protocol)


def _set_usage_limits(protocol: dict[str, Any], value: float) -> None:
    """Treat every use as relevant and nothing as irrelevant, because usage data contain no dislikes."""
    defaults = protocols.protocol(protocol["name"]).settings
    if _number(protocol["relevant"], "relevant") not in (defaults["relevant"], value):
        raise ParameterError(
            f"The dataset contains usage instead of ratings, so there is no limit relevant="
            f"{protocol['relevant']:g}. Leave it out."
        )
    protocol["relevant"], protocol["irrelevant"] = value, 0.0


def _check_numbers(protocol: Mapping[str, Any]) -> None:
    negatives = protocol.get("negatives", 1)
    if isinstance(negatives, bool) or not isinstance(negatives, int) or negatives < 1:
        raise ParameterError(f"The number of negatives is {negatives!r}; it must be a whole number of at least 1.")
    g = protocol.get("g")
    if g is not None and not 0 < _number(g, "g") < 1:
        raise ParameterError(f"The generality g is {g}; it must lie between 0 and 1.")


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"The {what} is {value!r}; it must be a number.")
    return float(value)


def _check_metric(measure: Metric, definition: protocols.Definition, protocol: Mapping[str, Any]) -> None:
    """Refuse a metric that the protocol does not measure, or whose options contradict those of the run."""
    if measure.definition.is_of_pairs:
        raise ParameterError(
            f"{measure} compares two algorithms. Every full-ranking run measures it for all pairs; leave it out."
        )
    if measure.key not in definition.metrics:
        raise ParameterError(
            f"{definition.key} does not measure {measure}; its metrics are {', '.join(definition.metrics)}."
        )
    if measure.n is not None and measure.n > MAX_N:
        raise ParameterError(f"The list of {measure} is longer than {MAX_N}, the maximum.")
    if len(str(measure)) > LONGEST_METRIC_NAME:
        raise ParameterError(
            f"The name {measure} has {len(str(measure))} characters; at most {LONGEST_METRIC_NAME} are stored. Give "
            "its choices fewer values or digits."
        )
    if measure.ties != protocol.get("ties", "expected"):
        raise ParameterError(f"{measure} counts ties as {measure.ties}, the run as {protocol.get('ties', 'expected')}.")
    if "g" in measure.definition.choices and measure.g != protocol.get("g"):
        raise ParameterError(
            f"The generality g of {measure} differs from that of the run. Set it for the run (--g) instead."
        )
