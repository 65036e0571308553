"""What changes the catalogue: imports that happen whole or not at all, and retiring a version."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone
from scipy import sparse

from catalog.demo.films import FILMS_PATH, DemoFilm, demo_films
from catalog.demo.taste import synthetic_ratings
from catalog.importers.auto import parse
from catalog.importers.base import (
    ImportRefused,
    ImportReport,
    ParsedDataset,
    ParsedItem,
    Policy,
    RatingScale,
)
from catalog.importers.options import Options
from catalog.importers.rows import is_in_order
from catalog.models import Dataset, DatasetVersion, Feature, Item
from catalog.selectors.folding import sort_title
from catalog.selectors.ratings import ARTEFACT_KIND
from core import artefacts
from core.errors import DataError, ParallaxError, ParameterError
from core.models import LogEntry
from core.provenance import digest_of, digest_of_arrays
from recommenders.data import Ratings, Scale

DEMO_NAME = "demo-films"
CONTENT_FORMAT = 1
ROWS_AT_ONCE = 2_000
POLICY_OPTIONS = ("on_bad_row", "duplicates")
FORMAT_OPTIONS = frozenset(field.name for field in dataclasses.fields(Options))
Progress = Callable[[str, int, int | None], None]
LONGEST_ADDRESS = 500
_WEB_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


def import_dataset(
    *,
    path: Path,
    name: str,
    title: str | None = None,
    source_format: str = "auto",
    owner: Any = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> DatasetVersion:
    """Read a dataset from files and keep it, whole or not at all.

    `options` are the fields of `catalog.importers.options.Options` that the format takes, and those of
    `catalog.importers.base.Policy` (`on_bad_row`, `duplicates`) for any. `progress` is called with what is
    being done, how far, and of how much where that is known.

    Raises
    ------
    ParallaxError
        `import.refused` with file, line and reason, `import.bad_option`, or what `import_parsed` raises.
    """
    _check_name(name)
    given = {key: value for key, value in (options or {}).items() if value is not None}
    policy_given = {key: given.pop(key) for key in POLICY_OPTIONS if key in given}
    unknown = sorted(set(given) - FORMAT_OPTIONS)
    if unknown:
        raise ParallaxError("import.bad_option", f"An import has no option called {', '.join(unknown)}.")

    def reading(file: str, rows: int) -> None:
        if progress is not None:
            progress(f"Reading {file}", rows, None)

    try:
        parsed = parse(
            path,
            format=source_format,
            policy=Policy(**policy_given),
            options=Options(**given) if given else None,
            progress=reading,
        )
    except ImportRefused as refusal:
        problems = [dataclasses.asdict(problem) for problem in refusal.problems]
        raise ParallaxError("import.refused", str(refusal), {"problems": problems, "total": refusal.total}) from refusal
    except ParameterError as problem:
        raise ParallaxError("import.bad_option", str(problem)) from problem
    if progress is not None:
        progress("Keeping items", parsed.n_items, parsed.n_items)
    return import_parsed(parsed=parsed, name=name, title=title, source_format=parsed.report.source_format, owner=owner)


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
) -> DatasetVersion:
    """Keep a parsed dataset as a version of the dataset `name`, and return the version.

    The same content (ratings, items and whether they are synthetic) under the same name gives the version
    that is there already, brought back if it was retired; other content gets the next number. The arrays
    are written before the rows: a crash in between leaves arrays that nothing names, never rows without them.

    Raises
    ------
    ParallaxError
        `dataset.bad_name`, or `import.bad_data` where the ratings cannot be used.
    """
    _check_name(name)
    _check_addresses(parsed)
    try:
        arrays, scale = _arrays_of(parsed)
    except DataError as problem:
        raise ParallaxError("import.bad_data", f"The ratings cannot be used: {problem}") from problem
    with ThreadPoolExecutor(1) as beside:  # one writes the arrays while the other reads the facts
        stored = beside.submit(
            artefacts.store, ARTEFACT_KIND, arrays, {"low": scale.low, "high": scale.high, "step": scale.step}
        )
        facts = [scale.low, scale.high, scale.step, is_synthetic, [_item_facts(item) for item in parsed.items]]
        content_hash = digest_of([CONTENT_FORMAT, digest_of_arrays(arrays), facts])
        digest = stored.result()
    with transaction.atomic():
        dataset, _ = Dataset.objects.select_for_update().get_or_create(
            name=name, defaults={"title": title or name, "owner": owner}
        )
        if title and dataset.title != title:
            dataset.title = title
            dataset.save()
        known = dataset.versions.filter(content_hash=content_hash).first()
        if known is not None:
            return _reinstated(known, owner)
        newest = dataset.versions.order_by("-number").first()
        version = DatasetVersion.objects.create(
            dataset=dataset,
            number=newest.number + 1 if newest else 1,
            content_hash=content_hash,
            ratings_digest=digest,
            source_format=source_format,
            is_synthetic=is_synthetic,
            n_users=parsed.n_users,
            n_items=parsed.n_items,
            n_ratings=parsed.n_ratings,
            scale_low=scale.low,
            scale_high=scale.high,
            scale_step=scale.step,
            report=parsed.report.as_json(),
        )
        _create_items(version, parsed)
    _count_rows()
    return version


def _check_addresses(parsed: ParsedDataset) -> None:
    """Pages link to trailers: an address that is not of the web would be a hole in them."""
    for item in parsed.items:
        for what, address in (("image", item.image_url), ("trailer", item.trailer_url)):
            if address and (len(address) > LONGEST_ADDRESS or not _WEB_ADDRESS.fullmatch(address)):
                raise ParallaxError(
                    "import.bad_data",
                    f"Item {item.external_id} ({item.title}): the {what} {address[:80]!r} is not a web address "
                    f"(https://…) of at most {LONGEST_ADDRESS} characters. Correct it or leave it empty.",
                )


def _arrays_of(parsed: ParsedDataset) -> tuple[artefacts.Arrays, Scale]:
    """The arrays that are stored, checked as the algorithms will check them when they open them."""
    if parsed.n_ratings == 0:
        raise DataError("there are none.")
    scale = Scale(parsed.scale.low, parsed.scale.high, parsed.scale.step)
    order: Any = slice(None)  # most sources are in the order of the matrix
    if is_in_order(parsed.users, parsed.items_rated):
        starts = np.concatenate(([0], np.cumsum(np.bincount(parsed.users, minlength=parsed.n_users))))
        shape = (parsed.n_users, parsed.n_items)
        ratings = Ratings(sparse.csr_array((parsed.values, parsed.items_rated, starts), shape=shape), scale)
    else:
        order = np.lexsort((parsed.items_rated, parsed.users))
        ratings = Ratings.from_triples(
            parsed.users, parsed.items_rated, parsed.values, parsed.n_users, parsed.n_items, scale
        )
    user_items = ratings.user_items
    small = np.int32 if user_items.nnz <= np.iinfo(np.int32).max else np.int64
    timestamps = np.empty(0, dtype=np.int64) if parsed.timestamps is None else parsed.timestamps[order]
    arrays: artefacts.Arrays = {
        "indptr": user_items.indptr.astype(small, copy=False),
        "indices": user_items.indices.astype(small, copy=False),
        "values": user_items.data,
        "user_ids": parsed.user_ids,
        "item_ids": parsed.item_ids,
        "timestamps": timestamps.astype(np.int64, copy=False),
    }
    # Only where a source has them: the arrays of the others keep their digests.
    if parsed.utilities is not None:
        arrays["utilities"] = parsed.utilities[order]
    if parsed.probe is not None:
        arrays["probe"] = parsed.probe
    return arrays, scale


def _item_facts(item: ParsedItem) -> list[Any]:
    return [
        item.external_id,
        item.title,
        item.year,
        item.plot,
        [list(feature) for feature in item.features],
        item.image_url,
        item.trailer_url,
        [list(link) for link in item.links],
    ]


def _create_items(version: DatasetVersion, parsed: ParsedDataset) -> None:
    """Write the rows as plain tuples: a model instance for each costs ten times the insertion."""
    counts = np.bincount(parsed.items_rated, minlength=parsed.n_items).tolist()
    prepared = Item._meta.get_field("links").get_db_prep_save
    no_links = prepared({}, connection)
    _insert(
        Item,
        ("version", "index", "external_id", "title", "sort_title", "year", "plot", "image", "image_url",
         "trailer_url", "links", "n_ratings"),
        (
            (version.pk, index, item.external_id, item.title, sort_title(item.title), item.year, item.plot, "",
             item.image_url, item.trailer_url, prepared(dict(item.links), connection) if item.links else no_links,
             counts[index])
            for index, item in enumerate(parsed.items)
        ),
    )  # fmt: skip
    keys = dict(version.items.order_by().values_list("index", "pk"))
    _insert(
        Feature,
        ("item", "kind", "value", "position"),
        (
            (keys[index], kind, value, position)
            for index, item in enumerate(parsed.items)
            for position, (kind, value) in enumerate(item.features)
        ),
    )


def _insert(model: type[Model], names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    quoted = connection.ops.quote_name
    columns = ", ".join(quoted(model._meta.get_field(name).column) for name in names)
    places = ", ".join(["%s"] * len(names))
    statement = f"INSERT INTO {quoted(model._meta.db_table)} ({columns}) VALUES ({places})"  # noqa: S608  # our own names
    pending = iter(rows)
    with connection.cursor() as cursor:
        while batch := list(itertools.islice(pending, ROWS_AT_ONCE)):
            cursor.executemany(statement, batch)


def _count_rows() -> None:
    """Let the database look at the new rows now: plans for tables it takes to be empty are slow by the thousand."""
    with connection.cursor() as cursor:
        for model in (Item, Feature):
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def _reinstated(version: DatasetVersion, actor: Any) -> DatasetVersion:
    if version.retired_at is not None:
        version.retired_at = None
        version.save(update_fields=["retired_at", "updated_at"])
        _log(version, actor, "retired", "open")
    return version


@transaction.atomic
def retire_version(*, version: DatasetVersion, actor: Any = None) -> DatasetVersion:
    """Offer the version for nothing new; what was made from it stays. Twice is once."""
    if version.retired_at is None:
        version.retired_at = timezone.now()
        version.save(update_fields=["retired_at", "updated_at"])
        _log(version, actor, "open", "retired")
    return version


def _log(version: DatasetVersion, actor: Any, before: str, after: str) -> None:
    LogEntry.objects.create(
        actor=actor, kind=version._meta.label_lower, object_id=version.pk, from_status=before, to_status=after
    )


def load_demo_dataset(*, seed: int = 1, owner: Any = None) -> DatasetVersion:
    """Import the demo catalogue with ratings drawn from the model of taste; the same seed gives the same version."""
    return import_parsed(
        parsed=_demo_parsed(seed),
        name=DEMO_NAME,
        title="Demo films",
        source_format="demo",
        is_synthetic=True,
        owner=owner,
    )


def _demo_parsed(seed: int) -> ParsedDataset:
    films = demo_films()
    drawn = synthetic_ratings(seed=seed)
    n_users = int(drawn.users.max()) + 1
    scale = RatingScale(1, 5, 1)
    n_ratings = len(drawn.values)
    return ParsedDataset(
        user_ids=np.array([f"synthetic-{user + 1:04d}" for user in range(n_users)], dtype=np.str_),
        items=tuple(_demo_item(number, film) for number, film in enumerate(films, start=1)),
        users=drawn.users.astype(np.int32),
        items_rated=drawn.items.astype(np.int32),
        values=drawn.values.astype(np.float32),
        timestamps=None,
        scale=scale,
        report=ImportReport(
            source_format="demo",
            files=(FILMS_PATH.name,),
            rows_read=n_ratings,
            rows_kept=n_ratings,
            dropped={},
            examples={},
            warnings=(
                f"The ratings are synthetic: a model of taste with seed {seed} drew them. They say nothing about "
                "the films or about people.",
            ),
            scale=str(scale),
        ),
    )


def _demo_item(number: int, film: DemoFilm) -> ParsedItem:
    facts = (
        ("genre", film.genres),
        ("director", film.directors),
        ("cast", film.cast),
        ("country", film.countries),
        ("decade", (f"{film.year - film.year % 10}s",)),
    )
    return ParsedItem(
        external_id=f"demo-{number:04d}",
        title=film.title,
        year=film.year,
        plot=film.plot,
        features=tuple((kind, value) for kind, values in facts for value in values),
        trailer_url=film.trailer_url,
    )
