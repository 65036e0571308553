"""Datasets, their versions, and the details of an item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery

from accounts.selectors import writes_in
from catalog.models import Dataset, DatasetVersion, Feature, Item
from catalog.selectors.items import facts_of_item
from core import artefacts
from core.errors import ParallaxError

VERSIONS_KEPT = 32
# Kinds of features that an item's page shows first, with their words.
FIRST_KINDS = {
    "alias": "Also called",
    "genre": "Genres",
    "director": "Directed by",
    "cast": "With",
    "country": "From",
    "tag": "Tags",
}


@dataclass(frozen=True)
class DatasetLine:
    """A dataset in the list, with its newest version and number of versions."""

    dataset: Dataset
    newest: DatasetVersion
    n_versions: int


def may_change(user: Any, dataset: Dataset) -> bool:
    """Whether `user` may change the dataset: as an owner or a member of its project; of a public one, as its owner or
    as staff.
    """
    if dataset.project_id is not None:
        return writes_in(user, dataset.project_id)
    return bool(user.is_staff or user.is_superuser or dataset.owner_id == user.pk)


def open_versions() -> QuerySet[DatasetVersion]:
    """Versions that are not retired."""
    return DatasetVersion.objects.filter(retired_at=None).select_related("dataset")


def versions_shown_to(researcher: Any) -> QuerySet[DatasetVersion]:
    """The versions that a researcher may see, with their datasets, including retired ones, which existing runs and
    studies link to.
    """
    return DatasetVersion.objects.visible_to(researcher).select_related("dataset__project")


def versions_of(dataset: Dataset) -> QuerySet[DatasetVersion]:
    """All versions of the dataset, newest first."""
    return dataset.versions.select_related("dataset").order_by("-number")


def newest_version(name: str, among: QuerySet[Dataset] | None = None) -> DatasetVersion:
    """The newest version of the dataset called `name`, retired ones apart.

    `among` are the datasets that the researcher may choose; None, for commands of the operator: all. Raises
    ParallaxError for `dataset.unknown`: no such dataset among them, or every version of it is retired.
    """
    versions = open_versions() if among is None else open_versions().filter(dataset__in=among)
    version = versions.filter(dataset__name=name).order_by("-number").first()
    if version is None:
        known = ", ".join(sorted(set(versions.order_by().values_list("dataset__name", flat=True)))) or "none yet"
        raise ParallaxError(
            "dataset.unknown",
            f"There is no dataset called {name!r}. Known: {known}. "
            "Import one with `.venv/bin/python manage.py import_dataset PATH --name NAME`.",
            {"name": name},
        )
    return version


def version_numbered(name: str, number: int) -> DatasetVersion:
    """The version of the dataset with this number, retired or not. Raises ParallaxError for `dataset.unknown`: no such
    dataset or version.
    """
    versions = DatasetVersion.objects.select_related("dataset").filter(dataset__name=name)
    version = versions.filter(number=number).first()
    if version is None:
        numbers = sorted(versions.values_list("number", flat=True))
        known = f"Known: {', '.join(map(str, numbers))}." if numbers else "There is no dataset of that name."
        raise ParallaxError(
            "dataset.unknown", f"There is no version {number} of {name!r}. {known}", {"name": name, "number": number}
        )
    return version


def datasets_with_versions(researcher: Any) -> QuerySet[Dataset]:
    """The datasets that a researcher may see, by name, each with all its versions, newest first."""
    versions = DatasetVersion.objects.select_related("dataset").order_by("-number")
    datasets = Dataset.objects.visible_to(researcher).select_related("project")
    return datasets.prefetch_related(Prefetch("versions", queryset=versions)).order_by("name")


def dataset_lines(datasets: QuerySet[Dataset]) -> list[DatasetLine]:
    """Those of the datasets that have a version in use, by title."""
    newest = open_versions().filter(dataset=OuterRef("pk")).order_by("-number").values("pk")[:1]
    counted = datasets.annotate(newest_id=Subquery(newest), n_versions=Count("versions")).select_related("project")
    listed = list(counted.filter(newest_id__isnull=False))
    versions = DatasetVersion.objects.in_bulk([dataset.newest_id for dataset in listed])
    lines = []
    for dataset in sorted(listed, key=lambda dataset: (dataset.title.casefold(), dataset.pk)):
        version = versions[dataset.newest_id]
        version.dataset = dataset
        lines.append(DatasetLine(dataset, version, dataset.n_versions))
    return lines


def newest_versions(datasets: QuerySet[Dataset]) -> dict[str, DatasetVersion]:
    """The newest version in use of each dataset by its name, by title."""
    return {line.dataset.name: line.newest for line in dataset_lines(datasets)}


def picture_of(item: Item) -> bytes:
    """The bytes of an item's own picture. Raises ArtefactError when its file is missing."""
    with artefacts.open_file(item.image) as file:
        return file.read()


def labelled_facts(version: DatasetVersion, item: Item) -> list[tuple[str, tuple[str, ...]]]:
    """The words of each kind of an item's features, and the values in the source's order."""
    facts = facts_of_item(version, item)
    first = [(words, facts[kind]) for kind, words in FIRST_KINDS.items() if kind in facts]
    # A decade only repeats the year.
    return first + [(kind, values) for kind, values in sorted(facts.items()) if kind not in (*FIRST_KINDS, "decade")]


def genres_of(version: DatasetVersion) -> tuple[str, ...]:
    """The version's genres in alphabetical order."""
    return _genres(version.pk, version.content_hash)


def decades_of(version: DatasetVersion) -> tuple[int, ...]:
    """The first years of the decades that the version's items come from, oldest first."""
    return _decades(version.pk, version.content_hash)


# Every page of items offers both as filters. The rows of a version never change under its hash.
@lru_cache(maxsize=VERSIONS_KEPT)
def _genres(version_id: int, content_hash: str) -> tuple[str, ...]:
    genres = Feature.objects.filter(item__version=version_id, kind="genre").order_by()
    return tuple(sorted(genres.values_list("value", flat=True).distinct()))


@lru_cache(maxsize=VERSIONS_KEPT)
def _decades(version_id: int, content_hash: str) -> tuple[int, ...]:
    years = Item.objects.filter(version=version_id).exclude(year=None).order_by()
    return tuple(sorted({year - year % 10 for year in years.values_list("year", flat=True).distinct() if year}))
