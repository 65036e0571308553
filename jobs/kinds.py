"""The kinds of jobs: each app registers its own when it is ready, and what it names is imported when it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string


class Progress(Protocol):
    """Stores what a worker is doing, and how far it is. Raises LeaseLost where it no longer holds the job."""

    def __call__(self, activity: str, done: int | None = None, total: int | None = None, /) -> None: ...


@dataclass(frozen=True)
class Kind:
    """A kind of job; functions are named by their dotted path."""

    key: str
    title: str
    work: str  # (job, progress) -> the fields of the finished job; with a status, where that is not success
    is_long: bool = False  # minutes of work, in a queue of its own
    ready: str = ""  # (job) -> whether a queued job can begin; raises ParallaxError where it never can
    after: str = ""  # (job) -> anything, once a worker has finished or failed it
    cancelled: str = ""  # (job) -> anything, once it is cancelled while no worker has it
    kept_days: int | None = None  # after which a closed job is deleted with its file; None: never
    is_continued: bool = False  # the next one continues a cancelled one, whose folder is kept
    keeps_file: str = ""  # (job) -> whether its file may still be downloaded
    address: str = ""  # (job) -> the address in the REST API of what a successful job made

    def do(self, job: Any, progress: Progress) -> Mapping[str, Any]:
        """Do the work of a job; returns what its finished row is changed to."""
        fields: Mapping[str, Any] = import_string(self.work)(job, progress)
        return fields

    def is_ready(self, job: Any) -> bool:
        """Whether a queued job can begin, or waits for something other than a worker."""
        return not self.ready or import_string(self.ready)(job)

    @property
    def is_short(self) -> bool:
        """Whether it waits in the queue of short jobs, and for nothing else."""
        return not self.is_long and not self.ready

    @property
    def queue(self) -> str:
        """The queue of its messages."""
        name: str = settings.LONG_QUEUE if self.is_long else settings.CELERY_TASK_DEFAULT_QUEUE
        return name


KINDS: dict[str, Kind] = {}


def register(*kinds: Kind) -> None:
    """Add the kinds of an app, in `AppConfig.ready`."""
    KINDS.update({kind.key: kind for kind in kinds})
