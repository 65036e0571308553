"""Experiments from files: the shipped ones by name, anybody's own by path."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import yaml

from core.errors import ParameterError
from evaluation.experiments.fields import Field
from evaluation.experiments.schema import (
    CHECK_KINDS,
    FIGURE_KINDS,
    NEEDS,
    ORIGINS,
    Check,
    Claim,
    Contender,
    Experiment,
    Figure,
    Note,
    Place,
    PlannedRun,
    Table,
)

FOLDER = Path(__file__).parent
LARGEST_FILE = 1_000_000  # bytes
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_OF_CHECKS = {
    "order": ("by",),
    "highest": ("by",),
    "lowest": ("by",),
    "between": ("low", "high"),
    "near": ("within",),
    "another-best": (),
    "another-order": (),
}


class _Loader(yaml.SafeLoader):
    """Refuses a name that comes twice in one mapping, where plain YAML would quietly take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for name in [name for name, _ in node.value if isinstance(name, yaml.ScalarNode)]:
            if name.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{name.value!r} comes twice", name.start_mark)
            seen.add(name.value)
        return super().construct_mapping(node, deep)


def shipped() -> tuple[str, ...]:
    """Names of the shipped experiments, in alphabetical order.

    Examples
    --------
    >>> "survey-rmse" in shipped()
    True
    """
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def load(name: str) -> Experiment:
    """Read an experiment: a shipped one by its name, or a file by its path (anything that ends in .yaml or .yml).

    Raises
    ------
    ParameterError
        No such experiment or file, or what is wrong in it, and where.

    Examples
    --------
    >>> load("croc-hot").needs
    'ratings'
    """
    if name.endswith((".yaml", ".yml")):
        return read(Path(name))
    if name not in shipped():
        raise ParameterError(
            f"There is no experiment {name!r}; there are {', '.join(shipped())}. For one of your own give the path of "
            "its file, which ends in .yaml."
        )
    return read(FOLDER / f"{name}.yaml")


def read(file: Path) -> Experiment:
    """Read the file of an experiment.

    Raises
    ------
    ParameterError
        It is not there, is not YAML, or says something that an experiment cannot be; the message names the place.
    """
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise ParameterError(f"{file.name} is larger than any experiment ({LARGEST_FILE:,} bytes at most).")
        text = file.read_text(encoding="utf-8")
    except OSError as problem:
        raise ParameterError(f"The file {file} cannot be read: {problem.strerror or problem}.") from problem
    except UnicodeDecodeError as problem:
        raise ParameterError(f"{file.name} is not UTF-8 text (byte {problem.start + 1}).") from problem
    return parse(text, file.name)


def parse(text: str, file: str) -> Experiment:
    """Read an experiment from the text of a file; the file's name without its ending is the experiment's key.

    Raises
    ------
    ParameterError
        As `read`.
    """
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 — a safe loader that refuses names that come twice
    except yaml.YAMLError as problem:
        raise ParameterError(f"{file} is not YAML that can be read: {' '.join(str(problem).split())}.") from problem
    key = file.rsplit(".", 1)[0]
    top = Field(data, file).mapping(
        required=("title", "source", "question", "data", "needs", "algorithms", "runs", "tables"),
        optional=("seed", "figures", "found_elsewhere", "claims"),
    )
    if not _KEY.fullmatch(key):
        raise ParameterError(f"{file}: a file of an experiment is named in small letters, digits and hyphens.")
    contenders = {name: _contender(name, one) for name, one in _named(top["algorithms"]).items()}
    runs = {name: _run(name, one, contenders) for name, one in _named(top["runs"], is_key=True).items()}
    figures, claims = top.get("figures"), top.get("claims")
    notes = top.get("found_elsewhere")
    return Experiment(
        key=key,
        title=top["title"].text(),
        source=top["source"].text(),
        question=top["question"].text(),
        data=top["data"].text(),
        needs=cast(Any, top["needs"].one_of(tuple(NEEDS))),
        seed=top["seed"].whole(least=0) if "seed" in top else 1,
        contenders=contenders,
        runs=runs,
        tables=tuple(_table(name, one, runs) for name, one in _named(top["tables"], is_key=True).items()),
        figures=tuple(_figure(*one, runs) for one in _named(figures, is_key=True).items()) if figures else (),
        notes=tuple(_note(one) for one in notes.many()) if notes else (),
        claims=tuple(_claim(one, runs) for one in claims.many()) if claims else (),
    )


def _named(field: Field, *, is_key: bool = False) -> dict[str, Field]:
    found = field.mapping()
    if not found:
        raise field.refuse("at least one is needed here.")
    for name, one in found.items():
        if is_key and not _KEY.fullmatch(name):
            raise one.refuse("a name here has small letters, digits and hyphens, 40 at most.")
    return found


def _contender(name: str, field: Field) -> Contender:
    found = field.mapping(required=("algorithm",))
    return Contender(
        name=name,
        algorithm=found["algorithm"].text(),
        params={option: one.plain() for option, one in found.items() if option != "algorithm"},
    )


