"""Files in a bucket of an S3-compatible server; refusals and outages of the server are errors in words.

Needs the packages of requirements-s3.txt, so nothing imports this module by itself: `STORAGES` names the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
)
from django.core.files.base import File
from s3transfer.exceptions import RetriesExceededError
from storages.backends.s3 import S3Storage

from core.errors import StorageRefused, StorageUnavailable

CONNECT_SECONDS, READ_SECONDS = 5, 30
ATTEMPTS = 3  # of one request, with growing pauses in between
SPOOLED_BYTES = 2**20  # of a file that is being read; what is larger goes through a temporary file
BUSY = {"InternalError", "RequestTimeout", "ServiceUnavailable", "SlowDown", "Throttling", "ThrottlingException"}
OTHER_REGION = {"AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect", "301"}
OTHER_ACCOUNT = {"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"}


def _with_translated_errors(name: str) -> Callable[..., Any]:
    """A method of django-storages, with the errors of this module."""
    method = getattr(S3Storage, name)

    @wraps(method)
    def translated(self: BucketStorage, *args: Any, **kwargs: Any) -> Any:
        with self._in_words():
            return method(self, *args, **kwargs)

    return translated


class BucketStorage(S3Storage):  # type: ignore[misc]  # django-storages has no types
    """A bucket, or a folder of one. A file of the same name is replaced; a file is complete or not there.

    FileNotFoundError: there is no such file. StorageUnavailable: the server does not answer, or is overloaded.
    StorageRefused: the bucket does not exist, or refuses the account.
    """

    def __init__(self, **options: Any) -> None:
        # Versions of the protocol that every compatible server knows, and bounded patience.
        client_config = Config(
            signature_version="s3v4",
            s3={"addressing_style": "path" if options.get("endpoint_url") else "auto"},
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(max_memory_size=SPOOLED_BYTES, client_config=client_config, **options)

    def bucket_exists(self) -> bool:
        """Whether there is such a bucket; it may refuse this account all the same."""
        try:
            self.connection.meta.client.head_bucket(Bucket=self.bucket_name)
        except ClientError as problem:
            return status_of(problem) != 404
        return True

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except ClientError as problem:
            raise _of_answer(problem, self.bucket_name) from problem
        except (NoCredentialsError, PartialCredentialsError) as problem:
            raise StorageRefused(
                "storage.no_credentials",
                f"There are no credentials for the bucket {self.bucket_name}. Set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY.",
            ) from problem
        except (ConnectionError, HTTPClientError, IncompleteReadError, RetriesExceededError, Boto3Error) as problem:
            raise StorageUnavailable(
                f"The storage {self.endpoint_url or 'Amazon S3'} with the bucket {self.bucket_name} does not answer. "
                "Start it, or correct PARALLAX_S3_ENDPOINT."
            ) from problem
        except BotoCoreError as problem:
            raise StorageRefused(
                "storage.refused",
                f"The bucket {self.bucket_name} cannot be used: {problem}. Correct PARALLAX_ARTEFACTS_S3, "
                "PARALLAX_S3_ENDPOINT or PARALLAX_S3_REGION.",
            ) from problem

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        with self._in_words():
            try:
                opened: File[bytes] = super()._open(name, mode)
                _ = opened.file  # fetched now, so that what the server says is said here
            except FileNotFoundError as missing:
                if not self.bucket_exists():
                    raise _no_bucket(self.bucket_name) from missing
                raise
            return opened


for _name in ("_save", "delete", "exists", "listdir", "size", "get_modified_time"):
    setattr(BucketStorage, _name, _with_translated_errors(_name))


def status_of(problem: ClientError) -> int:
    """The HTTP status of the server's answer; 0 where it has none."""
    return int(problem.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _no_bucket(bucket: str) -> StorageRefused:
    return StorageRefused(
        "storage.no_bucket",
        f"The bucket {bucket} does not exist. Create it, or correct PARALLAX_ARTEFACTS_S3 or PARALLAX_BACKUP_S3.",
    )


def _of_answer(problem: ClientError, bucket: str) -> Exception:
    """The error for an answer of the server. Answers to HEAD have a status and no code."""
    code, status = str(problem.response.get("Error", {}).get("Code", "")), status_of(problem)
    if code == "NoSuchBucket":
        return _no_bucket(bucket)
    if status == 404:
        return FileNotFoundError(f"There is no such file in the bucket {bucket}.")
    if status >= 500 or status == 429 or code in BUSY:
        return StorageUnavailable(f"The server of the bucket {bucket} is overloaded or failing ({code or status}).")
    if code in OTHER_REGION or status in {301, 307}:
        return StorageRefused(
            "storage.other_region", f"The bucket {bucket} is in another region ({code}). Correct PARALLAX_S3_REGION."
        )
    if code in OTHER_ACCOUNT:
        return StorageRefused(
            "storage.bad_credentials",
            f"The server of the bucket {bucket} does not accept these credentials ({code}). Correct AWS_ACCESS_KEY_ID "
            "and AWS_SECRET_ACCESS_KEY.",
        )
    return StorageRefused(
        "storage.refused",
        f"The bucket {bucket} refuses this account ({code or status}). Check AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, and allow the account to list the bucket and to read, write and delete its files.",
    )
