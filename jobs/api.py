"""Jobs in the REST API: what takes long is requested, answered with 202 and the job, which says when it is over."""

from __future__ import annotations

from django.utils.module_loading import import_string
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.models import Job, JobStatus

RETRY_SECONDS = 2


class JobSerializer(serializers.ModelSerializer[Job]):
    """Work that a worker does: poll its address until `status` is `succeeded`, `failed` or `cancelled`."""

    status = serializers.ChoiceField(choices=JobStatus.choices, read_only=True)
    activity = serializers.CharField(help_text="What the worker is doing.")
    done = serializers.IntegerField(allow_null=True, help_text="Steps of `total` that are done; null where unknown.")
    error = serializers.CharField(help_text="Why it failed; empty if it did not.")
    result = serializers.DictField(help_text="Facts about what was done; of a failed job, about the failure.")
    url = serializers.HyperlinkedIdentityField(view_name="api:jobs-detail", help_text="The address of this job.")
    made_url = serializers.SerializerMethodField(help_text="The address of what it made; null until it succeeded.")

    class Meta:
        model = Job
        fields = [
            *("id", "kind", "status", "activity", "done", "total", "error", "result", "created_at", "url", "made_url")
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_made_url(self, job: Job) -> str | None:
        """The address of what it made."""
        address = job.definition.address
        if job.status != JobStatus.SUCCEEDED or not address:
            return None
        return str(self.context["request"].build_absolute_uri(import_string(address)(job)))


def job_response(request: Request, job: Job, code: int = status.HTTP_202_ACCEPTED) -> Response:
    """The response to a request that a worker carries out: 202 and the job; of one that is not over, with the time
    until another look is worth it.
    """
    state = JobSerializer(job, context={"request": request}).data
    headers = {"Retry-After": str(RETRY_SECONDS)} if job.is_open else {}
    if code == status.HTTP_202_ACCEPTED:
        headers["Location"] = str(state["url"])
    return Response(state, status=code, headers=headers)
