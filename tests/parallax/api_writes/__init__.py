"""Every operation of the REST API that changes something, a file for each part."""

from __future__ import annotations

from tests.parallax.api_writes import datasets, designs, jobs, people, runs, webhooks

WRITES = [write for part in (datasets, runs, designs, people, webhooks, jobs) for write in part.WRITES]
