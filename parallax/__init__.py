"""The project package: settings, routes and commands; no other package imports it."""

from parallax.celery import app as celery_app

__all__ = ["celery_app"]
