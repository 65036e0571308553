"""Turns importers' refusals into errors of the services."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from catalog.importers.base import ImportRefused, UnsupportedOptions
from core.errors import ParallaxError, ParameterError


@contextmanager
def import_refusals() -> Iterator[None]:
    """Turn an importer's refusals into `import.refused` with the problems, and `import.bad_option`."""
    try:
        yield
    except ImportRefused as refusal:
        problems = [dataclasses.asdict(problem) for problem in refusal.problems]
        extra = {"problems": problems, "total": refusal.total, "options": list(refusal.options)}
        extra["counts"] = refusal.counts
        raise ParallaxError("import.refused", str(refusal), extra) from refusal
    except UnsupportedOptions as problem:
        extra = {"format": problem.source_format, "untaken": list(problem.untaken), "taken": list(problem.taken)}
        raise ParallaxError("import.bad_option", str(problem), extra) from problem
    except ParameterError as problem:
        raise ParallaxError("import.bad_option", str(problem)) from problem
