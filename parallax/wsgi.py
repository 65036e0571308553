"""Entry for a WSGI server; opens the models of live studies beside the first requests."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
application = get_wsgi_application()

from charting.render import draw_in_child_processes  # noqa: E402 -- only after the application is set up
from jobs.parent_process import watch_parent  # noqa: E402
from studies.participation.services.warming import start_warming  # noqa: E402

start_warming()
watch_parent()
draw_in_child_processes()
