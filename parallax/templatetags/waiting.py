"""Why a job waits, on the pages that show its progress."""

from __future__ import annotations

from django import template
from django.conf import settings

from evaluation.models import EvaluationRun
from jobs.models import Job
from jobs.workers import waiting_words

register = template.Library()


@register.filter
def why_waiting(work: Job | EvaluationRun) -> str:
    """Why a queued job or run has not begun; runs are in the queue of long work."""
    if isinstance(work, Job):
        return waiting_words(work.definition.queue, work)
    if work.queue:  # of workers that a command starts for it
        return "Waiting for a worker"
    return waiting_words(settings.LONG_QUEUE)
