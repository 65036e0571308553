"""Metrics for Prometheus: requests of this server's processes, and the state of the installation when it is asked."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db.models import Count, Model
from django.http import HttpRequest, HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from core.errors import ParallaxError
from evaluation.models import EvaluationRun, RunPart
from jobs.models import Job
from jobs.workers import running_workers
from parallax.readiness import count_messages
from studies.models import Participant, Study

PROCESSES_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where web processes share their counts; parallax.web sets it
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds

REQUESTS = Counter(
    "parallax_requests_total", "Requests by view, method and status.", ("view", "method", "status"), registry=None
)
SECONDS = Histogram(
    "parallax_request_seconds", "Seconds until the response begins, by view.", ("view",), buckets=BUCKETS, registry=None
)
COUNTED: tuple[tuple[str, str, type[Model], *tuple[str, ...]], ...] = (
    ("parallax_participants", "Participants by study, mode and status.", Participant, "study__slug", "mode", "status"),
    ("parallax_studies", "Studies by status.", Study, "status"),
    ("parallax_runs", "Evaluation runs by status.", EvaluationRun, "status"),
    ("parallax_run_parts", "Parts of evaluation runs by status.", RunPart, "status"),
    ("parallax_jobs", "Jobs by kind and status.", Job, "kind", "status"),
)


class RequestMetrics:
    """Counts requests and their durations by the name of the view; without METRICS_TOKEN it is not used."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.METRICS_TOKEN:
            # Django leaves it out of the chain, so that installations without metrics pay nothing.
            raise MiddlewareNotUsed
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response = self._get_response(request)
        match = request.resolver_match
        # By view and not by address, which holds participants' tokens and has no bound.
        view = (match.view_name if match else "") or "none"
        # Clients may invent methods, and every label is a series that is kept for ever.
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(view, method, str(response.status_code)).inc()
        SECONDS.labels(view).observe(time.perf_counter() - started)
        return response


def exposition() -> bytes:
    """All metrics in the text format of Prometheus."""
    registry = CollectorRegistry()
    # Each web process counts for itself, and any of them may be asked: the sums are in the shared files.
    if PROCESSES_FOLDER in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REQUESTS)
        registry.register(SECONDS)
    registry.register(_Installation())
    return generate_latest(registry)


class _Installation(Collector):
    def collect(self) -> Iterable[Metric]:
        for name, words, model, *fields in COUNTED:
            family = GaugeMetricFamily(name, words, labels=tuple(field.removesuffix("__slug") for field in fields))
            rows = model._default_manager.order_by(*fields).values_list(*fields).annotate(count=Count("pk"))
            for *labels, count in rows:
                family.add_metric(labels, count)
            yield family
        workers = running_workers()
        busy = sum(bool(worker.task) for worker in workers)
        yield GaugeMetricFamily("parallax_workers", "Running workers on all machines.", value=len(workers))
        yield GaugeMetricFamily("parallax_workers_busy", "Those that are working on a task.", value=busy)
        with suppress(ParallaxError):  # without the broker, the number is missing
            waiting = count_messages()
            yield GaugeMetricFamily("parallax_queue_messages", "Messages that wait in the broker.", value=waiting)
        disk = shutil.disk_usage(settings.VAR_DIR)
        yield GaugeMetricFamily("parallax_disk_free_bytes", "Free space on the disk of PARALLAX_VAR.", value=disk.free)
        yield GaugeMetricFamily("parallax_disk_size_bytes", "Size of the disk of PARALLAX_VAR.", value=disk.total)
