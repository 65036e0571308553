"""Reader of experiment files in YAML: shipped experiments by name, other files by path."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import yaml

from core.errors import ParameterError
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
    PlannedRun,
    Quantity,
    SizeSearch,
    Table,
)
from evaluation.experiments.yaml_fields import Field
from recommenders.criteria import SIZES
from recommenders.size_selection import RULES

FOLDER = Path(__file__).parent
LARGEST_FILE = 1_000_000  # bytes
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class _Loader(yaml.SafeLoader):
    """Loader that refuses duplicate keys in a mapping, where plain YAML would silently use the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for name in [name for name, _ in node.value if isinstance(name, yaml.ScalarNode)]:
            if name.value in names:
                raise yaml.constructor.ConstructorError(None, None, f"{name.value!r} appears twice", name.start_mark)
            names.add(name.value)
        return super().construct_mapping(node, deep)


def shipped() -> tuple[str, ...]:
    """Return the names of the shipped experiments in alphabetical order.

    Examples
    --------
    >>> "survey-rmse" in shipped()
    True
    """
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def load(name: str) -> Experiment:
    """Read an experiment: a shipped one by its name, or a file by its path (anything that ends in .yaml or .yml).
    Raises ParameterError for a missing experiment or file, and says what is wrong in one, and where.
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
    """Read the file of an experiment. Raises ParameterError when it is not there, is not YAML, or says something that
    an experiment cannot be; the message names the place.
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
    """Read an experiment from the text of a file; the file's name without its ending is the experiment's key. Raises
    ParameterError as `read` does.
    """
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 — a safe loader that refuses repeated names  # nosec B506
    except yaml.YAMLError as problem:
        raise ParameterError(f"{file} is not YAML that can be read: {' '.join(str(problem).split())}.") from problem
    key = file.rsplit(".", 1)[0]
    top = Field(data, file).mapping(
        required=("title", "source", "question", "data", "needs", "algorithms", "runs", "tables"),
        optional=("seed", "figures", "found_elsewhere", "claims"),
    )
    if not _KEY.fullmatch(key):
        raise ParameterError(
            f"{file}: the name of an experiment file may contain only lower-case letters, digits and hyphens."
        )
    contenders = {name: _contender(name, field) for name, field in _named_fields(top["algorithms"]).items()}
    runs = {name: _run(name, field, contenders) for name, field in _named_fields(top["runs"], is_key=True).items()}
    figures, claims = top.get("figures"), top.get("claims")
    elsewhere = top.get("found_elsewhere")
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
        tables=tuple(_table(name, field, runs) for name, field in _named_fields(top["tables"], is_key=True).items()),
        figures=tuple(_figure(*field, runs) for field in _named_fields(figures, is_key=True).items())
        if figures
        else (),
        notes=tuple(_note(field) for field in elsewhere.many()) if elsewhere else (),
        claims=tuple(_claim(field, runs) for field in claims.many()) if claims else (),
    )


def _named_fields(field: Field, *, is_key: bool = False) -> dict[str, Field]:
    fields = field.mapping()
    if not fields:
        raise field.refuse("at least one entry is required here.")
    for name, entry in fields.items():
        if is_key and not _KEY.fullmatch(name):
            raise entry.refuse("names here may contain only lower-case letters, digits and hyphens, at most 40.")
    return fields


def _contender(name: str, field: Field) -> Contender:
    fields = field.mapping(required=("algorithm",))
    algorithm = fields["algorithm"].text()
    params = {name: option.plain() for name, option in fields.items() if name not in ("algorithm", "choose")}
    search = _search(fields["choose"], algorithm, params) if "choose" in fields else None
    return Contender(name=name, algorithm=algorithm, params=params, search=search)


def _search(field: Field, algorithm: str, params: dict[str, Any]) -> SizeSearch:
    fields = field.mapping(required=("values",), optional=("share", "rule"))
    if algorithm not in SIZES:
        raise field.refuse(f"there is no size to choose for {algorithm}; there is for {', '.join(SIZES)}.")
    parameter = SIZES[algorithm].parameter
    if parameter in params:
        raise field.refuse(f"{parameter} is what is chosen; remove its value.")
    values = tuple(entry.whole(least=1) for entry in fields["values"].many(least=2))
    if list(values) != sorted(set(values)):
        raise fields["values"].refuse("sizes must ascend.")
    share = fields["share"].number() if "share" in fields else SizeSearch.share
    if not 0 < share <= 0.5:
        raise fields["share"].refuse("the share that is held out must lie above 0 and be at most 0.5.")
    return SizeSearch(values, share, fields["rule"].one_of(RULES) if "rule" in fields else SizeSearch.rule)


def _run(key: str, field: Field, contenders: dict[str, Contender]) -> PlannedRun:
    fields = field.mapping(
        required=("title", "split", "protocol", "task"),
        optional=("algorithms", "metrics", "n", "profile_lengths", "reserve"),
    )
    names = tuple(contenders)
    if "algorithms" in fields:
        names = tuple(entry.one_of(tuple(contenders)) for entry in fields["algorithms"].many(least=1))
        _refuse_duplicates(fields["algorithms"], names)
    metrics = tuple(entry.text() for entry in fields["metrics"].many()) if "metrics" in fields else ()
    lengths = (
        tuple(entry.whole(least=1) for entry in fields["profile_lengths"].many()) if "profile_lengths" in fields else ()
    )
    return PlannedRun(
        key=key,
        title=fields["title"].text(),
        split={name: entry.plain() for name, entry in fields["split"].mapping(required=("name",)).items()},
        protocol={name: entry.plain() for name, entry in fields["protocol"].mapping(required=("name",)).items()},
        task=fields["task"].text(),
        contenders=names,
        metrics=metrics,
        n=fields["n"].whole(least=1) if "n" in fields else 5,
        profile_lengths=lengths,
        reserve=fields["reserve"].number() if "reserve" in fields else 0.0,
    )


