"""Imports datasets, completely or not at all."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accounts.models import Project
from catalog.importers.auto import FORMATS, parse, propose
from catalog.importers.base import ImportRefused, Limits, ParsedDataset, Policy, UnsupportedOptions, address_problem
from catalog.importers.options import Options
from catalog.importers.proposal import Proposal
from catalog.importers.rows import is_in_order
from catalog.item_types import guessed_item_type
from catalog.models import Dataset, DatasetVersion
from catalog.selectors.ratings import USER_ATTRIBUTES
from catalog.services.item_facts import (
    change_item_language,
    check_item_language,
    check_item_type,
    installed_languages,
)
from catalog.services.versions import store_version
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from recommenders.data import Ratings, Scale

MOST_VALUES = 50  # of an attribute of users that the report counts
POLICY_OPTIONS = ("on_bad_row", "duplicates", "fix")
FORMAT_OPTIONS = frozenset(field.name for field in dataclasses.fields(Options)) - {"languages"}
Progress = Callable[[str, int, int | None], None]
ORDINARY = Limits()
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


@contextmanager
def import_refusals() -> Iterator[None]:
    """Turn an importer's refusals into `import.refused` with the problems, and `import.bad_option`."""
    try:
        yield
    except ImportRefused as refusal:
        problems = [dataclasses.asdict(problem) for problem in refusal.problems]
        extra = {"problems": problems, "total": refusal.total, "options": list(refusal.options)}
        extra["counts"] = refusal.counts
        raise ParallaxError("import.refused", str(refusal), extra) from refusal
    except UnsupportedOptions as problem:
        extra = {"format": problem.source_format, "untaken": list(problem.untaken), "taken": list(problem.taken)}
        raise ParallaxError("import.bad_option", str(problem), extra) from problem
    except ParameterError as problem:
        raise ParallaxError("import.bad_option", str(problem)) from problem


def import_dataset(
    *,
    path: Path,
    name: str,
    title: str | None = None,
    source_format: str = "auto",
    owner: Any = None,
    options: Mapping[str, Any] | None = None,
    limits: Limits = ORDINARY,
    progress: Progress | None = None,
    item_type: str | None = None,
    item_language: str | None = None,
    project: Project | None = None,
    proposal: Proposal | None = None,
) -> DatasetVersion:
    """Import a dataset from files, completely or not at all.

    `options` are the fields of `catalog.importers.options.Options` that the format takes, and those of
    `catalog.importers.base.Policy` (`on_bad_row`, `duplicates`, `fix`) for any. A `proposal` says what to do instead of
    what would be detected. `limits` say how far an archive may unfold.
    `progress` is called with what is being done,
    how far, and of how much where that is known. Without an `item_type` a new dataset gets the one that its format and
    columns suggest, and an existing one keeps its own; without an `item_language` an existing one keeps its own. A new
    dataset belongs to `project`; without one it is public. Raises ParallaxError for `import.refused` with file, line
    and reason, `import.bad_option`, `dataset.unknown_language`, or what `import_parsed` raises.
    """
    _check_name(name)
    check_item_type(item_type)
    check_item_language(item_language)
    chosen, policy_given = _sorted_options(options)

    def reading(file: str, rows: int) -> None:
        if progress is not None:
            progress(f"Reading {file}", rows, None)

    with import_refusals():
        parsed = parse(
            path,
            format=source_format,
            policy=Policy(**policy_given, limits=limits),
            options=Options(**chosen, languages=installed_languages()),
            proposal=proposal,
            progress=reading,
        )
    if progress is not None:
        progress("Storing items", parsed.n_items, parsed.n_items)
    if item_type is None and not Dataset.objects.filter(name=name).exists():
        item_type = _suggested_item_type(parsed, chosen)
    version = import_parsed(
        parsed=parsed,
        name=name,
        title=title,
        source_format=parsed.report.source_format,
        owner=owner,
        item_type=item_type,
        project=project,
    )
    if item_language is not None:
        version.dataset = change_item_language(dataset=version.dataset, language=item_language, actor=owner)
    return version


def proposed(
    *, path: Path, source_format: str = "auto", options: Mapping[str, Any] | None = None, limits: Limits = ORDINARY
) -> Proposal:
    """What an import would do. Raises ParallaxError for `import.refused` and `import.bad_option`."""
    chosen, _ = _sorted_options(options)
    with import_refusals():
        hints = Options(**chosen, languages=installed_languages())
        return propose(path, format=source_format, policy=Policy(limits=limits), options=hints)


