"""Datasets in the REST API."""

from __future__ import annotations

from rest_framework import serializers

from catalog.models import Dataset, DatasetVersion


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
