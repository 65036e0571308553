"""Lists, a page at a time, by a mark in the list: pages neither repeat nor leave out what comes in meanwhile."""

from __future__ import annotations

from typing import Any

from django.db import DataError
from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

START = Cursor(offset=0, reverse=False, position=None)


class Pages(CursorPagination):
    """`next` and `previous` are addresses; a view names another `ordering` than newest first itself."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
    ordering = "-pk"

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: Any) -> tuple[str, ...]:
        """As the view says."""
        return (str(getattr(view, "ordering", self.ordering)),)

    def get_page_size(self, request: Request) -> int:
        """As many rows as are asked for, within the limits."""
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return self.page_size
        if not (asked.isascii() and asked.isdigit() and len(asked) < 4 and 1 <= int(asked) <= self.max_page_size):
            raise ValidationError({"page_size": [f"Write a whole number from 1 to {self.max_page_size}."]})
        return int(asked)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """The parameters with their limits."""
        found = super().get_schema_operation_parameters(view)
        for one in found:
            if one["name"] == self.page_size_query_param:
                one["schema"] = {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": self.max_page_size,
                    "default": self.page_size,
                }
        return found

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The mark in the list; None for the first page. A cursor that marks nothing was given by no page."""
        found = super().decode_cursor(request)
        if found == START or (found is not None and "\x00" in str(found.position)):  # PostgreSQL keeps no NUL
            raise NotFound
        return found

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """The rows of the page that is asked for; a cursor that no page gave is refused."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValueError, OverflowError, DataError):
            raise ValidationError({"cursor": ["Take the cursor from the next or previous of a page."]}) from None
