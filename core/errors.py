"""Errors that cross packages: two for pure code, refusals with a stable code above it, and a storage that is down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ParameterError(ValueError):
    """A parameter that cannot be used: the message says which, why, and what is allowed."""


class DataError(ValueError):
    """Data that cannot be used: the message says what is wrong and where."""


class ParallaxError(Exception):
    """A refusal that is shown to a person or a program.

    `code` is stable and dotted (``run.not_queued``), so that programs and tests can rely on it; `message` says in full
    sentences what is wrong and what to do; `extra` holds facts for programs (ids, counts, problems), JSON values only.
    """

    def __init__(self, code: str, message: str, extra: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.extra: dict[str, Any] = dict(extra or {})

    def __str__(self) -> str:
        return self.message

    @property
    def problems(self) -> list[str]:
        """The sentences of all problems in `extra`, or the message alone: a refused import states its problems as
        facts, and its message has the sentences.
        """
        return [problem for problem in self.extra.get("problems", ()) if isinstance(problem, str)] or [self.message]


class NotAllowedInState(ParallaxError):
    """A transition that the state machine does not allow, or that another process made first."""


class ArtefactError(ParallaxError):
    """An artefact that is missing or whose bytes no longer match its digest."""


class StorageRefused(ArtefactError):
    """Stored files that cannot be read or written until a setting or a permission is corrected."""


class StorageUnavailable(Exception):
    """The server with the stored files does not answer. Work is repeated later; pages ask to wait."""
