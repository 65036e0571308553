"""Wires everything together; nobody imports it."""

from parallax.celery import app as celery_app

__all__ = ["celery_app"]
