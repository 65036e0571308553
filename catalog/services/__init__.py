"""Changes to the catalogue: import datasets, add item metadata, make subsets, change item types and
languages, retire versions."""

from catalog.services.dataset_import import import_dataset, import_parsed, proposed
from catalog.services.demo import DEMO_BOOKS_NAME, DEMO_NAME, load_demo_books, load_demo_dataset
from catalog.services.item_facts import change_item_language, change_item_type
from catalog.services.metadata import add_metadata
from catalog.services.subset import SubsetResult, create_subset
from catalog.services.versions import retire_version

__all__ = [
    "DEMO_BOOKS_NAME",
    "DEMO_NAME",
    "SubsetResult",
    "add_metadata",
    "change_item_language",
    "change_item_type",
    "create_subset",
    "import_dataset",
    "import_parsed",
    "load_demo_books",
    "load_demo_dataset",
    "proposed",
    "retire_version",
]
