"""What every endpoint of the REST API checks first: the names and values of its parameters and of its body's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from typing import Any, ClassVar, TypeVar

from cryptography.fernet import Fernet
from django import forms
from django.core.validators import RegexValidator
from django.db import DatabaseError
from django.db.models import Model, QuerySet
from django.utils.http import http_date
from django_filters.rest_framework import CharFilter, Filter, FilterSet
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, ChoiceField, Serializer
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from core.field_problems import FieldProblems, Problem, read_model
from core.form_bodies import Form, filled
from core.idempotency import AnsweredBefore, end_request, keep_answer
from core.models import KeptAnswer
from core.problem_details import BadParameters, unknown

Row = TypeVar("Row", bound=Model)
Document = TypeVar("Document", bound=BaseModel)
CHANGES = ("PUT", "PATCH")
WORKS_ON = timedelta(days=366)  # after its deprecation, as docs/reference/api.md promises


class ParameterSchema(AutoSchema):
    """Describes the parameters that `StrictView` accepts, and an operation by its docstring, or that of its view."""

    def get_summary(self) -> str:
        """The first sentence, without its stop."""
        return self._sentences()[0].removesuffix(".")

    def get_description(self) -> str:  # type: ignore[override]  # of an older schema
        """What follows the first sentence."""
        return self._sentences()[2]

    def _sentences(self) -> tuple[str, str, str]:
        return " ".join(super().get_description().split()).partition(". ")

    def get_override_parameters(self) -> list[Any]:
        declared = getattr(self.view, "parameters", {}).get(getattr(self.view, "action", None))
        return [declared] if declared else []

    def is_deprecated(self) -> bool:
        return _action(self.view, self.method) in getattr(self.view, "deprecated", {})


class StrictNegotiation(DefaultContentNegotiation):
    """Leaves an unknown `format` to the check of the parameters, which names the known ones."""

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:
        """The renderers of the format, or all if there is none."""
        return [renderer for renderer in renderers if renderer.format == format] or list(renderers)


class IgnoreAccept(BaseContentNegotiation):
    """A file has the type of its name, whatever the request accepts."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Select the first renderer, which only errors use."""
        first = next(iter(renderers))
        return first, first.media_type

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> None:
        """Select none: files are only read."""


def filters(**by_name: Filter) -> type[FilterSet]:
    """The filters of a list, by the name of the parameter."""
    return type("Filters", (FilterSet,), by_name)


def exactly(description: str, field_name: str | None = None, *, pattern: str = r"^[-a-zA-Z0-9_]+$") -> Any:
    """A filter of a list: rows whose field is this text, which has to match the pattern, as a name in an address."""
    exact = CharFilter(field_name=field_name, validators=[RegexValidator(pattern, f"Write what matches {pattern}")])
    return extend_schema_field({"type": "string", "pattern": pattern, "description": description})(exact)


class NotConditional(APIException):
    """A change that does not say which state it is of."""

    status_code = 428
    default_code = "change.not_conditional"
    default_detail = "This change does not say which state it is of, so it could undo the change of another program."
    remedy = "Get this address, and send its `ETag` as `If-Match`."


class ChangedMeanwhile(APIException):
    """A change of a state that is no longer there."""

    status_code = 412
    default_code = "change.changed_meanwhile"
    default_detail = "What is to be changed is no longer as it was."
    remedy = "Get this address again, and send its new `ETag` as `If-Match`."


