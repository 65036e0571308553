"""Reports and requests in the REST API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from analysis.models import Report
from analysis.read.reports import report_of
from jobs.models import REQUEST_STATES, Job
from studies.models import Study
from studies.serializers import REPORTED


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


class RequestSerializer(serializers.ModelSerializer[Job]):
    """A report that a worker builds: its state, and the address of the report once it is built."""

    study = serializers.SlugField(source="subject.slug")
    status = serializers.ChoiceField(choices=REQUEST_STATES, read_only=True)
    url = serializers.SerializerMethodField(help_text="This request: poll it until its status is final.")
    report_url = serializers.SerializerMethodField(help_text="The report; null until it is built.")
    error = serializers.CharField(help_text="Why no report was built; empty if nothing failed.")

    class Meta:
        model = Job
        fields = ["id", "study", "status", "activity", "error", "url", "report_url"]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField())
    def get_url(self, job: Job) -> str:
        """Its own address."""
        return reverse("api:reports-request", kwargs={"pk": job.pk}, request=self.context["request"])

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_report_url(self, job: Job) -> str | None:
        """The report's address."""
        report = report_of(job)
        if report is None:
            return None
        return reverse("api:reports-detail", kwargs={"pk": report.pk}, request=self.context["request"])


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


class BuildSerializer(serializers.Serializer[Any]):
    """The study and the mode; without a mode, participants if any have completed, else simulated participants."""

    study = serializers.SlugField(max_length=Study._meta.get_field("slug").max_length)
    mode = serializers.ChoiceField(choices=REPORTED, required=False, allow_null=True)