def _refuse_duplicates(field: Field, names: tuple[str, ...]) -> None:
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise field.refuse(f"{', '.join(duplicates)} is listed twice.")


def _quantity(field: Field, runs: dict[str, PlannedRun]) -> Quantity:
    fields = field.mapping(required=("run", "metric"), optional=("profile_length",))
    run = runs[fields["run"].one_of(tuple(runs))]
    length = fields["profile_length"].whole(least=1) if "profile_length" in fields else 0
    if length and length not in run.profile_lengths:
        raise fields["profile_length"].refuse(f"the run {run.key} does not measure profiles of {length}.")
    return Quantity(run.key, fields["metric"].text(), length)


def _table(key: str, field: Field, runs: dict[str, PlannedRun]) -> Table:
    fields = field.mapping(required=("title", "columns"), optional=())
    return Table(
        key,
        fields["title"].text(),
        {name: _quantity(entry, runs) for name, entry in _named_fields(fields["columns"]).items()},
    )


def _figure(key: str, field: Field, runs: dict[str, PlannedRun]) -> Figure:
    fields = field.mapping(required=("title", "kind", "run"), optional=("metric", "lengths", "is_share"))
    kind = fields["kind"].one_of(FIGURE_KINDS)
    if (kind in ("bars", "lengths")) != ("metric" in fields):
        raise field.refuse("metric is required for figures of the kinds bars and lengths, and not allowed for others.")
    if (kind == "precision-recall") != ("lengths" in fields):
        raise field.refuse("lengths are required for figures of the kind precision-recall, and not allowed for others.")
    lengths = tuple(entry.whole(least=1) for entry in fields["lengths"].many(least=2)) if "lengths" in fields else ()
    return Figure(
        key=key,
        title=fields["title"].text(),
        kind=cast(Any, kind),
        run=fields["run"].one_of(tuple(runs)),
        metric=fields["metric"].text() if "metric" in fields else "",
        lengths=lengths,
        is_share=fields["is_share"].yes_or_no() if "is_share" in fields else True,
    )


def _note(field: Field) -> Note:
    fields = field.mapping(required=("where",), optional=("says", "columns", "rows"))
    if ("columns" in fields) != ("rows" in fields):
        raise field.refuse("columns and rows must be given together.")
    columns = tuple(row.text() for row in fields["columns"].many(least=1)) if "columns" in fields else ()
    rows: dict[str, tuple[float | None, ...]] = {}
    for name, row in fields["rows"].mapping().items() if "rows" in fields else ():
        entries = row.many()
        if len(entries) != len(columns):
            raise row.refuse(f"{len(columns)} numbers are required here, one per column, not {len(entries)}.")
        rows[name] = tuple(None if entry.value is None else entry.number() for entry in entries)
    says = fields["says"].text() if "says" in fields else ""
    return Note(fields["where"].text(), says, columns, rows)


def _claim(field: Field, runs: dict[str, PlannedRun]) -> Claim:
    fields = field.mapping(required=("says", "by", "where", "check"), optional=("read_as",))
    return Claim(
        says=fields["says"].text(),
        origin=cast(Any, fields["by"].one_of(tuple(ORIGINS))),
        where=fields["where"].text(),
        check=_check(fields["check"], runs),
        read_as=fields["read_as"].text() if "read_as" in fields else "",
    )


def _check(field: Field, runs: dict[str, PlannedRun]) -> Check:
    kind = field.mapping(required=("kind",))["kind"].one_of(tuple(CHECK_KINDS))
    rule, numbers = CHECK_KINDS[kind]
    fields = field.mapping(required=("kind", "places", "algorithms"), optional=numbers)
    quantities = tuple(_quantity(entry, runs) for entry in fields["places"].many(least=1))
    names = tuple(entry.text() for entry in fields["algorithms"].many(least=1))
    _refuse_duplicates(fields["algorithms"], names)
    for name, entry in zip(names, fields["algorithms"].many(), strict=True):
        for quantity in quantities:
            if name not in runs[quantity.run].contenders:
                raise entry.refuse(f"the run {quantity.run} has no algorithm {name!r}.")
    if kind not in ("between", "top", "bottom") and len(names) < 2:
        raise fields["algorithms"].refuse(f"a check of the kind {kind} requires at least 2 algorithms.")
    if kind.startswith("another-") and len(quantities) != 2:
        raise fields["places"].refuse(f"a check of the kind {kind} requires two places.")
    if kind == "between" and not {"low", "high"} & set(fields):
        raise field.refuse("a check of the kind between requires low, high or both.")
    if kind == "near" and "within" not in fields:
        raise field.refuse("a check of the kind near requires within.")
    return Check(rule, quantities, names, {name: fields[name].number() for name in numbers if name in fields})
