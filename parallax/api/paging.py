"""Cursor pagination: pages neither repeat nor skip rows that are added meanwhile."""

from __future__ import annotations

from typing import Any

from django.db import DataError
from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from core.problem_details import BadParameters

START = Cursor(offset=0, reverse=False, position=None)


class Pages(CursorPagination):
    """`next` and `previous` are addresses; newest first, unless the view sets another `ordering`."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
    ordering = "-pk"

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: Any) -> tuple[str, ...]:
        return (str(getattr(view, "ordering", self.ordering)),)

    def get_page_size(self, request: Request) -> int:
        size = request.query_params.get(self.page_size_query_param)
        if size is None:
            return self.page_size
        if not (size.isascii() and size.isdigit() and len(size) < 4 and 1 <= int(size) <= self.max_page_size):
            raise BadParameters({"page_size": [f"Write a whole number from 1 to {self.max_page_size}."]})
        return int(size)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] = {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": self.max_page_size,
                    "default": self.page_size,
                }
        return parameters

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The decoded cursor; None for the first page. A cursor that no page issued is rejected."""
        cursor = super().decode_cursor(request)
        if cursor == START or (cursor is not None and "\x00" in str(cursor.position)):  # PostgreSQL keeps no NUL
            raise NotFound
        return cursor

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValueError, OverflowError, DataError):
            raise BadParameters({"cursor": ["Use the cursor from the next or previous address of a page."]}) from None
