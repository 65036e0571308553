"""The broker: how many messages wait in its two queues."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from core.errors import ParallaxError

TIMEOUT_SECONDS = 2.0


def count_messages() -> int:
    """How many messages wait for a worker. Raises ParallaxError `broker.no_answer`."""
    if not settings.REDIS_URL:
        try:
            return sum(1 for _ in message_folder().iterdir())
        except OSError as problem:
            raise ParallaxError(
                "broker.no_answer", f"The folder {message_folder()} cannot be read: {problem.strerror}."
            ) from problem
    from redis import Redis  # noqa: PLC0415 -- only where it is used
    from redis.exceptions import RedisError  # noqa: PLC0415

    try:
        with Redis.from_url(
            str(settings.REDIS_URL), socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        ) as server:
            return sum(int(server.llen(queue.name)) for queue in settings.CELERY_TASK_QUEUES)
    except (RedisError, OSError) as problem:
        raise ParallaxError("broker.no_answer", f"Redis does not answer ({type(problem).__name__}).") from problem


def message_folder() -> Path:
    """The folder of waiting messages, without Redis."""
    return Path(str(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_in"]))
