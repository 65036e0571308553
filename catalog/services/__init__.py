"""What changes the catalogue: imports, facts added to a version, and retiring one."""

from catalog.services.demo import DEMO_NAME, load_demo_dataset
from catalog.services.importing import import_dataset, import_parsed
from catalog.services.metadata import add_metadata, add_uploaded_metadata
from catalog.services.versions import retire_version

__all__ = [
    "DEMO_NAME",
    "add_metadata",
    "add_uploaded_metadata",
    "import_dataset",
    "import_parsed",
    "load_demo_dataset",
    "retire_version",
]