def _sorted_options(options: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the hints, and those of the policy. Raises ParallaxError for `import.bad_option`."""
    chosen = {key: value for key, value in (options or {}).items() if value is not None}
    policy_given = {key: chosen.pop(key) for key in POLICY_OPTIONS if key in chosen}
    unknown = sorted(set(chosen) - FORMAT_OPTIONS)
    if unknown:
        raise ParallaxError("import.bad_option", f"An import has no option called {', '.join(unknown)}.")
    return chosen, policy_given


def _suggested_item_type(parsed: ParsedDataset, options: Mapping[str, Any]) -> str:
    columns = [options[name] for name in ("item", "items_id", "title") if name in options]
    features = options.get("features", {})
    parts = [part for part in parsed.report.recipe.get("parts", ()) if part["use"] in ("ratings", "items")]
    read = [column["name"] for part in parts for column in part["columns"] if column.get("role")]
    known = FORMATS.get(parsed.report.source_format)
    if known is not None and known.proposal.item_type:
        return known.proposal.item_type
    return guessed_item_type(
        [parsed.report.item_column, *columns, *features, *features.values(), *read],
        is_usage=parsed.scale.low == parsed.scale.high,
    )


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ParallaxError(
            "dataset.bad_name",
            f"A dataset cannot be called {name!r}. Use small letters, digits, hyphens and underscores, at most 80.",
        )


def import_parsed(
    *,
    parsed: ParsedDataset,
    name: str,
    title: str | None = None,
    source_format: str,
    is_synthetic: bool = False,
    owner: Any = None,
    item_type: str | None = None,
    project: Project | None = None,
) -> DatasetVersion:
    """Store a parsed dataset as a version, and return the version. Raises ParallaxError for `dataset.bad_name`,
    `dataset.unknown_item_type`, `dataset.elsewhere`, or `import.bad_data` where the ratings cannot be used.
    """
    _check_name(name)
    check_item_type(item_type)
    _check_addresses(parsed)
    try:
        arrays, scale = _arrays_of(parsed)
    except DataError as problem:
        raise ParallaxError("import.bad_data", f"The ratings cannot be used: {problem}") from problem
    report = parsed.report.as_json()
    if parsed.user_attributes:
        by_number = {f"attribute-{at}": values for at, values in enumerate(parsed.user_attributes.values())}
        digest = artefacts.store(USER_ATTRIBUTES, by_number, {})
        counts = {kind: Counter(values.tolist()) for kind, values in parsed.user_attributes.items()}
        kinds = {kind: dict(of_kind.most_common(MOST_VALUES)) for kind, of_kind in counts.items()}
        report["user_attributes"] = {"digest": digest, "kinds": [[kind, values] for kind, values in kinds.items()]}
    version, _ = store_version(
        name=name,
        title=title,
        arrays=arrays,
        scale=scale,
        items=parsed.items,
        source_format=source_format,
        is_synthetic=is_synthetic,
        report=report,
        owner=owner,
        item_type=item_type,
        project=project,
    )
    return version


def _check_addresses(parsed: ParsedDataset) -> None:
    """Refuse addresses that are not web addresses, because pages link to them."""
    for item in parsed.items:
        for what, address in (("image", item.image_url), ("trailer", item.trailer_url)):
            if address and (wrong := address_problem(address)):
                raise ParallaxError(
                    "import.bad_data",
                    f"Item {item.external_id} ({item.title}): the {what} {address[:80]!r} {wrong}. "
                    "Correct it or leave it empty.",
                )


def _arrays_of(parsed: ParsedDataset) -> tuple[artefacts.Arrays, Scale]:
    """The arrays to store, validated as the algorithms validate them on loading."""
    if parsed.n_ratings == 0:
        raise DataError("there are none.")
    scale = Scale(parsed.scale.low, parsed.scale.high, parsed.scale.step)
    order: Any = slice(None)
    starts: NDArray[Any]
    if is_in_order(parsed.users, parsed.items_rated) and parsed.scale.is_on(parsed.values).all():
        # Most sources are in the order of the matrix, and need no second look.
        starts = np.searchsorted(parsed.users, np.arange(parsed.n_users + 1, dtype=parsed.users.dtype))
        indices, values = parsed.items_rated, parsed.values
    else:
        order = np.lexsort((parsed.items_rated, parsed.users))
        matrix = Ratings.from_triples(
            parsed.users, parsed.items_rated, parsed.values, parsed.n_users, parsed.n_items, scale=scale
        ).user_items
        starts, indices, values = matrix.indptr, matrix.indices, matrix.data
    small = np.int32 if parsed.n_ratings <= np.iinfo(np.int32).max else np.int64
    timestamps = np.empty(0, dtype=np.int64) if parsed.timestamps is None else parsed.timestamps[order]
    arrays: artefacts.Arrays = {
        "indptr": starts.astype(small, copy=False),
        "indices": indices.astype(small, copy=False),
        "values": values,
        "user_ids": parsed.user_ids,
        "item_ids": parsed.item_ids,
        "timestamps": timestamps.astype(np.int64, copy=False),
    }
    # Only where a source has them: the arrays of the others keep their digests.
    if parsed.utilities is not None:
        arrays["utilities"] = parsed.utilities[order]
    if parsed.counts is not None:
        arrays["counts"] = parsed.counts[order]
    if parsed.probe is not None:
        arrays["probe"] = parsed.probe
    return arrays, scale