class StrictView(APIView):
    """Refuses unknown parameters and fields, and values that are not allowed, all in one 400 response.

    An address that can be changed by PUT or PATCH has an `ETag`, the digest of what GET answers: the change names it.
    """

    parameters: ClassVar[Mapping[str, type[Serializer[Any]]]] = {}  # of the query, by action
    filterset_class: type[FilterSet] | None = None  # of the list
    deprecated: ClassVar[Mapping[str, date]] = {}  # since when, by action, or by method where there are no actions
    get: Any  # the method that reads what an address changes
    query: Mapping[str, Any] = {}  # the checked parameters of the request
    reserved: tuple[KeptAnswer, Fernet] | None = None  # for the answer to a request with an `Idempotency-Key`
    content_negotiation_class = StrictNegotiation
    lookup_value_regex = "[0-9]+"  # of the part of an address that names a row
    # Where rows name the study and the project that a token can be limited to; other rows are not for such a token.
    limits: ClassVar[Mapping[str, str]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the query once account, scope and rate are."""
        super().initial(request, *args, **kwargs)
        action = getattr(self, "action", None)
        serializer = self.parameters.get(str(action), Serializer)(data=request.query_params.dict())
        problems = _problems(serializer)
        names = [*serializer.fields]
        formats = [renderer.format for renderer in self.renderer_classes]
        if len(formats) > 1:
            names.append("format")
            if request.query_params.get("format", formats[0]) not in formats:
                problems["format"] = [_one_of(formats)]
        paginator = getattr(self, "paginator", None) if action == "list" else None
        if action == "list" and self.filterset_class is not None:
            form = self.filterset_class(request.query_params, queryset=getattr(self, "queryset", None)).form
            names += form.fields
            problems |= _problems(form)
            problems |= {name: ["Write a value."] for name in form.fields if form.data.get(name) == ""}
        if paginator is not None:
            names += [parameter["name"] for parameter in paginator.get_schema_operation_parameters(self)]
            try:
                paginator.get_page_size(request)
            except ValidationError as refused:
                problems |= {**refused.detail}  # type: ignore[dict-item]  # by field
        twice = {name: ["Give this once."] for name, values in request.query_params.lists() if len(values) > 1}
        if problems := problems | twice | unknown(request.query_params, names, "parameter"):
            raise BadParameters(problems)
        self.query = serializer.validated_data
        if request.method in CHANGES and hasattr(self, request.method.lower()):
            self._require_unchanged(request, *args, **kwargs)
        if request.method == "POST":
            self.reserved = keep_answer(request)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Say what is deprecated (RFC 9745, RFC 8594), and keep the answer to a request with an `Idempotency-Key`."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if since := self.deprecated.get(_action(self, request.method)):
            began = datetime.combine(since, time(), UTC)
            response["Deprecation"] = f"@{began.timestamp():.0f}"
            response["Sunset"] = http_date((began + WORKS_ON).timestamp())
            response["Link"] = '</help/reference/api.md#stability-and-deprecation>; rel="deprecation"; type="text/html"'
        if self.reserved is not None:
            end_request(*self.reserved, response)
        is_changeable = any(hasattr(self, method.lower()) for method in CHANGES)
        if is_changeable and request.method in {"GET", *CHANGES} and response.status_code == status.HTTP_200_OK:
            response["ETag"] = _etag(response.data)
        return response

    def _require_unchanged(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a change that names no state, or another than the present one."""
        stated = request.headers.get("If-Match")
        if stated is None:
            raise NotConditional
        present = _etag(self.get(request, *args, **kwargs).data)
        if present not in (etag.strip() for etag in stated.split(",")) and stated.strip() != "*":
            raise ChangedMeanwhile

    def handle_exception(self, exc: Exception) -> Any:
        """Answer as before if the same request was answered before; what failed for another reason may be repeated."""
        if isinstance(exc, AnsweredBefore):
            return exc.answer
        try:
            return super().handle_exception(exc)
        except Exception:
            if self.reserved is not None and not isinstance(exc, DatabaseError):
                self.reserved[0].delete()
            raise

    def within(self, rows: QuerySet[Row], limits: Mapping[str, str] | None = None) -> QuerySet[Row]:
        """Those of the rows that the limit of the token leaves; `limits` are given for rows of another kind."""
        token: Any = self.request.auth
        kind = getattr(token, "only_type", None)
        if kind is None:
            return rows
        lookup = (self.limits if limits is None else limits).get(kind.model)
        if lookup is None:
            return rows.none()
        own = rows.model._default_manager.filter(**{lookup: token.only_id})
        return rows.filter(pk__in=own.order_by().values("pk"))

    def body(self, serializer_class: type[Serializer[Any]]) -> Mapping[str, Any]:
        serializer = serializer_class(data=self.request.data)
        problems = _problems(serializer)
        if isinstance(self.request.data, Mapping):
            problems |= unknown(self.request.data, [*serializer.fields], "field")
        if problems:
            raise ValidationError(problems)
        return dict(serializer.validated_data)

    def document(self, kind: type[Document]) -> Document:
        """The body as a document that commands and files have too."""
        try:
            return read_model(kind, self.request.data)
        except FieldProblems as found:
            raise faults(found.problems) from found

    def form(self, make: Callable[[Any, Any], Form]) -> Form:
        """The console's form that `make(data, files)` creates, filled with the body, once it is valid."""
        return filled(make, self.request.data)


def faults(problems: Iterable[Problem], pointer: str = "") -> ValidationError:
    """The faults of a document below `pointer`, each with its own."""
    by_pointer: dict[str, list[str]] = {}
    for problem in problems:
        parts = [str(part).replace("~", "~0").replace("/", "~1") for part in problem.path]
        path = "/".join(filter(None, [pointer, *parts])) or api_settings.NON_FIELD_ERRORS_KEY
        by_pointer.setdefault(path, []).append(problem.message)
    return ValidationError(by_pointer)


def created(data: Mapping[str, Any], url: str) -> Response:
    """The response to a request that created what is at `url`."""
    location = str(url)  # of a link; gateways refuse its own kind of text in a header
    return Response(data, status=status.HTTP_201_CREATED, headers={"Location": location})


def _action(view: Any, method: str | None) -> str:
    return getattr(view, "action", None) or str(method).lower()


def _etag(data: Any) -> str:
    return f'"{sha256(JSONRenderer().render(data)).hexdigest()[:32]}"'


def _problems(checked: Any) -> dict[str, Any]:
    """The invalid fields of a serializer or of filters, with the allowed values where they can be listed."""
    checked.is_valid()
    problems = {name: texts if isinstance(texts, Mapping) else [*texts] for name, texts in checked.errors.items()}
    for name in problems:
        field: Any = checked.fields.get(name)
        if isinstance(field, BooleanField):
            problems[name] = [_one_of(["true", "false"])]
        elif isinstance(field, ChoiceField | forms.ChoiceField):
            choices: Any = field.choices
            problems[name] = [_one_of(str(value) for value in dict(choices) if value != "")]
    return problems


def _one_of(values: Iterable[str]) -> str:
    return f"Write {' or '.join(values)}."
