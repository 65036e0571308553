"""The storages of an installation: folders of this machine, or one bucket for all machines."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

BUCKET = "core.bucket_storage.BucketStorage"
FOLDER = "django.core.files.storage.FileSystemStorage"
ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9._/-]*))?")


def bucket_options(address: str, setting: str = "PARALLAX_ARTEFACTS_S3", /, **options: str | None) -> dict[str, Any]:
    """The options of a bucket and its account; none without an address such as s3://bucket/folder, which the variable
    `setting` holds.

    `options` are endpoint_url, region_name, access_key and secret_key; those that are empty are left to the client.
    """
    if not address:
        return {}
    match = ADDRESS.fullmatch(address.strip())
    if match is None or ".." in address:
        raise ImproperlyConfigured(
            f"{setting} is {address!r}; write s3://bucket or s3://bucket/folder. The server's own address "
            "goes into PARALLAX_S3_ENDPOINT."
        )
    if bool(options.get("access_key")) != bool(options.get("secret_key")):
        raise ImproperlyConfigured(
            "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or the files AWS_ACCESS_KEY_ID_FILE and "
            "AWS_SECRET_ACCESS_KEY_FILE), or neither."
        )
    missing = [name for name in ("boto3", "storages") if find_spec(name) is None]
    if missing:
        raise ImproperlyConfigured(
            f"{setting} is set, and the Python package {missing[0]} is not installed. Run `make s3`, or "
            "`.venv/bin/pip install -r requirements-s3.txt`."
        )
    account = {name: value for name, value in options.items() if value}
    return {"bucket_name": match[1], "location": (match[2] or "").strip("/"), **account}


def storages_in(var: Path, *, bucket: dict[str, Any], artefact_backend: str) -> dict[str, Any]:
    """Django's STORAGES: `default` with prepared downloads and uploads, `artefacts` with ratings, models and results.

    Without a bucket both are folders below `var`, unless another backend is named for artefacts.
    """
    if not bucket:
        return {
            "default": {"BACKEND": FOLDER, "OPTIONS": {"location": var / "media"}},
            "artefacts": {"BACKEND": artefact_backend or FOLDER, "OPTIONS": {"location": var / "artefacts"}},
        }
    if artefact_backend:
        raise ImproperlyConfigured("Set PARALLAX_ARTEFACTS_S3 or ARTEFACT_STORAGE, not both.")
    return {
        name: {
            "BACKEND": BUCKET,
            "OPTIONS": {**bucket, "location": "/".join(filter(None, (bucket["location"], folder)))},
        }
        for name, folder in (("default", "media"), ("artefacts", "artefacts"))
    }