def _run(key: str, field: Field, contenders: dict[str, Contender]) -> PlannedRun:
    found = field.mapping(
        required=("title", "split", "protocol", "task"),
        optional=("algorithms", "metrics", "n", "profile_lengths", "reserve"),
    )
    names = tuple(contenders)
    if "algorithms" in found:
        names = tuple(one.one_of(tuple(contenders)) for one in found["algorithms"].many(least=1))
        _once(found["algorithms"], names)
    metrics = tuple(one.text() for one in found["metrics"].many()) if "metrics" in found else ()
    lengths = tuple(one.whole(least=1) for one in found["profile_lengths"].many()) if "profile_lengths" in found else ()
    return PlannedRun(
        key=key,
        title=found["title"].text(),
        split={name: one.plain() for name, one in found["split"].mapping(required=("name",)).items()},
        protocol={name: one.plain() for name, one in found["protocol"].mapping(required=("name",)).items()},
        task=found["task"].text(),
        contenders=names,
        metrics=metrics,
        n=found["n"].whole(least=1) if "n" in found else 5,
        profile_lengths=lengths,
        reserve=found["reserve"].number() if "reserve" in found else 0.0,
    )


def _once(field: Field, names: tuple[str, ...]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise field.refuse(f"{', '.join(twice)} comes twice.")


def _place(field: Field, runs: dict[str, PlannedRun]) -> Place:
    found = field.mapping(required=("run", "metric"), optional=("profile_length",))
    run = runs[found["run"].one_of(tuple(runs))]
    length = found["profile_length"].whole(least=1) if "profile_length" in found else 0
    if length and length not in run.profile_lengths:
        raise found["profile_length"].refuse(f"the run {run.key} does not measure profiles of {length}.")
    return Place(run.key, found["metric"].text(), length)


def _table(key: str, field: Field, runs: dict[str, PlannedRun]) -> Table:
    found = field.mapping(required=("title", "columns"), optional=())
    return Table(
        key, found["title"].text(), {name: _place(one, runs) for name, one in _named(found["columns"]).items()}
    )


def _figure(key: str, field: Field, runs: dict[str, PlannedRun]) -> Figure:
    found = field.mapping(required=("title", "kind", "run"), optional=("metric", "lengths", "is_share"))
    kind = found["kind"].one_of(FIGURE_KINDS)
    if (kind in ("bars", "lengths")) != ("metric" in found):
        raise field.refuse("a metric belongs to figures of the kinds bars and lengths, and to no others.")
    if (kind == "precision-recall") != ("lengths" in found):
        raise field.refuse("lengths belong to figures of the kind precision-recall, and to no others.")
    lengths = tuple(one.whole(least=1) for one in found["lengths"].many(least=2)) if "lengths" in found else ()
    return Figure(
        key=key,
        title=found["title"].text(),
        kind=cast(Any, kind),
        run=found["run"].one_of(tuple(runs)),
        metric=found["metric"].text() if "metric" in found else "",
        lengths=lengths,
        is_share=found["is_share"].yes_or_no() if "is_share" in found else True,
    )


def _note(field: Field) -> Note:
    found = field.mapping(required=("where",), optional=("says", "columns", "rows"))
    if ("columns" in found) != ("rows" in found):
        raise field.refuse("columns and rows come together.")
    columns = tuple(one.text() for one in found["columns"].many(least=1)) if "columns" in found else ()
    rows: dict[str, tuple[float | None, ...]] = {}
    for name, one in found["rows"].mapping().items() if "rows" in found else ():
        entries = one.many()
        if len(entries) != len(columns):
            raise one.refuse(f"{len(columns)} numbers are needed here, one a column, not {len(entries)}.")
        rows[name] = tuple(None if entry.value is None else entry.number() for entry in entries)
    says = found["says"].text() if "says" in found else ""
    return Note(found["where"].text(), says, columns, rows)


def _claim(field: Field, runs: dict[str, PlannedRun]) -> Claim:
    found = field.mapping(required=("says", "by", "where", "check"), optional=("read_as",))
    return Claim(
        says=found["says"].text(),
        origin=cast(Any, found["by"].one_of(tuple(ORIGINS))),
        where=found["where"].text(),
        check=_check(found["check"], runs),
        read_as=found["read_as"].text() if "read_as" in found else "",
    )


def _check(field: Field, runs: dict[str, PlannedRun]) -> Check:
    kind = field.mapping(required=("kind",))["kind"].one_of(CHECK_KINDS)
    found = field.mapping(required=("kind", "places", "algorithms"), optional=_OF_CHECKS[kind])
    places = tuple(_place(one, runs) for one in found["places"].many(least=1))
    names = tuple(one.text() for one in found["algorithms"].many(least=1))
    _once(found["algorithms"], names)
    for name, one in zip(names, found["algorithms"].many(), strict=True):
        for place in places:
            if name not in runs[place.run].contenders:
                raise one.refuse(f"the run {place.run} has no algorithm {name!r}.")
    if kind != "between" and len(names) < 2:
        raise found["algorithms"].refuse(f"a check of the kind {kind} compares at least 2 algorithms.")
    if kind.startswith("another-") and len(places) != 2:
        raise found["places"].refuse(f"a check of the kind {kind} compares two places.")
    if kind == "between" and not {"low", "high"} & set(found):
        raise field.refuse("a check of the kind between has low, high or both.")
    if kind == "near" and "within" not in found:
        raise field.refuse("a check of the kind near says within how much.")
    numbers = {name: found[name].number() for name in _OF_CHECKS[kind] if name in found}
    return Check(kind=cast(Any, kind), places=places, contenders=names, **numbers)
