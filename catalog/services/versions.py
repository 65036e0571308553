"""Stores versions of datasets under their content hash, and retires and reinstates them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from django.db import connection, transaction
from django.db.models import Field, Model
from django.utils import timezone
from numpy.typing import NDArray

from accounts.models import Project
from catalog.importers.base import ParsedItem
from catalog.models import Dataset, DatasetVersion, Feature, Item
from catalog.selectors.ratings import ARTEFACT_KIND, scale_of
from catalog.selectors.text_folding import without_article
from core import artefacts
from core.errors import ParallaxError
from core.models import LogEntry
from core.provenance import digest_of, digest_of_arrays
from recommenders.data import Scale

CONTENT_FORMAT = 1
ROWS_AT_ONCE = 2_000
ITEM_COLUMNS = (
    *("index", "external_id", "title", "sort_title", "year", "plot"),
    *("image", "image_url", "trailer_url", "clip", "excerpt", "links", "texts", "n_ratings"),
)


def store_version(
    *,
    name: str,
    title: str | None,
    arrays: artefacts.Arrays,
    scale: Scale,
    items: Sequence[ParsedItem],
    source_format: str,
    is_synthetic: bool,
    report: Mapping[str, Any],
    owner: Any,
    item_type: str | None = None,
    project: Project | None = None,
) -> tuple[DatasetVersion, bool]:
    """Store ratings and items as a version of the dataset `name`; return the version, and whether its content is new.

    The same content (ratings, items and whether they are synthetic) under the same name gives the version
    that is there already, brought back if it was retired; other content gets the next number. The arrays
    are written before the rows can be seen: a crash in between leaves arrays that nothing names, never rows without
    them.
    Arrays that are there already are not written again, so versions with the same ratings share them. `item_type` is
    the dataset's from now on; None leaves what it has. `project` is that of a new dataset; None leaves an existing one
    where it is. Raises ParallaxError for `dataset.elsewhere`: it is there already, and not in this project.
    """
    meta = {"low": scale.low, "high": scale.high, "step": scale.step}
    with ThreadPoolExecutor(1) as executor:  # the arrays are hashed and stored while the items are prepared
        read = executor.submit(digest_of_arrays, arrays)
        facts = [scale.low, scale.high, scale.step, is_synthetic, [_item_facts(item) for item in items]]
        rows = _item_rows(items, np.bincount(arrays["indices"], minlength=len(items)))
        arrays_digest = read.result()
        stored = executor.submit(artefacts.store, ARTEFACT_KIND, arrays, meta, arrays_digest=arrays_digest)
        with transaction.atomic():
            version, is_new = _version_row(
                name=name,
                title=title,
                item_type=item_type,
                owner=owner,
                project=project,
                content_hash=digest_of([CONTENT_FORMAT, arrays_digest, facts]),
                ratings_digest=artefacts.digest_of_artefact(arrays_digest, meta),
                source_format=source_format,
                is_synthetic=is_synthetic,
                n_users=len(arrays["user_ids"]),
                n_items=len(items),
                n_ratings=len(arrays["values"]),
                scale_low=scale.low,
                scale_high=scale.high,
                scale_step=scale.step,
                report=dict(report),
            )
            if is_new:
                _create_items(version, items, rows)
            stored.result()  # before any row can be seen
    if is_new:
        _count_rows()
    return version, is_new


@transaction.atomic
def store_successor(
    *,
    version: DatasetVersion,
    arrays: artefacts.Arrays,
    items: Sequence[ParsedItem],
    what: str,
    entry: Mapping[str, Any],
    reason: str,
    facts: Mapping[str, Any],
    actor: Any,
) -> tuple[DatasetVersion, bool]:
    """Store what was made of a version as `store_version` does; its report has one `entry` more under `what`."""
    successor, is_new = store_version(
        name=version.dataset.name,
        title=None,
        arrays=arrays,
        scale=scale_of(version),
        items=items,
        source_format=version.source_format,
        is_synthetic=version.is_synthetic,
        report={**version.report, what: [*version.report.get(what, []), entry]},
        owner=actor,
    )
    if is_new:
        LogEntry.objects.create(
            actor=actor,
            kind=successor._meta.label_lower,
            object_id=successor.pk,
            to_status="open",
            reason=reason,
            facts=facts,
        )
    return successor, is_new


def _version_row(
    *,
    name: str,
    title: str | None,
    item_type: str | None,
    owner: Any,
    project: Project | None,
    content_hash: str,
    **facts: Any,
) -> tuple[DatasetVersion, bool]:
    """The row of the version with this content, and whether it is a new one, whose items are to be written."""
    dataset, _ = Dataset.objects.select_for_update().get_or_create(
        name=name, defaults={"title": title or name, "owner": owner, "project": project}
    )
    if project is not None and dataset.project_id != project.pk:
        raise ParallaxError(
            "dataset.elsewhere",
            f"There is a dataset called {name!r} already, which is not in the project {project}. Move it there first, "
            "or choose another name.",
        )
    title, item_type = title or dataset.title, item_type or dataset.item_type
    if (title, item_type) != (dataset.title, dataset.item_type):
        dataset.title, dataset.item_type = title, item_type
        dataset.save()
    known = dataset.versions.filter(content_hash=content_hash).first()
    if known is not None:
        if known.retired_at is not None:
            known.retired_at = None
            known.save(update_fields=["retired_at", "updated_at"])
            _log(known, owner, "retired", "open")
        return known, False
    newest = dataset.versions.order_by("-number").first()
    number = newest.number + 1 if newest else 1
    return DatasetVersion.objects.create(dataset=dataset, number=number, content_hash=content_hash, **facts), True


def _item_facts(item: ParsedItem) -> tuple[Any, ...]:
    """The part of an item that the content hash covers; JSON turns tuples into lists."""
    return (
        item.external_id,
        item.title,
        item.year,
        item.plot,
        item.features,
        item.image_url,
        item.trailer_url,
        item.links,
        # Content without pictures, localised texts, clips or excerpts keeps the hash it has always had.
        *((item.image,) if item.image else ()),
        *(({"texts": item.texts},) if item.texts else ()),
        *(({"clip": item.clip},) if item.clip else ()),
        *(({"excerpt": item.excerpt},) if item.excerpt else ()),
    )


def _item_rows(items: Sequence[ParsedItem], counts: NDArray[np.int64]) -> list[tuple[Any, ...]]:
    """The items as plain tuples in the order of `ITEM_COLUMNS`: creating model instances takes ten times as long."""
    prepared = Item._meta.get_field("links").get_db_prep_save
    empty = prepared({}, connection)
    rows = []
    for index, (item, n_ratings) in enumerate(zip(items, counts.tolist(), strict=True)):
        facts = (item.external_id, item.title, without_article(item.title), item.year, item.plot)
        media = (item.image, item.image_url, item.trailer_url, item.clip, item.excerpt)
        links = prepared(dict(item.links), connection) if item.links else empty
        texts = prepared(item.texts, connection) if item.texts else empty
        rows.append((index, *facts, *media, links, texts, n_ratings))
    return rows


def _create_items(version: DatasetVersion, items: Sequence[ParsedItem], rows: list[tuple[Any, ...]]) -> None:
    _insert(Item, ITEM_COLUMNS, rows, {"version": version.pk})
    if not any(item.features for item in items):
        return
    keys = dict(version.items.order_by().values_list("index", "pk"))
    _insert(
        Feature,
        ("item", "kind", "value", "position"),
        (
            (keys[index], kind, value, position)
            for index, item in enumerate(items)
            for position, (kind, value) in enumerate(item.features)
        ),
    )


def _insert(
    model: type[Model],
    names: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
    same: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Insert rows of the columns `names`; those of `same` hold one value in all of them."""
    quoted = connection.ops.quote_name
    fields = [cast(Field[Any, Any], model._meta.get_field(name)).attname for name in (*same, *names)]
    columns = ", ".join(map(quoted, fields))
    placeholders = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {quoted(model._meta.db_table)} ({columns}) VALUES ({placeholders})"  # noqa: S608  # our own names
    constant = tuple(same.values())
    pending = iter(rows)
    with connection.cursor() as cursor:
        while batch := list(islice(pending, ROWS_AT_ONCE)):
            cursor.executemany(statement, [constant + row for row in batch] if constant else batch)


def _count_rows() -> None:
    """Update the database's statistics: without them, query plans for the new rows are very slow."""
    with connection.cursor() as cursor:
        for model in (Item, Feature):
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


@transaction.atomic
def retire_version(*, version: DatasetVersion, actor: Any = None) -> DatasetVersion:
    """Retire the version: it is not offered for new runs and studies. A second call changes nothing."""
    if version.retired_at is None:
        version.retired_at = timezone.now()
        version.save(update_fields=["retired_at", "updated_at"])
        _log(version, actor, "open", "retired")
    return version


def _log(version: DatasetVersion, actor: Any, before: str, after: str) -> None:
    LogEntry.objects.create(
        actor=actor, kind=version._meta.label_lower, object_id=version.pk, from_status=before, to_status=after
    )
