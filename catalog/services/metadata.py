"""Adds metadata to the items of a version; the result is a new version with the same ratings."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from catalog.importers.base import Limits, ParsedItem, Policy
from catalog.importers.item_files import CLIPS, PICTURES, ItemFile, ItemFiles
from catalog.importers.item_files import LIMITS as FILE_LIMITS
from catalog.importers.items import texts_by_language
from catalog.importers.kinds import localised_field
from catalog.importers.metadata import (
    CLIP,
    LIMITS,
    MOST_FACTS,
    PICTURE,
    ItemFacts,
    MetadataOptions,
    NamedFiles,
    read_metadata,
)
from catalog.importers.sources import open_source
from catalog.models import DatasetVersion
from catalog.selectors.parsed_items import parsed_items
from catalog.selectors.ratings import ARTEFACT_KIND
from catalog.services.dataset_import import import_refusals
from catalog.services.item_facts import installed_languages
from catalog.services.versions import store_successor
from core import artefacts
from core.errors import ParallaxError

# The fields of facts, and the attributes of items that have them.
FIELDS = {"title": "title", "plot": "plot", "image": "image_url", "trailer": "trailer_url", "excerpt": "excerpt"}
FIELDS |= {PICTURE: "image", CLIP: "clip"}
OPTIONS = frozenset(field.name for field in dataclasses.fields(MetadataOptions)) - {"languages"}
Progress = Callable[[str, int, int | None], None]


def add_metadata(
    *,
    version: DatasetVersion,
    path: Path,
    actor: Any = None,
    on_bad_row: str = "refuse",
    options: Mapping[str, Any] | None = None,
    limits: Limits = LIMITS,
    media: Path | None = None,
    link: str = "",
    progress: Progress | None = None,
) -> DatasetVersion:
    """Add metadata to a version's items as a new version, completely or not at all.

    Features are added to those an item has; a title, year, plot, image, trailer or excerpt takes the place of what is
    there, as does a title or plot in another language.
    The file names items by the dataset's own ids, or with a `link` such as "imdb" by those of that place. `media` is a
    folder or archive of pictures and clips that the facts may name instead of addresses. `options` are the
    fields of `catalog.importers.metadata.MetadataOptions`. The new version names the same arrays of ratings. Its report
    says what was read and changed, under ``"metadata"``, one entry for every time facts were added. The same facts
    added again to the same version give the version that is there. Raises ParallaxError for `import.refused` with file,
    line, column and reason; `import.bad_option`; `metadata.nothing_new` where the items have all of it already;
    `metadata.too_many_facts`; `dataset.retired` where the version is retired.
    """
    if version.retired_at is not None:
        raise ParallaxError("dataset.retired", f"{version} is retired. Add the facts to a version that is in use.")
    chosen = {key: value for key, value in (options or {}).items() if value is not None}
    unknown = sorted(set(chosen) - OPTIONS)
    if unknown:
        raise ParallaxError("import.bad_option", f"Adding facts has no option called {', '.join(unknown)}.")

    def reading(file: str, rows: int) -> None:
        if progress is not None:
            progress(f"Reading {file}", rows, None)

    before = parsed_items(version)
    with import_refusals():
        source = None if media is None else open_source(media, FILE_LIMITS)
        pictures, clips = ItemFiles(PICTURES, source), ItemFiles(CLIPS, source)
        files: NamedFiles = {"image": (PICTURE, pictures), "trailer": (CLIP, clips)}
        metadata = read_metadata(
            path,
            _ids_by_link(before, link) if link else [item.external_id for item in before],
            options=MetadataOptions(**chosen, languages=installed_languages()),
            policy=Policy(on_bad_row=on_bad_row, limits=limits),  # type: ignore[arg-type]  # checks it itself
            files=files,
            progress=reading,
        )
    media_read = _named_by_content(metadata.items.values(), files)
    items, changes = _changed(before, metadata.items)
    if not changes["items_changed"]:
        raise ParallaxError(
            "metadata.nothing_new",
            f"{version} has all that {metadata.report.files[0]} says already. Nothing was added.",
        )
    if progress is not None:
        progress("Storing items", len(before), len(before))
    for read in media_read:  # before the rows: a crash in between leaves files that no item names
        file = read()
        artefacts.store_file(file.stored_name, file.content)
    successor, _ = store_successor(
        version=version,
        arrays=artefacts.load(ARTEFACT_KIND, version.ratings_digest).arrays,
        items=items,
        what="metadata",
        entry={"base_version": version.number, **changes, "read": metadata.report.as_json()},
        reason=f"Facts of {metadata.report.files[0]} added to version {version.number}.",
        facts={},
        actor=actor,
    )
    return successor


def _ids_by_link(items: Sequence[ParsedItem], link: str) -> dict[str, str]:
    """The dataset's ids by those of another place, however these are padded. Raises ParallaxError: no item has one."""
    ids = {
        written: item.external_id
        for item in items
        for site, value in item.links
        if site == link
        for written in (value, value.lstrip("0"), f"tt{value}")
    }
    if not ids:
        raise ParallaxError("metadata.no_links", f"No item of the dataset has an id of {link!r}.")
    return ids


