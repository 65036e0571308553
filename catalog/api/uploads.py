"""REST API endpoints for files that are sent in pieces."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import FileUploadParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from catalog.models import Upload
from catalog.serializers import (
    NewUploadSerializer,
    UploadSerializer,
)
from catalog.services.resumable_uploads import append_piece, begin_upload, delete_uploads
from core.api import StrictView, created
from core.problem_details import BadHeaders

OFFSET = "Upload-Offset"


class BytesParser(FileUploadParser):
    """Any bytes, as the file of a form without fields."""

    media_type = "application/octet-stream"

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        """Return a name, which the request does not state."""
        return "bytes"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the bytes in the form in which files are compared for an `Idempotency-Key`."""
        parsed = super().parse(stream, media_type, parser_context)
        parsed.data = QueryDict()
        return parsed


@extend_schema(tags=["uploads"])
@extend_schema_view(
    list=extend_schema(operation_id="uploads", summary="Your uploads, newest first"),
)
class UploadViewSet(StrictView, mixins.ListModelMixin, viewsets.GenericViewSet[Upload]):
    """Files that you send in pieces, to import them; deleted a day after their last piece."""

    serializer_class = UploadSerializer
    queryset = Upload.objects.none()
    lookup_value_regex = r"[0-9]+"

    def get_queryset(self) -> QuerySet[Upload]:
        """Return the researcher's own uploads."""
        return Upload.objects.filter(owner_id=self.request.user.pk)

    @extend_schema(
        operation_id="upload_create",
        summary="Begin or continue an upload",
        description="If your upload of this name, size and digest is there, it is returned: continue from its "
        "`offset`. Of another size or digest it is refused (409).",
        request=NewUploadSerializer,
        responses={201: UploadSerializer},
    )
    def create(self, request: Request) -> Response:
        """Begin an upload, or find it again."""
        upload = begin_upload(actor=request.user, **self.body(NewUploadSerializer))
        response = self._answer(upload)
        return created(response.data, response.data["url"])

    @extend_schema(operation_id="upload", summary="One upload", responses=UploadSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return how many bytes are there, also in the header `Upload-Offset` (for HEAD)."""
        return self._answer(self.get_object())

    @extend_schema(
        operation_id="upload_append",
        summary="Send the next bytes of an upload",
        description="Pieces of any size, in order. With another offset than the number of bytes that are there, they "
        "are refused (409, with the right `offset` in `extra`). If the digest of the whole differs from the stated "
        "one, all bytes are deleted (409).",
        parameters=[
            OpenApiParameter(
                OFFSET, int, OpenApiParameter.HEADER, required=True, description="Where the bytes begin in the file."
            )
        ],
        request={BytesParser.media_type: OpenApiTypes.BINARY},
        responses=UploadSerializer,
    )
    def append(self, request: Request, pk: str) -> Response:
        """Store the bytes of the body."""
        offset = request.headers.get(OFFSET, "")
        if not (offset.isascii() and offset.isdigit()):
            raise BadHeaders({OFFSET: ["Write the number of bytes that are there."]})
        upload = self.get_object()
        if "file" not in request.data:
            raise ValidationError({api_settings.NON_FIELD_ERRORS_KEY: ["Send bytes."]})
        return self._answer(append_piece(upload=upload, offset=int(offset), piece=request.data["file"]))

    @extend_schema(operation_id="upload_delete", summary="Delete an upload", responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete an upload with its bytes."""
        delete_uploads([self.get_object()])
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _answer(self, upload: Upload) -> Response:
        return Response(self.get_serializer(upload).data, headers={OFFSET: str(upload.offset)})
