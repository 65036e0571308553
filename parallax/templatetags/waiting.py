"""Why a job waits, on the pages that show its progress."""

from __future__ import annotations

from django import template
from django.conf import settings

from analysis.models import BayesianAnalysis
from evaluation.models import EvaluationRun
from jobs.models import JobModel
from jobs.workers import waiting_words

register = template.Library()


@register.filter
def why_waiting(job: JobModel | EvaluationRun) -> str:
    """Why a queued job has not begun; runs and Bayesian analyses are in the queue of long work."""
    if isinstance(job, EvaluationRun) and job.queue:  # of workers that a command starts for it
        return "Waiting for a worker"
    if isinstance(job, EvaluationRun | BayesianAnalysis):
        return waiting_words(settings.LONG_QUEUE)
    return waiting_words(settings.CELERY_TASK_DEFAULT_QUEUE, job)