def _named_by_content(facts: Iterable[ItemFacts], files: NamedFiles) -> list[Callable[[], ItemFile]]:
    """Replace file names by the names the files are stored under, and return what reads each file."""
    stored_names: dict[tuple[str, str], str] = {}
    readers: list[Callable[[], ItemFile]] = []
    for item_facts in facts:
        for field, of_field in files.values():
            if name := item_facts.fields.get(field):
                if (field, name) not in stored_names:
                    stored_names[field, name] = of_field.read(name).stored_name
                    readers.append(partial(of_field.read, name))
                item_facts.fields[field] = stored_names[field, name]
    return readers


def _changed(before: list[ParsedItem], facts: Mapping[str, ItemFacts]) -> tuple[tuple[ParsedItem, ...], dict[str, Any]]:
    """The items with the facts, and what changed: facts added, by kind of feature or field that was empty, and fields
    replaced that said something else.
    """
    added: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    n_known = n_changed = 0
    items = []
    for item in before:
        new_facts = facts.get(item.external_id)
        if new_facts is not None:
            there = {
                **{field: getattr(item, name) for field, name in FIELDS.items()},
                "year": "" if item.year is None else str(item.year),
                **{
                    f"{field}_{language}": text
                    for language, texts in item.texts.items()
                    for field, text in texts.items()
                },
            }
            fields = {name: text for name, text in new_facts.fields.items() if there.get(name) != text}
            own = set(item.features)
            features = [feature for feature in new_facts.features if feature not in own]
            n_known += len(new_facts.fields) + len(new_facts.features) - len(fields) - len(features)
            replaced.update(name for name in fields if there.get(name))
            added.update(name for name in fields if not there.get(name))
            added.update(kind for kind, _ in features)
            if len(item.features) + len(features) > MOST_FACTS:
                raise ParallaxError(
                    "metadata.too_many_facts",
                    f"Item {item.external_id} ({item.title}) would have more than {MOST_FACTS:,} facts. Add fewer.",
                )
            if fields or features:
                n_changed += 1
                item = _with(item, {**there, **fields}, features)
        items.append(item)
    return tuple(items), {
        "items_changed": n_changed,
        "facts_added": dict(added),
        "fields_replaced": dict(replaced),
        "facts_known": n_known,
    }


def _with(item: ParsedItem, fields: Mapping[str, str], features: list[tuple[str, str]]) -> ParsedItem:
    year = int(fields["year"]) if fields["year"] else None
    item_features = list(item.features)
    if year is not None and year != item.year:
        # The decade that importers draw from the year goes with it.
        item_features = [feature for feature in item_features if feature[0] != "decade"] + [
            ("decade", f"{year // 10 * 10}s")
        ]
    return dataclasses.replace(
        item,
        year=year,
        texts=texts_by_language({field: text for name, text in fields.items() if (field := localised_field(name))}),
        features=tuple(dict.fromkeys([*item_features, *features])),
        **{name: fields[field] for field, name in FIELDS.items()},  # type: ignore[arg-type]  # all texts
    )
