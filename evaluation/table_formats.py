"""Tables of the REST API in the format that a program asks for, JSON, CSV, NDJSON or Parquet, written row by row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from tempfile import TemporaryFile
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from evaluation.exports import record_texts

ROWS_AT_ONCE = 10_000  # of a Parquet file, in memory
CHUNK = 1 << 20
# How a value of each type of a codebook is stored in Parquet; any other type is text.
STORED: Mapping[str, Callable[[Any], Any]] = {
    "integer": int,
    "number": float,
    "boolean": bool,
    "datetime": datetime.fromisoformat,
}


class CsvRenderer(BaseRenderer):
    """Offers CSV in content negotiation; the view streams the lines."""

    media_type = "text/csv"
    format = "csv"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> str:
        """Return the text unchanged."""
        return str(data)


class NdjsonRenderer(CsvRenderer):
    """Offers one JSON object per line."""

    media_type = "application/x-ndjson"
    format = "ndjson"


class ParquetRenderer(CsvRenderer):
    """Offers Parquet."""

    media_type = "application/vnd.apache.parquet"
    format = "parquet"


FORMATS = [JSONRenderer, CsvRenderer, NdjsonRenderer, ParquetRenderer]


def as_table(serializer: Any) -> dict[Any, Any]:
    """Describe the responses of an operation that returns a table."""
    texts = {(200, media): OpenApiTypes.STR for media in (CsvRenderer.media_type, NdjsonRenderer.media_type)}
    return {(200, "application/json"): serializer, **texts, (200, ParquetRenderer.media_type): OpenApiTypes.BINARY}


def table_response(
    request: Request,
    *,
    name: str,
    head: Mapping[str, Any],
    types: Mapping[str, str],
    lines: Iterable[str],
    records: Iterable[Mapping[str, Any]],
) -> StreamingHttpResponse:
    """Stream a table called `name` in the accepted format.

    `lines` are those of the CSV file; `records` hold the same rows as JSON values, by the columns of `types`, which has
    the type of each. `head` are facts about the table, which CSV and NDJSON have no place for.
    """
    form = request.accepted_renderer.format
    pieces: Iterable[str | bytes]
    if form == "csv":
        pieces = lines
    elif form == "ndjson":
        pieces = (f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    elif form == "parquet":
        pieces = _parquet(head, types, records)
    else:
        return StreamingHttpResponse(record_texts(head, "rows", records), content_type="application/json")
    charset = "" if form == "parquet" else "; charset=utf-8"
    response = StreamingHttpResponse(pieces, content_type=f"{request.accepted_renderer.media_type}{charset}")
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


def _parquet(
    head: Mapping[str, Any], types: Mapping[str, str], records: Iterable[Mapping[str, Any]]
) -> Iterator[bytes]:
    """The pieces of a Parquet file, whose metadata has the head under `parallax`."""
    import pyarrow as pa
    from pyarrow import parquet

    arrow = {
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "datetime": pa.timestamp("ms", tz="UTC"),
    }
    fields = [(name, arrow.get(kind, pa.string())) for name, kind in types.items()]
    schema = pa.schema(fields, metadata={"parallax": json.dumps(head)})
    remaining = iter(records)
    with TemporaryFile() as file:  # its footer is known last
        with parquet.ParquetWriter(file, schema) as writer:
            while batch := list(islice(remaining, ROWS_AT_ONCE)):
                columns = {name: [_stored(kind, row[name]) for row in batch] for name, kind in types.items()}
                writer.write_table(pa.table(columns, schema=schema))
        file.seek(0)
        while piece := file.read(CHUNK):
            yield piece


def _stored(kind: str, value: Any) -> Any:
    if value is None or value == "":
        return None
    if kind in STORED:
        return STORED[kind](value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
