"""Entry for a WSGI server; opens the models of live studies beside the first requests."""

from __future__ import annotations

import logging
import os
import threading

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
application = get_wsgi_application()

from django.db import DatabaseError, connections  # noqa: E402 -- only after the application is set up
from django.utils.module_loading import autodiscover_modules  # noqa: E402

from charting.render import draw_apart  # noqa: E402
from jobs.parent_process import watch_parent  # noqa: E402
from studies.participation.services.warming import warm_live_studies  # noqa: E402


def _warm() -> None:
    try:
        warm_live_studies()
    except DatabaseError as problem:  # not migrated yet, or away: the first participant warms what they need
        logging.getLogger(__name__).warning("models not warmed: %s", problem)
    finally:
        connections.close_all()


threading.Thread(target=_warm, name="warm-models", daemon=True).start()
watch_parent()
draw_apart()
autodiscover_modules("tasks")  # not within the first request that enqueues one
