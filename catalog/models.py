"""Datasets: versions that never change, their items as rows, their ratings as arrays."""

from __future__ import annotations

from typing import Any, Self

from django.conf import settings
from django.contrib.contenttypes.fields import GenericRelation
from django.db import models
from django.urls import reverse
from django.utils.functional import cached_property

from accounts.models import WRITERS, Project, in_projects_of
from catalog.clip_types import clip_type
from catalog.item_types import DEFAULT, ITEM_TYPES, ItemType
from core.models import TimeStampedModel
from core.provenance import digest_of
from jobs.models import Job

DRAWINGS_VERSION = "2"  # incremented whenever the same item is drawn differently


class DatasetQuerySet(models.QuerySet["Dataset"]):
    """Datasets by who may see and use them."""

    def visible_to(self, researcher: Any) -> Self:
        """Public datasets, and those of the researcher's projects."""
        return self.filter(in_projects_of(researcher))

    def usable_by(self, researcher: Any) -> Self:
        """The visible datasets on which the researcher may start runs: a viewer's project has none."""
        return self.filter(in_projects_of(researcher, roles=WRITERS))


class VersionQuerySet(models.QuerySet["DatasetVersion"]):
    """Versions by who may see them."""

    def visible_to(self, researcher: Any) -> Self:
        """The versions of the visible datasets."""
        return self.filter(in_projects_of(researcher, "dataset__project"))


class Dataset(TimeStampedModel):
    """A named source of ratings; runs and studies use one of its versions.

    Without a project it is public: every researcher of the installation sees it.

    The item type and language are the dataset's and not a version's: they can be corrected, and a version never
    changes.
    """

    name = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    item_type = models.CharField(
        max_length=20, default=DEFAULT, choices=[(each.key, each.title) for each in ITEM_TYPES.values()]
    )
    item_language = models.CharField(max_length=10, blank=True)  # of the items' default texts; empty if unknown
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    # Protected: a deleted project would make its datasets public.
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="datasets")

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.title

    @property
    def kind_of_item(self) -> ItemType:
        """Its item type."""
        return ITEM_TYPES[self.item_type]


class DatasetVersion(TimeStampedModel):
    """One import of a dataset, frozen and named by the hash of its content.

    The ratings are the artefact ``ratings/<ratings_digest>``: arrays `indptr`, `indices`, `values`
    (CSR, users × items), `user_ids`, `item_ids` (the source's own ids), `timestamps` (empty where the source
    has none). Item `index` is the column.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64)
    ratings_digest = models.CharField(max_length=64)
    source_format = models.CharField(max_length=40)
    is_synthetic = models.BooleanField(default=False)  # said wherever its ratings show
    n_users = models.PositiveIntegerField()
    n_items = models.PositiveIntegerField()
    n_ratings = models.PositiveBigIntegerField()
    scale_low = models.FloatField()
    scale_high = models.FloatField()
    scale_step = models.FloatField()
    report = models.JSONField(default=dict)  # what the importer read, kept and dropped
    retired_at = models.DateTimeField(null=True, blank=True)
    jobs = GenericRelation(Job, "subject_id", "subject_type")

    objects = VersionQuerySet.as_manager()

    class Meta:
        ordering = ["dataset__name", "-number"]
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="version_number_once")]

    def __str__(self) -> str:
        return f"{self.dataset} · version {self.number}"

    def get_absolute_url(self) -> str:
        """The address of its console page."""
        return reverse("catalog:version", args=[self.dataset.name, self.number])

    @property
    def rating_shift(self) -> int:
        """What the import added to every rating, because 0 is kept for no rating; pages show ratings without it."""
        return int(self.report.get("mapping", {}).get("add", 0))

    @property
    def scale_words(self) -> str:
        """The scale of the source, in words."""
        low, high = (f"{end - self.rating_shift:g}" for end in (self.scale_low, self.scale_high))
        return f"{low} to {high} {f'in steps of {self.scale_step:g}' if self.scale_step else 'without steps'}"


class Upload(TimeStampedModel):
    """A file that a program sends in pieces, to import it afterwards; its owner's alone, and swept after a day."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=150)
    size = models.PositiveBigIntegerField()  # bytes
    sha256 = models.CharField(max_length=64)
    offset = models.PositiveBigIntegerField(default=0)  # bytes that are there; with all of them the digest agrees
    folder = models.CharField(max_length=32)  # with a part for each piece, named by its offset

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name}, {self.offset:,} of {self.size:,} bytes"

    @property
    def is_complete(self) -> bool:
        """Whether all bytes are there."""
        return self.offset == self.size


class Item(models.Model):
    """One item of a version; `index` is its column in the ratings."""

    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="items")
    index = models.PositiveIntegerField()
    external_id = models.CharField(max_length=100)
    title = models.CharField(max_length=300)
    sort_title = models.CharField(max_length=300)  # folded, without a leading article
    year = models.PositiveIntegerField(null=True, blank=True)
    plot = models.TextField(blank=True)
    image = models.CharField(max_length=300, blank=True)  # a file this site serves; else a drawing
    image_url = models.URLField(max_length=500, blank=True)  # where the source has one; pages never load it
    trailer_url = models.URLField(max_length=500, blank=True)  # of a trailer or another sample on another site
    clip = models.CharField(max_length=300, blank=True)  # a sample that this site serves: a file of video or audio
    excerpt = models.TextField(blank=True)  # a sample that is a text
    links = models.JSONField(default=dict, blank=True)  # the item's id elsewhere: {"imdb": "0114709"}
    texts = models.JSONField(default=dict, blank=True)  # in other languages: {"it": {"title": …, "plot": …}}
    n_ratings = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["version", "index"], name="item_index_once")]
        indexes = [
            models.Index(fields=["version", "sort_title"]),
            models.Index(fields=["version", "-n_ratings"]),
            models.Index(fields=["version", "year"]),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.year})" if self.year else self.title

    @property
    def poster_key(self) -> str:
        """The key of its drawing, which is the same in every version."""
        return f"{self.external_id} {self.title}"

    @cached_property
    def poster_url(self) -> str:
        """The address of its poster, which changes with the poster, because browsers cache it for a year."""
        changes_with = digest_of([self.poster_key, self.year, self.image or DRAWINGS_VERSION])[:12]
        return f"{reverse('catalog:poster', args=[self.pk])}?v={changes_with}"

    @property
    def has_sample(self) -> bool:
        """Whether there is a trailer, clip or excerpt of it."""
        return bool(self.trailer_url or self.clip or self.excerpt)

    @property
    def clip_url(self) -> str:
        """The address of its clip, which changes with the clip; empty without one."""
        return f"{reverse('catalog:clip', args=[self.pk])}?v={digest_of(self.clip)[:12]}" if self.clip else ""

    @property
    def is_clip_audio(self) -> bool:
        """Whether its clip is audio."""
        return clip_type(self.clip).startswith("audio/")


class Feature(models.Model):
    """A fact of an item: a genre, a director, someone in the cast, a country, a tag, another title."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="features")
    kind = models.CharField(max_length=30)  # genre, director, cast, country, tag, decade, alias
    value = models.CharField(max_length=200)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["item_id", "kind", "position"]
        indexes = [models.Index(fields=["kind", "value"])]

    def __str__(self) -> str:
        return f"{self.kind}: {self.value}"
