"""The inputs of a run except its dataset: one model behind commands, the form of a new run, experiments and the API.

Splits and protocols may be written as in commands, ``probe:share=0.1``, algorithms and metrics separated by commas.
What a dataset must allow is checked by `evaluation.services.run_inputs`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    model_validator,
)

from core.errors import ParallaxError, ParameterError
from core.field_problems import FieldProblems, read_model
from evaluation.metrics.definition import LONGEST_METRIC_NAME, TASKS
from evaluation.metrics.registry import metric
from evaluation.protocols.registry import PROTOCOLS, protocol
from evaluation.splitting.registry import SPLITS, spec_of
from recommenders import registry
from recommenders.reranking import BAR

MAX_N = 100
SEED_LIMIT = 2**63
OWN_LIST = "dataset"  # instead of a digest: the probe list published with the dataset
_DIGEST = re.compile(r"[0-9a-f]{64}")


def named_settings(text: str) -> dict[str, Any]:
    """Parse a name with settings such as ``probe:share=0.1``, converting numbers. Raises ParameterError for text that
    does not have this form.
    """
    name, _, options = text.strip().partition(":")
    settings: dict[str, Any] = {"name": name}
    for option in filter(None, options.split(",")):
        key, equals, value = (piece.strip() for piece in option.partition("="))
        if not (key and equals and value) or key in settings:
            raise ParameterError(
                f"{option!r} in {text!r} is not a valid setting. Write settings as in probe:share=0.1, each once."
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


def settings_text(name: str, values: Mapping[str, Any]) -> str:
    """Write a name with its values, and those of a re-ranker after ``|``.

    Examples
    --------
    >>> settings_text("probe", {"share": 0.1}), settings_text("toppop", {})
    ('probe:share=0.1', 'toppop')
    >>> settings_text("puresvd|mmr", {"factors": 9, "mmr_strength": 0.3})
    'puresvd:factors=9|mmr:strength=0.3'
    """
    over, bar, method = name.rpartition(BAR)
    if bar:
        start = f"{method}_"
        own = {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}
        others = {key: value for key, value in values.items() if not key.startswith(start)}
        return f"{settings_text(over, others)}{BAR}{settings_text(method, own)}"
    # A value with options of its own comes first, because a list of algorithms is split where a name and ":" begin.
    ordered = sorted(values.items(), key=lambda pair: ":" not in str(pair[1]))
    options = ",".join(f"{key}={value!r}" if isinstance(value, float) else f"{key}={value}" for key, value in ordered)
    return f"{name}:{options}" if options else name


def named_algorithms(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Parse algorithms as written in commands: each key with its stated values. Raises ParameterError when the text is
    invalid.
    """
    return [
        (key, {name: getattr(registry.params_of(key, values), name) for name in values})
        for key, values in map(registry.named_values, registry.specifications(text))
    ]


