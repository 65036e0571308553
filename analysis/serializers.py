"""What programs are told of reports, and what they ask for."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from analysis.enums import RequestStatus
from analysis.models import Report, ReportRequest
from studies.models import Study
from studies.serializers import REPORTED


class ReportSerializer(serializers.ModelSerializer[Report]):
    """A report and what it was made from; `is_out_of_date` when somebody withdrew or was excluded, or recruitment was
    reopened, since.

    `is_pilot`: of a draft and simulated participants; out of date once the design changed or the study was launched.
    """

    study = serializers.SlugField(source="study.slug")
    run_id = serializers.IntegerField()
    is_out_of_date = serializers.BooleanField()

    class Meta:
        model = Report
        fields = ["id", "study", "number", "mode", "is_pilot", "run_id", "inputs_hash", "is_out_of_date", "created_at"]
        read_only_fields = fields


class RequestSerializer(serializers.ModelSerializer[ReportRequest]):
    """A report that a worker builds: where it stands, and the report's address once it is there."""

    study = serializers.SlugField(source="study.slug")
    url = serializers.SerializerMethodField(help_text="This request: ask again until its status is final.")
    report_url = serializers.SerializerMethodField(help_text="The report; null until it is built.")
    error = serializers.CharField(help_text="Why no report was built; empty where nothing failed.")

    class Meta:
        model = ReportRequest
        fields = ["id", "study", "status", "activity", "error", "url", "report_url"]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField())
    def get_url(self, asked: ReportRequest) -> str:
        """Its own address."""
        return reverse("api:reports-request", kwargs={"pk": asked.pk}, request=self.context["request"])

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_report_url(self, asked: ReportRequest) -> str | None:
        """The report's address."""
        if asked.status != RequestStatus.SUCCEEDED or asked.report_id is None:
            return None
        return reverse("api:reports-detail", kwargs={"pk": asked.report_id}, request=self.context["request"])


class FileSerializer(serializers.Serializer[Any]):
    """A file that a report is given as."""

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


class ReportQuerySerializer(serializers.Serializer[Any]):
    """Which reports a list holds."""

    study = serializers.SlugField(
        required=False, max_length=Study._meta.get_field("slug").max_length, help_text="Reports of this study."
    )


class BuildSerializer(serializers.Serializer[Any]):
    """Which study, and whose answers; without a mode people, if any have completed, else simulated participants."""

    study = serializers.SlugField(max_length=Study._meta.get_field("slug").max_length)
    mode = serializers.ChoiceField(choices=REPORTED, required=False, allow_null=True)
