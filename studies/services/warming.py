"""Opening the models of live studies before the first participant needs them."""

from __future__ import annotations

import logging

from catalog.selectors.items import keep_all
from catalog.selectors.search import warm as warm_search
from core.errors import ParallaxError
from evaluation.services.serving import warm
from studies.enums import StudyStatus
from studies.models import Study

logger = logging.getLogger(__name__)


def warm_live_studies() -> int:
    """Open every model, search index and catalogue that live studies serve from, and count the models.

    A model that cannot be opened is logged and left: the participant who meets it finds the study paused with
    a clear message, as if it had not been warmed.
    """
    opened = 0
    for study in Study.objects.filter(status=StudyStatus.LIVE).select_related("dataset_version"):
        warm_search(study.dataset_version)
        keep_all(study.dataset_version)
        for condition in study.conditions.select_related("model"):
            try:
                warm(model=condition.model)
            except ParallaxError as problem:
                logger.error("model not opened study=%s condition=%s: %s", study.slug, condition.label, problem)
            else:
                opened += 1
    return opened
