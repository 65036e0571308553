"""Reports in the REST API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from analysis.models import Report


class ReportSerializer(serializers.ModelSerializer[Report]):
    """A report and its inputs; `is_out_of_date` once a participant withdrew or was excluded, or recruitment reopened.

    `is_pilot`: of a draft and simulated participants; out of date once the design changed or the study was launched.
    """

    study = serializers.SlugField(source="study.slug")
    run_id = serializers.IntegerField()
    is_out_of_date = serializers.BooleanField()

    class Meta:
        model = Report
        fields = ["id", "study", "number", "mode", "is_pilot", "run_id", "inputs_hash", "is_out_of_date", "created_at"]
        read_only_fields = fields


class FileSerializer(serializers.Serializer[Any]):
    """A file of a report."""

    name = serializers.CharField()
    content_type = serializers.CharField()
    url = serializers.URLField()


class ReportDetailSerializer(ReportSerializer):
    """A report with its files."""

    files = serializers.SerializerMethodField()

    class Meta(ReportSerializer.Meta):
        fields = [*ReportSerializer.Meta.fields, "files"]
        read_only_fields = fields

    @extend_schema_field(FileSerializer(many=True))
    def get_files(self, report: Report) -> Any:
        """Every file by its name, with its address."""
        return [
            {
                "name": file.name,
                "content_type": file.content_type,
                "url": reverse(
                    "api:reports-file", kwargs={"pk": report.pk, "name": file.name}, request=self.context["request"]
                ),
            }
            for file in self.context["files"]
        ]
