"""What an importer refuses, in the words and codes of the services."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from catalog.importers.base import ImportRefused
from core.errors import ParallaxError, ParameterError


@contextmanager
def refusals_told() -> Iterator[None]:
    """Turn an importer's refusals into `import.refused` with the problems, and `import.bad_option`."""
    try:
        yield
    except ImportRefused as refusal:
        problems = [dataclasses.asdict(problem) for problem in refusal.problems]
        raise ParallaxError("import.refused", str(refusal), {"problems": problems, "total": refusal.total}) from refusal
    except ParameterError as problem:
        raise ParallaxError("import.bad_option", str(problem)) from problem