def written(value: Mapping[str, Any] | Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Write a split, a protocol or named algorithms as in commands; unset settings are left out.

    Examples
    --------
    >>> written({"name": "probe", "share": 0.1, "list": ""}), written([("toppop", {}), ("puresvd", {"factors": 9})])
    ('probe:share=0.1', 'toppop, puresvd:factors=9')
    """
    if isinstance(value, Mapping):
        value = [(value["name"], {name: each for name, each in value.items() if name != "name"})]
    return ", ".join(
        settings_text(key, {name: each for name, each in stated.items() if each not in (None, "")})
        for key, stated in value
    )


def split_names(text: str) -> list[str]:
    """Split metric names at commas, except for commas inside parentheses.

    Examples
    --------
    >>> split_names("recall@5, f@5(g=.8,ties=best)")
    ['recall@5', 'f@5(g=.8,ties=best)']
    """
    return [name.strip() for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def _with_name(value: Any) -> Any:
    settings = named_settings(value) if isinstance(value, str) else value
    if isinstance(settings, Mapping) and "name" not in settings:
        raise ParameterError("Its name is missing. Add it as `name`.")
    return settings


def check_digest(value: object) -> None:
    """Refuse a file that is not named by the digest under which it is stored. Raises ParameterError."""
    if not _DIGEST.fullmatch(str(value)):
        raise ParameterError(
            "Files are identified by the digest they are stored under. Pass files to the command evaluate."
        )


def _possible_split(settings: dict[str, Any]) -> dict[str, Any]:
    if settings["name"] == "file":
        check_digest(settings.get("cases"))
        return {"name": "file", "cases": settings["cases"]}
    spec_of(settings)
    if settings.get("list", "") not in ("", OWN_LIST):
        check_digest(settings["list"])
    return settings


def _possible_protocol(settings: dict[str, Any]) -> dict[str, Any]:
    complete = protocol(settings["name"]).completed(settings)
    if complete.get("g") in (0, 1):  # the fields of forms allow their limits
        raise ParameterError(f"The generality g is {complete['g']:g}; it must lie between 0 and 1.")
    return settings


def _known_task(task: str) -> str:
    if task not in TASKS:
        raise ParameterError(f"Unknown task {task!r}. Available: {', '.join(TASKS)}.")
    return task


def _known_metrics(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(metric(name)) for name in names))


def _as_names(value: Any) -> Any:
    return split_names(value) if isinstance(value, str) else value


def _as_pairs(value: Any) -> Any:
    return [registry.named_values(text) for text in registry.specifications(value)] if isinstance(value, str) else value


def _known_algorithms(pairs: tuple[tuple[str, dict[str, Any]], ...]) -> tuple[tuple[str, dict[str, Any]], ...]:
    if not pairs:
        raise ParameterError(f"Name at least one algorithm. Available: {', '.join(registry.keys())}.")
    refuse_duplicates([(key, registry.params_of(key, values).as_dict()) for key, values in pairs])
    return pairs


def refuse_duplicates(algorithms: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Refuse an algorithm that is listed twice with the same complete parameters. Raises ParameterError."""
    for at, (key, params) in enumerate(algorithms):
        if (key, params) in algorithms[:at]:
            label = registry.label(key, params)
            raise ParameterError(f"{label} is listed twice with the same parameters; remove one.")


def _plain(value: Any) -> Any:
    if not isinstance(value, bool | int | float | str | None):
        raise ParameterError(f"Expected text, a number, true or false; got {value!r}.")
    return value


Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Plain = Annotated[Any, AfterValidator(_plain)]  # as it was written: 1 and 1.0 have other hashes
Lengths = Annotated[
    tuple[Annotated[Whole, Field(ge=1, le=1000)], ...], AfterValidator(lambda lengths: tuple(sorted(set(lengths))))
]
Algorithms = Annotated[
    tuple[tuple[str, dict[str, Any]], ...], BeforeValidator(_as_pairs), AfterValidator(_known_algorithms)
]
Settings = Annotated[dict[str, Plain], BeforeValidator(_with_name)]


class RunSettings(BaseModel):
    """How a run measures algorithms; what experiments state for each of their runs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    split: Annotated[Settings, AfterValidator(_possible_split)] = Field(
        title="Split", description=f"{', '.join(SPLITS)}; with options as in probe:share=0.1."
    )
    protocol: Annotated[Settings, AfterValidator(_possible_protocol)] = Field(
        title="Protocol", description=f"{', '.join(PROTOCOLS)}; with settings as in full-ranking:known=again."
    )
    task: Annotated[str, AfterValidator(_known_task)] = Field(
        "some", title="Task", description=f"{'; '.join(f'{key}: {words}' for key, words in TASKS.items())}."
    )
    metrics: Annotated[tuple[str, ...], BeforeValidator(_as_names), AfterValidator(_known_metrics)] = Field(
        (),
        title="More metrics",
        description="By name, separated by commas: recall@10 for one plus random; ndcg@10, map@10 for full ranking.",
    )
    n: Whole = Field(5, title="Length of the list (N)", ge=1, le=MAX_N)
    profile_lengths: Lengths = Field(
        (5,),
        title="Length of short profiles",
        description="Results are also measured with profiles of this many ratings, as participants give.",
    )
    reserve: Number = Field(
        0.0,
        title="Share of users to reserve",
        description="Excluded first, so that no model sees them; simulated participants use their ratings.",
        ge=0,
        lt=1,
    )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        definition = protocol(str(self.protocol["name"]))
        complete = definition.completed(self.protocol)
        self._check_split(complete)
        for name in self.metrics:
            measure = metric(name)
            if measure.definition.is_of_pairs:
                raise ParameterError(
                    f"{measure} compares two algorithms. Every full-ranking run measures it for all pairs; leave it "
                    "out."
                )
            if measure.key not in definition.metrics:
                raise ParameterError(
                    f"{definition.key} does not measure {measure}; its metrics are {', '.join(definition.metrics)}."
                )
            if measure.n is not None and measure.n > MAX_N:
                raise ParameterError(f"The list of {measure} is longer than {MAX_N}, the maximum.")
            if len(str(measure)) > LONGEST_METRIC_NAME:
                raise ParameterError(
                    f"The name {measure} has {len(str(measure))} characters; at most {LONGEST_METRIC_NAME} are stored. "
                    "Give its choices fewer values or digits."
                )
            if measure.ties != complete.get("ties", "expected"):
                raise ParameterError(
                    f"{measure} counts ties as {measure.ties}, the run as {complete.get('ties', 'expected')}."
                )
            if "g" in measure.definition.choices and measure.g != complete.get("g"):
                raise ParameterError(
                    f"The generality g of {measure} differs from that of the run. Set it for the run (--g) instead."
                )
        return self

    def _check_split(self, protocol: Mapping[str, Any]) -> None:
        name = self.split["name"]
        if name == "file":
            if self.reserve:
                raise ParameterError(
                    "A file of cases defines the training users, so no share of users can be reserved. Set it to 0."
                )
            if protocol["name"] != "one-plus-random" or protocol["mode"] != "sampled":
                raise ParameterError(
                    "A file of cases contains its candidates, so its protocol must be one-plus-random, sampled."
                )
            return
        spec = spec_of(self.split)
        if spec.trains_many and protocol["name"] == "unconstrained":
            raise ParameterError(
                f"The split {name} trains several models, whose scores cannot be ranked in one list over all pairs. "
                "Choose another split or another protocol."
            )
        if spec.inner is not None and protocol["name"] == "unconstrained":
            raise ParameterError(
                "One list over all pairs cannot be divided into two groups of users, so dev-eval is not possible."
            )
        if self.split.get("candidates") == "all" and protocol["name"] != "test-observations":
            raise ParameterError(
                "The split ranks all test items (candidates=all) only in the protocol test-observations."
            )


class RunSpec(RunSettings):
    """All inputs of a run except its dataset. Every field is part of the hash by which runs with equal inputs are
    found, so a new field needs a way to leave out its default there.
    """

    algorithms: Algorithms  # key and stated parameters of each, or a text such as toppop,puresvd:factors=50
    seed: Whole = Field(1, title="Seed", ge=0, lt=SEED_LIMIT)
    threads: Whole | None = Field(
        None, title="Numeric threads of each worker", description="Unless stated NUMERIC_THREADS.", ge=1
    )

    @classmethod
    def of(cls, **values: Any) -> Self:
        """The inputs with these values, and defaults for the others. Raises ParallaxError with code ``run.bad_input``:
        they are not possible with any dataset; the message says what is allowed.
        """
        try:
            return read_model(cls, values)
        except FieldProblems as problems:
            raise ParallaxError("run.bad_input", str(problems)) from problems
