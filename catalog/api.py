"""REST API endpoints for datasets, those that the researcher can see."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, viewsets

from catalog.models import Dataset
from catalog.selectors.datasets import datasets_with_versions
from catalog.serializers import DatasetSerializer
from core.api import StrictView

DATASET_LIMITS = {"study": "versions__studies", "project": "project"}
VERSION_LIMITS = {"study": "studies", "project": "dataset__project"}


@extend_schema(tags=["datasets"])
@extend_schema_view(
    list=extend_schema(operation_id="datasets", summary="Datasets with their versions, by name"),
    retrieve=extend_schema(operation_id="dataset", summary="One dataset with its versions"),
)
class DatasetViewSet(StrictView, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Dataset]):
    """Datasets and their versions, without the ratings themselves."""

    serializer_class = DatasetSerializer
    limits = DATASET_LIMITS
    lookup_field = "name"
    lookup_value_regex = r"[-a-zA-Z0-9_]+"
    ordering = "name"

    def get_queryset(self) -> QuerySet[Dataset]:
        """Return the visible datasets."""
        return self.within(datasets_with_versions(self.request.user))
