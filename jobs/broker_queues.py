"""Queues of the broker: created before several processes use them, deleted when none needs them any more."""

from __future__ import annotations

from pathlib import Path

from celery import current_app
from django.conf import settings
from kombu.exceptions import ChannelError

from core.errors import ParallaxError


def declare_queue(name: str) -> None:
    """Create a queue of the filesystem broker; other brokers create theirs safely by themselves.

    Processes that create the same queue at once may read its exchange file before it is written, and end; their parent
    therefore calls this first. An empty exchange file, which a full disk may have left, is replaced. Raises
    ParallaxError `broker.cannot_create_queue`.
    """
    file = _exchange_file(name)
    if file is None:
        return
    try:
        if file.exists() and file.stat().st_size == 0:
            file.unlink()
        with current_app.connection_for_write() as connection:
            current_app.amqp.queues[name].bind(connection.default_channel).declare()
    except (ChannelError, OSError, ValueError) as problem:
        raise ParallaxError(
            "broker.cannot_create_queue",
            f"The queue {name} cannot be created: {file} cannot be written or read. Check that the disk has space and "
            "that this account may write there. If the file is damaged, delete it.",
        ) from problem


def delete_queue(name: str) -> None:
    """Delete a queue with its messages and its traces in the broker."""
    with current_app.connection_for_write() as connection:
        queue = current_app.amqp.queues[name].bind(connection.default_channel)
        queue.declare()
        # Messages left in a queue would be given to the next one of its name.
        queue.purge()
        queue.delete()
    current_app.amqp.queues.pop(name, None)
    if file := _exchange_file(name):  # the filesystem broker leaves it behind, empty
        file.unlink(missing_ok=True)


def _exchange_file(name: str) -> Path | None:
    folder = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("control_folder")
    return Path(str(folder), f"{name}.exchange") if folder else None
