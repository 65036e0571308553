"""Opening the models of live studies before the first participant needs them."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, connections

from catalog.selectors.items import preload_items
from catalog.selectors.search import warm as warm_search
from core.errors import ParallaxError
from evaluation.services.serving import warm
from studies.enums import StudyStatus
from studies.models import Study

logger = logging.getLogger(__name__)


def warm_live_studies() -> int:
    """Open every model, search index and catalogue of live studies, and return the number of models.

    A model that cannot be opened is logged and skipped. The study is then paused when a participant needs the model,
    as it would be without warming.
    """
    opened = 0
    for study in Study.objects.filter(status=StudyStatus.LIVE).select_related("dataset_version"):
        warm_search(study.dataset_version, study.design.item_order)
        preload_items(study.dataset_version)
        for condition in study.conditions.select_related("model"):
            try:
                warm(model=condition.model)
            except ParallaxError as problem:
                logger.error("model not opened study=%s condition=%s: %s", study.slug, condition.label, problem)
            else:
                opened += 1
    return opened


def start_warming() -> threading.Thread:
    """Start a thread that runs `warm_live_studies` with database connections of its own, and return it."""

    def run() -> None:
        try:
            warm_live_studies()
        except DatabaseError as problem:  # not migrated yet, or away: the first participant warms what they need
            logger.warning("models not warmed: %s", problem)
        finally:
            # Threads have connections of their own, which nothing else would close.
            connections.close_all()

    thread = threading.Thread(target=run, name="warm-models", daemon=True)
    thread.start()
    return thread
