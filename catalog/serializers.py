"""Datasets in the REST API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from catalog.forms.browse import ItemLanguageForm, ItemTypeForm
from catalog.forms.import_steps import KEPT, CheckForm
from catalog.forms.upload_limits import MOST_DATASET
from catalog.models import Dataset, DatasetVersion, Item, Upload
from core.form_bodies import described


class VersionSerializer(serializers.ModelSerializer[DatasetVersion]):
    """One version: it never changes and is identified by its content hash."""

    dataset = serializers.SlugField(source="dataset.name")

    class Meta:
        model = DatasetVersion
        fields = [
            *("dataset", "number", "content_hash", "ratings_digest", "source_format", "is_synthetic"),
            *("n_users", "n_items", "n_ratings", "scale_low", "scale_high", "scale_step", "created_at", "retired_at"),
        ]
        read_only_fields = fields


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset with all its versions, newest first."""

    versions = VersionSerializer(many=True)
    project = serializers.SlugRelatedField(
        slug_field="name", read_only=True, allow_null=True, help_text="Name of its project; null if it is public."
    )  # type: ignore[var-annotated]

    class Meta:
        model = Dataset
        fields = ["name", "title", "item_type", "project", "versions"]
        read_only_fields = fields


class VersionDetailSerializer(VersionSerializer):
    """A version with what can be corrected of its dataset, and how it was imported."""

    item_type = serializers.CharField(source="dataset.item_type")
    item_language = serializers.CharField(source="dataset.item_language", help_text="Empty if it is unknown.")
    report = serializers.DictField(help_text="What the import read, kept and dropped, and its `recipe`.")

    class Meta(VersionSerializer.Meta):
        fields = [*VersionSerializer.Meta.fields, "item_type", "item_language", "report"]
        read_only_fields = fields


class VersionChangesSerializer(serializers.Serializer[Any]):
    """Changes of a version; the item type and language are the dataset's, so of all its versions."""

    item_type = serializers.ChoiceField(choices=ItemTypeForm.base_fields["item_type"].choices, required=False)  # type: ignore[attr-defined]
    item_language = serializers.ChoiceField(
        choices=ItemLanguageForm.base_fields["language"].choices,  # type: ignore[attr-defined]
        required=False,
        help_text="Of the default texts of the items; empty: unknown.",
    )
    is_retired = serializers.ChoiceField(
        choices=[True], required=False, help_text="true: no longer offered for new runs and studies."
    )


class ItemSerializer(serializers.ModelSerializer[Item]):
    """An item of a version."""

    id = serializers.CharField(source="external_id", help_text="In the dataset.")

    class Meta:
        model = Item
        fields = ["id", "index", "title", "year", "plot", "n_ratings"]
        read_only_fields = fields


class NewUploadSerializer(serializers.Serializer[Any]):
    """A file that is to be sent."""

    name = serializers.RegexField(r"^[^/\\\x00-\x1f.][^/\\\x00-\x1f]*$", max_length=150, help_text="Without a folder.")
    size = serializers.IntegerField(min_value=1, max_value=MOST_DATASET, help_text="Bytes.")
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}$", help_text="Hexadecimal digest of all bytes.")


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """A file that is sent in pieces: send the bytes from `offset` on until it `is_complete`."""

    is_complete = serializers.BooleanField(help_text="All bytes are there, and their digest agrees.")
    url = serializers.HyperlinkedIdentityField(
        view_name="api:uploads-detail", help_text="The address to which its bytes are sent."
    )

    class Meta:
        model = Upload
        fields = ["id", "name", "size", "sha256", "offset", "is_complete", "created_at", "url"]
        read_only_fields = fields


ChoicesSerializer = described(
    CheckForm,
    "ChoicesSerializer",
    name=serializers.SlugField(max_length=80, required=False, help_text="A dataset of this name gets a new version."),
    project=serializers.CharField(
        required=False, allow_null=True, help_text="Name of a project of yours; without one, a new dataset is public."
    ),
    roles=serializers.DictField(
        child=serializers.DictField(child=serializers.CharField(allow_blank=True)),
        required=False,
        help_text="Role of each column that is not as it was detected, by file; {} if all are. Empty: not used.",
    ),
    answers=serializers.DictField(required=False, help_text="Values by the `answer` of each question."),
    fix=serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Kinds of problems whose rows are left out, or all."
    ),
    duplicates=serializers.ChoiceField(choices=[*KEPT], required=False, help_text="What becomes of repeated ratings."),
)


class NewDatasetSerializer(ChoicesSerializer):  # type: ignore[misc, valid-type]
    """Complete uploads that are one dataset, with a recipe of an earlier import, and choices."""

    uploads = serializers.ListField(child=serializers.IntegerField(), help_text="Ids of uploads.")
    recipe = serializers.DictField(required=False, allow_null=True, help_text="As in the report of a version.")
